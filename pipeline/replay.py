"""Betting texts replayed through the rules, once per distinct text.

A replay gives the end of the hand (street, contributions, who is live) and one row per voluntary
action. Heads-up rows carry the number of their position in `betting_tree` of the capped preset. Old
records exceed the cap: such raises are dropped when looking for the node, so a decision beyond the
cap keeps the last capped position's node, and is marked as clipped (its actor need not be the node's,
and its action may be a raise the node does not have). A player who leaves where checking is free folds
there; that row is marked as clipped too, because no node has that action.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import HardBotError
from hardbot.game.betting import Betting, first_betting
from hardbot.game.rules import ACTION_CHARS, Rules
from hardbot.game.tree import betting_tree

ROW_COLUMNS = ("seat", "street", "node", "action", "bets_to_call", "raises", "pot_sb", "clipped")
_SEAT, _STREET, _NODE, _ACTION, _BETS, _RAISES, _POT, _CLIPPED = range(len(ROW_COLUMNS))


@dataclass(frozen=True, slots=True)
class Replay:
    """One betting text. With an `error` the rest is empty."""

    error: str
    street: int
    is_showdown: bool
    contributions: tuple[int, ...]
    live: tuple[bool, ...]
    rows: tuple[tuple[float, ...], ...]  # ROW_COLUMNS


@lru_cache(maxsize=400_000)
def replay(rules: Rules, uncapped: bool, text: str) -> Replay:
    """Replay a whole hand's betting under a preset, or as old records are (`Rules.recorded`)."""
    try:
        return _replay(rules, uncapped, text)
    except HardBotError as error:
        return Replay(str(error), 0, False, (), (), ())


def _replay(rules: Rules, uncapped: bool, text: str) -> Replay:
    betting = first_betting(rules.recorded() if uncapped else rules)
    capped = _tree_root(rules) if rules.n_seats == 2 else None
    rows: list[tuple[float, ...]] = []
    for position, char in enumerate(text):
        if char == "/":
            if betting.text[: position + 1] != text[: position + 1]:
                raise HardBotError(f"expected a street to end before '/' at {position} of betting {text!r}")
            continue
        action = ACTION_CHARS.find(char)
        if action < 0 or betting.text != text[:position]:
            raise HardBotError(f"expected one of 'fcr' or a '/' at {position} of betting {text!r}, got {char!r}")
        is_clipped = capped is not None and (capped.seat != betting.seat or capped.raises != betting.raises)
        row = (betting.seat, betting.street, capped.index if capped else -1, action)
        following = betting.after(action)
        if capped is not None:
            if action in capped.legal:
                capped = capped.after(action)
            else:
                is_clipped = True
        rows.append((*row, betting.bets_to_call, betting.raises, rules.to_sb(betting.pot), is_clipped))
        betting = following
    if not betting.is_over:
        raise HardBotError(f"expected a finished hand, got betting {text!r}")
    return Replay("", betting.street, betting.is_showdown, betting.contributions, betting.live, tuple(rows))


def _tree_root(rules: Rules) -> Betting:
    return betting_tree(rules).nodes[0]


@dataclass(frozen=True)
class ReplayTable:
    """Replays of several texts in columns; `first` and `length` say which rows belong to a text."""

    errors: tuple[str, ...]
    is_good: NDArray[np.bool_]  # (texts,)
    street: NDArray[np.int8]  # (texts,)
    is_showdown: NDArray[np.bool_]  # (texts,)
    contributions: NDArray[np.float64]  # (texts, seats) chips
    live: NDArray[np.bool_]  # (texts, seats)
    first: NDArray[np.int64]  # (texts,)
    length: NDArray[np.int64]  # (texts,)
    rows: NDArray[np.float32]  # (actions, ROW_COLUMNS)

    def column(self, name: str) -> NDArray[np.float32]:
        """One column of the rows."""
        return self.rows[:, ROW_COLUMNS.index(name)]


def replay_table(rules: Rules, uncapped: bool, texts: tuple[str, ...]) -> ReplayTable:
    """Replay every text."""
    replays = [replay(rules, uncapped, text) for text in texts]
    nothing, nobody = (0,) * rules.n_seats, (False,) * rules.n_seats
    length = np.array([len(item.rows) for item in replays], dtype=np.int64)
    rows = [row for item in replays for row in item.rows]
    return ReplayTable(
        errors=tuple(item.error for item in replays),
        is_good=np.array([not item.error for item in replays], dtype=np.bool_),
        street=np.array([item.street for item in replays], dtype=np.int8),
        is_showdown=np.array([item.is_showdown for item in replays], dtype=np.bool_),
        contributions=np.array([item.contributions or nothing for item in replays], dtype=np.float64),
        live=np.array([item.live or nobody for item in replays], dtype=np.bool_),
        first=np.cumsum(length) - length,
        length=length,
        rows=np.array(rows, dtype=np.float32).reshape(len(rows), len(ROW_COLUMNS)),
    )
