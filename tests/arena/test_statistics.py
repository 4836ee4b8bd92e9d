"""Intervals are what they claim: quantiles against scipy, coverage by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from hardbot.arena.statistics import Running, estimate_blocks, estimate_mean, pairs_needed, t_quantile


@pytest.mark.parametrize("degrees", [1, 2, 3, 7, 30, 999, 99_999, 1_000_000])
@pytest.mark.parametrize("p", [0.025, 0.5, 0.9, 0.975, 0.9995])
def test_t_quantile_agrees_with_scipy(degrees, p):
    expected = float(stats.t.ppf(p, degrees))
    assert t_quantile(p, degrees) == pytest.approx(expected, rel=2e-5 if degrees >= 100_000 else 1e-9, abs=1e-12)


def test_streamed_and_array_forms_agree():
    values = np.random.default_rng(3).normal(0.2, 5.0, 2_000)
    running = Running()
    running.extend(values)
    stream, array = running.estimate(), estimate_mean(values)
    for key in ("mean", "half_width", "sd", "n_units"):
        assert getattr(stream, key) == pytest.approx(getattr(array, key), rel=1e-12)
    low, high = array.interval
    assert low < array.mean < high


def test_one_unit_has_no_interval():
    for estimate in (estimate_mean([1.5]), estimate_blocks([1.5], [10])):
        assert estimate.mean == 1.5
        assert math.isnan(estimate.half_width)


def test_blocks_of_equal_size_give_the_interval_of_their_means():
    means = np.random.default_rng(5).normal(size=12)
    blocks, plain = estimate_blocks(means, [100] * 12), estimate_mean(means)
    assert blocks.mean == pytest.approx(plain.mean)
    assert blocks.half_width == pytest.approx(plain.half_width)


def test_a_short_last_block_counts_by_its_size():
    assert estimate_blocks([1.0, 1.0, 4.0], [100, 100, 50]).mean == pytest.approx((100 + 100 + 200) / 250)


def test_pairs_needed_gives_the_width_asked_for():
    n = pairs_needed(sd=1.64, half_width=0.05)
    assert 1.96 * 1.64 / math.sqrt(n) == pytest.approx(0.05, rel=1e-3)


def _coverage(estimates, truth):
    return np.mean([abs(estimate.mean - truth) <= estimate.half_width for estimate in estimates])


@pytest.mark.parametrize("n", [3, 8])
def test_small_samples_of_a_normal_quantity_cover_95_times_in_100(n):
    samples = np.random.default_rng(n).normal(1.0, 2.0, size=(4_000, n))
    assert _coverage([estimate_mean(row) for row in samples], truth=1.0) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize("n", [60, 400])
def test_pair_intervals_cover_the_truth_95_times_in_100(n):
    rng = np.random.default_rng(n)
    samples = rng.choice([-4.8, -0.5, 0.0, 0.5, 6.0], p=[0.1, 0.2, 0.4, 0.2, 0.1], size=(3_000, n))  # heavy tails
    coverage = _coverage([estimate_mean(row) for row in samples], truth=0.12)
    assert coverage == pytest.approx(0.95, abs=0.02)


def test_only_block_intervals_cover_when_hands_of_a_block_depend_on_each_other():
    rng = np.random.default_rng(11)
    by_pair, by_block = [], []
    for _ in range(1_500):
        luck = rng.normal(0.0, 0.3, size=(10, 1))  # what the bot happened to learn in this block
        hands = luck + rng.normal(0.0, 1.6, size=(10, 200))
        by_pair.append(estimate_mean(hands.ravel()))
        by_block.append(estimate_blocks(hands.mean(axis=1), [200] * 10))
    assert _coverage(by_block, 0.0) == pytest.approx(0.95, abs=0.02)
    assert _coverage(by_pair, 0.0) < 0.75


def test_unequal_blocks_still_cover():
    rng = np.random.default_rng(12)
    sizes = np.array([200] * 9 + [120])
    estimates = [
        estimate_blocks(rng.normal(0.0, 0.3, 10) + rng.normal(0.0, 1.6 / np.sqrt(sizes)), sizes) for _ in range(3_000)
    ]
    assert _coverage(estimates, 0.0) == pytest.approx(0.95, abs=0.02)
