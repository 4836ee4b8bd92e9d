"""`hardbot reproduce`: the published experiments of the systems this project grew from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardbot.commands.options import Jobs, Json, Seed
from hardbot.commands.output import print_json, print_table


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("reproduce", epilog="Example: hardbot reproduce casey --quick --seed 1 --out reproduced")(reproduce)


def reproduce(
    name: Annotated[str, typer.Argument(help="hardbot, loki, casey, soarbot or pokabayes.", metavar="NAME")],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer hands: under two minutes.")] = False,
    seed: Seed = 1,
    out: Annotated[Path, typer.Option("--out", help="Folder for figure, table and JSON.")] = Path("reproduced"),
    jobs: Jobs = 1,
    as_json: Json = False,
) -> None:
    """Run a published experiment again: a figure, and a table with intervals beside the published values."""
    from rich.console import Console

    from pipeline.reproduce import run_experiment
    from pipeline.reproduce.report import COLUMN_NAMES, Settings, write_report

    console = Console(stderr=True)
    show = (lambda text: None) if as_json else (lambda text: console.print(text, style="dim"))
    settings = Settings(seed=seed, quick=quick, jobs=jobs, progress=show)
    result = run_experiment(name, settings)
    files = write_report(result, settings, out)
    if as_json:
        print_json(result.to_json(settings) | {"files": files})
        return
    print_table(result.title, COLUMN_NAMES, [row.cells() for row in result.rows])
    for note in result.notes:
        print(note)
    print(f"{result.seconds:.0f} s; wrote {', '.join(files.values())}")
