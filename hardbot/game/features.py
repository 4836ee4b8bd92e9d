"""HS, E, E2, PPot and NPot: the one definition in the project.

For a hole hand on a board, over all opponent hands that share no card with either (1,081 on the flop, 1,035 on the
turn, 990 on the river), each counted once or with its weight in a range:

    HS = (ahead + tied / 2) / (ahead + tied + behind), cards as they lie now
    HP[now][final] = pairs of opponent and run-out that go from ahead, tied, behind now to ahead, tied, behind then
    PPot = (HP[behind][ahead] + HP[behind][tied] / 2 + HP[tied][ahead] / 2) / (Tot[behind] + Tot[tied] / 2)
    NPot = (HP[ahead][behind] + HP[tied][behind] / 2 + HP[ahead][tied] / 2) / (Tot[ahead] + Tot[tied] / 2)
    E = mean over the next card f of w(f), E2 = mean over f of w(f)^2

where w(f) is the chance of winning (ties half) after f, over opponents and the rest of the run-out. Against a weighted
range a next card counts with the weight of the opponents it leaves possible, so that E is the weighted equity. A zero
denominator gives 0; on the river both potentials are 0, E = HS and E2 = HS^2. `ppot1`, `npot1` look one card ahead.

HS, PPot and NPot: D. Billings, A. Davidson, J. Schaeffer and D. Szafron, "The Challenge of Poker", Artificial
Intelligence 134 (2002). E and E2 (expected hand strength, squared): M. Johanson, "Robust Strategies and
Counter-Strategies", University of Alberta (2007). `all_hands` gives every hand of a board, `Outlook` one hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import CardError
from hardbot.game.cards import HOLE_CARDS, N_HOLES, check_distinct
from hardbot.game.feature_kernels import board_counts, board_moments, live_cards
from hardbot.game.outcome_kernels import hand_outcomes

FEATURE_COLUMNS = ("hs", "e", "e2", "ppot", "npot", "ppot1", "npot1")
AHEAD, TIED, BEHIND = 0, 1, 2
Floats = NDArray[np.float64]


class Strength(NamedTuple):
    """Features of one hand against a range."""

    hs: float
    ppot: float
    npot: float
    e: float
    e2: float
    ppot1: float
    npot1: float

    @property
    def ehs(self) -> float:
        """Effective hand strength, to bet: HS + (1 - HS) PPot."""
        return self.hs + (1.0 - self.hs) * self.ppot

    @property
    def p_win(self) -> float:
        """Chance of winning, to call: HS (1 - NPot) + (1 - HS) PPot."""
        return self.hs * (1.0 - self.npot) + (1.0 - self.hs) * self.ppot


@dataclass(frozen=True, slots=True)
class HandFeatures:
    """One hand against all opponents alike, with the counts behind the numbers."""

    ahead: int
    tied: int
    behind: int
    hs: float
    e: float
    e2: float
    ppot: float
    npot: float
    ppot1: float
    npot1: float
    hp: tuple[tuple[int, int, int], ...]  # rows: now, columns: at the river


@dataclass(frozen=True, slots=True)
class BoardFeatures:
    """All hole hands of a board; rows of hands that share a card with it hold -1 or NaN."""

    now: NDArray[np.int64]  # (1326, 3) opponents the hand is ahead of, tied with, behind
    hp: NDArray[np.int64]  # (1326, 3, 3)
    hp_next: NDArray[np.int64]  # (1326, 3, 3) one card ahead
    values: Floats  # (1326, 7) FEATURE_COLUMNS


class Outlook:
    """Outcomes of one hand on one board, kept apart by opponent, so that any range can be applied.

    Making one costs about a millisecond on the flop (three with `moments`, which E2 needs); `strength` of a range is
    then a handful of products.
    """

    __slots__ = ("_after", "_final", "_left", "_points", "board", "hole", "holes", "now")

    def __init__(self, hole: Sequence[int], board: Sequence[int], *, moments: bool = True) -> None:
        check_position(hole, board)
        self.hole, self.board = (int(hole[0]), int(hole[1])), tuple(board)
        n_live = 50 - len(board)
        m = n_live * (n_live - 1) // 2
        self.holes = np.empty(m, dtype=np.int32)
        self.now = np.empty(m, dtype=np.uint8)
        after, final = np.zeros((m, 3), dtype=np.int32), np.zeros((m, 3), dtype=np.int32)
        points, cards = np.zeros((n_live if moments else 0, m), dtype=np.int32), np.zeros(n_live, dtype=np.uint8)
        hand_outcomes(
            np.array(hole, dtype=np.uint8),
            np.array(board, dtype=np.uint8),
            self.holes,
            self.now,
            after,
            final,
            points,
            cards,
        )
        self._after, self._final, self._points = after, final, points
        self._left: NDArray[np.bool_] | None = None  # (cards, m) opponents that each next card leaves possible
        if moments:
            own = HOLE_CARDS[self.holes]
            self._left = (own[:, 0] != cards[:, None]) & (own[:, 1] != cards[:, None])

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Opponents (3,) the hand is ahead of, tied with and behind; HP (3, 3) to the river and one card ahead."""
        now = np.bincount(self.now, minlength=3)
        hp, hp_next = np.zeros((3, 3), dtype=np.int64), np.zeros((3, 3), dtype=np.int64)
        for side in range(3):
            hp[side] = self._final[self.now == side].sum(axis=0)
            hp_next[side] = self._after[self.now == side].sum(axis=0)
        return now, hp, hp_next

    def opponent_equity(self) -> Floats:
        """Chance of winning (ties half) against every opponent hand (1326,), NaN for those that cannot be."""
        equity = np.full(N_HOLES, np.nan)
        if len(self.board) == 5:
            equity[self.holes] = 1.0 - 0.5 * self.now
        else:
            equity[self.holes] = (self._final[:, 0] + 0.5 * self._final[:, 1]) / self._final.sum(axis=1)
        return equity

    def strength(self, weights: Floats) -> Strength:
        """Features against a range: `weights` (1326,) need not be normalised, impossible hands are left out.

        Without `moments` E2 is NaN.
        """
        w = weights[self.holes]
        total = float(w.sum())
        if not total > 0.0:
            raise CardError(f"expected a range with a possible hand against {self.hole} on {self.board}, got none")
        now = np.bincount(self.now, weights=w, minlength=3)
        hs = float(now[AHEAD] + now[TIED] / 2) / total
        if len(self.board) == 5:
            return Strength(hs, 0.0, 0.0, hs, hs * hs, 0.0, 0.0)
        by_side = np.zeros((3, len(w)))
        by_side[self.now, np.arange(len(w))] = w
        ppot, npot = _potentials(by_side @ self._final)
        ppot1, npot1 = (ppot, npot) if len(self.board) == 4 else _potentials(by_side @ self._after)
        e, e2 = self._moments(w, total)
        return Strength(hs, ppot, npot, e, e2, ppot1, npot1)

    def _moments(self, w: Floats, total: float) -> tuple[float, float]:
        if self._left is None:
            wins = self._final[:, 0] + 0.5 * self._final[:, 1]
            return float(w @ wins) / (total * int(self._final[0].sum())), float("nan")
        left = self._left @ w  # a next card counts with the weight it leaves possible
        won = self._points @ w / (2.0 if len(self.board) == 4 else 2.0 * (len(self._left) - 3))
        share = np.divide(won, left, out=np.zeros_like(won), where=left > 0.0)
        return float(left @ share / left.sum()), float(left @ share**2 / left.sum())


