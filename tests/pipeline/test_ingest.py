"""Ingestion as a whole: idempotent, every record accounted for, and whatever breaks it, a second run completes it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hardbot import cli
from hardbot.arena.match import play_match
from hardbot.errors import SourceError, StoreError
from pipeline import ingest as ingest_module
from pipeline.ingest import FileReport, check_counts, ingest, ingest_file
from pipeline.sources import reading
from pipeline.store import Store

N_FILES, PAIRS = 12, 60
COMMAND = (sys.executable, "-m", "hardbot.cli")


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """A folder of small logs, among them a packed one, one with bad lines and one with another's hands in it."""
    folder = tmp_path_factory.mktemp("logs")
    for number in range(N_FILES - 2):
        play_match("random", "always_raise", PAIRS, number, log=folder / f"m{number}.log{'.gz' if number == 3 else ''}")
    text = (folder / "m0.log").read_text()
    (folder / "copy.log").write_text(text + "STATE:9999:rf:3hTs|AdQd:-10|10:p2|p1\n")
    (folder / "damaged.log").write_text(text.replace("STATE:7:", "STATE:x:").replace("STATE:8:", "STATE:800:"))
    return folder


def state(path):
    """Everything ingestion writes, but for times."""
    tables = {
        "files": "SELECT * EXCLUDE (ingested_at, seconds) FROM files ORDER BY file_id",
        "hands": "SELECT * FROM hands ORDER BY hand_id",
        "decisions": "SELECT * FROM decisions ORDER BY hand_id, step",
        "rejects": "SELECT * FROM rejects ORDER BY file_id, line",
    }
    with Store(path, read_only=True) as store:
        return {name: store.query(sql) for name, sql in tables.items()}


def assert_same_state(first, second):
    for name, frame in first.items():
        assert frame.equals(second[name]), name


