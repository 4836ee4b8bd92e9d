"""What each action is worth with this very hand on this very board, against habits and the range they imply.

A strategy over buckets plays every hand of a bucket alike and forgets the streets before. Here nothing of ours is
bucketed: the opponent's range is his actions of the whole hand explained by his habits, hand by hand,

    reach(h) = product of P(action | bucket of h, decision point),

and the betting that remains is walked to the end of the hand, our nodes taking the maximum, his following his habits
with every hand he may hold, all river cards dealt (expectimax over a learned model, as Vexbot does with histograms;
D. Billings et al., "Game-tree search with adaptation in stochastic imperfect-information games", Computers and Games
2004).

A betting round after the flop is bilinear in the two players' rows of reaches (`rounds`), so what his thirteen entries
are worth to us at showdowns and folds is one product of a row of masses by bucket with his rows by bucket, for every
river card; our maximum is then taken over some twenty numbers. All decisions of a street are valued at once, in a
millisecond or two on the turn and some microseconds on the river.
"""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import StrategyError
from hardbot.game.cards import HOLE_CARDS, N_CARDS, N_HOLES, compatible_holes, hole_index
from hardbot.game.jit import njit
from hardbot.game.rank_tables import N_RANKS
from hardbot.game.rules import CALL, HEADS_UP
from hardbot.solver.boards import N_RIVER_HANDS, score_board, sort_board
from hardbot.solver.cfr import reach_round
from hardbot.solver.lanes import N_LANES
from hardbot.solver.portrait import LEAST, layout_of
from hardbot.solver.rounds import (
    END_OF,
    FOLD_BETS,
    FOLD_SIGN,
    N_CHOICES,
    SHOWDOWN_BETS,
    round_map,
)

N_MEETINGS = 990  # hands the opponent may hold on the river
N_RIVER_CARDS = 44  # left for the river when both hands are known
N_DRAWS = 46  # that we do not see when it is dealt
BET = np.float32(2.0)  # sb, on turn and river
LEAST_MASS = np.float32(1e-30)
Rows = NDArray[np.float32]
Ints = NDArray[np.int64]
Hole = tuple[int, int]
Board = tuple[int, ...]


class Rivers(NamedTuple):
    """Opponent hands of river boards, from weak to strong. First axis: boards."""

    holes: NDArray[np.int16]  # (boards, 990) hole index
    buckets: NDArray[np.int16]  # (boards, 990)
    beaten: Ints  # (boards,) the first so many lose to our hand
    met: Ints  # (boards,) the first so many lose to it or tie


class Desk(NamedTuple):
    """Work space."""

    holes: Ints  # (1081,)
    order: Ints  # (1081, 3)
    scores: NDArray[np.int32]
    counts: NDArray[np.int32]
    masses: Rows  # (buckets, 2) won minus lost, and all
    sums: Rows  # (2, 16)
    p: Rows  # (buckets, 16) the opponent's choices in a round
    q: Rows  # (2, buckets, 16) his reaches within the round: turn, river
    reach: Rows  # (1326,) at the start of the river


class Places(NamedTuple):
    """Rows (fold, call, raise) of the choices of one street: (starts, 2 seats, 13), and the action of each."""

    first: Ints
    action: Ints
    stakes: Rows  # (starts,) sb
    n_buckets: int


@lru_cache(maxsize=4)
def _places(sizes: tuple[int, int, int, int], street: int) -> Places:
    where, offsets = round_map(HEADS_UP), layout_of(sizes).offsets
    node = where.node[street][:, :, :N_CHOICES].astype(np.int64)
    action = where.action[street][:, :, :N_CHOICES].astype(np.int64)
    return Places(offsets[node], action, where.stakes[street], sizes[street])


