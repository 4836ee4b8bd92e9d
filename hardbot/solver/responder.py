"""The answer to an opponent whose portrait changes while the match goes on.

Regret minimisation against fixed habits (`rivals.respond`), a few boards at a time: when the portrait is drawn anew the
habits are exchanged and the regrets go on, old ones fading. The answer is anchored at the equilibrium: its choices are
given a head start as firm as the noise of the boards walked so far, so that only what is clearly worth more is played
instead (robust responses: Johanson, Zinkevich and Bowling, NIPS 2007). Like the solver's own play the answer is mixed,
in proportion to positive regret.
"""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardbot.game.jit import njit
from hardbot.game.rules import HEADS_UP, N_STREETS
from hardbot.model.context import N_ACTIONS
from hardbot.solver.abstraction import BucketTables
from hardbot.solver.cfr import Board, Game, Scratch, deal_board, walk_preflop
from hardbot.solver.inside import root_value
from hardbot.solver.iterations import Desk, new_board, new_game, new_scratch, set_board
from hardbot.solver.portrait import layout_of
from hardbot.solver.rounds import round_map
from hardbot.solver.strategy import nodes_of

ANCHOR = (3_000.0, 1_000.0, 500.0, 100.0)  # regret of the equilibrium's choices after one board, by street
FADING = 0.7  # of regrets, each time the habits are exchanged
EVENNESS = 20.0  # boards' noise the anchor is as firm as
THRESHOLD = 50.0  # opponent mass (of 1,081 hands) below which a line is sampled
_THRESHOLDS = (0.0, THRESHOLD, THRESHOLD, THRESHOLD)
Rows = NDArray[np.float32]
Ints = NDArray[np.int64]


class Places(NamedTuple):
    """Where the choices of one seat and street lie among the rows (fold, call, raise)."""

    at: Ints  # (starts, buckets, choices) in the flattened rows
    n: int  # choices


@lru_cache(maxsize=4)
def places_of(sizes: tuple[int, int, int, int]) -> tuple[tuple[Places, ...], tuple[Places, ...]]:
    """Places by seat and street."""
    offsets, where = layout_of(sizes).offsets, round_map(HEADS_UP)
    seats = []
    for seat in (0, 1):
        streets = []
        for street in range(N_STREETS):
            n = int((where.node[street][0, seat] >= 0).sum())
            first = offsets[where.node[street][:, seat, None, :n]] + np.arange(sizes[street])[None, :, None]
            streets.append(Places(N_ACTIONS * first + where.action[street][:, seat, None, :n], n))
        seats.append(tuple(streets))
    return seats[0], seats[1]


@njit
def _learn(
    seat: int, n: int, weight: float, game: Game, board: Board, desk: Desk, scratch: Scratch, tables: BucketTables
) -> float:
    """Boards from which only `seat` learns; returns the sum of its mean winnings."""
    total = 0.0
    for _ in range(n):
        deal_board(game.random, desk.cards)
        set_board(board, desk, tables)
        walk_preflop(seat, weight, game, board, scratch)
        total += root_value(seat, board, scratch)
    return total


class Workshop:
    """What all responders from one equilibrium (rows, 3) share: work space of the walks, one at a time (`lock`)."""

    def __init__(self, sizes: tuple[int, int, int, int], tables: BucketTables, equilibrium: Rows) -> None:
        self.sizes = sizes
        self.equilibrium = equilibrium
        self.anchors = tuple(
            tuple(
                np.float32(anchor * EVENNESS) * equilibrium.ravel()[place.at]
                for place, anchor in zip(seat, ANCHOR, strict=True)
            )
            for seat in places_of(sizes)
        )
        self.tables = tables
        self.lock = Lock()
        self.board, self.desk = new_board(max(sizes))
        self.scratch = new_scratch(max(sizes))
        self._averages = new_game(sizes, _THRESHOLDS, 0)  # of nobody: answers have no use for averages

    def new_game(self, seed: int) -> Game:
        """Tables of zeros."""
        game, spare = new_game(self.sizes, _THRESHOLDS, seed), self._averages
        return game._replace(
            preflop=game.preflop._replace(averages=spare.preflop.averages),
            flop=game.flop._replace(averages=spare.flop.averages),
            turn=game.turn._replace(averages=spare.turn.averages),
            river=game.river._replace(averages=spare.river.averages),
        )


class Responder:
    """Learns an answer for both seats; `triple` is the answer so far."""

    def __init__(self, workshop: Workshop, seed: int) -> None:
        self.n_boards = [0.0, 0.0]  # walked with each seat, fading
        self.won_sb = [0.0, 0.0]  # on them, by the habits of their time
        self._workshop = workshop
        self._games = tuple(workshop.new_game(seed + seat) for seat in (0, 1))
        self._places = places_of(workshop.sizes)
        self._offsets: list[int] = layout_of(workshop.sizes).offsets.tolist()

    def face(self, habits: Rows) -> None:
        """Exchange the opponent's habits; what was learned against the old ones fades."""
        flat = habits.ravel()
        for seat, game in enumerate(self._games):
            self.n_boards[seat] *= FADING
            self.won_sb[seat] *= FADING
            streets = (game.preflop, game.flop, game.turn, game.river)
            for street, table in enumerate(streets):
                own, other = self._places[seat][street], self._places[1 - seat][street]
                table.regrets[:, 1 - seat, :, : other.n] = flat[other.at]
                kept = table.regrets[:, seat, :, : own.n]
                kept *= np.float32(FADING)
                kept += np.float32(1.0 - FADING) * self._workshop.anchors[seat][street]

    def learn(self, seat: int, n_boards: int) -> None:
        """Walk some boards for one seat."""
        shop = self._workshop
        with shop.lock:
            won = _learn(seat, n_boards, 1.0, self._games[seat], shop.board, shop.desk, shop.scratch, shop.tables)
        self.n_boards[seat] += n_boards
        self.won_sb[seat] += won

    @property
    def value(self) -> float:
        """What the answer won from the habits it faced, sb a hand."""
        return sum(won / max(n, 1.0) for won, n in zip(self.won_sb, self.n_boards, strict=True)) / 2.0

    def triple(self, point: int, bucket: int) -> tuple[float, float, float]:
        """Fold, call and raise at a decision point: in proportion to positive regret, else as the equilibrium."""
        street, start, seat, place, legal = choices_of(point)
        game = self._games[seat]
        table = (game.preflop, game.flop, game.turn, game.river)[street]
        wanted = np.maximum(table.regrets[start, seat, bucket, place : place + len(legal)], 0.0).tolist()
        total = sum(wanted)
        found = [0.0, 0.0, 0.0]
        if total <= 0.0:
            found = self._workshop.equilibrium[self._offsets[point] + bucket].tolist()
            return found[0], found[1], found[2]
        for action, regret in zip(legal, wanted, strict=True):
            found[action] = regret / total
        return found[0], found[1], found[2]


@lru_cache(maxsize=1)
def _choice_map() -> dict[int, tuple[int, int, int, int, tuple[int, ...]]]:
    where = round_map(HEADS_UP)
    found = {}
    for street in range(N_STREETS):
        for start, seats in enumerate(where.node[street]):
            for seat in (0, 1):
                for _, place, legal in nodes_of(street, seat):
                    found[int(seats[seat, place])] = (street, start, seat, place, legal)
    return found


def choices_of(point: int) -> tuple[int, int, int, int, tuple[int, ...]]:
    """Street, start, seat, first place in the row and actions of a decision point."""
    return _choice_map()[point]
