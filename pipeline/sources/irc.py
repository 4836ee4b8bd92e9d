"""Months of the IRC poker database, an archive (`holdem.200109.tgz`) or a folder with `hdb`, `hroster` and `pdb/`.

`hdb` has a line per hand, `pdb/pdb.NAME` a line per hand of that player; they are joined on the time
stamp, and the players' own action strings are brought into the order of play by position (irc_order).
Blinds are half and one small bet; the database name only hints at the stakes, so the month's own ratio of
recorded bets to the rules' is used, and hands of other stakes are rejected. Heads-up, position 1 posts the small
blind and acts first on every street. The number of raises is not capped in these records.

A record is a line of `hdb`. The lines of the other files are its attachments: those of a hand that is not in `hdb` make
one reject per time stamp (code missing_player, line 0).
"""

from __future__ import annotations

import gc
import io
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from statistics import median
from typing import NamedTuple

import numpy as np
import polars as pl

from hardbot.errors import CardError, SourceError
from hardbot.game.cards import hole_index, parse_card, parse_hole
from hardbot.game.rules import HEADS_UP_IRC, MAX_SEATS, MIN_SEATS, Rules, ring
from pipeline.replay import replay
from pipeline.sources.irc_order import Ordered, order_actions
from pipeline.sources.reading import bare_name, names_sha256, read_all, read_file, unit_files
from pipeline.sources.records import MAX_RAW_CHARS, Batch, HandGroup, Reject

FORMAT = "irc"
_ENCODING = "latin-1"
_HAND_FIELDS = 8  # then up to five board cards
_PLAYER_FIELDS = (11, 13)
_BLOCK_BYTES = 512
_EXACT_CHIPS = 0.01


class PlayerLine(NamedTuple):
    """One line of a pdb file; money in the record's own units."""

    name: str
    n_players: int
    position: int
    actions: tuple[str, str, str, str]
    bet: float
    won: float
    cards: str
    text: str


class HandLine(NamedTuple):
    """One line of hdb."""

    line: int
    stamp: int
    hand: str
    n_players: int
    streets: tuple[str, ...]  # players/pot on flop, turn, river and at the end
    board: str
    text: str


class Candidate(NamedTuple):
    """A hand whose actions could be put in order."""

    hand: HandLine
    players: tuple[PlayerLine, ...]  # by position
    ordered: Ordered
    rules: Rules


