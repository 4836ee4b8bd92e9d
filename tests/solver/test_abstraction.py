"""Buckets: k-means, tables and single hands agree; river buckets follow the score."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.errors import StrategyError
from hardbot.game.cards import HOLE_CLASS, hole_index, parse_cards, parse_hole
from hardbot.solver.abstraction import (
    Abstraction,
    bucket_from_tables,
    bucket_function,
    bucket_on_spot,
    make_abstraction,
    river_buckets,
    table_name,
)
from hardbot.solver.clusters import cluster, nearest


def test_three_heaps_are_found():
    rng = np.random.default_rng(1)
    middles = np.array([[0.1, 0.1], [0.5, 0.3], [0.9, 0.0]])
    points = (middles[rng.integers(0, 3, 3000)] + rng.normal(0, 0.01, (3000, 2))).astype(np.float32)
    centroids = cluster(points, 3, seed=4)
    assert np.allclose(centroids, middles, atol=0.01)
    found = np.zeros(2, dtype=np.int16)
    nearest(np.array([[0.85, 0.05], [np.nan, np.nan]], dtype=np.float32), centroids, found)
    assert found.tolist() == [2, 0]
    with pytest.raises(StrategyError, match="expected at least 3 different rows"):
        cluster(np.zeros((10, 2), dtype=np.float32), 3, seed=1)


def test_river_buckets_rise_with_the_score_and_are_finer_at_the_top():
    buckets = river_buckets(50)
    assert buckets[0] == 0
    assert buckets[-1] == 49
    assert (np.diff(buckets) >= 0).all()
    assert set(buckets.tolist()) == set(range(50))
    width = np.bincount(buckets)
    assert width[0] > 2 * width[-2]


def test_tables_and_single_hands_agree(small, small_tables):
    rng = np.random.default_rng(8)
    deals = np.array([rng.permutation(52)[:7] for _ in range(50)], dtype=np.int8)
    rows = bucket_function(small_tables)(deals[:, :2], deals[:, 2:])
    for row, cards in zip(rows, deals.tolist(), strict=True):
        hole, board = (cards[0], cards[1]), cards[2:]
        for street, size in enumerate((0, 3, 4, 5)):
            assert bucket_on_spot(small, hole, board[:size]) == row[street]
            assert bucket_from_tables(small_tables, hole, board[:size]) == row[street]


def test_a_draw_and_a_made_hand_of_the_same_equity_are_kept_apart():
    centroids = np.array([[0.55, 0.05], [0.55, 0.25]], dtype=np.float32)
    found = Abstraction(centroids, centroids, river_buckets(4))
    turn = parse_cards("9h8h2c3d")
    assert bucket_on_spot(found, parse_hole("JhTh"), turn) == 1
    assert bucket_on_spot(found, parse_hole("9c4s"), turn) == 0
    assert found.sizes == (169, 2, 2, 4)
    assert table_name(3, centroids) != table_name(4, centroids)


def test_without_centroids_buckets_are_starting_classes(small):
    hole = parse_hole("AhKh")
    assert bucket_on_spot(small, hole, parse_cards("9h8h2c")) == HOLE_CLASS[hole_index(*hole)]
    assert small.sizes == (169, 169, 169, 9)


@pytest.mark.parametrize("sizes", [(0, 0, 1), (0, 0, 5_000), (-1, 0, 9)])
def test_impossible_numbers_of_buckets_are_refused(sizes):
    with pytest.raises(StrategyError, match=r"expected \d to 2000 buckets a street"):
        make_abstraction(*sizes)
