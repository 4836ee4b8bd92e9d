"""Poker hand histories (PHH, the open TOML format): `.phh`, one hand a file, and `.phhs`, many under `[1]`, `[2]`...

Read are hands of variant FT (fixed-limit hold'em) with two blinds of half and one small bet, no antes, and nobody
all-in. Players p1, p2... are in position order, the small blind first. Heads-up it is the actions that tell who has the
button: PokerKit and the competition's files list the big blind first (p2 opens before the flop, p1 after it); where
p1 opens on every street, blinds are not reversed. Nets come from `finishing_stacks` or `winnings`, else from the cards
if a showdown's hands are known. The number of raises is not capped.

A record is a hand. `hand` and the other entries that say when and where it was played tell alike hands apart.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from hardbot.errors import CardError, HardBotError
from hardbot.game.betting import Betting, first_betting, net_chips
from hardbot.game.cards import hole_index, parse_cards, parse_hole
from hardbot.game.evaluator import evaluate
from hardbot.game.hand import Hole
from hardbot.game.rules import CALL, FOLD, HEADS_UP, HEADS_UP_IRC, MAX_SEATS, MIN_SEATS, RAISE, Rules, ring
from pipeline.sources.reading import bare_name, read_all
from pipeline.sources.records import MAX_RAW_CHARS, Batch, HandGroup, Reject

FORMAT = "phh"
_VARIANT = "FT"
_HEADER = re.compile(r"\[\s*[\w.'\" -]+\s*\]\s*(#.*)?")
_VARIANT_LINE = re.compile(rb"^\s*variant\s*=", re.MULTILINE)
_OCCASION = ("event", "venue", "city", "table", "url", "year", "month", "day", "time")
_TOLERANCE = 1e-6


class _Refused(HardBotError):
    """The record is no hand of ours; `code` says why."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True)
class _Record:
    """A hand in our terms, everything by seat."""

    line: int
    number: str
    rules: Rules
    betting: str
    holes: tuple[int, ...]  # -1 hidden
    board: tuple[int, ...]
    players: tuple[str, ...]
    net_chips: tuple[float, ...]
    salt: str
    played_at: datetime | None
    text: str


def matches_head(head: bytes) -> bool:
    """Whether a file beginning with these bytes is a PHH file."""
    return _VARIANT_LINE.search(head) is not None


def read(path: Path, sha256: str) -> Iterator[Batch]:
    """One batch with all hands."""
    data, batch = read_all(path, sha256), Batch()
    records: dict[Rules, list[_Record]] = defaultdict(list)
    for line, name, raw in _sections(data.removeprefix(b"\xef\xbb\xbf")):
        try:
            record = _parse_record(line, name, raw)
        except _Refused as refused:
            text = raw.decode("latin-1").strip()[:MAX_RAW_CHARS]
            batch.rejects.append(Reject(line, refused.code, str(refused), text))
            continue
        records[record.rules].append(record)
    for rules, found in sorted(records.items(), key=lambda item: item[0].name):
        batch.groups.append(_group(rules, found, bare_name(path)))
    yield batch


def _sections(data: bytes) -> Iterator[tuple[int, str, bytes]]:
    """First line, name and bytes of every hand; what stands before the first header is a hand of its own."""
    first, name = 1, ""
    lines: list[bytes] = []
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        if line.startswith(b"[") and _HEADER.fullmatch(line.decode("latin-1").strip()):
            if _has_content(lines):
                yield first, name, b"".join(lines)
            first, name, lines = number, line.decode("latin-1").strip(), []
        else:
            lines.append(line)
    if _has_content(lines) or name:
        yield first, name, b"".join(lines)


def _has_content(lines: Sequence[bytes]) -> bool:
    return any(line.strip() and not line.lstrip().startswith(b"#") for line in lines)


def _parse_record(line: int, name: str, raw: bytes) -> _Record:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise _Refused("encoding", f"expected UTF-8 text, got byte {raw[error.start]:#04x} at {error.start}") from error
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _Refused("bad_fields", f"expected TOML, got: {error}") from error
    try:
        return _convert(line, name.strip("[] '\""), fields, text)
    except CardError as error:
        raise _Refused("bad_cards", str(error)) from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise _Refused("bad_fields", f"expected the fields of a hand, got {type(error).__name__}: {error}") from error