@njit
def _lay_river(cards: Ints, own: int, table: NDArray[np.int16], at: int, rivers: Rivers, desk: Desk) -> None:
    """Opponent hands of one river board (5,); `own` is our hole index, `table` the bucket of every score."""
    sort_board(cards, desk.holes, desk.order, desk.counts)
    score_board(desk.order, desk.scores)
    a, b = HOLE_CARDS[own, 0], HOLE_CARDS[own, 1]
    start = end = i = 0
    found = False
    while not found:  # our group of ties
        start, end = i, desk.order[i, 2]
        for j in range(start, end):
            found = found or desk.holes[j] == own
        i = end
    n = beaten = met = 0
    for i in range(N_RIVER_HANDS):
        if i == start:
            beaten = n
        if i == end:
            met = n
        c, d = desk.order[i, 0], desk.order[i, 1]
        if c != a and c != b and d != a and d != b:
            rivers.holes[at, n] = desk.holes[i]
            rivers.buckets[at, n] = table[desk.scores[i]]
            n += 1
    rivers.beaten[at] = beaten
    rivers.met[at] = met if end < N_RIVER_HANDS else n


@njit
def _take_habits(habits: Rows, places: Places, j: int, seat: int, p: Rows, q: Rows) -> None:
    """Fill p and q with choices and reaches of `seat` at start j."""
    first, action = places.first[j, seat], places.action[j, seat]
    for b in range(places.n_buckets):
        for k in range(13):
            p[b, k] = max(habits[first[k] + b, action[k]], np.float32(LEAST))
        reach_round(p, b, q, seat)


@njit
def _take_best(w: NDArray[np.float32], f: NDArray[np.float32], seat: int, values: NDArray[np.float32]) -> float:
    """Worth of our thirteen choices from the worth of the opponent's entries (shown or gone on; folded).

    Returns the worth of the round; each is weighted by the opponent's reach.
    """
    values[10], values[11], values[12] = f[4], w[4], f[5] + w[6]
    third = max(values[10], values[11], values[12])
    values[7], values[8], values[9] = f[1], w[1], f[2] + w[3] + third
    facing = max(values[7], values[8], values[9])
    values[5], values[6] = f[12], w[12]
    capped = max(values[5], values[6])
    values[2], values[3], values[4] = f[9], w[9], f[10] + w[11] + capped
    raised = max(values[2], values[3], values[4])
    values[0], values[1] = w[0], f[7] + w[8] + raised
    if seat == 0:
        values[0] += facing
        return float(max(values[0], values[1]))
    return float(max(values[0], values[1]) + facing)


@njit
def _per_visit(met: NDArray[np.float32], seat: int, everything: float, values: NDArray[np.float32]) -> None:
    """Divide each choice's worth by the mass that comes to it; met: masses of the opponent's entries."""
    opened = met[0] if seat == 1 else np.float32(everything)
    for k in range(13):
        came = opened if k < 2 else met[9] if k < 5 else met[12] if k < 7 else met[1] if k < 10 else met[4]
        values[k] /= max(came, LEAST_MASS)


@njit
def _sum_river(at: int, reach: Rows, rivers: Rivers, desk: Desk) -> None:
    """What each of the opponent's entries wins at showdowns (desk.sums[0], per sb) and its mass (desk.sums[1])."""
    masses, sums, q = desk.masses, desk.sums, desk.q[1]
    masses[:] = 0.0
    holes, buckets = rivers.holes[at], rivers.buckets[at]
    beaten, met = rivers.beaten[at], rivers.met[at]
    for i in range(beaten):
        mass = reach[holes[i]]
        masses[buckets[i], 0] += mass
        masses[buckets[i], 1] += mass
    for i in range(beaten, met):
        masses[buckets[i], 1] += reach[holes[i]]
    for i in range(met, N_MEETINGS):
        mass = reach[holes[i]]
        masses[buckets[i], 0] -= mass
        masses[buckets[i], 1] += mass
    sums[:] = 0.0
    for b in range(masses.shape[0]):
        mass = masses[b, 1]
        if mass > 0.0:
            won = masses[b, 0]
            for k in range(N_LANES):
                sums[0, k] += won * q[b, k]
                sums[1, k] += mass * q[b, k]


