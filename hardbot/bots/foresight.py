"""One hand with an answer of the portfolio: as the answer plays before the turn, from there on by looking ahead.

An answer is a strategy over buckets: good at what to do with hands like ours after betting like this. On turn and river
there is time to do better, with our hand itself and the opponent's range as his habits make it
(hardbot/solver/lookahead.py). A portrait is a rough model, and the best against a model goes where the model is wrong,
so the choice of the answer learned at the table is given a start: another action must be worth more by a share of the
pot. The habits of known rivals come from many thousand hands and need none.

Against somebody whose habits are not known well (Watch.habits_to_read) the answer is played as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.expert import Choice, Triple
from hardbot.bots.portfolio import Watch
from hardbot.game.betting import Betting
from hardbot.game.cards import compatible_holes
from hardbot.game.hand import View
from hardbot.game.rules import ACTION_NAMES, BOARD_SIZES
from hardbot.solver.lookahead import follow_range
from hardbot.solver.responder import choices_of

FIRST_STREET = 2  # the turn
START = 0.1  # of the pot: head start of the learned answer's own choice
Rows = NDArray[np.float32]
Steps = Sequence[tuple[Betting, int]]


class Foresight:
    """Plays one hand against a watched opponent."""

    def __init__(self, watch: Watch, *, looks: bool = True) -> None:
        self.watch = watch
        self.answer = watch.choose()
        self.name = watch.name_of(self.answer)
        self._start = START if self.answer == watch.learned else 0.0
        self._habits = watch.habits_to_read(self.answer) if looks else None
        self._street = -1  # the street that `_worth` is of
        self._worth: Rows = np.zeros(0, dtype=np.float32)

    def choose(self, view: View, steps: Steps) -> Choice:
        """What to do; `steps` are the opponent's decisions so far."""
        triple = self.watch.triple(self.answer, view.betting, view.hole, view.board)
        if self._habits is None or view.street < FIRST_STREET:
            return Choice(triple, self.name, ((self.name, 1.0),))
        worth = self.worth(view, steps, self._habits) + self._start * view.pot_sb * np.array(triple)
        action = int(worth.argmax())
        found: Triple = (float(action == 0), float(action == 1), float(action == 2))
        rule = f"{self.name}, looking ahead"
        return Choice(found, rule, ((rule, 1.0),))

    def worth(self, view: View, steps: Steps, habits: Rows) -> NDArray[np.float64]:
        """Worth of fold, call and raise (3,) on turn or river, sb from the start of the hand; illegal: -inf."""
        _, start, _, place, legal = choices_of(view.betting.index)
        if self._street != view.street:
            self._worth, self._street = self._look(view, steps, habits, start), view.street
        found = np.full(len(ACTION_NAMES), -np.inf)
        found[list(legal)] = self._worth[place : place + len(legal)]
        return found

    def _look(self, view: View, steps: Steps, habits: Rows, start: int) -> Rows:
        portfolio, street = self.watch.portfolio, view.street
        buckets = [portfolio.buckets.of_all(view.board[:size]) for size in BOARD_SIZES[: FIRST_STREET + 1]]
        reach = compatible_holes((*view.hole, *view.board)).astype(np.float32)
        for betting, action in steps:
            if betting.street < street:
                follow_range(reach, habits, int(portfolio.offsets[betting.index]), buckets[betting.street], action)
        reach /= reach.sum()
        hand = (start, view.seat, view.hole, view.board, reach, habits)
        if street == FIRST_STREET:
            return portfolio.lookahead.turn(*hand, buckets[street])
        return portfolio.lookahead.river(*hand)
