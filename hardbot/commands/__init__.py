"""Command groups of `hardbot`, one file an area; each has `register(app)`.

Modules here import only typer and light parts of the project at the top.
"""

from __future__ import annotations

from collections.abc import Callable

import typer

from hardbot.commands import (
    adapt,
    arena,
    casey,
    corpus,
    explain,
    game,
    gauntlet,
    live,
    portfolio,
    reproduce,
    schedule,
    scout,
    seedbots,
    solver,
    tables,
    training,
    web,
)

AREAS: tuple[Callable[[typer.Typer], None], ...] = (
    game.register,
    tables.register,
    arena.register,
    gauntlet.register,
    explain.register,
    adapt.register,
    scout.register,
    portfolio.register,
    corpus.register,
    training.register,
    schedule.register,
    casey.register,
    seedbots.register,
    reproduce.register,
    live.register,
    web.register,
    solver.register,
)
