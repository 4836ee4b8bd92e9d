"""An opponent's habits, drawn from the hands of one match.

Habits are P(action | bucket, decision point) over the solver's buckets. A portrait begins as a *sketch* (habits of the
players it may resemble) and is corrected where the opponent is seen to differ, level by level from the coarsest context
to the decision point itself (model/context.py). With C the opponent's actions counted in a context and M what the
portrait so far expected of the same decisions,

    r(a | bucket) = (C + tau p) / (M + tau p),   p = M / sum_a M,
    P_new(a | bucket, point) ~ P(a | bucket, point) r(a | bucket)

which is the paper's opponent term, P(a | b, opponent) ~ P(a | b, corpus) P(a | opponent) / P(a | corpus), taken once a
level instead of once. Without observations every r is 1 and the portrait is the sketch; tau is how many observations
weigh as much as what is believed already. The first two levels do not look at cards: how often somebody folds and
raises is known long before with which hands. Counts of a bucket are pooled with those of its neighbours (a kernel).

Hands that were not shown are spread over all that the opponent may have held, in proportion to how well each explains
its actions by the portrait so far (expectation maximisation; Dempster, Laird and Rubin 1977). Older hands count less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import StrategyError
from hardbot.game.cards import HOLE_CARDS, N_HOLES
from hardbot.game.jit import njit
from hardbot.game.rules import HEADS_UP, N_STREETS
from hardbot.game.tree import betting_tree
from hardbot.model.context import N_ACTIONS, street_contexts
from hardbot.solver.abstraction import Abstraction
from hardbot.solver.rivals import bucket_kernel

MAX_STEPS = 12  # decisions of one player in a hand: three a street
MAX_HANDS = 4_000  # remembered, the newest ones
LEAST = 1e-3  # least likelihood of an action: a model is never surer than that
Floats = NDArray[np.float64]
Rows = NDArray[np.float32]
Ints = NDArray[np.int64]
_HOLE_BITS = (np.int64(1) << HOLE_CARDS[:, 0].astype(np.int64)) | (np.int64(1) << HOLE_CARDS[:, 1].astype(np.int64))


@dataclass(frozen=True)
class PortraitSettings:
    """How fast an opponent is believed to differ from the sketch."""

    tau_style: float = 10.0  # of how often it folds, calls and raises, over all streets
    tau_street: float = 10.0  # the same on one street
    taus: tuple[float, float, float, float] = (5.0, 5.0, 8.0, 15.0)  # with cards: to_call, street, raises, exact
    width: float = 0.04  # of the kernel over buckets, in units of equity
    floor: float = 0.05  # share of the uniform distribution in the sketch
    decay: float = 0.999  # of a hand's weight, by hand
    tau_trust: float = 20.0  # observations of a context for which the portrait is trusted half
    likeness: float = 0.02  # of an observation in another context of the next coarser level


@dataclass(frozen=True)
class Layout:
    """Where the rows (fold, call, raise) of a decision point lie, and its contexts."""

    sizes: tuple[int, int, int, int]
    offsets: Ints  # (points + 1,)
    first: tuple[int, ...]  # first decision point of each street, and the end
    legal: NDArray[np.bool_]  # (points, 3)
    styles: Ints  # (points,) which actions are legal, as a number
    levels: tuple[Ints, Ints, Ints]  # (points,) contexts of levels 3, 2, 1, numbered within the street
    n_contexts: NDArray[np.int64]  # (streets, 3)


@lru_cache(maxsize=4)
def layout_of(sizes: tuple[int, int, int, int]) -> Layout:
    """Layout of strategies over so many buckets by street; the same as `strategy.triples` has."""
    tree = betting_tree(HEADS_UP)
    n = tree.n_decisions
    streets = tree.street[:n].astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(np.array(sizes)[streets])]).astype(np.int64)
    contexts = [street_contexts(street) for street in range(N_STREETS)]
    legal = np.concatenate([part.legal[: part.n_nodes] for part in contexts])
    levels = [
        np.concatenate([part.level[level][: part.n_nodes] for part in contexts]).astype(np.int64) for level in (3, 2, 1)
    ]
    n_contexts = np.array([[part.sizes[level] for level in (3, 2, 1)] for part in contexts], dtype=np.int64)
    return Layout(
        sizes,
        offsets,
        tree.first_of_street,
        legal,
        legal @ np.array([1, 2, 4]),
        (levels[0], levels[1], levels[2]),
        n_contexts,
    )


@dataclass
class HandLog:
    """The opponent's decisions of the newest hands, with the bucket of every hand it may have held."""

    buckets: NDArray[np.int16]  # (hands, 4, 1326)
    points: Ints  # (hands, 12)
    actions: Ints  # (hands, 12)
    n_steps: Ints  # (hands,)
    dead: Ints  # (hands,) cards it cannot have held, as bits
    shown: Ints  # (hands,) hole hand, -1: not shown
    n_hands: int = 0  # ever added

    @classmethod
    def empty(cls) -> HandLog:
        """Room for a few hands; it grows."""
        return cls(
            np.zeros((0, N_STREETS, N_HOLES), dtype=np.int16),
            np.zeros((0, MAX_STEPS), dtype=np.int64),
            np.zeros((0, MAX_STEPS), dtype=np.int64),
            np.zeros(0, dtype=np.int64),
            np.zeros(0, dtype=np.int64),
            np.zeros(0, dtype=np.int64),
        )

    def _grow(self) -> None:
        room = min(max(64, 2 * len(self.shown)), MAX_HANDS)
        for name in ("buckets", "points", "actions", "n_steps", "dead", "shown"):
            old = getattr(self, name)
            new = np.zeros((room, *old.shape[1:]), dtype=old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)

    def add(self, points: Ints, actions: Ints, buckets: dict[int, NDArray[np.int64]], dead: int, shown: int) -> None:
        """A hand: decision points and actions in order, the buckets of all hole hands by street."""
        if len(points) > MAX_STEPS:
            raise StrategyError(f"expected at most {MAX_STEPS} decisions of a player in a hand, got {len(points)}")
        if self.n_hands >= len(self.shown) and len(self.shown) < MAX_HANDS:
            self._grow()
        at = self.n_hands % len(self.shown)
        for street, row in buckets.items():
            self.buckets[at, street] = row
        self.points[at, : len(points)], self.actions[at, : len(points)] = points, actions
        self.n_steps[at], self.dead[at], self.shown[at] = len(points), dead, shown
        self.n_hands += 1

    def weights(self, decay: float) -> Floats:
        """Weight of each hand in memory: 1 for the newest."""
        n = min(self.n_hands, len(self.shown))
        age = (self.n_hands - 1 - np.arange(n)) % max(len(self.shown), 1)
        found: Floats = decay ** age.astype(np.float64)
        return found


