"""The plain bots: always_call, always_raise, always_fold and random.

They play any table, need no cards and give exact reference values: always_raise wins 0.75 sb a
hand from always_fold, and always_call against always_raise is worth exactly 0.
"""

from __future__ import annotations

import numpy as np

from hardbot.bots.base import Bot
from hardbot.game.hand import View
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE
from hardbot.model.policy import TablePolicy, cardless_policy

Triple = tuple[float, float, float]


class AlwaysCall(Bot):
    """Checks and calls."""

    name = "always_call"

    def act(self, view: View, rng: np.random.Generator) -> int:
        """Check or call."""
        return CALL

    def table_policy(self) -> TablePolicy:
        """One triple everywhere."""
        return cardless_policy(HEADS_UP, lambda legal: (0.0, 1.0, 0.0))


class AlwaysRaise(Bot):
    """Bets and raises while the cap allows it, then calls."""

    name = "always_raise"

    def act(self, view: View, rng: np.random.Generator) -> int:
        """Raise, or call at the cap."""
        return RAISE if RAISE in view.betting.legal else CALL

    def table_policy(self) -> TablePolicy:
        """Raise where legal."""
        return cardless_policy(HEADS_UP, lambda legal: (0.0, 0.0, 1.0) if RAISE in legal else (0.0, 1.0, 0.0))


class AlwaysFold(Bot):
    """Checks when that is free and folds to any bet."""

    name = "always_fold"

    def act(self, view: View, rng: np.random.Generator) -> int:
        """Fold, or check when there is nothing to call."""
        return FOLD if FOLD in view.betting.legal else CALL

    def table_policy(self) -> TablePolicy:
        """Fold where legal."""
        return cardless_policy(HEADS_UP, lambda legal: (1.0, 0.0, 0.0) if FOLD in legal else (0.0, 1.0, 0.0))


class Random(Bot):
    """Takes any legal action with equal probability."""

    name = "random"

    def act(self, view: View, rng: np.random.Generator) -> int:
        """A legal action at random."""
        legal = view.betting.legal
        return legal[int(rng.random() * len(legal))]

    def table_policy(self) -> TablePolicy:
        """Uniform over the legal actions."""

        def triple(legal: tuple[int, ...]) -> Triple:
            p = [1.0 / len(legal) if action in legal else 0.0 for action in (FOLD, CALL, RAISE)]
            return p[0], p[1], p[2]

        return cardless_policy(HEADS_UP, triple)
