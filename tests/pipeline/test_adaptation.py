"""Streams of one player's hands: what the opponent term gains, and that it never looks ahead."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from hardbot.cli import app
from hardbot.errors import ModelError, StoreError
from hardbot.game.cards import N_HOLES
from hardbot.model.likelihood import ActionModel
from hardbot.model.tracker import HandTracker
from pipeline.adaptation import (
    CORPUS,
    adapted,
    choose_decay,
    played_history,
    plot_adaptation,
    range_bits,
    watch_player,
)
from pipeline.histories import History, busiest_players, read_history, store_of


@pytest.fixture(scope="module")
def model() -> ActionModel:
    return ActionModel()


@pytest.fixture(scope="module")
def raiser() -> History:
    return played_history("always_raise", "always_call", 60, seed=1)


def test_term_learns_a_player_who_always_raises(model, raiser):
    found = watch_player(raiser, "always_raise", model, (1.0,))
    assert found.n_hands == 60
    mean, half = found.gain(adapted(1.0), 60)
    assert mean - half > 0.0
    late = found.mean_nats(adapted(1.0), 40, 60)
    assert late < 0.5 * found.mean_nats(adapted(1.0), 0, 10)
    assert late < 0.5 * found.mean_nats(CORPUS, 40, 60)


def test_first_action_is_predicted_by_the_corpus_alone(model, raiser):
    found = watch_player(History(raiser.hands[:1], 0), "always_raise", model, (0.9,))
    assert found.actions[0] >= 1
    start = raiser.hands[0]
    before, action = next(step for step in start.actions if step[0].seat == start.seat_of("always_raise"))
    tracker = HandTracker(model, 1 - before.seat, start.holes[1 - before.seat], None)
    tracker.observe(before, action)
    one = watch_player(History(raiser.hands[:2], 0), "always_raise", model, (0.9,))
    assert one.nats[CORPUS][0] >= -math.log(tracker.steps[0].p_adjusted[action]) - 1e-12
    assert found.nats[adapted(0.9)][0] == one.nats[adapted(0.9)][0]  # what comes later changes nothing


def test_cards_that_were_not_shown_teach_nothing(model, raiser):
    folded = [hand for hand in raiser.hands if not hand.end.is_showdown]
    assert all(hand.shown(0) is None and hand.holes[0] is not None for hand in folded)
    shown = next(hand for hand in raiser.hands if hand.end.is_showdown)
    assert shown.shown(0) == shown.holes[0]


def test_range_bits_are_zero_before_any_action(model):
    tracker = HandTracker(model, 0, (0, 5), None)
    assert range_bits(tracker, (10, 20)) == pytest.approx(0.0)
    assert range_bits(HandTracker(model, 0, (), None), (10, 20)) == pytest.approx(0.0)
    assert np.count_nonzero(tracker.theirs.weights) < N_HOLES


def test_decay_is_chosen_by_the_fewest_nats(model, raiser):
    decays = (0.5, 1.0)
    stream = watch_player(raiser, "always_raise", model, decays)
    best, means = choose_decay([stream], decays)
    assert means[best] == min(means.values())
    assert best == 1.0  # whoever never changes is learned best by never forgetting


def test_decays_outside_of_reason_are_refused(model, raiser):
    with pytest.raises(ModelError, match="decays above 0"):
        watch_player(raiser, "always_raise", model, (1.5,))


def test_histories_come_out_of_a_store_as_they_went_in(training_store, training_logs):
    history = read_history(training_store, "tight", max_hands=25)
    assert len(history.hands) == 25
    assert history.n_left_out == 0
    for hand in history.hands:
        assert "tight" in hand.players
        assert sum(hand.net_sb) == pytest.approx(0.0)
        assert hand.actions[-1][0].after(hand.actions[-1][1]) is hand.end
    assert dict(busiest_players(training_store, 2)).keys() == {"tight", "loose"}
    with store_of(training_logs[:1]) as store:
        assert len(read_history(store).hands) == 800


def test_a_player_nobody_has_seen_is_one_clear_error(training_store):
    with pytest.raises(StoreError, match="hands of 'nobody'"):
        read_history(training_store, "nobody")


def test_command_reports_both_models_and_draws(training_store, tmp_path):
    plot = tmp_path / "a.png"
    arguments = ["adapt", str(training_store), "--player", "loose", "--hands", "30", "--plot", str(plot), "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout)["players"]
    assert row["player"] == "loose"
    assert row["first"][-1]["hands"] == 30
    assert row["range_bits"]["preflop"]["n"] > 0
    assert row["invests_sb"] > 0.5
    assert plot.read_bytes()[:4] == b"\x89PNG"
    plot_adaptation([row], tmp_path / "b.svg")
    assert CliRunner().invoke(app, ["adapt"]).exit_code != 0