@njit
def _spread_hands(
    habits: Rows,
    offsets: Ints,
    streets: Ints,
    buckets: NDArray[np.int16],
    points: Ints,
    actions: Ints,
    n_steps: Ints,
    dead: Ints,
    shown: Ints,
    weights: Floats,
    hole_bits: Ints,
    counts: Rows,
) -> None:
    """Add every decision to counts (rows, 3), split over the hands that may have taken it."""
    p = np.empty(hole_bits.shape[0])
    for i in range(weights.shape[0]):
        total = 0.0
        for h in range(p.shape[0]):
            p[h] = 0.0
            if shown[i] == h or (shown[i] < 0 and hole_bits[h] & dead[i] == 0):
                p[h] = 1.0
                for j in range(n_steps[i]):
                    point = points[i, j]
                    row = offsets[point] + buckets[i, streets[point], h]
                    p[h] *= max(habits[row, actions[i, j]], LEAST)
                total += p[h]
        for h in range(p.shape[0]):
            share = p[h] / total * weights[i]
            if share > 0.0:
                for j in range(n_steps[i]):
                    point = points[i, j]
                    counts[offsets[point] + buckets[i, streets[point], h], actions[i, j]] += share


@njit
def _correct(
    sketch: Rows,
    first: int,
    last: int,
    k: int,
    start: int,
    blind: Floats,
    third: Floats,
    second: Floats,
    raises: Floats,
    level_3: Ints,
    level_2: Ints,
    level_1: Ints,
    found: Rows,
) -> None:
    """Habits of a street's decision points from the sketch and the corrections of every level but the last."""
    for point in range(first, last):
        for b in range(k):
            row = start + (point - first) * k + b
            total = 0.0
            for a in range(3):
                p = sketch[row, a] * blind[point - first, a]
                p *= third[level_3[point], b, a] * second[level_2[point], b, a] * raises[level_1[point], b, a]
                found[row, a] = p
                total += p
            for a in range(3):
                found[row, a] /= total


