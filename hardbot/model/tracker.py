"""Both ranges of a heads-up hand, moved on by every public event.

One `HandTracker` follows one hand from one seat. It keeps the opponent's range (our cards and the board
removed, likelihoods adjusted by what is known of this opponent) and our own range as the opponent sees
it (only the board removed, the corpus model's likelihoods), and a record of every step for explanations. With
`keeps_public` there is a third range: the opponent's for somebody who does not see our cards. It may be shown to the
opponent during the hand, since nothing in it depends on them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardbot.game.betting import Betting
from hardbot.game.cards import N_HOLES, hole_index
from hardbot.game.hand import Hole
from hardbot.game.rules import BOARD_SIZES
from hardbot.model.likelihood import ActionModel
from hardbot.model.opponent import N_DECILES, OpponentModel
from hardbot.model.posterior import Range

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Step:
    """One action as the tracker saw it; ranges are those after it."""

    betting: Betting  # before the action
    action: int
    is_opponent: bool
    p_corpus: Floats  # (3,) the corpus model's prediction for the range
    p_adjusted: Floats  # (3,) with the opponent term
    range_before: Floats  # (1326,) of the player who acted
    range_after: Floats


def strength_deciles(model: ActionModel, board: tuple[int, ...]) -> NDArray[np.int8]:
    """Decile 0..9 of every hand's E among all hands on this board, -1 for impossible hands."""
    equity = model.equities(board)  # (1326,), NaN for impossible hands
    possible = np.flatnonzero(~np.isnan(equity))
    order = possible[np.argsort(equity[possible], kind="stable")]
    deciles = np.full(N_HOLES, -1, dtype=np.int8)
    deciles[order] = np.arange(len(order)) * N_DECILES // len(order)
    return deciles


class HandTracker:
    """Ranges of one heads-up hand as `seat` with `hole` follows them; an onlooker has no hole cards: `()`."""

    def __init__(
        self,
        model: ActionModel,
        seat: int,
        hole: Hole | tuple[()],
        opponent: OpponentModel | None = None,
        *,
        keeps_public: bool = False,
    ) -> None:
        self.model = model
        self.seat = seat
        self.hole = hole
        self.opponent = opponent
        self.theirs = Range(hole)
        self.ours = Range()
        self.public = Range() if keeps_public else None
        self.board: tuple[int, ...] = ()
        self.steps: list[Step] = []
        self._deciles: dict[int, NDArray[np.int8]] = {}

    def see_board(self, board: tuple[int, ...]) -> None:
        """New board cards are in sight."""
        if len(board) > len(self.board):
            fresh = board[len(self.board) :]
            self.theirs.remove(fresh)
            self.ours.remove(fresh)
            if self.public is not None:
                self.public.remove(fresh)
            self.board = board

    def likelihoods(self, betting: Betting, board: tuple[int, ...], *, opponent: bool) -> tuple[Floats, Floats]:
        """P(action | hand) (1326, 3) at a position, and the corpus prediction (3,) for the range."""
        table = self.model.action_probabilities(betting, board)
        p_corpus = (self.theirs if opponent else self.ours).predict(table)
        if opponent and self.opponent is not None:
            table = self.opponent.adjust(betting, table, p_corpus, self.deciles(board))
        return table, p_corpus

    def deciles(self, board: tuple[int, ...]) -> NDArray[np.int8]:
        """Strength deciles on a board of this hand, computed once a street."""
        found = self._deciles.get(len(board))
        if found is None:
            found = self._deciles[len(board)] = strength_deciles(self.model, board)
        return found

    def observe(self, before: Betting, action: int) -> None:
        """A seat took `action` at `before`; the board of that street has been seen."""
        board = self.board[: BOARD_SIZES[before.street]]
        is_opponent = before.seat != self.seat
        held = self.theirs if is_opponent else self.ours
        table, p_corpus = self.likelihoods(before, board, opponent=is_opponent)
        p_adjusted = held.predict(table)
        if is_opponent and self.public is not None:
            self._observe_public(self.public, before, action, board)
        weights_before = held.weights
        held.update(table[:, action])
        self.steps.append(Step(before, action, is_opponent, p_corpus, p_adjusted, weights_before, held.weights))
        if is_opponent and self.opponent is not None:
            self.opponent.observe(before, action, self.deciles(board))

    def _observe_public(self, public: Range, before: Betting, action: int, board: tuple[int, ...]) -> None:
        """The same step as our own, from the prediction of somebody who does not see our cards."""
        table = self.model.action_probabilities(before, board)
        if self.opponent is not None:
            table = self.opponent.adjust(before, table, public.predict(table), self.deciles(board))
        public.update(table[:, action])

    def end(self, shown: Hole | None) -> None:
        """The hand is over; the opponent's cards if they were shown."""
        if self.opponent is None:
            return
        final = self.theirs.weights
        if shown is not None:
            final = np.zeros(N_HOLES)
            final[hole_index(*shown)] = 1.0
        self.opponent.end_hand(final)
