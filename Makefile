# Set-up, checks, tests and benchmarks. `make demo` and `make test` are all a newcomer needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed
export DO_NOT_TRACK = 1
export PREFECT_SERVER_ANALYTICS_ENABLED = false

.PHONY: demo test check format bench lock clean

demo: $(READY)
	$(BIN)/hardbot features AdQc Jh4c3h
	$(BIN)/hardbot ingest data/sample.log.gz --store $(VENV)/demo.duckdb
	$(BIN)/hardbot score --model data/default-model data/sample.log.gz
	$(BIN)/hardbot explain 'MATCHSTATE:0:0:rc/cr:AhKd|/Jh4c3h'
	$(BIN)/hardbot match hardbot poki --pairs 500 --block 250 --seed 1

test: $(READY)
	$(BIN)/python -m pytest

check: $(READY)
	$(BIN)/ruff format --check hardbot pipeline flows tests
	$(BIN)/ruff check hardbot pipeline flows tests
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format hardbot pipeline flows tests
	$(BIN)/ruff check --fix hardbot pipeline flows tests

bench: $(READY)
	$(BIN)/python -m tests.bench

# pip before 24 does not see sqlalchemy[asyncio] as pinned, hence --no-deps: the lock is complete.
$(READY): requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(READY)

lock:
	uv pip compile --universal --python-version 3.11 --extra dev --generate-hashes --no-header --no-annotate pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) build *.egg-info
