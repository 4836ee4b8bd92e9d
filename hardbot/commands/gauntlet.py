"""`hardbot gauntlet` and `hardbot crosstable`: bots against many others, with a verdict one can trust."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardbot.commands.options import Jobs
from hardbot.commands.output import print_table

if TYPE_CHECKING:
    from hardbot.arena.series import Fixture, SeriesSettings, Standing

Bots = Annotated[str, typer.Option("--bots", help="Bots such as poki,rulebot; all: those of the published table.")]
Pairs = Annotated[int, typer.Option("--pairs", help="Deals a match, each played twice with the seats swapped.")]
Ci = Annotated[
    float | None, typer.Option("--ci", help="End a match when its 95% interval is +- this many sb/hand or narrower.")
]
Sequential = Annotated[
    bool, typer.Option("--sequential", help="End a match when the confidence sequence leaves out 0.")
]
Seed = Annotated[int, typer.Option("--seed", help="Deals, names and bots' randomness follow from it.")]
Block = Annotated[
    int, typer.Option("--block", help="Deals a bot instance lives for; its memory starts empty each time.")
]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the results here; - prints them.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Write a page with tables and drawings here.")]
StoreFile = Annotated[Path | None, typer.Option("--store", help="Add the results to this DuckDB store.")]
State = Annotated[
    Path | None,
    typer.Option("--state", help="Folder of finished blocks; a killed run goes on from them. Default: the user's."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Keep and use no finished blocks.")]
_COLUMNS = ("opponent", "hands", "sb/hand ± 95%", "verdict", "raw", "var. ÷", "ms/act")
_LIVE = 4  # columns of the live table, and the blocks


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("gauntlet", epilog="Example: hardbot gauntlet --hero rulebot --bots always_call,random --pairs 2000")(
        gauntlet
    )
    app.command("crosstable", epilog="Example: hardbot crosstable --bots rulebot,random,always_call --pairs 1000")(
        crosstable
    )


def gauntlet(
    hero: Annotated[str, typer.Option("--hero", help="Bot whose winnings are reported.")] = "hardbot",
    bots: Bots = "all",
    pairs: Pairs = 5_000,
    ci: Ci = None,
    sequential: Sequential = False,
    jobs: Jobs = 2,
    seed: Seed = 1,
    block: Block = 1_000,
    unseen: Annotated[
        bool, typer.Option("--unseen", help="Against each opponent use the model unseen-OPPONENT, without its hands.")
    ] = False,
    json_file: JsonFile = None,
    html_file: HtmlFile = None,
    store: StoreFile = None,
    state: State = None,
    fresh: Fresh = False,
) -> None:
    """One bot against many on duplicate deals: sb a hand with 95% intervals and a verdict for each.

    Bots start every block without memory and under new names. The luck of the board cards is taken off without
    bias; if a bot learns, the interval is over blocks, else over pairs. With --ci or --sequential the pairs are the
    most that are played.
    """
    from hardbot.arena.gauntlet import OPPONENTS, chosen_bots, gauntlet_fixtures
    from hardbot.arena.series import SeriesSettings

    settings = SeriesSettings(pairs, seed, block, ci, sequential)
    fixtures = gauntlet_fixtures(hero, chosen_bots(bots, OPPONENTS), unseen=unseen)
    _run("gauntlet", fixtures, settings, jobs, (json_file, html_file, store), _folder(state, fresh), unseen=unseen)


def crosstable(
    bots: Bots = "all",
    pairs: Pairs = 2_000,
    ci: Ci = None,
    sequential: Sequential = False,
    jobs: Jobs = 2,
    seed: Seed = 1,
    block: Block = 1_000,
    json_file: JsonFile = None,
    html_file: HtmlFile = None,
    store: StoreFile = None,
    state: State = None,
    fresh: Fresh = False,
) -> None:
    """Every bot against every other on the same duplicate deals, with 95% intervals."""
    from hardbot.arena.gauntlet import HERO, OPPONENTS, chosen_bots, cross_fixtures
    from hardbot.arena.series import SeriesSettings

    settings = SeriesSettings(pairs, seed, block, ci, sequential)
    fixtures = cross_fixtures(chosen_bots(bots, (HERO, *OPPONENTS)))
    _run("crosstable", fixtures, settings, jobs, (json_file, html_file, store), _folder(state, fresh))


def _folder(state: Path | None, fresh: bool) -> Path | None:
    from hardbot.arena.gauntlet import state_folder
    from hardbot.errors import ArenaError

    if fresh and state is not None:
        raise ArenaError("expected either --state or --fresh, got both")
    return None if fresh else state or state_folder()


def _run(
    kind: str,
    fixtures: Sequence[Fixture],
    settings: SeriesSettings,
    jobs: int,
    files: tuple[Path | None, Path | None, Path | None],
    state: Path | None,
    *,
    unseen: bool = False,
) -> None:
    from hardbot.arena.gauntlet import document_of, results_folder
    from hardbot.arena.series import play_series

    json_file, html_file, store = files
    _check_files(json_file, html_file)
    with _live_table(kind) as show:
        standings = play_series(fixtures, settings, jobs=jobs, state=state, on_block=show)
    document = document_of(kind, standings, settings, unseen=unseen)
    if store is not None:
        from pipeline.results import publish_results, save_match_results

        save_match_results(store, [document])
        publish_results(document, results_folder())
    if html_file is not None:
        from pipeline.gauntlet_page import gauntlet_page

        html_file.write_text(gauntlet_page(document), encoding="utf-8")
    if json_file is not None and str(json_file) != "-":
        json_file.write_text(json.dumps(document, allow_nan=False) + "\n", encoding="utf-8")
    if str(json_file) == "-":
        print(json.dumps(document, allow_nan=False))
    else:
        _print_results(kind, document)


def _check_files(*paths: Path | None) -> None:
    """Refuse, before anything is played, files that cannot be written."""
    from hardbot.errors import ArenaError

    for path in paths:
        if path is not None and str(path) != "-" and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise ArenaError(f"expected a file in an existing folder to write results to, got {path}")


def _print_results(kind: str, document: dict[str, Any]) -> None:
    title = f"{kind}, seed {document['seed']}, blocks of {document['block']:,} deals"
    rows = [[_name(kind, row), *_cells(row)] for row in document["rows"]]
    print_table(title, _COLUMNS if kind == "gauntlet" else ("match", *_COLUMNS[1:]), rows)
    styles = [
        [bot, *(_number(style[key], ".2f" if key == "aggression" else ".1%") for key in list(style)[:5])]
        for bot, style in document["styles"].items()
    ]
    columns = ["style", "entry", "raise", "aggression", "showdown", "won there"]
    print_table("", columns, styles)


def _name(kind: str, row: dict[str, Any]) -> str:
    return str(row["opponent"]) if kind == "gauntlet" else f"{row['hero']} – {row['opponent']}"


def _cells(row: dict[str, Any]) -> list[str]:
    timing = row["decision_ms"]
    return [
        f"{row['hands']:,}",
        f"{_number(row['sb_per_hand'], '+.3f')} ± {_number(row['ci95'], '.3f')}",
        row["verdict"],
        _number(row["raw_sb_per_hand"], "+.3f"),
        _number(row["variance_factor"], ".2f"),
        "table" if timing is None else f"{timing[0]:.2f}",
    ]


def _number(value: float | None, pattern: str) -> str:
    return "–" if value is None else format(value, pattern)


@contextmanager
def _live_table(kind: str) -> Iterator[Callable[[Sequence[Standing]], None] | None]:
    """A table on the terminal that follows the matches; nothing where there is no terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.live import Live
    from rich.table import Table

    from hardbot.arena.gauntlet import row_of

    with Live(console=console, transient=True, auto_refresh=False) as live:

        def show(standings: Sequence[Standing]) -> None:
            table = Table(title=kind)
            for position, column in enumerate((*_COLUMNS[:_LIVE], "blocks")):
                table.add_column(column, justify="left" if position == 0 else "right")
            for standing in standings:
                row = row_of(standing)
                blocks = f"{len(standing.blocks)}/{standing.n_blocks}" + (" done" if standing.ended_by else "")
                table.add_row(_name(kind, row), *_cells(row)[: _LIVE - 1], blocks)
            live.update(table, refresh=True)

        yield show