def _potentials(hp: Floats) -> tuple[float, float]:
    """PPot and NPot of HP (3, 3)."""
    behind, ahead, tied = hp[BEHIND].sum(), hp[AHEAD].sum(), hp[TIED].sum()
    up = hp[BEHIND, AHEAD] + hp[BEHIND, TIED] / 2 + hp[TIED, AHEAD] / 2
    down = hp[AHEAD, BEHIND] + hp[TIED, BEHIND] / 2 + hp[AHEAD, TIED] / 2
    up_of, down_of = behind + tied / 2, ahead + tied / 2
    return (float(up / up_of) if up_of > 0 else 0.0), (float(down / down_of) if down_of > 0 else 0.0)


def check_position(hole: Sequence[int], board: Sequence[int]) -> None:
    """Raise CardError unless there are two hole cards and a board of 3, 4 or 5, all different."""
    if len(hole) != 2 or len(board) not in (3, 4, 5):
        raise CardError(f"expected two hole cards and a board of 3, 4 or 5, got {len(hole)} and {len(board)}")
    check_distinct((*hole, *board))


@lru_cache(maxsize=256)
def _outlook(hole: tuple[int, int], board: tuple[int, ...]) -> Outlook:
    return Outlook(hole, board)


def hand_features(hole: Sequence[int], board: Sequence[int]) -> HandFeatures:
    """Exact features of one hand against one opponent who may hold anything."""
    check_position(hole, board)
    outlook = _outlook((int(hole[0]), int(hole[1])), tuple(board))
    now, hp, _ = outlook.counts()
    found = outlook.strength(UNIFORM)
    ahead, tied, behind = (int(n) for n in now)
    cells = tuple((int(row[0]), int(row[1]), int(row[2])) for row in hp)
    return HandFeatures(
        ahead=ahead,
        tied=tied,
        behind=behind,
        hs=found.hs,
        e=found.e,
        e2=found.e2,
        ppot=found.ppot,
        npot=found.npot,
        ppot1=found.ppot1,
        npot1=found.npot1,
        hp=cells,
    )


def weighted_strength(hole: Sequence[int], board: Sequence[int], weights: Floats) -> Strength:
    """Features of one hand against a range of 1,326 weights; the last few positions asked for are remembered."""
    check_position(hole, board)
    return _outlook((int(hole[0]), int(hole[1])), tuple(board)).strength(weights)


