"""Casey's case bases as parquet: one file for preflop and one for later streets, a row a case.

The runtime keeps cases in npz files (hardbot/bots/casebase.py); parquet is for looking at them with other programs and
for carrying them about. Features are in [0, 1] as casey compares them, amounts in small bets. The schema number, the
hands played and the checksum of the arrays are in the files' metadata, so a round trip is exact or refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardbot.bots.casebase import COLUMNS, SCHEMA, digest, load_cases, save_cases
from hardbot.errors import BotError

BASES = ("preflop", "postflop")
_KEY = "hardbot.cases"
Bases = dict[str, dict[str, NDArray[Any]]]


def write_parquet(folder: Path, bases: Bases, facts: dict[str, Any]) -> list[Path]:
    """Write both case bases into a folder; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = json.dumps({"schema": SCHEMA, "sha256": digest(bases), "facts": facts})
    files = []
    for base in BASES:
        file = folder / f"{base}.parquet"
        pl.DataFrame(bases[base]).write_parquet(file, metadata={_KEY: manifest})
        files.append(file)
    return files


def read_parquet(folder: Path) -> tuple[Bases, dict[str, Any]]:
    """Case bases and facts of a folder; BotError if a file is missing, damaged or of another schema."""
    bases: Bases = {}
    manifests = []
    for base in BASES:
        file = folder / f"{base}.parquet"
        try:
            manifests.append(json.loads(pl.read_parquet_metadata(file)[_KEY]))
            frame = pl.read_parquet(file)
        except (OSError, KeyError, ValueError, pl.exceptions.PolarsError) as error:
            raise BotError(f"expected cases in parquet, got {type(error).__name__}: {error} at {file}") from error
        types: dict[str, Any] = {name: COLUMNS.get(name, np.float64) for name in frame.columns}
        bases[base] = {name: frame[name].to_numpy().astype(types[name]) for name in frame.columns}
    if manifests[0] != manifests[1]:
        raise BotError(f"expected preflop and postflop cases of one learner, got two at {folder}")
    if manifests[0]["schema"] != SCHEMA:
        raise BotError(f"expected case schema {SCHEMA}, got {manifests[0]['schema']} at {folder}")
    if manifests[0]["sha256"] != digest(bases):
        raise BotError(f"expected the checksum {manifests[0]['sha256']}, got {digest(bases)} at {folder}")
    return bases, manifests[0]["facts"]


def export_cases(source: Path, folder: Path) -> list[Path]:
    """A memory file of casey as parquet."""
    return write_parquet(folder, *load_cases(source))


def import_cases(folder: Path, target: Path) -> int:
    """Parquet back into a memory file; returns the number of cases."""
    bases, facts = read_parquet(folder)
    save_cases(target, bases, facts)
    return sum(len(base["hand"]) for base in bases.values())
