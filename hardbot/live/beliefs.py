"""What a bot believes, in the form a table can show: the opponent's range, figures, and why it acts.

A bot takes part by having a method `explain()`; what it returns is read attribute by attribute, so that bots
need not know of tables. Everything is optional; figures, triple and rule are those of the bot's last decision in
this hand. Heat maps are 13x13: the mean weight of a class's hands that are possible for the bot, relative to
the largest. A bot that gives `public_weights`, a range in which nothing depends on its own cards, has a `public` part:
all that may be shown while the hand is in play.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.base import Bot
from hardbot.game.cards import HOLE_CLASS, N_CLASSES, N_HOLES

Floats = NDArray[np.float64]


@runtime_checkable
class Explains(Protocol):
    """A bot that can say what it believes at this point of the hand."""

    def explain(self) -> Any:
        """Anything with some of the attributes of `Beliefs`, or None."""


@dataclass(frozen=True)
class PublicBeliefs:
    """The opponent's range for somebody who does not see the bot's cards."""

    heat: Floats  # (13, 13), largest cell 1
    buckets: tuple[tuple[str, float], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data; the map in thousandths."""
        return {"heat": _thousandths(self.heat), "buckets": _rounded(self.buckets)}


@dataclass(frozen=True)
class Beliefs:
    """A bot's beliefs about one opponent after some event of a hand."""

    weights: Floats | None = None  # (1326,) the opponent's range, sums to 1
    buckets: tuple[tuple[str, float], ...] = ()  # name and probability
    figures: Mapping[str, float] = field(default_factory=dict)  # hs, ppot, ehs, pot_odds, ...
    triple: tuple[float, float, float] | None = None  # of the bot's last decision
    rule: str = ""  # with the largest share in it
    rivals: tuple[tuple[str, float, float], ...] = ()  # kinds of player: name, probability, worth of the answer to it
    public: PublicBeliefs | None = None

    def heat(self) -> Floats | None:
        """The range as a (13, 13) map, largest cell 1."""
        return None if self.weights is None else heat_map(self.weights)

    def to_json(self) -> dict[str, Any]:
        """Plain data; the map in thousandths."""
        heat = self.heat()
        return {
            "heat": None if heat is None else _thousandths(heat),
            "buckets": _rounded(self.buckets),
            "figures": {name: round(float(value), 6) for name, value in self.figures.items()},
            "triple": None if self.triple is None else [round(float(p), 6) for p in self.triple],
            "rule": self.rule,
            "rivals": [[name, round(float(p), 6), round(float(worth), 4)] for name, p, worth in self.rivals],
        }


def _thousandths(heat: Floats) -> list[list[int]]:
    return [[int(level) for level in row] for row in np.rint(1000.0 * heat)]


def _rounded(buckets: tuple[tuple[str, float], ...]) -> list[list[str | float]]:
    return [[name, round(p, 6)] for name, p in buckets]


def heat_map(weights: Floats) -> Floats:
    """Mean weight (13, 13) of each class's possible hands, relative to the largest; 0 where none is possible."""
    possible = np.bincount(HOLE_CLASS, weights=weights > 0.0, minlength=N_CLASSES)
    sums = np.bincount(HOLE_CLASS, weights=weights, minlength=N_CLASSES)
    means = np.divide(sums, possible, out=np.zeros(N_CLASSES), where=possible > 0)
    top = means.max()
    return (means / top if top > 0.0 else means).reshape(13, 13)


def beliefs_of(bot: Bot) -> Beliefs | None:
    """What the bot believes now, None if it does not say."""
    if not isinstance(bot, Explains):
        return None
    said = bot.explain()
    if said is None or isinstance(said, Beliefs):
        return said
    weights = getattr(said, "weights", None)
    triple = getattr(said, "triple", None)
    return Beliefs(
        weights=None if weights is None else np.asarray(weights, dtype=np.float64).reshape(N_HOLES).copy(),
        buckets=tuple((str(name), float(p)) for name, p in getattr(said, "buckets", ())),
        figures=dict(getattr(said, "figures", {})),
        triple=(float(triple[0]), float(triple[1]), float(triple[2]))
        if triple is not None and sum(triple) > 0
        else None,
        rule=str(getattr(said, "rule", "")),
        rivals=tuple((str(name), float(p), float(worth)) for name, p, worth in getattr(said, "rivals", ())),
        public=_public_of(said),
    )


def _public_of(said: Any) -> PublicBeliefs | None:
    weights = getattr(said, "public_weights", None)
    if weights is None:
        return None
    buckets = tuple((str(name), float(p)) for name, p in getattr(said, "public_buckets", ()))
    return PublicBeliefs(heat_map(np.asarray(weights, dtype=np.float64).reshape(N_HOLES)), buckets)