def all_hands(board: Sequence[int]) -> BoardFeatures:
    """Exact features of every hole hand on a board of 3, 4 or 5 cards against one opponent who may hold anything."""
    if len(board) not in (3, 4, 5):
        raise CardError(f"expected a board of 3, 4 or 5 cards, got {len(board)}")
    check_distinct(board)
    cards = np.array(board, dtype=np.uint8)
    now, cells, cells_next, points = empty_counts(len(board))
    board_counts(cards, now, cells, cells_next, points)
    holes = _live_holes(cards)
    found = BoardFeatures(
        np.full((N_HOLES, 3), -1),
        np.full((N_HOLES, 3, 3), -1),
        np.full((N_HOLES, 3, 3), -1),
        np.full((N_HOLES, 7), np.nan),
    )
    found.now[holes] = now
    found.hp[holes] = cells.reshape(-1, 3, 3)
    found.hp_next[holes] = cells_next.reshape(-1, 3, 3)
    found.values[holes] = feature_values(len(board), now, cells, cells_next, points)
    return found


def equity_moments(board: Sequence[int]) -> Floats:
    """E and E2 (1326, 2) of every hole hand on a board of 3, 4 or 5 cards, NaN for hands that share a card with it.

    The same numbers as `all_hands`, several times as fast where nothing else is wanted.
    """
    if len(board) not in (3, 4, 5):
        raise CardError(f"expected a board of 3, 4 or 5 cards, got {len(board)}")
    check_distinct(board)
    cards = np.array(board, dtype=np.uint8)
    points = empty_counts(len(board))[3]
    board_moments(cards, points)
    found = np.full((N_HOLES, 2), np.nan)
    holes = _live_holes(cards)
    if len(board) == 5:
        e = points[:, 0] / (2.0 * 990.0)
        found[holes] = np.stack([e, e * e], axis=1)
    else:
        n_next = 50 - len(board)
        full = float(points_of_a_sure_win(len(board)))
        found[holes] = points / np.array([n_next * full, n_next * full**2])
    return found


def points_of_a_sure_win(n_board: int) -> int:
    """Points of a hand that wins every run-out after one next card."""
    n_next = 50 - n_board
    return (n_next - 1) * (n_next - 2) * (n_next - 3 if n_board == 3 else 1)


def empty_counts(n_board: int) -> tuple[Any, Any, Any, Any]:
    """Arrays for `board_counts` on a board of this size: now, cells, cells_next, points."""
    n_live = 52 - n_board
    n = n_live * (n_live - 1) // 2
    return tuple(np.zeros((n, width), dtype=np.int64) for width in (3, 9, 9, 2))  # type: ignore[return-value]


def _live_holes(board: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Hole indices of the hands `board_counts` numbers, in its order."""
    live = np.empty(52, dtype=np.uint8)
    cards = live[: live_cards(board, live)].astype(np.int64)
    high, low = np.tril_indices(len(cards), -1)
    a, b = cards[high], cards[low]
    holes: NDArray[np.int64] = a * (a - 1) // 2 + b
    return holes


def feature_values(
    n_board: int,
    now: NDArray[np.int64],
    cells: NDArray[np.int64],
    cells_next: NDArray[np.int64],
    points: NDArray[np.int64],
) -> Floats:
    """Rows of FEATURE_COLUMNS (n, 7) from the counts of `board_counts`."""
    hs = (now[:, 0] + now[:, 1] / 2) / now.sum(axis=1)
    values = np.zeros((len(now), len(FEATURE_COLUMNS)))
    values[:, 0] = hs
    if n_board == 5:
        values[:, 1], values[:, 2] = hs, hs * hs
        return values
    n_next = 50 - n_board
    full = (
        (n_next - 1) * (n_next - 2) * (n_next - 3 if n_board == 3 else 1)
    )  # points if all were won after one next card
    values[:, 1] = points[:, 0] / (n_next * full)
    values[:, 2] = points[:, 1] / (n_next * float(full) ** 2)
    values[:, 3], values[:, 4] = _all_potentials(cells)
    values[:, 5], values[:, 6] = _all_potentials(cells_next)
    return values


def _all_potentials(cells: NDArray[np.int64]) -> tuple[Floats, Floats]:
    hp = cells.reshape(-1, 3, 3)
    total = hp.sum(axis=2)
    up = hp[:, BEHIND, AHEAD] + hp[:, BEHIND, TIED] / 2 + hp[:, TIED, AHEAD] / 2
    down = hp[:, AHEAD, BEHIND] + hp[:, TIED, BEHIND] / 2 + hp[:, AHEAD, TIED] / 2
    up_of, down_of = total[:, BEHIND] + total[:, TIED] / 2, total[:, AHEAD] + total[:, TIED] / 2
    return (
        np.divide(up, up_of, out=np.zeros(len(hp)), where=up_of > 0),
        np.divide(down, down_of, out=np.zeros(len(hp)), where=down_of > 0),
    )


UNIFORM: Floats = np.ones(N_HOLES)
UNIFORM.setflags(write=False)
