"""HardBot's gauntlet: matches against Poki, Sparbot and Vexbot, heads-up.

The paper played 1,000 hands each and reports being narrowly ahead of Poki and behind the other two; its digits are
lost. At a standard deviation of 5 to 6 sb a hand such a match resolves +-.31 to +-.37 sb/hand, so only the signs are
quoted. Here the sample is a fresh match of 1,000 duplicate deals (every bot begins without memory), many times over.
A second row an opponent has hardbot with a model that never saw that opponent's hands, where there is one.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hardbot.arena.gauntlet import unseen_model, with_model
from hardbot.errors import ArenaError
from pipeline.reproduce.matches import match_row
from pipeline.reproduce.report import Reproduction, Settings, draw_rows, rows_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OPPONENTS = {"poki": "narrowly ahead", "sparbot": "behind", "vexbot": "behind"}
BLOCK = 1_000
FULL_PAIRS, QUICK_PAIRS, QUICK_BLOCK = 10_000, 500, 50


def run(settings: Settings) -> Reproduction:
    """Play the three matches, and again with models that do not know the opponent."""
    start = time.perf_counter()
    n_pairs, block = (QUICK_PAIRS, QUICK_BLOCK) if settings.quick else (FULL_PAIRS, BLOCK)
    rows, missing = [], []
    for opponent, text in OPPONENTS.items():
        rows.append(match_row("hardbot", opponent, n_pairs, settings, block=block, published=text))
        try:
            spec = with_model("hardbot", unseen_model(opponent))
        except ArenaError:
            missing.append(opponent)
            continue
        label = "hardbot, opponent unseen"
        rows.append(match_row(spec, opponent, n_pairs, settings, block=block, label=label, published=text))

    def draw(figure: Figure) -> None:
        draw_rows(figure, rows, "HardBot's gauntlet")

    notes = [
        f"Duplicate matches in blocks of {block:,} deals; intervals over blocks. Nobody keeps memory between blocks.",
        "Published: 1,000 hands each, which resolve +-.31 to +-.37 sb/hand; only the signs are known.",
        "hardbot plays with its current model, whose corpus may hold hands of these opponents.",
    ]
    if missing:
        notes.append(f"No model without the hands of {', '.join(missing)} was found (hardbot train --without-player).")
    return Reproduction(
        "hardbot", "HardBot's gauntlet of three", rows, notes, time.perf_counter() - start, draw, rows_size(rows)
    )
