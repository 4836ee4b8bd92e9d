"""What a source hands over: hands in columns, and a reason for every record that is none.

Hands of one kind of table form a `HandGroup`: arrays over hands and seats, with the repeating texts
(betting, names) as codes into short lists, so that checking and storing work on whole columns. Chips
are scaled to the rules' own (one small bet is 10), whatever the stakes of the record were.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardbot.game.rules import Rules

MAX_RAW_CHARS = 2000  # kept of a rejected record

REJECT_CODES: dict[str, str] = {
    "all_in": "a player was all-in; stacks and side pots are not modelled",
    "ante": "antes, straddles or other forced bets than two blinds",
    "bad_betting": "the betting does not replay under the rules",
    "bad_cards": "cards that cannot be: unknown, missing, or one of them twice",
    "bad_fields": "a line without the fields of its format",
    "bad_totals": "money that does not follow from the betting and the cards",
    "encoding": "bytes that are not text of the format's encoding",
    "extra_blind": "more blinds than two, or blinds in other seats than the first two",
    "left_early": "the hand ended because a player left out of turn, before the one to act had acted",
    "missing_player": "a player of the hand has no record, or the record names another table",
    "no_limit": "a no-limit or pot-limit hand",
    "one_blind": "only one blind was posted",
    "other_game": "another game than hold'em",
    "out_of_order": "actions that cannot be brought into the order of play",
    "table_size": "more seats than the rules have",
    "truncated": "the record breaks off",
    "unknown_format": "no format this program reads",
}


@dataclass(frozen=True, slots=True)
class Reject:
    """A record that is no hand: 1-based line, a key of REJECT_CODES, what was wrong, and the record."""

    line: int
    code: str
    reason: str
    raw: str


@dataclass(frozen=True)
class HandGroup:
    """n hands at one kind of table, not yet checked."""

    rules: Rules  # a preset; `uncapped` says whether the record may exceed its cap
    uncapped: bool
    line: NDArray[np.int64]  # (n,)
    source_hand: pl.Series  # (n,) text
    match: pl.Series  # (n,) text: never split between training and held-out hands
    salt: pl.Series  # (n,) text: what tells apart hands that look alike while hole cards are hidden
    played_at: pl.Series  # (n,) datetime or null
    bettings: tuple[str, ...]
    betting: NDArray[np.int32]  # (n,) into bettings
    holes: NDArray[np.int16]  # (n, seats) hole index, -1 hidden
    board: NDArray[np.int8]  # (n, 5) cards in sight, -1 elsewhere
    names: tuple[str, ...]
    players: NDArray[np.int32]  # (n, seats) into names
    net_chips: NDArray[np.float64]  # (n, seats)
    raw: pl.Series  # (n,) text of the record

    @property
    def n_hands(self) -> int:
        """Hands in the group."""
        return len(self.line)

    def take(self, rows: NDArray[np.intp]) -> HandGroup:
        """The group's hands at these rows."""
        index = pl.Series(rows, dtype=pl.UInt32)
        return HandGroup(
            self.rules,
            self.uncapped,
            self.line[rows],
            self.source_hand.gather(index),
            self.match.gather(index),
            self.salt.gather(index),
            self.played_at.gather(index),
            self.bettings,
            self.betting[rows],
            self.holes[rows],
            self.board[rows],
            self.names,
            self.players[rows],
            self.net_chips[rows],
            self.raw.gather(index),
        )


@dataclass
class Batch:
    """Part of a file. Every record of it is in a group or among the rejects."""

    groups: list[HandGroup] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    n_comments: int = 0
    n_lines: int | None = None  # None: not a format of lines

    @property
    def n_records(self) -> int:
        """Hands and rejects together."""
        return sum(group.n_hands for group in self.groups) + len(self.rejects)
