"""`hardbot web`: the table in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("web", epilog="Example: hardbot web --port 8765 --bot hardbot")(web)


def web(
    port: Annotated[int, typer.Option("--port", help="Port on 127.0.0.1; 0 takes a free one.")] = 8765,
    bot: Annotated[
        list[str] | None,
        typer.Option("--bot", help="Opponent offered first; repeat it for a table of up to ten. Default hardbot."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Deal the cards of this seed at the first table; default fresh ones.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option("--log", help="Folder of the play logs; default `play` in the data folder.")
    ] = None,
    no_log: Annotated[bool, typer.Option("--no-log", help="Keep no record of the hands.")] = False,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Serve the table on this machine: play any bots, study what they believe, look at results and models.

    The first line on standard output is the page's address. Every finished hand is kept for training.
    """
    from hardbot.live.web import WebSettings, serve, served_bots

    def say(address: str) -> None:
        print(address, flush=True)
        if browser:
            import webbrowser

            webbrowser.open(address)

    chosen = served_bots(bot or ["hardbot"])
    serve(WebSettings(chosen, seed=seed, folder=log, keeps_log=not no_log), port, say)
