"""A portfolio of answers to known kinds of players, and which of them to play against this opponent.

Every *rival* of the portfolio is a kind of player: its habits (a strategy in the solver's buckets, fitted to hands it
played) and the best answer to them (hardbot/solver/rivals.py). The equilibrium is a rival too, and its own answer. At
the table each hand of the opponent is explained by every rival,

    P(actions | rival) = sum over hole hands h of P(h) * product of P(action | bucket of h, decision point, rival)

with the one term of the shown hand at a showdown, and Bayes' rule keeps a probability for every rival; evidence fades,
so that a change of style is noticed. An answer's worth is its value against each rival (the portfolio's table),
averaged over those probabilities, and lowered if it has really won less so far from this opponent: the mean of a
normal prior around that value and of the hands played (sd of a hand: 5 sb). The best one plays the next hand.

An opponent may be none of them. The *stranger* stands for that (stranger.py): his frequencies are learned within a few
hands, a portrait of him within a few dozen, and the portrait must explain him better than a known player by a handicap
a hand, since one who is known is explained well enough by both. The answer to the portrait is learned at the table. It
is played while the portrait foretells him clearly better than bare frequencies; else, he changes too fast, and
the equilibrium plays.

Choosing among precomputed answers by how well they explain the opponent follows Bard, Johanson, Burch and Bowling,
"Online Implicit Agent Modelling" (AAMAS 2013).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.stranger import Stranger, Studio
from hardbot.errors import StrategyError
from hardbot.game.betting import Betting
from hardbot.game.cards import N_HOLES, compatible_holes, hole_index
from hardbot.game.hand import Hole
from hardbot.game.jit import njit
from hardbot.game.rules import BOARD_SIZES, HEADS_UP
from hardbot.game.storage import shipped_folder
from hardbot.game.tree import betting_tree
from hardbot.solver.abstraction import (
    Abstraction,
    BucketTables,
    bucket_from_tables,
    bucket_on_spot,
    bucket_row_on_spot,
    bucket_tables,
    tables_are_cached,
)
from hardbot.solver.boards import N_RIVER_HANDS, look_up_row, score_board, sort_board
from hardbot.solver.lookahead import Lookahead
from hardbot.solver.portrait import LEAST, add_rows
from hardbot.solver.strategy import load_strategy, triples

SCHEMA = 1
MANIFEST = "manifest.json"
FADING = 0.999  # of the evidence, a hand
SD_HAND = 5.0  # sb
SD_KNOWN, SD_STRANGER = 0.1, 0.3  # sb a hand: how far an answer's worth may be from the table's value
SD_SAFE, SD_LEARNED = 0.03, 0.25  # the same of the equilibrium, and of the answer learned at the table
SURPRISING = 3.5  # standard errors below what was expected
STRANGER = "stranger"
P_STRANGER = 0.25  # before the first hand
RESEMBLANCE = 0.2  # of the evidence that counts when a stranger's likeness to the rivals is judged
HANDICAP = 0.15  # nats a hand by which a stranger's own portrait must explain him better than a known player does
LEARNER_START = 0.35  # nats a hand
SURELY = 0.99
CERTAIN = 1e-4  # below this probability of a stranger nothing is learned of it
N_OPEN = 100  # hands in which it is always learned: it takes some to be told from those he resembles
Floats = NDArray[np.float64]
Rows = NDArray[np.float32]
_EVERY_HOLE = np.arange(N_HOLES)
_PATIENCE = 200  # boards counted on the spot by a process before it makes the look-up tables


class Buckets:
    """Buckets of hands: by look-up tables if they are there, else on the spot for the first few hundred boards."""

    def __init__(self, abstraction: Abstraction) -> None:
        self.abstraction = abstraction
        self._tables: BucketTables | None = None
        self._patience = 0 if tables_are_cached(abstraction) else _PATIENCE

    def _ready(self, board: tuple[int, ...]) -> BucketTables | None:
        if self._tables is None and self._patience > 0:
            self._patience -= len(board) in (3, 4)
        elif self._tables is None:
            self._tables = bucket_tables(self.abstraction)
        return self._tables

    def of_hand(self, hole: Hole, board: tuple[int, ...]) -> int:
        """Bucket of one hand."""
        tables = self._ready(board)
        if tables is None:
            return bucket_on_spot(self.abstraction, hole, board)
        return bucket_from_tables(tables, hole, board)

    def of_all(self, board: tuple[int, ...]) -> NDArray[np.int64]:
        """Bucket of every hole hand (1326,) on a board; meaningless for hands that share a card with it."""
        found = np.zeros(N_HOLES, dtype=np.int64)
        cards = np.array(board, dtype=np.int64)
        if len(board) == BOARD_SIZES[3]:
            _river_row(cards, self.abstraction.river, found)
            return found
        tables = self._ready(board)
        if tables is None:
            found[:] = bucket_row_on_spot(self.abstraction, board)
        elif len(board) == 0:
            found[:] = tables.preflop
        elif len(board) == BOARD_SIZES[1]:
            look_up_row(cards, 3, tables.flop_numbers, tables.flop_renamings, tables.flop, _EVERY_HOLE, found)
        else:
            look_up_row(cards, 4, tables.turn_numbers, tables.turn_renamings, tables.turn, _EVERY_HOLE, found)
        return found


@njit
def _river_row(cards: NDArray[np.int64], river: NDArray[np.int16], found: NDArray[np.int64]) -> None:
    holes, order = np.empty(N_RIVER_HANDS, dtype=np.int64), np.empty((N_RIVER_HANDS, 3), dtype=np.int64)
    scores, counts = np.empty(N_RIVER_HANDS, dtype=np.int32), np.zeros(7464, dtype=np.int32)
    sort_board(cards, holes, order, counts)
    score_board(order, scores)
    for i in range(N_RIVER_HANDS):
        found[holes[i]] = river[scores[i]]


@dataclass(frozen=True)
class Rival:
    """A kind of player: rows (fold, call, raise) of its habits and of the answer to them."""

    name: str
    habits: Rows
    answer: Rows


@dataclass(frozen=True)
class Portfolio:
    """Rivals over the same buckets. `values[k, j]` is what answer k wins from the habits of rival j, sb a hand."""

    rivals: tuple[Rival, ...]
    values: Floats
    offsets: NDArray[np.int64]
    buckets: Buckets
    habits: Rows = field(repr=False)  # (rivals, rows, 3)
    studio: Studio
    head_start: Floats  # (rivals,) nats a hand, for those who learn: their habits of other matches explain them badly
    lookahead: Lookahead
    knows_base: bool  # whether the first rival, the equilibrium, may be met as somebody known
    resembling: Floats  # (rivals,) 1 for those a stranger may resemble, 0 for those who look at no cards

    def without(self, names: Sequence[str]) -> Portfolio:
        """The same without some rivals; the first, the equilibrium, always stays."""
        kept = [k for k, rival in enumerate(self.rivals) if k == 0 or rival.name not in names]
        return Portfolio(
            tuple(self.rivals[k] for k in kept),
            self.values[np.ix_(kept, kept)],
            self.offsets,
            self.buckets,
            self.habits[kept],
            self.studio,
            self.head_start[kept],
            self.lookahead,
            self.knows_base and self.rivals[0].name not in names,
            self.resembling[kept],
        )

    def mixture(self, p: Floats) -> Rows:
        """Habits (rows, 3) of somebody who is each rival with these probabilities."""
        found: Rows = np.zeros_like(self.habits[0])
        kept = np.where(p > LEAST, p, 0.0)
        for share, rows in zip((kept / kept.sum()).tolist(), self.habits, strict=True):
            if share > 0.0:
                add_rows(rows, share, found)
        return found

    def new_stranger(self, study: float = 1.0) -> Stranger:
        """Nobody yet; `study` is how many times the usual boards the answer to him is learned from."""
        sketch = self.mixture(self.resembling / self.resembling.sum())
        return Stranger(self.studio, sketch, study)

    def rehearse(self) -> None:
        """Go through everything once, so that machine code and tables are there when a match needs them."""
        self.new_stranger().rehearse()
        self.lookahead.rehearse(self.habits[0])

    def triple(self, answer: int, betting: Betting, hole: Hole, board: tuple[int, ...]) -> tuple[float, float, float]:
        """What an answer does here."""
        row = int(self.offsets[betting.index]) + self.buckets.of_hand(hole, board)
        fold, call, bet = self.rivals[answer].answer[row].tolist()
        return fold, call, bet


def default_portfolio() -> Path:
    """The portfolio that ships with the project."""
    return shipped_folder("portfolio")


@lru_cache(maxsize=2)
def load_portfolio(folder: Path) -> Portfolio:
    """Load and check a portfolio; StrategyError if a part is missing, damaged or does not fit."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        names = [str(name) for name in manifest["rivals"]]
        values = np.array(manifest["values"], dtype=np.float64)
        schema = manifest["schema"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StrategyError(f"expected a portfolio's manifest at {path}, got {error!r}") from error
    if schema != SCHEMA or values.shape != (len(names), len(names)) or not names:
        raise StrategyError(f"expected schema {SCHEMA} and a square table of values in {path}, got {values.shape}")
    betting_tree(HEADS_UP)  # numbers the positions
    base = load_strategy(folder / names[0])
    offsets, rows = triples(base)
    rivals = [Rival(names[0], rows, rows)]
    for name in names[1:]:
        habits = load_strategy(folder / name / "habits")
        answer = load_strategy(folder / name / "answer") if name not in manifest.get("adaptive", ()) else base
        if any(part.abstraction.sizes != base.abstraction.sizes for part in (habits, answer)):
            raise StrategyError(f"expected the buckets of {names[0]} in {folder / name}, got others")
        rivals.append(Rival(name, triples(habits)[1], triples(answer)[1]))
    all_habits = np.stack([rival.habits for rival in rivals])
    looks = np.array([_looks_at_cards(offsets, part) for part in all_habits], dtype=np.float64)
    looks[0] = 1.0  # the equilibrium
    studio = Studio(base.abstraction, all_habits[0])
    starts = np.array([LEARNER_START * (name in manifest.get("adaptive", ())) for name in names])
    lookahead = Lookahead(base.abstraction.sizes, base.abstraction.river)
    return Portfolio(
        tuple(rivals), values, offsets, Buckets(base.abstraction), all_habits, studio, starts, lookahead, True, looks
    )


def _looks_at_cards(offsets: NDArray[np.int64], rows: Rows) -> bool:
    """Whether the first decision of a hand depends on the bucket."""
    first = rows[: offsets[1]]
    return bool((first != first[0]).any())


@njit
def _explain(
    habits: Rows, first: NDArray[np.int64], actions: NDArray[np.int64], buckets: NDArray[np.int64], weights: Floats
) -> Floats:
    """Log-likelihood (rivals,) of a hand: buckets (actions, 1326), weights (1326,) of the hole hands."""
    n_rivals, n_actions = habits.shape[0], actions.shape[0]
    found = np.zeros(n_rivals)
    for k in range(n_rivals):
        total = 0.0
        for h in range(weights.shape[0]):
            p = weights[h]
            if p > 0.0:
                for i in range(n_actions):
                    p *= max(habits[k, first[i] + buckets[i, h], actions[i]], LEAST)
                total += p
        found[k] = np.log(total)
    return found


class Watch:
    """What is known of one opponent: evidence for every rival, and what every answer has won.

    Rivals are those of the portfolio and, last, the stranger; answers those of the portfolio and, last, the one learned
    at the table.
    """

    def __init__(self, portfolio: Portfolio, study: float = 1.0) -> None:
        self.portfolio = portfolio
        n = len(portfolio.rivals)
        self.learned = n  # number of the learned answer among the answers, of the stranger among the rivals
        self.evidence = np.zeros(n + 1)  # log-likelihoods, faded
        self.n_hands = np.zeros(n + 1)  # played with each answer, faded
        self.won_sb = np.zeros(n + 1)
        self.prior = np.full(n + 1, (1.0 - P_STRANGER) / n)
        self.prior[n] = P_STRANGER
        self.stranger = portfolio.new_stranger(study)

    @property
    def values(self) -> Floats:
        """Table of values with the learned answer's row and the stranger's column."""
        known = self.portfolio.values
        n = len(known)
        table = np.empty((n + 1, n + 1))
        table[:n, :n] = known
        table[:n, n] = known[:, 0]
        table[0, n] = 0.0
        table[n] = table[0]
        table[n, n] = self.stranger.value if self.stranger.is_ready else 0.0
        return table

    @property
    def probabilities(self) -> Floats:
        """P(rival) (rivals + 1,), the stranger last."""
        log_p = np.log(self.prior) + self.evidence
        p: Floats = np.exp(log_p - log_p.max())
        return p / float(p.sum())

    @property
    def p_stranger(self) -> float:
        """Probability that the opponent is none of the rivals."""
        return float(self.probabilities[-1])

    @property
    def worths(self) -> Floats:
        """Expected sb a hand of every answer against this opponent."""
        expected = self.values @ self.probabilities
        sd = np.full(len(expected), SD_KNOWN + (SD_STRANGER - SD_KNOWN) * self.p_stranger)
        surprise = (self.won_sb - expected * self.n_hands) / (SD_HAND * np.sqrt(np.maximum(self.n_hands, 1.0)))
        sd[surprise < -SURPRISING] = SD_STRANGER  # this bad, the table is wrong about this opponent
        sd[0], sd[self.learned] = SD_SAFE, SD_LEARNED
        precision = 1.0 / sd**2
        worth = (expected * precision + self.won_sb / SD_HAND**2) / (precision + self.n_hands / SD_HAND**2)
        worth = np.minimum(worth, expected)  # good luck makes no answer better than it is
        if not (self.stranger.is_ready and self.stranger.is_recognised):
            worth[self.learned] = worth[0] - LEAST  # the equilibrium plays in its place
        return worth

    def choose(self) -> int:
        """The answer for the next hand."""
        return int(np.argmax(self.worths))

    def name_of(self, answer: int) -> str:
        """What an answer is called."""
        if answer == self.learned:
            return "learned answer"
        return f"answer to {self.portfolio.rivals[answer].name}" if answer else "equilibrium"

    def habits_to_read(self, answer: int) -> Rows | None:
        """Habits (rows, 3) by which the opponent's hands can be read while an answer plays; None if there are none.

        They are those of the likeliest rival. Who learns has no habits for long, and the equilibrium, played against
        everybody who is not known well enough, reads nobody but itself, and only if it may be met as somebody known.
        """
        p, portfolio = self.probabilities, self.portfolio
        who = int(p.argmax())
        if who == self.learned:
            return self.stranger.faced if answer == self.learned else None
        if who == 0:
            return portfolio.habits[0] if portfolio.knows_base and p[0] > SURELY else None
        return portfolio.habits[who] if answer > 0 and portfolio.head_start[who] == 0.0 else None

    def triple(self, answer: int, betting: Betting, hole: Hole, board: tuple[int, ...]) -> tuple[float, float, float]:
        """What an answer does here."""
        if answer != self.learned:
            return self.portfolio.triple(answer, betting, hole, board)
        return self.stranger.triple(betting.index, self.portfolio.buckets.of_hand(hole, board))

    def learn(
        self,
        steps: Sequence[tuple[Betting, int]],
        own: Hole,
        board: tuple[int, ...],
        shown: Hole | None,
        n_decisions: int = 2,
    ) -> None:
        """Take in the opponent's actions of a hand in which we took `n_decisions` ourselves."""
        self.evidence *= FADING
        if steps:
            self._weigh(steps, own, board, shown)
        if self.p_stranger > CERTAIN or self.stranger.n_hands < N_OPEN:
            self._study(n_decisions)

    def _weigh(
        self, steps: Sequence[tuple[Betting, int]], own: Hole, board: tuple[int, ...], shown: Hole | None
    ) -> None:
        """Evidence for every rival, the stranger included; the hand is remembered for his portrait."""
        if shown is None:
            weights = compatible_holes((*own, *board)).astype(np.float64)
            weights /= weights.sum()
        else:
            weights = np.zeros(N_HOLES)
            weights[hole_index(*shown)] = 1.0
        rows = {
            street: self.portfolio.buckets.of_all(board[: BOARD_SIZES[street]])
            for street in {b.street for b, _ in steps}
        }
        points = [betting.index for betting, _ in steps]
        first = self.portfolio.offsets[points]
        actions = np.array([action for _, action in steps], dtype=np.int64)
        buckets = np.stack([rows[betting.street] for betting, _ in steps])
        known = _explain(self.portfolio.habits, first, actions, buckets, weights) + self.portfolio.head_start
        by_portrait = _explain(self.stranger.portrait.habits[None], first, actions, buckets, weights)[0]
        found = np.append(known, self.stranger.explain(steps, float(by_portrait)) - HANDICAP)
        self.evidence += found - found.max()
        dead = sum(1 << card for card in (*own, *board))
        self.stranger.see(points, actions, rows, dead, -1 if shown is None else hole_index(*shown))

    def _study(self, n_decisions: int) -> None:
        """Bring the stranger's portrait and the answer to it up to date, if it is time."""
        if self.stranger.is_due:
            known = self.evidence[:-1]
            p = self.portfolio.resembling * np.exp(RESEMBLANCE * (known - known[self.portfolio.resembling > 0.0].max()))
            self.stranger.draw(self.portfolio.mixture(p / p.sum()))
        self.stranger.improve(n_decisions)

    def settle(self, answer: int, net_sb: float) -> None:
        """Take in what an answer won."""
        self.n_hands *= FADING
        self.won_sb *= FADING
        self.n_hands[answer] += 1.0
        self.won_sb[answer] += net_sb

    def summary(self) -> list[tuple[str, float, float]]:
        """Rivals with their probabilities and the worth of their answers, likeliest first."""
        names = [*(rival.name for rival in self.portfolio.rivals), STRANGER]
        rows = zip(names, self.probabilities.tolist(), self.worths.tolist(), strict=True)
        return sorted(rows, key=lambda row: -row[1])
