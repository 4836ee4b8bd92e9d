from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from hardbot.bots.rulebot import CHART, RuleBot, chart_action, strength_and_potential
from hardbot.game.betting import Betting, parse_betting
from hardbot.game.cards import CLASS_TEXT, hole_index, parse_board, parse_hole
from hardbot.game.features import hand_features
from hardbot.game.hand import View
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE, Rules, ring

RAISED = "AA KK QQ JJ TT 22 AKs AQs AJs ATs KQs KJs KTs QJs QTs JTs A2s"
CALLED = (
    "99 88 77 66 55 44 33 AKo AQo AJo ATo KQo KJo KTo QJo QTo JTo "
    "T9s 98s 87s 76s 65s 54s 43s 32s A9s A8s A7s A6s A5s A4s A3s"
)


def view_of(betting: Betting, hole: str, board: str = "") -> View:
    names = tuple("abcdefghij"[: betting.rules.n_seats])
    return View(betting.rules, betting.seat, 0, parse_hole(hole), names, betting, parse_board(board))


def frequencies(rules: Rules, line: str, hole: str, board: str = "", n: int = 4000) -> list[float]:
    """How often rulebot folds, calls and raises there."""
    bot, rng = RuleBot(), np.random.default_rng(9)
    view = view_of(parse_betting(rules, line), hole, board)
    counts = Counter(bot.act(view, rng) for _ in range(n))
    assert set(counts) <= set(view.betting.legal)
    return [counts[action] / n for action in (FOLD, CALL, RAISE)]


def near(p: float, n: int = 4000) -> object:
    """Within four standard errors of a probability."""
    return pytest.approx(p, abs=4 * (max(p * (1 - p), 1e-9) / n) ** 0.5)


def test_preflop_chart_is_the_published_one():
    by_action = {action: {text for text in CLASS_TEXT if chart_action(text) == action} for action in range(3)}
    assert by_action[RAISE] == set(RAISED.split())
    assert by_action[CALL] == set(CALLED.split())
    assert [CHART[hole_index(*parse_hole(hole))] for hole in ("AhAd", "9h8h", "9h8d")] == [RAISE, CALL, FOLD]


@pytest.mark.parametrize("hole", ["AhAd", "2c2d", "KhTh", "Ah2h"])
def test_raising_hand_raises_and_calls_at_the_cap(hole):
    assert frequencies(HEADS_UP, "rr", hole, n=50) == [0, 0, 1]
    assert frequencies(HEADS_UP, "rrr", hole, n=50) == [0, 1, 0]


@pytest.mark.parametrize("hole", ["9h9d", "AhKd", "7h6h", "Ah9h"])
def test_calling_hand_calls_any_price(hole):
    assert frequencies(HEADS_UP, "rrr", hole, n=50) == [0, 1, 0]
    assert frequencies(HEADS_UP, "c", hole, n=50) == [0, 1, 0]


def test_other_hand_calls_one_bet_in_twenty_and_never_two():
    fold, call, bet = frequencies(HEADS_UP, "", "9h4d")
    assert (fold, call, bet) == (near(0.95), near(0.05), 0)
    assert frequencies(ring(6), "", "9h4d")[CALL] == near(0.05)
    assert frequencies(ring(6), "r", "9h4d", n=200) == [1, 0, 0]
    assert frequencies(HEADS_UP, "c", "9h4d", n=50) == [0, 1, 0]


def test_strength_is_the_one_definition_of_the_features():
    for hole, board in [("AdQc", "Jh4c3h"), ("AdQc", "Jh4c3h9d"), ("AdQc", "Jh4c3h9d2s"), ("7h6h", "8h9hKd")]:
        wanted = hand_features(parse_hole(hole), parse_board(board))
        hs, ppot = strength_and_potential(parse_hole(hole), parse_board(board))
        assert (hs, ppot) == (pytest.approx(wanted.hs, abs=1e-6), pytest.approx(wanted.ppot, abs=1e-6))


@pytest.mark.parametrize("line", ["cc/", "cc/r", "cc/rrr"])
def test_the_nuts_always_raise(line):
    assert frequencies(HEADS_UP, line, "AhKh", "QhJhTh", n=100) == [0, 0, 1]


def test_the_nuts_call_at_the_cap():
    assert frequencies(HEADS_UP, "cc/rrrr", "AhKh", "QhJhTh", n=100) == [0, 1, 0]


@pytest.mark.parametrize("rules", [HEADS_UP, ring(4)], ids=lambda rules: rules.name)
def test_unbet_pot_is_bet_by_strength_or_else_by_potential(rules):
    hs, ppot = strength_and_potential(parse_hole("AdQc"), parse_board("Jh4c3h"))
    r = hs ** (rules.n_seats - 1)
    p_bet = r**2 + (1 - r**2) * ppot
    assert frequencies(rules, "c" * rules.n_seats + "/", "AdQc", "Jh4c3h") == [0, near(1 - p_bet), near(p_bet)]


def test_folded_opponents_do_not_count():
    hs, ppot = strength_and_potential(parse_hole("AdQc"), parse_board("Jh4c3h"))
    fold, _, bet = frequencies(ring(4), "ffcc/", "AdQc", "Jh4c3h")
    assert (fold, bet) == (0, near(hs**2 + (1 - hs**2) * ppot))


@pytest.mark.parametrize(("line", "n_raises"), [("cc/r", 1), ("cc/rr", 2), ("cc/rrr", 3)])
def test_bet_is_raised_less_often_the_more_raises_there_are(line, n_raises):
    hs, _ = strength_and_potential(parse_hole("AdQc"), parse_board("Jh4c3h"))
    assert frequencies(HEADS_UP, line, "AdQc", "Jh4c3h")[RAISE] == near(hs ** (1 + n_raises))


def test_strong_hand_calls_and_hopeless_hand_folds_when_it_does_not_raise():
    # AdQc: .585^2 * 30 chips > 10 to call; on the river 7h2d has neither strength nor potential
    assert frequencies(HEADS_UP, "cc/r", "AdQc", "Jh4c3h")[FOLD] == 0
    fold, call, _ = frequencies(HEADS_UP, "cc/cc/cc/r", "3h2d", "KsQs9h8dJc")
    assert (fold > 0.9, call) == (True, 0)


def test_draw_calls_by_its_potential_alone():
    hole, board = "7h6h", "8h9hKd"
    hs, ppot = strength_and_potential(parse_hole(hole), parse_board(board))
    betting = parse_betting(ring(3), "ccc/rc")
    r = hs**2
    assert r * r * betting.pot < betting.to_call  # not by strength
    assert ppot > betting.to_call / (betting.pot + betting.to_call)
    assert frequencies(ring(3), "ccc/rc", hole, board)[FOLD] == 0


@pytest.mark.parametrize("n_seats", range(2, 11))
def test_plays_every_table_size_legally(n_seats):
    rules, rng, bot = ring(n_seats), np.random.default_rng(n_seats), RuleBot()
    for _ in range(10):
        deck = rng.permutation(52).tolist()
        betting = parse_betting(rules, "")
        while not betting.is_over:
            board = tuple(deck[-5:][: (0, 3, 4, 5)[betting.street]])
            hole = (deck[2 * betting.seat], deck[2 * betting.seat + 1])
            view = View(rules, betting.seat, 0, hole, ("x",) * n_seats, betting, board)
            action = bot.act(view, rng)
            assert action in betting.legal
            betting = betting.after(action)