@dataclass
class Month:
    """The files of one month, by name within its folder."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)


def is_month_folder(path: Path) -> bool:
    """Whether a folder holds an IRC month."""
    return path.is_dir() and (path / "hdb").is_file() and (path / "pdb").is_dir()


def matches_head(head: bytes) -> bool:
    """Whether (decompressed) bytes begin a tar archive."""
    try:
        tarfile.TarInfo.frombuf(head[:_BLOCK_BYTES], _ENCODING, "strict")
    except tarfile.HeaderError:
        return False
    return True


def read(path: Path, sha256: str) -> Iterator[Batch]:
    """A batch per month."""
    months = _folder_months(path, sha256) if path.is_dir() else _archive_months(path, sha256)
    if not months:
        raise SourceError(f"expected an IRC month (hdb, hroster, pdb/) in {path}, got an archive without hdb")
    for month in months:
        with _collector_paused():
            batch = read_month(month)
        yield batch


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A month is a million objects that all stay; looking for garbage among them would double the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _folder_months(path: Path, sha256: str) -> list[Month]:
    parts = [part for part in path.resolve().parts[-2:] if part not in {"/", ""}]
    month, hashes = Month(".".join(parts)), []
    for file in unit_files(path):
        name = file.relative_to(path).as_posix()
        month.files[name], file_hash = read_file(file)
        hashes.append((name, file_hash))
    if names_sha256(hashes) != sha256:
        raise SourceError(f"expected {path} to stay as it was, but it changed while it was read; try again")
    return [month]


def _archive_months(path: Path, sha256: str) -> list[Month]:
    data = read_all(path, sha256)
    folders: dict[PurePosixPath, dict[str, bytes]] = defaultdict(dict)
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", encoding=_ENCODING) as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content is not None:
                    name = PurePosixPath(member.name)
                    folder = name.parent.parent if name.parent.name == "pdb" else name.parent
                    folders[folder][name.relative_to(folder).as_posix()] = content.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise SourceError(f"expected a whole archive, but {path} is damaged or cut off: {error}") from error
    names = {folder: ".".join(folder.parts[-2:]) or bare_name(path) for folder in folders}
    return [Month(names[folder], files) for folder, files in sorted(folders.items()) if "hdb" in files]


def read_month(month: Month) -> Batch:
    """All hands of a month."""
    batch, hands = Batch(), []
    stamps = set()
    lines = month.files["hdb"].decode(_ENCODING).splitlines()
    for number, text in enumerate(lines, 1):
        if not text.strip():
            batch.n_comments += 1
            continue
        hand = _parse_hand(number, text)
        if hand is None or hand.stamp in stamps:
            why = "the fields of hdb" if hand is None else "one hand per time stamp"
            batch.rejects.append(Reject(number, "bad_fields", f"expected {why}", text[:MAX_RAW_CHARS]))
            continue
        stamps.add(hand.stamp)
        hands.append(hand)
    players = _parse_players(month.files)
    candidates: list[Candidate] = []
    for hand in hands:
        found = _candidate(hand, players.pop(hand.stamp, []))
        if isinstance(found, Reject):
            batch.rejects.append(found)
        else:
            candidates.append(found)
    batch.rejects.extend(_orphans(players))
    batch.n_lines = len(lines) + len(players)
    _add_groups(batch, candidates, month.name)
    return batch


def _parse_hand(number: int, text: str) -> HandLine | None:
    fields = text.split()
    if len(fields) < _HAND_FIELDS or not (fields[0].isdecimal() and fields[3].isdecimal()):
        return None
    stamp, n_players = int(fields[0]), int(fields[3])
    if stamp >= 1 << 33:
        return None
    return HandLine(number, stamp, fields[2], n_players, tuple(fields[4:8]), "".join(fields[8:]), text)


def _parse_players(files: Mapping[str, bytes]) -> dict[int, list[PlayerLine]]:
    """Lines of all pdb files by time stamp; a line that is none is kept as one without a position."""
    found: dict[int, list[PlayerLine]] = defaultdict(list)
    for name in sorted(name for name in files if name.startswith("pdb/")):
        for text in files[name].decode(_ENCODING).splitlines():
            fields = text.split()
            if not fields:
                continue
            stamp, line = _parse_player(fields, text)
            found[stamp].append(line)
    return found


def _parse_player(fields: Sequence[str], text: str) -> tuple[int, PlayerLine]:
    try:
        if len(fields) not in _PLAYER_FIELDS:
            raise ValueError
        stamp, n_players, position = int(fields[1]), int(fields[2]), int(fields[3])
        a, b, c, d = fields[4:8]
        bet, won = float(fields[9]), float(fields[10])
    except ValueError:
        stamp = int(fields[1]) if len(fields) > 1 and fields[1].isdecimal() else 0
        return stamp, PlayerLine(fields[0], 0, 0, ("", "", "", ""), 0.0, 0.0, "", text)
    return stamp, PlayerLine(fields[0], n_players, position, (a, b, c, d), bet, won, "".join(fields[11:]), text)


def _orphans(players: Mapping[int, Sequence[PlayerLine]]) -> list[Reject]:
    reason = "expected a line of hdb for the time stamp of player records, got none"
    return [Reject(0, "missing_player", reason, _raw(lines)) for _, lines in sorted(players.items())]


def _raw(lines: Sequence[HandLine | PlayerLine]) -> str:
    return "\n".join(line.text for line in lines)[:MAX_RAW_CHARS]


def _candidate(hand: HandLine, found: Sequence[PlayerLine]) -> Candidate | Reject:
    def reject(code: str, reason: str) -> Reject:
        return Reject(hand.line, code, reason, _raw([hand, *found]))

    n = hand.n_players
    if not MIN_SEATS <= n <= MAX_SEATS:
        return reject("table_size", f"expected {MIN_SEATS} to {MAX_SEATS} players, got {n}")
    players = tuple(sorted(found, key=lambda player: player.position))
    if [player.position for player in players] != list(range(1, n + 1)):
        positions = [player.position for player in players]
        return reject("missing_player", f"expected records of positions 1 to {n}, got positions {positions}")
    if any(player.n_players != n for player in players):
        return reject("missing_player", f"expected records of a table of {n}, got {[p.n_players for p in players]}")
    ordered = order_actions(tuple(player.actions for player in players))
    if ordered.code:
        return reject(ordered.code, ordered.reason)
    return Candidate(hand, players, ordered, HEADS_UP_IRC if n == MIN_SEATS else ring(n))


def _add_groups(batch: Batch, candidates: Sequence[Candidate], month: str) -> None:
    scale = _chip_scale(candidates)
    by_rules: dict[Rules, list[Candidate]] = defaultdict(list)
    cards: dict[int, tuple[list[int], list[int]]] = {}
    for candidate in candidates:
        hand = candidate.hand
        problem = _money_problem(candidate, scale)
        if problem:
            batch.rejects.append(Reject(hand.line, "bad_totals", problem, _raw([hand, *candidate.players])))
            continue
        try:
            cards[hand.stamp] = _cards(candidate)
        except CardError as error:
            batch.rejects.append(Reject(hand.line, "bad_cards", str(error), _raw([hand, *candidate.players])))
            continue
        by_rules[candidate.rules].append(candidate)
    for rules, kept in sorted(by_rules.items(), key=lambda item: item[0].n_seats):
        batch.groups.append(_group(rules, kept, [cards[item.hand.stamp] for item in kept], month, scale))


def _chip_scale(candidates: Sequence[Candidate]) -> float:
    """Our chips per unit of the record: the median over hands, because nearly all hands have the month's stakes."""
    ratios = []
    for candidate in candidates:
        recorded = sum(player.bet for player in candidate.players)
        if recorded > 0:
            ratios.append(sum(_contributions(candidate)) / recorded)
    return median(ratios) if ratios else 1.0


