"""Sorted hands, scores, showdown sums in linear time: against plain counting."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.game.cards import HOLE_CARDS, parse_cards
from hardbot.game.evaluator import board_ranks
from hardbot.solver.boards import N_RIVER_HANDS, river_score, score_board, sort_board
from hardbot.solver.cfr import sum_folds, sum_showdowns
from hardbot.solver.lanes import N_TOTALS, aligned_rows

BOARDS = ["AhKhQhJhTh", "2c2d2h2s3c", "Ts9s4h7dKc", "6c7c8d9hTd"]


def _sorted(text):
    board = np.array(parse_cards(text))
    holes, order = np.zeros(N_RIVER_HANDS, dtype=np.int64), np.zeros((N_RIVER_HANDS, 3), dtype=np.int64)
    sort_board(board, holes, order, np.zeros(7464, dtype=np.int32))
    return board, holes, order


def _outcomes(holes, ranks):
    """+1, 0, -1 for wins, ties, losses and whether two hands can meet."""
    cards = HOLE_CARDS[holes]
    meet = ~np.equal(cards[:, None, :, None], cards[None, :, None, :]).any(axis=(2, 3))
    return np.sign(ranks[:, None] - ranks[None, :]) * meet, meet


@pytest.mark.parametrize("text", BOARDS)
def test_hands_are_sorted_by_rank_with_the_ends_of_ties(text):
    board, holes, order = _sorted(text)
    ranks = board_ranks(board.tolist())[holes]
    assert len(set(holes.tolist())) == N_RIVER_HANDS
    assert (ranks > 0).all()
    assert (np.diff(ranks) >= 0).all()
    assert np.array_equal(order[:, 2], np.searchsorted(ranks, ranks, side="right"))
    assert np.array_equal(order[:, :2], HOLE_CARDS[holes])


@pytest.mark.parametrize("text", BOARDS)
def test_score_is_twice_the_hands_beaten_plus_the_tied(text):
    board, holes, order = _sorted(text)
    scores = np.zeros(N_RIVER_HANDS, dtype=np.int32)
    score_board(order, scores)
    signs, meet = _outcomes(holes, board_ranks(board.tolist())[holes].astype(np.int64))
    assert np.array_equal(scores, ((signs + 1) * meet).sum(axis=1))
    for i in (0, 17, 500, 1080):
        assert river_score(int(holes[i]), board) == scores[i]


@pytest.mark.parametrize("text", BOARDS)
def test_showdown_sums_equal_the_sums_over_all_pairs(text):
    board, holes, order = _sorted(text)
    signs, meet = _outcomes(holes, board_ranks(board.tolist())[holes].astype(np.int64))
    lanes, won, totals = aligned_rows(N_RIVER_HANDS), aligned_rows(N_RIVER_HANDS), aligned_rows(N_TOTALS)
    mass = np.random.default_rng(3).random((N_RIVER_HANDS, 16)).astype(np.float32)
    lanes[:] = mass
    sum_showdowns(order, lanes, won, totals)
    assert np.allclose(won, signs @ mass, atol=2e-3)
    assert np.allclose(lanes, meet @ mass, atol=2e-3)
    lanes[:] = mass
    sum_folds(order, lanes, totals)
    assert np.allclose(lanes, meet @ mass, atol=2e-3)
