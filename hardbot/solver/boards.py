"""One board with all its hands: sorted by rank, grouped by ties, each with its buckets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardbot.game.cards import HOLE_CARDS
from hardbot.game.evaluator import rank_cards7
from hardbot.game.jit import njit
from hardbot.game.rank_tables import N_RANKS
from hardbot.model.board_index import HOLE_RENAMED, set_number

N_RIVER_HANDS = 1081
MAX_SCORE = 1980  # 2 * 990 opponents
Ints = NDArray[np.int64]
Cards = NDArray[np.int64]


@njit
def sort_board(board: Cards, holes: NDArray[np.int64], order: Ints, counts: NDArray[np.int32]) -> None:
    """Hands of a five-card board from weak to strong.

    holes (1081,) become hole indices, order (1081, 3) their two cards and the end of their group of ties.
    counts (7464,) is scratch.
    """
    counts[:] = 0
    dead = np.int64(0)
    for i in range(5):
        dead |= np.int64(1) << board[i]
    ranks = np.zeros(1326, dtype=np.int32)
    for h in range(1326):
        a, b = int(HOLE_CARDS[h, 0]), int(HOLE_CARDS[h, 1])
        if (dead >> a | dead >> b) & 1 == 0:
            ranks[h] = rank_cards7(a, b, board[0], board[1], board[2], board[3], board[4])
            counts[ranks[h] + 1] += 1
    for rank in range(1, N_RANKS + 2):
        counts[rank] += counts[rank - 1]
    for h in range(1326):
        rank = ranks[h]
        if rank > 0:
            holes[counts[rank]] = h
            counts[rank] += 1
    for i in range(N_RIVER_HANDS):
        h = holes[i]
        order[i, 0] = HOLE_CARDS[h, 0]
        order[i, 1] = HOLE_CARDS[h, 1]
        order[i, 2] = counts[ranks[h]]


@njit
def score_board(order: Ints, scores: NDArray[np.int32]) -> None:
    """Twice the hands beaten plus the hands tied (0..1980) of every hand, in sorted order."""
    n = order.shape[0]
    weaker = np.zeros(52, dtype=np.int32)
    i = 0
    while i < n:
        end = order[i, 2]
        for h in range(i, end):
            scores[h] = i - weaker[order[h, 0]] - weaker[order[h, 1]]
        for h in range(i, end):
            weaker[order[h, 0]] += 1
            weaker[order[h, 1]] += 1
        for h in range(i, end):  # the hand itself is counted under both cards and in the group: + 1
            scores[h] += end - weaker[order[h, 0]] - weaker[order[h, 1]] + 1
        i = end


@njit
def look_up_row(
    cards: Cards,
    n: int,
    numbers: NDArray[np.int32],
    renamings: NDArray[np.int8],
    table: NDArray[np.int16],
    holes: NDArray[np.int64],
    buckets: Ints,
) -> None:
    """Buckets of hole indices on the first n board cards; numbers and renamings are those of `board_index(n)`."""
    number = set_number(cards, n)
    row, renamed = table[numbers[number]], HOLE_RENAMED[renamings[number]]
    for i in range(holes.shape[0]):
        buckets[i] = row[renamed[holes[i]]]


@njit
def river_score(hole: int, board: Cards) -> int:
    """Twice the hands beaten plus the hands tied (0..1980) of one hole index on five board cards."""
    a, b = int(HOLE_CARDS[hole, 0]), int(HOLE_CARDS[hole, 1])
    dead = 1 << a | 1 << b
    for i in range(5):
        dead |= np.int64(1) << board[i]
    own = rank_cards7(a, b, board[0], board[1], board[2], board[3], board[4])
    score = 0
    for h in range(1326):
        c, d = int(HOLE_CARDS[h, 0]), int(HOLE_CARDS[h, 1])
        if (dead >> c | dead >> d) & 1 == 0:
            rank = rank_cards7(c, d, board[0], board[1], board[2], board[3], board[4])
            score += 2 if rank < own else 1 if rank == own else 0
    return score
