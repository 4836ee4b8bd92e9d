"""Loki's self-play tournaments: two enhanced players against eight plain ones, ten at the table.

Published (duplicate, 2,500 deals in ten rotations, 500 trials a simulation): generic opponent modelling +.031 +- .019
sb/hand, simulation +.093 +- .040, both +.095 +- .045. As there, the plain player has neither.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pipeline.reproduce.matches import mean_of, play_table
from pipeline.reproduce.report import Reproduction, Row, Settings, draw_rows, rows_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLAIN = "loki:simulate=no,generic=no,specific=no"
PUBLISHED = {"generic modelling": (0.031, 0.019), "simulation": (0.093, 0.040), "both": (0.095, 0.045)}
N_ENHANCED, N_SEATS = 2, 10
BLOCK = 50
FULL_DEALS, FULL_TRIALS = 2_500, 500
QUICK_DEALS = {"generic modelling": 400, "simulation": 200, "both": 200}
QUICK_TRIALS = 100


def enhanced_spec(what: str, trials: int) -> str:
    """The enhanced player of one of PUBLISHED."""
    if what == "generic modelling":
        return "loki:simulate=no,generic=yes,specific=no"
    return f"loki:simulate=yes,trials={trials},generic={'yes' if what == 'both' else 'no'},specific=no"


def run(settings: Settings) -> Reproduction:
    """Play the three tournaments."""
    start = time.perf_counter()
    trials = QUICK_TRIALS if settings.quick else FULL_TRIALS
    rows = []
    for what, (value, spread) in PUBLISHED.items():
        specs = [enhanced_spec(what, trials)] * N_ENHANCED + [PLAIN] * (N_SEATS - N_ENHANCED)
        n_deals = QUICK_DEALS[what] if settings.quick else FULL_DEALS
        result = play_table(specs, n_deals, settings, block=BLOCK)
        found = mean_of(result, range(N_ENHANCED))
        rows.append(Row("2 against 8", what, found.mean, found.half_width, value, spread, hands=result.hands))

    def draw(figure: Figure) -> None:
        draw_rows(figure.subplots(), rows, "Enhanced Loki against plain Loki, ten at the table")

    notes = [
        f"Winnings of the two enhanced players; {trials} trials a simulation; every deal in ten rotations.",
        f"Plain player: {PLAIN}.",
    ]
    return Reproduction(
        "loki", "Loki: enhanced against plain", rows, notes, time.perf_counter() - start, draw, rows_size(rows)
    )
