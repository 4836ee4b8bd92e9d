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

from pipeline.sources.log_lines import Contexts, LogContext, read_log
from pipeline.sources.records import Batch

FORMAT = "dealer-log"
_HEADER = "# name/game/hands/seed "
_N_FIELDS = 6


def matches_head(head: bytes) -> bool:
    """Whether a file beginning with these bytes is a dealer log."""
    return any(line.startswith((_HEADER.encode(), b"STATE:")) for line in head.splitlines())


def read(path: Path, sha256: str) -> Iterator[Batch]:
    """Batches of a dealer log."""
    return read_log(path, sha256, _find_contexts, _split_fields)


def _find_contexts(comments: pl.DataFrame, context: LogContext) -> Contexts:
    found = []
    for line, text in comments.filter(pl.col("text").str.starts_with(_HEADER)).iter_rows():
        words = text.removeprefix(_HEADER).split()
        if words:
            found.append((line, context.entered(words[0], words[1] if len(words) > 1 else "")))
    return found


def _split_fields(text: pl.DataFrame) -> pl.DataFrame:
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
