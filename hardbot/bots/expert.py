"""The expert chooser: from a range to a probability triple, by rules from the boldest plan to the meekest.

After the paper (and Poki): every rule has a condition on the hand's strength and potential against the
*weighted* range, the odds, the position and how often this opponent is expected to fold; a rule whose
condition holds is taken with some probability, else the next is asked; nothing left means fold. The
result is the exact triple of that procedure, so play is mixed and the reasons can be shown.

Figures: HS now, PPot and NPot to the river, EHS = HS + (1 - HS) PPot (to bet), p_win = expected share of
the pot at the river (to call). A semi-bluff must pay by folds and outs together; a bluff by folds alone.
Free checks are never turned into folds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hardbot.game.rules import CALL, FOLD, RAISE

Triple = tuple[float, float, float]
RIVER = 3


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything the rules look at. Amounts are small bets."""

    street: int
    pot_sb: float
    to_call_sb: float
    bet_sb: float  # size of one bet on this street
    later_bets_sb: float  # what a bet on each later street adds up to
    raises: int  # bets and raises on this street so far
    may_raise: bool
    in_position: bool  # we speak last after the flop
    hs: float
    ppot: float
    npot: float
    p_win: float  # share of the pot at the river against the range
    p_win_called: float  # the same against the part of the range that does not fold to our bet or raise
    p_fold: float  # opponent folds to our bet or raise
    p_reraise: float  # opponent raises our bet or raise
    p_bet_if_checked: float  # opponent bets if we check

    @property
    def ehs(self) -> float:
        """Effective hand strength."""
        return self.hs + (1.0 - self.hs) * self.ppot

    @property
    def pot_odds(self) -> float:
        """Share of the final pot that a call costs."""
        return self.to_call_sb / (self.pot_sb + self.to_call_sb) if self.to_call_sb > 0.0 else 0.0

    @property
    def showdown_odds(self) -> float:
        """What p_win must be to call down, if the opponent goes on betting half of the later streets."""
        later = 0.5 * self.later_bets_sb
        return (self.to_call_sb + later) / (self.pot_sb + self.to_call_sb + 2.0 * later)

    @property
    def bluff_gain_sb(self) -> float:
        """Profit of a bet or raise that wins only when the opponent folds."""
        cost = self.to_call_sb + self.bet_sb
        return self.p_fold * self.pot_sb - (1.0 - self.p_fold) * cost

    @property
    def semi_bluff_gain_sb(self) -> float:
        """Profit of a bet or raise that wins by folds or, called, by our share of the pot."""
        cost = self.to_call_sb + self.bet_sb
        called = self.p_win_called * (self.pot_sb + cost + self.bet_sb) - cost
        return self.p_fold * self.pot_sb + (1.0 - self.p_fold) * called


@dataclass(frozen=True, slots=True)
class Rule:
    """`action` is taken with probability `weight(situation)`, 0 where the rule does not apply."""

    name: str
    action: int
    weight: Callable[[Situation], float]


@dataclass(frozen=True, slots=True)
class Choice:
    """The triple, the rule with the largest share in it, and every rule's share."""

    triple: Triple
    rule: str
    shares: tuple[tuple[str, float], ...]


def _ramp(value: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high` on, straight between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


def _value_raise(s: Situation) -> float:
    if s.to_call_sb <= 0.0 or not s.may_raise:
        return 0.0
    needed = 0.60 + 0.05 * (s.raises - 1) + 0.10 * s.p_reraise
    return 0.95 * _ramp(s.p_win, needed - 0.04, needed + 0.04)


def _check_raise(s: Situation) -> float:
    if s.to_call_sb > 0.0 or s.in_position or not s.may_raise or s.p_win < 0.75:
        return 0.0
    return 0.4 * _ramp(s.p_bet_if_checked, 0.5, 0.8)


def _value_bet(s: Situation) -> float:
    if s.to_call_sb > 0.0 or not s.may_raise:
        return 0.0
    needed = 0.50 + 0.08 * s.p_reraise + (0.0 if s.in_position else 0.01)
    return _ramp(s.p_win, needed - 0.02, needed + 0.02)


def _semi_bluff(s: Situation) -> float:
    if s.street == RIVER or not s.may_raise or s.ppot < 0.12:
        return 0.0
    best_passive = (
        s.p_win * s.pot_sb if s.to_call_sb <= 0.0 else max(0.0, s.p_win * (s.pot_sb + s.to_call_sb) - s.to_call_sb)
    )
    return 0.8 if s.semi_bluff_gain_sb > best_passive + 0.1 * s.bet_sb else 0.0


def _bluff(s: Situation) -> float:
    if not s.may_raise or s.p_win > 0.35:
        return 0.0
    passive = s.p_win * s.pot_sb if s.to_call_sb <= 0.0 else 0.0
    return 0.7 if s.bluff_gain_sb > passive + 0.1 * s.bet_sb else 0.0


def _call_with_odds(s: Situation) -> float:
    if s.to_call_sb <= 0.0:
        return 0.0
    if s.street == RIVER:
        return 1.0 if s.hs >= s.pot_odds else 0.0
    implied = s.to_call_sb / (s.pot_sb + s.to_call_sb + 0.5 * s.later_bets_sb)
    return 1.0 if s.ppot * (1.0 - s.hs) >= implied else 0.0


def _showdown_call(s: Situation) -> float:
    return 1.0 if s.to_call_sb > 0.0 and s.p_win >= s.showdown_odds else 0.0


def _check(s: Situation) -> float:
    return 1.0 if s.to_call_sb <= 0.0 else 0.0


RULES: tuple[Rule, ...] = (
    Rule("value raise", RAISE, _value_raise),
    Rule("check-raise", CALL, _check_raise),
    Rule("value bet", RAISE, _value_bet),
    Rule("semi-bluff", RAISE, _semi_bluff),
    Rule("bluff", RAISE, _bluff),
    Rule("call with odds", CALL, _call_with_odds),
    Rule("showdown call", CALL, _showdown_call),
    Rule("check", CALL, _check),
    Rule("fold", FOLD, lambda s: 1.0),
)


def choose(situation: Situation) -> Choice:
    """The exact triple of asking the rules in turn."""
    triple = [0.0, 0.0, 0.0]
    shares: list[tuple[str, float]] = []
    left = 1.0
    for rule in RULES:
        share = left * rule.weight(situation)
        if share > 0.0:
            triple[rule.action] += share
            shares.append((rule.name, share))
            left -= share
        if left <= 1e-12:
            break
    total = sum(triple)
    best = max(shares, key=lambda item: item[1])[0]
    return Choice((triple[FOLD] / total, triple[CALL] / total, triple[RAISE] / total), best, tuple(shares))
