"""Canonical numbers of hole + board up to renaming the suits, without gaps, on every street.

The board is a set of cards, written as four 13-bit masks of ranks, one a suit. Sorting the masks (largest
first) gives the canonical board; renaming suits whose masks are equal leaves it as it is, and those renamings
make classes of hole hands, each represented by its smallest hole index. A hand's number is the number of
classes on all earlier boards plus the number of earlier classes on this one. The latter is counted, not stored:
all representatives below this one, less those that hold a board card (inclusion and exclusion over its cards).

Boards 1,755 / 16,432 / 134,459; hole + board 169 / 1,286,792 / 13,960,050 / 123,156,254. Compare K. Waugh,
"A Fast and Optimal Hand Isomorphism Algorithm" (2013), which numbers the same classes in another order.
Preflop numbers are the cells of the 13x13 square (`HOLE_CLASS`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import CardError
from hardbot.game.cards import HOLE_CARDS, HOLE_CLASS, N_CARDS, N_HOLES, check_distinct
from hardbot.game.jit import njit

N_BOARDS = {0: 1, 3: 1_755, 4: 16_432, 5: 134_459}
N_CANONICAL = (169, 1_286_792, 13_960_050, 123_156_254)  # by street
BOARD_SIZE = (0, 3, 4, 5)  # by street
SUIT_ORDERS: tuple[tuple[int, ...], ...] = tuple(permutations(range(4)))
Cards = NDArray[np.int8] | NDArray[np.uint8]


@dataclass(frozen=True)
class BoardSpace:
    """All canonical boards of one size, in the order of their keys."""

    keys: NDArray[np.int64]  # (m,) four masks in one number, increasing
    cards: NDArray[np.int8]  # (m, n) increasing within a row
    weights: NDArray[np.int64]  # (m,) boards each one stands for
    starts: NDArray[np.int64]  # (m + 1,) number of the first hole + board of each board; the last is their count


def _representatives() -> NDArray[np.int16]:
    """(8, 1326): smallest hole index of the class; bit i of the pattern says masks i and i + 1 are equal."""
    least = np.tile(np.arange(N_HOLES, dtype=np.int16), (8, 1))
    high, low = HOLE_CARDS[:, 0].astype(np.int64), HOLE_CARDS[:, 1].astype(np.int64)
    for order in SUIT_ORDERS:
        renamed = np.array(order)
        a, b = high & ~3 | renamed[high & 3], low & ~3 | renamed[low & 3]
        top, bottom = np.maximum(a, b), np.minimum(a, b)
        image = (top * (top - 1) // 2 + bottom).astype(np.int16)
        for pattern in range(8):
            block = np.cumsum([0] + [1 - (pattern >> i & 1) for i in range(3)])
            if all(block[suit] == block[order[suit]] for suit in range(4)):
                least[pattern] = np.minimum(least[pattern], image)
    return least


def _counts_before(representative: NDArray[np.int16]) -> tuple[NDArray[np.int16], NDArray[np.int8]]:
    """Representatives below each hole index: in all (8, 1327), and of those that hold a card (8, 52, 1327)."""
    is_first = representative == np.arange(N_HOLES)
    holds = np.zeros((N_CARDS, N_HOLES), dtype=bool)
    holds[HOLE_CARDS[:, 0], np.arange(N_HOLES)] = True
    holds[HOLE_CARDS[:, 1], np.arange(N_HOLES)] = True
    in_all = np.zeros((8, N_HOLES + 1), dtype=np.int16)
    in_all[:, 1:] = np.cumsum(is_first, axis=1)
    with_card = np.zeros((8, N_CARDS, N_HOLES + 1), dtype=np.int8)
    with_card[:, :, 1:] = np.cumsum(is_first[:, None, :] & holds[None], axis=2)
    return in_all, with_card


REPRESENTATIVE = _representatives()
_BEFORE, _BEFORE_WITH = _counts_before(REPRESENTATIVE)


@njit
def _hole_number(a: int, b: int) -> int:
    return a * (a - 1) // 2 + b if a > b else b * (b - 1) // 2 + a


@njit
def _canonical_suits(board: Cards, renamed: NDArray[np.int64]) -> tuple[int, int]:
    """Key and pattern of a board; fills `renamed` (4,) with the canonical suit of each suit."""
    m0, m1, m2, m3 = 0, 1, 2, 3  # mask and suit in one number
    for card in board:
        bit = 4 << (card >> 2)
        suit = card & 3
        if suit == 0:
            m0 |= bit
        elif suit == 1:
            m1 |= bit
        elif suit == 2:
            m2 |= bit
        else:
            m3 |= bit
    m0, m1 = max(m0, m1), min(m0, m1)
    m2, m3 = max(m2, m3), min(m2, m3)
    m0, m2 = max(m0, m2), min(m0, m2)
    m1, m3 = max(m1, m3), min(m1, m3)
    m1, m2 = max(m1, m2), min(m1, m2)
    renamed[m0 & 3] = 0
    renamed[m1 & 3] = 1
    renamed[m2 & 3] = 2
    renamed[m3 & 3] = 3
    m0, m1, m2, m3 = m0 >> 2, m1 >> 2, m2 >> 2, m3 >> 2
    pattern = (m0 == m1) | (m1 == m2) << 1 | (m2 == m3) << 2
    return m0 << 39 | m1 << 26 | m2 << 13 | m3, pattern


@njit
def _live_before(
    pattern: int, hole: int, board: Cards, first: NDArray[np.int16], n_all: NDArray[np.int16], n_with: NDArray[np.int8]
) -> int:
    """Representatives below `hole` that hold no card of the (canonical) board."""
    count = int(n_all[pattern, hole])
    for i in range(board.shape[0]):
        count -= n_with[pattern, board[i], hole]
        for j in range(i):
            pair = _hole_number(board[i], board[j])
            if pair < hole and first[pattern, pair] == pair:
                count += 1
    return count


@njit
def _number_rows(
    cards: Cards,
    keys: NDArray[np.int64],
    starts: NDArray[np.int64],
    first: NDArray[np.int16],
    n_all: NDArray[np.int16],
    n_with: NDArray[np.int8],
    numbers: NDArray[np.int64],
) -> None:
    renamed = np.empty(4, dtype=np.int64)
    board = np.empty(cards.shape[1] - 2, dtype=np.uint8)
    for row in range(cards.shape[0]):
        key, pattern = _canonical_suits(cards[row, 2:], renamed)
        for i in range(board.shape[0]):
            card = cards[row, 2 + i]
            board[i] = (card & 60) + renamed[card & 3]
        a, b = cards[row, 0], cards[row, 1]
        hole = first[pattern, _hole_number((a & 60) + renamed[a & 3], (b & 60) + renamed[b & 3])]
        start = starts[np.searchsorted(keys, key)]
        numbers[row] = start + _live_before(pattern, hole, board, first, n_all, n_with)


@njit
def _number_board(
    board: Cards,
    keys: NDArray[np.int64],
    starts: NDArray[np.int64],
    first: NDArray[np.int16],
    numbers: NDArray[np.int32],
) -> None:
    """Fill numbers (1326,) of all hole hands on one board, -1 for hands that share a card with it."""
    renamed = np.empty(4, dtype=np.int64)
    key, pattern = _canonical_suits(board, renamed)
    dead = canonical_dead = 0
    for card in board:
        dead |= 1 << card
        canonical_dead |= 1 << ((card & 60) + renamed[card & 3])
    next_number = starts[np.searchsorted(keys, key)]
    of_class = np.empty(N_HOLES, dtype=np.int32)
    hole = 0
    for a in range(1, N_CARDS):
        for b in range(a):
            if first[pattern, hole] == hole and not (canonical_dead >> a | canonical_dead >> b) & 1:
                of_class[hole] = next_number
                next_number += 1
            hole += 1
    hole = 0
    for a in range(1, N_CARDS):
        a_new = (a & 60) + renamed[a & 3]
        for b in range(a):
            if (dead >> a | dead >> b) & 1:
                numbers[hole] = -1
            else:
                numbers[hole] = of_class[first[pattern, _hole_number(a_new, (b & 60) + renamed[b & 3])]]
            hole += 1


@njit
def _canonical_keys(n_cards: int, keys: NDArray[np.int64], boards: NDArray[np.int8]) -> int:
    """Fill in the boards (increasing cards) whose masks are sorted; returns how many."""
    count = 0
    board = np.arange(n_cards).astype(np.int8)
    renamed = np.empty(4, dtype=np.int64)
    while True:
        masks = np.zeros(4, dtype=np.int64)
        for card in board:
            masks[card & 3] |= 1 << (card >> 2)
        if masks[0] >= masks[1] and masks[1] >= masks[2] and masks[2] >= masks[3]:
            keys[count], _ = _canonical_suits(board, renamed)
            boards[count] = board
            count += 1
        place = n_cards - 1
        while place >= 0 and board[place] == N_CARDS - n_cards + place:
            place -= 1
        if place < 0:
            return count
        board[place] += 1
        for i in range(place + 1, n_cards):
            board[i] = board[i - 1] + 1


@njit
def _space_rows(
    boards: NDArray[np.int8],
    first: NDArray[np.int16],
    n_all: NDArray[np.int16],
    n_with: NDArray[np.int8],
    weights: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    orbit = np.array([24, 12, 12, 4, 12, 6, 4, 1])  # 24 renamings over those that keep the board
    renamed = np.empty(4, dtype=np.int64)
    for i in range(boards.shape[0]):
        _, pattern = _canonical_suits(boards[i], renamed)
        weights[i] = orbit[pattern]
        counts[i] = _live_before(pattern, N_HOLES, boards[i], first, n_all, n_with)


@lru_cache(maxsize=4)
def board_space(n_cards: int) -> BoardSpace:
    """Enumerate the canonical boards of 3, 4 or 5 cards (or the empty one); cached, read-only."""
    if n_cards not in N_BOARDS:
        raise CardError(f"expected a board of 0, 3, 4 or 5 cards, got {n_cards}")
    if n_cards == 0:
        one, none = np.ones(1, dtype=np.int64), np.zeros((1, 0), dtype=np.int8)
        return BoardSpace(np.zeros(1, dtype=np.int64), none, one, np.array([0, N_CANONICAL[0]]))
    keys = np.zeros(N_BOARDS[n_cards], dtype=np.int64)
    boards = np.zeros((len(keys), n_cards), dtype=np.int8)
    _canonical_keys(n_cards, keys, boards)
    order = np.argsort(keys)
    keys, boards = keys[order], boards[order]
    weights, counts = np.zeros_like(keys), np.zeros_like(keys)
    _space_rows(boards, REPRESENTATIVE, _BEFORE, _BEFORE_WITH, weights, counts)
    space = BoardSpace(keys, boards, weights, np.concatenate([[0], np.cumsum(counts)]))
    for array in (space.keys, space.cards, space.weights, space.starts):
        array.setflags(write=False)
    return space


def _check_board(board: Sequence[int]) -> None:
    if len(board) not in N_BOARDS:
        raise CardError(f"expected a board of 0, 3, 4 or 5 cards, got {len(board)}")
    if not all(0 <= card < N_CARDS for card in board):
        raise CardError(f"expected cards 0..51, got {list(board)}")
    check_distinct(board)


def canonical_boards(n_cards: int) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Canonical boards (m, n) and how many boards each stands for (m,)."""
    space = board_space(n_cards)
    return space.cards, space.weights


