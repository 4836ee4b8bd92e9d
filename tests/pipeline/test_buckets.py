"""k-means buckets: which columns they use, reproducibility, and vectors that leave little to cluster."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.errors import ModelError
from hardbot.game.feature_tables import FEATURE_COLUMNS
from pipeline.buckets import FEATURE_SETS, VECTOR_COLUMNS, fit_buckets, useful_columns

E, E2, PPOT, NPOT = (FEATURE_COLUMNS.index(name) for name in VECTOR_COLUMNS)


def rows(n: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    features = rng.random((n, len(FEATURE_COLUMNS))).astype(np.float32)
    features[:, E2] = features[:, E] ** 2 * 0.8 + features[:, E2] * 0.2
    return features


def river_rows(n: int) -> np.ndarray:
    features = rows(n)
    features[:, E2] = features[:, E] ** 2
    features[:, [PPOT, NPOT]] = 0.0
    return features


def test_the_river_has_one_dimension():
    assert useful_columns(3, river_rows(500), VECTOR_COLUMNS) == ("e",)
    assert fit_buckets(3, river_rows(500), 8, seed=1).centroids.shape == (8, 1)


def test_constant_columns_are_dropped_on_any_street():
    features = rows(500)
    features[:, NPOT] = 0.25
    assert useful_columns(1, features, VECTOR_COLUMNS) == ("e", "e2", "ppot")


def test_vectors_are_standardised():
    features = rows(2000)
    vectors = fit_buckets(1, features, 5, seed=1).vectors(features)
    assert vectors.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-4)
    assert vectors.std(axis=0) == pytest.approx(np.ones(4), rel=1e-3)


def test_the_same_seed_gives_the_same_buckets_to_the_bit():
    first, second = (fit_buckets(2, rows(3000), 20, seed=7) for _ in range(2))
    assert np.array_equal(first.centroids, second.centroids)


def test_buckets_are_numbered_by_equity():
    centroids = fit_buckets(2, rows(3000), 20, seed=7).centroids
    assert (np.diff(centroids[:, 0]) >= 0).all()


def test_clusters_that_are_there_are_found():
    rng = np.random.default_rng(2)
    centres = np.array([0.1, 0.5, 0.9])
    features = np.zeros((900, len(FEATURE_COLUMNS)), dtype=np.float32)
    features[:, E] = np.repeat(centres, 300) + rng.normal(0, 0.01, 900)
    buckets = fit_buckets(1, features, 3, seed=1, columns=("e",))
    assert buckets.centroids[:, 0] * buckets.std[0] + buckets.mean[0] == pytest.approx(centres, abs=0.01)
    assert np.bincount(buckets.assign(features)).tolist() == [300, 300, 300]


def test_k_is_cut_to_the_number_of_different_vectors():
    features = np.repeat(rows(4), 50, axis=0)
    assert fit_buckets(1, features, 60, seed=1).k == 4


def test_a_single_kind_of_hand_makes_one_bucket():
    features = np.repeat(rows(1), 30, axis=0)
    buckets = fit_buckets(1, features, 10, seed=1)
    assert buckets.k == 1
    assert buckets.assign(features).tolist() == [0] * 30


def test_nothing_to_cluster_is_refused():
    with pytest.raises(ModelError, match="known cards on the turn"):
        fit_buckets(2, rows(0), 5, seed=1)
    with pytest.raises(ModelError, match="k >= 1"):
        fit_buckets(2, rows(10), 0, seed=1)


def test_feature_sets_grow():
    names = list(FEATURE_SETS.values())
    assert all(set(small) < set(large) for small, large in zip(names, names[1:], strict=False))
    assert all(set(columns) <= set(FEATURE_COLUMNS) for columns in names)
