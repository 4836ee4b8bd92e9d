"""The whole heads-up betting tree as flat arrays, for compiled loops and tables.

Nodes are numbered decision points first, in breadth-first order of streets, then the ends of
hands. Under the competition's rules there are 6,378 decision points (8, 70, 630 and 5,670 by
street), 5,103 folds and 5,103 showdowns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import RulesError
from hardbot.game.betting import Betting, first_betting
from hardbot.game.rules import UNCAPPED, Rules


@dataclass(frozen=True)
class BettingTree:
    """All positions of a heads-up hand. Arrays are indexed by node number; -1 stands for "none"."""

    rules: Rules
    nodes: tuple[Betting, ...]
    n_decisions: int
    street: NDArray[np.int8]  # (nodes,)
    seat: NDArray[np.int8]  # (nodes,) to act, -1 at the end of a hand
    child: NDArray[np.int32]  # (nodes, 3) by action
    contributions: NDArray[np.int32]  # (nodes, 2) chips
    winner: NDArray[np.int8]  # (nodes,) seat left after a fold, -1 elsewhere
    first_of_street: tuple[int, int, int, int, int]  # decision points of street s: [s]..[s+1]


@lru_cache(maxsize=8)
def betting_tree(rules: Rules) -> BettingTree:
    """Tree of a heads-up table; also numbers the shared `Betting` objects (`betting.index`)."""
    if rules.n_seats != 2 or max(rules.max_raises) >= UNCAPPED:
        raise RulesError(f"expected a capped heads-up table for a betting tree, got {rules.name}")
    decisions: list[list[Betting]] = [[], [], [], []]
    ends: list[Betting] = []
    level = [first_betting(rules)]
    while level:
        following: list[Betting] = []
        for node in level:
            (ends if node.is_over else decisions[node.street]).append(node)
            following.extend(node.after(action) for action in node.legal)
        level = following
    ordered = [node for street in decisions for node in street] + ends
    for index, node in enumerate(ordered):
        node.index = index
    starts = tuple(np.cumsum([0] + [len(street) for street in decisions]).tolist())
    child = np.full((len(ordered), 3), -1, dtype=np.int32)
    for node in ordered:
        for action in node.legal:
            child[node.index, action] = node.after(action).index
    return BettingTree(
        rules=rules,
        nodes=tuple(ordered),
        n_decisions=starts[-1],
        street=np.array([node.street for node in ordered], dtype=np.int8),
        seat=np.array([node.seat for node in ordered], dtype=np.int8),
        child=child,
        contributions=np.array([node.contributions for node in ordered], dtype=np.int32),
        winner=np.array([_winner(node) for node in ordered], dtype=np.int8),
        first_of_street=starts,
    )


def _winner(node: Betting) -> int:
    return node.live.index(True) if node.is_over and not node.is_showdown else -1
