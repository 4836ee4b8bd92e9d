"""loki: probability triples from poki's knowledge, and a simulation of the rest of the hand at every decision.

J. Schaeffer, D. Billings, L. Pena and D. Szafron, "Learning to Play Strong Poker", 1999. The triple generator is
poki's betting strategy with every threshold softened (poki_kernels). It is used three times: to choose an action when
`simulate=no`; to re-weight the opponents' hands (weight *= the triple's entry for the action seen, with the noise p -
p t + t/3, t = .4 heads-up, .1 at larger tables); and to play out hands in the simulation (loki_kernels): by default
500 trials, at most 2 s, each played once after a call and once after a raise. The larger mean is taken, a fold counts
0; between means that are within NEAR_SB of each other the choice is random, so that the play is harder to read.

Switches: `simulate`; `generic` (re-weighting; without it every opponent has a reasonable player's fixed table);
`specific` (thresholds of an opponent's triples shifted by how much more often than the default he raises and
plays, in re-weighting and in simulation). With all three off this is the plain program of the paper's experiments.
`preflop`: with more players than this in the pot the street before the flop is left to the triples, as the original
left it to its rules (L. Pena, thesis, University of Alberta, 1999); heads-up everything is simulated.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.income import INCOME, THRESHOLDS
from hardbot.bots.loki_kernels import INCOME_PER_FREQUENCY, simulate
from hardbot.bots.poki import players_behind, preflop_thresholds
from hardbot.bots.poki_kernels import (
    MAKE1,
    postflop_triple,
    postflop_triples,
    preflop_triple,
    preflop_triples,
)
from hardbot.bots.weight_tables import (
    DEFAULT_FREQUENCIES,
    Action,
    ModellingBot,
    Triple,
    bets_to_call,
    choose,
    know_board,
    reasonable_weights,
    two_cards,
)
from hardbot.errors import BotError
from hardbot.game.cards import HOLE_CARDS, N_HOLES, hole_index
from hardbot.game.hand import View
from hardbot.game.rules import CALL, FOLD, RAISE, Rules

WIDTHS: NDArray[np.float64] = np.array([0.10, 0.10, 0.05])  # softening of bets, of other thresholds, of odds
INCOME_WIDTH = 1000.0 * float(WIDTHS[0])
NOISE, RING_NOISE = 0.4, 0.1  # of re-weighting, heads-up (published) and at larger tables (measured)
NEAR_SB = 0.05  # means this close are as good as equal
CHUNK = 250  # trials between looks at the clock
MAX_SECONDS = 2.0


def pair_weights(n_seats: int) -> NDArray[np.int64]:
    """Mean weight (169,) of a reasonable player's hands by 13 * rank + rank, in thousandths."""
    sums, counts = np.zeros(169), np.zeros(169)
    for weight, (a, b) in zip(reasonable_weights(n_seats), HOLE_CARDS.tolist(), strict=True):
        for cell in {13 * (a >> 2) + (b >> 2), 13 * (b >> 2) + (a >> 2)}:
            sums[cell] += weight
            counts[cell] += 1
    return np.round(1000.0 * sums / counts).astype(np.int64)


