"""Logs of the 2009 competition (game state 2.0), before the dealer wrote `STATE` lines.

Some header lines begin with `#`, among them `## type: ...`; then one hand a line,
`players:hand:betting:cards:net`, everything in position order with the big blind first. Heads-up blinds
are reversed as in later years. Betting may begin with posted blinds (`b5b10`), which say nothing new.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.sources.log_lines import Contexts, LogContext, read_log
from pipeline.sources.records import Batch

FORMAT = "2009-log"
_TYPE = "## type:"
_N_FIELDS = 5
_HAND = re.compile(rb"[^:#|\s][^:]*\|[^:]+:\d+:[bfcr\d/]+:[^:]*\|[^:]*:[-\d.|]+\s*")
_POSTED_BLINDS = r"^(b\d+)+"


def matches_head(head: bytes) -> bool:
    """Whether a file beginning with these bytes is a log of 2009."""
    lines = head.splitlines()
    if any(line.lower().startswith(_TYPE.encode()) for line in lines):
        return True
    hands = [line for line in lines if line.strip() and not line.startswith(b"#")]
    return bool(hands) and _HAND.fullmatch(hands[0]) is not None


def read(path: Path, sha256: str) -> Iterator[Batch]:
    """Batches of a 2009 log."""
    return read_log(path, sha256, _find_contexts, _split_fields)


def _find_contexts(comments: pl.DataFrame, context: LogContext) -> Contexts:
    is_type = pl.col("text").str.to_lowercase().str.starts_with(_TYPE)
    return [(line, context.of_game(text[len(_TYPE) :].strip())) for line, text in comments.filter(is_type).iter_rows()]


def _split_fields(text: pl.DataFrame) -> pl.DataFrame:
    """Frame (line, text, hand, betting, cards, net, players, time); hand is null where fields are missing."""
    parts = pl.col("body").str.split_exact(":", _N_FIELDS - 1).struct
    whole = pl.col("body").str.count_matches(":", literal=True) == _N_FIELDS - 1
    return text.with_columns(body=pl.col("text").str.strip_chars_end()).select(
        "line",
        "text",
        hand=pl.when(whole).then(parts[1]),
        betting=parts[2].str.replace(_POSTED_BLINDS, ""),
        cards=parts[3],
        net=parts[4],
        players=parts[0],
        time=pl.lit(None, dtype=pl.Datetime("us")),
    )
