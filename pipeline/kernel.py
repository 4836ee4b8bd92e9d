"""Kernel-weighted counts: how often each action was taken with hands like a bucket's.

The 2010 model weighs corpus decision i for bucket b with K(b, v_i) = exp(-|b - v_i| / width), v_i the standardised
feature vector of the acting hand. Counts are sums of these weights:

    C[slot, b, a] = sum_i [slot_i = slot, a_i = a] K(b, v_i) / norm_b

norm_b is the mean weight of the bucket's own members (the corpus vectors nearest to b). It cancels in P(a | b) at one
level of context, but gives C a unit: a bucket's own decision counts one on average, a distant one less, whatever the
width. So tau pseudo-counts mean the same for every width, and width 0 (hard buckets) is the limit in which only own
members count.

A hand that is known only as a distribution over buckets (hidden cards, em.py) gives each bucket b the mean weight
of the corpus vectors in the bucket b' it may be in: `mean_kernel`. Its diagonal is norm_b, so that hidden and known
hands count in the same unit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardbot.game.jit import njit
from hardbot.model.context import N_ACTIONS

Vectors = NDArray[np.float32]


@njit
def _fill_weights(vector: Vectors, centroids: Vectors, inverse_width: float, weights: Vectors) -> None:
    k, d = centroids.shape
    for b in range(k):
        distance = np.float32(0.0)
        for j in range(d):
            gap = vector[j] - centroids[b, j]
            distance += gap * gap
        weights[b] = np.exp(-np.sqrt(distance) * np.float32(inverse_width))


@njit
def _add_kernel(
    vectors: Vectors,
    slots: NDArray[np.int32],
    actions: NDArray[np.int8],
    centroids: Vectors,
    inverse_width: float,
    counts: NDArray[np.float64],
) -> None:
    k = len(centroids)
    weights = np.zeros(k, dtype=np.float32)
    for i in range(len(vectors)):
        _fill_weights(vectors[i], centroids, inverse_width, weights)
        cell = counts[slots[i], actions[i]]
        for b in range(k):
            cell[b] += weights[b]


@njit
def _add_hard(
    buckets: NDArray[np.int16], slots: NDArray[np.int32], actions: NDArray[np.int8], counts: NDArray[np.float64]
) -> None:
    for i in range(len(buckets)):
        counts[slots[i], actions[i], buckets[i]] += 1.0


@njit
def _sum_kernel(vectors: Vectors, buckets: NDArray[np.int16], centroids: Vectors, inverse_width: float) -> Vectors:
    k = len(centroids)
    weights = np.zeros(k, dtype=np.float32)
    sums = np.zeros((k, k))
    members = np.zeros(k)
    for i in range(len(vectors)):
        _fill_weights(vectors[i], centroids, inverse_width, weights)
        members[buckets[i]] += 1.0
        row = sums[buckets[i]]
        for b in range(k):
            row[b] += weights[b]
    for home in range(k):
        if members[home] == 0.0:  # nobody lives there: the centroid stands for a member
            _fill_weights(centroids[home], centroids, inverse_width, weights)
            members[home] = 1.0
            for b in range(k):
                sums[home, b] = weights[b]
        for b in range(k):
            sums[home, b] /= members[home]
    return sums.astype(np.float32)


def mean_kernel(vectors: Vectors, buckets: NDArray[np.int16], centroids: Vectors, width: float) -> Vectors:
    """(k, k): [b', b] is the mean weight for bucket b of the vectors whose bucket is b'."""
    if width == 0:
        return np.eye(len(centroids), dtype=np.float32)
    return _sum_kernel(vectors, buckets, centroids, 1.0 / width)


def kernel_counts(
    vectors: Vectors,
    buckets: NDArray[np.int16],
    slots: NDArray[np.int32],
    actions: NDArray[np.int8],
    centroids: Vectors,
    width: float,
    norm: Vectors,
    n_slots: int,
) -> NDArray[np.float64]:
    """C (slots, k, 3) of known hands: vectors (n, d), their nearest buckets, slots and actions (n,)."""
    counts = np.zeros((n_slots, N_ACTIONS, len(centroids)))
    if width == 0:
        _add_hard(buckets, slots, actions, counts)
    else:
        _add_kernel(vectors, slots, actions, centroids, 1.0 / width, counts)
        counts /= norm
    return np.ascontiguousarray(counts.transpose(0, 2, 1))


def context_counts(slots: NDArray[np.int32], actions: NDArray[np.int8], n_slots: int) -> NDArray[np.float32]:
    """Decisions per slot and action (slots, 3), whatever the cards."""
    flat = np.bincount(slots.astype(np.int64) * N_ACTIONS + actions, minlength=n_slots * N_ACTIONS)
    return flat.reshape(n_slots, N_ACTIONS).astype(np.float32)
