"""How a bot plays, in the five figures poker players describe each other with.

    voluntary entry     hands in which it put money in before the flop of its own will (call or raise; a check of the
                        big blind is none), per hand dealt
    preflop raise       hands with a raise of its own before the flop, per hand dealt
    aggression          bets and raises per call, after the flop
    went to showdown    showdowns per flop seen
    won at showdown     showdowns won, ties half, per showdown

Who did what follows from the last position of a hand in the betting tree, so counting a match is one sum over a
table. All figures are ratios of counts, kept as counts: styles of several matches add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardbot.game.rules import CALL, RAISE, Rules
from hardbot.game.tree import betting_tree

HANDS, ENTERED, RAISED, BETS, CALLS, FLOPS, SHOWDOWNS = range(7)
COUNTS = ("hands", "entered", "raised", "bets", "calls", "flops", "showdowns", "won")
FIGURES = ("voluntary_entry", "preflop_raise", "aggression", "went_to_showdown", "won_at_showdown")


@dataclass(frozen=True)
class Style:
    """Counts of a bot's hands; `+` adds two samples."""

    hands: int = 0
    entered: int = 0
    raised: int = 0
    bets: int = 0
    calls: int = 0
    flops: int = 0
    showdowns: int = 0
    won: float = 0.0

    def __add__(self, other: Style) -> Style:
        return Style(**{name: getattr(self, name) + getattr(other, name) for name in COUNTS})

    @property
    def voluntary_entry(self) -> float:
        """Share of hands entered of its own will."""
        return _ratio(self.entered, self.hands)

    @property
    def preflop_raise(self) -> float:
        """Share of hands raised before the flop."""
        return _ratio(self.raised, self.hands)

    @property
    def aggression(self) -> float:
        """Bets and raises per call after the flop; inf for a bot that never calls."""
        return self.bets / self.calls if self.calls else (math.inf if self.bets else math.nan)

    @property
    def went_to_showdown(self) -> float:
        """Showdowns per flop seen."""
        return _ratio(self.showdowns, self.flops)

    @property
    def won_at_showdown(self) -> float:
        """Showdowns won, ties half."""
        return _ratio(self.won, self.showdowns)

    def to_json(self) -> dict[str, float | None]:
        """The five figures (null where there is nothing to divide by) and the number of hands."""
        figures = {name: getattr(self, name) for name in FIGURES}
        document: dict[str, float | None] = {k: v if math.isfinite(v) else None for k, v in figures.items()}
        return document | {"hands": self.hands}


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


@lru_cache(maxsize=8)
def _end_counts(rules: Rules) -> NDArray[np.int64]:
    """What each seat did in a hand, by its last position (nodes, 2, 7)."""
    tree = betting_tree(rules)
    counts = np.zeros((len(tree.nodes), 2, 7), dtype=np.int64)
    for index, node in enumerate(tree.nodes):
        if not node.is_over:
            continue
        counts[index, :, HANDS] = 1
        counts[index, :, FLOPS] = node.street > 0
        counts[index, :, SHOWDOWNS] = node.is_showdown
        position, parent = node, node.parent
        while parent is not None:
            action = parent.children.index(position)
            _count(counts[index, parent.seat], parent.street, action, paid=parent.to_call > 0)
            position, parent = parent, parent.parent
    return counts


def _count(row: NDArray[np.int64], street: int, action: int, *, paid: bool) -> None:
    if street == 0:
        row[ENTERED] |= action == RAISE or (action == CALL and paid)
        row[RAISED] |= action == RAISE
    else:
        row[BETS] += action == RAISE
        row[CALLS] += action == CALL and paid


def count_style(rules: Rules, ends: NDArray[np.int32], seats: NDArray[np.int64], signs: NDArray[np.int8]) -> Style:
    """Style of the player who sat in `seats` (n,) in hands that ended at `ends` (n,).

    `signs` as DealBlock.signs: 1 where seat 0 has the better hand.
    """
    sums = _end_counts(rules)[ends, seats].sum(axis=0)
    shown = np.array([node.is_showdown for node in betting_tree(rules).nodes])[ends]
    won = (1.0 + np.where(seats == 0, signs, -signs)) / 2.0
    counts = dict(zip(COUNTS, sums.tolist(), strict=False))
    return Style(**counts, won=float(won[shown].sum()))
