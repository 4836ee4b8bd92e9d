"""Features against published counts, an independent evaluator, and each other."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest

from hardbot.errors import CardError
from hardbot.game.cards import CARD_TEXT, HOLE_CARDS, N_HOLES, compatible_holes, hole_index, parse_board, parse_hole
from hardbot.game.features import (
    FEATURE_COLUMNS,
    UNIFORM,
    Outlook,
    all_hands,
    equity_moments,
    hand_features,
    weighted_strength,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its range parser uses deprecated names of pyparsing
    import eval7

CARDS = [eval7.Card(text) for text in CARD_TEXT]


def reference_counts(hole, board, n_more, weights):
    """HP (3, 3) and the win share by next card, by the definition: every opponent, every run-out, eval7's ranks."""
    live = [card for card in range(52) if card not in (*hole, *board)]
    hp, won, possible = np.zeros((3, 3)), np.zeros(52), np.zeros(52)

    def side(cards, a, b):
        own = eval7.evaluate([CARDS[c] for c in (*hole, *cards)])
        other = eval7.evaluate([CARDS[c] for c in (a, b, *cards)])
        return 0 if own > other else 1 if own == other else 2

    for a, b in combinations(live, 2):
        weight = weights[hole_index(a, b)]
        if weight == 0:
            continue
        now = side(board, a, b)
        for run_out in combinations([card for card in live if card not in (a, b)], n_more):
            then = side((*board, *run_out), a, b)
            hp[now, then] += weight
            for card in run_out:
                won[card] += weight * (1 - then / 2)
                possible[card] += weight
    return hp, won, possible


def test_published_hand_to_the_last_digit():
    found = hand_features(parse_hole("AdQc"), parse_board("Jh4c3h"))
    assert (found.ahead, found.tied, found.behind) == (628, 9, 444)
    assert found.hp == ((449005, 3211, 169504), (0, 8370, 540), (91981, 1036, 346543))
    assert [round(x, 3) for x in (found.hs, found.ppot, found.npot, found.ppot1, found.npot1)] == [
        0.585, 0.208, 0.274, 0.108, 0.145,
    ]  # fmt: skip


@pytest.mark.parametrize(("hole", "board"), [("AdQc", "Jh4c3h9d"), ("7h6h", "8h9hKdKs"), ("2c2d", "AhAdAcAs")])
def test_turn_agrees_with_an_independent_evaluator(hole, board):
    hole, board = parse_hole(hole), parse_board(board)
    hp, won, possible = reference_counts(hole, board, 1, UNIFORM)
    found = hand_features(hole, board)
    share = won[possible > 0] / possible[possible > 0]
    assert np.array_equal(hp, found.hp)
    assert found.e == pytest.approx(share.mean(), abs=1e-12)
    assert found.e2 == pytest.approx((share**2).mean(), abs=1e-12)


@pytest.mark.parametrize("board", ["Jh4c3h", "8h9hKd"])
def test_flop_against_a_weighted_range_agrees_with_an_independent_evaluator(board):
    hole, board = parse_hole("7h6c"), parse_board(board)
    rng = np.random.default_rng(5)
    weights = np.zeros(N_HOLES)
    chosen = rng.choice(np.flatnonzero(compatible_holes((*hole, *board))), 12, replace=False)
    weights[chosen] = rng.random(12)
    hp, won, possible = reference_counts(hole, board, 2, weights)
    found = weighted_strength(hole, board, weights)
    behind, tied = hp[2].sum(), hp[1].sum()
    assert found.ppot == pytest.approx((hp[2, 0] + hp[2, 1] / 2 + hp[1, 0] / 2) / (behind + tied / 2))
    assert found.npot == pytest.approx((hp[0, 2] + hp[1, 2] / 2 + hp[0, 1] / 2) / (hp[0].sum() + tied / 2))
    share = won[possible > 0] / possible[possible > 0]
    assert found.e == pytest.approx(np.average(share, weights=possible[possible > 0]))
    assert found.e2 == pytest.approx(np.average(share**2, weights=possible[possible > 0]))
    equity = (hp[:, 0].sum() + hp[:, 1].sum() / 2) / hp.sum()
    assert found.e == pytest.approx(equity)  # next cards are weighted so that E is the weighted equity


