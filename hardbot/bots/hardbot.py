"""hardbot: a range for the opponent by Bayes' rule, corrected for this very opponent, and an expert that chooses.

The 2010 design: keep a probability for each of the 1,326 hands the opponent may hold; at each of its actions multiply
by P(action | bucket of that hand, betting history) of the corpus model, corrected by a naive Bayes model of this
opponent (model/opponent.py); give HS, PPot, NPot and the chance of winning against that range, the odds, and what the
model expects the opponent to do next, to a rule-based expert (expert.py), which answers with a probability triple. Our
own range, as the opponent sees it, is tracked beside it. Heads-up only.

Options: `model` (a folder; default the current or shipped one), `adjust=no` (no opponent term), `chooser=expert`,
`memory` (a file in which what is known of opponents is kept between sessions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.base import HEADS_UP_ONLY, Bot
from hardbot.bots.expert import Choice, Situation, Triple, choose
from hardbot.errors import BotError
from hardbot.game.betting import Betting, first_betting
from hardbot.game.cards import HOLE_CLASS, N_CLASSES, hole_class
from hardbot.game.features import Outlook, Strength
from hardbot.game.hand import HandResult, Hole, View
from hardbot.game.notation import MatchState
from hardbot.game.preflop import class_equities
from hardbot.game.rules import ACTION_CHARS, BOARD_SIZES, CALL, FOLD, RAISE, STREET_NAMES
from hardbot.model.artifact import load_model
from hardbot.model.likelihood import ActionModel
from hardbot.model.opponent import OpponentModel, load_memory, save_memory
from hardbot.model.tracker import HandTracker

CHOOSERS = ("expert",)
FIGURES = (
    *("hs", "ppot", "npot", "ehs", "p_win", "p_win_called", "p_fold", "p_reraise", "p_bet_if_checked"),
    *("pot_odds", "showdown_odds", "pot_sb", "to_call_sb"),
)
Floats = NDArray[np.float64]
_LATER_SB = (5.0, 4.0, 2.0, 0.0)  # one bet on each later street, by street


@lru_cache(maxsize=4)
def shared_model(path: str) -> ActionModel:
    """The corpus model of a folder (empty: the default one), loaded once a process."""
    return ActionModel(load_model(Path(path) if path else None))


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why the bot would act so: beliefs, figures, the triple and the rule with the largest share in it."""

    weights: Floats  # (1326,) the opponent's range
    own_weights: Floats  # (1326,) our range as the opponent sees it
    buckets: tuple[tuple[str, float], ...]
    figures: Mapping[str, float]
    triple: Triple | None
    rule: str
    shares: tuple[tuple[str, float], ...]


