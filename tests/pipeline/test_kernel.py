"""Kernel counts against the formula written out, and their unit."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.model.likelihood import nearest_centroids
from pipeline.kernel import context_counts, kernel_counts, mean_kernel

N_SLOTS = 5


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(400, 4)).astype(np.float32)
    centroids = rng.normal(size=(9, 4)).astype(np.float32)
    slots = rng.integers(0, N_SLOTS, 400).astype(np.int32)
    actions = rng.integers(0, 3, 400).astype(np.int8)
    return vectors, nearest_centroids(vectors, centroids), slots, actions, centroids


def plain_counts(vectors, slots, actions, centroids, width):
    """The formula of the 2010 model, one decision at a time."""
    counts = np.zeros((N_SLOTS, len(centroids), 3))
    for vector, slot, action in zip(vectors, slots, actions, strict=True):
        distance = np.linalg.norm(centroids - vector, axis=1)
        counts[slot, :, action] += np.exp(-distance / width)
    return counts


@pytest.mark.parametrize("width", [0.1, 0.5, 2.0])
def test_counts_are_the_sums_of_the_formula(data, width):
    vectors, buckets, slots, actions, centroids = data
    norm = np.ones(len(centroids), dtype=np.float32)
    found = kernel_counts(vectors, buckets, slots, actions, centroids, width, norm, N_SLOTS)
    assert np.allclose(found, plain_counts(vectors, slots, actions, centroids, width), rtol=2e-5, atol=1e-9)


def test_width_zero_counts_own_members_only(data):
    vectors, buckets, slots, actions, centroids = data
    norm = np.ones(len(centroids), dtype=np.float32)
    found = kernel_counts(vectors, buckets, slots, actions, centroids, 0.0, norm, N_SLOTS)
    assert found.sum() == len(vectors)
    for slot, bucket, action in ((0, 1, 2), (3, 4, 0), (2, 7, 1)):
        assert found[slot, bucket, action] == ((slots == slot) & (buckets == bucket) & (actions == action)).sum()


@pytest.mark.parametrize("width", [0.1, 0.5, 2.0])
def test_own_members_count_one_on_average_whatever_the_width(data, width):
    vectors, buckets, slots, actions, centroids = data
    norm = np.ascontiguousarray(np.diagonal(mean_kernel(vectors, buckets, centroids, width)))
    for bucket in np.unique(buckets):
        own = buckets == bucket
        found = kernel_counts(vectors[own], buckets[own], slots[own], actions[own], centroids, width, norm, N_SLOTS)
        assert found[:, bucket].sum() == pytest.approx(own.sum(), rel=1e-4)


def test_the_unit_cancels_in_the_share_of_an_action(data):
    vectors, buckets, slots, actions, centroids = data
    norm = np.ascontiguousarray(np.diagonal(mean_kernel(vectors, buckets, centroids, 0.5)))
    found = kernel_counts(vectors, buckets, slots, actions, centroids, 0.5, norm, N_SLOTS)
    plain = plain_counts(vectors, slots, actions, centroids, 0.5)
    assert np.allclose(found / found.sum(axis=2, keepdims=True), plain / plain.sum(axis=2, keepdims=True), rtol=1e-4)


def test_mean_kernel_is_the_mean_over_a_buckets_members(data):
    vectors, buckets, _, _, centroids = data
    found = mean_kernel(vectors, buckets, centroids, 0.5)
    home = int(np.bincount(buckets).argmax())
    members = vectors[buckets == home]
    wanted = np.exp(-np.linalg.norm(members[:, None] - centroids[None], axis=2) / 0.5).mean(axis=0)
    assert np.allclose(found[home], wanted, rtol=1e-4)


def test_an_empty_bucket_is_represented_by_its_centroid():
    centroids = np.array([[0.0], [5.0]], dtype=np.float32)
    vectors = np.array([[0.1], [-0.1]], dtype=np.float32)
    found = mean_kernel(vectors, nearest_centroids(vectors, centroids), centroids, 1.0)
    assert found[1] == pytest.approx([np.exp(-5.0), 1.0])


def test_hard_buckets_lend_each_other_nothing(data):
    vectors, buckets, _, _, centroids = data
    assert np.array_equal(mean_kernel(vectors, buckets, centroids, 0.0), np.eye(len(centroids)))


def test_context_counts_ignore_the_cards(data):
    _, _, slots, actions, _ = data
    found = context_counts(slots, actions, N_SLOTS)
    assert found.shape == (N_SLOTS, 3)
    assert found.sum() == len(slots)
    assert found[2, 1] == ((slots == 2) & (actions == 1)).sum()


def test_nearest_centroid_agrees_with_a_plain_search_and_marks_blocked_hands(data):
    vectors, buckets, _, _, centroids = data
    distance = np.linalg.norm(vectors[:, None] - centroids[None], axis=2)
    assert np.array_equal(buckets, distance.argmin(axis=1))
    vectors = vectors.copy()
    vectors[7, 2] = np.nan
    assert nearest_centroids(vectors, centroids)[7] == -1
