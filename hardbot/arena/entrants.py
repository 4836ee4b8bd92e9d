"""Who plays: bots by specification, their names at the table and their generators.

A specification is the text of `hardbot bots` (`rulebot`, `loki:trials=100`) or a function that makes a
bot. Every instance draws from a generator of its own, derived from seed, block, side and entrant,
so that no bot's randomness can move the deck's or another bot's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from hardbot.bots.base import Bot
from hardbot.bots.registry import create_bot
from hardbot.errors import ArenaError, BotError

BotSpec = str | Callable[[], Bot]

_UNSAFE = re.compile(r"[^\w.,=+-]+")


def make_bot(spec: BotSpec) -> Bot:
    """A fresh bot."""
    return create_bot(spec) if isinstance(spec, str) else spec()


def make_entrants(specs: Sequence[BotSpec], n_seats: int) -> list[Bot]:
    """One instance of every entrant, to ask it before the match; BotError if one cannot sit at this table."""
    bots = [make_bot(spec) for spec in specs]
    for bot, label in zip(bots, spec_labels(specs), strict=True):
        sizes = bot.table_sizes
        if n_seats not in sizes:
            raise BotError(f"expected {sizes.start} to {sizes.stop - 1} seats for {label}, got {n_seats}")
    return bots


def spec_labels(specs: Sequence[BotSpec]) -> list[str]:
    """Texts for result tables."""
    return [spec if isinstance(spec, str) else _callable_label(spec) for spec in specs]


def _callable_label(make: Callable[[], Bot]) -> str:
    return str(getattr(make, "name", getattr(make, "__name__", type(make).__name__)))


def table_names(specs: Sequence[BotSpec], names: Sequence[str] | None) -> tuple[str, ...]:
    """Different names without the separators of logs; a bot that plays itself gets numbers."""
    if names is not None:
        if len(names) != len(specs) or len(set(names)) != len(names) or any(_UNSAFE.search(n) or not n for n in names):
            raise ArenaError(f"expected {len(specs)} different names of letters, digits and ._,=+-, got {list(names)}")
        return tuple(names)
    chosen: list[str] = []
    for label in spec_labels(specs):
        base = _UNSAFE.sub(".", label).strip(".")
        number = 1
        while (name := base if number == 1 else f"{base}-{number}") in chosen:
            number += 1
        chosen.append(name)
    return tuple(chosen)


def bot_seed(seed: int, block: int, side: int, entrant: int, n_entrants: int = 2) -> np.random.SeedSequence:
    """Seed of one instance; stream 0 is the deck's."""
    return np.random.SeedSequence([seed, block, 1 + side * n_entrants + entrant])


def bot_generator(seed: int, block: int, side: int, entrant: int, n_entrants: int = 2) -> np.random.Generator:
    """Generator of one instance."""
    return np.random.Generator(np.random.PCG64(bot_seed(seed, block, side, entrant, n_entrants)))
