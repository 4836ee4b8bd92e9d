"""`hardbot tables`: the exact feature tables in the cache folder."""

from __future__ import annotations

from typing import Annotated

import typer

from hardbot.commands.options import Json
from hardbot.commands.output import print_json, print_table, step_progress


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    group = typer.Typer(help="Exact features of every flop and turn hand, computed once.", no_args_is_help=True)
    group.command("build", epilog="Example: hardbot tables build --street flop")(build)
    group.command("info", epilog="Example: hardbot tables info --json")(info)
    app.add_typer(group, name="tables")


def build(
    street: Annotated[str, typer.Option("--street", help="flop, turn or both.")] = "both",
    threads: Annotated[int, typer.Option("--threads", help="Threads; 0 takes one a core.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Build again even if a sound table is there.")] = False,
    as_json: Json = False,
) -> None:
    """Compute the tables that are missing or outdated: about a minute on two cores."""
    import time

    from hardbot.errors import TableError
    from hardbot.game.feature_tables import STREETS, build_table, load_table

    wanted = [number for number, name in STREETS.items() if street in (name, "both")]
    if not wanted or threads < 0:
        raise TableError(
            f"expected --street flop, turn or both and --threads of 0 or more, got {street!r} and {threads}"
        )
    rows = []
    for number in wanted:
        start = time.perf_counter()
        try:
            if force:
                raise TableError("asked for again")
            table = load_table(number)
        except TableError:
            with step_progress(not as_json) as progress:
                table = build_table(number, progress, threads or None)
        rows.append({"street": STREETS[number], "rows": len(table), "seconds": round(time.perf_counter() - start, 1)})
    if as_json:
        print_json(rows)
        return
    print_table("feature tables", ["street", "rows", "seconds"], [[str(v) for v in row.values()] for row in rows])


def info(as_json: Json = False) -> None:
    """Which tables are there, how large, and whether they are sound."""
    from hardbot.errors import TableError
    from hardbot.game.feature_tables import STREETS, load_table
    from hardbot.game.storage import cache_folder

    rows = []
    for number, name in STREETS.items():
        try:
            table = load_table(number)
            rows.append({"street": name, "rows": len(table), "bytes": int(table.array.nbytes), "state": "sound"})
        except TableError as error:
            rows.append({"street": name, "rows": 0, "bytes": 0, "state": str(error)})
    if as_json:
        print_json({"folder": str(cache_folder()), "tables": rows})
        return
    print_table(
        f"tables in {cache_folder()}",
        ["street", "rows", "bytes", "state"],
        [[str(v) for v in r.values()] for r in rows],
    )
