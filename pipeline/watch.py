"""The watched folder: which of its files are new to the store, and what follows from a training.

A file still being written must not be read: only files that nobody touched for some seconds count. Files are known by
content (see ingest.py), so a copy under another name is not new, and a file that grew is.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from hardbot.arena.gauntlet import results_folder
from hardbot.errors import SourceError
from pipeline.results import publish_results, save_match_results
from pipeline.sources.formats import find_units
from pipeline.sources.reading import unit_sha256
from pipeline.store import Store

SETTLE_SECONDS = 5.0


def new_files(watch: Path, store: Path, settle_seconds: float = SETTLE_SECONDS) -> list[Path]:
    """Files and IRC folders below `watch` whose content the store does not know, in order of names."""
    if not watch.is_dir():
        raise SourceError(f"expected a folder to watch, got {watch}")
    if not any(not child.name.startswith(".") for child in watch.iterdir()):
        return []
    known: set[str] = set()
    if store.is_file():
        with Store(store, read_only=True) as reader:
            known = set(reader.query("SELECT sha256 FROM files")["sha256"])
    quiet_since = time.time() - settle_seconds
    settled = [unit for unit in find_units([watch]) if _last_touched(unit) <= quiet_since]
    return [unit for unit in settled if unit_sha256(unit) not in known]


def _last_touched(unit: Path) -> float:
    files = [unit, *unit.rglob("*")] if unit.is_dir() else [unit]
    return max(file.stat().st_mtime for file in files)


def keep_gauntlet(document: dict[str, Any], store: Path) -> int:
    """Put a gauntlet's rows into the store and its document where the results page looks; returns how many were new."""
    added = save_match_results(store, [document])
    publish_results(document, results_folder())
    return added
