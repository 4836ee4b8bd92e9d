"""Scores of hidden hands: range_bits against Poki's re-weighting, calibration, and the public likelihood.

Definitions are in score.py. Every hand is replayed once: weights over the 1,326 hole hands of each seat are
multiplied by the likelihood of each action, for the model and for the two forms of its peer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.game.cards import HOLE_CARDS, HOLE_CLASS, N_HOLES, compatible_holes
from hardbot.game.feature_tables import FEATURE_COLUMNS, features_on_board
from hardbot.game.rules import BOARD_SIZES, FOLD, N_STREETS, RAISE, STREET_NAMES
from hardbot.model.artifact import StreetModel, TrainedModel
from hardbot.model.context import street_contexts
from hardbot.model.likelihood import StreetLikelihood, nearest_centroids, standardise
from pipeline.dataset import Corpus
from pipeline.features import CLASS_MOMENTS
from pipeline.ranges import N_PAIRS, disjoint_weight

Floats = NDArray[np.float64]
N_BINS = 10
POKI_FLOOR = 0.01
POKI_DEFAULT = np.array([[0.0, 0.5, 0.5], [0.5, 0.3, 0.2]])  # unbet, one bet to call (heads-up there are never two)
OVERALL = "overall"
CARDS = "cards"
SOURCES = ("model", "poki", "poki_observed")
BASELINES = ("model", "context", "uniform")


@dataclass
class Mean:
    """Running mean of one figure."""

    total: float = 0.0
    n: int = 0

    def add(self, total: float, n: int = 1) -> None:
        """Add a sum of n values."""
        self.total += total
        self.n += n

    @property
    def value(self) -> float | None:
        """The mean, None of nothing."""
        return self.total / self.n if self.n else None


@lru_cache(maxsize=1)
def preflop_percentile() -> Floats:
    """Share of hole hands with less equity before the flop, ties half (1326,): Poki's v where there is no EHS."""
    e = CLASS_MOMENTS[HOLE_CLASS, 0]
    order = np.sort(e)
    percentile: Floats = (np.searchsorted(order, e, "left") + np.searchsorted(order, e, "right")) / (2.0 * N_HOLES)
    return percentile


def poki_factor(strength: Floats, action: int, frequencies: Floats) -> Floats:
    """Poki's likelihood of an action for hands of this strength; folds tell nothing."""
    if action == FOLD:
        return np.ones_like(strength)
    mu = 1.0 - frequencies[RAISE] if action == RAISE else frequencies[FOLD]
    s = max(0.4 * (1.0 - mu), 1e-3)
    factor: Floats = np.clip((strength - mu + s) / (2.0 * s), POKI_FLOOR, 1.0)
    return factor


