"""Flow `ingest`: one task a file. The store takes one writer, so the tasks follow each other on whatever runs them.

Ingestion is idempotent by content and commits file by file: after a kill the next run finds what is there.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_table_artifact
from prefect.cache_policies import NO_CACHE

from flows.tasks import RETRIED, report_progress
from pipeline.ingest import ingest_file
from pipeline.sources.formats import find_units
from pipeline.store import Store


@task(name="ingest file", task_run_name="ingest {path}", cache_policy=NO_CACHE, **RETRIED)
def ingest_one(path: str, store: str) -> dict[str, Any]:
    """Read one file into the store."""
    with Store(store) as writer:
        return asdict(ingest_file(writer, Path(path)))


@flow(name="ingest")
def ingest_flow(paths: list[str], store: str) -> list[dict[str, Any]]:
    """Read files and folders into the store; returns a report a file."""
    units = find_units([Path(path) for path in paths])
    progress, reports = report_progress("files"), []
    for done, unit in enumerate(units):
        reports.append(ingest_one.submit(str(unit), store).result())
        progress("files", done + 1, len(units))
    columns = ("path", "format", "status", "n_records", "n_hands", "n_heads_up", "n_duplicates", "n_rejects")
    rows = [{column: report[column] for column in columns} for report in reports]
    create_table_artifact(rows, key="ingested-files", description="What came in")
    reasons: dict[str, int] = {}
    for report in reports:
        for code, count in report["rejects"].items():
            reasons[code] = reasons.get(code, 0) + count
    create_table_artifact(
        [{"reason": code, "records": count} for code, count in sorted(reasons.items())],
        key="rejects-by-reason",
        description="Records that are no hands",
    )
    return reports
