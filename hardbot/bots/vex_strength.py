"""vexbot's view of its own cards: how strong they are now and may be after the next card.

Strength is E, the chance of beating a uniform hand at the showdown (HS on the river), seen on a grid of 21
points 0, .05, ..., 1: the borders of the 20 cells in which vexbot keeps the hands it was shown. A value between two
points counts for both, by nearness, so that means are kept.

On one board a showdown is a count over the 91 pairs of ranks (and the suited hands, where three of a suit are on
board) instead of 990 hands, so that all 1,081 run-outs of a flop take well under a millisecond and the distribution
over the next street is exact: 47 turn cards on the flop, 46 river cards on the turn. Streets beyond the next are
taken as a Markov chain on the grid: hands of equal strength are held to develop alike. Its matrices, and the flops of
the 169 starting hands, were sampled once (`python -m hardbot.bots.vex_strength`) and lie beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import TableError
from hardbot.game.cards import HOLE_CARDS, HOLE_CLASS, N_CARDS, N_CLASSES
from hardbot.game.evaluator import rank_cards7, rank_key7
from hardbot.game.jit import njit
from hardbot.game.rank_tables import CARD_KEY, FLUSH_RANK

N_CELLS = 20
N_GRID = N_CELLS + 1
TABLE = Path(__file__).with_name("vex_strength.npz")
_SEED = 20_040_705
_FLOPS_A_CLASS = 400

Floats = NDArray[np.float64]
Cards = NDArray[np.int64]


@njit
def showdown_strength(a: int, b: int, board: Cards) -> float:
    """HS of the hole hand (a, b) on a board of five: (weaker + equal / 2) / 990 opponents."""
    own = rank_cards7(a, b, board[0], board[1], board[2], board[3], board[4])
    live = np.full(13, 4, dtype=np.int64)  # cards of each rank that an opponent may hold
    suits = np.zeros(4, dtype=np.int64)
    key = 0
    for card in board:
        live[card >> 2] -= 1
        suits[card & 3] += 1
        key += CARD_KEY[card]
    live[a >> 2] -= 1
    live[b >> 2] -= 1
    needed, suit, mask, suited = 9, -1, 0, 0  # suited: ranks of the flush suit an opponent may hold, as bits
    for s in range(4):
        if suits[s] >= 3:
            suit, needed, suited = s, 5 - suits[s], 8191
    if suit >= 0:
        for card in board:
            if card & 3 == suit:
                mask |= 1 << (card >> 2)
        suited &= ~mask
        if a & 3 == suit:
            suited &= ~(1 << (a >> 2))
        if b & 3 == suit:
            suited &= ~(1 << (b >> 2))
    points = 0
    for high in range(13):
        if live[high] == 0:
            continue
        in_high = suited >> high & 1
        for low in range(high + 1):
            in_low = suited >> low & 1
            if low == high:
                free = live[high] - (in_high if needed <= 1 else 0)
                n = free * (free - 1) // 2
            elif needed <= 1:
                n = (live[high] - in_high) * (live[low] - in_low)
            else:
                n = live[high] * live[low] - (in_high * in_low if needed == 2 else 0)
            if n == 0 or needed <= 0:
                continue
            rank = rank_key7(key + CARD_KEY[4 * high] + CARD_KEY[4 * low])
            points += 2 * n if rank < own else (n if rank == own else 0)
    if suit >= 0:
        points += _flush_points(own, needed, mask, suited, live)
    return points / 1980.0


@njit
def _flush_points(own: int, needed: int, mask: int, suited: int, live: Cards) -> int:
    """Two points for each weaker, one for each equal opponent hand that makes a flush."""
    n_suited, n_live, points = 0, 0, 0
    for rank in range(13):
        n_suited += suited >> rank & 1
        n_live += live[rank]
    others = n_live - n_suited
    for high in range(13):
        if not suited >> high & 1:
            continue
        if needed <= 1:
            rank = int(FLUSH_RANK[mask | 1 << high])
            points += 2 * others if rank < own else (others if rank == own else 0)
        for low in range(high):
            if suited >> low & 1:
                rank = int(FLUSH_RANK[mask | 1 << high | 1 << low])
                points += 2 if rank < own else (1 if rank == own else 0)
    if needed <= 0:
        n = others * (others - 1) // 2
        rank = int(FLUSH_RANK[mask])
        points += 2 * n if rank < own else (n if rank == own else 0)
    return points


@njit
def add_to_grid(strength: float, weight: float, grid: Floats) -> None:
    """Give `weight` to the two grid points around a strength, by nearness."""
    place = strength * N_CELLS
    low = min(int(place), N_CELLS - 1)
    grid[low] += weight * (low + 1 - place)
    grid[low + 1] += weight * (place - low)


@njit
def next_strengths(a: int, b: int, board: Cards, grid: Floats) -> float:
    """Fill grid (21,) with the distribution of E after the next card; returns E now. The river: HS itself."""
    grid[:] = 0.0
    n_board = board.shape[0]
    if n_board == 5:
        strength = showdown_strength(a, b, board)
        add_to_grid(strength, 1.0, grid)
        return strength
    dead = 1 << a | 1 << b
    final = np.zeros(5, dtype=np.int64)
    for i in range(n_board):
        dead |= 1 << board[i]
        final[i] = board[i]
    sums = np.zeros(N_CARDS)
    for turn in range(N_CARDS):
        if dead >> turn & 1:
            continue
        if n_board == 4:
            final[4] = turn
            sums[turn] = showdown_strength(a, b, final)
            continue
        final[3] = turn
        for river in range(turn):
            if not dead >> river & 1:
                final[4] = river
                strength = showdown_strength(a, b, final)
                sums[turn] += strength
                sums[river] += strength
    n_next = 50 - n_board
    rest = 1.0 if n_board == 4 else 1.0 / (n_next - 1)
    total = 0.0
    for card in range(N_CARDS):
        if not dead >> card & 1:
            add_to_grid(min(sums[card] * rest, 1.0), 1.0 / n_next, grid)
            total += sums[card] * rest
    return float(total / n_next)


@dataclass(frozen=True)
class StrengthTable:
    """Population figures: flops of each class, and how strength moves from street to street."""

    flops: Floats  # (169, 21) distribution of E on the flop
    equity: Floats  # (169,) E before the flop
    moves: Floats  # (4, 21, 21) [street]: from a strength to those of the next street (flop 1, turn 2)


@lru_cache(maxsize=1)
def strength_table() -> StrengthTable:
    """The table beside this file; TableError when it is missing or damaged."""
    try:
        with np.load(TABLE, allow_pickle=False) as arrays:
            table = StrengthTable(arrays["flops"], arrays["equity"], arrays["moves"])
    except (OSError, ValueError, KeyError) as error:
        raise TableError(f"expected vexbot's strength table at {TABLE.name}, got {error}") from error
    if table.flops.shape != (N_CLASSES, N_GRID) or table.moves.shape != (4, N_GRID, N_GRID):
        raise TableError(f"expected 169 flop rows and 4 matrices in {TABLE.name}, got {table.flops.shape}")
    return table


@njit
def _sample_class(holes: NDArray[np.int8], words: NDArray[np.uint64], flops: Floats, moves: Floats) -> float:
    """Follow one class over sampled boards (a row of words each); returns its mean E."""
    deck = np.arange(N_CARDS)
    grid, point = np.zeros(N_GRID), np.zeros(N_GRID)
    total = 0.0
    for i in range(words.shape[0]):
        hole = holes[words[i, 0] % np.uint64(holes.shape[0])]
        a, b = int(hole[0]), int(hole[1])
        n = 0
        for card in range(N_CARDS):
            if card not in (a, b):
                deck[n] = card
                n += 1
        for k in range(5):
            other = k + int(words[i, k + 1] % np.uint64(n - k))
            deck[k], deck[other] = deck[other], deck[k]
        before = np.zeros(N_GRID)
        for n_board in range(3, 5):
            strength = next_strengths(a, b, deck[:n_board].copy(), grid)
            point[:] = 0.0
            add_to_grid(strength, 1.0, point)
            for g in range(N_GRID):
                if point[g] > 0.0:
                    moves[n_board - 2, g] += holes.shape[0] * point[g] * grid
            if n_board == 3:
                before += point
                total += strength
        flops += before / words.shape[0]
    return float(total / words.shape[0])


def build_table(n_flops: int = _FLOPS_A_CLASS, seed: int = _SEED) -> StrengthTable:
    """Sample the table anew: `n_flops` boards for each of the 169 classes."""
    rng = np.random.Generator(np.random.PCG64(seed))
    flops, equity, moves = np.zeros((N_CLASSES, N_GRID)), np.zeros(N_CLASSES), np.zeros((4, N_GRID, N_GRID))
    for cell in range(N_CLASSES):
        holes = HOLE_CARDS[np.flatnonzero(cell == HOLE_CLASS)]
        words = rng.integers(0, 1 << 62, size=(n_flops, 6), dtype=np.uint64)
        equity[cell] = _sample_class(holes, words, flops[cell], moves)
    for street in (1, 2):
        seen = moves[street].sum(axis=1)
        for point in range(N_GRID):
            if seen[point] == 0.0:
                moves[street, point, point] = seen[point] = 1.0
        moves[street] /= seen[:, None]
    return StrengthTable(flops, equity, moves)


def save_table(table: StrengthTable, path: Path = TABLE) -> None:
    """Write a table where `strength_table` looks for it."""
    np.savez(path, flops=table.flops, equity=table.equity, moves=table.moves)


if __name__ == "__main__":
    save_table(build_table())