def observed_frequencies(part: StreetModel) -> Floats:
    """P(fold, call, raise) of the model's corpus on a street, unbet and facing a bet (2, 3)."""
    facing = street_contexts(part.street).facing_bet
    counts = np.stack([part.context_counts[facing == bet].sum(axis=0, dtype=np.float64) for bet in (False, True)])
    counts += np.array([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    frequencies: Floats = counts / counts.sum(axis=1, keepdims=True)
    return frequencies


@dataclass
class RangeScores:
    """Sums over hands; `report` has the means."""

    bits: dict[str, dict[str, Mean]] = field(
        default_factory=lambda: {n: {s: Mean() for s in SOURCES} for n in (*STREET_NAMES, OVERALL)}
    )
    nats: dict[str, dict[str, Mean]] = field(
        default_factory=lambda: {n: {s: Mean() for s in BASELINES} for n in (*STREET_NAMES, CARDS, OVERALL)}
    )
    bins: Floats = field(default_factory=lambda: np.zeros(N_BINS))

    def report(self) -> dict[str, Any]:
        """Plain data for JSON."""
        share = self.bins / max(self.bins.sum(), 1.0)
        return {
            "range_bits": _means(self.bits),
            "public_nats": _means(self.nats),
            "calibration": {
                "expected": [1.0 / N_BINS] * N_BINS,
                "observed": [float(x) for x in share],
                "n": round(float(self.bins.sum())),
            },
        }


def _means(rows: dict[str, dict[str, Mean]]) -> dict[str, dict[str, float | int | None]]:
    return {name: {key: mean.value for key, mean in row.items()} | {"n": row["model"].n} for name, row in rows.items()}


class RangeScorer:
    """Replays hands and adds up what the model and its peer say about hidden cards."""

    def __init__(self, model: TrainedModel) -> None:
        self.model = model
        self.streets = [StreetLikelihood(part, model.floor) for part in model.streets]
        self.frequencies = [observed_frequencies(part) for part in model.streets]
        self.scores = RangeScores()
        self._tables: dict[tuple[int, int], Floats] = {}

    def add(self, corpus: Corpus, i: int) -> None:
        """Score hand i of the corpus."""
        replay = _Replay(corpus, i)
        before = self._log_pairs(replay)
        self._add_nats(CARDS, math.log(N_PAIRS[replay.n_board]) - before, {}, 0, replay.n_actions)
        for street in range(N_STREETS):
            rows = range(*replay.rows[street])
            if len(rows) == 0:
                continue
            ids, strength = self._hands_on(street, replay.board)
            blind, uniform = 0.0, 0.0
            for j in rows:
                blind_p, uniform_p = self._apply(replay, street, ids, strength, j)
                blind -= math.log(blind_p)
                uniform -= math.log(uniform_p)
            after = self._log_pairs(replay)
            baselines = {"context": blind, "uniform": uniform}
            self._add_nats(STREET_NAMES[street], before - after, baselines, len(rows), len(rows))
            before = after
            self._add_bits(STREET_NAMES[street], replay, street)
        self._add_bits(OVERALL, replay, replay.last_street)

    def _table(self, street: int, slot: int) -> Floats:
        found = self._tables.get((street, slot))
        if found is None:
            found = self._tables[street, slot] = self.streets[street].table(slot)
        return found

    def _hands_on(self, street: int, board: tuple[int, ...]) -> tuple[NDArray[np.int16], Floats]:
        """Bucket and Poki's strength of every hole hand."""
        if street == 0:
            return HOLE_CLASS, preflop_percentile()
        part = self.model.streets[street]
        features = features_on_board(board[: BOARD_SIZES[street]])
        ids = nearest_centroids(standardise(features, part.columns, part.mean, part.std), part.centroids)
        hs = features[:, FEATURE_COLUMNS.index("hs")].astype(np.float64)
        strength = hs + (1.0 - hs) * features[:, FEATURE_COLUMNS.index("ppot")]
        return ids, np.nan_to_num(strength)

    def _apply(
        self, replay: _Replay, street: int, ids: NDArray[np.int16], strength: Floats, j: int
    ) -> tuple[float, float]:
        """Multiply the actor's weights; returns the two baselines' probabilities of the action."""
        slot, action, seat = int(replay.slot[j]), int(replay.action[j]), int(replay.seat[j])
        contexts = street_contexts(street)
        table = self._table(street, slot)
        replay.weights["model"][seat] *= table[ids, action]
        bet = int(contexts.facing_bet[slot])
        for source, frequencies in (("poki", POKI_DEFAULT[bet]), ("poki_observed", self.frequencies[street][bet])):
            replay.weights[source][seat] *= poki_factor(strength, action, frequencies)
        return float(table[-1, action]), 1.0 / int(contexts.legal[slot].sum())

    def _log_pairs(self, replay: _Replay) -> float:
        """Log of the weight of all pairs of hands that agree with the board, the shown cards and the actions so far."""
        first, second = (replay.weights["model"][seat] * replay.possible[seat] for seat in (0, 1))
        return math.log(float(first @ disjoint_weight(second)))

    def _add_nats(self, name: str, nats: float, baselines: dict[str, float], actions: int, n: int) -> None:
        for key in BASELINES:
            value = nats if key == "model" else baselines.get(key, nats)
            self.scores.nats[name][key].add(value, n)
            self.scores.nats[OVERALL][key].add(value, actions)

    def _add_bits(self, name: str, replay: _Replay, street: int) -> None:
        board = replay.board[: BOARD_SIZES[street]]
        for seat in (0, 1):
            hole = replay.holes[seat]
            if hole < 0:
                continue
            watcher = replay.holes[1 - seat]
            dead = board if watcher < 0 else (*board, *(int(card) for card in HOLE_CARDS[watcher]))
            alive = compatible_holes(dead)
            for source in SOURCES:
                posterior = np.where(alive, replay.weights[source][seat], 0.0)
                posterior /= posterior.sum()
                self.scores.bits[name][source].add(math.log2(posterior[hole] * int(alive.sum())))
                if name == OVERALL and source == "model":
                    self._add_level(posterior, hole)

    def _add_level(self, posterior: Floats, hole: int) -> None:
        """Spread the true hand over the bins of posterior mass its tie covers."""
        own = posterior[hole]
        tied = np.isclose(posterior, own, rtol=1e-9, atol=0.0)
        start = float(posterior[(posterior > own) & ~tied].sum())
        end = min(1.0, start + float(posterior[tied].sum()))
        edges = np.linspace(0.0, 1.0, N_BINS + 1)
        covered = np.clip(np.minimum(end, edges[1:]) - np.maximum(start, edges[:-1]), 0.0, None)
        if covered.sum() > 0:
            self.scores.bins += covered / covered.sum()


class _Replay:
    """One hand's arrays, and the weights of both seats for every source."""

    def __init__(self, corpus: Corpus, i: int) -> None:
        part = slice(int(corpus.first[i]), int(corpus.first[i + 1]))
        street = corpus.street[part]
        self.slot, self.seat, self.action = corpus.slot[part], corpus.seat[part], corpus.action[part]
        self.n_actions = len(street)
        self.rows = [
            (int(np.searchsorted(street, s, "left")), int(np.searchsorted(street, s, "right")))
            for s in range(N_STREETS)
        ]
        self.board = tuple(int(card) for card in corpus.board[i] if card >= 0)
        self.n_board = len(self.board)
        self.last_street = BOARD_SIZES.index(self.n_board)
        self.holes = [int(hole) for hole in corpus.holes[i]]
        free = compatible_holes(self.board)
        self.possible = [free if hole < 0 else free & (np.arange(N_HOLES) == hole) for hole in self.holes]
        self.weights = {source: np.ones((2, N_HOLES)) for source in SOURCES}
