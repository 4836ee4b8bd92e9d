"""Results of matches for later: rows in the store, and documents that pages read without the store.

A gauntlet's or cross-table's document (hardbot.arena.gauntlet.document_of) is published whole as JSON under a name
with its time, and once more as `latest-KIND.json`, each written aside and renamed. Its rows go to `match_results` with
commit, seed and model hash; a row is known by what was played, so saving the same result twice changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from hardbot.errors import StoreError
from pipeline.store import Store

_IDENTITY = ("hero", "opponent", "specs", "model", "seed", "block", "pairs", "sb_per_hand")


def save_match_results(store: Store | Path | str, documents: Sequence[Mapping[str, Any]]) -> int:
    """Add the rows of gauntlets and cross-tables to `match_results`; returns how many were new.

    Rows without an interval (a single block of a learner) are refused by the table and left out.
    """
    if not isinstance(store, Store):
        with Store(store) as opened:
            return save_match_results(opened, documents)
    rows = [_store_row(document, row) for document in documents for row in document["rows"] if row["ci95"] is not None]
    frame = pl.DataFrame(rows, schema=_SCHEMA, orient="row") if rows else pl.DataFrame(schema=_SCHEMA)
    known = set(store.query("SELECT run_id FROM match_results")["run_id"])
    fresh = frame.filter(~pl.col("run_id").is_in(sorted(known))).unique("run_id", keep="first", maintain_order=True)
    with store.transaction():
        store.append("match_results", fresh)
    return fresh.height


_SCHEMA: dict[str, Any] = {
    "run_id": pl.String,
    "played_at": pl.Datetime("us"),
    "git_commit": pl.String,
    "model_hash": pl.String,
    "seed": pl.Int64,
    "hero": pl.String,
    "opponent": pl.String,
    "hands": pl.Int64,
    "pairs": pl.Int64,
    "sb_per_hand": pl.Float64,
    "ci95": pl.Float64,
    "sd_pair": pl.Float64,
    "details": pl.String,
}


def _store_row(document: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    identity = json.dumps([document["code"], *(row[key] for key in _IDENTITY)])
    details = dict(row) | {"kind": document["kind"], "unseen": document["unseen"], "code": document["code"]}
    return {
        "run_id": hashlib.sha256(identity.encode()).hexdigest()[:16],
        "played_at": datetime.fromisoformat(document["played_at"]).replace(tzinfo=None),
        "git_commit": document["commit"] or None,
        "model_hash": row["model"] or None,
        "details": json.dumps(details),
    } | {key: row[key] for key in ("seed", "hero", "opponent", "hands", "pairs", "sb_per_hand", "ci95", "sd_pair")}


def publish_results(document: Mapping[str, Any], folder: Path) -> Path:
    """Write a document where pages look for results; returns the path of the dated copy."""
    stamp = str(document["played_at"]).translate(str.maketrans("", "", "-:"))
    text = json.dumps(document, allow_nan=False) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        dated = folder / f"{document['kind']}-{stamp}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
        for path in (dated, folder / f"latest-{document['kind']}.json"):
            aside = path.with_name(f".{path.name}.{os.getpid()}.part")
            aside.write_text(text, encoding="utf-8")
            aside.replace(path)
    except OSError as error:
        raise StoreError(f"expected a writable folder for results, got {folder}: {error.strerror}") from error
    return dated
