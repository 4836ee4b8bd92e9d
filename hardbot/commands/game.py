"""`hardbot features`, `hardbot tables` and `hardbot bots`: the game itself."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from hardbot.commands.options import Json
from hardbot.commands.output import print_json, print_table


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("features", epilog="Example: hardbot features AdQc Jh4c3h --json")(features)
    app.command("bots", epilog="Example: hardbot bots --json")(bots)


def features(
    hole: Annotated[str, typer.Argument(help="Two hole cards, such as AdQc.")],
    board: Annotated[str, typer.Argument(help="Three to five board cards, such as Jh4c3h.")],
    as_json: Json = False,
) -> None:
    """Exact HS, E, E2, PPot, NPot and the 3x3 potential counts of a hand on a board."""
    from hardbot.game.cards import check_distinct, format_cards, parse_board, parse_hole

    hole_cards, board_cards = parse_hole(hole), parse_board(board, sizes=(3, 4, 5))
    check_distinct(hole_cards + board_cards)
    from hardbot.game.features import hand_features

    found = hand_features(hole_cards, board_cards)
    row = asdict(found) | {"hole": format_cards(hole_cards), "board": format_cards(board_cards)}
    if as_json:
        print_json(row)
        return
    print_table(
        f"{row['hole']} on {row['board']}",
        ["feature", "value"],
        [[key, f"{row[key]:.6f}"] for key in ("hs", "e", "e2", "ppot", "npot", "ppot1", "npot1")],
    )
    names = ("ahead", "tied", "behind")
    print_table(
        "potential: now (rows) and at the river (columns)",
        ["now", "hands", *names],
        [[name, str(row[name]), *(f"{int(cell):,}" for cell in row["hp"][i])] for i, name in enumerate(names)],
    )


def bots(as_json: Json = False) -> None:
    """The bots that can play, and the tables they sit at."""
    from hardbot.bots.registry import BOTS, bot_class

    rows = []
    for name, entry in sorted(BOTS.items()):
        sizes = bot_class(name).table_sizes
        rows.append({"name": name, "seats": [sizes.start, sizes.stop - 1], "summary": entry.summary})
    if as_json:
        print_json(rows)
        return
    print_table(
        "bots",
        ["bot", "seats", "what it does"],
        [[str(r["name"]), "-".join(map(str, r["seats"])), str(r["summary"])] for r in rows],
    )
