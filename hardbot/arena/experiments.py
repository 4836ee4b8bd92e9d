"""Experiments of the literature, repeated: what generic modelling and simulation are worth to loki.

J. Schaeffer, D. Billings, L. Pena and D. Szafron, "Learning to Play Strong Poker", 1999, section 7: ten players, two
of them enhanced, eight plain, every deal replayed ten times so that everybody holds each of its ten hands once. 2,500
deals (25,000 games) gave the enhanced players +.031 +- .019 sb a hand with generic modelling, +.093 +- .040 with
simulation (500 trials) and +.095 +- .045 with both.

Here a deal is replayed in all ten rotations of a seating. How far apart the two enhanced players sit (1 to 5 seats)
changes from fifth to fifth of the deals, so that every pair of seats occurs. Bots of this experiment remember nothing
between hands, so the deals are independent samples and the interval is over deals. A fourth line that the paper does
not have measures simulation where its hands are drawn from tables that follow the betting: two players with
both among eight with generic modelling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardbot.arena.ring import play_ring
from hardbot.arena.statistics import estimate_mean
from hardbot.errors import ArenaError

N_PLAYERS = 10
DISTANCES = range(1, N_PLAYERS // 2 + 1)
PLAIN = "loki:simulate=no,generic=no,specific=no"
GENERIC = "loki:simulate=no,generic=yes,specific=no"
SIMULATION = "loki:simulate=yes,generic=no,specific=no"
BOTH = "loki:simulate=yes,generic=yes,specific=no"


@dataclass(frozen=True, slots=True)
class Enhancement:
    """Two players of one kind among eight of another, and what the paper found (sb a hand and its error)."""

    bot: str
    opponents: str
    published: tuple[float, float] | None


ENHANCEMENTS: dict[str, Enhancement] = {
    "generic": Enhancement(GENERIC, PLAIN, (0.031, 0.019)),
    "simulation": Enhancement(SIMULATION, PLAIN, (0.093, 0.040)),
    "both": Enhancement(BOTH, PLAIN, (0.095, 0.045)),
    "simulation-over-generic": Enhancement(BOTH, GENERIC, None),
}
Progress = Callable[[str, int, int], None]  # enhancement, deals done, deals in all


@dataclass(frozen=True, slots=True)
class EnhancementResult:
    """What two enhanced players won from the eight others; `ci95` is the interval's half-width."""

    enhancement: str
    bot: str
    opponents: str
    deals: int
    hands: int
    sb_per_hand: float
    ci95: float
    published: tuple[float, float] | None
    hands_per_second: float
    seed: int

    def to_json(self) -> dict[str, Any]:
        """The command line's document."""
        document: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        return document | {"published": None if self.published is None else list(self.published)}


def loki_experiment(
    n_deals: int = 2_500,
    seed: int = 1,
    *,
    enhancements: Sequence[str] = tuple(ENHANCEMENTS),
    trials: int = 500,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[EnhancementResult]:
    """Play the experiment for each enhancement; `n_deals` is a multiple of 5, ten hands each."""
    if n_deals < 2 * len(DISTANCES) or n_deals % len(DISTANCES):
        raise ArenaError(f"expected a multiple of {len(DISTANCES)} deals, 10 or more, got {n_deals}")
    unknown = [name for name in enhancements if name not in ENHANCEMENTS]
    if unknown:
        raise ArenaError(f"expected enhancements of {', '.join(ENHANCEMENTS)}, got {', '.join(unknown)}")
    return [_measure(name, n_deals, seed, trials, jobs, progress) for name in enhancements]


def _measure(
    enhancement: str, n_deals: int, seed: int, trials: int, jobs: int, progress: Progress | None
) -> EnhancementResult:
    entry = ENHANCEMENTS[enhancement]
    bot = f"{entry.bot},trials={trials}"
    part = n_deals // len(DISTANCES)
    samples, seconds = [], 0.0
    for number, distance in enumerate(DISTANCES):
        seats = [bot if seat in (0, distance) else entry.opponents for seat in range(N_PLAYERS)]
        found = play_ring(seats, part, seed * len(DISTANCES) + number, jobs=jobs, block=max(1, part // jobs))
        chips = found.deal_chips[:, [0, distance]].sum(axis=1)
        samples.append(chips / (2 * N_PLAYERS * 10.0))  # two players, ten hands a deal, ten chips a small bet
        seconds += found.seconds
        if progress is not None:
            progress(enhancement, (number + 1) * part, n_deals)
    estimate = estimate_mean(np.concatenate(samples))
    return EnhancementResult(
        enhancement=enhancement,
        bot=bot,
        opponents=entry.opponents,
        deals=n_deals,
        hands=N_PLAYERS * n_deals,
        sb_per_hand=estimate.mean,
        ci95=estimate.half_width,
        published=entry.published,
        hands_per_second=N_PLAYERS * n_deals / seconds,
        seed=seed,
    )
