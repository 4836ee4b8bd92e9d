"""One hole hand against every opponent hand: who is ahead now, after the next card, and at the river.

Where feature_kernels counts all hands of a board against all, this keeps one hand's outcomes apart by opponent and
by next card, so that any weighting of the opponents is a few dot products afterwards. On one final board a rank
needs only the 91-entry table by rank pair (and the flush table when a suit has three cards on board), so a flop's
1,081 run-outs times 990 opponents take a few milliseconds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardbot.game.feature_kernels import live_cards, pair_ranks, suit_counts, suit_mask
from hardbot.game.jit import njit
from hardbot.game.rank_tables import FLUSH_RANK

Bytes = NDArray[np.uint8]
Shorts = NDArray[np.uint16]
Words = NDArray[np.int32]


@njit
def _rank(a: int, b: int, by_pair: Shorts, suit: int, mask: int, needed: int) -> int:
    """Rank of hole cards a, b by a board's tables."""
    a_suited, b_suited = a & 3 == suit, b & 3 == suit
    if a_suited + b_suited >= needed:
        return int(FLUSH_RANK[mask | (a_suited << (a >> 2)) | (b_suited << (b >> 2))])
    return int(by_pair[13 * (a >> 2) + (b >> 2)])


@njit
def _compare(hole: Bytes, board: Bytes, live: Bytes, n_live: int, t: int, r: int, by_pair: Shorts, side: Bytes) -> None:
    """Fill side (opponents,): 0 ahead, 1 tied, 2 behind on this board, 3 for opponents with live card t or r."""
    pair_ranks(board, by_pair)
    counts = np.zeros(4, dtype=np.int64)
    suit = suit_counts(board, counts)
    mask, needed = 0, 9
    if suit >= 0:
        mask, needed = suit_mask(board, suit), 5 - counts[suit]
    own = _rank(int(hole[0]), int(hole[1]), by_pair, suit, mask, needed)
    opponent = 0
    for i in range(n_live):
        if i == t or i == r:
            for _ in range(i):
                side[opponent] = 3
                opponent += 1
            continue
        a = int(live[i])
        row = 13 * (a >> 2)
        a_suited = a & 3 == suit
        for j in range(i):
            b = int(live[j])
            b_suited = b & 3 == suit
            if a_suited + b_suited >= needed:
                rank = int(FLUSH_RANK[mask | (a_suited << (a >> 2)) | (b_suited << (b >> 2))])
            else:
                rank = int(by_pair[row + (b >> 2)])
            side[opponent] = 3 if j == t or j == r else 0 if rank < own else 1 if rank == own else 2
            opponent += 1


@njit
def hand_outcomes(
    hole: Bytes, board: Bytes, holes: Words, now: Bytes, after: Words, final: Words, points: Words, next_cards: Bytes
) -> None:
    """Outcomes of one hand on a board of 3, 4 or 5 cards against each of the m opponents left.

    holes (m,) hole indices of the opponents; now (m,) 0 ahead, 1 tied, 2 behind; after (m, 3) and final (m, 3) how many
    next cards, and run-outs to the river, leave the hand ahead, tied, behind; points (cards, m) two a win and one a tie
    over the run-outs that begin with each of the next_cards (cards,). On the river only holes and now are filled.
    """
    dead = np.empty(board.shape[0] + 2, dtype=np.uint8)
    dead[: board.shape[0]] = board
    dead[board.shape[0] :] = hole
    live = np.empty(52, dtype=np.uint8)
    n_live = live_cards(dead, live)
    opponent = 0
    for i in range(n_live):
        for j in range(i):
            a, b = int(live[i]), int(live[j])
            holes[opponent] = a * (a - 1) // 2 + b
            opponent += 1
    m = opponent
    by_pair = np.empty(169, dtype=np.uint16)
    side = np.empty(m, dtype=np.uint8)
    _compare(hole, board, live, n_live, -1, -1, by_pair, now)
    n_board = board.shape[0]
    if n_board == 5:
        return
    after[:] = 0
    final[:] = 0
    points[:] = 0
    longer = np.empty(n_board + 1, dtype=np.uint8)
    longer[:n_board] = board
    for t in range(n_live):
        next_cards[t] = live[t]
        longer[n_board] = live[t]
        _compare(hole, longer, live, n_live, t, t, by_pair, side)
        for opponent in range(m):
            if side[opponent] < 3:
                after[opponent, side[opponent]] += 1
                if n_board == 4:
                    points[t, opponent] += 2 - side[opponent]
    if n_board == 4:
        final[:] = after
        return
    river = np.empty(5, dtype=np.uint8)
    river[:3] = board
    for t in range(n_live):
        for r in range(t):
            river[3], river[4] = live[t], live[r]
            _compare(hole, river, live, n_live, t, r, by_pair, side)
            for opponent in range(m):
                s = side[opponent]
                if s < 3:
                    final[opponent, s] += 1
                    points[t, opponent] += 2 - s
                    points[r, opponent] += 2 - s
