"""PokaBayes heads-up against rulebot, always_call and soarbot.

Its authors published no results, so there is nothing to stand beside the measured values.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pipeline.reproduce.matches import match_row
from pipeline.reproduce.report import Reproduction, Settings, draw_rows, rows_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OPPONENTS = ("rulebot", "always_call", "soarbot")
HEROES = ("pokabayes", "pokabayes:learn=yes")
BLOCK = 1_000
FULL_PAIRS, QUICK_PAIRS, QUICK_BLOCK = 10_000, 1_000, 250


def run(settings: Settings) -> Reproduction:
    """Play the matches, with the amateur opponent model and with the one learnt from past games."""
    start = time.perf_counter()
    n_pairs, block = (QUICK_PAIRS, QUICK_BLOCK) if settings.quick else (FULL_PAIRS, BLOCK)
    rows = [match_row(hero, opponent, n_pairs, settings, block=block) for hero in HEROES for opponent in OPPONENTS]

    def draw(figure: Figure) -> None:
        draw_rows(figure, rows, "PokaBayes heads-up")

    notes = [
        f"Duplicate matches in blocks of {block:,} deals; intervals over pairs, or over blocks where a bot learns.",
        "The authors published no results. learn=yes: the opponent table learns from past games.",
    ]
    return Reproduction(
        "pokabayes", "PokaBayes heads-up", rows, notes, time.perf_counter() - start, draw, rows_size(rows)
    )
