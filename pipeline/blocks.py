"""Features by blocks of hands, for runners with several processes: many read the store, then one writes.

A block's rows wait in a Parquet file of the hidden `.work` folder until they are committed, so a run that was killed
in between does not compute them again.
"""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from hardbot.errors import StoreError
from pipeline.features import add_features, feature_rows, missing_decisions, missing_parts
from pipeline.store import Store

WORK = ".work"


def plan_blocks(store: Path) -> list[tuple[int, str]]:
    """Blocks with decisions that have no features, and a fingerprint of what is missing in each."""
    with Store(store, read_only=True) as reader:
        found = []
        for block in missing_parts(reader):
            missing = missing_decisions(reader, block)
            found.append((block, f"{missing.height}-{missing['hand_id'][0]}-{missing['hand_id'][-1]}"))
        return found


def compute_block(store: Path, models: Path, block: int) -> Path:
    """Compute a block's missing features into a file."""
    with Store(store, read_only=True) as reader:
        missing = missing_decisions(reader, block)
    place = models / WORK / f"features-{block}.parquet"
    place.parent.mkdir(parents=True, exist_ok=True)
    aside = place.with_name(f".{place.name}.{os.getpid()}")
    feature_rows(missing).write_parquet(aside)
    aside.replace(place)
    return place


def commit_block(store: Path, file: Path) -> int:
    """Put a block's features into the store, except for rows that have come in meanwhile; how many were added."""
    try:
        rows = pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StoreError(f"expected features in {file}, got {error}") from error
    with Store(store) as writer:
        wanted = "SELECT r.* FROM rows r ANTI JOIN features f ON r.hand_id = f.hand_id AND r.step = f.step"
        fresh = writer.query(wanted, frames={"rows": rows})
        add_features(writer, fresh)
    file.unlink()
    return fresh.height
