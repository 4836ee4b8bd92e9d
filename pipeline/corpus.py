"""A corpus of our own: bots play each other round-robin, and their dealer logs go into one file.

Every pair of bots plays a duplicate match of its own with deals of its own (seeds derived from the corpus's seed and
the pair's number), written by the arena's log writer: all cards are shown, folded hands too. Equal arguments give
equal files.
"""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, cast

import numpy as np

from hardbot.arena.entrants import table_names
from hardbot.arena.match import play_match
from hardbot.errors import ArenaError

DEFAULT_BLOCK = 1_000
Progress = Callable[[str, int, int], None]  # step, deals done, deals in all


@dataclass(frozen=True)
class CorpusMatch:
    """One match of the corpus; the winnings are the first bot's."""

    bots: tuple[str, str]
    hands: int
    seed: int
    sb_per_hand: float
    ci95: float | None


def split_bots(text: str) -> list[str]:
    """Specifications out of `rulebot,loki:trials=100,noise=0`: a part `key=value` belongs to the bot before it."""
    bots: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        if bots and "=" in part and ":" not in part:
            bots[-1] += f",{part}"
        elif part:
            bots.append(part)
    return bots


def make_corpus(
    bots: Sequence[str],
    n_hands: int,
    seed: int,
    out: Path,
    *,
    block: int = DEFAULT_BLOCK,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[CorpusMatch]:
    """Write the log of a round-robin of at least `n_hands` hands in all; `.gz` compresses.

    One bot plays itself. The file appears when it is complete.
    """
    pairs = list(combinations(bots, 2)) or [(bot, bot) for bot in bots]
    if not pairs or n_hands < 2 * len(pairs):
        raise ArenaError(
            f"expected bots and at least two hands for each of their pairs, got {list(bots)} and {n_hands}"
        )
    if not out.parent.is_dir() or out.is_dir():
        raise ArenaError(f"expected a file to write the corpus to, in a folder that is there, got {out}")
    n_deals = -(-n_hands // (2 * len(pairs)))
    matches = []
    with TemporaryDirectory(prefix="hardbot-corpus-") as folder:
        logs = []
        for number, pair in enumerate(pairs):
            log = Path(folder) / f"{_stem(out)}.{number + 1:02d}.{'-'.join(table_names(pair, None))}.log"
            match_seed = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
            done = number * n_deals
            result = play_match(
                *pair,
                n_deals,
                match_seed,
                block=block,
                jobs=jobs,
                log=log,
                progress=None if progress is None else _part(progress, done, n_deals * len(pairs)),
            )
            ci95 = result.ci95 if np.isfinite(result.ci95) else None
            matches.append(CorpusMatch(pair, result.hands, match_seed, result.sb_per_hand, ci95))
            logs.append(log)
        _join(logs, out)
    return matches


def _stem(out: Path) -> str:
    return out.name.removesuffix(".gz").removesuffix(".log") or "corpus"


def _part(progress: Progress, before: int, total: int) -> Callable[[int, int], None]:
    return lambda done, _: progress("play", before + done, total)


def _join(logs: Sequence[Path], out: Path) -> None:
    """One file of several, without a time stamp, put in its place when it is complete."""
    aside = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with aside.open("wb") as raw:
            packed = out.suffix == ".gz"
            file = cast("IO[bytes]", gzip.GzipFile("", "wb", 9, raw, mtime=0)) if packed else raw
            for log in logs:
                with log.open("rb") as part:
                    shutil.copyfileobj(part, file)
            if packed:
                file.close()
        aside.replace(out)
    finally:
        aside.unlink(missing_ok=True)
