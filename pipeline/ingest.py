"""Hand histories into the store: every record becomes a hand, a duplicate or a reject, one transaction a file.

Idempotent by content. A file is known by the SHA-256 of its bytes and never read twice. A hand is known by its
identity: the MD5 of its rules, number in the source, players, betting and all its known cards; where cards are hidden
(so that different hands may look alike) also of what the source says about the occasion, such as the name of the match.
The same hand in another file counts as a duplicate there and adds nothing.

Bookkeeping, checked before a file is committed and again by the store's own constraints:
records = hands + duplicates + rejects, and in formats of lines also lines = records + comments.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from hardbot.errors import SourceError
from pipeline.sources.formats import UNKNOWN, check_format, detect_format, find_units, read_unit
from pipeline.sources.reading import unit_bytes, unit_sha256
from pipeline.sources.records import Batch, Reject
from pipeline.store import Store
from pipeline.validate import CheckedGroup, check_group, decision_frame, hand_frame

Progress = Callable[[str, int, int], None]  # step, bytes done, bytes in all
Status = Literal["new", "known", "failed"]
_FRESH = """
SELECT place, identity FROM (
    SELECT place, md5(identity_text)::UUID AS identity,
           row_number() OVER (PARTITION BY identity_text ORDER BY place) AS nth
    FROM incoming
) i WHERE nth = 1 AND NOT EXISTS (SELECT 1 FROM hands h WHERE h.identity = i.identity) ORDER BY place
"""


@dataclass
class FileReport:
    """What became of one file. `known`: its content was in the store already, the counts are those of that time."""

    path: str
    format: str
    status: Status = "new"
    n_lines: int | None = None
    n_records: int = 0
    n_hands: int = 0
    n_heads_up: int = 0
    n_duplicates: int = 0
    n_rejects: int = 0
    n_comments: int = 0
    rejects: dict[str, int] = field(default_factory=dict)  # by code
    seconds: float = 0.0
    error: str = ""


@dataclass
class IngestReport:
    """What became of all files."""

    files: list[FileReport] = field(default_factory=list)

    def total(self, name: str) -> int:
        """Sum of a count over the files that were read now."""
        return sum(getattr(file, name) or 0 for file in self.files if file.status == "new")

    @property
    def rejects(self) -> dict[str, int]:
        """Rejects by code of the files that were read now."""
        counts: Counter[str] = Counter()
        for file in self.files:
            counts.update(file.rejects if file.status == "new" else {})
        return dict(sorted(counts.items()))

    @property
    def errors(self) -> list[str]:
        """Why files could not be read."""
        return [file.error for file in self.files if file.status == "failed"]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        names = ("n_records", "n_hands", "n_heads_up", "n_duplicates", "n_rejects", "n_comments")
        totals = {name: self.total(name) for name in names}
        return {"files": [asdict(file) for file in self.files], "totals": totals | {"rejects": self.rejects}}


def ingest(
    paths: Sequence[Path | str],
    store: Store | Path | str,
    *,
    format: str | None = None,
    progress: Progress | None = None,
    keep_going: bool = False,
) -> IngestReport:
    """Read files, folders and archives into a store (a path is opened for writing, and made if there is none).

    `format` forces a format instead of recognising it. A damaged file does not keep the others from being read; then
    SourceError tells which failed, or with `keep_going` the report does. Store errors (locked, full) end the run; what
    was committed stays, and a second run goes on from there.
    """
    forced = check_format(format) if format is not None else None
    units = find_units([Path(path) for path in paths])
    sizes = [unit_bytes(unit) for unit in units]
    report, done = IngestReport(), 0
    with nullcontext(store) if isinstance(store, Store) else Store(store) as opened:
        for unit, size in zip(units, sizes, strict=True):
            if progress is not None:
                progress("ingest", done, sum(sizes))
            report.files.append(_ingest_or_say_why(opened, unit, forced))
            done += size
    if progress is not None:
        progress("ingest", done, sum(sizes))
    if report.errors and not keep_going:
        raise SourceError("; ".join(report.errors))
    return report


def _ingest_or_say_why(store: Store, path: Path, forced: str | None) -> FileReport:
    start = time.perf_counter()
    try:
        return ingest_file(store, path, format=forced)
    except SourceError as error:
        return FileReport(str(path), forced or "", "failed", seconds=time.perf_counter() - start, error=str(error))
    except OSError as error:
        reason = f"expected a readable file at {path}, got: {error.strerror or error}"
        return FileReport(str(path), forced or "", "failed", seconds=time.perf_counter() - start, error=reason)


def ingest_file(store: Store, path: Path, *, format: str | None = None) -> FileReport:
    """Read one file or IRC folder in one transaction; SourceError (and nothing stored) if it cannot be read whole."""
    start = time.perf_counter()
    sha256 = unit_sha256(path)
    known = store.query("SELECT * FROM files WHERE sha256 = ?", [sha256])
    chosen = format or detect_format(path)
    if known.height and not (known["format"][0] == UNKNOWN and chosen != UNKNOWN):
        return _known_report(store, path, known.row(0, named=True))
    report = FileReport(str(path), chosen)
    with store.transaction():
        file_id = known["file_id"][0] if known.height else _next_id(store, "files", "file_id")
        if known.height:  # it was of no format we knew
            store.run("DELETE FROM rejects WHERE file_id = ?", [file_id])
        for batch in read_unit(path, sha256, chosen):
            _store_batch(store, batch, file_id, report)
        report.rejects = dict(sorted(report.rejects.items()))
        check_counts(report)
        report.seconds = time.perf_counter() - start
        _store_file(store, file_id, sha256, report, is_new=not known.height)
    return report


def check_counts(report: FileReport) -> None:
    """Raise SourceError unless every record and line of the file is accounted for."""
    parts = report.n_hands + report.n_duplicates + report.n_rejects
    if report.n_records != parts:
        raise SourceError(
            f"expected {report.n_records} records = {report.n_hands} hands + {report.n_duplicates} duplicates + "
            f"{report.n_rejects} rejects in {report.path}, got {parts}"
        )
    if report.n_lines is not None and report.n_lines != report.n_records + report.n_comments:
        raise SourceError(
            f"expected {report.n_lines} lines = {report.n_records} records + {report.n_comments} comments "
            f"in {report.path}, got {report.n_records + report.n_comments}"
        )


def _known_report(store: Store, path: Path, row: dict[str, Any]) -> FileReport:
    codes = store.query("SELECT code, count(*) AS n FROM rejects WHERE file_id = ? GROUP BY code", [row["file_id"]])
    names = ("n_lines", "n_records", "n_hands", "n_duplicates", "n_rejects", "n_comments")
    heads_up = store.value("SELECT count(*) FROM hands WHERE file_id = ? AND n_seats = 2", [row["file_id"]])
    report = FileReport(
        str(path), row["format"], "known", n_heads_up=int(heads_up), **{name: row[name] for name in names}
    )
    report.rejects = dict(sorted(codes.rows()))
    return report


def _next_id(store: Store, table: str, column: str) -> int:
    return int(store.value(f"SELECT coalesce(max({column}), 0) + 1 FROM {table}"))


def _store_batch(store: Store, batch: Batch, file_id: int, report: FileReport) -> None:
    rejects = list(batch.rejects)
    report.n_records += batch.n_records
    report.n_comments += batch.n_comments
    if batch.n_lines is not None:
        report.n_lines = (report.n_lines or 0) + batch.n_lines
    for group in batch.groups:
        checked, refused = check_group(group)
        rejects.extend(refused)
        n_new = _store_hands(store, checked, file_id)
        report.n_hands += n_new
        report.n_heads_up += n_new if group.rules.n_seats == 2 else 0
        report.n_duplicates += checked.hands.n_hands - n_new
    report.n_rejects += len(rejects)
    for reject in rejects:
        report.rejects[reject.code] = report.rejects.get(reject.code, 0) + 1
    _store_rejects(store, rejects, file_id)


def _store_hands(store: Store, checked: CheckedGroup, file_id: int) -> int:
    """Store the hands that are not there yet, with their decisions; how many they were."""
    if not checked.hands.n_hands:
        return 0
    frame = hand_frame(checked)
    incoming = frame.select("identity_text").with_row_index("place")
    fresh = store.query(_FRESH, frames={"incoming": incoming})
    if not fresh.height:
        return 0
    if fresh.height < frame.height:
        places = fresh["place"].to_numpy().astype(np.intp)
        checked = CheckedGroup(checked.hands.take(places), checked.replays)
        frame = frame[places]
    first = _next_id(store, "hands", "hand_id")
    hand_id = np.arange(first, first + fresh.height, dtype=np.int64)
    hands = frame.drop("identity_text").with_columns(
        hand_id=pl.Series(hand_id), file_id=pl.lit(file_id, dtype=pl.Int32), identity=fresh["identity"]
    )
    store.append("hands", hands)
    store.append("decisions", decision_frame(checked, hand_id))
    return int(fresh.height)


def _store_rejects(store: Store, rejects: list[Reject], file_id: int) -> None:
    columns = {
        "file_id": pl.Series([file_id] * len(rejects), dtype=pl.Int32),
        "line": pl.Series([reject.line for reject in rejects], dtype=pl.Int64),
        "code": pl.Series([reject.code for reject in rejects], dtype=pl.String),
        "reason": pl.Series([reject.reason for reject in rejects], dtype=pl.String),
        "raw": pl.Series([reject.raw for reject in rejects], dtype=pl.String),
    }
    store.append("rejects", pl.DataFrame(columns).sort("line", maintain_order=True))


def _store_file(store: Store, file_id: int, sha256: str, report: FileReport, *, is_new: bool) -> None:
    names = ("path", "format", "n_lines", "n_records", "n_hands", "n_duplicates", "n_rejects", "n_comments", "seconds")
    values = [getattr(report, name) for name in names]
    if is_new:
        marks = ", ".join("?" * len(names))
        store.run(
            f"INSERT INTO files (file_id, sha256, ingested_at, {', '.join(names)}) "
            f"VALUES (?, ?, now()::TIMESTAMP, {marks})",
            [file_id, sha256, *values],
        )
        return
    changes = ", ".join(f"{name} = ?" for name in names)
    store.run(f"UPDATE files SET ingested_at = now()::TIMESTAMP, {changes} WHERE file_id = ?", [*values, file_id])
