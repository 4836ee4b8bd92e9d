"""The formats that can be read, how a file's format is recognised, and which files a path stands for.

A source module has a FORMAT name, `matches_head` (does a file begin like this format?) and `read`, which
yields the file in batches. The unit of reading is a file, or a folder that holds an IRC month.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hardbot.errors import SourceError
from pipeline.sources import dealer_log, irc, log_2009, phh
from pipeline.sources.reading import read_chunks, read_head
from pipeline.sources.records import Batch, Reject

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Source:
    """One format."""

    name: str
    matches_head: Callable[[bytes], bool]
    read: Callable[[Path, str], Iterator[Batch]]


SOURCES: dict[str, Source] = {
    module.FORMAT: Source(module.FORMAT, module.matches_head, module.read)
    for module in (dealer_log, log_2009, irc, phh)  # the first that matches is taken
}
FORMATS = tuple(SOURCES)


def detect_format(path: Path) -> str:
    """Name of the format a file or IRC folder is in; UNKNOWN if it is none of ours."""
    if path.is_dir():
        return irc.FORMAT if irc.is_month_folder(path) else UNKNOWN
    head = read_head(path)
    return next((source.name for source in SOURCES.values() if source.matches_head(head)), UNKNOWN)


def check_format(name: str) -> str:
    """The name, if there is such a format."""
    if name not in SOURCES:
        raise SourceError(f"expected a format of {', '.join(FORMATS)}, got {name!r}")
    return name


def read_unit(path: Path, sha256: str, format_name: str) -> Iterator[Batch]:
    """Batches of a file or IRC folder; one reject for the whole of a file of unknown format."""
    if format_name != UNKNOWN:
        yield from SOURCES[format_name].read(path, sha256)
        return
    for _ in read_chunks(path, sha256):  # a damaged archive shows no format; that is an error, not another format
        pass
    head = read_head(path, 200).decode("latin-1")
    reason = f"expected a file of {', '.join(FORMATS)}, got one that begins with {head[:40]!r}"
    yield Batch(rejects=[Reject(1, "unknown_format", reason, head)])


def find_units(paths: Sequence[Path]) -> list[Path]:
    """Files and IRC folders below these paths, folders in order of names; hidden files are left alone."""
    units: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise SourceError(f"expected a file or folder, found nothing at {path}")
        found = _units_below(path)
        if not found:
            raise SourceError(f"expected hand histories in the folder {path}, got none")
        units.update(dict.fromkeys(found))
    return list(units)


def _units_below(path: Path) -> list[Path]:
    if path.is_file() or irc.is_month_folder(path):
        return [path]
    children = sorted(child for child in path.iterdir() if not child.name.startswith("."))
    return [unit for child in children if child.is_dir() or child.is_file() for unit in _units_below(child)]
