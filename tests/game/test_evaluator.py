"""The evaluator against known counts, named hands and eval7."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest

from hardbot.errors import CardError
from hardbot.game import evaluator
from hardbot.game.cards import CARD_TEXT, HOLE_CARDS, compatible_holes, parse_cards
from hardbot.game.rank_tables import CATEGORIES, CATEGORY_OF_RANK, N_RANKS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its range parser uses deprecated names of pyparsing
    import eval7

DECK = [eval7.Card(text) for text in CARD_TEXT]


def random_hands(n_hands: int, n_cards: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((n_hands, 52), dtype=np.float32).argpartition(n_cards, axis=1)[:, :n_cards].astype(np.uint8)


@pytest.fixture(scope="module")
def five_card_ranks() -> np.ndarray:
    hands = np.fromiter((card for hand in combinations(range(52), 5) for card in hand), dtype=np.uint8)
    return evaluator.rank_batch(hands.reshape(-1, 5))


def test_five_card_hands_fall_into_the_known_categories(five_card_ranks):
    counts = np.bincount(CATEGORY_OF_RANK[five_card_ranks], minlength=9)
    known = [1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40]
    assert dict(zip(CATEGORIES, counts.tolist(), strict=True)) == dict(zip(CATEGORIES, known, strict=True))


def test_five_card_hands_take_each_of_7462_ranks(five_card_ranks):
    assert np.array_equal(np.unique(five_card_ranks), np.arange(1, N_RANKS + 1))


@pytest.mark.parametrize(("n_cards", "n_hands"), [(5, 100_000), (6, 100_000), (7, 1_000_000)])
def test_order_of_random_hands_agrees_with_eval7(n_cards, n_hands):
    hands = random_hands(n_hands, n_cards, seed=n_cards)
    ours = evaluator.rank_batch(hands).astype(np.int64)
    theirs = np.fromiter((eval7.evaluate([DECK[card] for card in row]) for row in hands.tolist()), dtype=np.int64)
    order = np.argsort(theirs, kind="stable")
    assert np.array_equal(np.sign(np.diff(theirs[order])), np.sign(np.diff(ours[order])))


def test_rank_does_not_depend_on_card_order():
    rng = np.random.default_rng(3)
    for n_cards in (5, 6, 7):
        hands = random_hands(20_000, n_cards, seed=20 + n_cards)
        assert np.array_equal(evaluator.rank_batch(hands), evaluator.rank_batch(rng.permuted(hands, axis=1)))


def test_seven_card_rank_is_the_best_of_its_five_card_ranks():
    for hand in random_hands(200, 7, seed=9).tolist():
        best = max(evaluator.evaluate(five) for five in combinations(hand, 5))
        assert evaluator.evaluate(hand) == best
        assert evaluator.evaluate(hand[:6]) == max(evaluator.evaluate(five) for five in combinations(hand[:6], 5))


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("AsKsQsJsTs2c2d", "straight flush"),
        ("5h4h3h2hAhAsAd", "straight flush"),
        ("AsAhAdAc2c2d2h", "four of a kind"),
        ("KsKhKdQcQdQh2s", "full house"),
        ("As2s4s6s8s9d9h", "flush"),
        ("Ah2d3c4s5h9d9s", "straight"),
        ("7h7d7c2s4h9dJs", "three of a kind"),
        ("7h7d2c2s4h4dJs", "two pair"),
        ("7h7d2c3s9hTdJs", "pair"),
        ("7h5d2c3s9hTdQs", "high card"),
    ],
)
def test_named_hands_have_their_category(text, category):
    assert evaluator.rank_category(evaluator.evaluate(parse_cards(text))) == category


def test_worst_and_best_hand_are_the_ends_of_the_scale():
    assert evaluator.evaluate(parse_cards("7h5d4c3s2h")) == 1
    assert evaluator.evaluate(parse_cards("AhKhQhJhTh")) == N_RANKS == 7462


def test_board_ranks_are_seven_card_ranks_and_zero_when_blocked():
    for row in random_hands(30, 5, seed=4):
        ranks = evaluator.board_ranks(row.tolist())
        live = compatible_holes(row.tolist())
        hands = np.hstack([HOLE_CARDS[live], np.tile(row.astype(np.int8), (int(live.sum()), 1))])
        assert np.array_equal(ranks[live], evaluator.rank_batch(hands))
        assert not ranks[~live].any()


def test_scalar_kernels_agree_with_the_batch():
    for hand in random_hands(200, 7, seed=5):
        row = [int(card) for card in hand]
        assert evaluator.rank7(hand) == evaluator.rank_cards7(*row) == evaluator.evaluate(row)
        assert evaluator.rank_cards6(*row[:6]) == evaluator.evaluate(row[:6])
        assert evaluator.rank_cards5(*row[:5]) == evaluator.evaluate(row[:5])


@pytest.mark.parametrize("cards", [[0, 1, 2, 3], list(range(8)), [0, 0, 1, 2, 3], [0, 1, 2, 3, 52], [-1, 1, 2, 3, 4]])
def test_impossible_hands_are_refused(cards):
    with pytest.raises(CardError):
        evaluator.evaluate(cards)


def test_batch_refuses_cards_outside_the_deck_and_other_shapes():
    with pytest.raises(CardError, match="cards 0"):
        evaluator.rank_batch(np.array([[0, 1, 2, 3, 52]], dtype=np.int8))
    with pytest.raises(CardError, match="cards 0"):
        evaluator.rank_batch(np.array([[0, 1, 2, 3, -1]], dtype=np.int8))
    with pytest.raises(CardError, match="shape"):
        evaluator.rank_batch(np.zeros((3, 4), dtype=np.int8))
    with pytest.raises(CardError, match="int8"):
        evaluator.rank_batch(np.zeros((3, 5), dtype=np.int64))
    with pytest.raises(CardError, match="board of 5"):
        evaluator.board_ranks([1, 2, 3])
    with pytest.raises(CardError, match="rank 1"):
        evaluator.rank_category(0)