class HardBot(Bot):
    """See the module."""

    name = "hardbot"
    table_sizes = HEADS_UP_ONLY
    learns = True

    def __init__(self, model: str = "", chooser: str = "expert", adjust: bool = True, memory: str = "") -> None:
        if chooser not in CHOOSERS:
            raise BotError(f"expected chooser={'|'.join(CHOOSERS)} of hardbot, got {chooser!r}")
        self.model_path = model
        self.chooser = chooser
        self.adjust = adjust
        self.opponents: dict[str, OpponentModel] = {}
        self.tracker: HandTracker | None = None
        self._outlook: tuple[tuple[int, ...], Outlook] | None = None
        self._last: tuple[Situation, Choice] | None = None  # decision of this hand
        self._memory = Path(memory) if memory else None
        if self._memory is not None and self._memory.exists():
            self.load_memory(self._memory)

    @property
    def model(self) -> ActionModel:
        """The corpus model."""
        return shared_model(self.model_path)

    def new_hand(self, view: View) -> None:
        """Start with every possible hand equally likely."""
        opponent = self._opponent(view) if self.adjust else None
        self.tracker = HandTracker(self.model, view.seat, view.hole, opponent)
        self._outlook = self._last = None

    def _opponent(self, view: View) -> OpponentModel:
        name = view.players[1 - view.seat]
        if name not in self.opponents:
            self.opponents[name] = OpponentModel()
        return self.opponents[name]

    def observe(self, view: View, before: Betting, action: int) -> None:
        """Move both ranges on."""
        tracker = self._tracker(view)
        tracker.observe(before, action)
        tracker.see_board(view.board)

    def _tracker(self, view: View) -> HandTracker:
        if self.tracker is None:
            raise BotError("expected new_hand before any other call, got none")
        self.tracker.see_board(view.board)
        return self.tracker

    def act(self, view: View, rng: np.random.Generator) -> int:
        """Draw from the triple."""
        triple = self.decide(view)[1].triple
        chance = rng.random()
        if chance < triple[FOLD]:
            return FOLD
        return CALL if chance < triple[FOLD] + triple[CALL] or triple[RAISE] == 0.0 else RAISE

    def decide(self, view: View) -> tuple[Situation, Choice]:
        """The situation as the bot sees it, and what the chooser makes of it."""
        situation = self.situation(view)
        self._last = situation, choose(situation)
        return self._last

    def end_hand(self, view: View, result: HandResult) -> None:
        """Learn from what was shown."""
        tracker = self._tracker(view)
        tracker.end(result.holes[1 - view.seat])
        if self._memory is not None:
            self.save_memory(self._memory)

    def situation(self, view: View) -> Situation:
        """All figures of the decision at hand."""
        tracker, betting = self._tracker(view), view.betting
        weights = tracker.theirs.weights
        strength, equity = self._strength(view, weights)
        may_raise = RAISE in betting.legal
        p_fold = p_reraise = 0.0
        p_win_called = strength.e
        if may_raise:
            table, _ = tracker.likelihoods(betting.after(RAISE), view.board, opponent=True)
            p_fold, _, p_reraise = (float(p) for p in weights @ table)
            staying = weights * (1.0 - table[:, FOLD])
            p_win_called = float(staying @ equity / staying.sum())
        return Situation(
            street=betting.street,
            pot_sb=view.pot_sb,
            to_call_sb=view.to_call_sb,
            bet_sb=view.rules.to_sb(betting.bet_size),
            later_bets_sb=_LATER_SB[betting.street],
            raises=betting.raises,
            may_raise=may_raise,
            in_position=view.seat == view.rules.button,
            hs=strength.hs,
            ppot=strength.ppot,
            npot=strength.npot,
            p_win=strength.e,
            p_win_called=p_win_called,
            p_fold=p_fold,
            p_reraise=p_reraise,
            p_bet_if_checked=self._p_bet(view, weights),
        )

    def _p_bet(self, view: View, weights: Floats) -> float:
        """Chance that the opponent bets if we check; 0 where a check ends the street."""
        betting = view.betting
        if betting.to_call > 0:
            return 0.0
        after = betting.after(CALL)
        if after.is_over or after.street != betting.street or RAISE not in after.legal:
            return 0.0
        table, _ = self._tracker(view).likelihoods(after, view.board, opponent=True)
        return float(weights @ table[:, RAISE])

    def _strength(self, view: View, weights: Floats) -> tuple[Strength, Floats]:
        """Features against the range, and the chance of winning (1326,) against each hand in it (0: impossible)."""
        if not view.board:
            equity = class_equities()[hole_class(*view.hole)]
            e = float(np.bincount(HOLE_CLASS, weights=weights, minlength=N_CLASSES) @ equity)
            return Strength(e, 0.0, 0.0, e, e * e, 0.0, 0.0), equity[HOLE_CLASS]
        outlook = self._look(view.hole, view.board)
        return outlook.strength(weights), np.nan_to_num(outlook.opponent_equity())

    def _look(self, hole: Hole, board: tuple[int, ...]) -> Outlook:
        """Outcomes by opponent hand, computed once a street."""
        if self._outlook is None or self._outlook[0] != board:
            self._outlook = (board, Outlook(hole, board, moments=False))
        return self._outlook[1]

    def explain(self) -> Reasons | None:
        """What the bot believes now, and the reasons of its last decision of this hand (if it took one)."""
        if self.tracker is None:
            return None
        figures: dict[str, float] = {}
        triple: Triple | None = None
        rule = ""
        shares: tuple[tuple[str, float], ...] = ()
        if self._last is not None:
            situation, choice = self._last
            figures = situation_figures(situation)
            triple, rule, shares = choice.triple, choice.rule, choice.shares
        return Reasons(
            weights=self.tracker.theirs.weights,
            own_weights=self.tracker.ours.weights,
            buckets=self.bucket_masses(self.tracker.board, self.tracker.theirs.weights),
            figures=figures,
            triple=triple,
            rule=rule,
            shares=shares,
        )

    def bucket_masses(self, board: tuple[int, ...], weights: Floats) -> tuple[tuple[str, float], ...]:
        """Probability of every bucket of this street, weakest first."""
        buckets = self.model.buckets(board)
        known = buckets >= 0
        masses = np.bincount(buckets[known], weights=weights[known])
        street = STREET_NAMES[BOARD_SIZES.index(len(board))]
        return tuple((f"{street} {number}", float(p)) for number, p in enumerate(masses))

    def save_memory(self, path: Path) -> None:
        """Keep what was learned of each opponent by name."""
        save_memory(path, self.opponents)

    def load_memory(self, path: Path) -> None:
        """Take up what was learned before."""
        self.opponents = load_memory(path)


def follow(bot: Bot, state: MatchState, players: tuple[str, str] = ("p1", "p2")) -> View:
    """Let a bot live through a hand up to a match state; returns its view there."""
    rules = state.betting.rules
    node = first_betting(rules)
    view = state.view(players)
    view.betting, view.board = node, ()
    bot.new_hand(view)
    for char in state.betting.text.replace("/", ""):
        before, action = node, ACTION_CHARS.index(char)
        node = node.after(action)
        view.betting, view.board = node, state.board[: BOARD_SIZES[node.street]]
        bot.observe(view, before, action)
    return view


def situation_figures(situation: Situation) -> dict[str, float]:
    """The situation as named numbers."""
    return {name: float(getattr(situation, name)) for name in FIGURES}
