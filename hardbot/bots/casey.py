"""casey: plays by what happened in similar situations before, for 2 to 10 seats.

After A. Sandven and B. Tessem, "A Case-Based Learner for Poker" (2006). On every street casey describes the situation
of its first decision by features, recalls the at most 100 cases that are at least 95% similar (casebase.py), sums
them up by strategy (the generalised case) and takes up one of six strategies for the street: a first action and
what to do if the betting comes back. When the hand is over every street's case is retained with what it cost and won.

Features, each in [0, 1] and of equal weight. Preflop: hand strength, position, opponents, bets to call. Later:
hand strength, position, bets to call, stage, PPot and NPot of the next card, pot. Hand strength is the chance that no
opponent has a better hand, HS^opponents; preflop HS is the share of starting hands with less equity against a
random hand. Preflop the position counts seats from the small blind (0) to the button (1); later it says how
many of the others have still to act, 1 if nobody has.

The decision: with fewer than `min_cases` cases of played hands the situation is new and one of the five strategies that
do not fold is tried at random. Otherwise the strategy of the PLAY group with the best mean result is taken if it is
above zero; else a bluff, sometimes, if bluffs have paid here; else check or fold. Bluffs are kept apart from plays and
count as won only if everybody folded: one that was called and won by luck did not work.

The result of a case is that of its stage: the share of the pot that was won times what the others put in on that
street, less one's own chips of the street. The document is silent on the following; chosen is what a good player
would: a blind already posted belongs to the pot, not to the investment; a split pot counts by the share; four cases of
result zero are added to every strategy's mean, since one lucky hand proves little; folds are retained but take no
place among the hundred; the pot is scaled to 40 sb. Options: `results=final` takes the whole hand's result,
`results=fold` that against folding at the decision (so pot odds are in it); `pot_odds` and `opponents` (looseness and
aggression of those still in) are further features, the document's own wishes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.base import Bot
from hardbot.bots.casebase import CaseBase, Feature, load_cases, save_cases
from hardbot.errors import BotError
from hardbot.game.betting import Betting
from hardbot.game.cards import HOLE_CLASS, hole_index
from hardbot.game.feature_tables import features_of_hand
from hardbot.game.features import FEATURE_COLUMNS
from hardbot.game.hand import HandResult, View
from hardbot.game.rules import CALL, FOLD, MAX_SEATS, N_STREETS, RAISE

# Strategies. PLAY are compared with each other, BLUFF is apart, GIVE_UP checks or folds.
GIVE_UP, BLUFF, CALL_ANY, SEMI_BLUFF, RAISE_ANY, CHECK_RAISE = range(6)
STRATEGY_NAMES = ("fold", "bluff", "call any", "semi-bluff", "raise any", "check-raise")
PLAYS = (CALL_ANY, SEMI_BLUFF, RAISE_ANY, CHECK_RAISE)
_FIRST_AND_NEXT = ((FOLD, FOLD), (RAISE, FOLD), (CALL, CALL), (RAISE, CALL), (RAISE, RAISE), (CALL, RAISE))

RESULTS = ("stage", "final", "fold")
MAX_BETS = 5  # bets to call that count as the most there can be
POT_SCALE_SB = 40.0
PRIOR_CASES = 4.0
_PRIOR_HANDS, _PRIOR_RATE = 10.0, 0.4  # a stranger plays 40% of hands, bets or raises 40% of the time

# Equity in thousandths of each starting hand against a random one: rows and columns A to 2, suited above the diagonal.
# From 48 million random deals with the project's evaluator, standard error below 1.
EQUITY = (
    (852, 670, 661, 653, 647, 629, 618, 609, 599, 599, 592, 582, 572),
    (653, 825, 635, 627, 618, 599, 585, 576, 566, 559, 548, 540, 532),
    (645, 615, 799, 603, 596, 578, 560, 542, 537, 528, 519, 511, 500),
    (636, 606, 582, 775, 574, 556, 541, 523, 506, 500, 490, 483, 475),
    (627, 598, 574, 552, 749, 540, 522, 506, 490, 470, 466, 456, 449),
    (608, 577, 553, 532, 515, 721, 506, 492, 474, 456, 439, 433, 425),
    (599, 560, 537, 516, 497, 481, 692, 478, 464, 447, 428, 407, 401),
    (589, 552, 517, 497, 480, 462, 451, 663, 453, 438, 417, 402, 382),
    (576, 543, 510, 478, 461, 445, 433, 423, 632, 432, 413, 395, 376),
    (577, 533, 500, 472, 443, 427, 415, 406, 399, 604, 415, 398, 378),
    (568, 523, 491, 462, 435, 406, 395, 386, 380, 383, 571, 385, 369),
    (559, 515, 483, 453, 426, 400, 375, 366, 360, 363, 351, 536, 360),
    (549, 505, 473, 444, 416, 391, 368, 346, 341, 343, 331, 324, 503),
)


def _start_strengths() -> NDArray[np.float64]:
    """Share of starting hands with less equity, ties half, by hole index."""
    equity = np.array(EQUITY).reshape(-1)[HOLE_CLASS]
    ordered = np.sort(equity)
    below, upto = np.searchsorted(ordered, equity), np.searchsorted(ordered, equity, side="right")
    strengths: NDArray[np.float64] = (below + upto) / (2.0 * len(equity))
    return strengths


START_STRENGTH = _start_strengths()  # (1326,)
_HS, _PPOT1, _NPOT1 = (FEATURE_COLUMNS.index(name) for name in ("hs", "ppot1", "npot1"))

PREFLOP = (
    Feature("strength"),
    Feature("position"),
    Feature("opponents", 1 / (MAX_SEATS - 1)),
    Feature("bets", 1 / MAX_BETS),
)
POSTFLOP = (
    Feature("strength"),
    Feature("position"),
    Feature("bets", 1 / MAX_BETS),
    Feature("stage", 1 / 2),
    Feature("ppot"),
    Feature("npot"),
    Feature("pot"),
)
POT_ODDS = Feature("pot_odds")
OPPONENTS = (Feature("looseness"), Feature("aggression"))


@dataclass(frozen=True, slots=True)
class GeneralCase:
    """What similar cases say, by strategy: sums of results in small bets, and how often each was tried and won."""

    totals_sb: NDArray[np.float64]  # (6,)
    counts: NDArray[np.int64]  # (6,)
    wins: NDArray[np.int64]  # (6,)

    @property
    def n_plays(self) -> int:
        """Cases of the PLAY group."""
        return int(self.counts[list(PLAYS)].sum())

    def mean_sb(self, strategy: int) -> float:
        """Mean result of a strategy, shrunk towards zero by PRIOR_CASES."""
        return float(self.totals_sb[strategy] / (self.counts[strategy] + PRIOR_CASES))

    def best_play(self) -> int:
        """The strategy of the PLAY group with the best mean; among equals the meekest."""
        return max(PLAYS, key=self.mean_sb)


@dataclass(slots=True)
class OpponentRecord:
    """How one player was seen to play."""

    hands: int = 0
    entered: int = 0
    actions: int = 0
    raises: int = 0

    @property
    def looseness(self) -> float:
        """Share of hands entered by choice."""
        return (self.entered + _PRIOR_HANDS * _PRIOR_RATE) / (self.hands + _PRIOR_HANDS)

    @property
    def aggression(self) -> float:
        """Share of bets and raises among actions after the flop."""
        return (self.raises + _PRIOR_HANDS * _PRIOR_RATE) / (self.actions + _PRIOR_HANDS)


@dataclass(slots=True)
class _Pending:
    """A case whose result is not known yet."""

    stage: int
    strategy: int
    vector: NDArray[np.float64]
    before: int  # own chips at the decision
    n_actions: int = 0


@dataclass(slots=True)
class Tally:
    """How decisions came about, for reports."""

    new: int = 0
    plays: int = 0
    bluffs: int = 0
    folds: int = 0
    by_hand: list[tuple[int, int]] = field(default_factory=list)  # hand, 1 if the situation was new


def follow(strategy: int, n_actions: int, legal: tuple[int, ...]) -> int:
    """Action of a strategy when it has already acted `n_actions` times on this street."""
    wanted = _FIRST_AND_NEXT[strategy][1 if n_actions else 0]
    return wanted if wanted in legal else CALL


def stage_ends(betting: Betting) -> dict[int, tuple[int, ...]]:
    """Chips of every seat over the hand when each street had ended (or the hand, on its last street)."""
    ends: dict[int, tuple[int, ...]] = {}
    node = betting
    while node.parent is not None:
        ends.setdefault(node.parent.street, node.contributions)
        node = node.parent
    return ends


def position(betting: Betting, seat: int) -> float:
    """Preflop the seat's place from small blind to button, later the share of the others that will not act after it."""
    n_seats = betting.rules.n_seats
    button = betting.rules.button
    if betting.street == 0:
        return ((seat - button - 1) % n_seats) / (n_seats - 1)
    closing = betting.aggressor if betting.raises else betting.rules.first_seat[betting.street]
    n_after, other = 0, (seat + 1) % n_seats
    while other != closing:
        n_after += betting.live[other]
        other = (other + 1) % n_seats
    return 1.0 - n_after / (betting.n_live - 1)


