"""`hardbot portfolio`: answers to kinds of players, solved beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardbot.commands.options import Json
from hardbot.commands.output import print_json, print_table, step_progress


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    group = typer.Typer(help="Answers to kinds of players, for hardbot:chooser=portfolio.", no_args_is_help=True)
    example = "Example: hardbot portfolio build --store hands.duckdb --players poki,rulebot --out my-portfolio"
    group.command("build", epilog=example)(build)
    group.command("info", epilog="Example: hardbot portfolio info --json")(info)
    app.add_typer(group, name="portfolio")


def build(
    out: Annotated[Path, typer.Option("--out", help="Folder to write; finished rivals in it are kept.")],
    players: Annotated[str, typer.Option("--players", help="Players of the store, with commas.")] = "",
    types: Annotated[
        str, typer.Option("--types", help="Bots that look at no cards, known without any hands.")
    ] = "always_call,always_raise,always_fold,random",
    adaptive: Annotated[
        str, typer.Option("--adaptive", help="Those of the players who learn fast: met with the equilibrium.")
    ] = "",
    store: Annotated[
        Path | None, typer.Option("--store", help="Store with their hands; default $HARDBOT_STORE or ./hardbot.duckdb.")
    ] = None,
    base: Annotated[
        Path | None, typer.Option("--base", help="Equilibrium strategy to lean on; default the shipped one.")
    ] = None,
    boards: Annotated[int, typer.Option("--boards", help="Boards an answer learns from.")] = 3_000,
    pairs: Annotated[int, typer.Option("--pairs", help="Deals of each match of the value table.")] = 20_000,
    seed: Annotated[int, typer.Option("--seed", help="Boards and deals follow from it.")] = 1,
    as_json: Json = False,
) -> None:
    """Fit the habits of players, solve the best answer to each, and play every answer against every player's habits."""
    from contextlib import nullcontext

    from hardbot.bots.sparbot import default_folder
    from hardbot.solver.strategy import load_strategy
    from pipeline.rivals import build_portfolio
    from pipeline.store import Store, default_store_path

    names = [name for name in players.split(",") if name]
    source = Store(store or default_store_path(), read_only=True) if names else nullcontext()
    with source as opened, step_progress(not as_json) as progress:
        manifest = build_portfolio(
            out,
            load_strategy(base or default_folder()),
            names,
            [name for name in types.split(",") if name],
            [name for name in adaptive.split(",") if name],
            opened,
            boards,
            pairs,
            seed,
            progress,
        )
    _show(manifest["rivals"], manifest["values"], as_json)


def info(
    folder: Annotated[Path | None, typer.Option("--portfolio", help="Folder; default the shipped one.")] = None,
    as_json: Json = False,
) -> None:
    """The rivals of a portfolio and what every answer wins against each of them."""
    from hardbot.bots.portfolio import default_portfolio, load_portfolio

    found = load_portfolio(folder or default_portfolio())
    _show([rival.name for rival in found.rivals], found.values.tolist(), as_json)


def _show(names: list[str], values: list[list[float]], as_json: bool) -> None:
    if as_json:
        print_json({"rivals": names, "values": values})
        return
    rows = [[name, *(f"{value:+.3f}" for value in row)] for name, row in zip(names, values, strict=True)]
    print_table("sb/hand of the answer to (row) against the habits of (column)", ["answer to", *names], rows)
