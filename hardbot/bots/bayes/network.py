"""Inference in the decision network: from all of the opponent's actions to his hand, now and at the end.

PokaBayes (Katzenelson et al. 2013, parts 4 and 8) infers from the last action only, its authors' first regret. Here the
belief over the opponent's 44 types is carried through the hand: an action multiplies it by P(action | type),
a new board card moves it by P(type then | type now, new board) (forward filtering; Rabiner, Proc. IEEE 77, 1989).

Nodes are the document's: opponent's current hand, opponent's final hand, own current and final hand, board, action,
win. Both final hands share the board, so P(his final | ours) is weighted by how much more often the two classes come
together on such a board than by chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hardbot.bots.bayes.amateur import Floats
from hardbot.bots.bayes.handtypes import N_FINALS
from hardbot.bots.bayes.tables import NetworkTables

_BETTER = np.tril(np.ones((N_FINALS, N_FINALS)), -1)  # [own, his]: ours is the better class


@dataclass(frozen=True, slots=True)
class Outcome:
    """Chances at the end."""

    p_win: float
    p_tie: float
    p_lose: float


class Belief:
    """P(opponent's type) given the board so far and everything he has done."""

    def __init__(self, tables: NetworkTables) -> None:
        self.tables = tables
        self.street = 0
        self.board_type = 0
        self.types: Floats = tables.start.copy()

    @property
    def strength(self) -> Floats:
        """Strength of each type on the board now."""
        return np.asarray(self.tables.strength[self.street, self.board_type])

    def advance(self, board_type: int) -> None:
        """A street was dealt."""
        self.types = self.types @ self.tables.step[self.street, board_type]
        self.street += 1
        self.board_type = board_type

    def update(self, p_action: Floats) -> None:
        """He has done something that type t does with probability p_action[t]."""
        weighted = self.types * p_action
        self.types = weighted / weighted.sum()

    def finals(self) -> Floats:
        """P(opponent's class at the end), whatever we hold."""
        return np.asarray(self.types @ self.tables.final[self.street, self.board_type])

    def outcome(self, own_type: int) -> Outcome:
        """Chances to win, tie and lose with a hand of `own_type` now."""
        own = self.tables.final[self.street, self.board_type, own_type]
        his = self.finals() * self.tables.relation[self.street, self.board_type]  # [own, his]
        both = own[:, None] * his / his.sum(axis=1, keepdims=True)
        p_win, p_tie = float((both * _BETTER).sum()), float(np.trace(both))
        return Outcome(p_win, p_tie, max(0.0, 1.0 - p_win - p_tie))
