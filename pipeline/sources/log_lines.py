"""Columns out of log lines: the machinery both competition log formats share.

A block of bytes becomes a Polars frame of lines without a Python object per line; texts that repeat
(betting, nets, players) are looked at once per distinct value, and card fields are decoded by one
compiled loop over the text's own buffer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from hardbot.game.cards import RANKS, SUITS
from hardbot.game.jit import njit
from hardbot.game.rules import MAX_SEATS, MIN_SEATS, ring
from pipeline.sources.records import Batch, HandGroup, Reject

_NO_LIMIT_BET = re.compile(r"r\d")
_PERMUTATION = re.compile(r"[._-](?:perm|permutation)[._-]?\d+$", re.IGNORECASE)
MAX_RAW_CHARS = 2000


def _lookup(alphabet: str) -> NDArray[np.int8]:
    table = np.full(256, -1, dtype=np.int8)
    for value, char in enumerate(alphabet):
        table[ord(char)] = value
    return table


_RANK_OF, _SUIT_OF = _lookup(RANKS), _lookup(SUITS)


@dataclass(frozen=True)
class LogContext:
    """What the header lines above a hand say: the match it belongs to and the game."""

    match: str  # split unit
    is_named: bool = False  # by a header, not by the file name
    game: str = ""

    def entered(self, match: str, game: str) -> LogContext:
        """The context after a header line; seats' permutations of one duplicate match are one unit."""
        return replace(self, match=_PERMUTATION.sub("", match) or match, is_named=True, game=game)

    def refusal(self) -> tuple[str, str] | None:
        """Reject code and reason for every hand of this game, if it is not limit hold'em."""
        game = self.game.lower().replace("_", "").replace("-", "")
        if "nolimit" in game or "potlimit" in game:
            return "no_limit", f"expected a limit game, the header says {self.game!r}"
        if any(other in game for other in ("kuhn", "leduc", "omaha", "stud", "royal")):
            return "other_game", f"expected hold'em, the header says {self.game!r}"
        return None


def split_lines(block: bytes, first_line: int) -> pl.DataFrame:
    """Frame (line, bytes, text): 1-based line numbers and the lines without their ends, text null if not UTF-8."""
    data = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(data == 10) + 1
    if len(data) and (not len(ends) or ends[-1] != len(data)):
        ends = np.append(ends, len(data))
    offsets = np.concatenate([[0], ends]).astype(np.int64)
    array = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(block)]
    )
    lines = cast(pl.Series, pl.from_arrow(array)).alias("bytes")
    text = lines.cast(pl.String, strict=False).str.strip_chars_end("\r\n").alias("text")
    number = pl.Series("line", np.arange(first_line, first_line + len(ends), dtype=np.int64))
    return pl.DataFrame([number, lines, text])


