"""`hardbot adapt`: how fast the opponent term learns a player, in nats an action and bits about hidden cards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardbot.commands.output import format_cell, print_json, print_table, step_progress
from hardbot.errors import ModelError

if TYPE_CHECKING:
    from pipeline.histories import History


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("adapt", epilog="Example: hardbot adapt --bot always_raise --bot rulebot --hands 1000 --seed 2 --json")(
        adapt
    )


def adapt(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Hand histories, or one .duckdb store, with hands of --player.")
    ] = None,
    player: Annotated[
        list[str] | None, typer.Option("--player", help="Player of the histories; repeatable. Default: the busiest.")
    ] = None,
    busiest: Annotated[int, typer.Option("--busiest", help="Without --player: this many with most hands.")] = 1,
    skip: Annotated[int, typer.Option("--skip", help="With --busiest: leave out this many first.")] = 0,
    bot: Annotated[
        list[str] | None, typer.Option("--bot", help="A bot that plays a match on the spot; repeatable.")
    ] = None,
    against: Annotated[str, typer.Option("--against", help="Whom these bots play.")] = "sparbot",
    hands: Annotated[int, typer.Option("--hands", help="At most this many hands of each player.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option("--seed", help="Of matches on the spot.")] = 1,
    model: Annotated[str, typer.Option("--model", help="Model folder; default the current or the shipped one.")] = "",
    decay: Annotated[float | None, typer.Option("--decay", help="Memory kept a hand; default the project's.")] = None,
    grid: Annotated[bool, typer.Option("--grid", help="Try several decays and say which predicts best.")] = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Curves as an image.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Predict every action of a player before seeing it: corpus model against the model with the opponent term.

    Smaller nats and larger bits are better. Bits need sources that show the player's cards.
    """
    from hardbot.model.artifact import load_model
    from hardbot.model.likelihood import ActionModel
    from hardbot.model.opponent import DEFAULT_DECAY
    from pipeline.adaptation import GRID_DECAY, adapted, choose_decay, plot_adaptation, watch_player

    if not paths and not bot:
        raise ModelError("expected hand histories or --bot, got neither")
    decays = GRID_DECAY if grid else (DEFAULT_DECAY if decay is None else decay,)
    known = ActionModel(load_model(Path(model) if model else None))
    with step_progress(not as_json) as progress:
        streams = [
            watch_player(get(), name, known, decays, progress)
            for name, get in _sources(paths or [], player, (busiest, skip), bot or [], against, hands, seed)
        ]
    best, means = choose_decay(streams, decays)
    documents = [stream.to_json(adapted(best)) for stream in streams]
    if plot is not None:
        plot_adaptation(documents, plot)
    if as_json:
        rows = [{"decay": value, "nats": nats} for value, nats in means.items()]
        print_json({"decay": best, "decays": rows, "players": documents, "model_id": known.model.model_id})
        return
    _print(documents, means, best)


def _sources(
    paths: list[Path],
    players: list[str] | None,
    busiest: tuple[int, int],
    bots: list[str],
    against: str,
    hands: int,
    seed: int,
) -> list[tuple[str, Callable[[], History]]]:
    """Names of players and how to get at their hands."""
    from functools import partial

    from hardbot.arena.entrants import table_names
    from pipeline.adaptation import played_history
    from pipeline.histories import busiest_players, read_history, store_of

    found: list[tuple[str, Callable[[], History]]] = []
    for spec in bots:
        name = table_names((spec, against), None)[0]
        found.append((name, partial(played_history, spec, against, hands, seed)))
    if paths:
        with store_of(paths) as store:
            n, first = busiest
            names = players or [name for name, _ in busiest_players(store, first + n)][first:]
            for name in names:
                history = read_history(store, name, hands)
                found.append((name, partial(_same, history)))
    return found


def _same(history: History) -> History:
    return history


def _print(documents: list[dict[str, Any]], means: dict[float, float], best: float) -> None:
    rows = [
        [
            document["player"],
            f"{row['hands']:,}",
            *(format_cell(row[key]) for key in ("corpus", "adjusted", "gain", "ci95")),
        ]
        for document in documents
        for row in document["first"]
    ]
    print_table("nats an action over the first hands", ["player", "hands", "corpus", "adjusted", "gain", "+-"], rows)
    rows = [
        [document["player"], street, *(format_cell(bits[key]) for key in ("corpus", "adjusted")), f"{bits['n']:,}"]
        for document in documents
        for street, bits in document["range_bits"].items()
        if bits["n"]
    ]
    if rows:
        print_table("range_bits: about the player's true cards", ["player", "street", "corpus", "adjusted", "n"], rows)
    if len(means) > 1:
        rows = [[f"{decay:g}", f"{nats:.4f}"] for decay, nats in means.items()]
        print_table(f"decays, mean over players; best {best:g}", ["decay", "nats"], rows)
