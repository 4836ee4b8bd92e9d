"""One hole hand against every opponent hand: who is ahead now, after the next card, and at the river.

Where feature_kernels counts all hands of a board against all, this keeps one hand's outcomes apart by opponent (and by
next card), so that any weighting of the opponents is a few dot products afterwards. On one final board the outcome
hangs only on the opponent's pair of ranks, a table of 91 entries, but for opponents who make a flush; so a run-out is
one gather and one addition per opponent, then corrections for opponents who hold its cards or a flush. Wins and ties
share one 32-bit number: wins in the low half, ties in the high half.
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
_WIN, _TIE = 1, 1 << 16


@njit
def _outcome(own: int, other: int) -> int:
    """What a run-out adds to an opponent's number."""
    return _WIN if own > other else _TIE if own == other else 0


@njit
def _by_pair(hole: Bytes, board: Bytes, live: Bytes, n_live: int, ranks: Shorts, values: Words, fixes: Words) -> int:
    """Outcomes by pair of ranks on one board: values (169,), and corrections for opponents with a flush.

    fixes (n, 2) receives opponent and what to add to values' outcome; returns how many there are.
    """
    pair_ranks(board, ranks)
    counts = np.zeros(4, dtype=np.int64)
    suit = suit_counts(board, counts)
    mask, needed = 0, 9
    if suit >= 0:
        mask, needed = suit_mask(board, suit), 5 - counts[suit]
    a, b = int(hole[0]), int(hole[1])
    a_suited, b_suited = int(a & 3 == suit), int(b & 3 == suit)
    own = int(ranks[13 * (a >> 2) + (b >> 2)])
    if a_suited + b_suited >= needed:
        own = int(FLUSH_RANK[mask | (a_suited << (a >> 2)) | (b_suited << (b >> 2))])
    for pair in range(169):
        values[pair] = _outcome(own, int(ranks[pair]))
    n_fixes = 0
    if needed > 2:
        return n_fixes
    for i in range(n_live):
        a = int(live[i])
        a_suited = int(a & 3 == suit)
        if needed == 2 and a_suited == 0:
            continue
        for j in range(i):
            b = int(live[j])
            b_suited = int(b & 3 == suit)
            if a_suited + b_suited >= needed:
                rank = int(FLUSH_RANK[mask | (a_suited << (a >> 2)) | (b_suited << (b >> 2))])
                change = _outcome(own, rank) - values[13 * (a >> 2) + (b >> 2)]
                if change != 0:
                    fixes[n_fixes, 0] = i * (i - 1) // 2 + j
                    fixes[n_fixes, 1] = change
                    n_fixes += 1
    return n_fixes


@njit
def _add(row: Words, pairs: Bytes, values: Words, fixes: Words, n_fixes: int, n_live: int, t: int, r: int) -> None:
    """Add one board's outcomes to a row (opponents,), leaving out opponents with live card t or r (-1: none)."""
    for opponent in range(row.shape[0]):
        row[opponent] += values[pairs[opponent]]
    for k in range(n_fixes):
        row[fixes[k, 0]] += fixes[k, 1]
    _take_out(row, pairs, values, fixes, n_fixes, n_live, t, r)
    if r != t:
        _take_out(row, pairs, values, fixes, n_fixes, n_live, r, t)


@njit
def _take_out(
    row: Words, pairs: Bytes, values: Words, fixes: Words, n_fixes: int, n_live: int, card: int, other: int
) -> None:
    """Undo the addition for opponents with this live card; the opponent who holds both is left to the lower card."""
    if card < 0:
        return
    for i in range(n_live):
        if i == card or (i == other and other < card):
            continue
        high, low = max(i, card), min(i, card)
        opponent = high * (high - 1) // 2 + low
        row[opponent] -= values[pairs[opponent]]
    for k in range(n_fixes):
        opponent = fixes[k, 0]
        high = int((1.0 + np.sqrt(1.0 + 8.0 * opponent)) / 2.0)
        low = opponent - high * (high - 1) // 2
        if card in (high, low) and not (0 <= other < card and other in (high, low)):
            row[opponent] -= fixes[k, 1]


