"""Card buckets of the solver, from this project's own features, and their look-up tables.

Preflop each of the 169 classes is a bucket of its own. On the flop and on the turn a hand is the point (E, sd) with
sd = sqrt(E2 - E^2): mean and standard deviation of its chance of winning after the next card. The distance of two
such points is the 2-Wasserstein distance of the two distributions if they differ only in place and scale, so k-means
over them puts hands together whose futures are alike, and keeps draws apart from made hands of the same equity.
On the river the score of a hand (twice the hands it beats plus those it ties, 0 to 1,980) is cut so that strong hands
are told apart better than weak ones. A street's bucket says nothing of the buckets before (imperfect recall).

The centroids define the buckets and are kept with every strategy. The tables (boards, 1326) derived from them are made
on first use, about a minute without the feature tables and some seconds with them, and kept in the cache folder.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import StrategyError, TableError
from hardbot.game.cards import HOLE_CLASS, N_CLASSES, N_HOLES, hole_index
from hardbot.game.feature_tables import features_of_hand, load_table
from hardbot.game.features import FEATURE_COLUMNS, all_hands
from hardbot.game.isomorphism import canonical_indices_board
from hardbot.game.jit import njit
from hardbot.game.storage import open_array, save_array
from hardbot.model.board_index import HOLE_RENAMED, BoardIndex, board_index, set_number
from hardbot.solver.boards import MAX_SCORE, river_score
from hardbot.solver.clusters import Rows, cluster, nearest

VERSION = 1
MAX_BUCKETS = 2_000
_E, _E2 = FEATURE_COLUMNS.index("e"), FEATURE_COLUMNS.index("e2")
_SAMPLE_BOARDS = {3: 400, 4: 4_000}
_SAMPLE_HANDS = 200_000
_BOARDS_AT_ONCE = 64
Progress = Callable[[str, int, int], None]  # what, done, total


class BucketTables(NamedTuple):
    """Buckets of all hands, for kernels; numbers and renamings are those of `board_index`."""

    preflop: NDArray[np.int16]  # (1326,)
    flop: NDArray[np.int16]  # (1755, 1326)
    flop_numbers: NDArray[np.int32]
    flop_renamings: NDArray[np.int8]
    turn: NDArray[np.int16]  # (16432, 1326)
    turn_numbers: NDArray[np.int32]
    turn_renamings: NDArray[np.int8]
    river: NDArray[np.int16]  # (1981,) by score


@dataclass(frozen=True)
class Abstraction:
    """What defines the buckets: centroids (n, 2) of (E, sd) on flop and turn, and the river's bucket of every score.

    Without centroids (0, 2) a street's buckets are the 169 starting classes, whatever the board: coarse, but with
    nothing to compute, and a hand's bucket never forgets the one before.
    """

    flop: Rows
    turn: Rows
    river: NDArray[np.int16]  # (1981,)

    def __post_init__(self) -> None:
        for name, array in (("flop", self.flop), ("turn", self.turn)):
            if array.ndim != 2 or array.shape[1] != 2 or len(array) > MAX_BUCKETS or not np.isfinite(array).all():
                raise StrategyError(f"expected at most {MAX_BUCKETS} {name} centroids (n, 2), got {array.shape}")
        if self.river.shape != (MAX_SCORE + 1,) or self.river.min() < 0 or self.river.max() >= MAX_BUCKETS:
            raise StrategyError(f"expected river buckets of {MAX_SCORE + 1} scores, got {self.river.shape}")

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Buckets by street."""
        return N_CLASSES, len(self.flop) or N_CLASSES, len(self.turn) or N_CLASSES, int(self.river.max()) + 1


def river_buckets(n: int) -> NDArray[np.int16]:
    """Bucket of every score: n steps, three times as narrow at the top as at the bottom."""
    share = np.arange(MAX_SCORE + 1) / MAX_SCORE
    stretched = 0.5 * share + 0.5 * share**2
    return np.minimum((stretched * n).astype(np.int64), n - 1).astype(np.int16)


def make_abstraction(n_flop: int, n_turn: int, n_river: int, seed: int = 0) -> Abstraction:
    """k-means over the hands of sampled boards (some seconds); 0 on flop or turn: the 169 starting classes."""
    for n, least in ((n_flop, 0), (n_turn, 0), (n_river, 2)):
        if not least <= n <= MAX_BUCKETS:
            raise StrategyError(f"expected {least} to {MAX_BUCKETS} buckets a street, got {n}")
    none = np.zeros((0, 2), dtype=np.float32)
    centroids = [cluster(_sample_points(size, seed), n, seed) if n else none for size, n in ((3, n_flop), (4, n_turn))]
    return Abstraction(centroids[0], centroids[1], river_buckets(n_river))


