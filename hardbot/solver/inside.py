"""What a response learned within the same buckets wins from a strategy: its exploitability inside the abstraction.

With imperfect recall no exact best response inside the abstraction is known (the responder forgets), so one is learned:
the solver's own iteration with the strategy held fixed for the other seat. Fixing is simple: regret matching turns the
strategy's probabilities, put in the place of regrets, into themselves. Near an equilibrium there is little to win and
the noise of few boards is the danger, so a response that starts as the strategy itself, firmly, does better; a strategy
far from it is better answered from nothing. Both are learned, the one that wins more on boards of its own is kept, and
that one alone is paid on fresh boards, all hands at once, without learning on: an honest lower bound of what can be won
inside. With buckets that never forget the bound becomes exact with the number of boards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.game.jit import njit
from hardbot.solver.abstraction import BucketTables
from hardbot.solver.cfr import Board, Floats, Game, Scratch, deal_board, walk_preflop
from hardbot.solver.iterations import Desk, new_board, new_game, new_scratch, set_board
from hardbot.solver.lanes import Rows
from hardbot.solver.rivals import respond
from hardbot.solver.strategy import Strategy, probabilities

Values = NDArray[np.float64]
Progress = Callable[[str, int, int], None]  # what, done, total
# How a response may start: as the strategy itself (weights by street, see `respond`), or from nothing.
STARTS = {"strategy": (3_000.0, 1_000.0, 500.0, 100.0), "nothing": (0.0, 0.0, 0.0, 0.0)}
CHOOSING_SEED, PAYING_SEED = 1_000_003, 2_000_003  # added to the seed of the boards that are learned from
PAIRS_A_BOARD = 1081 * 990


@dataclass(frozen=True)
class LearnedResponse:
    """sb a hand won by the response, mean of both seats."""

    value: float
    standard_error: float
    n_boards: int  # learned from
    n_paid: int  # fresh boards behind the value
    start: str  # the better of STARTS

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
def _pay(seat: int, game: Game, board: Board, desk: Desk, scratch: Scratch, tables: BucketTables, paid: Values) -> None:
    for i in range(paid.shape[0]):
        deal_board(game.random, desk.cards)
        set_board(board, desk, tables)
        walk_preflop(seat, 0.0, game, board, scratch)
        paid[i] += root_value(seat, board, scratch)


def fixed_game(seats: tuple[Strategy, Strategy], seed: int) -> Game:
    """A game in which each seat plays its strategy for ever (as long as it does not learn), all lines walked."""
    game = new_game(seats[0].abstraction.sizes, (0.0, 0.0, 0.0, 0.0), seed)
    for street, table in enumerate((game.preflop, game.flop, game.turn, game.river)):
        for seat in (0, 1):
            table.regrets[:, seat] = probabilities(seats[seat], street)[:, seat]
    return game


def board_values(own: Strategy, other: Strategy, tables: BucketTables, n_boards: int, seed: int) -> Values:
    """What `own` wins from `other` on each of n boards (n,), sb a hand over all pairs of hands and both seats."""
    largest = max(own.abstraction.sizes)
    board, desk = new_board(largest)
    scratch = new_scratch(largest)
    paid = np.zeros(n_boards)
    for seat in (0, 1):
        game = fixed_game((other, own) if seat else (own, other), seed)
        _pay(seat, game, board, desk, scratch, tables, paid)
    return paid / 2.0


def learned_response(
    strategy: Strategy, tables: BucketTables, n_boards: int, seed: int = 1, progress: Progress | None = None
) -> LearnedResponse:
    """Learn a response of either start from n boards, choose one on n/8 others, and pay it on n/4 fresh ones."""
    found = {
        start: respond(strategy, strategy, tables, n_boards, seed, progress, weights)
        for start, weights in STARTS.items()
    }
    n_choosing, n_paid = max(n_boards // 8, 2), max(n_boards // 4, 2)
    won = {
        start: float(board_values(response, strategy, tables, n_choosing, seed + CHOOSING_SEED).mean())
        for start, response in found.items()
    }
    best = max(won, key=won.__getitem__)
    paid = board_values(found[best], strategy, tables, n_paid, seed + PAYING_SEED)
    return LearnedResponse(float(paid.mean()), float(paid.std(ddof=1) / np.sqrt(n_paid)), n_boards, n_paid, best)
