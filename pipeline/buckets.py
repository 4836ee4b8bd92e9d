"""k-means buckets of feature vectors, one set a street.

Vectors are standardised per street; a column that is constant there is dropped, and so is one that is a function of
the others (on the river E2 = E^2 and both potentials are 0, so the vector is E alone). Recipe (measured: best inertia
and fastest): fit on a sample of 100,000 vectors, then ten more iterations on everything. One thread and a seed make the
result reproducible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import ModelError
from hardbot.game.feature_tables import FEATURE_COLUMNS
from hardbot.game.rules import STREET_NAMES
from hardbot.model.likelihood import nearest_centroids, standardise

SAMPLE_SIZE = 100_000
FULL_ITERATIONS = 10
VECTOR_COLUMNS = ("e", "e2", "ppot", "npot")
FEATURE_SETS: dict[str, tuple[str, ...]] = {
    "e": ("e",),
    "e+e2": ("e", "e2"),
    "e+e2+potentials": VECTOR_COLUMNS,
    "e+e2+potentials+outs": (*VECTOR_COLUMNS, "ppot1", "npot1"),  # one-card potential: the share of outs
}
_FLAT = 1e-6  # a column with a smaller standard deviation is constant
_RIVER = 3


@dataclass(frozen=True)
class Buckets:
    """Centroids of one street, in standardised units."""

    street: int
    columns: tuple[str, ...]
    mean: NDArray[np.float32]
    std: NDArray[np.float32]
    centroids: NDArray[np.float32]  # (k, columns)

    @property
    def k(self) -> int:
        """Number of buckets."""
        return len(self.centroids)

    def vectors(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Standardised vectors of rows of FEATURE_COLUMNS."""
        return standardise(features, self.columns, self.mean, self.std)

    def assign(self, features: NDArray[np.float32]) -> NDArray[np.int16]:
        """Nearest bucket of each row."""
        return nearest_centroids(self.vectors(features), self.centroids)


def useful_columns(street: int, features: NDArray[np.float32], columns: Sequence[str]) -> tuple[str, ...]:
    """Columns that vary on this street; on the river E2 says nothing that E does not."""
    kept = []
    for name in columns:
        spread = float(features[:, FEATURE_COLUMNS.index(name)].std(dtype=np.float64))
        if spread > _FLAT and not (street == _RIVER and name == "e2" and "e" in columns):
            kept.append(name)
    return tuple(kept)


def fit_buckets(
    street: int, features: NDArray[np.float32], k: int, seed: int, columns: Sequence[str] = VECTOR_COLUMNS
) -> Buckets:
    """k-means over rows of FEATURE_COLUMNS; k is cut to the number of different vectors."""
    if k < 1:
        raise ModelError(f"expected k >= 1 buckets on the {STREET_NAMES[street]}, got {k}")
    if not len(features):
        raise ModelError(f"expected decisions with known cards on the {STREET_NAMES[street]}, got none")
    kept = useful_columns(street, features, columns)
    if not kept:  # a single kind of hand: one bucket at its place
        kept = (columns[0],)
    raw = features[:, [FEATURE_COLUMNS.index(name) for name in kept]]
    mean = raw.mean(axis=0, dtype=np.float64).astype(np.float32)
    std = raw.std(axis=0, dtype=np.float64).astype(np.float32)
    std[std < _FLAT] = 1.0
    vectors = standardise(features, kept, mean, std)
    return Buckets(street, kept, mean, std, _centroids(vectors, k, seed))


def _centroids(vectors: NDArray[np.float32], k: int, seed: int) -> NDArray[np.float32]:
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    rng = np.random.default_rng([seed, k])
    sample = vectors
    if len(vectors) > SAMPLE_SIZE:
        sample = vectors[np.sort(rng.choice(len(vectors), SAMPLE_SIZE, replace=False))]
    distinct = len(np.unique(sample[: 20 * k + 1000], axis=0))
    if distinct < k:
        distinct = len(np.unique(sample, axis=0))
    with threadpool_limits(limits=1):
        fitted = KMeans(min(k, distinct), n_init=1, random_state=int(rng.integers(2**31))).fit(sample)
        if len(vectors) > SAMPLE_SIZE:
            again = KMeans(len(fitted.cluster_centers_), init=fitted.cluster_centers_, n_init=1)
            fitted = again.set_params(max_iter=FULL_ITERATIONS).fit(vectors)
    centroids = np.asarray(fitted.cluster_centers_, dtype=np.float32)
    return np.ascontiguousarray(centroids[np.lexsort(centroids.T[::-1])])  # by E: a stable order
