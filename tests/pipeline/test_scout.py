"""Scouting a player from the store, and reviewing histories hand by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hardbot.cli import app
from hardbot.errors import SourceError
from hardbot.model.likelihood import ActionModel
from pipeline.adaptation import played_history
from pipeline.histories import History, StoredHand
from pipeline.review import review, review_hand
from pipeline.scout import log_bayes_factor, scout, scout_history, shares

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def model() -> ActionModel:
    return ActionModel()


def renamed(hand: StoredHand, before: str, after: str) -> StoredHand:
    first, second = (after if name == before else name for name in hand.players)
    return replace(hand, players=(first, second))


@pytest.fixture(scope="module")
def turncoat() -> History:
    """Forty hands of calling, then forty of raising."""
    calm = [renamed(h, "always_call", "turncoat") for h in played_history("always_call", "rulebot", 40, 3).hands]
    wild = [renamed(h, "always_raise", "turncoat") for h in played_history("always_raise", "rulebot", 40, 4).hands]
    return History((*calm, *wild), 0)


def test_credible_interval_holds_the_share_and_narrows_with_observations():
    prior = np.array([0.2, 0.5, 0.3])
    mean, low, high = shares(np.array([2.0, 6.0, 2.0]), prior)
    assert (low <= mean).all()
    assert (mean <= high).all()
    _, low_many, high_many = shares(np.array([200.0, 600.0, 200.0]), prior)
    assert (high_many - low_many < 0.3 * (high - low)).all()
    assert shares(np.zeros(3), prior)[0] == pytest.approx(prior)
    exact = shares(np.array([0.0, 18.0, 18.0]), np.array([0.0, 0.5, 0.5]))  # Beta(19, 19): central 95% .345 to .655
    assert [exact[1][1], exact[2][1]] == pytest.approx([0.345, 0.655], abs=0.01)


def test_cells_count_every_decision_once(training_store, model):
    report = scout(training_store, "loose", model, max_hands=150)
    assert report["hands"] == report["cards_known"] == 150
    assert sum(row["n"] for row in report["cells"]) == pytest.approx(_decisions(training_store, 150))
    for row in report["cells"]:
        assert sum(row["share"]) == pytest.approx(1.0)
        assert sum(row["corpus"]) == pytest.approx(1.0)
        assert row["facing_bet"] or row["share"][0] == 0.0
    assert [part["hands"] for part in report["drift"]["parts"]] == [38, 37, 38, 37]


def _decisions(store: Path, n_hands: int) -> int:
    from pipeline.histories import read_history

    hands = read_history(store, "loose", n_hands).hands
    return sum(before.seat == hand.seat_of("loose") for hand in hands for before, _ in hand.actions)


def test_hidden_cards_are_spread_over_the_range(training_store, model):
    from pipeline.histories import read_history

    hands = read_history(training_store, "loose", 60).hands
    hidden = [replace(hand, holes=(None, None)) for hand in hands]
    report = scout_history(History(tuple(hidden), 0), "loose", model)
    assert report["cards_known"] == 0
    assert sum(row["n"] for row in report["cells"]) == pytest.approx(_decisions(training_store, 60), rel=0.02)
    strengths = {row["strength"] for row in report["cells"] if row["street"] == "flop"}
    assert strengths == {"weakest", "weak", "middle", "strong", "strongest"}


def test_one_who_only_raises_is_said_to_raise_too_often(model):
    history = played_history("always_raise", "rulebot", 80, seed=5)
    report = scout_history(history, "always_raise", model)
    worst = report["leaks"][0]
    assert (worst["action"], worst["tendency"]) in {
        ("raise", "too often"), ("bet", "too often"), ("call", "too seldom"), ("check", "too seldom")
    }  # fmt: skip
    stakes = [leak["stake_sb"] for leak in report["leaks"]]
    assert stakes == sorted(stakes, reverse=True)
    assert all(leak["surprise"] > 0.0 for leak in report["leaks"])
    assert not any(row["exploitable"] for row in report["folds_to_bets"])  # it never folds


def test_one_who_folds_to_every_bet_can_be_bluffed(model):
    history = played_history("always_fold", "always_raise", 60, seed=6)
    (row,) = scout_history(history, "always_fold", model)["folds_to_bets"]
    assert row["street"] == "preflop"
    assert row["break_even"] == pytest.approx(0.5)  # 1.5 sb for the blinds' 1.5 sb
    assert row["exploitable"]


def test_a_change_of_style_shows_as_drift(turncoat, model):
    changed = scout_history(turncoat, "turncoat", model)["drift"]
    assert changed["log_bayes_factor"] > 20.0
    assert changed["parts"][0]["preflop_raise"] == 0.0
    assert changed["parts"][-1]["preflop_raise"] > 0.4  # it acts in about half of them
    steady = scout_history(History(turncoat.hands[:40], 0), "turncoat", model)["drift"]
    assert steady["log_bayes_factor"] < 0.0


def test_bayes_factor_of_small_samples_by_hand():
    # one success in each of two single trials: 1/2 * 1/2 apart, 1/3 together
    same = log_bayes_factor(np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    assert np.exp(same) == pytest.approx(0.75)
    assert np.exp(log_bayes_factor(np.array([1.0, 0.0]), np.array([0.0, 1.0]))) == pytest.approx(1.5)


def test_scout_command_prints_one_document(training_store):
    arguments = ["scout", "tight", "--store", str(training_store), "--hands", "40"]
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert {"cells", "leaks", "folds_to_bets", "drift", "sb_per_hand", "model_id"} <= set(document)
    plain = CliRunner().invoke(app, arguments)
    assert "folds to bets" in plain.stdout


def test_review_follows_both_ranges_action_by_action(training_logs, model):
    (document,) = review(training_logs[:1], model, hand="7")
    assert document["hand"] == "7"
    assert len(document["actions"]) == len(document["betting"].replace("/", ""))
    for row in document["actions"]:
        assert sum(row["expected"]) == pytest.approx(1.0)
        assert [p for _, p in row["top"]] == sorted((p for _, p in row["top"]), reverse=True)
        other = document["holes"][1 - row["seat"]]
        assert all(card not in hole for hole, _ in row["top"] for card in (other[:2], other[2:]))
        assert row["bits"] is not None


def test_review_learns_players_only_if_asked(training_logs, model):
    plain = review(training_logs[:1], model, limit=12)
    adapted = review(training_logs[:1], model, limit=12, adapt=True)
    assert len(plain) == 12
    assert plain[0]["actions"][0]["expected"] == pytest.approx(adapted[0]["actions"][0]["expected"])
    assert plain[11]["actions"][0]["expected"] != pytest.approx(adapted[11]["actions"][0]["expected"])


def test_review_of_hidden_cards_has_no_bits(training_store, model):
    from pipeline.histories import read_history

    hand = replace(read_history(training_store, max_hands=1).hands[0], holes=(None, None))
    document = review_hand(hand, model)
    assert {row["bits"] for row in document["actions"]} == {None}
    assert document["holes"] == [None, None]


def test_review_of_a_hand_that_is_not_there_is_one_clear_error(training_logs, model):
    with pytest.raises(SourceError, match="number '99999'"):
        review(training_logs[:1], model, hand="99999")


def test_review_command_reads_the_shipped_sample():
    arguments = ["review", str(ROOT / "data" / "sample.log.gz"), "--limit", "1"]
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    (document,) = json.loads(result.stdout)
    assert document["actions"]
    assert "likeliest" in CliRunner().invoke(app, arguments).stdout
