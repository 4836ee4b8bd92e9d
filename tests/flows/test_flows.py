"""The flows on a real (temporary) Prefect server: what a night does, what a second one repeats, where tasks run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("DO_NOT_TRACK", "1")
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")

from prefect import flow, tags, task
from prefect.client.orchestration import get_client
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
    PREFECT_HOME,
    PREFECT_LOCAL_STORAGE_PATH,
    temporary_settings,
)
from prefect.testing.utilities import prefect_test_harness
from typer.testing import CliRunner

from flows.ingest import ingest_flow
from flows.nightly import nightly_flow
from flows.runners import make_runner
from flows.server import check_cron
from flows.tasks import is_io_error
from flows.train import train_flow
from hardbot.arena import gauntlet
from hardbot.bots.hardbot import HardBot, follow
from hardbot.cli import app
from hardbot.errors import HardBotError, ModelError, StoreError
from hardbot.game.betting import first_betting
from hardbot.game.hand import Deal, Hand
from hardbot.game.notation import LogHand, format_log_hand, parse_match_state
from hardbot.game.rules import HEADS_UP
from hardbot.live.play_log import PlayLog, play_folder
from hardbot.live.published import list_results, read_result
from hardbot.live.session import TableSession
from hardbot.model.artifact import load_model
from pipeline.ingest import ingest
from pipeline.settings import ModelSettings
from pipeline.steps import TrainOptions
from pipeline.store import Store
from pipeline.train import train
from pipeline.watch import new_files

DEFAULT_MODEL = Path(__file__).resolve().parents[2] / "data" / "default-model"


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    no_heartbeat = {PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}  # its thread costs a second a flow
    with prefect_test_harness(server_startup_timeout=180), temporary_settings(no_heartbeat):
        yield


def write_log(path: Path, n_hands: int, seed: int) -> Path:
    """A dealer log of players that mostly call."""
    rng = np.random.default_rng(seed)
    lines = [f"# name/game/hands/seed {path.stem} holdem.limit.2p.reverse_blinds.game {n_hands} {seed}"]
    for number in range(n_hands):
        deck = [int(card) for card in rng.permutation(52)[:9]]
        holes = ((deck[0], deck[1]), (deck[2], deck[3]))
        players = ("ann", "bob") if number % 2 == 0 else ("bob", "ann")
        hand = Hand(HEADS_UP, Deal(holes, tuple(deck[4:])), number, players)
        while not hand.betting.is_over:
            legal = hand.betting.legal
            hand.apply(1 if rng.random() < 0.7 else int(rng.choice(legal)))
        net = tuple(float(chips) for chips in hand.net_chips())
        lines.append(format_log_hand(LogHand(number, hand.betting, holes, hand.board, net, players)))
    path.write_text("\n".join(lines) + "\nSCORE:0|0:ann|bob\n")
    return path


def small(k: int = 4) -> TrainOptions:
    settings = ModelSettings()
    for street in (1, 2, 3):
        settings = settings.with_street(street, k=k)
    return TrainOptions(settings=settings, score_hands=20)


@pytest.fixture
def watched(tmp_path) -> Path:
    folder = tmp_path / "watched"
    folder.mkdir()
    assert first_betting(HEADS_UP).seat == 1
    write_log(folder / "a.log", 300, seed=1)
    return folder


def artifact_keys() -> set[str]:
    with get_client(sync_client=True) as client:
        return {artifact.key for artifact in client.read_artifacts() if artifact.key}


def states_of(tag: str) -> dict[str, str]:
    """State name by task name of the run of a flow with a tag; the server hears of states a little later."""
    until = time.monotonic() + 20
    with get_client(sync_client=True) as client:
        while True:
            (run,) = (run for run in client.read_flow_runs() if tag in run.tags)
            tasks = [one for one in client.read_task_runs() if one.flow_run_id == run.id]
            states = {one.name.rsplit("-", 1)[0]: str(one.state_name) for one in tasks}
            if len(states) == 6 and set(states.values()) <= {"Completed", "Cached"}:
                return states
            assert time.monotonic() < until, states
            time.sleep(0.2)


def test_a_night_ingests_trains_and_promotes_and_the_next_one_has_nothing_to_do(server, watched, tmp_path):
    store, models = str(tmp_path / "s.duckdb"), str(tmp_path / "models")
    first = nightly_flow(str(watched), store, models, settle_seconds=0, play=False)
    assert [report["n_hands"] for report in first["files"]] == [300]
    assert load_model(models).model_id == first["training"]["model_id"]
    assert {"ingested-files", "rejects-by-reason", "held-out-scores", "k-curve", "nightly"} <= artifact_keys()
    second = nightly_flow(str(watched), store, models, settle_seconds=0, play=False)
    assert second == {"files": [], "training": None, "gauntlet": None}
    write_log(watched / "b.log", 30, seed=2)
    third = nightly_flow(str(watched), store, models, settle_seconds=0, play=False)
    assert [Path(report["path"]).name for report in third["files"]] == ["b.log"]
    assert third["training"]["n_hands"] > first["training"]["n_hands"]
    assert third["training"]["settings"]["streets"][1]["k"] == first["training"]["settings"]["streets"][1]["k"]


def play_live(n_hands: int, seed: int) -> Path:
    """Hands at a live table, the person acting at random; the log in the play folder."""
    log, rng = PlayLog(), np.random.default_rng(seed)
    table = TableSession(["rulebot"], seed=seed, n_hands=n_hands, log=log)
    while not table.is_finished:
        table.start_hand()
        while not table.is_between_hands:
            if table.is_persons_turn:
                table.submit(int(rng.choice(table.own_view().betting.legal)))
            else:
                table.step()
    assert log.path is not None
    return log.path


def test_live_hands_of_today_are_in_the_bot_of_tomorrow(server, tmp_path, monkeypatch):
    monkeypatch.setenv("HARDBOT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HARDBOT_STORE", str(tmp_path / "hands.duckdb"))
    monkeypatch.setenv("HARDBOT_GAUNTLET_PAIRS", "2")
    monkeypatch.setattr(gauntlet, "HERO", "hardbot:chooser=expert")  # the chooser that plays by the model
    monkeypatch.setattr(gauntlet, "OPPONENTS", ("always_call", "rulebot"))
    log = play_live(60, seed=3)
    assert log.parent == play_folder() == tmp_path / "data" / "play"
    run = ["schedule", "--once", "--settle", "0", "--json"]  # the play folder is watched unless told otherwise
    result = CliRunner().invoke(app, run)
    assert result.exit_code == 0, result.output
    night = json.loads(result.stdout.splitlines()[-1])
    assert [(Path(file["path"]).name, file["n_hands"]) for file in night["files"]] == [(log.name, 60)]
    assert night["training"]["promoted"]
    assert [row["opponent"] for row in night["gauntlet"]["rows"]] == ["always_call", "rulebot"]
    bot = HardBot(chooser="expert")
    view = follow(bot, parse_match_state("MATCHSTATE:0:0:cr:AhKd|", HEADS_UP))
    assert sum(bot.decide(view).triple) == pytest.approx(1.0)
    assert bot.model.model.model_id == night["training"]["model_id"] != load_model(DEFAULT_MODEL).model_id
    play_live(30, seed=4)
    again = json.loads(CliRunner().invoke(app, [*run, "--no-gauntlet"]).stdout.splitlines()[-1])
    assert [file["n_hands"] for file in again["files"]] == [30]
    assert again["training"]["n_hands"] > night["training"]["n_hands"]


def test_a_night_that_ended_after_ingestion_is_made_up_for(server, watched, tmp_path):
    store, models = tmp_path / "s.duckdb", str(tmp_path / "models")
    ingest_flow([str(watched)], str(store))
    night = nightly_flow(str(watched), str(store), models, settle_seconds=0, play=False)
    assert night["files"] == []
    assert night["training"]["promoted"]


def test_a_promoted_model_plays_and_its_results_are_stored_and_published(server, watched, tmp_path, monkeypatch):
    monkeypatch.setattr("hardbot.arena.gauntlet.HERO", "hardbot:chooser=expert")
    monkeypatch.setattr("hardbot.arena.gauntlet.OPPONENTS", ("always_call", "rulebot"))
    monkeypatch.setenv("HARDBOT_GAUNTLET_PAIRS", "10")
    monkeypatch.setenv("HARDBOT_DATA", str(tmp_path / "data"))
    store, models = tmp_path / "s.duckdb", tmp_path / "models"
    night = nightly_flow(str(watched), str(store), str(models), settle_seconds=0)
    with Store(store, read_only=True) as reader:
        rows = reader.query(
            "SELECT hero, opponent, hands, model_hash, sb_per_hand FROM match_results ORDER BY opponent"
        )
    assert rows["opponent"].to_list() == ["always_call", "rulebot"]
    assert rows["hands"].to_list() == [20, 20]
    assert {name.split("+")[0] for name in rows["model_hash"]} == {night["training"]["model_id"]}
    assert rows["sb_per_hand"].to_list() == [row["sb_per_hand"] for row in night["gauntlet"]["rows"]]
    played_at = night["gauntlet"]["played_at"]
    (published,) = (line for line in list_results() if line["played_at"] == played_at)
    assert read_result(published["name"]) == night["gauntlet"]


def test_a_flow_trains_the_model_that_the_command_trains(server, watched, tmp_path):
    ingest([watched], tmp_path / "a.duckdb")
    shutil.copy(tmp_path / "a.duckdb", tmp_path / "b.duckdb")
    direct = train(tmp_path / "a.duckdb", tmp_path / "direct", small())
    by_flow = train_flow(str(tmp_path / "b.duckdb"), str(tmp_path / "flow"), small().to_json())
    for file in ("manifest.json", "arrays.npz"):
        assert (direct.path / file).read_bytes() == (Path(by_flow["path"]) / file).read_bytes()


KILLED = """
import json, os, signal, sys
import flows.train

