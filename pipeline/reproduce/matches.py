"""Rows from matches and rings: who is measured, against whom, over which units.

A heads-up row is a duplicate match; a ring row is a table whose deals are replayed in every rotation. Names at the
table say nothing about who plays (they are letters drawn from the seed), and nobody brings a memory from earlier
matches, so an opponent model starts from nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from hardbot.arena.match import play_match
from hardbot.arena.ring import RingResult, play_ring
from hardbot.arena.statistics import Estimate, estimate_blocks, estimate_mean
from pipeline.reproduce.report import Row, Settings

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def random_names(n: int, seed: int) -> list[str]:
    """Different meaningless names."""
    rng = np.random.default_rng([seed, n])
    letters = rng.choice(list(_LETTERS), size=(n, 6))
    return ["".join(row) + str(number) for number, row in enumerate(letters)]


def match_row(
    hero: str,
    opponent: str,
    n_pairs: int,
    settings: Settings,
    *,
    block: int,
    label: str = "",
    published: float | str | None = None,
    published_ci95: float | None = None,
) -> Row:
    """Hero's winnings in a duplicate match of blocks; `label` stands for the hero in the table."""
    settings.progress(f"{label or hero} against {opponent}: {2 * n_pairs:,} hands")
    names = random_names(2, settings.seed)
    found = play_match(hero, opponent, n_pairs, settings.seed, block=block, jobs=settings.jobs, names=names)
    what = f"against {opponent}"
    return Row(label or hero, what, found.sb_per_hand, found.ci95, published, published_ci95, hands=found.hands)


def play_table(specs: Sequence[str], n_deals: int, settings: Settings, *, block: int) -> RingResult:
    """A ring tournament under meaningless names."""
    settings.progress(f"{len(specs)} players, {n_deals:,} deals: {', '.join(dict.fromkeys(specs))}")
    names = random_names(len(specs), settings.seed)
    return play_ring(specs, n_deals, settings.seed, block=block, jobs=settings.jobs, names=names)


def mean_of(result: RingResult, entrants: Sequence[int]) -> Estimate:
    """Mean winnings in sb a hand of some of a ring's players together."""
    weights = np.zeros(len(result.bots))
    weights[list(entrants)] = 1.0 / len(entrants)
    return contrast(result, weights)


def contrast(result: RingResult, weights: ArrayLike) -> Estimate:
    """Weighted sum of the players' winnings in sb a hand, with an interval over the ring's own units."""
    unit = len(result.bots) * _chips_per_sb(result)
    by_deal = result.deal_chips @ np.asarray(weights, dtype=np.float64) / unit
    if result.interval == "deals":
        return estimate_mean(by_deal)
    parts = [by_deal[first : first + result.block] for first in range(0, len(by_deal), result.block)]
    return estimate_blocks([float(part.mean()) for part in parts], [len(part) for part in parts])


def _chips_per_sb(result: RingResult) -> int:
    from hardbot.game.rules import ring

    return ring(len(result.bots)).bet_sizes[0]
