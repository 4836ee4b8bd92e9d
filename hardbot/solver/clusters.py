"""k-means over rows of features, compiled: nearest centroids of millions of hands in seconds.

Lloyd's iteration from a k-means++ start (Arthur and Vassilvitskii, SODA 2007). The same rows and seed give the same
centroids on one machine; what must not change afterwards (a solved strategy's buckets) keeps its centroids.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import StrategyError
from hardbot.game.jit import njit

Rows = NDArray[np.float32]


@njit
def nearest(points: Rows, centroids: Rows, found: NDArray[np.int16]) -> None:
    """Number of the nearest centroid of every row; rows with NaN get 0."""
    k, d = centroids.shape
    columns = centroids.T.copy()
    distance = np.empty(k, dtype=np.float32)
    for i in range(points.shape[0]):
        if np.isnan(points[i, 0]):
            found[i] = 0
            continue
        distance[:] = 0.0
        for c in range(d):
            x = points[i, c]
            for b in range(k):
                gap = x - columns[c, b]
                distance[b] += gap * gap
        best = 0
        for b in range(1, k):
            if distance[b] < distance[best]:
                best = b
        found[i] = best


@njit
def _move(points: Rows, found: NDArray[np.int16], centroids: Rows) -> None:
    """Centroids to the means of their rows; one without rows stays."""
    k, d = centroids.shape
    sums = np.zeros((k, d))
    counts = np.zeros(k, dtype=np.int64)
    for i in range(points.shape[0]):
        counts[found[i]] += 1
        for c in range(d):
            sums[found[i], c] += points[i, c]
    for b in range(k):
        if counts[b] > 0:
            for c in range(d):
                centroids[b, c] = sums[b, c] / counts[b]


def _spread_start(points: Rows, k: int, rng: np.random.Generator) -> Rows:
    """As many as k rows, each drawn with the square of its distance to those before."""
    chosen = [points[int(rng.integers(len(points)))]]
    gap = ((points - chosen[0]) ** 2).sum(axis=1).astype(np.float64)
    for _ in range(1, k):
        chosen.append(points[int(np.searchsorted(np.cumsum(gap), rng.random() * gap.sum()).clip(0, len(points) - 1))])
        gap = np.minimum(gap, ((points - chosen[-1]) ** 2).sum(axis=1))
    return np.array(chosen, dtype=np.float32)


def cluster(points: Rows, k: int, seed: int, iterations: int = 40) -> Rows:
    """Centroids (k, d) of the rows, ordered by their first column."""
    if len(np.unique(points, axis=0)) < k:
        raise StrategyError(f"expected at least {k} different rows to make {k} buckets, got fewer among {len(points)}")
    rng = np.random.default_rng(seed)
    centroids = _spread_start(points[rng.permutation(len(points))[:20_000]], k, rng)
    found = np.zeros(len(points), dtype=np.int16)
    for _ in range(iterations):
        nearest(points, centroids, found)
        _move(points, found, centroids)
    return centroids[np.argsort(centroids[:, 0], kind="stable")]