def _sample_points(board_size: int, seed: int) -> Rows:
    index = board_index(board_size)
    rng = np.random.default_rng([seed, board_size])
    chosen = rng.choice(len(index.cards), _SAMPLE_BOARDS[board_size], p=index.weights / index.weights.sum())
    boards = np.unique(chosen, return_counts=True)
    parts = [np.repeat(_board_points(index.cards[b]), n, axis=0) for b, n in zip(*boards, strict=True)]
    points = np.concatenate(parts)
    points = points[~np.isnan(points[:, 0])]
    return points[rng.permutation(len(points))[:_SAMPLE_HANDS]]


def _points(e: NDArray[np.float32], e2: NDArray[np.float32]) -> Rows:
    """(E, sd) of hands."""
    sd = np.sqrt(np.maximum(e2.astype(np.float64) - e.astype(np.float64) ** 2, 0.0))
    return np.stack([e, sd], axis=-1).astype(np.float32)


def _board_points(cards: NDArray[np.int8]) -> Rows:
    """(E, sd) of all 1,326 hands on a board, NaN for those that share a card; from the feature table if it is there."""
    board = [int(card) for card in cards]
    try:
        values = load_table(len(board) - 2).rows(canonical_indices_board(board))
    except TableError:
        values = all_hands(board).values.astype(np.float32)
    return _points(values[:, _E], values[:, _E2])


def _cached_table(board_size: int, centroids: Rows, progress: Progress | None) -> NDArray[np.int16]:
    """Dense buckets (boards, 1326) of a street: from the cache, else made and kept there."""
    index = board_index(board_size)
    if len(centroids) == 0:
        return np.broadcast_to(HOLE_CLASS, (len(index.cards), N_HOLES)).copy()
    name = table_name(board_size, centroids)
    try:
        return open_array(name, VERSION, "it is made on first use")
    except TableError:
        save_array(name, (len(index.cards), N_HOLES), np.int16, VERSION, _filler(index, centroids, progress))
    return open_array(name, VERSION, "it is made on first use")


def table_name(board_size: int, centroids: Rows) -> str:
    """Name in the cache folder: the street and a hash of the centroids."""
    digest = hashlib.sha256(np.ascontiguousarray(centroids, dtype="<f4").tobytes()).hexdigest()
    return f"buckets-{'flop' if board_size == 3 else 'turn'}-{len(centroids)}-{digest[:12]}"


def _filler(index: BoardIndex, centroids: Rows, progress: Progress | None) -> Callable[[NDArray[np.int16]], None]:
    street = "flop" if index.cards.shape[1] == 3 else "turn"

    def fill(table: NDArray[np.int16]) -> None:
        def work(first: int) -> int:
            last = min(first + _BOARDS_AT_ONCE, len(index.cards))
            for number in range(first, last):
                found = np.empty(N_HOLES, dtype=np.int16)
                nearest(_board_points(index.cards[number]), centroids, found)
                table[number] = found
            return last

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for done in pool.map(work, range(0, len(index.cards), _BOARDS_AT_ONCE)):
                if progress is not None:
                    progress(f"{street} buckets", done, len(index.cards))

    return fill


def show_progress(what: str, done: int, total: int) -> None:
    """One line on stderr, rewritten."""
    if done == total or sys.stderr.isatty():
        print(f"\r{what} {done:,} of {total:,}", end="\n" if done == total else "", file=sys.stderr, flush=True)


def bucket_tables(abstraction: Abstraction, progress: Progress | None = show_progress) -> BucketTables:
    """Look-up tables of an abstraction; made and cached on first use."""
    flops, turns = board_index(3), board_index(4)
    return BucketTables(
        _frozen(HOLE_CLASS),
        _frozen(_cached_table(3, abstraction.flop, progress)),
        _frozen(flops.board),
        _frozen(flops.renaming),
        _frozen(_cached_table(4, abstraction.turn, progress)),
        _frozen(turns.board),
        _frozen(turns.renaming),
        _frozen(abstraction.river),
    )