def encode(series: pl.Series) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Distinct texts and the code of each row."""
    encoded: Any = series.to_arrow().dictionary_encode()
    return tuple(encoded.dictionary.to_pylist()), np.asarray(encoded.indices, dtype=np.int32)


@njit
def _decode_cards(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    rank_of: NDArray[np.int8],
    suit_of: NDArray[np.int8],
    holes: NDArray[np.int16],
    board: NDArray[np.int8],
    is_good: NDArray[np.bool_],
) -> None:
    """Fill holes (n, seats) and board (n, 5) from texts `AhKd|QcQs/2c3d4h/5s/6c`; empty hole hands stay -1."""
    n, n_seats = holes.shape
    for i in range(n):
        place, end = offsets[i], offsets[i + 1]
        good = True
        for seat in range(n_seats):
            if seat > 0:
                good = good and place < end and data[place] == 124  # |
                place += 1
            if not good or place >= end or data[place] == 124 or data[place] == 47:
                continue
            if place + 4 > end:
                good = False
                break
            a, b = rank_of[data[place]], suit_of[data[place + 1]]
            c, d = rank_of[data[place + 2]], suit_of[data[place + 3]]
            if min(a, b, c, d) < 0:
                good = False
                break
            x, y = 4 * a + b, 4 * c + d
            if x == y:
                good = False
                break
            low, high = min(x, y), max(x, y)
            holes[i, seat] = high * (high - 1) // 2 + low
            place += 4
        n_board = 0
        while good and place < end:
            if n_board != 1 and n_board != 2 and n_board != 5:
                good = data[place] == 47  # /
                place += 1
            if not good or n_board == 5 or place + 2 > end:
                good = False
                break
            a, b = rank_of[data[place]], suit_of[data[place + 1]]
            if min(a, b) < 0:
                good = False
                break
            board[i, n_board] = 4 * a + b
            n_board += 1
            place += 2
        is_good[i] = good and n_board != 1 and n_board != 2


def decode_cards(cards: pl.Series, n_seats: int) -> tuple[NDArray[np.int16], NDArray[np.int8], NDArray[np.bool_]]:
    """Holes (n, seats), board (n, 5) and whether the text was a card field for this many seats."""
    array: Any = cards.to_arrow().cast(pa.large_string())
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    _, offset_buffer, data_buffer = array.buffers()
    n = len(array)
    offsets = np.frombuffer(offset_buffer, dtype=np.int64)[array.offset : array.offset + n + 1]
    data = np.frombuffer(data_buffer or b"\0", dtype=np.uint8)
    holes = np.full((n, n_seats), -1, dtype=np.int16)
    board = np.full((n, 5), -1, dtype=np.int8)
    is_good = np.zeros(n, dtype=np.bool_)
    _decode_cards(data, offsets, _RANK_OF, _SUIT_OF, holes, board, is_good)
    return holes, board, is_good


def numbers(texts: tuple[str, ...], n_seats: int) -> NDArray[np.float64]:
    """Rows (texts, seats) of `20|-20`; NaN where a text is not that many numbers."""
    rows = np.full((len(texts), n_seats), np.nan)
    for row, text in enumerate(texts):
        parts = text.split("|")
        if len(parts) == n_seats:
            try:
                rows[row] = [float(part) for part in parts]
            except ValueError:
                continue  # the row stays NaN and is rejected by the caller
    rows[~np.isfinite(rows).all(axis=1)] = np.nan
    return rows


def fields_to_batch(fields: pl.DataFrame, ends_whole: bool) -> Batch:
    """Groups and rejects of a frame (line, text, match, salt, refusal, reason, hand, betting, cards, net, players, time).

    `hand` is null where a line lacks fields. Codes and reasons given in `refusal` and `reason` win.
    """
    batch = Batch()
    last_line = int(fields["line"][-1]) if fields.height and not ends_whole else -1
    refused = pl.col("refusal").is_not_null()
    for line, code, reason, raw in fields.filter(refused).select("line", "refusal", "reason", "text").iter_rows():
        batch.rejects.append(Reject(line, code, reason, raw[:MAX_RAW_CHARS]))
    n_seats = pl.col("players").str.count_matches("|", literal=True) + 1
    fields = fields.filter(~refused).with_columns(n_seats=n_seats)
    shaped = pl.col("hand").str.contains(r"^\d+$").fill_null(False)
    for line, raw in fields.filter(~shaped).select("line", "text").iter_rows():
        code = "truncated" if line == last_line else "bad_fields"
        batch.rejects.append(Reject(line, code, "expected the fields of a hand", raw[:MAX_RAW_CHARS]))
    fields = fields.filter(shaped)
    for (seats,), part in sorted(fields.partition_by("n_seats", as_dict=True, include_key=False).items()):
        if MIN_SEATS <= seats <= MAX_SEATS:
            _add_group(batch, part, int(seats), last_line)
            continue
        reason = f"expected {MIN_SEATS} to {MAX_SEATS} players, got {seats}"
        batch.rejects.extend(
            Reject(line, "table_size", reason, raw[:MAX_RAW_CHARS])
            for line, raw in part.select("line", "text").iter_rows()
        )
    return batch


def _add_group(batch: Batch, part: pl.DataFrame, n_seats: int, last_line: int) -> None:
    bettings, betting = encode(part["betting"])
    net_texts, net_code = encode(part["net"])
    player_texts, player_code = encode(part["players"])
    net = numbers(net_texts, n_seats)[net_code]
    holes, board, has_cards = decode_cards(part["cards"], n_seats)
    is_no_limit = np.array([bool(_NO_LIMIT_BET.search(text)) for text in bettings])[betting]
    bad_net = np.isnan(net).any(axis=1)
    lines = part["line"].to_numpy()
    good = has_cards & ~bad_net & ~is_no_limit
    for row in np.flatnonzero(~good).tolist():
        if is_no_limit[row]:
            code, reason = "no_limit", "expected bets without amounts"
        elif bad_net[row]:
            code, reason = "bad_fields", f"expected {n_seats} nets, got {part['net'][row]!r}"
        else:
            code, reason = "bad_cards", f"expected {n_seats} hole hands and a board, got {part['cards'][row]!r}"
        code = "truncated" if lines[row] == last_line else code
        batch.rejects.append(Reject(int(lines[row]), code, reason, part["text"][row][:MAX_RAW_CHARS]))
    name_of: dict[str, int] = {}
    seats_of = [[name_of.setdefault(name, len(name_of)) for name in text.split("|")] for text in player_texts]
    group = HandGroup(
        rules=ring(n_seats),
        uncapped=False,
        line=lines,
        source_hand=part["hand"],
        match=part["match"],
        salt=part["salt"],
        played_at=part["time"],
        bettings=bettings,
        betting=betting,
        holes=holes,
        board=board,
        names=tuple(name_of),
        players=np.array(seats_of, dtype=np.int32)[player_code],
        net_chips=net,
        raw=part["text"],
    )
    batch.groups.append(group if good.all() else group.take(np.flatnonzero(good)))
