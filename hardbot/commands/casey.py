"""`hardbot casey`: let the case-based learner gather experience, and carry its case bases about."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardbot.commands.options import Json, Seed
from hardbot.commands.output import print_json, print_table


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    group = typer.Typer(
        no_args_is_help=True, help="Casey's memory: gather cases, export them as parquet, import them again."
    )
    group.command("learn", epilog="Example: hardbot casey learn rulebot rulebot rulebot --hands 50000 --out casey.npz")(
        learn
    )
    group.command("export", epilog="Example: hardbot casey export casey.npz cases")(export)
    group.command("import", epilog="Example: hardbot casey import cases casey.npz")(take)
    app.add_typer(group, name="casey")


def learn(
    opponents: Annotated[
        list[str], typer.Argument(help="One to nine opponents; a bot may come more than once.", metavar="BOT...")
    ],
    out: Annotated[Path, typer.Option("--out", help="File for the memory (npz).")],
    hands: Annotated[int, typer.Option("--hands", help="Hands to play, seats moving on by one.")] = 50_000,
    bot: Annotated[str, typer.Option("--bot", help="The learner, with options; casey:memory=FILE goes on.")] = "casey",
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Play one long session and keep all cases; `casey:memory=FILE` then plays with them anywhere."""
    from hardbot.arena.sessions import play_session
    from hardbot.bots.casey import Casey
    from hardbot.errors import BotError

    session = play_session([bot, *opponents], hands, seed)
    learner = session.players[0]
    if not isinstance(learner, Casey):
        raise BotError(f"expected casey with options, got {bot!r}")
    learner.save_memory(out)
    last = session.mean_sb(0, hands - hands // 5)
    document = {
        "bots": list(session.bots),
        "hands": hands,
        "cases": len(learner.preflop_) + len(learner.postflop_),
        "sb_per_hand_last_fifth": last.mean,
        "ci95": last.half_width if last.half_width == last.half_width else None,
        "seconds": session.seconds,
        "seed": seed,
        "out": str(out),
    }
    if as_json:
        print_json(document)
    else:
        print_table(f"{bot} learns", ["", "value"], [[key, str(value)] for key, value in document.items()])


def export(
    memory: Annotated[Path, typer.Argument(help="Memory of casey (npz).")],
    folder: Annotated[Path, typer.Argument(help="Folder for preflop.parquet and postflop.parquet.")],
    as_json: Json = False,
) -> None:
    """Write the case bases of a memory as parquet, a row a case."""
    from pipeline.cases import export_cases

    files = [str(file) for file in export_cases(memory, folder)]
    if as_json:
        print_json({"files": files})
    else:
        print("\n".join(files))


def take(
    folder: Annotated[Path, typer.Argument(help="Folder with preflop.parquet and postflop.parquet.")],
    memory: Annotated[Path, typer.Argument(help="Memory file to write (npz).")],
    as_json: Json = False,
) -> None:
    """Make a memory of casey from parquet files that `hardbot casey export` wrote."""
    from pipeline.cases import import_cases

    cases = import_cases(folder, memory)
    if as_json:
        print_json({"cases": cases, "memory": str(memory)})
    else:
        print(f"{cases:,} cases in {memory}")
