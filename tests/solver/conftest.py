"""A small game to solve: starting classes on flop and turn, a few river buckets; nothing to compute beforehand."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.solver.abstraction import bucket_tables, make_abstraction
from hardbot.solver.rounds import N_STARTS
from hardbot.solver.strategy import quantise


@pytest.fixture(scope="session")
def small():
    return make_abstraction(0, 0, 9)


@pytest.fixture(scope="session")
def small_tables(small):
    return bucket_tables(small)


@pytest.fixture(scope="session")
def mixed_strategy(small):
    """Random probabilities everywhere, some of them zero."""
    rng = np.random.default_rng(11)
    sums = []
    for starts, n in zip(N_STARTS, small.sizes, strict=True):
        sums.append((rng.random((starts, 2, n, 16)) ** 2 * (rng.random((starts, 2, n, 16)) > 0.2)).astype(np.float32))
    return quantise(tuple(sums), small)


@pytest.fixture(scope="session")
def caller(small):
    """Checks and calls: what the summed reaches of no iteration at all give."""
    sums = tuple(
        np.zeros((starts, 2, n, 16), dtype=np.float32) for starts, n in zip(N_STARTS, small.sizes, strict=True)
    )
    return quantise(sums, small)