@njit
def _lean_towards(habits: Rows, otherwise: Rows, trust: Rows, offsets: Ints, found: Rows) -> None:
    """Habits with weight `trust` by decision point, others with the rest."""
    for point in range(trust.shape[0]):
        for row in range(offsets[point], offsets[point + 1]):
            for a in range(3):
                found[row, a] = otherwise[row, a] + trust[point] * (habits[row, a] - otherwise[row, a])


@njit
def add_rows(rows: Rows, share: float, found: Rows) -> None:
    """Found += share * rows, both (rows, 3)."""
    for row in range(rows.shape[0]):
        for a in range(3):
            found[row, a] += np.float32(share) * rows[row, a]


def _ratio(counted: Floats, expected: Floats, tau: float) -> Floats:
    """Corrections (..., 3) of counts against expectations of the same total."""
    total = expected.sum(axis=-1, keepdims=True)
    pseudo = tau * expected / np.where(total > 0.0, total, 1.0)
    found: Floats = np.where(expected > 0.0, (counted + pseudo) / np.where(expected > 0.0, expected + pseudo, 1.0), 1.0)
    return found


def _pooled(kernel: Floats, counts: Floats) -> Floats:
    """Counts (points, k, 3) in which neighbouring buckets count for each other: one large product, not many small."""
    n, k, actions = counts.shape
    found: Floats = (kernel @ counts.transpose(1, 0, 2).reshape(k, n * actions)).reshape(k, n, actions)
    return np.ascontiguousarray(found.transpose(1, 0, 2))


def _by_context(values: Floats, ids: Ints, n: int) -> Floats:
    sums = np.zeros((n, *values.shape[1:]))
    np.add.at(sums, ids, values)
    return sums


def _renormalised(p: Floats) -> Floats:
    found: Floats = p / p.sum(axis=-1, keepdims=True)
    return found


class Easel:
    """What all portraits over the same buckets share."""

    def __init__(self, abstraction: Abstraction, settings: PortraitSettings | None = None) -> None:
        self.settings = settings or PortraitSettings()
        self.layout = layout_of(abstraction.sizes)
        width = self.settings.width
        self.kernels = tuple(bucket_kernel(abstraction, street, width) for street in range(N_STREETS))
        self.streets = betting_tree(HEADS_UP).street.astype(np.int64)
        legal = self.layout.legal
        floor = self.settings.floor * legal / legal.sum(axis=1, keepdims=True)
        self._floor = np.repeat(floor.astype(np.float32), np.diff(self.layout.offsets), axis=0)

    def with_floor(self, sketch: Rows) -> Rows:
        """A sketch in which no legal action is impossible."""
        found = self._floor.copy()
        add_rows(sketch, 1.0 - self.settings.floor, found)
        return found


