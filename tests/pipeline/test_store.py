"""The store file: schema versions, transactions, refusals, and the questions of docs/store.md."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

from hardbot import cli
from hardbot.errors import StoreError
from pipeline import schema, store
from pipeline.ingest import ingest
from pipeline.schema import MIGRATIONS, SCHEMA_VERSION, TABLES
from pipeline.sources.records import REJECT_CODES
from pipeline.store import Store, count_hands, default_store_path, read_decisions, read_hands

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "store.md").read_text()
QUERIES = re.findall(r"```sql\n(.*?)```", DOCUMENT, re.DOTALL)
SAMPLE = ROOT / "data" / "sample.log.gz"
REJECT = pl.DataFrame({"file_id": [1], "line": [1], "code": ["bad_fields"], "reason": ["x"], "raw": ["y"]})


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    path = tmp_path_factory.mktemp("sample") / "hands.duckdb"
    ingest([SAMPLE, ROOT / "data" / "README.md"], path)
    return path


def run_cli(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["hardbot", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    out, err = capsys.readouterr()
    return int(stopped.value.code or 0), out, err


# ---- schema


def test_a_new_store_has_all_tables_and_the_current_version():
    with Store(":memory:") as new:
        assert new.schema_version == SCHEMA_VERSION
        assert new.table_counts() == dict.fromkeys(TABLES, 0)


def add_migration(monkeypatch):
    extended = (*MIGRATIONS, "ALTER TABLE hands ADD COLUMN remark VARCHAR")
    for module in (schema, store):
        monkeypatch.setattr(module, "MIGRATIONS", extended)
        monkeypatch.setattr(module, "SCHEMA_VERSION", len(extended))


def test_an_older_store_is_migrated_when_opened_for_writing_and_keeps_its_hands(tmp_path, monkeypatch, capsys):
    path = tmp_path / "old.duckdb"
    ingest([SAMPLE], path)
    before = count_hands(path)
    add_migration(monkeypatch)
    with pytest.raises(
        StoreError, match=f"expected schema version {SCHEMA_VERSION + 1}, got {SCHEMA_VERSION} .*migrate"
    ):
        Store(path, read_only=True)
    code, out, _ = run_cli(monkeypatch, capsys, "store", "migrate", "--store", path, "--json")
    assert (code, json.loads(out)["before"], json.loads(out)["after"]) == (0, SCHEMA_VERSION, SCHEMA_VERSION + 1)
    with Store(path, read_only=True) as migrated:
        assert migrated.value("SELECT count(*) FROM hands WHERE remark IS NULL") == before
        versions = migrated.query("SELECT version FROM schema_version ORDER BY version")["version"].to_list()
    assert versions == list(range(1, SCHEMA_VERSION + 2))


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "old.duckdb"
    Store(path).close()
    monkeypatch.setattr(
        store, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE halfway (x INT); ALTER TABLE nowhere ADD y INT")
    )
    monkeypatch.setattr(store, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    with pytest.raises(StoreError, match="nowhere"):
        Store(path)
    monkeypatch.undo()
    with Store(path) as same:
        assert same.schema_version == SCHEMA_VERSION
        assert same.value("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'halfway'") == 0


def test_a_newer_store_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "new.duckdb"
    with Store(path) as opened:
        opened.run("INSERT INTO schema_version VALUES (99, now()::TIMESTAMP)")
    for read_only in (False, True):
        with pytest.raises(StoreError, match=r"got 99 in .*written by a newer hardbot"):
            Store(path, read_only=read_only)


def test_files_that_are_no_store_are_refused(tmp_path):
    (tmp_path / "text.duckdb").write_text("these are no hands " * 500)
    with pytest.raises(StoreError, match="expected a DuckDB database"):
        Store(tmp_path / "text.duckdb")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        other.execute("CREATE TABLE birds (name VARCHAR)")
    with pytest.raises(StoreError, match="expected a hardbot store, got another DuckDB database"):
        Store(tmp_path / "other.duckdb")
    with pytest.raises(StoreError, match=r"expected a store at .*found none"):
        Store(tmp_path / "missing.duckdb", read_only=True)
    with pytest.raises(StoreError, match="expected a folder"):
        Store(tmp_path / "nowhere" / "s.duckdb")
    assert not (tmp_path / "missing.duckdb").exists()


def test_the_environment_names_the_default_store(monkeypatch):
    monkeypatch.setenv("HARDBOT_STORE", "/x/y.duckdb")
    assert default_store_path() == Path("/x/y.duckdb")
    monkeypatch.delenv("HARDBOT_STORE")
    assert default_store_path() == Path("hardbot.duckdb")


# ---- statements


def test_a_transaction_is_all_or_nothing():
    with Store(":memory:") as opened:
        with pytest.raises(StoreError, match="nowhere"), opened.transaction():  # noqa: PT012
            opened.append("rejects", REJECT)
            opened.run("INSERT INTO nowhere VALUES (1)")
        assert opened.table_counts()["rejects"] == 0
        with opened.transaction():
            opened.append("rejects", REJECT)
        assert opened.table_counts()["rejects"] == 1


def test_counts_that_do_not_add_up_are_refused_by_the_store_itself():
    row = "(1, 'p', 's', 'phh', {lines}, {records}, 1, 1, 1, 2, now()::TIMESTAMP, 0.1)"
    with Store(":memory:") as opened:
        for lines, records in ((5, 4), (6, 3)):
            with pytest.raises(StoreError, match="CHECK constraint"):
                opened.run("INSERT INTO files VALUES " + row.format(lines=lines, records=records))
        opened.run("INSERT INTO files VALUES " + row.format(lines=5, records=3))


def test_a_hand_cannot_be_stored_twice(sample, tmp_path):
    with Store(tmp_path / "s.duckdb") as opened:
        hands = read_hands(sample)[:1]
        opened.append("hands", hands)
        with pytest.raises(StoreError, match=r"(?i)duplicate key"):
            opened.append("hands", hands.with_columns(hand_id=pl.lit(2, dtype=pl.Int64)))


def test_an_unknown_table_and_bad_sql_are_store_errors():
    with Store(":memory:") as opened:
        with pytest.raises(StoreError, match="expected a table of files, hands"):
            opened.append("birds", REJECT)
        with pytest.raises(StoreError, match="SELEC"):
            opened.query("SELEC 1")


def test_reading_by_match_and_by_known_cards(sample):
    match = read_hands(sample)["match"][0]
    part = read_hands(sample, matches=[match])
    assert 0 < part.height < count_hands(sample)
    assert set(read_decisions(sample, matches=[match])["hand_id"]) == set(part["hand_id"])
    assert read_hands(sample, cards_known=["none"]).height == 0
    assert read_hands(sample, ["ring-3"]).height == 0


# ---- documentation and commands


def test_the_sample_corpus_is_wholly_read(sample):
    with Store(sample, read_only=True) as reader:
        row = reader.query("SELECT * FROM files WHERE format = 'dealer-log'").row(0, named=True)
    assert (row["n_hands"], row["n_rejects"], row["n_duplicates"]) == (4_200, 0, 0)
    assert SAMPLE.stat().st_size < 300_000


def test_there_are_five_documented_questions():
    assert len(QUERIES) == 5


@pytest.mark.parametrize("number", range(5))
def test_documented_question_has_an_answer(number, sample):
    with Store(sample, read_only=True) as reader:
        rows = reader.query(QUERIES[number])
    assert rows.height >= 1
    assert rows.width >= 5


def test_documented_statistics_are_those_of_known_bots(sample):
    with Store(sample, read_only=True) as reader:
        style = {row["player"]: row for row in reader.query(QUERIES[0]).iter_rows(named=True)}
        seats = reader.query(QUERIES[1])
        missing = reader.query(QUERIES[4])["missing"]
    assert set(style) == {"casey", "pokabayes", "poki", "rulebot", "soarbot", "sparbot", "vexbot"}
    assert all(row["pfr"] <= row["vpip"] for row in style.values())
    assert style["rulebot"]["vpip"] < style["sparbot"]["vpip"]  # it folds most hands before the flop
    assert (seats["sb_per_hand"] * seats["hands"]).sum() == pytest.approx(0, abs=1e-6)
    assert missing.to_list() == [0, 0]


def test_every_column_and_reject_code_is_documented():
    with Store(":memory:") as opened:
        columns = opened.query("SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal").rows()
    rows = {line.split("|")[1].strip(" `"): line for line in DOCUMENT.splitlines() if line.startswith("| `")}
    undocumented = [(table, column) for table, column in columns if column not in rows[table]]
    assert undocumented == []
    assert [code for code, text in REJECT_CODES.items() if f"| `{code}` | {text} |" not in DOCUMENT] == []


def test_info_command_adds_up(sample, monkeypatch, capsys):
    code, out, _ = run_cli(monkeypatch, capsys, "store", "info", "--store", sample, "--json")
    document = json.loads(out)
    assert (code, document["schema_version"]) == (0, SCHEMA_VERSION)
    assert sum(row["hands"] for row in document["hands"]) == document["tables"]["hands"] == 4_200
    assert document["rejects"] == [{"code": "unknown_format", "records": 1}]
    code, out, _ = run_cli(monkeypatch, capsys, "store", "info", "--store", sample)
    assert (code, "4,200" in out) == (0, True)


def test_query_command_prints_values_json_has_no_word_for(sample, monkeypatch, capsys):
    sql = "SELECT sum(n_hands) AS n, 'nan'::DOUBLE AS x, max(ingested_at) AS t, [1, NULL] AS l FROM files"
    code, out, _ = run_cli(monkeypatch, capsys, "store", "query", sql, "--store", sample, "--json")
    row = json.loads(out)[0]
    assert (code, row["n"], row["x"], row["l"]) == (0, 4_200, None, [1, None])
    assert row["t"].startswith("20")
    code, out, _ = run_cli(monkeypatch, capsys, "store", "query", "SELECT * FROM hands", "--store", sample)
    assert (code, "4,100 more rows" in out) == (0, True)


@pytest.mark.parametrize(
    "sql", ["DELETE FROM hands", "SELECT nothing FROM hands", ""], ids=["write", "column", "empty"]
)
def test_query_command_refuses_in_one_line(sql, sample, monkeypatch, capsys):
    code, _, err = run_cli(monkeypatch, capsys, "store", "query", sql, "--store", sample)
    assert (code, err.count("\n")) == ((0, 0) if not sql else (2, 1))


def test_commands_on_a_missing_store_are_one_line(tmp_path, monkeypatch, capsys):
    for command in ("info", "migrate"):
        code, _, err = run_cli(monkeypatch, capsys, "store", command, "--store", tmp_path / "no.duckdb")
        assert (code, err.count("\n")) == (2, 1)
        assert "found none" in err
    assert list(tmp_path.iterdir()) == []
