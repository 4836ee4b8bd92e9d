"""Deals are fair, depend on the seed and the block alone, and know their winners."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from hardbot.arena.deals import deal_block
from hardbot.errors import ArenaError
from hardbot.game.evaluator import evaluate


@pytest.mark.parametrize("n_seats", [2, 3, 6, 10])
def test_no_card_stands_twice_in_a_deal(n_seats):
    deals = deal_block(n_seats, 2_000, seed=1, block=0)
    cards = np.concatenate([deals.holes.reshape(2_000, -1), deals.boards], axis=1)
    assert cards.shape[1] == 2 * n_seats + 5
    assert all(len(set(row)) == len(row) for row in cards.tolist())
    assert cards.min() == 0
    assert cards.max() == 51
    deals.deal(17).check()


def test_hole_cards_come_with_the_higher_card_first():
    deals = deal_block(4, 500, seed=1, block=0)
    assert (deals.holes[:, :, 0] > deals.holes[:, :, 1]).all()


def test_every_place_gets_every_card_equally_often():
    deals = deal_block(2, 60_000, seed=5, block=3)
    places = [deals.holes[:, 0].ravel(), deals.holes[:, 1].ravel()] + list(deals.boards.T)
    for cards in places:
        assert stats.chisquare(np.bincount(cards, minlength=52)).pvalue > 1e-4


def test_cards_of_neighbouring_places_and_deals_are_independent():
    board = deal_block(2, 60_000, seed=6, block=0).boards.astype(int)
    successive = np.bincount(board[:-1, 0] // 4 * 13 + board[1:, 0] // 4, minlength=169)
    assert stats.chisquare(successive).pvalue > 1e-4
    first, second = board[:, 0] % 4, board[:, 1] % 4  # suits of two flop cards: 12/51 alike
    assert (first == second).mean() == pytest.approx(12 / 51, abs=0.006)


def test_a_shorter_block_is_the_beginning_of_a_longer_one():
    short, long = deal_block(2, 100, seed=9, block=4), deal_block(2, 1_000, seed=9, block=4)
    assert np.array_equal(short.holes, long.holes[:100])
    assert np.array_equal(short.boards, long.boards[:100])


def test_seeds_and_blocks_give_different_deals():
    base = deal_block(2, 50, seed=1, block=1)
    for seed, block in ((1, 2), (2, 1), (0, 1)):
        assert not np.array_equal(base.boards, deal_block(2, 50, seed, block).boards)
    assert np.array_equal(base.boards, deal_block(2, 50, seed=1, block=1).boards)


def test_ranks_and_signs_agree_with_the_evaluator():
    deals = deal_block(2, 300, seed=2, block=0)
    for i in range(300):
        deal = deals.deal(i)
        mine, yours = (evaluate((*hole, *deal.board)) for hole in deal.holes)
        assert deals.ranks[i].tolist() == [mine, yours]
        assert deals.signs[i] == (mine > yours) - (mine < yours)


def test_a_negative_seed_is_refused():
    with pytest.raises(ArenaError, match="expected a seed of 0 or more, got -1"):
        deal_block(2, 1, seed=-1, block=0)