def end_here(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

flows.train.stages.score_stage = end_here
flows.train.train_flow(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
"""


def test_a_killed_flow_goes_on_where_it_was(server, watched, tmp_path):
    store, models = tmp_path / "s.duckdb", tmp_path / "models"
    ingest([watched], store)
    arguments = [str(store), str(models), json.dumps(small().to_json())]
    settings = {"PREFECT_API_URL": PREFECT_API_URL.value(), "PREFECT_HOME": str(PREFECT_HOME.value())}
    settings["PREFECT_LOCAL_STORAGE_PATH"] = str(PREFECT_LOCAL_STORAGE_PATH.value())
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *arguments],
        env=os.environ | settings,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-2000:]
    assert not (models / "current").exists()
    with tags("after-the-kill"):
        report = train_flow(*arguments[:2], small().to_json())
    states = states_of("after-the-kill")
    assert [states[name] for name in ("choose settings", "buckets", "counts")] == ["Cached"] * 3
    assert [states[name] for name in ("score", "publish")] == ["Completed"] * 2
    assert load_model(models).model_id == report["model_id"]


def test_tasks_run_on_a_dask_cluster(server, watched, tmp_path):
    from distributed import LocalCluster

    ingest([watched], tmp_path / "s.duckdb")
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        runner = make_runner("dask", cluster.scheduler_address)
        report = train_flow.with_options(task_runner=runner)(
            str(tmp_path / "s.duckdb"), str(tmp_path / "models"), small().to_json()
        )
    assert load_model(tmp_path / "models").model_id == report["model_id"]


def test_only_input_and_output_is_tried_again(server):
    calls: list[str] = []

    @task(retries=1, retry_delay_seconds=0, retry_condition_fn=is_io_error)
    def fail(error: type[Exception]) -> None:
        calls.append(error.__name__)
        raise error("no")

    @flow
    def attempts() -> None:
        for error in (OSError, StoreError, ModelError, ValueError):
            fail(error, return_state=True)

    attempts(return_state=True)
    assert calls == ["OSError"] * 2 + ["StoreError"] * 2 + ["ModelError", "ValueError"]


def test_files_still_being_written_wait_for_the_next_night(watched, tmp_path):
    store = tmp_path / "s.duckdb"
    assert new_files(watched, store, settle_seconds=3600) == []
    assert new_files(watched, store, settle_seconds=0) == [watched / "a.log"]
    ingest([watched / "a.log"], store)
    shutil.copy(watched / "a.log", watched / "copy.log")
    assert new_files(watched, store, settle_seconds=0) == []  # known by content
    with (watched / "a.log").open("a") as file:
        file.write("# more\n")
    assert new_files(watched, store, settle_seconds=0) == [watched / "a.log"]


def test_an_empty_folder_is_no_error_and_a_missing_one_is(tmp_path):
    (tmp_path / "empty").mkdir()
    assert new_files(tmp_path / "empty", tmp_path / "s.duckdb") == []
    with pytest.raises(HardBotError, match="expected a folder to watch"):
        new_files(tmp_path / "nowhere", tmp_path / "s.duckdb")


def test_wrong_runners_and_schedules_are_refused_at_once(tmp_path):
    with pytest.raises(HardBotError, match="threads, processes, dask"):
        make_runner("fibres")
    with pytest.raises(HardBotError, match="dask with an address"):
        make_runner("dask")
    with pytest.raises(HardBotError, match="for --cron, got 'at noon'"):
        check_cron("at noon")
    result = CliRunner().invoke(app, ["schedule", "--watch", str(tmp_path / "nowhere")])
    assert isinstance(result.exception, HardBotError)
    with Store(tmp_path / "unused.duckdb") as store:
        assert store.table_counts()["hands"] == 0
