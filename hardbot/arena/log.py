"""Dealer logs: what the competition's dealer writes, so that its tools and ours can read our matches.

A header line `# name/game/hands/seed ...`, one `STATE` line a hand, and `SCORE` (chips, by player) at
the end. The file is written aside and renamed when complete: there is never a partial log. A name ending
in .gz gives a gzip file, without a time stamp so that equal matches give equal files.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, cast

from hardbot.errors import ArenaError


class DealerLog:
    """A log in the making; use as a context manager and call `finish` with the score."""

    def __init__(self, path: Path, game: str, n_hands: int, seed: int, remarks: Sequence[str] = ()) -> None:
        self.path = path
        if path.is_dir():
            raise ArenaError(f"expected a file to write the log to, got the directory {path}")
        self._aside = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            if path.exists() and not os.access(path, os.W_OK):
                raise PermissionError(13, os.strerror(13), str(path))
            self._raw: IO[bytes] = self._aside.open("wb")
        except OSError as error:
            raise ArenaError(f"expected a writable log file, got {path}: {error.strerror}") from error
        self._file: IO[bytes] = self._raw
        if path.suffix == ".gz":
            packed = gzip.GzipFile("", "wb", compresslevel=6, fileobj=self._raw, mtime=0)
            self._file = cast("IO[bytes]", packed)
        name = path.name.removesuffix(".gz").removesuffix(".log").replace(" ", "_")
        self.write(f"# name/game/hands/seed {name} {game} {n_hands} {seed}\n")
        for remark in remarks:
            self.write(f"#--{remark}\n")

    def write(self, text: str) -> None:
        """Append whole lines."""
        self._file.write(text.encode())

    def finish(self, chips: Sequence[int], players: Sequence[str]) -> None:
        """Write the score and put the file in its place."""
        self.write(f"SCORE:{'|'.join(str(c) for c in chips)}:{'|'.join(players)}\n")
        self._close()
        self._aside.replace(self.path)

    def _close(self) -> None:
        if self._file is not self._raw:
            self._file.close()
        self._raw.close()

    def __enter__(self) -> DealerLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()
        self._aside.unlink(missing_ok=True)
