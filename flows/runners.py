"""Where the tasks of a flow run: threads, processes, or an existing Dask cluster."""

from __future__ import annotations

import os
from typing import Any

from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner, ThreadPoolTaskRunner

from hardbot.errors import HardBotError

RUNNERS = ("threads", "processes", "dask")


def make_runner(name: str, dask: str | None = None) -> TaskRunner[Any]:
    """A task runner by name; `dask` is the address of a scheduler and needs the extra hardbot[dask]."""
    if name not in RUNNERS or (name == "dask") != (dask is not None):
        raise HardBotError(f"expected a runner of {', '.join(RUNNERS)}, dask with an address, got {name!r}, {dask!r}")
    if name == "threads":
        return ThreadPoolTaskRunner(max_workers=os.cpu_count() or 2)
    if name == "processes":
        return ProcessPoolTaskRunner(max_workers=os.cpu_count() or 2)
    try:
        from prefect_dask.task_runners import DaskTaskRunner
    except ImportError as error:
        raise HardBotError("expected prefect-dask for --dask, got none; run: pip install 'hardbot[dask]'") from error
    runner: TaskRunner[Any] = DaskTaskRunner(address=dask)
    return runner
