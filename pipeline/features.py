"""Feature vectors of corpus decisions, computed once and kept in the store.

The definition is the runtime's (hardbot/game/features.py): flop and turn rows are looked up in the exact tables by
suit-canonical index, river equities are counted in a batch here (the same numbers: (ahead + tied / 2) / 990).
`prepare_features` fills the store's `features` table for every decision after the flop whose cards are known and which
has no row yet, a transaction per block of hands: killed and started again it goes on where it was, and after new files
only their decisions cost anything.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardbot.errors import TableError
from hardbot.game.cards import HOLE_CARDS, HOLE_CLASS, N_CLASSES, N_HOLES
from hardbot.game.evaluator import rank_cards7
from hardbot.game.feature_tables import FEATURE_COLUMNS, features_on_board, load_table
from hardbot.game.isomorphism import canonical_boards, canonical_indices
from hardbot.game.jit import njit
from hardbot.game.rules import BOARD_SIZES
from pipeline.store import HEADS_UP_RULES, Store

BATCH_ROWS = 500_000
PART_HANDS = 100_000
STORED_COLUMNS = ("e", "e2", "ppot", "npot")
RIVER = 3
_FEW_BOARDS = 2_000  # below this, boards are computed one by one when a table is missing
Progress = Callable[[str, int, int], None]  # step, done, total
_MOMENTS = """
8580/7394 6847/4934 6712/4732 6590/4568 6553/4508 6291/4181 6224/4092 6114/3967 5961/3782 5977/3801 5903/3716
5822/3641 5725/3537 6670/4692 8310/6947 6473/4469 6355/4312 6313/4243 6111/3990 5923/3760 5799/3625 5650/3440
5567/3351 5540/3323 5414/3222 5381/3193 6532/4494 6283/4234 8039/6507 6071/3981 6007/3893 5823/3661 5626/3444
5466/3270 5354/3125 5241/3021 5213/2993 5092/2901 5059/2858 6393/4302 6148/4052 5846/3717 7754/6061 5812/3694
5608/3468 5426/3251 5163/2976 4891/2683 4864/2655 4805/2601 4709/2547 4662/2488 6377/4271 6104/3975 5811/3668
5575/3414 7617/5866 5459/3336 5342/3187 5143/2991 4943/2756 4678/2525 4716/2561 4666/2522 4566/2435 6085/3919
5895/3728 5602/3414 5366/3201 5211/3069 7289/5391 5200/3058 4896/2769 4745/2587 4497/2365 4342/2226 4301/2209
4220/2155 6022/3835 5705/3498 5393/3183 5162/2959 5106/2938 4940/2798 7011/5018 4759/2669 4582/2467 4415/2318
4285/2220 4071/2055 4066/2037 5896/3692 5555/3335 5204/2982 4881/2678 4881/2720 4624/2508 4474/2398 6706/4622
4418/2342 4280/2238 4146/2110 3993/2002 3856/1890 5729/3491 5402/3149 5108/2854 4611/2393 4683/2486 4445/2297
4296/2200 4104/2048 6402/4242 4154/2098 3980/1966 3847/1875 3700/1749 5747/3516 5340/3096 4979/2741 4570/2357
4388/2243 4202/2094 4122/2056 3963/1961 3849/1842 6088/3864 4019/1995 3898/1932 3695/1788 5666/3424 5289/3036
4939/2701 4491/2283 4415/2266 4038/1965 3958/1933 3806/1815 3648/1690 3703/1739 5806/3566 3794/1872 3560/1668
5574/3341 5147/2921 4803/2596 4373/2208 4361/2220 3998/1942 3734/1766 3642/1701 3506/1596 3561/1664 3425/1574
5431/3158 3507/1689 5460/3218 5099/2873 4774/2560 4345/2172 4267/2146 3888/1862 3723/1737 3485/1585 3339/1460
3344/1519 3194/1395 3113/1396 5134/2874
"""  # E/E2 of the 169 classes, in units of 1/10,000
CLASS_MOMENTS: NDArray[np.float64] = (
    np.array([pair.split("/") for pair in _MOMENTS.split()], dtype=np.float64) / 10_000
)  # (169, 2)


@njit
def _river_equities(
    boards: NDArray[np.int8], holes: NDArray[np.int16], hole_cards: NDArray[np.int8], equities: NDArray[np.float32]
) -> None:
    """Rows of one board must stand together to be cheap: its 1,081 ranks are computed once."""
    ranks = np.zeros(len(hole_cards), dtype=np.int16)
    for i in range(len(boards)):
        board = boards[i]
        fresh = i == 0
        for j in range(5):
            fresh = fresh or board[j] != boards[i - 1, j]
        if fresh:
            for h in range(len(hole_cards)):
                a, b = hole_cards[h, 0], hole_cards[h, 1]
                ranks[h] = 0
                blocked = False
                for j in range(5):
                    blocked = blocked or board[j] == a or board[j] == b
                if not blocked:
                    ranks[h] = rank_cards7(a, b, board[0], board[1], board[2], board[3], board[4])
        own, first, second = ranks[holes[i]], hole_cards[holes[i], 0], hole_cards[holes[i], 1]
        halves = 0
        for h in range(len(hole_cards)):
            a, b = hole_cards[h, 0], hole_cards[h, 1]
            if ranks[h] > 0 and a not in (first, second) and b not in (first, second):
                halves += 2 if ranks[h] < own else 1 if ranks[h] == own else 0
        equities[i] = halves / (2.0 * 990.0)


def decision_features(street: int, holes: NDArray[np.int16], boards: NDArray[np.int8]) -> NDArray[np.float32]:
    """Rows of FEATURE_COLUMNS (n, 7) for hole hands (n,) on boards (n, 5), of which the street's cards are read."""
    seen = np.ascontiguousarray(boards[:, : BOARD_SIZES[street]])
    if street == RIVER:
        return _river_rows(holes, seen)
    try:
        table = load_table(street)
    except TableError:
        if len(np.unique(seen, axis=0)) > _FEW_BOARDS:
            raise
        return _rows_by_board(holes, seen)
    rows = np.empty((len(holes), len(FEATURE_COLUMNS)), dtype=np.float32)
    for start in range(0, len(holes), BATCH_ROWS):
        part = slice(start, start + BATCH_ROWS)
        cards = np.concatenate([HOLE_CARDS[holes[part]], seen[part]], axis=1)
        rows[part] = table.rows(canonical_indices(street, cards))
    return rows


