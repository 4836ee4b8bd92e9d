"""Flow `nightly`: watch folder -> ingest what is new -> retrain -> score -> promote -> gauntlet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE

from flows.ingest import ingest_flow
from flows.runners import make_runner
from flows.tasks import RETRIED
from flows.train import train_flow
from hardbot.arena.gauntlet import after_training
from pipeline.report import nightly_markdown
from pipeline.steps import retrain_options
from pipeline.watch import SETTLE_SECONDS, keep_gauntlet, new_files


@task(name="look for new files", cache_policy=NO_CACHE, **RETRIED)
def look(watch: str, store: str, settle_seconds: float) -> list[str]:
    """Files the store does not know."""
    return [str(path) for path in new_files(Path(watch), Path(store), settle_seconds)]


@task(name="gauntlet", cache_policy=NO_CACHE)
def gauntlet(model: str) -> dict[str, Any]:
    """Matches of the new model."""
    return after_training(Path(model))


@task(name="keep results", cache_policy=NO_CACHE, **RETRIED)
def keep(played: dict[str, Any], store: str) -> int:
    """Rows for the store, a document for the pages."""
    return keep_gauntlet(played, Path(store))


@flow(name="nightly")
def nightly_flow(
    watch: str,
    store: str,
    models: str,
    runner: str = "threads",
    dask: str | None = None,
    settle_seconds: float = SETTLE_SECONDS,
    play: bool = True,
) -> dict[str, Any]:
    """One night, with a gauntlet if `play`; returns what came in and what was trained (nothing when all is known)."""
    files = look(watch, store, settle_seconds)
    get_run_logger().info("%d new files in %s", len(files), watch)
    reports = ingest_flow.with_options(task_runner=make_runner(runner, dask))(files, store) if files else []
    options = retrain_options(Path(store), Path(models)) if Path(store).is_file() else None
    training = played = None
    if options is not None:
        training = train_flow.with_options(task_runner=make_runner(runner, dask))(store, models, options.to_json())
        if play and training["promoted"]:
            played = gauntlet(training["path"])
            get_run_logger().info("%d results added to %s", keep(played, store), store)
    create_markdown_artifact(nightly_markdown(reports, training, played), key="nightly")
    return {"files": reports, "training": training, "gauntlet": played}