@njit
def _river_round(at: int, seat: int, stake: float, rivers: Rivers, desk: Desk, values: NDArray[np.float32]) -> float:
    """Worth of the river's betting on one board, from the sums there."""
    sums = desk.sums
    for k in range(13):
        sums[0, k] *= stake + SHOWDOWN_BETS[k] * BET
        sums[1, k] *= FOLD_SIGN[k] * (stake + FOLD_BETS[k] * BET)
    return _take_best(sums[0], sums[1], seat, values)


@njit
def _value_river(
    j: int, seat: int, reach: Rows, habits: Rows, river: Places, rivers: Rivers, desk: Desk, values: NDArray[np.float32]
) -> None:
    _take_habits(habits, river, j, 1 - seat, desk.p, desk.q[1])
    _sum_river(0, reach, rivers, desk)
    met = desk.sums[1].copy()
    _river_round(0, seat, river.stakes[j], rivers, desk, values)
    _per_visit(met, seat, reach.sum(), values)


@njit
def _sum_entries(reach: Rows, buckets: Ints, q: Rows, met: NDArray[np.float32]) -> None:
    """Masses of the opponent's entries on the turn."""
    met[:] = 0.0
    for h in range(reach.shape[0]):
        if reach[h] > 0.0:
            for k in range(N_LANES):
                met[k] += reach[h] * q[buckets[h], k]


@njit
def _go_on(reach: Rows, buckets: Ints, q: Rows, k: int, found: Rows) -> float:
    """Fill found with the range after his entry k; returns its mass."""
    total = 0.0
    for h in range(reach.shape[0]):
        found[h] = reach[h] * q[buckets[h], k] if reach[h] > 0.0 else np.float32(0.0)
        total += found[h]
    return total


@njit
def _value_turn(
    j: int,
    seat: int,
    buckets: Ints,
    reach: Rows,
    habits: Rows,
    turn: Places,
    river: Places,
    rivers: Rivers,
    desk: Desk,
    values: NDArray[np.float32],
) -> None:
    """Worth of the turn's choices over all river boards."""
    q = desk.q[0]
    _take_habits(habits, turn, j, 1 - seat, desk.p, q)
    w, f = np.zeros(N_LANES, dtype=np.float32), np.zeros(N_LANES, dtype=np.float32)
    met, spare = np.zeros(N_LANES, dtype=np.float32), np.zeros(N_LANES, dtype=np.float32)
    _sum_entries(reach, buckets, q, met)
    for k in range(13):
        f[k] = met[k] * FOLD_SIGN[k] * (turn.stakes[j] + FOLD_BETS[k] * BET)
        end = END_OF[seat, k]
        if end >= 0 and _go_on(reach, buckets, q, k, desk.reach) > 0.0:
            start = 9 * j + end
            _take_habits(habits, river, start, 1 - seat, desk.p, desk.q[1])
            total = 0.0
            for at in range(N_DRAWS):
                _sum_river(at, desk.reach, rivers, desk)
                total += _river_round(at, seat, river.stakes[start], rivers, desk, spare)
            w[k] = total / N_RIVER_CARDS
    _take_best(w, f, seat, values)
    _per_visit(met, seat, reach.sum(), values)


@njit
def _lay_rivers(cards: Ints, own: int, table: NDArray[np.int16], rivers: Rivers, desk: Desk) -> None:
    """Every river board after the first four cards (5,)."""
    dead = np.int64(1) << HOLE_CARDS[own, 0] | np.int64(1) << HOLE_CARDS[own, 1]
    for i in range(4):
        dead |= np.int64(1) << cards[i]
    at = 0
    for card in range(N_CARDS):
        if dead >> card & 1 == 0:
            cards[4] = card
            _lay_river(cards, own, table, at, rivers, desk)
            at += 1


