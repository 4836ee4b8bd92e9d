"""`hardbot acpc`, `hardbot dealer` and `hardbot play`: bots at real tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from hardbot.commands.options import Json
from hardbot.commands.output import print_json, print_table

if TYPE_CHECKING:
    from hardbot.live.terminal import Read, Screen


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("acpc", epilog="Example: hardbot acpc localhost 18791 --bot rulebot --seed 1")(acpc)
    app.command("dealer", epilog="Example: hardbot dealer --bots 2 --hands 1000 --seed 1 --port0 18791 --log m.log")(
        dealer
    )
    app.command("play", epilog="Example: hardbot play --bot rulebot --hands 20 --study")(play)


def acpc(
    host: Annotated[str, typer.Argument(help="Where the dealer is.")],
    port: Annotated[int, typer.Argument(help="The port it keeps for this player.")],
    bot: Annotated[str, typer.Option("--bot", help="Who plays; options as in loki:trials=100.")] = "hardbot",
    seed: Annotated[int, typer.Option("--seed", help="The bot's randomness follows from it.")] = 0,
    name: Annotated[str, typer.Option("--name", help="What the bot calls itself.")] = "hardbot",
    connect_limit: Annotated[float, typer.Option("--connect-limit", help="Seconds to wait for the dealer.")] = 10.0,
    as_json: Json = False,
) -> None:
    """Play a bot at a competition dealer's table until the dealer hangs up (protocol 2.0.0, limit hold'em)."""
    from hardbot.live.acpc_client import play_at_dealer

    result = play_at_dealer(host, port, bot, seed=seed, name=name, connect_limit_s=connect_limit)
    if as_json:
        print_json({"bot": bot, "hands": result.hands, "net_chips": result.net_chips, "net_sb": result.net_sb})
        return
    print_table(
        f"{bot} at {host}:{port}", ["", "value"], [["hands", f"{result.hands:,}"], ["sb", f"{result.net_sb:+g}"]]
    )


def dealer(
    bots: Annotated[int, typer.Option("--bots", help="Players, 2 to 10.")] = 2,
    hands: Annotated[int, typer.Option("--hands", help="Hands of the match.")] = 1_000,
    seed: Annotated[int, typer.Option("--seed", help="The cards follow from it, the same as in the arena.")] = 1,
    port0: Annotated[
        int, typer.Option("--port0", help="Port of the first player, the others' follow; 0 takes free ones.")
    ] = 0,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    names: Annotated[str, typer.Option("--names", help="Players' names, as ann,bob.")] = "",
    log: Annotated[Path | None, typer.Option("--log", help="Write a dealer log here (.gz compresses).")] = None,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds for one answer.")] = 10.0,
    hand_limit: Annotated[float, typer.Option("--hand-limit", help="Seconds of one player for one hand.")] = 60.0,
    average_limit: Annotated[
        float, typer.Option("--average-limit", help="Seconds of one player a hand, on average over the match.")
    ] = 7.0,
    start_limit: Annotated[float, typer.Option("--start-limit", help="Seconds until all have connected.")] = 60.0,
    illegal_limit: Annotated[
        int, typer.Option("--illegal-limit", help="Illegal answers that are changed to calls; one more forfeits.")
    ] = 100,
    as_json: Json = False,
) -> None:
    """Deal a match to programs that connect over TCP (competition protocol 2.0.0).

    The first line on standard output has the players' ports, as the competition's dealer prints them. Illegal
    answers become calls; late ones, closed connections and too many illegal ones forfeit the match, and the exit code
    is 1 then.
    """
    from hardbot.live.dealer import Dealer, Limits

    limits = Limits(time_limit, hand_limit, average_limit, start_limit, illegal_limit)
    table = Dealer(
        bots,
        hands,
        seed,
        names=names.split(",") if names else None,
        host=host,
        first_port=port0,
        limits=limits,
        log=log,
    )
    print(*table.ports, flush=True)
    result = table.play()
    if as_json:
        print_json(result.to_json())
    else:
        columns = zip(result.players, result.net_chips, result.illegal, result.p99_ms, strict=True)
        rows = [[name, f"{chips / 10:+g}", str(bad), f"{ms:.2f}"] for name, chips, bad, ms in columns]
        print_table(f"{result.hands:,} hands in {result.seconds:.1f} s", ["player", "sb", "illegal", "p99 ms"], rows)
    if result.forfeit is not None:
        if not as_json:
            print(f"forfeit: {result.forfeit.player} in hand {result.forfeit.hand}: {result.forfeit.reason}")
        raise typer.Exit(1)


def play(
    bot: Annotated[
        list[str] | None, typer.Option("--bot", help="Opponent; repeat it for a table of up to ten. Default hardbot.")
    ] = None,
    hands: Annotated[int | None, typer.Option("--hands", help="Hands to play; default until you leave.")] = None,
    study: Annotated[
        bool, typer.Option("--study", help="Show your range as the bot sees it, and why it acts.")
    ] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Deal the cards of this seed; default fresh ones.")] = None,
    name: Annotated[str, typer.Option("--name", help="Your name in the log.")] = "you",
    log: Annotated[
        Path | None, typer.Option("--log", help="Folder of the play logs; default `play` in the data folder.")
    ] = None,
    no_log: Annotated[bool, typer.Option("--no-log", help="Keep no record of the hands.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the final score as one JSON document; the table goes to stderr.")
    ] = False,
) -> None:
    """Play limit hold'em in the terminal: colours on a screen, plain lines when input or output is a pipe.

    Answer with f, c or r; s switches the study panel, q leaves. Every finished hand is kept for training.
    """
    import sys

    from hardbot.live.play_log import PlayLog
    from hardbot.live.session import TableSession
    from hardbot.live.terminal import play_table

    table = TableSession(
        bot or ["hardbot"], person=name, seed=seed, n_hands=hands, log=None if no_log else PlayLog(log)
    )
    screen, read = _screen_and_input(sys.stderr if as_json else sys.stdout)
    play_table(table, screen, read, study=study)
    if as_json:
        path = table.log.path if table.log is not None else None
        print_json(table.score.to_json() | {"seed": table.seed, "log": None if path is None else str(path)})


def _screen_and_input(out: TextIO) -> tuple[Screen, Read]:
    """A drawn table for a person at a terminal, plain lines for anything else."""
    import sys

    from hardbot.live.terminal import PlainScreen, RichScreen

    if out.isatty() and sys.stdin.isatty():
        from rich.console import Console

        console = Console(file=out)

        def ask(prompt: str) -> str | None:
            try:
                return console.input(prompt, markup=False)
            except EOFError:
                return None

        return RichScreen(console), ask

    def write(text: str) -> None:
        print(text, file=out, flush=True)

    def read(prompt: str) -> str | None:
        line = sys.stdin.readline()
        return line if line else None

    return PlainScreen(write), read
