"""Columns out of log lines: the machinery both competition log formats share.

A log format says what its header lines mean (`find_contexts`) and how a line falls into fields
(`split_fields`); `read_log` does the rest. A block of bytes becomes a Polars frame of lines without a
Python object per line; texts that repeat (betting, nets, players) are looked at once per distinct value,
and card fields are decoded by one compiled loop over the text's own buffer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from hardbot.game.cards import RANKS, SUITS
from hardbot.game.jit import njit
from hardbot.game.rules import MAX_SEATS, MIN_SEATS, PRESETS, Rules, preset, ring
from pipeline.sources.reading import bare_name, read_line_blocks
from pipeline.sources.records import MAX_RAW_CHARS, Batch, HandGroup, Reject

_NO_LIMIT_BET = re.compile(r"r\d")
_PERMUTATION = re.compile(r"[._-](?:perm|permutation)[._-]?\d+$", re.IGNORECASE)


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

    def of_game(self, game: str) -> LogContext:
        """The same match, now known to be of this game."""
        return replace(self, game=game)

    @property
    def table(self) -> str:
        """Name of the preset a header names as the game; empty if it is the competition's own for its table size."""
        name = self.game.removesuffix(".game")
        return name if name in PRESETS else ""

    def refusal(self) -> tuple[str, str] | None:
        """Reject code and reason for every hand of this game, if it is not limit hold'em."""
        game = re.sub(r"[\s_-]", "", self.game.lower())
        if "nolimit" in game or "potlimit" in game:
            return "no_limit", f"expected a limit game, the header says {self.game!r}"
        if any(other in game for other in ("kuhn", "leduc", "omaha", "stud", "royal")):
            return "other_game", f"expected hold'em, the header says {self.game!r}"
        return None


Contexts = list[tuple[int, LogContext]]  # the line each of them begins at, in order
FindContexts = Callable[[pl.DataFrame, LogContext], Contexts]
SplitFields = Callable[[pl.DataFrame], pl.DataFrame]


def file_context(path: Path) -> LogContext:
    """What holds before any header: the match is named by the file."""
    name = bare_name(path)
    return LogContext(match=_PERMUTATION.sub("", name) or name)


def read_log(path: Path, sha256: str, find_contexts: FindContexts, split_fields: SplitFields) -> Iterator[Batch]:
    """Batches of a log; `find_contexts` gets comment lines (line, text) and the context before them."""
    context, first_line = file_context(path), 1
    for block in read_line_blocks(path, sha256):
        lines = split_lines(block, first_line)
        is_text = pl.col("text").is_not_null()
        text = lines.filter(is_text).select("line", "text")
        is_comment = pl.col("text").str.contains(r"^(#|SCORE:|\s*$)")
        comments = text.filter(is_comment)
        contexts = [(0, context), *find_contexts(comments, context)]
        fields = split_fields(text.filter(~is_comment)).join_asof(_context_frame(contexts), on="line")
        batch = fields_to_batch(fields, block.endswith(b"\n"))
        batch.rejects.extend(
            Reject(line, "encoding", "expected UTF-8 text", raw.decode("latin-1").strip()[:MAX_RAW_CHARS])
            for line, raw in lines.filter(~is_text).select("line", "bytes").iter_rows()
        )
        batch.n_comments, batch.n_lines = comments.height, lines.height
        first_line, context = first_line + lines.height, contexts[-1][1]
        yield batch


def _context_frame(contexts: Contexts) -> pl.DataFrame:
    """Frame (line, match, salt, table, refusal, reason): what holds from a line on."""
    rows = []
    for line, context in contexts:
        refusal, reason = context.refusal() or (None, None)
        salt = context.match if context.is_named else ""
        rows.append((line, context.match, salt, context.table, refusal, reason))
    names = ("match", "salt", "table", "refusal", "reason")
    schema = {"line": pl.Int64} | dict.fromkeys(names, pl.String)
    return pl.DataFrame(rows, schema=schema, orient="row").set_sorted("line")


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
    text = _as_text(lines).str.strip_chars_end("\r\n").alias("text")
    number = pl.Series("line", np.arange(first_line, first_line + len(ends), dtype=np.int64))
    return pl.DataFrame([number, lines, text])


def _as_text(lines: pl.Series) -> pl.Series:
    try:
        return lines.cast(pl.String)
    except pl.exceptions.ComputeError:  # somewhere in the block; a cast cannot tell the lines apart
        return pl.Series([_decoded(line) for line in lines], dtype=pl.String)


def _decoded(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None


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
            if n_board not in (1, 2, 5):
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
        is_good[i] = good and n_board not in (1, 2)


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
    """Groups and rejects of a frame: a context's columns, and line, text, hand, betting, cards, net, players, time.

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
    keys = ["n_seats", "table"]
    for (seats, table), part in sorted(fields.partition_by(keys, as_dict=True, include_key=False).items()):
        if MIN_SEATS <= seats <= MAX_SEATS:
            _add_group(batch, part, _rules(int(seats), str(table)), last_line)
            continue
        reason = f"expected {MIN_SEATS} to {MAX_SEATS} players, got {seats}"
        batch.rejects.extend(
            Reject(line, "table_size", reason, raw[:MAX_RAW_CHARS])
            for line, raw in part.select("line", "text").iter_rows()
        )
    return batch


def _rules(n_seats: int, table: str) -> Rules:
    if table and preset(table).n_seats == n_seats:
        return preset(table)
    return ring(n_seats)


def _add_group(batch: Batch, part: pl.DataFrame, rules: Rules, last_line: int) -> None:
    n_seats = rules.n_seats
    bettings, betting = encode(part["betting"])
    net_texts, net_code = encode(part["net"])
    player_texts, player_code = encode(part["players"])
    net = numbers(net_texts, n_seats)[net_code]
    holes, board, has_cards = decode_cards(part["cards"], n_seats)
    is_no_limit = np.array([bool(_NO_LIMIT_BET.search(text)) for text in bettings])[betting]
    bad_net = np.asarray(np.isnan(net).any(axis=1))
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
        rules=rules,
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
