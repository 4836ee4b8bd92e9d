"""`hardbot schedule`: the nightly flow on a schedule, or once now."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from hardbot.commands.output import print_json
from hardbot.errors import HardBotError

EVERY_NIGHT = "0 3 * * *"


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("schedule", epilog='Example: hardbot schedule --cron "0 3 * * *" --watch histories/')(schedule)


def schedule(
    watch: Annotated[
        Path | None,
        typer.Option("--watch", help="Folder where new hand histories appear; default where live hands are kept."),
    ] = None,
    cron: Annotated[str, typer.Option("--cron", help="When to run: minute, hour, day, month, weekday.")] = EVERY_NIGHT,
    once: Annotated[bool, typer.Option("--once", help="Run now and end.")] = False,
    store: Annotated[
        Path | None, typer.Option("--store", help="Store to fill; default $HARDBOT_STORE or ./hardbot.duckdb.")
    ] = None,
    models: Annotated[
        Path | None, typer.Option("--models", help="Folder of models; default the user's data folder ($HARDBOT_DATA).")
    ] = None,
    runner: Annotated[str, typer.Option("--runner", help="Where tasks run: threads or processes.")] = "threads",
    dask: Annotated[
        str | None, typer.Option("--dask", help="Run tasks on the Dask cluster at this address (hardbot[dask]).")
    ] = None,
    settle: Annotated[float, typer.Option("--settle", help="Seconds a file must have been left alone.")] = 5.0,
    gauntlet: Annotated[bool, typer.Option(help="Let a newly promoted model play a short gauntlet.")] = True,
    port: Annotated[
        int, typer.Option("--port", help="Of the Prefect server started when $PREFECT_API_URL is unset.")
    ] = (4200),
    as_json: Annotated[bool, typer.Option("--json", help="With --once: print what was done as JSON.")] = False,
) -> None:
    """Watch a folder: ingest what is new, retrain, score on held-out hands, promote if not worse.

    Serves a Prefect deployment until interrupted. Without a Prefect server of your own one is started on this machine;
    its pages are at http://127.0.0.1:4200.
    """
    _quiet_prefect()
    from flows.nightly import nightly_flow
    from flows.runners import make_runner
    from flows.server import check_cron, serve_flow, server
    from hardbot.live.play_log import play_folder
    from hardbot.model.artifact import user_models
    from pipeline.store import default_store_path

    folder = play_folder() if watch is None else watch
    if watch is None:
        folder.mkdir(parents=True, exist_ok=True)  # before the first hand of live play
    if not folder.is_dir():
        raise HardBotError(f"expected a folder to watch, got {folder}")
    kind = "dask" if dask is not None else runner
    make_runner(kind, dask)  # a wrong name is refused now, not at night
    parameters: dict[str, Any] = {
        "watch": str(folder.resolve()),
        "store": str((store or default_store_path()).resolve()),
        "models": str((models or user_models()).resolve()),
        "runner": kind,
        "dask": dask,
        "settle_seconds": settle,
        "play": gauntlet,
    }
    if once:
        report = nightly_flow(**parameters)
        if as_json:
            print_json(report)
        return
    check_cron(cron)
    with server(port) as address:
        print(
            f"watching {folder} at '{cron}', Prefect at {address.removesuffix('/api')}; interrupt to stop", flush=True
        )
        serve_flow(nightly_flow, cron, parameters)


def _quiet_prefect() -> None:
    """Before Prefect is imported: nothing is sent anywhere."""
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
