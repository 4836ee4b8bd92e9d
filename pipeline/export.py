"""Stored hands as PHH (`.phhs`), the open format that PokerKit and other tools read.

One table a hand, chips as in the rules (bets 10 and 20). Heads-up, p1 is our seat 0: the big blind with reverse
blinds, written `blinds_or_straddles = [5, 10]` because PokerKit gives a two-player table its blinds the other way
round; `[10, 5]` are blinds that are not reversed. Hands that broke the cap or left where checking was free
are no hands of FT and are left out, their number is returned.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, cast

from hardbot.errors import SourceError
from hardbot.game.betting import NOBODY, Betting, first_betting
from hardbot.game.cards import HOLE_CARDS, format_cards
from hardbot.game.rules import ACTION_CHARS, BOARD_SIZES, FOLD, RAISE, Rules, preset
from pipeline.ingest import ingest
from pipeline.replay import replay
from pipeline.store import Store, opened

STORE_SUFFIX = ".duckdb"
STACK_CHIPS = 2_000  # more than a hand can cost
BATCH_HANDS = 20_000
_HIDDEN = "????"


@dataclass(frozen=True)
class ExportReport:
    """Hands written and left out."""

    path: str
    n_hands: int
    n_skipped: int


def export_phh(source: Path | str, out: Path, *, match: str | None = None) -> ExportReport:
    """Write the hands of a store, or of hand-history files, as PHH; `match` is a GLOB on match names.

    The file appears when it is complete; `.gz` compresses.
    """
    source = Path(source)
    if source.suffix == STORE_SUFFIX:
        with opened(source) as store:
            return _export(store, out, match)
    with TemporaryDirectory(prefix="hardbot-export-") as folder, Store(Path(folder) / "hands.duckdb") as store:
        ingest([source], store)
        return _export(store, out, match)


def _export(store: Store, out: Path, match: str | None) -> ExportReport:
    if not out.parent.is_dir() or out.is_dir():
        raise SourceError(f"expected a file to write, in a folder that is there, got {out}")
    n_hands = n_skipped = 0
    with _written_aside(out) as file:
        for row in _rows(store, match):
            rules = preset(row["rules"])
            if replay(rules, False, row["betting"]).error:
                n_skipped += 1
                continue
            n_hands += 1
            file.write(f"[{n_hands}]\n{format_phh(rules, row)}\n".encode())
    return ExportReport(str(out), n_hands, n_skipped)


def _rows(store: Store, match: str | None) -> Iterator[dict[str, Any]]:
    last = 0
    sql = (
        "SELECT hand_id, source_hand, match, played_at, rules, betting, board, players, holes, net_sb FROM hands "
        f"WHERE hand_id > ? AND match GLOB ? ORDER BY hand_id LIMIT {BATCH_HANDS}"
    )
    while (frame := store.query(sql, [last, match or "*"])).height:
        yield from frame.iter_rows(named=True)
        last = frame["hand_id"][-1]


@contextmanager
def _written_aside(out: Path) -> Iterator[IO[bytes]]:
    aside = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        with aside.open("wb") as raw:
            if out.suffix == ".gz":
                with gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
                    yield cast("IO[bytes]", packed)
            else:
                yield raw
        aside.replace(out)
    finally:
        aside.unlink(missing_ok=True)


def format_phh(rules: Rules, row: Mapping[str, Any]) -> str:
    """A row of the table `hands` as the TOML of one PHH hand."""
    n = rules.n_seats
    nets = [net * rules.bet_sizes[0] for net in row["net_sb"]]
    number = str(row["source_hand"])
    fields: dict[str, Any] = {
        "variant": "FT",
        "antes": [0] * n,
        "blinds_or_straddles": list(rules.blinds[::-1] if n == 2 else rules.blinds),
        "small_bet": rules.bet_sizes[0],
        "big_bet": rules.bet_sizes[2],
        "starting_stacks": [STACK_CHIPS] * n,
        "actions": list(_actions(rules, row)),
        "event": row["match"],
        "hand": int(number) if number.isdecimal() and str(int(number)) == number else number,
        "players": row["players"],
        "finishing_stacks": [_plain(STACK_CHIPS + net) for net in nets],
    }
    played_at = row["played_at"]
    if played_at is not None:
        fields |= {"year": played_at.year, "month": played_at.month, "day": played_at.day}
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items())


def _plain(chips: float) -> int | float:
    rounded = round(chips, 4)
    return int(rounded) if rounded == int(rounded) else rounded


def _actions(rules: Rules, row: Mapping[str, Any]) -> Iterator[str]:
    holes = [_HIDDEN if hole is None else format_cards(HOLE_CARDS[hole].tolist()) for hole in row["holes"]]
    for seat, hole in enumerate(holes):
        yield f"d dh p{seat + 1} {hole}"
    betting, board = first_betting(rules), row["board"]
    paid: Sequence[int] = (0,) * rules.n_seats  # before this street
    for char in row["betting"].replace("/", ""):
        action, player = ACTION_CHARS.index(char), betting.seat + 1
        following = betting.after(action)
        if action == RAISE:
            yield f"p{player} cbr {following.contributions[betting.seat] - paid[betting.seat]}"
        else:
            yield f"p{player} {'f' if action == FOLD else 'cc'}"
        if following.street != betting.street:
            paid = following.contributions
            yield f"d db {format_cards(board[BOARD_SIZES[betting.street] : BOARD_SIZES[following.street]])}"
        betting = following
    if betting.is_showdown:
        yield from (f"p{seat + 1} sm {holes[seat]}" for seat in _showdown_order(betting))


def _showdown_order(end: Betting) -> list[int]:
    """Live seats from the last one to bet on the river, else from the first to act there."""
    n, first = end.rules.n_seats, end.rules.first_seat[-1]
    if end.raises:
        first = end.aggressor
    assert first != NOBODY
    return [seat for seat in ((first + step) % n for step in range(n)) if end.live[seat]]
