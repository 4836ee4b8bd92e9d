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


_MAX_REPLAYS = 400_000
_known: dict[tuple[str, bool, str], Replay] = {}


@lru_cache(maxsize=128)
def start(rules: Rules, uncapped: bool) -> Betting:
    """Where a replay begins: the blinds of a preset, or of the same table as old records are (`Rules.recorded`)."""
    return first_betting(rules.recorded() if uncapped else rules)


def replay(rules: Rules, uncapped: bool, text: str) -> Replay:
    """Replay a whole hand's betting; texts seen lately are not replayed again."""
    found = _known.get((rules.name, uncapped, text))
    if found is None:
        try:
            found = _replay_path(rules, _walk(start(rules, uncapped), text))
        except HardBotError as error:
            found = Replay(str(error), 0, False, (), (), ())
        _remember(rules, uncapped, text, found)
    return found


def remember_end(rules: Rules, uncapped: bool, end: Betting) -> None:
    """Take up a hand that a source has played to its end from `start` already."""
    if (rules.name, uncapped, end.text) not in _known:
        _remember(rules, uncapped, end.text, _replay_path(rules, end))


def _remember(rules: Rules, uncapped: bool, text: str, found: Replay) -> None:
    if len(_known) >= _MAX_REPLAYS:
        _known.clear()
    _known[rules.name, uncapped, text] = found


def _walk(betting: Betting, text: str) -> Betting:
    for position, char in enumerate(text):
        if char == "/":
            if betting.text[: position + 1] != text[: position + 1]:
                raise HardBotError(f"expected a street to end before '/' at {position} of betting {text!r}")
            continue
        action = ACTION_CHARS.find(char)
        if action < 0 or betting.text != text[:position]:
            raise HardBotError(f"expected one of 'fcr' or a '/' at {position} of betting {text!r}, got {char!r}")
        betting = betting.after(action)
    if not betting.is_over:
        raise HardBotError(f"expected a finished hand, got betting {text!r}")
    return betting


def _replay_path(rules: Rules, end: Betting) -> Replay:
    """The positions from the blinds to the end as rows."""
    path = [end]
    while path[-1].parent is not None:
        path.append(path[-1].parent)
    path.reverse()
    capped = _tree_root(rules) if rules.n_seats == 2 else None
    rows: list[tuple[float, ...]] = []
    for betting, char in zip(path, end.text.replace("/", ""), strict=False):
        action = ACTION_CHARS.index(char)
        node, is_clipped = -1, False
        if capped is not None:
            node, is_clipped = capped.index, capped.seat != betting.seat or capped.raises != betting.raises
            if action in capped.legal:
                capped = capped.after(action)
            else:
                is_clipped = True
        pot_sb = rules.to_sb(betting.pot)
        rows.append(
            (betting.seat, betting.street, node, action, betting.bets_to_call, betting.raises, pot_sb, is_clipped)
        )
    return Replay("", end.street, end.is_showdown, end.contributions, end.live, tuple(rows))


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
