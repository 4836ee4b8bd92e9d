"""`hardbot match` and `hardbot ring`: bots against each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from hardbot.commands.options import Jobs, Json, Seed
from hardbot.commands.output import print_json, print_table, step_progress

Block = Annotated[
    int, typer.Option("--block", help="Deals a bot instance lives for; its memory starts empty each time.")
]
Log = Annotated[Path | None, typer.Option("--log", help="Write a dealer log here (.gz compresses).")]
Progress = Callable[[int, int], None]


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("match", epilog="Example: hardbot match rulebot always_call --pairs 10000 --seed 1 --json")(match)
    app.command("ring", epilog="Example: hardbot ring rulebot random always_call --deals 2000 --json")(ring)


def match(
    first: Annotated[str, typer.Argument(help="Bot whose winnings are reported, such as rulebot.", metavar="BOT")],
    second: Annotated[str, typer.Argument(help="Its opponent; options as in loki:trials=100.", metavar="BOT")],
    pairs: Annotated[int, typer.Option("--pairs", help="Deals; each is played twice with the seats swapped.")] = 10_000,
    seed: Seed = 1,
    jobs: Jobs = 1,
    block: Block = 1_000,
    log: Log = None,
    single: Annotated[bool, typer.Option("--single", help="Play each deal once only.")] = False,
    window: Annotated[
        str | None, typer.Option("--window", help="Count only these hands of each block, such as 5001-10000.")
    ] = None,
    python: Annotated[
        bool, typer.Option("--python", help="Never use the compiled loop, not even for two table bots.")
    ] = False,
    timed: Annotated[bool, typer.Option("--timed", help="Also measure the bots' time for a decision.")] = False,
    as_json: Json = False,
) -> None:
    """Two bots heads-up on duplicate deals: sb a hand of the first one, with a 95% interval.

    Every deal is played twice with the seats swapped, by two instances of each bot that know nothing of
    each other. If a bot learns, the interval is over blocks, else over pairs.
    """
    from hardbot.arena.match import play_match

    hands = _parse_window(window)
    with _progress_bar(not as_json) as progress:
        result = play_match(
            first,
            second,
            pairs,
            seed,
            block=block,
            jobs=jobs,
            duplicate=not single,
            log=log,
            progress=progress,
            compiled=False if python else "auto",
            window=hands,
            timed=timed,
        )
    document = result.to_json()
    if as_json:
        print_json(document)
        return
    rows = [["hands", f"{result.hands:,}"], ["sb/hand of the first", _with_interval(result.sb_per_hand, result.ci95)]]
    rows.append([f"standard deviation of a {'hand' if single else 'pair'}", f"{result.sd_pair:.3f}"])
    if result.decision_ms is not None:
        rows.append(["ms a decision", " / ".join(f"{ms:.3f}" for ms in result.decision_ms)])
    rows.append(["interval over", result.interval])
    rows.append(["hands a second", f"{result.hands_per_second:,.0f}"])
    print_table(f"{first} against {second}", ["", "value"], rows)


def ring(
    bots: Annotated[
        list[str], typer.Argument(help="Two to ten bots; a bot may come more than once.", metavar="BOT...")
    ],
    deals: Annotated[int, typer.Option("--deals", help="Deals; each is played once in every seat rotation.")] = 1_000,
    seed: Seed = 1,
    jobs: Jobs = 1,
    block: Block = 1_000,
    log: Log = None,
    as_json: Json = False,
) -> None:
    """A table of bots: every deal is replayed once for every rotation of the seats."""
    from hardbot.arena.ring import play_ring

    with _progress_bar(not as_json) as progress:
        result = play_ring(bots, deals, seed, block=block, jobs=jobs, log=log, progress=progress)
    if as_json:
        print_json(result.to_json())
        return
    scores = zip(result.bots, result.sb_per_hand, result.ci95, result.sd_deal, strict=True)
    rows = [[bot, _with_interval(mean, half), f"{sd:.3f}"] for bot, mean, half, sd in scores]
    title = f"{result.hands:,} hands, {result.hands_per_second:,.0f} a second, interval over {result.interval}"
    print_table(title, ["bot", "sb/hand", "sd of a deal"], rows)


def _with_interval(mean: float, half_width: float) -> str:
    if math.isnan(half_width):
        return f"{mean:+.4f} (one sample: no interval)"
    return f"{mean:+.4f} ± {half_width:.4f}"


def _parse_window(text: str | None) -> tuple[int, int] | None:
    """`5001-10000` as the half-open range of hands from 0 the arena takes."""
    from hardbot.errors import ArenaError

    if text is None:
        return None
    first, dash, last = text.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
        raise ArenaError(f"expected a window of hands such as 5001-10000, got {text!r}")
    return int(first) - 1, int(last)


@contextmanager
def _progress_bar(wanted: bool) -> Iterator[Progress | None]:
    """A bar of deals on a terminal, else nothing."""
    with step_progress(wanted) as update:
        yield None if update is None else lambda done, total: update("deals", done, total)