@njit
def follow_range(reach: Rows, habits: Rows, first: int, buckets: Ints, action: int) -> None:
    """Multiply a range (1326,) by the likelihood of an action; `first` is the row of bucket 0 at the decision point."""
    for h in range(reach.shape[0]):
        if reach[h] > 0.0:
            reach[h] *= max(habits[first + buckets[h], action], np.float32(LEAST))


def _check_cards(hole: Hole, board: Board, n: int) -> None:
    """StrategyError unless there are n board cards and none is there twice."""
    if len(board) != n or len({*hole, *board}) != n + len(hole):
        raise StrategyError(f"expected {n} board cards and two others in hand, got {board} and {hole}")


class Lookahead:
    """Looks ahead on turn and river; the work space is used by one hand at a time.

    `start` numbers the betting before the street as `rounds` does; `reach` (1326,) is the opponent's range when the
    street begins, summing to 1, 0 for hands that share a card with ours or the board. What is returned is the worth
    (16,) of the street's thirteen choices in the places of `rounds`, sb from the start of the hand, if it comes to
    that.
    """

    def __init__(self, sizes: tuple[int, int, int, int], river_table: NDArray[np.int16]) -> None:
        self._table = river_table
        self._turn, self._river = _places(sizes, 2), _places(sizes, 3)
        self._rivers = Rivers(
            np.zeros((N_DRAWS, N_MEETINGS), dtype=np.int16),
            np.zeros((N_DRAWS, N_MEETINGS), dtype=np.int16),
            np.zeros(N_DRAWS, dtype=np.int64),
            np.zeros(N_DRAWS, dtype=np.int64),
        )
        most = max(sizes[2:])
        self._desk = Desk(
            np.zeros(N_RIVER_HANDS, dtype=np.int64),
            np.zeros((N_RIVER_HANDS, 3), dtype=np.int64),
            np.zeros(N_RIVER_HANDS, dtype=np.int32),
            np.zeros(N_RANKS + 2, dtype=np.int32),
            np.zeros((sizes[3], 2), dtype=np.float32),
            np.zeros((2, N_LANES), dtype=np.float32),
            np.zeros((most, N_LANES), dtype=np.float32),
            np.zeros((2, most, N_LANES), dtype=np.float32),
            np.zeros(N_HOLES, dtype=np.float32),
        )
        self._lock = Lock()

    def rehearse(self, habits: Rows) -> None:
        """Go through everything once, so that the machine code is there when a hand needs it."""
        board, hole, buckets = (0, 1, 2, 3, 4), (6, 5), np.zeros(N_HOLES, dtype=np.int64)
        reach = compatible_holes((*board, *hole)).astype(np.float32)
        follow_range(reach, habits, 0, buckets, CALL)
        self.turn(0, 0, hole, board[:4], reach, habits, buckets)
        self.river(0, 0, hole, board, reach, habits)

    def river(self, start: int, seat: int, hole: Hole, board: Board, reach: Rows, habits: Rows) -> Rows:
        """Worth of the river's choices."""
        _check_cards(hole, board, 5)
        found = np.zeros(N_LANES, dtype=np.float32)
        with self._lock:
            _lay_river(np.array(board, dtype=np.int64), hole_index(*hole), self._table, 0, self._rivers, self._desk)
            _value_river(start, seat, reach, habits, self._river, self._rivers, self._desk, found)
        return found

    def turn(self, start: int, seat: int, hole: Hole, board: Board, reach: Rows, habits: Rows, buckets: Ints) -> Rows:
        """Worth of the turn's choices; buckets (1326,) are those of all hands on this board."""
        _check_cards(hole, board, 4)
        found = np.zeros(N_LANES, dtype=np.float32)
        cards = np.array([*board, 0], dtype=np.int64)
        with self._lock:
            _lay_rivers(cards, hole_index(*hole), self._table, self._rivers, self._desk)
            _value_turn(start, seat, buckets, reach, habits, self._turn, self._river, self._rivers, self._desk, found)
        return found
