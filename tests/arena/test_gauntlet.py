"""Gauntlets and cross-tables: resumable, honest about when they stop, and readable afterwards."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from hardbot.arena import gauntlet
from hardbot.arena.gauntlet import (
    chosen_bots,
    cross_fixtures,
    document_of,
    gauntlet_fixtures,
    model_hash,
    row_of,
    unseen_model,
)
from hardbot.arena.match import play_match
from hardbot.arena.series import MIN_BLOCKS, Fixture, SeriesSettings, play_series, random_names
from hardbot.arena.statistics import anytime_half_width
from hardbot.bots.registry import FACTORIES
from hardbot.bots.simple import AlwaysCall
from hardbot.cli import app
from hardbot.errors import ArenaError, BotError
from hardbot.model.artifact import default_model_path
from pipeline.gauntlet_page import gauntlet_page
from pipeline.results import publish_results, save_match_results
from pipeline.store import Store


def fixtures(*opponents, hero="random"):
    return gauntlet_fixtures(hero, opponents)


def facts(standings):
    """Everything about a result but the time it took."""
    timing = {"cpu_seconds", "hands_per_cpu_second", "decision_ms"}
    return [{k: v for k, v in row_of(standing).items() if k not in timing} for standing in standings]


def run(*arguments):
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def test_uncorrected_result_is_that_of_a_plain_match():
    settings = SeriesSettings(300, seed=4, block=100)
    (standing,) = play_series(fixtures("always_call"), settings)
    match = play_match("random", "always_call", 300, 4, block=100)
    row = row_of(standing)
    assert np.array_equal(np.concatenate(standing.pair_values(corrected=False)), match.pair_sb)
    assert (row["raw_sb_per_hand"], row["raw_ci95"]) == (match.sb_per_hand, match.ci95)
    assert row["ci95"] < row["raw_ci95"]


def test_result_does_not_depend_on_the_number_of_jobs(tmp_path):
    settings = SeriesSettings(240, seed=4, block=60)
    matches = fixtures("always_call", "always_raise")
    assert facts(play_series(matches, settings, jobs=1)) == facts(play_series(matches, settings, jobs=2))


def test_finished_blocks_are_not_played_again(tmp_path):
    settings = SeriesSettings(120, seed=4, block=40)
    first = play_series(fixtures("always_call"), settings, state=tmp_path)
    (path,) = tmp_path.iterdir()
    before = path.read_text()
    again = play_series(fixtures("always_call"), settings, state=tmp_path)
    assert facts(first) == facts(again)
    assert path.read_text() == before
    longer = play_series(fixtures("always_call"), SeriesSettings(200, seed=4, block=40), state=tmp_path)
    assert path.read_text().startswith(before)
    assert facts(longer) == facts(play_series(fixtures("always_call"), SeriesSettings(200, seed=4, block=40)))


@pytest.mark.parametrize("damage", ["cut", "flipped", "other size", "empty line"])
def test_a_damaged_block_is_played_again(damage, tmp_path):
    settings = SeriesSettings(120, seed=4, block=40)
    whole = facts(play_series(fixtures("always_call"), settings, state=tmp_path))
    (path,) = tmp_path.iterdir()
    text = path.read_text()
    last = text.splitlines()[-1]
    damaged = {
        "cut": text[:-30],
        "flipped": text.replace(last, re.sub(r'"crc": (\d)', lambda m: f'"crc": {9 - int(m[1])}', last)),
        "other size": text.replace(last, last.replace('"deals": 40', '"deals": 39')),
        "empty line": text.replace(last, ""),
    }[damage]
    assert damaged != text
    path.write_text(damaged)
    assert facts(play_series(fixtures("always_call"), settings, state=tmp_path)) == whole


def test_a_killed_run_goes_on_and_gives_the_same_result(tmp_path):
    command = ["gauntlet", "--hero", "rulebot", "--bots", "random,always_call", "--pairs", "1200", "--block", "50"]
    command += ["--jobs", "1", "--seed", "6", "--json", "-"]
    state = ["--state", str(tmp_path / "state")]
    process = subprocess.Popen(
        [sys.executable, "-m", "hardbot.cli", *command, *state], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while sum(path.read_text().count('"block": ') - 1 for path in (tmp_path / "state").glob("*.jsonl")) < 3:
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    played = sum(len(path.read_text().splitlines()) - 1 for path in (tmp_path / "state").glob("*.jsonl"))
    assert 3 <= played < 48
    resumed = json.loads(run(*command, *state).stdout)
    fresh = json.loads(run(*command, "--fresh").stdout)
    timing = {"cpu_seconds", "hands_per_cpu_second", "decision_ms"}
    for one, two in zip(resumed["rows"], fresh["rows"], strict=True):
        assert {k: v for k, v in one.items() if k not in timing} == {k: v for k, v in two.items() if k not in timing}
    assert resumed["styles"] == fresh["styles"]
    assert resumed["curves"] == fresh["curves"]


def test_a_narrow_enough_interval_ends_the_match_and_later_blocks_do_not_count(tmp_path):
    wide = SeriesSettings(400, seed=4, block=40, half_width=10.0)
    (standing,) = play_series(fixtures("always_call"), wide)
    assert (standing.ended_by, standing.pairs) == ("ci", MIN_BLOCKS * 40)
    play_series(fixtures("always_call"), SeriesSettings(400, seed=4, block=40), state=tmp_path)
    assert facts(play_series(fixtures("always_call"), wide, state=tmp_path, jobs=2)) == facts([standing])
    (endless,) = play_series(fixtures("always_call"), SeriesSettings(200, seed=4, block=40, half_width=1e-6))
    assert (endless.ended_by, endless.pairs) == ("pairs", 200)


def test_a_sequential_match_ends_when_it_is_decided():
    settings = SeriesSettings(4_000, seed=4, block=100, sequential=True)
    won, lost = play_series(
        [Fixture("a", "b", ("always_raise", "always_fold")), Fixture("a", "b", ("random", "always_raise"))], settings
    )
    assert (won.ended_by, won.verdict, won.pairs) == ("sequential", "won", 300)
    assert (lost.ended_by, lost.verdict) == ("sequential", "lost")
    assert abs(lost.estimate().mean) > lost.anytime_half_width() > lost.estimate().half_width


def test_equal_bots_stay_open():
    (standing,) = play_series([Fixture("a", "b", ("always_call", "always_call"))], SeriesSettings(80, seed=1, block=40))
    assert standing.verdict == "open"


def test_confidence_sequence_covers_at_all_times_together():
    rng = np.random.default_rng(11)
    n, runs = 300, 1_500
    values = rng.standard_normal((runs, n)) * 1.7
    means = values.cumsum(axis=1) / np.arange(1, n + 1)
    missed = np.zeros(runs, dtype=bool)
    fixed = np.zeros(runs, dtype=bool)
    for size in range(2, n + 1):
        sd = values[:, :size].std(axis=1, ddof=1)
        half = np.array([anytime_half_width(1.0, size, 150)]) * sd
        missed |= np.abs(means[:, size - 1]) > half
        fixed |= np.abs(means[:, size - 1]) > 1.96 * sd / np.sqrt(size)
    assert missed.mean() < 0.05
    assert fixed.mean() > 0.25  # what looking at every step does to the plain interval
    assert anytime_half_width(1.0, 150, 150) < 2.0 * 1.96 / np.sqrt(150)


def test_no_half_width_before_there_is_anything_to_say():
    assert anytime_half_width(1.0, 1, 100) == np.inf
    assert anytime_half_width(1.0, 2, 100) == np.inf
    assert anytime_half_width(float("nan"), 50, 100) == np.inf


def test_bots_sit_under_new_names_in_every_block_and_without_memory():
    met, made = [], []

    class Spy(AlwaysCall):
        def __init__(self):
            made.append(self)
            self.hands = 0

        def table_policy(self):
            return None

        def new_hand(self, view):
            self.hands += 1
            met.append(view.players)

    FACTORIES["spy"] = lambda spec: Spy()
    try:
        play_series([Fixture("spy", "random", ("spy:x", "random"))], SeriesSettings(30, seed=9, block=10))
    finally:
        del FACTORIES["spy"]
    assert {frozenset(players) for players in met} == {frozenset(random_names(9, block)) for block in range(3)}
    assert not any("spy" in name or "random" in name for players in met for name in players)
    assert [bot.hands for bot in made if bot.hands] == [10] * 6


def test_a_failing_bot_is_named_in_spite_of_its_borrowed_name():
    class Broken(AlwaysCall):
        def table_policy(self):
            return None

        def act(self, view, rng):
            raise ValueError("no idea")

    FACTORIES["broken"] = lambda spec: Broken()
    try:
        with pytest.raises(ArenaError, match=r"got ValueError: no idea .* is broken:x"):
            play_series([Fixture("b", "random", ("broken:x", "random"))], SeriesSettings(10, seed=9, block=10))
    finally:
        del FACTORIES["broken"]


def test_learners_get_their_interval_over_blocks():
    (standing,) = play_series([Fixture("v", "c", ("vexbot", "always_fold"))], SeriesSettings(20, seed=9, block=5))
    row = row_of(standing)
    assert row["interval"] == "blocks"
    assert standing.estimate().n_units == 4
    assert row["decision_ms"][0] > 0


def test_bots_are_chosen_by_name_with_their_options():
    assert chosen_bots("loki:trials=100,simulate=no, rulebot", ()) == ["loki:trials=100,simulate=no", "rulebot"]
    assert chosen_bots("all", ("rulebot", "no-such-bot")) == ["rulebot"]
    with pytest.raises(ArenaError, match="expected different bots"):
        chosen_bots("rulebot,rulebot", ())


def test_hero_does_not_meet_itself():
    assert [f.opponent for f in gauntlet_fixtures("rulebot", ["random", "rulebot"])] == ["random"]
    with pytest.raises(ArenaError, match="expected opponents other than rulebot"):
        gauntlet_fixtures("rulebot", ["rulebot"])


def test_cross_table_has_every_pair_once():
    found = [(f.hero, f.opponent) for f in cross_fixtures(["a_bot", "b_bot", "c_bot"])]
    assert found == [("a_bot", "b_bot"), ("a_bot", "c_bot"), ("b_bot", "c_bot")]


def test_unseen_matches_take_the_model_without_the_opponent(tmp_path, monkeypatch):
    monkeypatch.setenv("HARDBOT_DATA", str(tmp_path))
    folder = tmp_path / "models" / "unseen-rulebot"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text('{"model_id": "abc123"}')
    hero = "hardbot:chooser=expert"
    (fixture,) = gauntlet_fixtures(hero, ["rulebot"], unseen=True)
    assert fixture.specs == (f"{hero},unseen=rulebot,model={folder}", "rulebot")
    assert (fixture.hero, fixture.model.split("+")[0]) == (hero, "abc123")
    assert unseen_model("rulebot") == folder
    with pytest.raises(ArenaError, match="hardbot train --without-player random"):
        gauntlet_fixtures(hero, ["random"], unseen=True)
    (portfolio,) = gauntlet_fixtures("hardbot:chooser=portfolio", ["random"], unseen=True)
    assert portfolio.specs[0] == "hardbot:chooser=portfolio,unseen=random"
    with pytest.raises(ArenaError, match="expected a hero with an option model"):
        gauntlet_fixtures("always_call", ["rulebot"], unseen=True)


def test_a_new_model_plays_a_short_gauntlet_after_training(monkeypatch):
    monkeypatch.setattr(gauntlet, "HERO", "hardbot:chooser=expert")
    monkeypatch.setattr(gauntlet, "OPPONENTS", ("always_call", "always_raise"))
    monkeypatch.setenv("HARDBOT_GAUNTLET_PAIRS", "6")
    folder = default_model_path()
    document = gauntlet.after_training(folder)
    assert [row["opponent"] for row in document["rows"]] == ["always_call", "always_raise"]
    assert {(row["hero"], row["hands"], row["blocks"]) for row in document["rows"]} == {(gauntlet.HERO, 12, 2)}
    assert document["rows"][0]["model"].split("+")[0] == json.loads((folder / "manifest.json").read_text())["model_id"]
    monkeypatch.setenv("HARDBOT_GAUNTLET_PAIRS", "few")
    with pytest.raises(ArenaError, match="expected a number of pairs in HARDBOT_GAUNTLET_PAIRS, got 'few'"):
        gauntlet.after_training(folder)


def test_bots_without_a_model_have_no_model_hash():
    assert model_hash("rulebot") == ""


@pytest.fixture(scope="module")
def played():
    settings = SeriesSettings(120, seed=4, block=40)
    standings = play_series(cross_fixtures(["random", "always_call", "always_raise"]), settings)
    return document_of("crosstable", standings, settings), document_of("gauntlet", standings[:2], settings)


def test_document_is_plain_json_with_everything_needed_to_repeat_it(played):
    for document in played:
        again = json.loads(json.dumps(document, allow_nan=False))
        assert again == document
        assert {"commit", "code", "seed", "pairs", "block", "rows", "styles", "curves"} <= set(document)
    row = played[0]["rows"][0]
    assert {"hands", "sb_per_hand", "ci95", "anytime95", "verdict", "variance_factor", "model", "specs"} <= set(row)
    assert played[0]["styles"]["always_call"]["preflop_raise"] == 0.0
    cumulative = played[0]["curves"][0]["cumulative"]
    assert cumulative[-1]["hands"] == 240
    assert cumulative[-1]["sb"] == pytest.approx(240 * row["sb_per_hand"])


def test_page_needs_no_network_and_shows_every_match(played):
    for document in played:
        page = gauntlet_page(document)
        assert page.count("<svg") == 1
        assert not re.search(r"<script|<link|@import|(?:src|href)=[\"']?(?:https?:)?//", page)
        for row in document["rows"]:
            assert f"{row['sb_per_hand']:+.3f}" in page
            assert row["opponent"] in page
        assert gauntlet_page(document) == page


def test_page_draws_the_learning_curve_of_a_learner_and_two_blocks_decide_nothing():
    settings = SeriesSettings(10, seed=9, block=5)
    (standing,) = play_series([Fixture("vexbot", "always_fold", ("vexbot", "always_fold"))], settings)
    document = document_of("gauntlet", [standing], settings)
    assert gauntlet_page(document).count("<svg") == 2
    assert [point["hand"] for point in document["curves"][0]["learning"]] == [1, 2, 3, 4, 5]
    assert document["rows"][0]["verdict"] == "open"


def test_results_are_stored_once_and_published(played, tmp_path):
    with Store(":memory:") as store:
        assert save_match_results(store, [played[0]]) == 3
        assert save_match_results(store, [played[0]]) == 0
        rows = store.query("SELECT * FROM match_results ORDER BY hero, opponent")
    assert rows["seed"].to_list() == [4, 4, 4]
    assert rows["git_commit"][0] == (played[0]["commit"] or None)
    assert json.loads(rows["details"][0])["code"] == played[0]["code"]
    path = publish_results(played[0], tmp_path / "results")
    assert json.loads(path.read_text()) == played[0]
    assert (tmp_path / "results" / "latest-crosstable.json").read_text() == path.read_text()
    assert len(list((tmp_path / "results").iterdir())) == 2


def test_command_writes_page_json_store_and_published_results(tmp_path, monkeypatch):
    monkeypatch.setenv("HARDBOT_DATA", str(tmp_path / "data"))
    names = {kind: tmp_path / f"out.{kind}" for kind in ("json", "html", "store")}
    options = [part for kind, path in names.items() for part in (f"--{kind}", str(path))]
    settings = ["--pairs", "60", "--block", "20", "--jobs", "1", "--seed", "2"]
    result = run("crosstable", "--bots", "random,always_call", *settings, *options)
    assert result.exit_code == 0
    assert "crosstable, seed 2, blocks of 20 deals" in result.stdout
    assert f"{json.loads(names['json'].read_text())['rows'][0]['sb_per_hand']:+.3f} ± " in result.stdout
    document = json.loads(names["json"].read_text())
    assert document["rows"][0]["hands"] == 120
    assert "<svg" in names["html"].read_text()
    with Store(names["store"], read_only=True) as store:
        assert store.value("SELECT count(*) FROM match_results") == 1
    assert (tmp_path / "data" / "results" / "latest-crosstable.json").is_file()
    assert len(list((tmp_path / "data" / "gauntlet").iterdir())) == 1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("gauntlet", "--hero", "nobody"), BotError, "expected a bot of"),
        (("gauntlet", "--hero", "random", "--bots", "nobody"), BotError, "expected a bot of"),
        (("gauntlet", "--hero", "random", "--bots", ","), ArenaError, "expected different bots"),
        (("gauntlet", "--hero", "random", "--bots", "rulebot", "--pairs", "0"), ArenaError, "at least 1 deal"),
        (("gauntlet", "--hero", "random", "--bots", "rulebot", "--ci", "-1"), ArenaError, "half-width above 0"),
        (("gauntlet", "--hero", "random", "--bots", "rulebot", "--seed", "-1"), ArenaError, "seed of 0 or more"),
        (("gauntlet", "--hero", "random", "--bots", "rulebot", "--jobs", "0"), ArenaError, "at least 1 job"),
        (("gauntlet", "--hero", "random", "--bots", "rulebot", "--unseen"), ArenaError, "an option model"),
        (("gauntlet", "--hero", "random", "--html", "no/such/folder/x.html"), ArenaError, "an existing folder"),
        (("gauntlet", "--state", "x", "--fresh"), ArenaError, "either --state or --fresh"),
        (("gauntlet", "--hero", "random", "--bots", "rulebot", "--state", "/dev/null/x"), ArenaError, "a folder for"),
        (("crosstable", "--bots", "random"), ArenaError, "at least two bots"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_impossible_gauntlet_is_refused(arguments, error, message, tmp_path, monkeypatch):
    monkeypatch.setenv("HARDBOT_DATA", str(tmp_path))
    with pytest.raises(error, match=message):
        run(*arguments)
