"""`hardbot scout` and `hardbot review`: what stored hands tell about a player, and the ranges of a history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hardbot.commands.options import Json
from hardbot.commands.output import format_cell, print_json, print_table, step_progress

Model = Annotated[str, typer.Option("--model", help="Model folder; default the current or the shipped one.")]
N_LEAKS = 15


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("scout", epilog="Example: hardbot scout poki --store hands.duckdb --json")(scout)
    app.command("review", epilog="Example: hardbot review data/sample.log.gz --hand 3 --json")(review)


def scout(
    player: Annotated[str, typer.Argument(help="Name as it stands in the hands.")],
    store: Annotated[
        Path | None, typer.Option("--store", help="Store to read; default $HARDBOT_STORE or ./hardbot.duckdb.")
    ] = None,
    model: Model = "",
    hands: Annotated[int | None, typer.Option("--hands", help="Only the first hands.", min=1)] = None,
    as_json: Json = False,
) -> None:
    """How a player acts with which strength, against the corpus; leaks by what is at stake; folds to bets; drift."""
    from hardbot.model.artifact import load_model
    from hardbot.model.likelihood import ActionModel
    from pipeline.scout import scout as run_scout
    from pipeline.store import default_store_path

    known = ActionModel(load_model(Path(model) if model else None))
    with step_progress(not as_json) as progress:
        report = run_scout(store or default_store_path(), player, known, hands, progress)
    if as_json:
        print_json(report)
        return
    _print_scout(report)


def _print_scout(report: dict[str, Any]) -> None:
    half = "" if report["ci95"] is None else f" +- {report['ci95']:.2f}"
    print(
        f"{report['player']}: {report['hands']:,} hands, cards known in {report['cards_known']:,}; "
        f"{report['sb_per_hand']:+.3f}{half} sb a hand"
    )
    rows = [
        [
            f"{leak['street']}, {'facing a bet' if leak['facing_bet'] else 'no bet'}, {leak['strength']} hands",
            f"{leak['action']} {leak['tendency']}",
            f"{leak['share']:.2f} ({leak['low']:.2f}-{leak['high']:.2f})",
            *(f"{leak[key]:.2f}" for key in ("corpus", "stake_sb")),
            *(f"{leak[key]:.0f}" for key in ("surprise", "n")),
        ]
        for leak in report["leaks"][:N_LEAKS]
    ]
    columns = ["where", "what", "share (95%)", "corpus", "stake sb/hand", "surprise nats", "n"]
    print_table(f"{len(report['leaks'])} leaks, largest stake first", columns, rows)
    rows = [
        [
            row["street"],
            f"{row['share']:.2f} ({row['low']:.2f}-{row['high']:.2f})",
            f"{row['break_even']:.2f}",
            f"{row['bluff_gain_sb']:+.2f}",
            "yes" if row["exploitable"] else "",
            f"{row['n']:,}",
        ]
        for row in report["folds_to_bets"]
    ]
    print_table("folds to bets", ["street", "folds (95%)", "break-even", "bluff gains sb", "always pays", "n"], rows)
    parts = report["drift"]["parts"]
    rows = [[name, *(format_cell(part[name], pattern=".3f") for part in parts)] for name in parts[0]]
    evidence = report["drift"]["log_bayes_factor"]
    print_table(
        f"over time; log Bayes factor of a change between the halves {evidence:+.1f}",
        ["figure", *(f"part {number + 1}" for number in range(len(parts)))],
        rows,
    )


def review(
    paths: Annotated[list[Path], typer.Argument(help="Hand histories of any format that is read, or a .duckdb store.")],
    hand: Annotated[str | None, typer.Option("--hand", help="Only the hand with this number.")] = None,
    model: Model = "",
    limit: Annotated[int, typer.Option("--limit", help="At most this many hands.", min=1)] = 20,
    adapt: Annotated[bool, typer.Option("--adapt", help="Learn both players from hand to hand.")] = False,
    as_json: Json = False,
) -> None:
    """The ranges of both players after every action of a history: likeliest hands, and bits about the true one."""
    from hardbot.model.artifact import load_model
    from hardbot.model.likelihood import ActionModel
    from pipeline.review import review as run_review

    known = ActionModel(load_model(Path(model) if model else None))
    hands = run_review(paths, known, hand=hand, limit=limit, adapt=adapt)
    if as_json:
        print_json(hands)
        return
    for document in hands:
        _print_hand(document)


def _print_hand(document: dict[str, Any]) -> None:
    holes = " - ".join(
        f"{name} {hole or 'hidden'} {net:+.1f}"
        for name, hole, net in zip(document["players"], document["holes"], document["net_sb"], strict=True)
    )
    rows = [
        [
            f"{row['street']}: {row['player']} {row['action']}",
            " / ".join(f"{p:.2f}" for p in row["expected"]),
            " ".join(f"{name} {p:.3f}" for name, p in row["top"]),
            "-" if row["bits"] is None else f"{row['bits']:+.2f}",
        ]
        for row in document["actions"]
    ]
    title = f"hand {document['hand']}: {holes}, board {document['board'] or 'none'}"
    print_table(title, ["action", "expected f/c/r", "likeliest hands after it", "bits"], rows)
