"""What all tasks share: caching that survives a killed run, retries on input and output only, progress.

The results of cached tasks are small plain data (JSON, never pickles); arrays lie in files that the stages of
pipeline/train.py keep. Prefect's own default cache key contains the run; INPUTS + TASK_SOURCE does not, so that a
second run finds what the first one finished. Inputs name the corpus and the code by fingerprints.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from prefect import Task
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.cache_policies import INPUTS, TASK_SOURCE
from prefect.client.schemas.objects import State, TaskRun

from hardbot.errors import SourceError, StoreError

CACHED: dict[str, Any] = {
    "cache_policy": INPUTS + TASK_SOURCE,
    "persist_result": True,
    "result_serializer": "json",
}
_SECONDS_BETWEEN_REPORTS = 1.0


def is_io_error(task: Task[..., Any], run: TaskRun, state: State[Any]) -> bool:
    """Worth another try: files, disks and locks; a computation that failed fails again."""
    try:
        state.result()
    except (OSError, SourceError, StoreError):
        return True
    except BaseException:
        return False
    return False


RETRIED: dict[str, Any] = {"retries": 2, "retry_delay_seconds": [1, 10], "retry_condition_fn": is_io_error}


def report_progress(description: str) -> Callable[[str, int, int], None]:
    """A progress artifact of the running task or flow, as the callback of pipeline steps."""
    artifact = cast("UUID", create_progress_artifact(progress=0.0, description=description))
    shown = time.monotonic()

    def update(step: str, done: int, total: int) -> None:
        nonlocal shown
        if done >= total or time.monotonic() - shown > _SECONDS_BETWEEN_REPORTS:
            shown = time.monotonic()
            update_progress_artifact(artifact, progress=100.0 * done / max(total, 1), description=step)

    return update
