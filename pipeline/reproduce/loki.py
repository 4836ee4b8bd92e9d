"""Loki's self-play tournaments: two enhanced players against eight plain ones, ten at the table.

The tournament itself is `hardbot.arena.experiments`; the published one had 2,500 deals in ten rotations each and 500
trials a simulation.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hardbot.arena.experiments import PLAIN, loki_experiment
from pipeline.reproduce.report import Reproduction, Row, Settings, draw_rows, rows_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHAT = {
    "generic": "generic modelling",
    "simulation": "simulation",
    "both": "both",
    "simulation-over-generic": "both among eight with modelling",
}
FULL_DEALS, FULL_TRIALS = 2_500, 500
QUICK_DEALS = {"generic": 600, "simulation": 200, "both": 200, "simulation-over-generic": 200}
QUICK_TRIALS = 200


def run(settings: Settings) -> Reproduction:
    """Play the tournaments; in one process, since its blocks would otherwise depend on the number of jobs."""
    start = time.perf_counter()
    trials = QUICK_TRIALS if settings.quick else FULL_TRIALS
    rows = []
    for enhancement, what in WHAT.items():
        n_deals = QUICK_DEALS[enhancement] if settings.quick else FULL_DEALS
        settings.progress(f"loki with {what}: {10 * n_deals:,} hands")
        (found,) = loki_experiment(n_deals, settings.seed, enhancements=[enhancement], trials=trials)
        value, spread = found.published or (None, None)
        rows.append(Row("2 against 8", what, found.sb_per_hand, found.ci95, value, spread, hands=found.hands))

    def draw(figure: Figure) -> None:
        draw_rows(figure, rows, "Enhanced Loki against plain Loki, ten at the table")

    notes = [
        f"Winnings of the two enhanced players; {trials} trials a simulation; every deal in ten rotations, "
        "intervals over deals.",
        f"Plain player: {PLAIN}.",
    ]
    seconds = time.perf_counter() - start
    return Reproduction("loki", "Loki: enhanced against plain", rows, notes, seconds, draw, rows_size(rows))
