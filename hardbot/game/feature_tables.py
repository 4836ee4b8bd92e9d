"""Exact features of every canonical hand on the flop and on the turn, computed once and memory-mapped.

The flop table has 1,286,792 rows of seven columns (36 MB), the turn table 13,960,050 rows of five (279 MB; one card
ahead is all the way there). `hardbot tables build` makes them in about a minute on two cores; without them everything
works, only slower, because a board is then counted on the spot. River values always are: 1,081 hands take 30 us.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import TableError
from hardbot.game.feature_kernels import board_counts
from hardbot.game.features import FEATURE_COLUMNS, all_hands, empty_counts, feature_values, weighted_strength
from hardbot.game.features import UNIFORM as _UNIFORM
from hardbot.game.isomorphism import BOARD_SIZE, N_CANONICAL, board_space, canonical_indices, canonical_indices_board
from hardbot.game.storage import open_array, save_array

__all__ = [
    "FEATURE_COLUMNS",
    "FeatureTable",
    "build_table",
    "features_of_hand",
    "features_on_board",
    "load_table",
    "tables_exist",
]

VERSION = 1
STREETS = {1: "flop", 2: "turn"}
_STORED = {1: FEATURE_COLUMNS, 2: FEATURE_COLUMNS[:5]}  # on the turn ppot1 = ppot, npot1 = npot
_HINT = "run: hardbot tables build"
_BOARDS_AT_ONCE = 64
_MAX_BOARDS = 2048
Progress = Callable[[str, int, int], None]  # street, done, total


class FeatureTable:
    """One street's table. Rows are float32."""

    def __init__(self, street: int, array: NDArray[np.float32]) -> None:
        self.street = street
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def rows(self, indices: NDArray[np.int64] | NDArray[np.int32]) -> NDArray[np.float32]:
        """Rows of FEATURE_COLUMNS (n, 7) of canonical numbers; NaN where a number is negative."""
        found = np.empty((len(indices), len(FEATURE_COLUMNS)), dtype=np.float32)
        stored = self.array[np.maximum(indices, 0)]
        found[:, : stored.shape[1]] = stored
        if stored.shape[1] == 5:
            found[:, 5:] = stored[:, 3:]
        found[indices < 0] = np.nan
        return found


def table_name(street: int) -> str:
    """Name of a street's table in the cache folder."""
    if street not in STREETS:
        raise TableError(f"expected a table of street 1 (flop) or 2 (turn), got {street}")
    return f"features-{STREETS[street]}"


@lru_cache(maxsize=2)
def load_table(street: int) -> FeatureTable:
    """The table of street 1 or 2; TableError if it was not built, is damaged or of another version."""
    array = open_array(table_name(street), VERSION, _HINT)
    if array.shape != (N_CANONICAL[street], len(_STORED[street])):
        raise TableError(
            f"expected {N_CANONICAL[street]} rows in the {STREETS[street]} table, got {array.shape}; {_HINT}"
        )
    return FeatureTable(street, array)


def tables_exist() -> bool:
    """Say whether both tables are built and sound."""
    try:
        return all(len(load_table(street)) for street in STREETS)
    except TableError:
        return False


def build_table(street: int, progress: Progress | None = None, threads: int | None = None) -> FeatureTable:
    """Compute a table from nothing and put it into the cache folder."""
    name = table_name(street)
    space = board_space(BOARD_SIZE[street])
    n_boards = len(space.cards)

    def fill(table: NDArray[Any]) -> None:
        def work(first: int) -> int:
            last = min(first + _BOARDS_AT_ONCE, n_boards)
            for number in range(first, last):
                rows = _board_rows(space.cards[number])[:, : table.shape[1]]
                table[space.starts[number] : space.starts[number + 1]] = rows
            return last - first

        done = 0
        with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
            for count in pool.map(work, range(0, n_boards, _BOARDS_AT_ONCE)):
                done += count
                if progress is not None:
                    progress(STREETS[street], done, n_boards)

    save_array(name, (N_CANONICAL[street], len(_STORED[street])), np.float32, VERSION, fill)
    forget_tables()
    return load_table(street)


def forget_tables() -> None:
    """Look for the tables anew when they are next asked for."""
    load_table.cache_clear()
    _table_or_none.cache_clear()
    _boards.clear()


def _board_rows(board: NDArray[np.int8]) -> NDArray[np.float64]:
    """Rows of a canonical board's classes of hands, in their order."""
    cards = board.astype(np.uint8)
    counts = empty_counts(len(cards))
    board_counts(cards, *counts)
    values = feature_values(len(cards), *counts)
    numbers = canonical_indices_board([int(card) for card in board])
    numbers = numbers[numbers >= 0]  # hole order is live-card order: both run through pairs a > b upwards
    _, first = np.unique(numbers, return_index=True)
    rows: NDArray[np.float64] = values[first]
    return rows


_boards: OrderedDict[tuple[int, ...], NDArray[np.float32]] = OrderedDict()


def features_on_board(board: Sequence[int]) -> NDArray[np.float32]:
    """Rows of FEATURE_COLUMNS (1326, 7) of all hole hands on a board of 3, 4 or 5; NaN for hands that share a card.

    From the table if there is one, else counted; the boards asked for last are remembered. Do not write.
    """
    key = tuple(board)
    found = _boards.get(key)
    if found is None:
        found = _compute_board(key)
        found.setflags(write=False)
        _boards[key] = found
        while len(_boards) > _MAX_BOARDS:
            _boards.popitem(last=False)
    return found


def _compute_board(board: tuple[int, ...]) -> NDArray[np.float32]:
    if len(board) in (3, 4):
        table = _table_or_none(len(board) - 2)
        if table is not None:
            return table.rows(canonical_indices_board(board))
    return all_hands(board).values.astype(np.float32)


def features_of_hand(hole: Sequence[int], board: Sequence[int]) -> NDArray[np.float32]:
    """The row of FEATURE_COLUMNS (7,) of one hand against one opponent who may hold anything."""
    if len(board) in (3, 4):
        table = _table_or_none(len(board) - 2)
        if table is not None:
            row = np.array([(*hole, *board)], dtype=np.uint8)
            only: NDArray[np.float32] = table.rows(canonical_indices(len(board) - 2, row))[0]
            return only
    found = weighted_strength(hole, board, _UNIFORM)
    return np.array([getattr(found, name) for name in FEATURE_COLUMNS], dtype=np.float32)


@lru_cache(maxsize=2)
def _table_or_none(street: int) -> FeatureTable | None:
    try:
        return load_table(street)
    except TableError:
        return None
