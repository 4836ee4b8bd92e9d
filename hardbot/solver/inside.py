"""What a response learned within the same buckets wins from a strategy: its exploitability inside the abstraction.

With imperfect recall no exact best response inside the abstraction is known (the responder forgets), so one is learned:
the solver's own iteration with the strategy held fixed for the other seat. Fixing is simple: regret matching turns the
strategy's probabilities, put in the place of regrets, into themselves. The learned response is then paid on fresh
boards, all hands at once, without learning on: its mean is an honest lower bound of what can be won inside.
With buckets that never forget the bound becomes exact with the number of boards.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.game.jit import njit
from hardbot.solver.abstraction import BucketTables
from hardbot.solver.cfr import Board, Floats, Game, Scratch, deal_board, walk_preflop
from hardbot.solver.iterations import Desk, new_board, new_game, new_scratch, set_board
from hardbot.solver.lanes import Rows
from hardbot.solver.strategy import Strategy, probabilities

LEARNING_THRESHOLD, PAYING_THRESHOLD = 25.0, 0.0
# The response starts as the strategy itself, as firmly as the noise of n boards (about n^1.5 times this, by street).
START_WEIGHT = (3_000.0, 1_000.0, 500.0, 100.0)
PAIRS_A_BOARD = 1081 * 990


@dataclass(frozen=True)
class LearnedResponse:
    """sb a hand won by the response, mean of both seats."""

    value: float
    standard_error: float
    n_boards: int  # learned from; a quarter as many more were paid on

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@njit
def _root_button(p: Rows, b: int, w: Floats, f: Floats, met: float) -> float:
    capped = p[b, 6] * (-3.0 * f[4]) + p[b, 7] * w[4]
    limped = p[b, 3] * -f[1] + p[b, 4] * w[1] + p[b, 5] * (2.0 * f[2] + w[3] + capped)
    raised = p[b, 8] * (-2.0 * f[7]) + p[b, 9] * w[7] + p[b, 10] * (3.0 * f[8] + w[9])
    return float(p[b, 0] * -0.5 * met + p[b, 1] * (w[0] + limped) + p[b, 2] * (f[5] + w[6] + raised))


@njit
def _root_big_blind(p: Rows, b: int, w: Floats, f: Floats) -> float:
    raised = p[b, 2] * (-2.0 * f[5]) + p[b, 3] * w[5] + p[b, 4] * (3.0 * f[6] + w[7])
    limped = p[b, 0] * w[1] + p[b, 1] * (f[3] + w[4] + raised)
    capped = p[b, 8] * (-3.0 * f[10]) + p[b, 9] * w[10]
    facing = p[b, 5] * -f[2] + p[b, 6] * w[2] + p[b, 7] * (2.0 * f[8] + w[9] + capped)
    return float(0.5 * f[0] + limped + facing)


@njit
def root_value(seat: int, board: Board, scratch: Scratch) -> float:
    """Mean sb of `seat` over all pairs of hands on the board just walked."""
    p, won, folded, mass = scratch.rows[0, 0], scratch.rows[0, 5], scratch.rows[0, 6], scratch.mass[0]
    total = 0.0
    for i in range(board.n_present[0]):
        b = board.present[0, i]
        if seat == 1:
            total += _root_button(p, b, won[b], folded[b], 990.0 * mass[b])
        else:
            total += _root_big_blind(p, b, won[b], folded[b])
    return total / PAIRS_A_BOARD


@njit
def _learn(seat: int, n: int, game: Game, board: Board, desk: Desk, scratch: Scratch, tables: BucketTables) -> None:
    for t in range(1, n + 1):
        deal_board(game.random, desk.cards)
        set_board(board, desk, tables)
        walk_preflop(seat, float(t), game, board, scratch)


@njit
def _pay(
    seat: int, game: Game, board: Board, desk: Desk, scratch: Scratch, tables: BucketTables, paid: NDArray[np.float64]
) -> None:
    for i in range(paid.shape[0]):
        deal_board(game.random, desk.cards)
        set_board(board, desk, tables)
        walk_preflop(seat, 0.0, game, board, scratch)
        paid[i] += root_value(seat, board, scratch)


def fixed_game(strategy: Strategy, seats: tuple[int, ...], seed: int, threshold: float) -> Game:
    """A game in which these seats play the strategy for ever (as long as only the others learn)."""
    game = new_game(strategy.abstraction.sizes, (0.0, threshold, threshold, threshold), seed)
    streets = (game.preflop, game.flop, game.turn, game.river)
    for street in range(4):
        fixed = probabilities(strategy, street)
        for seat in seats:
            streets[street].regrets[:, seat] = fixed[:, seat]
    return game


def learned_response(strategy: Strategy, tables: BucketTables, n_boards: int, seed: int = 1) -> LearnedResponse:
    """Learn a response for either seat from n boards, then pay both on the same fresh boards."""
    largest = max(strategy.abstraction.sizes)
    board, desk = new_board(largest)
    scratch = new_scratch(largest)
    paid = np.zeros(max(n_boards // 4, 2))
    for seat in (0, 1):
        game = fixed_game(strategy, (0, 1), seed, LEARNING_THRESHOLD)
        for street, weight in zip((game.preflop, game.flop, game.turn, game.river), START_WEIGHT, strict=True):
            street.regrets[:, seat] *= weight * n_boards**1.5
        _learn(seat, n_boards, game, board, desk, scratch, tables)
        game.random[0] = np.uint64(seed + 1_000_003)
        game.thresholds[:] = PAYING_THRESHOLD
        _pay(seat, game, board, desk, scratch, tables, paid)
    paid /= 2.0
    return LearnedResponse(float(paid.mean()), float(paid.std(ddof=1) / np.sqrt(len(paid))), n_boards)
