"""rulebot: a plain rule player on hand strength and potential, for 2 to 10 seats.

Our stand-in for the simple player shipped with the Meerkat library (University of Alberta). Preflop a
fixed chart; afterwards everything hangs on r = HS^opponents and PPot, both against uniform hands
(Billings et al., "The Challenge of Poker", 2002): the nuts raise; an unbet pot is bet with
probability r^2, else with probability PPot; a bet is raised with probability r^(1 + raises of the
round), else called if r^2 * pot > call or PPot > call / (pot + call). It does not model anybody.
"""

from __future__ import annotations

import numpy as np

from hardbot.bots.base import Bot
from hardbot.game.cards import CLASS_TEXT, HOLE_CLASS, RANKS, hole_index
from hardbot.game.feature_tables import FEATURE_COLUMNS, features_of_hand
from hardbot.game.hand import Hole, View
from hardbot.game.rules import CALL, FOLD, RAISE

P_RANDOM_CALL = 0.05
_HS, _PPOT = FEATURE_COLUMNS.index("hs"), FEATURE_COLUMNS.index("ppot")
_TEN = RANKS.index("T")


def chart_action(class_text: str) -> int:
    """Preflop chart: RAISE, CALL, or FOLD for hands it has nothing to say about (check when free)."""
    high, low = RANKS.index(class_text[0]), RANKS.index(class_text[1])
    if high == low:
        return RAISE if high >= _TEN or class_text == "22" else CALL
    suited = class_text.endswith("s")
    if low >= _TEN:
        return RAISE if suited else CALL
    if class_text == "A2s":
        return RAISE
    return CALL if suited and (high - low == 1 or class_text[0] == "A") else FOLD


CHART: tuple[int, ...] = tuple(chart_action(CLASS_TEXT[cell]) for cell in HOLE_CLASS.tolist())  # by hole index


def strength_and_potential(hole: Hole, board: tuple[int, ...]) -> tuple[float, float]:
    """HS and PPot of one hand against one uniform opponent hand."""
    row = features_of_hand(hole, board)
    return float(row[_HS]), float(row[_PPOT])


class RuleBot(Bot):
    """Plays the rules above; keeps nothing but the strength of the hand it holds."""

    name = "rulebot"

    def __init__(self) -> None:
        self._cards: tuple[Hole, tuple[int, ...]] | None = None
        self._strength = (0.0, 0.0)

    def act(self, view: View, rng: np.random.Generator) -> int:
        """The rules' action; a raise above the cap becomes a call, a fold for free a check."""
        action = self._preflop(view, rng) if view.betting.street == 0 else self._postflop(view, rng)
        if action in view.betting.legal:
            return action
        return CALL

    def _preflop(self, view: View, rng: np.random.Generator) -> int:
        betting = view.betting
        action = CHART[hole_index(*view.hole)]
        if action == FOLD and 0 < betting.to_call <= betting.bet_size and rng.random() < P_RANDOM_CALL:
            return CALL
        return action

    def _postflop(self, view: View, rng: np.random.Generator) -> int:
        betting = view.betting
        hs, ppot = self._hand_strength(view)
        r = hs ** (betting.n_live - 1)
        if r >= 1.0:
            return RAISE
        if betting.to_call == 0:
            return RAISE if rng.random() < r * r or rng.random() < ppot else CALL
        if rng.random() < r ** (1 + betting.raises):
            return RAISE
        pot_odds = betting.to_call / (betting.pot + betting.to_call)
        return CALL if r * r * betting.pot > betting.to_call or ppot > pot_odds else FOLD

    def _hand_strength(self, view: View) -> tuple[float, float]:
        """HS and PPot, computed once a street: a street may ask several times."""
        cards = (view.hole, view.board)
        if cards != self._cards:
            self._cards, self._strength = cards, strength_and_potential(*cards)
        return self._strength
