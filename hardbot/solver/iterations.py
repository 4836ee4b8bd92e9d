"""The solver's loop: sample a board, bucket its hands, walk the game once for each seat."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardbot.game.jit import njit
from hardbot.game.rank_tables import N_RANKS
from hardbot.solver.abstraction import BucketTables
from hardbot.solver.boards import N_RIVER_HANDS, look_up_row, score_board, sort_board
from hardbot.solver.cfr import Board, Game, Ints, Scratch, Street, deal_board, find_present, walk_preflop
from hardbot.solver.lanes import N_TOTALS, aligned_rows
from hardbot.solver.rounds import N_STARTS, round_map


class Desk(NamedTuple):
    """Work space of one board."""

    cards: Ints  # (5,)
    holes: Ints  # (n,)
    scores: NDArray[np.int32]  # (n,)
    counts: NDArray[np.int32]
    seen: NDArray[np.bool_]


def new_game(sizes: tuple[int, int, int, int], thresholds: tuple[float, float, float, float], seed: int) -> Game:
    """Tables of zeros for buckets by street."""
    stakes = round_map().stakes
    streets = [
        Street(aligned_rows(starts, 2, n), aligned_rows(starts, 2, n), stake)
        for starts, n, stake in zip(N_STARTS, sizes, stakes, strict=True)
    ]
    state = np.array([seed], dtype=np.uint64)
    return Game(streets[0], streets[1], streets[2], streets[3], np.array(thresholds, dtype=np.float32), state)


def new_board(n_buckets: int) -> tuple[Board, Desk]:
    """Room for one board."""
    n = N_RIVER_HANDS
    board = Board(
        np.zeros((n, 3), dtype=np.int64),
        np.zeros((4, n), dtype=np.int64),
        np.zeros((4, n), dtype=np.int64),
        np.zeros(4, dtype=np.int64),
    )
    desk = Desk(
        np.zeros(5, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int32),
        np.zeros(N_RANKS + 2, dtype=np.int32),
        np.zeros(n_buckets, dtype=np.bool_),
    )
    return board, desk


def new_scratch(n_buckets: int) -> Scratch:
    """Work space of the walks; n_buckets is the largest number of a street."""
    n = N_RIVER_HANDS
    return Scratch(
        aligned_rows(4, n),
        aligned_rows(4, n),
        aligned_rows(4, 7, n_buckets),
        np.zeros((4, n_buckets), dtype=np.float32),
        np.ones((4, n), dtype=np.float32),
        np.zeros((4, n), dtype=np.float32),
        aligned_rows(N_TOTALS),
    )


@njit
def set_board(board: Board, desk: Desk, tables: BucketTables) -> None:
    """Sort and bucket the hands of desk.cards."""
    sort_board(desk.cards, desk.holes, board.order, desk.counts)
    score_board(board.order, desk.scores)
    for i in range(desk.holes.shape[0]):
        board.buckets[0, i] = tables.preflop[desk.holes[i]]
        board.buckets[3, i] = tables.river[desk.scores[i]]
    look_up_row(desk.cards, 3, tables.flop_numbers, tables.flop_renamings, tables.flop, desk.holes, board.buckets[1])
    look_up_row(desk.cards, 4, tables.turn_numbers, tables.turn_renamings, tables.turn, desk.holes, board.buckets[2])
    for street in range(4):
        board.n_present[street] = find_present(board.buckets[street], board.present[street], desk.seen)


@njit
def iterate(first: int, n: int, game: Game, board: Board, desk: Desk, scratch: Scratch, tables: BucketTables) -> None:
    """Iterations first .. first + n - 1 (from 1), weighted by their number."""
    for t in range(first, first + n):
        deal_board(game.random, desk.cards)
        set_board(board, desk, tables)
        for seat in range(2):
            walk_preflop(seat, float(t), game, board, scratch)