def _frozen(array: Any) -> Any:
    """A plain read-only view, so that kernels are compiled for one kind of table only."""
    view = np.asarray(array).view()
    view.setflags(write=False)
    return view


def tables_are_cached(abstraction: Abstraction) -> bool:
    """Say whether the look-up tables are there already."""
    try:
        for size, centroids in ((3, abstraction.flop), (4, abstraction.turn)):
            if len(centroids):
                open_array(table_name(size, centroids), VERSION, "")
    except TableError:
        return False
    return True


@njit
def _bucket_rows(
    holes: NDArray[np.int64],
    boards: NDArray[np.int64],
    preflop: NDArray[np.int16],
    flop: NDArray[np.int16],
    flop_numbers: NDArray[np.int32],
    flop_renamings: NDArray[np.int8],
    turn: NDArray[np.int16],
    turn_numbers: NDArray[np.int32],
    turn_renamings: NDArray[np.int8],
    river: NDArray[np.int16],
    buckets: NDArray[np.int32],
) -> None:
    for i in range(holes.shape[0]):
        hole, board = holes[i], boards[i]
        buckets[i, 0] = preflop[hole]
        number = set_number(board, 3)
        buckets[i, 1] = flop[flop_numbers[number], HOLE_RENAMED[flop_renamings[number], hole]]
        number = set_number(board, 4)
        buckets[i, 2] = turn[turn_numbers[number], HOLE_RENAMED[turn_renamings[number], hole]]
        buckets[i, 3] = river[river_score(hole, board)]


def bucket_function(tables: BucketTables) -> Callable[[NDArray[np.int8], NDArray[np.int8]], NDArray[np.int32]]:
    """Buckets (n, 4) of holes (n, 2) on boards (n, 5), as `TablePolicy` wants them."""

    def buckets_of(holes: NDArray[np.int8], boards: NDArray[np.int8]) -> NDArray[np.int32]:
        high, low = holes.max(axis=1).astype(np.int64), holes.min(axis=1).astype(np.int64)
        found = np.empty((len(holes), 4), dtype=np.int32)
        _bucket_rows(high * (high - 1) // 2 + low, boards.astype(np.int64), *tables, found)
        return found

    return buckets_of


@lru_cache(maxsize=65_536)
def _score_on_spot(hole: tuple[int, int], board: tuple[int, ...]) -> int:
    return int(river_score(hole_index(*hole), np.array(board, dtype=np.int64)))


def bucket_on_spot(abstraction: Abstraction, hole: tuple[int, int], board: Sequence[int]) -> int:
    """Bucket of one hand without look-up tables: a few milliseconds on the flop."""
    if len(board) == 5:
        return int(abstraction.river[_score_on_spot(hole, tuple(board))])
    centroids = abstraction.flop if len(board) == 3 else abstraction.turn
    if len(board) == 0 or len(centroids) == 0:
        return int(HOLE_CLASS[hole_index(*hole)])
    values = features_of_hand(hole, board)
    found = np.empty(1, dtype=np.int16)
    nearest(_points(values[_E : _E + 1], values[_E2 : _E2 + 1]), centroids, found)
    return int(found[0])


def bucket_row_on_spot(abstraction: Abstraction, board: Sequence[int]) -> NDArray[np.int16]:
    """Buckets (1326,) of all hands on a board of 0, 3 or 4 cards without look-up tables: some milliseconds."""
    centroids = abstraction.flop if len(board) == 3 else abstraction.turn
    if len(board) == 0 or len(centroids) == 0:
        return HOLE_CLASS
    found = np.empty(N_HOLES, dtype=np.int16)
    nearest(_board_points(np.array(board, dtype=np.int8)), centroids, found)
    return found


def bucket_from_tables(tables: BucketTables, hole: tuple[int, int], board: Sequence[int]) -> int:
    """Bucket of one hand by its dense table."""
    index = hole_index(*hole)
    if len(board) == 0:
        return int(tables.preflop[index])
    if len(board) == 5:
        return int(tables.river[_score_on_spot(hole, tuple(board))])
    number = set_number(np.array(board, dtype=np.int64), len(board))
    if len(board) == 3:
        return int(tables.flop[tables.flop_numbers[number], HOLE_RENAMED[tables.flop_renamings[number], index]])
    return int(tables.turn[tables.turn_numbers[number], HOLE_RENAMED[tables.turn_renamings[number], index]])