def _convert(line: int, name: str, fields: Mapping[str, Any], text: str) -> _Record:
    scale = _chips_per_unit(fields)
    n = len(fields["starting_stacks"])
    actions = [str(action).split("#")[0].split() for action in fields["actions"]]
    rules, first = _table(n, actions)
    seat_of = [(player - first) % n for player in range(n)]  # heads-up with p1 on the button: seats swapped
    play = _Play(rules, n)
    for words in actions:
        play.apply(words, seat_of)
    betting = play.finished()
    stacks = _by_seat([float(chips) * scale for chips in fields["starting_stacks"]], seat_of)
    if any(paid > stack - _TOLERANCE for paid, stack in zip(betting.contributions, stacks, strict=True)):
        raise _Refused("all_in", f"expected stacks above the bets {betting.contributions}, got {stacks} chips")
    names = [str(player) for player in fields.get("players") or [f"p{i + 1}" for i in range(n)]]
    if len(names) != n:
        raise _Refused("bad_fields", f"expected {n} players, got {names}")
    return _Record(
        line=line,
        number=str(fields.get("hand", name or "0")),
        rules=rules,
        betting=betting.text,
        holes=tuple(-1 if hole is None else hole_index(*hole) for hole in play.holes),
        board=tuple(play.board),
        players=tuple(_by_seat(names, seat_of)),
        net_chips=tuple(_nets(fields, play, betting, seat_of, scale)),
        salt="|".join(str(fields.get(key, "")) for key in _OCCASION),
        played_at=_played_at(fields),
        text=text.strip(),
    )


def _by_seat(values: Sequence[Any], seat_of: Sequence[int]) -> list[Any]:
    placed: list[Any] = [None] * len(values)
    for value, seat in zip(values, seat_of, strict=True):
        placed[seat] = value
    return placed


def _chips_per_unit(fields: Mapping[str, Any]) -> float:
    """Check the game and its stakes; our chips for one of the record's."""
    variant = str(fields["variant"])
    if variant != _VARIANT:
        code = "no_limit" if variant in {"NT", "NS"} else "other_game"
        raise _Refused(code, f"expected variant {_VARIANT} (fixed-limit hold'em), got {variant!r}")
    n = len(fields["starting_stacks"])
    if not MIN_SEATS <= n <= MAX_SEATS:
        raise _Refused("table_size", f"expected {MIN_SEATS} to {MAX_SEATS} players, got {n}")
    small, big = float(fields["small_bet"]), float(fields["big_bet"])
    blinds = [float(chips) for chips in fields["blinds_or_straddles"]]
    wanted = [small / 2, small] + [0.0] * (n - 2)
    in_order = blinds == wanted or (n == 2 and blinds == wanted[::-1])
    if any(float(ante) for ante in fields["antes"]) or not in_order or small <= 0 or big != 2 * small:
        raise _Refused(
            "ante", f"expected blinds {wanted} and no antes, got {blinds} and {fields['antes']}, bet {big:g}"
        )
    return HEADS_UP.bet_sizes[0] / small


def _table(n: int, actions: Sequence[Sequence[str]]) -> tuple[Rules, int]:
    """Rules, and the player (from 0) in seat 0; heads-up, who opens the streets decides."""
    if n > 2:
        return ring(n), 0
    openers, fresh = [], True
    for words in actions:
        if words[0].startswith("p") and words[1] in {"f", "cc", "cbr"} and fresh:
            openers.append(int(words[0][1:]) - 1)
            fresh = False
        fresh = fresh or words[:2] == ["d", "db"]
    if not openers or openers[0] == 1:
        return HEADS_UP, 0
    return (HEADS_UP, 1) if len(openers) > 1 and openers[1] == 1 else (HEADS_UP_IRC, 0)