class Portrait:
    """Habits of one opponent, improved by `draw` from the hands seen so far."""

    def __init__(self, easel: Easel, sketch: Rows) -> None:
        self.easel = easel
        self.settings = easel.settings
        self.layout = easel.layout
        self.log = HandLog.empty()
        self.habits = easel.with_floor(sketch)

    def see(
        self, points: Sequence[int], actions: Sequence[int] | Ints, buckets: dict[int, Ints], dead: int, shown: int
    ) -> None:
        """Remember the opponent's decisions of a hand."""
        self.log.add(np.array(points, dtype=np.int64), np.array(actions, dtype=np.int64), buckets, dead, shown)

    def count_hands(self) -> Rows:
        """Decisions seen (rows, 3); hidden hands are judged by the habits so far."""
        log, counts = self.log, np.zeros_like(self.habits)
        _spread_hands(
            self.habits, self.layout.offsets, self.easel.streets, log.buckets, log.points, log.actions, log.n_steps,
            log.dead, log.shown, log.weights(self.settings.decay), _HOLE_BITS, counts,
        )  # fmt: skip
        return counts

    def draw(self, sketch: Rows) -> None:
        """Habits anew from a sketch and all hands in memory."""
        layout, counts = self.layout, self.count_hands()
        sketch = self.easel.with_floor(sketch)
        seen = self._seen_points()[0]
        style = self._style(sketch, counts, seen)
        for street in range(N_STREETS):
            here = seen[(seen >= layout.first[street]) & (seen < layout.first[street + 1])]
            self._draw_street(street, here, sketch, counts, style)

    def _seen_points(self) -> tuple[Ints, Floats]:
        """Decision points of the hands in memory, and how often each was seen, older hands counting less."""
        log, weights = self.log, self.log.weights(self.settings.decay)
        seen = np.arange(MAX_STEPS) < log.n_steps[: len(weights), None]
        times = np.broadcast_to(weights[:, None], seen.shape)[seen]
        n: Floats = np.zeros(len(self.layout.legal))
        np.add.at(n, log.points[: len(weights)][seen], times)
        return np.flatnonzero(n).astype(np.int64), n

    def cautious(self, otherwise: Rows, surprise: float = 1.0) -> Rows:
        """The portrait as far as it is borne out: where a context was seldom seen, other habits take its place.

        An answer to the bare portrait goes where nothing is known, because there the portrait, a guess, promises most;
        trust that grows with the observations keeps it from doing so (Johanson and Bowling, "Data Biased Robust Counter
        Strategies", AISTATS 2009). A context is one of level 1 (`raises`); others that agree in this street's actions
        count a little. `surprise` is how badly the portrait has foretold the opponent's actions, 1 as for a usual
        player, 0 for one who never does anything unexpected: he is trusted the sooner.
        """
        layout, n_points = self.layout, self._seen_points()[1]
        settings, trust = self.settings, np.zeros(len(self.layout.legal))
        for street in range(N_STREETS):
            here = slice(layout.first[street], layout.first[street + 1])
            same, alike = (
                np.bincount(level[here], weights=n_points[here])[level[here]] for level in layout.levels[:0:-1]
            )
            n = same + settings.likeness * alike
            trust[here] = n / (n + max(settings.tau_trust * surprise, LEAST))
        found = np.empty_like(self.habits)
        _lean_towards(self.habits, otherwise, trust.astype(np.float32), layout.offsets, found)
        return found

    def _block(self, rows: Rows, points: Ints, street: int) -> Floats:
        """Rows of some decision points of a street (points, k, 3)."""
        k = self.layout.sizes[street]
        at = self.layout.offsets[points][:, None] + np.arange(k)
        found: Floats = rows[at].astype(np.float64)
        return found

    def _style(self, sketch: Rows, counts: Rows, seen: Ints) -> Floats:
        """Corrections (8, 3) of how often the opponent takes each action, by what is legal, over all streets."""
        counted, expected = np.zeros((8, N_ACTIONS)), np.zeros((8, N_ACTIONS))
        for street in range(N_STREETS):
            here = seen[(seen >= self.layout.first[street]) & (seen < self.layout.first[street + 1])]
            taken, p = self._block(counts, here, street), self._block(sketch, here, street)
            np.add.at(counted, self.layout.styles[here], taken.sum(axis=1))
            np.add.at(expected, self.layout.styles[here], (taken.sum(axis=2, keepdims=True) * p).sum(axis=1))
        return _ratio(counted, expected, self.settings.tau_style)

    def _draw_street(self, street: int, seen: Ints, sketch: Rows, all_counts: Rows, style: Floats) -> None:
        layout, settings = self.layout, self.settings
        first, last, k = layout.first[street], layout.first[street + 1], layout.sizes[street]
        n_contexts = layout.n_contexts[street]
        counts = self._block(all_counts, seen, street)
        p = _renormalised(self._block(sketch, seen, street) * style[layout.styles[seen]][:, None, :])
        expected = (counts.sum(axis=2, keepdims=True) * p).sum(axis=1)
        ids = layout.levels[0][seen]
        level = _ratio(
            _by_context(counts.sum(axis=1), ids, n_contexts[0]), _by_context(expected, ids, n_contexts[0]),
            settings.tau_street,
        )  # fmt: skip
        blind = style[layout.styles[first:last]] * level[layout.levels[0][first:last]]
        p = _renormalised(p * level[ids][:, None, :])
        pooled = _pooled(self.easel.kernels[street], counts)
        tables = []
        for ids_of_all, n, tau in zip(layout.levels, n_contexts, settings.taus[:3], strict=True):
            ids = ids_of_all[seen]
            expected = pooled.sum(axis=2, keepdims=True) * p
            tables.append(_ratio(_by_context(pooled, ids, n), _by_context(expected, ids, n), tau))
            p = _renormalised(p * tables[-1][ids])
        _correct(
            sketch, first, last, k, int(layout.offsets[first]), blind, tables[0], tables[1], tables[2],
            layout.levels[0], layout.levels[1], layout.levels[2], self.habits,
        )  # fmt: skip
        if len(seen):
            expected = pooled.sum(axis=2, keepdims=True) * p
            p = _renormalised(p * _ratio(pooled, expected, settings.taus[3]))
            self.habits[layout.offsets[seen][:, None] + np.arange(k)] = p
