"""A strategy as a table: probabilities of fold, call, raise by betting position and card bucket.

Rows of a decision point `node` start at `offsets[node]`, one per bucket of that street. Arrays are
all a compiled match needs; which bucket a hand is in on each street is computed for whole
batches of deals beforehand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import StrategyError
from hardbot.game.rules import N_STREETS, Rules
from hardbot.game.tree import BettingTree, betting_tree

# holes (n, 2) and boards (n, 5) -> buckets (n, 4)
BucketFunction = Callable[[NDArray[np.int8], NDArray[np.int8]], NDArray[np.int32]]


def _one_bucket(holes: NDArray[np.int8], boards: NDArray[np.int8]) -> NDArray[np.int32]:
    return np.zeros((len(holes), N_STREETS), dtype=np.int32)


@dataclass(frozen=True)
class TablePolicy:
    """Probabilities (rows, 3), the first row of each decision point, and the buckets' definition."""

    rules: Rules
    offsets: NDArray[np.int64]  # (decision points,)
    probabilities: NDArray[np.float32]  # (rows, 3)
    buckets: BucketFunction = _one_bucket

    def __post_init__(self) -> None:
        tree = betting_tree(self.rules)
        if (
            self.offsets.shape != (tree.n_decisions,)
            or self.probabilities.ndim != 2
            or self.probabilities.shape[1] != 3
        ):
            raise StrategyError(
                f"expected {tree.n_decisions} offsets and rows of 3 probabilities, "
                f"got {self.offsets.shape} and {self.probabilities.shape}"
            )


def cardless_policy(rules: Rules, triple_of: Callable[[tuple[int, ...]], tuple[float, float, float]]) -> TablePolicy:
    """Policy that looks only at the legal actions, such as always_call."""
    tree: BettingTree = betting_tree(rules)
    rows = [triple_of(node.legal) for node in tree.nodes[: tree.n_decisions]]
    return TablePolicy(rules, np.arange(tree.n_decisions, dtype=np.int64), np.array(rows, dtype=np.float32))