class _Play:
    """The actions of a hand, applied one after the other."""

    def __init__(self, rules: Rules, n: int) -> None:
        self.betting: Betting = first_betting(rules.recorded())
        self.holes: list[Hole | None] = [None] * n
        self.board: list[int] = []

    def apply(self, words: Sequence[str], seat_of: Sequence[int]) -> None:
        """One action of the record; `_Refused` if it is none, or not this player's turn."""
        if words[:2] == ["d", "db"]:
            self.board.extend(parse_cards(words[2]))
        elif words[:2] == ["d", "dh"]:
            self._deal(seat_of[_player(words[2], len(seat_of))], words[3])
        elif words[0].startswith("p") and len(words) > 1:
            seat = seat_of[_player(words[0], len(seat_of))]
            if words[1] == "sm":
                self._deal(seat, words[2] if len(words) > 2 else "????")
            else:
                self._act(seat, words)
        elif words[0] != "d":
            raise _Refused("bad_betting", f"expected an action, got {' '.join(words)!r}")

    def _deal(self, seat: int, text: str) -> None:
        if "?" in text or text == "-":
            return
        hole = parse_hole(text)
        known = self.holes[seat]
        if known is not None and set(known) != set(hole):
            raise _Refused("bad_cards", f"expected the cards dealt to seat {seat} to stay, got {text!r} later")
        self.holes[seat] = hole

    def _act(self, seat: int, words: Sequence[str]) -> None:
        betting, kind = self.betting, words[1]
        if seat != betting.seat:
            raise _Refused("out_of_order", f"expected an action of seat {betting.seat} in {betting}, got one of {seat}")
        if kind not in {"f", "cc", "cbr"}:
            raise _Refused("bad_betting", f"expected f, cc or cbr in {betting}, got {' '.join(words)!r}")
        self.betting = betting.after(FOLD if kind == "f" else CALL if kind == "cc" else RAISE)

    def finished(self) -> Betting:
        """The end of the hand."""
        if not self.betting.is_over:
            raise _Refused("truncated", f"expected a finished hand, got {self.betting}")
        return self.betting


def _player(word: str, n: int) -> int:
    player = int(word.removeprefix("p")) - 1
    if not 0 <= player < n:
        raise _Refused("bad_fields", f"expected players p1 to p{n}, got {word!r}")
    return player


def _nets(
    fields: Mapping[str, Any], play: _Play, betting: Betting, seat_of: Sequence[int], scale: float
) -> Sequence[float]:
    if "finishing_stacks" in fields:
        pairs = zip(fields["finishing_stacks"], fields["starting_stacks"], strict=True)
        return _by_seat([(float(after) - float(before)) * scale for after, before in pairs], seat_of)
    if "winnings" in fields:
        won = _by_seat([float(chips) * scale for chips in fields["winnings"]], seat_of)
        return [chips - paid for chips, paid in zip(won, betting.contributions, strict=True)]
    if not betting.is_showdown:
        return net_chips(betting, [0] * len(seat_of))
    live = [hole for hole, is_live in zip(play.holes, betting.live, strict=True) if is_live]
    if None in live or len(play.board) != 5:
        raise _Refused(
            "bad_totals", "expected finishing_stacks, winnings or the cards of the showdown, got none of them"
        )
    ranks = [evaluate((*hole, *play.board)) if hole is not None else 0 for hole in play.holes]
    return net_chips(betting, ranks)


def _played_at(fields: Mapping[str, Any]) -> datetime | None:
    try:
        return datetime(int(fields["year"]), int(fields["month"]), int(fields["day"]))
    except (KeyError, TypeError, ValueError):
        return None


def _group(rules: Rules, records: Sequence[_Record], match: str) -> HandGroup:
    codes: dict[str, int] = {}
    names: dict[str, int] = {}
    return HandGroup(
        rules=rules,
        uncapped=True,
        line=np.array([record.line for record in records], dtype=np.int64),
        source_hand=pl.Series([record.number for record in records], dtype=pl.String),
        match=pl.repeat(match, len(records), dtype=pl.String, eager=True),
        salt=pl.Series([record.salt for record in records], dtype=pl.String),
        played_at=pl.Series([record.played_at for record in records], dtype=pl.Datetime("us")),
        betting=np.array([codes.setdefault(record.betting, len(codes)) for record in records], dtype=np.int32),
        bettings=tuple(codes),
        holes=np.array([record.holes for record in records], dtype=np.int16),
        board=np.array([(*record.board, *[-1] * (5 - len(record.board))) for record in records], dtype=np.int8),
        players=np.array([[names.setdefault(p, len(names)) for p in record.players] for record in records], np.int32),
        names=tuple(names),
        net_chips=np.array([record.net_chips for record in records], dtype=np.float64),
        raw=pl.Series([record.text[:MAX_RAW_CHARS] for record in records], dtype=pl.String),
    )