@pytest.mark.parametrize("board", ["Jh4c3h", "JhJdJc", "Th9h8h", "Jh4c3h9d", "2c2d2h2s", "Jh4c3h9d2s", "AhKhQhJhTh"])
def test_all_hands_of_a_board_are_the_hands_one_by_one(board):
    board = parse_board(board)
    found = all_hands(board)
    blocked = ~compatible_holes(board)
    assert np.isnan(found.values[blocked]).all()
    assert (found.now[blocked] == -1).all()
    rng = np.random.default_rng(len(board))
    for hole in rng.choice(np.flatnonzero(~blocked), 4, replace=False):
        outlook = Outlook([int(card) for card in HOLE_CARDS[hole]], board)
        now, hp, hp_next = outlook.counts()
        strength = outlook.strength(UNIFORM)
        assert np.array_equal(now, found.now[hole])
        if len(board) < 5:
            assert np.array_equal(hp, found.hp[hole])
            assert np.array_equal(hp_next, found.hp_next[hole])
        assert found.values[hole] == pytest.approx([getattr(strength, name) for name in FEATURE_COLUMNS])


@pytest.mark.parametrize("board", ["Jh4c3h", "JhJdJc", "Th9h8h", "Jh4c3h9d", "2c2d2h2s", "Jh4c3h9d2s"])
def test_moments_alone_are_those_of_all_features(board):
    e, e2 = FEATURE_COLUMNS.index("e"), FEATURE_COLUMNS.index("e2")
    wanted = all_hands(parse_board(board)).values[:, [e, e2]]
    assert np.allclose(equity_moments(parse_board(board)), wanted, rtol=1e-12, atol=0.0, equal_nan=True)


def test_counts_add_up_to_opponents_times_run_outs():
    for board, opponents, run_outs in (("Jh4c3h", 1081, 990), ("Jh4c3h9d", 1035, 44)):
        found = all_hands(parse_board(board))
        live = found.now[:, 0] >= 0
        assert (found.now[live].sum(axis=1) == opponents).all()
        assert (found.hp[live].sum(axis=(1, 2)) == opponents * run_outs).all()


def test_river_has_no_potential_and_equity_is_strength():
    found = all_hands(parse_board("Jh4c3h9d2s")).values
    live = found[~np.isnan(found[:, 0])]
    assert len(live) == 1081
    assert np.array_equal(live[:, 1], live[:, 0])
    assert np.array_equal(live[:, 2], live[:, 0] ** 2)
    assert (live[:, 3:] == 0).all()


def test_suits_do_not_matter():
    a = hand_features(parse_hole("AdQc"), parse_board("Jh4c3h"))
    b = hand_features(parse_hole("AcQs"), parse_board("Jd4s3d"))
    assert (a.hp, a.ahead, a.ppot, a.npot1) == (b.hp, b.ahead, b.ppot, b.npot1)
    assert (a.e, a.e2) == (pytest.approx(b.e), pytest.approx(b.e2))


def test_potential_without_anybody_behind_is_zero():
    found = hand_features(parse_hole("AhKh"), parse_board("QhJhTh"))
    assert (found.ahead, found.hs, found.ppot, found.npot, found.e) == (1081, 1.0, 0.0, 0.0, 1.0)


def test_opponent_equities_average_to_e():
    outlook = Outlook(parse_hole("AdQc"), parse_board("Jh4c3h"))
    equity = outlook.opponent_equity()
    assert np.isnan(equity).sum() == N_HOLES - 1081
    assert np.nanmean(equity) == pytest.approx(outlook.strength(UNIFORM).e)


@pytest.mark.parametrize("board", ["Jh4c3h", "Th9h8h", "Jh4c3h9d", "Jh4c3h9d2s"])
def test_outlook_without_moments_differs_only_in_e2(board):
    weights = np.random.default_rng(2).random(N_HOLES)
    full = Outlook(parse_hole("AdQc"), parse_board(board)).strength(weights)
    light = Outlook(parse_hole("AdQc"), parse_board(board), moments=False).strength(weights)
    assert light._replace(e2=0.0) == pytest.approx(full._replace(e2=0.0))


def test_strength_scales_out_of_the_weights():
    weights = np.random.default_rng(1).random(N_HOLES)
    outlook = Outlook(parse_hole("AdQc"), parse_board("Jh4c3h9d"))
    assert outlook.strength(weights) == pytest.approx(outlook.strength(7 * weights))


@pytest.mark.parametrize(
    ("hole", "board"), [("AdQc", "Jh4c"), ("AdQc", "JhQc3h"), ("AdQc", "Jh4c3h2s5d6d")], ids=["two", "twice", "six"]
)
def test_impossible_position_is_refused(hole, board):
    cards = tuple(CARD_TEXT.index(board[i : i + 2]) for i in range(0, len(board), 2))
    with pytest.raises(CardError):
        hand_features(parse_hole(hole), cards)


def test_range_without_a_possible_hand_is_refused():
    with pytest.raises(CardError, match="expected a range with a possible hand"):
        weighted_strength(parse_hole("AdQc"), parse_board("Jh4c3h"), np.zeros(N_HOLES))
