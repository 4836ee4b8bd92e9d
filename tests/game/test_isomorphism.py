"""Canonical numbers: known counts, invariance, no gaps."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from hardbot.errors import CardError
from hardbot.game import isomorphism
from hardbot.game.cards import HOLE_CARDS, HOLE_CLASS, compatible_holes
from hardbot.game.isomorphism import BOARD_SIZE, N_CANONICAL


def random_rows(n_rows: int, n_cards: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((n_rows, 52), dtype=np.float32).argpartition(n_cards, axis=1)[:, :n_cards].astype(np.uint8)


@pytest.mark.parametrize(("n_cards", "n_boards"), [(3, 1_755), (4, 16_432), (5, 134_459)])
def test_canonical_boards_are_as_many_as_known_and_stand_for_all_boards(n_cards, n_boards):
    boards, weights = isomorphism.canonical_boards(n_cards)
    assert boards.shape == (n_boards, n_cards)
    assert weights.sum() == comb(52, n_cards)


def test_every_flop_has_one_canonical_form_which_is_its_own():
    boards, weights = isomorphism.canonical_boards(3)
    seen = dict.fromkeys((tuple(board) for board in boards.tolist()), 0)
    for flop in combinations(range(52), 3):
        canonical, renamed = isomorphism.canonical_board(flop)
        assert sorted(card // 4 * 4 + renamed[card % 4] for card in flop) == list(canonical)
        seen[canonical] += 1
    assert list(seen.values()) == weights.tolist()


@pytest.mark.parametrize(("street", "count"), [(0, 169), (1, 1_286_792), (2, 13_960_050)])
def test_numbers_fill_the_range_without_gaps(street, count):
    seen = np.zeros(count, dtype=np.int16)
    for board in isomorphism.canonical_boards(BOARD_SIZE[street])[0].tolist():
        numbers = isomorphism.canonical_indices_board(board)
        seen[np.unique(numbers[numbers >= 0])] += 1
    assert count == N_CANONICAL[street]
    assert (seen == 1).all()  # each number on exactly one canonical board, none left out


def test_river_numbers_end_at_the_known_count():
    starts = isomorphism.board_space(5).starts
    assert starts[-1] == 123_156_254
    assert (np.diff(starts) > 0).all()
    for board in isomorphism.canonical_boards(5)[0][::5_000].tolist():
        numbers = isomorphism.canonical_indices_board(board)
        unique = np.unique(numbers[numbers >= 0])
        first = starts[np.searchsorted(starts, unique[0], side="right") - 1]
        assert np.array_equal(unique, first + np.arange(len(unique)))


@pytest.mark.parametrize("street", [0, 1, 2, 3])
def test_number_is_the_same_under_any_renaming_of_suits_and_order_of_cards(street):
    rng = np.random.default_rng(street)
    rows = random_rows(20_000, 2 + BOARD_SIZE[street], seed=street)
    numbers = isomorphism.canonical_indices(street, rows)
    for _ in range(4):
        renamed = rng.permutation(4).astype(np.uint8)
        image = rows & 60 | renamed[rows & 3]
        image[:, :2] = rng.permuted(image[:, :2], axis=1)
        image[:, 2:] = rng.permuted(image[:, 2:], axis=1)
        assert np.array_equal(isomorphism.canonical_indices(street, image), numbers)


@pytest.mark.parametrize("street", [1, 2, 3])
def test_equal_numbers_mean_equal_hands_up_to_suits(street):
    rows = np.sort(random_rows(3_000, BOARD_SIZE[street] + 2, seed=40 + street) & 15, axis=1)  # four ranks: many meet
    rows = rows[(np.diff(rows, axis=1) > 0).all(axis=1)]
    least_images: dict[int, set[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
    for row, number in zip(rows.tolist(), isomorphism.canonical_indices(street, rows).tolist(), strict=True):
        images = [[card & 60 | order[card & 3] for card in row] for order in isomorphism.SUIT_ORDERS]
        least = min((tuple(sorted(image[:2])), tuple(sorted(image[2:]))) for image in images)
        least_images.setdefault(number, set()).add(least)
    assert len(least_images) > 20
    assert all(len(images) == 1 for images in least_images.values())
    assert len(set.union(*least_images.values())) == len(least_images)


@pytest.mark.parametrize("n_cards", [0, 3, 4, 5])
def test_whole_board_agrees_with_rows_and_single_hands(n_cards):
    street = BOARD_SIZE.index(n_cards)
    for board in random_rows(20, n_cards, seed=7).tolist() if n_cards else [[]]:
        numbers = isomorphism.canonical_indices_board(board)
        live = compatible_holes(board)
        rows = np.array([[*hole, *board] for hole in HOLE_CARDS[live].tolist()], dtype=np.uint8)
        assert np.array_equal(numbers[live], isomorphism.canonical_indices(street, rows))
        assert (numbers[~live] == -1).all()
        assert isomorphism.canonical_index(rows[5, :2].tolist(), board) == numbers[live][5]


def test_preflop_numbers_are_cells_of_the_square():
    assert np.array_equal(isomorphism.canonical_indices_board(()), HOLE_CLASS)


@pytest.mark.parametrize(
    ("hole", "board"),
    [((0, 1), (1, 2, 3)), ((0, 1), (2, 3)), ((0, 0), ()), ((0, 52), ()), ((0, 1, 2), ()), ((0, 1), (5, 6, 60))],
)
def test_impossible_cards_are_refused(hole, board):
    with pytest.raises(CardError):
        isomorphism.canonical_index(hole, board)


def test_rows_of_the_wrong_width_are_refused():
    with pytest.raises(CardError, match="rows of"):
        isomorphism.canonical_indices(1, np.zeros((4, 6), dtype=np.uint8))
