"""One table that plays on: who sat where, who came in, what came of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hardbot.arena.sessions import batch_estimate, fluctuation, play_session, preflop_actions
from hardbot.bots.base import Bot
from hardbot.errors import ArenaError, BotError
from hardbot.game.betting import parse_betting
from hardbot.game.rules import CALL, FOLD, RAISE, ring


class Counter(Bot):
    """Calls and counts the hands of its life."""

    name = "counter"

    def __init__(self):
        self.hands = 0

    def new_hand(self, view):
        self.hands += 1

    def act(self, view, rng):
        return CALL


def test_everybody_moves_one_seat_on_and_keeps_its_memory():
    session = play_session([Counter, "always_call", "always_raise"], 7, 1)
    assert session.seats[:4].tolist() == [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]
    assert session.players[0].hands == 7
    assert session.hands == 7
    assert (session.chips.sum(axis=1) == 0).all()


def test_same_seed_gives_the_same_session_and_a_longer_one_continues_it():
    specs = ["casey", "random", "rulebot", "always_call"]
    first, second, longer = (play_session(specs, n, 5) for n in (60, 60, 90))
    assert np.array_equal(first.chips, second.chips)
    assert np.array_equal(first.chips, longer.chips[:60])
    assert not np.array_equal(first.chips, play_session(specs, 60, 6).chips)


def test_flags_of_bots_whose_play_is_known():
    session = play_session(["always_call", "always_raise", "always_fold"], 9, 2)
    caller, raiser, folder = 0, 1, 2
    assert session.shown[:, [caller, raiser]].all()
    assert not session.shown[:, folder].any()
    assert session.saw_flop.tolist() == session.shown.tolist()
    assert not session.entered[:, folder].any()
    assert session.entered[:, raiser].all()
    assert session.entered[:, caller].all()
    in_blind = session.seats < 2
    assert session.asked.all()
    assert (session.raised_blind[:, folder] <= in_blind[:, folder]).all()
    assert session.raised_blind[:, folder].any()
    assert not session.defended[:, folder].any()
    assert (session.defended[:, caller] == session.raised_blind[:, caller]).all()
    assert not session.raised_blind[:, raiser].any()  # nobody else raises
    assert session.won.any(axis=1).all()


def test_rules_are_those_of_the_table():
    session = play_session(["always_raise"] * 3, 3, 1, rules=ring(3, five_bets=True))
    assert np.abs(session.chips).max() > 10 * (4 + 4 + 8 + 8)
    assert session.rules.name == "ring-3-five-bets"


def test_preflop_actions_are_in_order():
    betting = parse_betting(ring(3), "rfc/cc/rf")
    assert [(before.seat, action) for before, action in preflop_actions(betting)] == [(2, RAISE), (0, FOLD), (1, CALL)]


def test_fluctuation_is_highest_less_lowest_total():
    assert fluctuation(np.array([1.0, -3.0, 2.0])) == 3.0  # totals 0, 1, -2, 0
    assert fluctuation(np.array([2.0, 2.0])) == 4.0


def test_batch_interval_of_independent_hands_is_the_usual_one():
    values = np.random.default_rng(1).normal(0.3, 5.0, 40_000)
    found = batch_estimate(values)
    assert found.mean == pytest.approx(values.mean())
    assert found.half_width == pytest.approx(1.96 * 5 / math.sqrt(40_000), rel=0.12)
    assert math.isnan(batch_estimate(values[:150]).half_width)


def test_impossible_sessions_are_refused():
    with pytest.raises(ArenaError, match="expected 4 bots for ring-4, got 3"):
        play_session(["random"] * 3, 5, 1, rules=ring(4))
    with pytest.raises(ArenaError, match="at least 1 hand"):
        play_session(["random"] * 3, 0, 1)
    with pytest.raises(BotError, match="expected a bot of"):
        play_session(["random", "nobody"], 5, 1)