def _river_rows(holes: NDArray[np.int16], boards: NDArray[np.int8]) -> NDArray[np.float32]:
    equities = np.empty(len(holes), dtype=np.float32)
    _river_equities(boards, holes, HOLE_CARDS, equities)
    rows = np.zeros((len(holes), len(FEATURE_COLUMNS)), dtype=np.float32)
    rows[:, FEATURE_COLUMNS.index("e")] = rows[:, FEATURE_COLUMNS.index("hs")] = equities
    rows[:, FEATURE_COLUMNS.index("e2")] = equities**2
    return rows


def _rows_by_board(holes: NDArray[np.int16], boards: NDArray[np.int8]) -> NDArray[np.float32]:
    rows = np.empty((len(holes), len(FEATURE_COLUMNS)), dtype=np.float32)
    distinct, where = np.unique(boards, axis=0, return_inverse=True)
    where = where.reshape(-1)
    for number, board in enumerate(distinct):
        members = np.flatnonzero(where == number)
        rows[members] = features_on_board(tuple(int(card) for card in board))[holes[members]]
    return rows


def prepare_features(store: Store, progress: Progress | None = None) -> int:
    """Compute and store the rows that are missing; returns how many were added."""
    parts, added = missing_parts(store), 0
    for done, part in enumerate(parts):
        rows = feature_rows(missing_decisions(store, part))
        add_features(store, rows)
        added += rows.height
        if progress is not None:
            progress("features", done + 1, len(parts))
    return added


_WANTED = "d.street > 0 AND d.hole IS NOT NULL AND d.node >= 0 AND list_contains(?, h.rules)"
_UNKNOWN = """
FROM decisions d JOIN hands h USING (hand_id)
ANTI JOIN features f ON d.hand_id = f.hand_id AND d.step = f.step
"""
_BOARD = ", ".join(f"coalesce(h.board[{i}], -1)::TINYINT AS b{i}" for i in range(1, 6))
_PARTS = f"SELECT DISTINCT d.hand_id // {PART_HANDS} AS part {_UNKNOWN} WHERE {_WANTED} ORDER BY part"
_MISSING = f"""
SELECT d.hand_id, d.step, d.street, d.hole, {_BOARD} {_UNKNOWN}
WHERE {_WANTED} AND d.hand_id BETWEEN ? AND ? ORDER BY d.hand_id, d.step
"""


def missing_parts(store: Store) -> list[int]:
    """Blocks of PART_HANDS neighbouring hands that have decisions without features: the units of work."""
    parts = store.query(_PARTS, [list(HEADS_UP_RULES)])["part"]
    return [int(part) for part in parts]


def missing_decisions(store: Store, part: int) -> pl.DataFrame:
    """Decisions of a block that have no features yet, as `feature_rows` wants them."""
    first = part * PART_HANDS
    return store.query(_MISSING, [list(HEADS_UP_RULES), first, first + PART_HANDS - 1])


def add_features(store: Store, rows: pl.DataFrame) -> None:
    """Put rows of a block into the store, all or none."""
    with store.transaction():
        store.append("features", rows)


def feature_rows(decisions: pl.DataFrame) -> pl.DataFrame:
    """Rows of the `features` table for decisions with hand_id, step, street, hole and b1..b5."""
    keys = ["hand_id", "street", "hole"]
    distinct = decisions.unique(keys, keep="first", maintain_order=True)
    parts = []
    for street in range(1, RIVER + 1):
        part = distinct.filter(pl.col("street") == street)
        boards = part.select("b1", "b2", "b3", "b4", "b5").to_numpy().astype(np.int8)
        found = decision_features(street, part["hole"].to_numpy().astype(np.int16), boards)
        columns = {name: found[:, FEATURE_COLUMNS.index(name)] for name in STORED_COLUMNS}
        parts.append(part.select(keys).with_columns(**{name: pl.Series(name, c) for name, c in columns.items()}))
    return decisions.join(pl.concat(parts), on=keys, how="left", maintain_order="left").select(
        "hand_id", "step", *STORED_COLUMNS
    )


@lru_cache(maxsize=1)
def class_moments() -> NDArray[np.float32]:
    """E and E2 of the 169 classes before the flop (169, 2), next card = whole flop: from the flop table, for checks.

    Training uses the rounded constants of `CLASS_MOMENTS`, because they need no table.
    """
    sums, total = np.zeros((N_HOLES, 2)), np.zeros(N_HOLES)
    boards, weights = canonical_boards(3)
    for board, weight in zip(boards, weights, strict=True):
        e = features_on_board(tuple(int(card) for card in board))[:, FEATURE_COLUMNS.index("e")].astype(np.float64)
        possible = ~np.isnan(e)
        sums[possible] += weight * np.stack([e, e**2], axis=1)[possible]
        total[possible] += weight
    by_class = np.stack([np.bincount(HOLE_CLASS, sums[:, j], N_CLASSES) for j in range(2)], axis=1)
    moments = by_class / np.bincount(HOLE_CLASS, total, N_CLASSES)[:, None]
    return moments.astype(np.float32)
