"""poki: hand strength and potential against weight tables, published thresholds, opponent modelling; 2 to 10 seats.

D. Billings, A. Davidson, J. Schaeffer and D. Szafron, "The Challenge of Poker", Artificial Intelligence 134 (2002), and
D. Papp's thesis on its predecessor Loki (1998). Before the flop the income rate of the hand meets the thresholds
Make1, Make2 and Make4 of income.py; the choice made at the first decision holds for the street. Afterwards
EHS = HS + (1 - HS) PPot decides (poki_kernels.postflop_triple): raise from .85, Make(1) from .50 with the published
softening of bets (none at .40, half at .50, all at .60), semi-bluffs that go on while nobody bets, pot odds
and showdown odds. HS is against every opponent's weight table (the product over opponents), PPot looks one card
ahead against the mean of these tables; for EHS on the flop two cards count as two such chances, 1 - (1 - PPot)^2
(.204 for the published hand whose exact value is .208). Weight tables and their re-weighting: weight_tables.py.

Where this departs from the 1998 rules, because those win only 1.0 sb a hand from always_raise where Poki won 2.1:
EHS >= .85 raises up to the cap, not to two bets only (the raises seen are in the weight tables already); such a
hand checks first when somebody may bet behind it, to raise; and a hand that the thresholds would fold
before the flop against one opponent calls if a roll-out against his weight table shows it showdown odds.
"""

from __future__ import annotations

import numpy as np

from hardbot.bots.income import INCOME, THRESHOLDS
from hardbot.bots.poki_kernels import MAKE1, postflop_triple, preflop_equity, preflop_group, preflop_triple
from hardbot.bots.weight_tables import ModellingBot, Triple, choose, two_cards
from hardbot.game.betting import Betting
from hardbot.game.cards import HOLE_CARDS, hole_index
from hardbot.game.hand import View
from hardbot.game.rules import CALL, FOLD, RAISE

BET_WIDTH = 0.10  # the published softening
ROLL_OUTS = 400
LATER_COST_SB = 2.0  # what a hand called before the flop will cost later, showdown or fold: an expert's value
Plan = tuple[float, float, float, float]  # income rate, Make1, Make2, Make4


def players_behind(betting: Betting, seat: int) -> int:
    """Live players who will act after this seat on the streets to come."""
    n, first = len(betting.live), betting.rules.first_seat[1]
    place = (seat - first) % n
    return sum(live and (other - first) % n > place for other, live in enumerate(betting.live))


def preflop_thresholds(betting: Betting, seat: int, n_in: int) -> tuple[int, float, float, float]:
    """Income table and Make1, Make2, Make4; `n_in` others have entered the pot of their own will."""
    group = preflop_group(1 + n_in, betting.n_live - 1 - n_in)
    lines = THRESHOLDS[group]
    make = lines[:, 0] + lines[:, 1] * players_behind(betting, seat)
    return group, float(make[0]), float(make[1]), float(make[2])


class Poki(ModellingBot):
    """Plays by formula; `generic` re-weights opponents' hands, `specific` uses each opponent's own frequencies."""

    name = "poki"

    def __init__(self, generic: bool = True, specific: bool = True) -> None:
        super().__init__(generic, specific)
        self._plan: Plan | None = None

    def new_hand(self, view: View) -> None:
        """Forget the last hand's plan and weights."""
        super().new_hand(view)
        self._plan = None

    def act(self, view: View, rng: np.random.Generator) -> int:
        """The rules' action; where they mix, the generator chooses."""
        betting = view.betting
        if betting.street == 0:
            action = choose(self._preflop(view), betting.legal, rng.random())
            return CALL if action == FOLD and self._has_showdown_odds(view, rng) else action
        hs, ppot = self.strength(view)
        ehs = hs + (1.0 - hs) * (two_cards(ppot) if betting.street == 1 else ppot)
        action = choose(self._postflop(betting, view.seat, ehs, ppot), betting.legal, rng.random())
        if action == RAISE and betting.to_call == 0 and ehs < MAKE1 and betting.street < 3:
            self._bluffing = True
        return action

    def _preflop(self, view: View) -> Triple:
        betting = view.betting
        if self._plan is None:
            n_in = self._others_in(betting, view.seat)
            group, make1, make2, make4 = preflop_thresholds(betting, view.seat, n_in)
            self._plan = (float(INCOME[group, hole_index(*view.hole)]), make1, make2, make4)
        return preflop_triple(
            *self._plan,
            betting.to_call,
            betting.bet_size,
            betting.raises,
            RAISE in betting.legal,
            self._voluntary[view.seat],
            0.0,
        )

    def _has_showdown_odds(self, view: View, rng: np.random.Generator) -> bool:
        """Whether equity against a lone opponent's weight table is worth the call and what it will cost later."""
        betting = view.betting
        if betting.n_live != 2:
            return False
        (weights,) = self.weights(view).values()
        state = rng.integers(1, 1 << 63, size=1, dtype=np.uint64)
        a, b = max(view.hole), min(view.hole)
        equity = preflop_equity(a, b, HOLE_CARDS, weights, ROLL_OUTS, state)
        cost = LATER_COST_SB * betting.rules.bet_sizes[0]
        return equity >= (betting.to_call + cost) / (betting.pot + betting.to_call + 2 * cost)

    def _postflop(self, betting: Betting, seat: int, ehs: float, ppot: float) -> Triple:
        return postflop_triple(
            ehs,
            ppot,
            betting.street,
            betting.to_call,
            betting.bet_size,
            betting.pot,
            RAISE in betting.legal,
            self._voluntary[seat] and self._street == betting.street,
            self._bluffing,
            players_behind(betting, seat) > 0,
            BET_WIDTH,
            0.0,
            0.0,
            0.0,
            0.0,
        )