@pytest.fixture(scope="module")
def undisturbed(logs, tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "hands.duckdb"
    ingest([logs], path)
    return state(path)


def run_cli(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["hardbot", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    out, err = capsys.readouterr()
    return int(stopped.value.code or 0), out, err


# ---- counts and identity


def test_every_record_is_a_hand_a_duplicate_or_a_reject(undisturbed):
    files = undisturbed["files"]
    assert files.height == N_FILES
    for row in files.iter_rows(named=True):
        assert row["n_records"] == row["n_hands"] + row["n_duplicates"] + row["n_rejects"]
        assert row["n_lines"] == row["n_records"] + row["n_comments"]
    assert undisturbed["hands"].height == files["n_hands"].sum()
    assert undisturbed["rejects"].height == files["n_rejects"].sum() == 1


def test_the_same_hand_in_another_file_is_a_duplicate(undisturbed):
    rows = {Path(row["path"]).name: row for row in undisturbed["files"].iter_rows(named=True)}
    assert (rows["copy.log"]["n_hands"], rows["copy.log"]["n_duplicates"]) == (2 * PAIRS + 1, 0)
    assert (rows["m0.log"]["n_hands"], rows["m0.log"]["n_duplicates"]) == (0, 2 * PAIRS)
    damaged = rows["damaged.log"]  # one line broken, one hand renumbered
    assert (damaged["n_hands"], damaged["n_duplicates"], damaged["n_rejects"]) == (1, 2 * PAIRS - 2, 1)


def test_a_second_run_adds_nothing_and_remembers_the_counts(logs, tmp_path):
    first = ingest([logs], tmp_path / "s.duckdb")
    before = state(tmp_path / "s.duckdb")
    again = ingest([logs], tmp_path / "s.duckdb")
    assert_same_state(before, state(tmp_path / "s.duckdb"))
    assert {file.status for file in again.files} == {"known"}
    assert again.total("n_hands") == 0
    for then, now in zip(first.files, again.files, strict=True):
        assert replace(now, status="new", seconds=then.seconds) == then


def test_the_same_content_under_another_name_is_known(logs, tmp_path):
    (tmp_path / "other.txt").write_bytes((logs / "m1.log").read_bytes())
    with Store(":memory:") as store:
        assert ingest_file(store, logs / "m1.log").status == "new"
        assert ingest_file(store, tmp_path / "other.txt").status == "known"


def test_a_packed_copy_holds_the_same_hands(logs, tmp_path):
    (tmp_path / "m1.log.gz").write_bytes(gzip.compress((logs / "m1.log").read_bytes()))
    with Store(":memory:") as store:
        ingest_file(store, logs / "m1.log")
        report = ingest_file(store, tmp_path / "m1.log.gz")
    assert (report.status, report.n_hands, report.n_duplicates) == ("new", 0, 2 * PAIRS)


def test_blocks_of_a_file_make_no_difference(logs, tmp_path, monkeypatch, undisturbed):
    monkeypatch.setattr(reading, "BLOCK_BYTES", 1_000)
    monkeypatch.setattr(reading, "_CHUNK_BYTES", 300)
    ingest([logs], tmp_path / "s.duckdb")
    assert_same_state(undisturbed, state(tmp_path / "s.duckdb"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"n_hands": 2}, "expected 4 records = 2 hands"), ({"n_comments": 0}, "expected 5 lines = 4 records")],
)
def test_records_that_do_not_add_up_are_an_error(changes, message):
    good = FileReport(
        "m.log", "dealer-log", n_lines=5, n_records=4, n_hands=1, n_duplicates=1, n_rejects=2, n_comments=1
    )
    check_counts(good)
    with pytest.raises(SourceError, match=message):
        check_counts(replace(good, **changes))


# ---- the command


def test_command_prints_counts_and_the_second_time_that_all_is_known(logs, tmp_path, monkeypatch, capsys):
    for status in ("new", "known"):
        code, out, _ = run_cli(
            monkeypatch, capsys, "ingest", logs / "m1.log", "--store", tmp_path / "s.duckdb", "--json"
        )
        document = json.loads(out)
        assert (code, document["files"][0]["status"], document["files"][0]["n_hands"]) == (0, status, 2 * PAIRS)
    code, out, _ = run_cli(monkeypatch, capsys, "ingest", logs / "m1.log", "--store", tmp_path / "s.duckdb")
    assert (code, "known" in out) == (0, True)


def test_command_reads_the_good_files_and_names_the_damaged_one(logs, tmp_path, monkeypatch, capsys):
    broken = tmp_path / "broken.log.gz"
    broken.write_bytes((logs / "m3.log.gz").read_bytes()[:-50])
    arguments = ("ingest", broken, logs / "m1.log", "--store", tmp_path / "s.duckdb", "--json")
    code, out, err = run_cli(monkeypatch, capsys, *arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert "broken.log.gz is damaged or cut off" in err
    assert [file["status"] for file in json.loads(out)["files"]] == ["failed", "new"]
    broken.write_bytes((logs / "m3.log.gz").read_bytes())
    code, out, err = run_cli(monkeypatch, capsys, *arguments)
    assert (code, err) == (0, "")
    assert [file["status"] for file in json.loads(out)["files"]] == ["new", "known"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.log",), "found nothing at nowhere.log"),
        (("EMPTY",), "expected hand histories in the folder"),
        (("EMPTY", "--format", "csv"), "expected a format of dealer-log"),
    ],
    ids=["missing", "empty folder", "format"],
)
def test_mistakes_are_one_line(arguments, message, tmp_path, monkeypatch, capsys):
    (tmp_path / "empty").mkdir()
    arguments = [str(tmp_path / "empty") if part == "EMPTY" else part for part in arguments]
    code, out, err = run_cli(monkeypatch, capsys, "ingest", *arguments, "--store", tmp_path / "s.duckdb")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


# ---- things that go wrong outside


def test_a_file_that_changes_while_it_is_read_is_rolled_back_and_read_the_next_time(logs, tmp_path, monkeypatch):
    path = tmp_path / "growing.log"
    path.write_bytes((logs / "m1.log").read_bytes())
    line = "STATE:9999:rf:3hTs|AdQd:-10|10:p2|p1\n"
    real = ingest_module.unit_sha256

    def hash_then_write(unit):
        found = real(unit)
        if "9999" not in path.read_text():
            path.write_text(path.read_text() + line)
        return found

    monkeypatch.setattr(ingest_module, "unit_sha256", hash_then_write)
    with Store(tmp_path / "s.duckdb") as store:
        with pytest.raises(SourceError, match="it changed while it was read; try again"):
            ingest([path], store)
        assert set(store.table_counts().values()) == {0}
        assert ingest([path], store).total("n_hands") == 2 * PAIRS + 1


def test_a_store_that_another_process_writes_is_refused_by_name(logs, tmp_path):
    path = tmp_path / "s.duckdb"
    holder = (
        "import sys; from pipeline.store import Store\n"
        f"with Store({str(path)!r}): print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen((sys.executable, "-c", holder), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(StoreError, match=rf"expected .* to be free, but it is open in .*{other.pid}"):
            ingest([logs / "m1.log"], path)
        other.communicate(b"")
    assert ingest([logs / "m1.log"], path).total("n_hands") == 2 * PAIRS


def test_a_full_disk_is_one_line_and_the_second_run_completes_the_work(tmp_path, logs, undisturbed):
    limited = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (250_000, 250_000))\n"  # bytes any file may have
        "from hardbot.cli import main\n"
        "main()"
    )
    store = tmp_path / "s.duckdb"
    arguments = ("ingest", str(logs), "--store", str(store))
    done = subprocess.run((sys.executable, "-c", limited, *arguments), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "expected room on the disk" in done.stderr
    left = state(store)
    assert left["hands"].height == left["files"]["n_hands"].sum() < undisturbed["hands"].height
    ingest([logs], store)
    assert_same_state(undisturbed, state(store))


_DOOMED = """
import os, signal, sys, threading
from pathlib import Path
from pipeline.ingest import ingest
from pipeline.store import Store

folder, path, progress = map(Path, sys.argv[1:4])

def die():
    os.kill(os.getpid(), signal.SIGKILL)

class Doomed(Store):
    left, delay = -1, 0.0

    def count(self):
        self.left -= 1
        if self.left == 0:
            threading.Timer(self.delay, die).start()

    def run(self, *arguments):
        self.count()
        super().run(*arguments)

    def query(self, *arguments, **named):
        self.count()
        return super().query(*arguments, **named)

def ingest_until_killed(statements, delay):
    with Doomed(path) as store:  # also replays what the killed process before had committed
        counts = store.table_counts()
        assert counts["hands"] == store.value("SELECT coalesce(sum(n_hands), 0) FROM files")
        with progress.open("a") as file:
            print(counts["files"], file=file)
        store.left, store.delay = statements, delay
        ingest([folder], store)
    threading.Event().wait(10)

for point in sys.argv[4:]:
    statements, delay = point.split(":")
    child = os.fork()  # nothing but imports has happened yet, so there are no threads to lose
    if child == 0:
        ingest_until_killed(int(statements), float(delay))
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, status
"""


def test_ten_kills_and_another_run_end_as_if_nothing_had_happened(logs, tmp_path, undisturbed):
    rng = np.random.default_rng(11)
    path, progress = tmp_path / "s.duckdb", tmp_path / "progress"
    points = [f"{rng.integers(1, 25)}:{rng.uniform(0, 0.003):.5f}" for _ in range(10)]
    arguments = (sys.executable, "-c", _DOOMED, str(logs), str(path), str(progress), *points)
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    files = [int(line) for line in progress.read_text().split()]
    assert len(files) == len(points)
    assert files == sorted(files)
    assert len(set(files)) > 3
    subprocess.run((*COMMAND, "ingest", str(logs), "--store", str(path)), check=True, capture_output=True)
    assert_same_state(undisturbed, state(path))