def canonical_board(board: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, int, int, int]]:
    """The canonical board, cards increasing, and the new suit of each suit."""
    _check_board(board)
    renamed = np.empty(4, dtype=np.int64)
    _canonical_suits(np.array(board, dtype=np.uint8), renamed)
    c, d, h, s = (int(suit) for suit in renamed)
    return tuple(sorted(card // 4 * 4 + (c, d, h, s)[card % 4] for card in board)), (c, d, h, s)


def canonical_indices(street: int, cards: Cards) -> NDArray[np.int64]:
    """Numbers (n,) of rows of two hole cards and the street's board (n, 2 + k); cards are taken to be different."""
    if street not in range(4) or cards.ndim != 2 or cards.shape[1] != 2 + BOARD_SIZE[street]:
        raise CardError(f"expected street 0..3 with rows of 2 + 0, 3, 4 or 5 cards, got {street} with {cards.shape}")
    rows = np.ascontiguousarray(cards, dtype=np.uint8)
    if rows.size and rows.max() >= N_CARDS:
        raise CardError(f"expected cards 0..51, got {int(rows.max())}")
    if street == 0:
        high, low = rows.max(axis=1).astype(np.int64), rows.min(axis=1).astype(np.int64)
        cells: NDArray[np.int64] = HOLE_CLASS[high * (high - 1) // 2 + low].astype(np.int64)
        return cells
    space = board_space(BOARD_SIZE[street])
    numbers = np.empty(len(rows), dtype=np.int64)
    _number_rows(rows, space.keys, space.starts, REPRESENTATIVE, _BEFORE, _BEFORE_WITH, numbers)
    return numbers


def canonical_index(hole: Sequence[int], board: Sequence[int]) -> int:
    """Number of a hole hand on a board of 0, 3, 4 or 5 cards, the same for all renamings of suits."""
    _check_board(board)
    if len(hole) != 2:
        raise CardError(f"expected two hole cards, got {len(hole)}")
    if not all(0 <= card < N_CARDS for card in hole):
        raise CardError(f"expected cards 0..51, got {list(hole)}")
    check_distinct((*hole, *board))
    row = np.array([(*hole, *board)], dtype=np.uint8)
    return int(canonical_indices(BOARD_SIZE.index(len(board)), row)[0])


def canonical_indices_board(board: Sequence[int]) -> NDArray[np.int32]:
    """Numbers (1326,) of all hole hands on a board; -1 for hands that share a card with it."""
    _check_board(board)
    if len(board) == 0:
        return HOLE_CLASS.astype(np.int32)
    space = board_space(len(board))
    numbers = np.empty(N_HOLES, dtype=np.int32)
    _number_board(np.array(board, dtype=np.uint8), space.keys, space.starts, REPRESENTATIVE, numbers)
    return numbers
