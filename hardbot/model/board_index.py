"""Boards up to suit symmetry, for dense tables (boards, 1326).

Any set of three or four board cards is some fixed representative with its suits renamed. A table over the
representatives (1,755 flops, 16,432 turns) and all 1,326 hands answers a question about any board: rename
the suits of the hand, then look up. Finding the representative is itself a look-up, by the number of the
board among all C(52, n) sets. Hands that are equal under a suit symmetry of the board simply stand
in the table more than once, which costs memory (44 MB for the turn) and saves time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from hardbot.game.cards import HOLE_CARDS, N_CARDS, N_HOLES
from hardbot.game.jit import njit

_SUIT_ORDERS = np.array(list(permutations(range(4))), dtype=np.int64)  # (24, 4): new suit of each suit
_CHOOSE = np.array([[comb(n, k) for k in range(6)] for n in range(N_CARDS + 1)], dtype=np.int64)


@dataclass(frozen=True)
class BoardIndex:
    """Representatives of the boards of one size.

    For the board with set number i (`set_number`), `board[i]` is its representative and `renaming[i]` the row
    of HOLE_RENAMED which turns hands on it into hands on the representative.
    """

    cards: NDArray[np.int8]  # (boards, size)
    weights: NDArray[np.int64]  # (boards,) how many boards each stands for
    board: NDArray[np.int32]  # (sets,)
    renaming: NDArray[np.int8]  # (sets,)


def _hole_renamed() -> NDArray[np.int16]:
    table = np.zeros((24, N_HOLES), dtype=np.int16)
    for p, order in enumerate(_SUIT_ORDERS):
        renamed = np.sort(HOLE_CARDS // 4 * 4 + order[HOLE_CARDS % 4], axis=1)
        table[p] = renamed[:, 1] * (renamed[:, 1] - 1) // 2 + renamed[:, 0]
    return table


HOLE_RENAMED: NDArray[np.int16] = _hole_renamed()  # (24, 1326)


@njit
def set_number(cards: NDArray[np.int64], n: int) -> int:
    """Number of the set of the first n cards (n <= 5) among all sets of that size, whatever their order."""
    number = 0
    for i in range(n):
        below = 1
        for j in range(n):
            if cards[j] < cards[i]:
                below += 1
        number += _CHOOSE[cards[i], below]
    return number


def _all_sets(n: int) -> NDArray[np.int64]:
    """All sets of n cards (sets, n), ascending within a row, in the order of their numbers."""
    rows = np.zeros((1, 0), dtype=np.int64)
    for _ in range(n):
        lowest = rows[:, :1] if rows.shape[1] else np.full((1, 1), N_CARDS)
        parts = [
            np.column_stack([np.full(int((lowest[:, 0] > card).sum()), card), rows[lowest[:, 0] > card]])
            for card in range(N_CARDS)
        ]
        rows = np.concatenate(parts)
    return rows[np.lexsort(rows.T)]  # the last column, the highest card, counts most


@lru_cache(maxsize=3)
def board_index(n: int) -> BoardIndex:
    """Index of the boards of n cards (3, 4 or 5)."""
    sets = _all_sets(n)
    ranks, suits = sets // 4, sets % 4
    masks = np.zeros((len(sets), 4), dtype=np.int64)
    for suit in range(4):
        masks[:, suit] = np.where(suits == suit, 1 << ranks, 0).sum(axis=1)
    by_mask = np.argsort(-masks, axis=1, kind="stable")  # suit with the largest mask first
    new_suit = np.argsort(by_mask, axis=1)
    key = np.zeros(len(sets), dtype=np.int64)
    for place in range(4):
        key = key << 13 | np.take_along_axis(masks, by_mask[:, place : place + 1], axis=1)[:, 0]
    _, first, board, weights = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    order_number = np.zeros(256, dtype=np.int8)
    for p, order in enumerate(_SUIT_ORDERS):
        order_number[order @ (64, 16, 4, 1)] = p
    cards = ranks[first] * 4 + np.take_along_axis(new_suit[first], suits[first], axis=1)
    return BoardIndex(
        cards=np.sort(cards, axis=1).astype(np.int8),
        weights=weights.astype(np.int64),
        board=board.astype(np.int32).ravel(),
        renaming=order_number[new_suit @ (64, 16, 4, 1)],
    )
