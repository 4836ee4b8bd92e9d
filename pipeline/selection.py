"""Choosing k, kernel width and shrinkage by held-out likelihood, and keeping the curve.

Fitted on the training hands, judged on the validation hands (dataset.split); the test hands that a published score is
measured on take no part. With all cards known the likelihood falls apart into streets, and each is searched on
its own over the whole grid of k and width, then over the pseudo-counts one at a time. With hidden cards every point
needs an expectation-maximisation over whole hands: k, width and pseudo-counts are then shared by the streets after the
flop and searched one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.game.cards import HOLE_CLASS
from hardbot.game.rules import N_STREETS, STREET_NAMES
from hardbot.model.context import N_LEVELS, street_contexts
from hardbot.model.likelihood import StreetLikelihood
from pipeline.buckets import Buckets, fit_buckets
from pipeline.dataset import Corpus
from pipeline.em import (
    Expectation,
    StreetKernel,
    bucket_sample,
    fit_model,
    known_counts,
    public_nats,
    street_kernel,
    street_model,
)
from pipeline.kernel import context_counts
from pipeline.score import taken_probabilities
from pipeline.settings import GRID_FLOOR, GRID_K, GRID_TAU, GRID_WIDTH, ModelSettings, StreetSettings

Progress = Callable[[str, int, int], None]
AllBuckets = tuple[Buckets | None, ...]
_EM_SEARCH_ITERATIONS = 8


@dataclass(frozen=True)
class Grid:
    """What is tried."""

    k: tuple[int, ...] = GRID_K
    width: tuple[float, ...] = GRID_WIDTH
    tau: tuple[float, ...] = GRID_TAU
    floor: tuple[float, ...] = GRID_FLOOR


@dataclass
class Curve:
    """Every point tried: what was varied and the validation nats an action."""

    points: list[dict[str, Any]] = field(default_factory=list)

    def add(self, street: str, varied: str, settings: StreetSettings, floor: float, nats: float) -> None:
        """Remember a point."""
        row = {"street": street, "varied": varied, "k": settings.k, "width": settings.width, "nats": round(nats, 6)}
        self.points.append(row | {"taus": list(settings.taus), "tau_class": settings.tau_class, "floor": floor})


def fit_all_buckets(corpus: Corpus, settings: ModelSettings, progress: Progress | None = None) -> AllBuckets:
    """Buckets of the streets after the flop; None preflop."""
    found: list[Buckets | None] = [None]
    for street in range(1, N_STREETS):
        sample = bucket_sample(corpus, street, settings.seed)
        found.append(fit_buckets(street, sample, settings.streets[street].k, settings.seed, settings.columns))
        if progress is not None:
            progress("buckets", street, N_STREETS - 1)
    return tuple(found)


def choose_settings(
    train: Corpus, validation: Corpus, start: ModelSettings, grid: Grid | None = None, progress: Progress | None = None
) -> tuple[ModelSettings, list[dict[str, Any]]]:
    """The best settings of the grid, and the points tried."""
    grid, curve = grid or Grid(), Curve()
    if train.is_complete and validation.is_complete:
        chosen = _choose_by_street(train, validation, start, grid, curve, progress)
    else:
        chosen = _choose_jointly(train, validation, start, grid, curve, progress)
    return chosen, curve.points


def _choose_by_street(
    train: Corpus,
    validation: Corpus,
    settings: ModelSettings,
    grid: Grid,
    curve: Curve,
    progress: Progress | None,
) -> ModelSettings:
    searches = [_StreetSearch(street, train, validation, settings, curve) for street in range(N_STREETS)]
    for done, search in enumerate(searches):
        search.over_buckets(grid.k if search.street else (settings.streets[0].k,), grid.width)
        search.over_taus(grid.tau)
        if progress is not None:
            progress("grid", done + 1, N_STREETS)
    streets = tuple(search.best for search in searches)
    totals = [sum(search.total_nats(floor) for search in searches) for floor in grid.floor]
    return replace(settings, streets=streets, floor=grid.floor[int(np.argmin(totals))])


class _StreetSearch:
    """Search of one street when all cards are known."""

    def __init__(self, street: int, train: Corpus, validation: Corpus, settings: ModelSettings, curve: Curve) -> None:
        self.street, self.train, self.settings, self.curve = street, train, settings, curve
        self.sample = bucket_sample(train, street, settings.seed) if street else None
        rows = np.flatnonzero(validation.street == street)
        self.slots, self.actions = validation.slot[rows], validation.action[rows]
        self.features, self.holes = validation.features[rows], validation.hole[rows]
        at_street = train.street == street
        self.contexts = context_counts(train.slot[at_street], train.action[at_street], street_contexts(street).n_slots)
        self.best = settings.streets[street]
        self.best_nats = np.inf
        self._counts: NDArray[np.float64]
        self._kernel: StreetKernel
        self._own: NDArray[np.int16]

    def over_buckets(self, ks: Iterable[int], widths: Iterable[float]) -> None:
        """Try every k with every width."""
        kept = None
        for k in ks:
            buckets = None
            if self.sample is not None:
                buckets = fit_buckets(self.street, self.sample, k, self.settings.seed, self.settings.columns)
            own = HOLE_CLASS[self.holes] if buckets is None else buckets.assign(self.features)
            for width in widths:
                trial = replace(self.settings.streets[self.street], k=k, width=width)
                kernel = street_kernel(
                    self.street, self.train, buckets, self.settings.with_street(self.street, k=k, width=width)
                )
                counts = known_counts(self.train, self.street, kernel, buckets)
                if self._try("k, width", trial, (counts, kernel, own)):
                    kept = (counts, kernel, own)
        assert kept is not None, "an empty grid"
        self._counts, self._kernel, self._own = kept

    def over_taus(self, taus: Sequence[float]) -> None:
        """Vary the pseudo-counts one level at a time, coarse to fine, twice."""
        state = (self._counts, self._kernel, self._own)
        for _ in range(2):
            for level in reversed(range(N_LEVELS)):
                for tau in taus:
                    levels = tuple(tau if i == level else old for i, old in enumerate(self.best.taus))
                    self._try(f"tau {level}", replace(self.best, taus=levels), state)
            if self.street == 0:
                for tau in taus:
                    self._try("tau class", replace(self.best, tau_class=tau), state)

    def total_nats(self, floor: float) -> float:
        """Sum over the validation decisions with the best settings."""
        return self._nats(self.best, floor, (self._counts, self._kernel, self._own)) * len(self.slots)

    def _try(
        self,
        varied: str,
        trial: StreetSettings,
        state: tuple[NDArray[np.float64], StreetKernel, NDArray[np.int16]],
    ) -> bool:
        nats = self._nats(trial, self.settings.floor, state)
        self.curve.add(STREET_NAMES[self.street], varied, trial, self.settings.floor, nats)
        if nats < self.best_nats:
            self.best, self.best_nats = trial, nats
            return True
        return False

    def _nats(
        self,
        trial: StreetSettings,
        floor: float,
        state: tuple[NDArray[np.float64], StreetKernel, NDArray[np.int16]],
    ) -> float:
        counts, kernel, own = state
        part = street_model(self.street, replace(kernel, settings=trial), counts, self.contexts)
        p = taken_probabilities(StreetLikelihood(part, floor), self.slots, own, self.actions)
        return float(-np.log(p).mean()) if len(p) else 0.0


def _choose_jointly(
    train: Corpus,
    validation: Corpus,
    settings: ModelSettings,
    grid: Grid,
    curve: Curve,
    progress: Progress | None,
) -> ModelSettings:
    search = _JointSearch(train, validation, settings, curve)
    shrinkage = [tuple([tau] * N_LEVELS) for tau in grid.tau]
    stages: list[tuple[str, list[Callable[[ModelSettings], ModelSettings]]]] = [
        ("k", [partial(_after_flop, k=k) for k in grid.k]),
        ("width", [partial(_after_flop, width=width) for width in grid.width]),
        ("preflop width", [partial(_preflop, width=width) for width in grid.width]),
        ("tau", [partial(_everywhere, taus=taus, tau_class=taus[0]) for taus in shrinkage]),
        ("floor", [partial(replace, floor=floor) for floor in grid.floor]),
    ]
    done, total = 0, sum(len(changes) for _, changes in stages)
    for varied, changes in stages:
        start = search.best
        for change in changes:
            search.try_settings(varied, change(start))
            done += 1
            if progress is not None:
                progress("grid", done, total)
    return replace(search.best, em_iterations=settings.em_iterations)


def _preflop(settings: ModelSettings, **changes: Any) -> ModelSettings:
    return settings.with_street(0, **changes)


def _everywhere(settings: ModelSettings, **changes: Any) -> ModelSettings:
    return _after_flop(_preflop(settings, **changes), **changes)


def _after_flop(settings: ModelSettings, **changes: Any) -> ModelSettings:
    for street in range(1, N_STREETS):
        settings = settings.with_street(street, **changes)
    return settings


class _JointSearch:
    """Search when cards are hidden: one fit by EM per point."""

    def __init__(self, train: Corpus, validation: Corpus, settings: ModelSettings, curve: Curve) -> None:
        self.train, self.validation, self.curve = train, validation, curve
        self.best, self.best_nats = settings, np.inf
        self._iterations = min(settings.em_iterations, _EM_SEARCH_ITERATIONS)
        self._prepared: dict[tuple[int, ...], tuple[AllBuckets, Expectation, Expectation]] = {}

    def try_settings(self, varied: str, trial: ModelSettings) -> None:
        """Fit, judge and remember."""
        trial = replace(trial, em_iterations=self._iterations)
        key = tuple(part.k for part in trial.streets)
        if key not in self._prepared:
            buckets = fit_all_buckets(self.train, trial)
            self._prepared = {k: v for k, v in self._prepared.items() if k == tuple(s.k for s in self.best.streets)}
            self._prepared[key] = buckets, Expectation(self.train, buckets), Expectation(self.validation, buckets)
        buckets, expectation, judge = self._prepared[key]
        model = fit_model(self.train, buckets, trial, expectation=expectation).model
        nats = public_nats(model, judge)
        self.curve.add("all", varied, trial.streets[1], trial.floor, nats)
        self.curve.points[-1]["preflop_width"] = trial.streets[0].width
        if nats < self.best_nats:
            self.best, self.best_nats = trial, nats


def plot_curve(points: Sequence[dict[str, Any]], path: Path) -> None:
    """Validation nats against k, one line per width and one panel per street, as an image (by the file's suffix)."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    rows = [row for row in points if row["varied"] in {"k, width", "k"} and row["street"] != STREET_NAMES[0]]
    streets = list(dict.fromkeys(row["street"] for row in rows))
    figure, axes = plt.subplots(1, max(1, len(streets)), figsize=(4.5 * max(1, len(streets)), 3.6), squeeze=False)
    for axis, street in zip(axes[0], streets, strict=False):
        for width in sorted({row["width"] for row in rows if row["street"] == street}):
            line = sorted((r["k"], r["nats"]) for r in rows if r["street"] == street and r["width"] == width)
            axis.plot([k for k, _ in line], [nats for _, nats in line], marker="o", label=f"width {width:g}")
        axis.set(title=street, xlabel="k", xscale="log", ylabel="held-out nats an action")
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)
