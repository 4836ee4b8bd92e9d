"""The record of live play: every finished hand appended to a dealer log, so that training can learn from it.

One file a table, in the play folder of the user's data. A hand is one line, written with a single call to a file
opened for appending and synced to disk before the table goes on: a crash loses at most the hand in play, and
two tables never mix their lines. Lines carry the time of the hand behind ` # `, as the competition's tools do.
The number of hands in the header is 0: a table has no set end, and no SCORE line.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from hardbot.errors import SessionError
from hardbot.game.notation import LogHand, format_log_hand
from hardbot.game.rules import HEADS_UP, Rules
from hardbot.model.artifact import user_models

_NEW_FILE_TRIES = 100


def play_folder() -> Path:
    """Where live hands are kept: `play` in the user's data folder ($HARDBOT_DATA)."""
    return user_models().parent / "play"


def game_file(rules: Rules) -> str:
    """The competition's name for a table, as log headers carry it."""
    return "holdem.limit.2p.reverse_blinds.game" if rules == HEADS_UP else f"holdem.limit.{rules.n_seats}p.game"


class PlayLog:
    """A log that grows by one synced line a hand; the file appears with the first hand."""

    def __init__(self, folder: Path | None = None, *, name: str = "", clock: Callable[[], float] = time.time) -> None:
        self.folder = play_folder() if folder is None else folder
        self.name = name
        self.clock = clock
        self.path: Path | None = None

    def append(self, hand: LogHand, seed: int) -> None:
        """Add a finished hand; SessionError if it cannot be kept."""
        stamp = self.clock()
        try:
            if self.path is None:
                self.path = self._create(hand.betting.rules, seed, stamp)
            line = f"{format_log_hand(hand)} # {stamp:.6f}\n"
            _append_synced(self.path, line.encode(), os.O_APPEND)
        except OSError as error:
            raise SessionError(
                f"expected a writable play folder, got {self.folder}: {error.strerror or error}"
            ) from error

    def _create(self, rules: Rules, seed: int, stamp: float) -> Path:
        """A new file with the header of a match; names are made unique by a number."""
        self.folder.mkdir(parents=True, exist_ok=True)
        base = self.name or time.strftime("play-%Y%m%d-%H%M%S", time.gmtime(stamp))
        for number in range(1, _NEW_FILE_TRIES + 1):
            name = base if number == 1 else f"{base}-{number}"
            path = self.folder / f"{name}.log"
            header = f"# name/game/hands/seed {name}-{os.urandom(4).hex()} {game_file(rules)} 0 {seed}\n"
            try:
                _append_synced(path, header.encode(), os.O_CREAT | os.O_EXCL | os.O_APPEND)
            except FileExistsError:
                continue
            _sync_folder(self.folder)
            return path
        raise SessionError(f"expected a new log {base}.log in {self.folder}, got {_NEW_FILE_TRIES} of that name")


def _append_synced(path: Path, data: bytes, flags: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | flags, 0o644)
    try:
        written = os.write(descriptor, data)
        if written != len(data):
            raise OSError(28, f"wrote {written} of {len(data)} bytes", str(path))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """The new name itself must survive a crash."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
