"""Dealer logs of the computer poker competition, 2010 and later.

`STATE:hand:betting:cards:net:players`, one hand a line, everything in position order; `#` lines are
comments, of which `# name/game/hands/seed NAME GAME HANDS SEED` begins a match; the last line of a
match is `SCORE:...`. A trailing ` # timestamp` is the time of the hand. A no-limit line can look like
a limit one, so the header's game decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.sources.log_lines import LogContext, fields_to_batch, split_lines
from pipeline.sources.reading import bare_name, read_line_blocks
from pipeline.sources.records import Batch, Reject

FORMAT = "dealer-log"
_HEADER = "# name/game/hands/seed "
_N_FIELDS = 6


def matches_head(head: str) -> bool:
    """Whether a file beginning with this text is a dealer log."""
    lines = [line for line in head.splitlines() if line.strip()]
    return any(line.startswith((_HEADER, "STATE:")) for line in lines)


def read(path: Path, sha256: str) -> Iterator[Batch]:
    """Batches of a dealer log."""
    context, first_line = LogContext(match=bare_name(path)), 1
    for block in read_line_blocks(path, sha256):
        lines = split_lines(block, first_line)
        batch, context = _read_block(lines, context, block.endswith(b"\n"))
        first_line += lines.height
        batch.n_lines = lines.height
        yield batch


def _read_block(lines: pl.DataFrame, context: LogContext, ends_whole: bool) -> tuple[Batch, LogContext]:
    is_text = pl.col("text").is_not_null()
    rejects = [
        Reject(line, "encoding", "expected UTF-8 text", raw.decode("latin-1").strip())
        for line, raw in lines.filter(~is_text).select("line", "bytes").iter_rows()
    ]
    text = lines.filter(is_text).select("line", "text")
    is_comment = pl.col("text").str.starts_with("#") | pl.col("text").str.starts_with("SCORE:")
    is_comment |= pl.col("text").str.strip_chars().str.len_bytes() == 0
    comments = text.filter(is_comment)
    contexts = context_rows(comments, context)
    fields = split_fields(text.filter(~is_comment))
    fields = fields.sort("line").join_asof(contexts, on="line")
    batch = fields_to_batch(fields, ends_whole)
    batch.rejects.extend(rejects)
    batch.n_comments = comments.height
    return batch, last_context(comments, context)


def _contexts(comments: pl.DataFrame, context: LogContext) -> list[tuple[int, LogContext]]:
    found = [(0, context)]
    headers = comments.filter(pl.col("text").str.starts_with(_HEADER))
    for line, text in headers.iter_rows():
        words = text.removeprefix(_HEADER).split()
        if words:
            found.append((line, context.entered(words[0], words[1] if len(words) > 1 else "")))
    return found


def last_context(comments: pl.DataFrame, context: LogContext) -> LogContext:
    """The context after these comment lines."""
    return _contexts(comments, context)[-1][1]


def context_rows(comments: pl.DataFrame, context: LogContext) -> pl.DataFrame:
    """Frame (line, match, salt, refusal, reason): what holds from a line on."""
    return context_frame(_contexts(comments, context))


def context_frame(contexts: list[tuple[int, LogContext]]) -> pl.DataFrame:
    """Frame of contexts and the lines they begin at, sorted for an as-of join."""
    rows = []
    for line, context in contexts:
        refusal, reason = context.refusal() or (None, None)
        rows.append((line, context.match, context.match if context.is_named else "", refusal, reason))
    schema = {"line": pl.Int64, "match": pl.String, "salt": pl.String, "refusal": pl.String, "reason": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row").set_sorted("line")


def split_fields(text: pl.DataFrame) -> pl.DataFrame:
    """Frame (line, text, hand, betting, cards, net, players, time); hand is null where fields are missing."""
    cut = pl.col("text").str.splitn(" # ", 2).struct
    parts = pl.col("body").str.split_exact(":", _N_FIELDS - 1).struct
    whole = (pl.col("body").str.count_matches(":", literal=True) == _N_FIELDS - 1) & (parts[0] == "STATE")
    seconds = pl.col("stamp").cast(pl.Float64, strict=False)
    return text.with_columns(body=cut[0].str.strip_chars_end(), stamp=cut[1]).select(
        "line",
        "text",
        hand=pl.when(whole).then(parts[1]),
        betting=parts[2],
        cards=parts[3],
        net=parts[4],
        players=parts[5],
        time=(seconds * 1e6).cast(pl.Int64, strict=False).cast(pl.Datetime("us")),
    )
