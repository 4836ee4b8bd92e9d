"""HardBot's gauntlet: matches against Poki, Sparbot and Vexbot, heads-up.

The paper played 1,000 hands each and reports being narrowly ahead of Poki and behind the other two; its digits are
lost. At a standard deviation of 5 to 6 sb a hand such a match resolves +-.31 to +-.37 sb/hand, so only the signs are
quoted. Here the sample is a fresh match of 1,000 duplicate deals (every bot begins without memory), many times over.
A second row an opponent has hardbot with nothing in it that was learned from that opponent: a model without its hands,
where there is one, and no answer of the portfolio that was made against it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hardbot.arena.gauntlet import unseen_spec
from hardbot.errors import ArenaError
from pipeline.reproduce.matches import match_row
from pipeline.reproduce.report import Reproduction, Settings, draw_rows, rows_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HERO = "hardbot"
OPPONENTS = {"poki": "narrowly ahead", "sparbot": "behind", "vexbot": "behind"}
BLOCK = 1_000
FULL_PAIRS, QUICK_PAIRS, QUICK_BLOCK = 10_000, 500, 50


def run(settings: Settings) -> Reproduction:
    """Play the three matches, and again with a hero that does not know the opponent."""
    start = time.perf_counter()
    n_pairs, block = (QUICK_PAIRS, QUICK_BLOCK) if settings.quick else (FULL_PAIRS, BLOCK)
    rows, missing = [], []
    for opponent, text in OPPONENTS.items():
        rows.append(match_row(HERO, opponent, n_pairs, settings, block=block, published=text))
        try:
            spec = unseen_spec(HERO, opponent)
        except ArenaError:
            missing.append(opponent)
            continue
        label = f"{HERO}, opponent unseen"
        rows.append(match_row(spec, opponent, n_pairs, settings, block=block, label=label, published=text))

    def draw(figure: Figure) -> None:
        draw_rows(figure, rows, "HardBot's gauntlet")

    notes = [
        f"Duplicate matches in blocks of {block:,} deals; intervals over blocks. Nobody keeps memory between blocks.",
        "Published: 1,000 hands each, which resolve +-.31 to +-.37 sb/hand; only the signs are known.",
        "hardbot plays with its current model and portfolio, which may know these opponents; unseen means they do not.",
    ]
    if missing:
        notes.append(f"No model without the hands of {', '.join(missing)} was found (hardbot train --without-player).")
    return Reproduction(
        "hardbot", "HardBot's gauntlet of three", rows, notes, time.perf_counter() - start, draw, rows_size(rows)
    )
