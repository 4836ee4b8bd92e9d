"""Stored heads-up hands one at a time, in order of play: positions, actions, and the cards that are known.

Hands that broke the cap or left where checking was free (old records) are no hands of the model's rules; they are left
out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hardbot.errors import IllegalAction, StoreError
from hardbot.game.betting import Betting, parse_betting
from hardbot.game.cards import HOLE_CARDS
from hardbot.game.hand import Hole
from hardbot.game.rules import ACTION_CHARS, BOARD_SIZES, preset
from pipeline.store import HEADS_UP_RULES, Store, opened

STORE_SUFFIX = ".duckdb"
Action = tuple[Betting, int]  # position before, action


@dataclass(frozen=True, slots=True)
class StoredHand:
    """One finished hand; `holes` are None where cards are not known."""

    number: str  # as its source counts
    match: str
    end: Betting
    board: tuple[int, ...]
    holes: tuple[Hole | None, Hole | None]
    players: tuple[str, str]
    net_sb: tuple[float, float]

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every position and what was done there."""
        return _actions(self.end)

    def board_at(self, street: int) -> tuple[int, ...]:
        """Board cards in sight on a street."""
        return self.board[: BOARD_SIZES[street]]

    def seat_of(self, player: str) -> int:
        """Seat of a player of this hand."""
        return self.players.index(player)

    def shown(self, seat: int) -> Hole | None:
        """A seat's cards if its opponent came to see them."""
        return self.holes[seat] if self.end.is_showdown else None


@lru_cache(maxsize=20_000)
def _actions(end: Betting) -> tuple[Action, ...]:
    path = [end]
    while path[-1].parent is not None:
        path.append(path[-1].parent)
    chars = end.text.replace("/", "")
    return tuple((before, ACTION_CHARS.index(char)) for before, char in zip(reversed(path), chars, strict=False))


@dataclass(frozen=True)
class History:
    """Hands in order of play, and how many were left out."""

    hands: tuple[StoredHand, ...]
    n_left_out: int


_SQL = (
    "SELECT source_hand, match, rules, betting, board, holes, players, net_sb FROM hands "
    "WHERE list_contains(?, rules){player} ORDER BY played_at NULLS LAST, hand_id"
)


def read_history(store: Store | Path | str, player: str | None = None, max_hands: int | None = None) -> History:
    """Heads-up hands of a store, of one player if asked; StoreError if there is none."""
    sql = _SQL.format(player="" if player is None else " AND list_contains(players, ?)")
    with opened(store) as reader:
        rows = reader.query(sql, [list(HEADS_UP_RULES)] + ([] if player is None else [player])).to_dicts()
    hands: list[StoredHand] = []
    n_left_out = 0
    for row in rows:
        if max_hands is not None and len(hands) >= max_hands:
            break
        hand = _hand(row)
        if hand is None:
            n_left_out += 1
        else:
            hands.append(hand)
    if not hands:
        whose = "" if player is None else f" of {player!r}"
        raise StoreError(f"expected heads-up hands{whose} in {_name(store)}, got none")
    return History(tuple(hands), n_left_out)


def _hand(row: dict[str, Any]) -> StoredHand | None:
    try:
        end = parse_betting(preset(row["rules"]), row["betting"])
    except IllegalAction:
        return None
    first, second = (None if hole is None else _cards(hole) for hole in row["holes"])
    return StoredHand(
        number=row["source_hand"],
        match=row["match"],
        end=end,
        board=tuple(row["board"]),
        holes=(first, second),
        players=(row["players"][0], row["players"][1]),
        net_sb=(row["net_sb"][0], row["net_sb"][1]),
    )


def _cards(hole: int) -> Hole:
    return int(HOLE_CARDS[hole, 0]), int(HOLE_CARDS[hole, 1])


def busiest_players(store: Store | Path | str, n: int) -> list[tuple[str, int]]:
    """The n players with most heads-up hands, and how many those are."""
    sql = (
        "SELECT player, count(*) AS n FROM (SELECT unnest(players) AS player FROM hands WHERE list_contains(?, rules)) "
        "GROUP BY player ORDER BY n DESC, player LIMIT ?"
    )
    with opened(store) as reader:
        return [(str(name), int(count)) for name, count in reader.query(sql, [list(HEADS_UP_RULES), n]).rows()]


@contextmanager
def store_of(paths: Sequence[Path]) -> Iterator[Path]:
    """A store as it is, or hand histories read into one that lives as long as the block."""
    if len(paths) == 1 and paths[0].suffix == STORE_SUFFIX:
        yield paths[0]
        return
    from pipeline.ingest import ingest

    with TemporaryDirectory(prefix="hardbot-hands-") as folder:
        store = Path(folder) / f"hands{STORE_SUFFIX}"
        ingest(paths, store)
        yield store


def _name(store: Store | Path | str) -> str:
    return str(store.path if isinstance(store, Store) else store)
