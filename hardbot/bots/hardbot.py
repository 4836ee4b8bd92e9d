"""hardbot: a range for the opponent by Bayes' rule, corrected for this very opponent, and a chooser.

The 2010 design: keep a probability for each of the 1,326 hands the opponent may hold; at each of its actions multiply
by P(action | bucket of that hand, betting history) of the corpus model, corrected by a naive Bayes model of this
opponent (model/opponent.py); give HS, PPot, NPot and the chance of winning against that range, the odds, and what the
model expects the opponent to do next, to a rule-based expert (expert.py), which answers with a probability triple. Our
own range, as the opponent sees it, is tracked beside it. Heads-up only.

Choosers: `expert` is the paper's; `portfolio` plays, of a set of strategies solved beforehand against players of the
corpus (the equilibrium among them), the one that is worth most against the opponent as it has played so far; the
answer to a stranger is learned while the match goes on (portfolio.py), and on turn and river an answer gives way to
looking ahead where that is worth more (foresight.py). At a table with other rules than the competition's the expert
decides.

Options: `model` (a folder; default the current or shipped one), `chooser`, `adjust=no` (no opponent term), `portfolio`
(a folder), `unseen` (rivals left out of it, joined by +), `look=no` (answers are played as they are), `study` (times
the usual work on the answer to a stranger, which is some milliseconds a decision), `memory` (a file: what the expert
knows of opponents).
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
from hardbot.bots.foresight import Foresight
from hardbot.bots.portfolio import Watch, default_portfolio, load_portfolio
from hardbot.errors import BotError
from hardbot.game.betting import Betting, first_betting
from hardbot.game.cards import HOLE_CLASS, N_CLASSES, hole_class
from hardbot.game.features import Outlook, Strength
from hardbot.game.hand import HandResult, Hole, View
from hardbot.game.notation import MatchState
from hardbot.game.preflop import class_equities
from hardbot.game.rules import ACTION_CHARS, BOARD_SIZES, CALL, FOLD, HEADS_UP, RAISE, STREET_NAMES
from hardbot.model.artifact import default_model_path, load_model, resolve_model
from hardbot.model.likelihood import ActionModel
from hardbot.model.opponent import OpponentModel, load_memory, save_memory
from hardbot.model.tracker import HandTracker

CHOOSERS = ("portfolio", "expert")
MOST_STUDY = 100.0
FIGURES = (
    *("hs", "ppot", "npot", "ehs", "p_win", "p_win_called", "p_fold", "p_reraise", "p_bet_if_checked"),
    *("pot_odds", "showdown_odds", "pot_sb", "to_call_sb"),
)
Floats = NDArray[np.float64]
_LATER_SB = (5.0, 4.0, 2.0, 0.0)  # one bet on each later street, by street


def shared_model(path: str) -> ActionModel:
    """The corpus model of a folder (empty: the default one of the moment), loaded once a process and folder."""
    return _load_shared(resolve_model(Path(path)) if path else default_model_path())


@lru_cache(maxsize=4)
def _load_shared(folder: Path) -> ActionModel:
    return ActionModel(load_model(folder))


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
    rivals: tuple[tuple[str, float, float], ...] = ()  # kinds of player: name, probability, worth of the answer to it
    public_weights: Floats | None = None  # (1326,) the opponent's range, nothing in it depends on our cards
    public_buckets: tuple[tuple[str, float], ...] = ()


class HardBot(Bot):
    """See the module."""

    name = "hardbot"
    table_sizes = HEADS_UP_ONLY
    learns = True

    def __init__(
        self,
        model: str = "",
        chooser: str = "portfolio",
        adjust: bool = True,
        portfolio: str = "",
        unseen: str = "",
        look: bool = True,
        study: float = 1.0,
        memory: str = "",
    ) -> None:
        if chooser not in CHOOSERS:
            raise BotError(f"expected chooser={'|'.join(CHOOSERS)} of hardbot, got {chooser!r}")
        if not 0.0 < study <= MOST_STUDY:
            raise BotError(f"expected study of more than 0 and at most {MOST_STUDY:g} of hardbot, got {study:g}")
        self.model_path = model
        self.chooser = chooser
        self.adjust = adjust
        self.portfolio_path = Path(portfolio) if portfolio else default_portfolio()
        self.unseen = tuple(filter(None, unseen.split("+")))
        self.look = look
        self.study = study
        self.keeps_reasons = False  # figures of portfolio decisions cost a millisecond: only where somebody looks
        self.opponents: dict[str, OpponentModel] = {}
        self.watches: dict[str, Watch] = {}
        self._foresight: Foresight | None = None  # of this hand, if an answer of the portfolio plays it
        self._tracker_behind: HandTracker | None = None
        self._events: list[tuple[Betting, int, tuple[int, ...]]] = []
        self._n_followed = 0
        self._outlook: tuple[tuple[int, ...], Outlook] | None = None
        self._last: tuple[Situation | None, Choice] | None = None  # decision of this hand
        self._memory = Path(memory) if memory else None
        if self._memory is not None and self._memory.exists():
            self.load_memory(self._memory)

    @property
    def model(self) -> ActionModel:
        """The corpus model."""
        return shared_model(self.model_path)

    def prepare(self) -> None:
        """Load the portfolio, let a stranger be drawn and answered once, and look ahead once."""
        if self.chooser == "portfolio":
            load_portfolio(self.portfolio_path).rehearse()

    def new_hand(self, view: View) -> None:
        """Start with every possible hand equally likely, and choose an answer."""
        name = view.players[1 - view.seat]
        plays_portfolio = self.chooser == "portfolio" and view.rules == HEADS_UP
        self._foresight = Foresight(self._watch_of(name), looks=self.look) if plays_portfolio else None
        opponent = self._opponent(name) if self.adjust and not plays_portfolio else None
        self._start = (view.seat, view.hole)
        self._tracker_behind = None if plays_portfolio else self._new_tracker(opponent)
        self._events = []
        self._n_followed = 0
        self._outlook = self._last = None

    def _new_tracker(self, opponent: OpponentModel | None) -> HandTracker:
        return HandTracker(self.model, *self._start, opponent, keeps_public=self.keeps_reasons)

    def _opponent(self, name: str) -> OpponentModel:
        if name not in self.opponents:
            self.opponents[name] = OpponentModel()
        return self.opponents[name]

    def _watch_of(self, name: str) -> Watch:
        if name not in self.watches:
            portfolio = load_portfolio(self.portfolio_path)
            self.watches[name] = Watch(portfolio.without(self.unseen) if self.unseen else portfolio, self.study)
        return self.watches[name]

    def observe(self, view: View, before: Betting, action: int) -> None:
        """Remember the action; ranges are moved on when somebody asks for them."""
        self._events.append((before, action, view.board))
        if self._foresight is None:
            self._follow()

    @property
    def tracker(self) -> HandTracker | None:
        """Both ranges as of the last event; None before the first hand."""
        return self._follow() if hasattr(self, "_start") else None

    def _follow(self) -> HandTracker:
        if self._tracker_behind is None:
            self._tracker_behind = self._new_tracker(None)
        tracker = self._tracker_behind
        for before, action, board in self._events[self._n_followed :]:
            tracker.observe(before, action)
            tracker.see_board(board)
        self._n_followed = len(self._events)
        return tracker

    def _tracker(self, view: View) -> HandTracker:
        if not hasattr(self, "_start"):
            raise BotError("expected new_hand before any other call, got none")
        tracker = self._follow()
        tracker.see_board(view.board)
        return tracker

    def act(self, view: View, rng: np.random.Generator) -> int:
        """Draw from the triple."""
        if self._foresight is not None and self._foresight.watch.stranger.seed is None:
            self._foresight.watch.stranger.seed = int(rng.integers(1 << 62))
        triple = self.decide(view).triple
        chance = rng.random()
        if chance < triple[FOLD]:
            return FOLD
        return CALL if chance < triple[FOLD] + triple[CALL] or RAISE not in view.betting.legal else RAISE

    def decide(self, view: View) -> Choice:
        """What the chooser makes of the situation."""
        if self._foresight is None:
            situation = self.situation(view)
            self._last = situation, choose(situation)
        else:
            choice = self._foresight.choose(view, self._opponent_steps(view))
            self._last = (self.situation(view) if self.keeps_reasons else None), choice
        return self._last[1]

    def _opponent_steps(self, view: View) -> list[tuple[Betting, int]]:
        return [(before, action) for before, action, _ in self._events if before.seat != view.seat]

    def end_hand(self, view: View, result: HandResult) -> None:
        """Learn from what was shown."""
        shown = result.holes[1 - view.seat]
        if self._foresight is not None:
            watch, steps = self._foresight.watch, self._opponent_steps(view)
            watch.learn(steps, view.hole, result.board, shown, len(self._events) - len(steps))
            watch.settle(self._foresight.answer, view.rules.to_sb(result.net_chips[view.seat]))
            if self._tracker_behind is None:
                return  # nobody has asked for the ranges
        self._tracker(view).end(shown)
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
        tracker = self.tracker
        if tracker is None:
            return None
        figures: dict[str, float] = {}
        triple: Triple | None = None
        rule = ""
        shares: tuple[tuple[str, float], ...] = ()
        if self._last is not None:
            situation, choice = self._last
            figures = situation_figures(situation) if situation is not None else {}
            triple, rule, shares = choice.triple, choice.rule, choice.shares
            invests_sb = tracker.opponent.invests_sb if tracker.opponent is not None else None
            if invests_sb is not None:
                figures["opponent_invests_sb"] = invests_sb
        public = None if tracker.public is None else tracker.public.weights
        return Reasons(
            weights=tracker.theirs.weights,
            own_weights=tracker.ours.weights,
            buckets=self.bucket_masses(tracker.board, tracker.theirs.weights),
            rivals=tuple(self._foresight.watch.summary()) if self._foresight is not None else (),
            figures=figures,
            triple=triple,
            rule=rule,
            shares=shares,
            public_weights=public,
            public_buckets=() if public is None else self.bucket_masses(tracker.board, public),
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