class Casey(Bot):
    """A case-based learner. Its memory is two case bases; every hand adds to them."""

    name = "casey"
    learns = True

    def __init__(
        self,
        *,
        threshold: float = 95.0,
        max_cases: int = 100,
        min_cases: int = 20,
        results: str = "stage",
        p_bluff: float = 0.5,
        pot_odds: bool = False,
        opponents: bool = False,
        memory: str = "",
    ) -> None:
        if results not in RESULTS:
            raise BotError(f"expected results of {', '.join(RESULTS)}, got {results!r}")
        if not 1 <= min_cases <= max_cases:
            raise BotError(f"expected 1 <= min_cases <= max_cases, got {min_cases} and {max_cases}")
        self.max_cases = max_cases
        self.min_cases = min_cases
        self.results = results
        self.p_bluff = p_bluff
        self.pot_odds = pot_odds
        self.opponents = opponents
        extra = (*((POT_ODDS,) if pot_odds else ()), *(OPPONENTS if opponents else ()))
        silent = frozenset({GIVE_UP})
        self.preflop_ = CaseBase((*PREFLOP, *extra), threshold=threshold, is_silent=silent)
        self.postflop_ = CaseBase((*POSTFLOP, *extra), threshold=threshold, is_silent=silent)
        self.tally_ = Tally()
        self.hands_ = 0
        self._records: dict[str, OpponentRecord] = {}
        self._entered: set[int] = set()
        self._pending: list[_Pending] = []
        if memory:
            self.load_memory(Path(memory))

    # -- the table's calls -------------------------------------------------------------------------------------------

    def new_hand(self, view: View) -> None:
        """Forget the hand before."""
        self.hands_ += 1
        self._pending.clear()
        self._entered.clear()
        if self.opponents:
            for name in view.players:
                self._records.setdefault(name, OpponentRecord()).hands += 1

    def observe(self, view: View, before: Betting, action: int) -> None:
        """Note how the others play, if that is a feature."""
        if not self.opponents or before.seat == view.seat:
            return
        record = self._records.setdefault(view.players[before.seat], OpponentRecord())
        if before.street == 0:
            chosen = action == RAISE or (action == CALL and before.to_call > 0)
            if chosen and before.seat not in self._entered:
                self._entered.add(before.seat)
                record.entered += 1
        else:
            record.actions += 1
            record.raises += action == RAISE

    def act(self, view: View, rng: np.random.Generator) -> int:
        """Choose a strategy at the first decision of a street, then follow it."""
        betting = view.betting
        if not self._pending or self._pending[-1].stage != betting.street:
            vector = self.situation(view)
            strategy = self._choose(self._base(betting.street), vector, rng)
            self._pending.append(_Pending(betting.street, strategy, vector, betting.contributions[view.seat]))
        case = self._pending[-1]
        action = follow(case.strategy, case.n_actions, betting.legal)
        case.n_actions += 1
        return action

    def end_hand(self, view: View, result: HandResult) -> None:
        """Retain the hand's cases with their results."""
        if not self._pending:
            return
        betting, seat = result.betting, view.seat
        ends, unit = stage_ends(betting), view.rules.bet_sizes[0]
        winnings = result.net_chips[seat] + betting.contributions[seat]
        for case in self._pending:
            end, before = ends[case.stage], case.before
            start = ends[case.stage - 1] if case.stage else (0,) * len(end)
            invested = end[seat] - before
            facts = {
                "hand": self.hands_,
                "stage": case.stage,
                "strategy": case.strategy,
                "invested_sb": invested / unit,
                "stage_pot_sb": (sum(end) - sum(start) - invested) / unit,
                "before_sb": before / unit,
                "result_sb": result.net_chips[seat] / unit,
                "share": winnings / betting.pot,
                "uncontested": int(not betting.is_showdown and betting.live[seat]),
            }
            self._base(case.stage).retain(case.vector, facts)
        self._pending.clear()

    # -- reasoning ---------------------------------------------------------------------------------------------------

    def situation(self, view: View) -> NDArray[np.float64]:
        """Features of the position, in the order of the case base's."""
        betting = view.betting
        n_others = betting.n_live - 1
        bets = min(betting.bets_to_call, MAX_BETS) / MAX_BETS
        place = position(betting, view.seat)
        if betting.street == 0:
            hs = float(START_STRENGTH[hole_index(*view.hole)])
            values = [hs**n_others, place, n_others / (MAX_SEATS - 1), bets]
        else:
            row = features_of_hand(view.hole, view.board)
            stage = (betting.street - 1) / (N_STREETS - 2)
            pot = min(view.pot_sb / POT_SCALE_SB, 1.0)
            values = [float(row[_HS]) ** n_others, place, bets, stage, float(row[_PPOT1]), float(row[_NPOT1]), pot]
        if self.pot_odds:
            values.append(2.0 * betting.to_call / (betting.pot + betting.to_call))
        if self.opponents:
            values.extend(self._opponent_type(view))
        return np.array(values)

    def generalise(self, base: CaseBase, vector: NDArray[np.float64]) -> GeneralCase:
        """Sum up the most similar cases by strategy."""
        cases, _ = base.nearest(vector, self.max_cases)
        strategies = base.column("strategy")[cases]
        values = self.case_results(base, cases)
        totals: NDArray[np.float64] = np.bincount(strategies, weights=values, minlength=6).astype(np.float64)
        return GeneralCase(
            totals,
            np.bincount(strategies, minlength=6),
            np.bincount(strategies[values > 0.0], minlength=6),
        )

    def case_results(self, base: CaseBase, cases: NDArray[np.int64]) -> NDArray[np.float64]:
        """What each case is taken to be worth, in small bets."""
        value: NDArray[np.float64] = base.column("result_sb")[cases].astype(np.float64)
        if self.results == "fold":
            value += base.column("before_sb")[cases]
        if self.results == "stage":
            invested = base.column("invested_sb")[cases]
            worked = (base.column("strategy")[cases] != BLUFF) | (base.column("uncontested")[cases] == 1)
            won = base.column("share")[cases] * worked
            value[:] = won * (invested + base.column("stage_pot_sb")[cases]) - invested
        return value

    def _choose(self, base: CaseBase, vector: NDArray[np.float64], rng: np.random.Generator) -> int:
        general = self.generalise(base, vector)
        new = general.n_plays < self.min_cases
        self.tally_.by_hand.append((self.hands_, int(new)))
        if new:
            self.tally_.new += 1
            return int(rng.integers(BLUFF, CHECK_RAISE + 1))
        best = general.best_play()
        if general.mean_sb(best) > 0.0:
            self.tally_.plays += 1
            return best
        if general.mean_sb(BLUFF) > 0.0 and rng.random() < self.p_bluff:
            self.tally_.bluffs += 1
            return BLUFF
        self.tally_.folds += 1
        return GIVE_UP

    def _opponent_type(self, view: View) -> tuple[float, float]:
        """Mean looseness and aggression of the others still in."""
        live = view.betting.live
        records = [self._records[name] for s, name in enumerate(view.players) if live[s] and s != view.seat]
        return sum(r.looseness for r in records) / len(records), sum(r.aggression for r in records) / len(records)

    def _base(self, street: int) -> CaseBase:
        return self.postflop_ if street else self.preflop_

    # -- memory ------------------------------------------------------------------------------------------------------

    def memory_arrays(self) -> dict[str, dict[str, NDArray[Any]]]:
        """Both case bases as arrays by name."""
        return {"preflop": self.preflop_.arrays(), "postflop": self.postflop_.arrays()}

    def take_memory(self, bases: dict[str, dict[str, NDArray[Any]]], hands: int) -> None:
        """Add the cases of `memory_arrays`; BotError if the features differ."""
        if set(bases) != {"preflop", "postflop"}:
            raise BotError(f"expected the case bases preflop and postflop, got {', '.join(sorted(bases))}")
        self.preflop_.extend(bases["preflop"])
        self.postflop_.extend(bases["postflop"])
        self.hands_ += hands

    def save_memory(self, path: Path) -> None:
        """Write all cases as one npz."""
        save_cases(path, self.memory_arrays(), {"hands": self.hands_})

    def load_memory(self, path: Path) -> None:
        """Add the cases of a file."""
        bases, facts = load_cases(path)
        self.take_memory(bases, int(facts["hands"]))