def _contributions(candidate: Candidate) -> tuple[int, ...]:
    return replay(candidate.rules, True, candidate.ordered.betting).contributions


def _money_problem(candidate: Candidate, scale: float) -> str:
    """What does not agree between the replay and the recorded bets and pots; empty if all does."""
    replayed = replay(candidate.rules, True, candidate.ordered.betting)
    bets = [player.bet * scale for player in candidate.players]
    if not replayed.error and any(
        abs(bet - chips) > _EXACT_CHIPS for bet, chips in zip(bets, replayed.contributions, strict=True)
    ):
        want, got = "|".join(map(str, replayed.contributions)), "|".join(f"{bet:g}" for bet in bets)
        return f"expected bets of {want} chips from the actions, got {got}"
    for street, wanted in candidate.ordered.streets:
        n_live, _, pot = candidate.hand.streets[street - 1].partition("/")
        if not (n_live.isdecimal() and pot.isdecimal()):
            return f"expected players/pot in {candidate.hand.streets}"
        if (int(n_live), round(int(pot) * scale, 2)) != wanted:
            return f"expected {wanted[0]} players and a pot of {wanted[1]} on street {street}, got {n_live}/{pot}"
    return ""


def _cards(candidate: Candidate) -> tuple[list[int], list[int]]:
    """Hole indices by seat (-1 hidden) and the board; CardError if they are no cards."""
    holes = [_hole(player.cards) if player.cards else -1 for player in candidate.players]
    text = candidate.hand.board
    board = [_card(text[place : place + 2]) for place in range(0, len(text), 2)]
    if len(board) > 5:
        raise CardError(f"expected at most five board cards, got {candidate.hand.board!r}")
    return holes, board


_card = lru_cache(maxsize=100)(parse_card)


@lru_cache(maxsize=3_000)
def _hole(text: str) -> int:
    return hole_index(*parse_hole(text))


def _group(
    rules: Rules, kept: Sequence[Candidate], cards: Sequence[tuple[list[int], list[int]]], month: str, scale: float
) -> HandGroup:
    codes: dict[str, int] = {}
    names: dict[str, int] = {}
    stamps = [item.hand.stamp for item in kept]
    return HandGroup(
        rules=rules,
        uncapped=True,
        line=np.array([item.hand.line for item in kept], dtype=np.int64),
        source_hand=pl.Series([str(stamp) for stamp in stamps], dtype=pl.String),
        match=pl.repeat(month, len(kept), dtype=pl.String, eager=True),
        salt=pl.Series([f"irc {item.hand.hand}" for item in kept], dtype=pl.String),
        played_at=pl.from_epoch(pl.Series(stamps, dtype=pl.Int64), time_unit="s"),
        betting=np.array([codes.setdefault(item.ordered.betting, len(codes)) for item in kept], dtype=np.int32),
        bettings=tuple(codes),
        holes=np.array([holes for holes, _ in cards], dtype=np.int16),
        board=np.array([board + [-1] * (5 - len(board)) for _, board in cards], dtype=np.int8),
        players=np.array([[names.setdefault(p.name, len(names)) for p in item.players] for item in kept], np.int32),
        names=tuple(names),
        net_chips=np.array([[(p.won - p.bet) * scale for p in item.players] for item in kept], dtype=np.float64),
        raw=pl.Series([_raw([item.hand, *item.players]) for item in kept], dtype=pl.String),
    )