@njit
def _unpack(row: Words, n_boards: int, counts: Words) -> None:
    """Fill counts (m, 3): ahead, tied, behind."""
    for opponent in range(row.shape[0]):
        wins, ties = row[opponent] & 0xFFFF, row[opponent] >> 16
        counts[opponent, 0], counts[opponent, 1] = wins, ties
        counts[opponent, 2] = n_boards - wins - ties


@njit
def hand_outcomes(
    hole: Bytes, board: Bytes, holes: Words, now: Bytes, after: Words, final: Words, points: Words, next_cards: Bytes
) -> None:
    """Outcomes of one hand on a board of 3, 4 or 5 cards against each of the m opponents left.

    holes (m,) hole indices of the opponents; now (m,) 0 ahead, 1 tied, 2 behind; after (m, 3) and final (m, 3) how many
    next cards, and run-outs to the river, leave the hand ahead, tied, behind; points (cards, m) two a win and one a tie
    over the run-outs that begin with each of the next_cards (cards,); points (0, m) leave that out, which is faster. On
    the river only holes and now are filled.
    """
    n_board = board.shape[0]
    dead = np.empty(n_board + 2, dtype=np.uint8)
    dead[:n_board] = board
    dead[n_board:] = hole
    live = np.empty(52, dtype=np.uint8)
    n_live = live_cards(dead, live)
    m = n_live * (n_live - 1) // 2
    pairs = np.empty(m, dtype=np.uint8)
    opponent = 0
    for i in range(n_live):
        for j in range(i):
            a, b = int(live[i]), int(live[j])
            holes[opponent] = a * (a - 1) // 2 + b
            pairs[opponent] = 13 * (a >> 2) + (b >> 2)
            opponent += 1
    ranks, values = np.empty(169, dtype=np.uint16), np.empty(169, dtype=np.int32)
    fixes = np.empty((m, 2), dtype=np.int32)
    row = np.zeros(m, dtype=np.int32)
    _add(row, pairs, values, fixes, _by_pair(hole, board, live, n_live, ranks, values, fixes), n_live, -1, -1)
    for opponent in range(m):
        now[opponent] = 0 if row[opponent] == _WIN else 1 if row[opponent] == _TIE else 2
    if n_board == 5:
        return
    by_card = np.zeros((points.shape[0], m), dtype=np.int32)
    longer = np.empty(n_board + 1, dtype=np.uint8)
    longer[:n_board] = board
    row[:] = 0
    for t in range(n_live):
        next_cards[t] = live[t]
        longer[n_board] = live[t]
        n_fixes = _by_pair(hole, longer, live, n_live, ranks, values, fixes)
        _add(row, pairs, values, fixes, n_fixes, n_live, t, t)
        if n_board == 4 and points.shape[0] > 0:
            _add(by_card[t], pairs, values, fixes, n_fixes, n_live, t, t)
    _unpack(row, n_live - 2, after)
    if n_board == 3:
        river = np.empty(5, dtype=np.uint8)
        river[:3] = board
        row[:] = 0
        for t in range(n_live):
            for r in range(t):
                river[3], river[4] = live[t], live[r]
                n_fixes = _by_pair(hole, river, live, n_live, ranks, values, fixes)
                _add(row, pairs, values, fixes, n_fixes, n_live, t, r)
                if points.shape[0] > 0:
                    _add(by_card[t], pairs, values, fixes, n_fixes, n_live, t, r)
                    _add(by_card[r], pairs, values, fixes, n_fixes, n_live, t, r)
        _unpack(row, (n_live - 2) * (n_live - 3) // 2, final)
    else:
        final[:] = after
    for t in range(points.shape[0]):
        for opponent in range(m):
            points[t, opponent] = 2 * (by_card[t, opponent] & 0xFFFF) + (by_card[t, opponent] >> 16)