class _Table:
    """What the simulation needs to know of a table, as arrays."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.bet_sizes = np.array(rules.bet_sizes, dtype=np.float64)
        self.max_raises = np.array(rules.max_raises, dtype=np.int64)
        self.first_seats = np.array(rules.first_seat, dtype=np.int64)
        self.pair_weights = pair_weights(rules.n_seats)
        self.weights = np.zeros((rules.n_seats, N_HOLES))


class Loki(ModellingBot):
    """Simulates before it acts; see the module for the switches."""

    name = "loki"

    def __init__(
        self,
        simulate: bool = True,
        generic: bool = True,
        specific: bool = True,
        trials: int = 500,
        preflop: int = 2,
    ) -> None:
        super().__init__(generic, specific)
        self.simulate = simulate
        self.trials = trials
        self.preflop = preflop
        self._table_facts: _Table | None = None

    def new_hand(self, view: View) -> None:
        """Check the options, forget the last hand."""
        if self.trials < 1:
            raise BotError(f"expected at least 1 trial of loki, got {self.trials}")
        super().new_hand(view)
        if self._table_facts is None or self._table_facts.rules != view.rules:
            self._table_facts = _Table(view.rules)

    def act(self, view: View, rng: np.random.Generator) -> int:
        """The best action of the simulation, or one drawn from the triple."""
        betting = view.betting
        if self._street != betting.street:
            self._street = betting.street
            self._voluntary = [False] * len(self._voluntary)
        if self.simulate and (betting.street > 0 or betting.n_live <= self.preflop):
            return self._simulated(view, rng)
        return self._drawn(view, rng)

    def _drawn(self, view: View, rng: np.random.Generator) -> int:
        betting = view.betting
        if betting.street == 0:
            return choose(self._preflop(view), betting.legal, rng.random())
        hs, ppot = self.strength(view)
        ehs = hs + (1.0 - hs) * (two_cards(ppot) if betting.street == 1 else ppot)
        action = choose(self._postflop(view, ehs, ppot), betting.legal, rng.random())
        if action == RAISE and betting.to_call == 0 and ehs < MAKE1 and betting.street < 3:
            self._bluffing = True
        return action

    def _preflop(self, view: View) -> Triple:
        betting = view.betting
        group, *make = preflop_thresholds(betting, view.seat, self._others_in(betting, view.seat))
        return preflop_triple(
            float(INCOME[group, hole_index(*view.hole)]),
            make[0],
            make[1],
            make[2],
            betting.to_call,
            betting.bet_size,
            betting.raises,
            RAISE in betting.legal,
            self._voluntary[view.seat],
            INCOME_WIDTH,
        )

    def _postflop(self, view: View, ehs: float, ppot: float) -> Triple:
        betting = view.betting
        return postflop_triple(
            ehs,
            ppot,
            betting.street,
            betting.to_call,
            betting.bet_size,
            betting.pot,
            RAISE in betting.legal,
            self._voluntary[view.seat],
            self._bluffing,
            players_behind(betting, view.seat) > 0,
            WIDTHS[0],
            WIDTHS[1],
            WIDTHS[2],
            0.0,
            0.0,
        )

    def _simulated(self, view: View, rng: np.random.Generator) -> int:
        betting = view.betting
        call_sb, raise_sb = self.expectations(view, rng)
        if RAISE not in betting.legal or call_sb - raise_sb > NEAR_SB:
            best, value = CALL, call_sb
        elif raise_sb - call_sb > NEAR_SB:
            best, value = RAISE, raise_sb
        else:
            best, value = (RAISE if rng.random() < 0.5 else CALL), max(call_sb, raise_sb)
        return FOLD if value < 0.0 and FOLD in betting.legal else best

    def expectations(self, view: View, rng: np.random.Generator) -> tuple[float, float]:
        """Mean sb won from here on after a call and after a raise; a fold is 0."""
        betting, table = view.betting, self._table_facts
        assert table is not None
        for seat, weights in self.weights(view).items():
            table.weights[seat] = weights
        state = rng.integers(1, 1 << 63, size=1, dtype=np.uint64)
        looser = self._looser(view)
        sums, done, start = np.zeros(2), 0, time.perf_counter()
        while done < self.trials and time.perf_counter() - start < MAX_SECONDS:
            n = min(CHUNK, self.trials - done)
            sums += simulate(
                view.seat,
                max(view.hole),
                min(view.hole),
                np.array(view.board, dtype=np.uint8),
                betting.street,
                betting.raises,
                betting.n_pending,
                RAISE in betting.legal,
                table.bet_sizes,
                table.max_raises,
                table.first_seats,
                np.array(betting.live),
                np.array(betting.contributions, dtype=np.float64),
                np.array(self._voluntary),
                self._bluffing,
                table.weights,
                HOLE_CARDS,
                INCOME,
                THRESHOLDS,
                looser,
                table.pair_weights,
                WIDTHS,
                n,
                state,
            )
            done += n
        means = sums / (done * view.rules.bet_sizes[0])
        return float(means[0]), float(means[1])

    def _looser(self, view: View) -> NDArray[np.float64]:
        """How much more often each seat raises and plays than the default (seats, streets, bets to call, 2)."""
        shifts = np.zeros((len(view.players), 4, 3, 2))
        if self.specific:
            for seat, player in enumerate(view.players):
                if seat != view.seat and player in self._players:
                    for street in range(4):
                        for bets in range(3):
                            shifts[seat, street, bets] = looseness(self.frequencies(player, street, bets), bets)
        return shifts

    def _apply(self, note: Action, weights: NDArray[np.float64]) -> None:
        """Re-weight by the triple's entry for the action."""
        before = note.before
        to_raise, to_play = looseness(note.frequencies, bets_to_call(before))
        may_raise = RAISE in before.legal
        noise = NOISE if len(before.live) == 2 else RING_NOISE
        if note.street == 0:
            group, make1, make2, make4 = preflop_thresholds(before, note.seat, note.n_in)
            shifts = np.array([to_play, to_raise, to_raise]) * INCOME_PER_FREQUENCY
            preflop_triples(
                INCOME[group],
                np.array([make1, make2, make4]) - shifts,
                before.to_call,
                before.bet_size,
                before.raises,
                may_raise,
                note.voluntary,
                INCOME_WIDTH,
                note.action,
                noise,
                weights,
            )
            return
        known = know_board(note.board)
        hs = known.hs ** (before.n_live - 1)
        to_river = two_cards(known.potential) if note.street == 1 else known.potential
        postflop_triples(
            hs + (1.0 - hs) * to_river,
            known.potential,
            note.street,
            before.to_call,
            before.bet_size,
            before.pot,
            may_raise,
            note.voluntary,
            players_behind(before, note.seat) > 0,
            WIDTHS[1],
            WIDTHS[2],
            to_raise,
            to_play,
            note.action,
            noise,
            weights,
        )


def looseness(frequencies: list[float], bets: int) -> tuple[float, float]:
    """How much more often than the default somebody raises, and plays at all."""
    default = DEFAULT_FREQUENCIES[bets]
    to_raise = frequencies[RAISE] - float(default[RAISE])
    return to_raise, to_raise + frequencies[CALL] - float(default[CALL])
