"""The published experiments of the five systems this project grew from, run again with our bots.

An experiment is a function `run(settings) -> Reproduction`; what it measures stands beside what was published, each
with its interval where there is one. `report.py` writes the table and the figure.
"""

from __future__ import annotations

from importlib import import_module

from hardbot.errors import BotError
from pipeline.reproduce.report import Reproduction, Settings

EXPERIMENTS: dict[str, str] = {
    "hardbot": "the gauntlet of three: poki, sparbot, vexbot",
    "loki": "two enhanced players against eight plain ones at a table of ten",
    "casey": "a case-based learner among RuleBots at tables of 4, 6 and 8",
    "soarbot": "a mixed table, and a table of bots only",
    "pokabayes": "heads-up against rulebot, always_call and soarbot",
}


def run_experiment(name: str, settings: Settings) -> Reproduction:
    """Run one of EXPERIMENTS."""
    if name not in EXPERIMENTS:
        raise BotError(f"expected an experiment of {', '.join(EXPERIMENTS)}, got {name!r}")
    found: Reproduction = import_module(f"pipeline.reproduce.{name}").run(settings)
    return found
