"""The best response as a bot: its stored values give the published figures, its play the same winnings."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.arena.match import play_match
from hardbot.bots.best_response import TARGETS, BestResponse
from hardbot.bots.registry import create_bot
from hardbot.errors import BotError
from hardbot.game.betting import parse_betting
from hardbot.game.cards import parse_cards, parse_hole
from hardbot.game.feature_tables import features_of_hand
from hardbot.game.hand import View
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE
from hardbot.solver.cardless import response_value
from hardbot.solver.exploit import rival_of_policy

EXACT = {"always_call": 1.163476, "always_raise": 3.697693}


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_stored_values_after_the_flop_give_the_exact_figures(name, request):
    path = request.config.rootpath / "hardbot" / "bots" / "best_response.npz"
    with np.load(path) as values:
        found = response_value(rival_of_policy(create_bot(name).table_policy()), values[name])
    assert found.value == pytest.approx(EXACT[name], abs=5e-7)


@pytest.mark.parametrize(("name", "pairs"), [("always_call", 120), ("always_raise", 120)])
def test_play_wins_what_it_should(name, pairs):
    result = play_match(f"best_response:to={name}", name, pairs, seed=3)
    assert abs(result.sb_per_hand - EXACT[name]) < 1.5 * result.ci95


@pytest.mark.parametrize(
    ("hole", "board"), [("AhKd", "7c8d2s"), ("7h6h", "7c8d2s"), ("3h4h", "7c8dKsAc"), ("KhJd", "7c8dKsAc2h")]
)
def test_against_always_call_it_bets_when_ahead_on_average(hole, board):
    cards = parse_cards(board)
    bot = BestResponse(to="always_call")
    betting = parse_betting(HEADS_UP, {3: "cc/", 4: "cc/cc/", 5: "cc/cc/cc/"}[len(cards)])
    view = View(HEADS_UP, 0, 0, parse_hole(hole), ("a", "b"), betting, cards)
    bot.new_hand(view)
    ahead = features_of_hand(parse_hole(hole), cards)[1] > 0.5
    assert bot.act(view, np.random.default_rng(1)) == (RAISE if ahead else CALL)


def test_against_always_raise_it_folds_the_worst_and_caps_the_best():
    bot = BestResponse(to="always_raise")
    betting = parse_betting(HEADS_UP, "rc/cr")
    board = parse_cards("AcAd9h")
    for hole, action in (("AhAs", RAISE), ("3h2d", FOLD)):
        view = View(HEADS_UP, 0, 0, parse_hole(hole), ("a", "b"), betting, board)
        bot.new_hand(view)
        assert bot.act(view, np.random.default_rng(1)) == action


def test_other_opponents_are_refused():
    with pytest.raises(BotError, match="expected best_response:to=always_call or always_raise, got 'poki'"):
        create_bot("best_response:to=poki")
