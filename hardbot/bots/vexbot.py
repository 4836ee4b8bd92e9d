"""vexbot: adaptive game-tree search against one opponent, learning from the first hand on.

After Billings, Davidson, Schauenberg, Burch, Bowling, Holte, Schaeffer and Szafron, "Game-Tree Search with Adaptation
in Stochastic Imperfect-Information Games" (2004). At each street's first decision the rest of the betting is searched
(vex_search). What the opponent does at each point is read off observed frequencies, what it holds at a showdown off a
histogram of 20 cells of the hand strengths it has shown after such betting; old observations fade by `decay`. Until
there are any, a default model stands in (vex_default): a plain player, or the trained corpus model (`prior=corpus`).

miximax (the default) takes the best action; `mix=yes` (miximix) takes the others too, the less often the more they
cost: weights exp(-loss / temperature), and the search reckons with it. Boards to come: the next card exactly,
later ones by the population's moves of hand strength (vex_strength). Preflop decisions rest on values of the flops that
are searched anew every few hands only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.base import HEADS_UP_ONLY, Bot
from hardbot.bots.vex_default import PRIORS, beliefs, deck, expect_showdowns
from hardbot.bots.vex_search import record, search_later_streets, search_street, search_tree
from hardbot.bots.vex_strength import N_CELLS, N_GRID, next_strengths, showdown_strength, strength_table
from hardbot.errors import BotError
from hardbot.game.betting import Betting
from hardbot.game.cards import HOLE_CLASS, hole_index
from hardbot.game.hand import HandResult, View
from hardbot.game.rules import HEADS_UP

_TEMPERATURE_SB = 0.15
_SHOWDOWNS_REFRESH = 50  # hands between two looks at the showdowns that the learned frequencies make one expect
_FLOPS_REFRESH = 8  # hands for which the values of flops, on which preflop decisions rest, are kept at most


class Memory:
    """Everything seen of the opponent: decayed counts and numbers of observations by context."""

    def __init__(self) -> None:
        tree = search_tree()
        self.action_counts = np.zeros((tree.n_action_contexts, 3))
        self.action_seen = _unseen(tree.n_action_contexts)
        self.showdown_counts = np.zeros((tree.n_showdown_contexts, N_CELLS))
        self.showdown_seen = _unseen(tree.n_showdown_contexts)


def _unseen(n_contexts: int) -> NDArray[np.float64]:
    seen = np.zeros((n_contexts, 2))
    seen[:, 1] = 1.0
    return seen


class VexBot(Bot):
    """Searches the betting of the hand with what it has learned of this opponent."""

    name = "vexbot"
    table_sizes = HEADS_UP_ONLY
    learns = True

    def __init__(
        self,
        mix: bool = False,
        decay: float = 0.95,
        trust: float = 0.95,
        prior: str = "default",
        temperature: float = _TEMPERATURE_SB,
    ) -> None:
        if not 0.0 < decay <= 1.0:
            raise BotError(f"expected a decay above 0 and up to 1 for vexbot, got {decay}")
        if not 0.0 < trust < 1.0:
            raise BotError(f"expected a trust between 0 and 1 for vexbot, got {trust}")
        if temperature <= 0.0:
            raise BotError(f"expected a temperature above 0 for vexbot, got {temperature}")
        if prior not in PRIORS:
            raise BotError(f"expected a prior of {', '.join(PRIORS)} for vexbot, got {prior!r}")
        self.mix = mix
        self.decay = decay
        self.trust = trust
        self.prior = prior
        self.temperature = temperature
        self._memory: Memory | None = None
        self._searched: tuple[int, int] = (-1, -1)
        self._n_hands = 0

    def new_hand(self, view: View) -> None:
        """Forget what was searched; now and then bring the expected showdowns up to date."""
        if self._memory is None:
            self._set_up(view)
        self._searched = (-1, -1)
        self._n_hands += 1
        if self._n_hands % _SHOWDOWNS_REFRESH == 0 or self._n_hands in (10, 25):
            self._expect_showdowns()

    def _expect_showdowns(self) -> None:
        tree, memory, cards = self._tree, self.memory, deck()
        for seat in range(2):
            expect_showdowns(
                seat,
                tree.child,
                tree.street,
                tree.seat,
                tree.opens,
                tree.paid_sb,
                tree.action_contexts[seat],
                memory.action_counts,
                memory.action_seen,
                self._beliefs.actions,
                cards.weights,
                cards.flops,
                cards.moves,
                self._reach,
                self._showdowns[seat],
            )

    def _set_up(self, view: View) -> None:
        if view.rules != HEADS_UP:
            raise BotError(f"expected the competition's heads-up rules for vexbot, got {view.rules.name}")
        self._tree = search_tree()
        self._beliefs = beliefs(self.prior)
        self._table = strength_table()
        self._moves = np.ascontiguousarray(self._table.moves.transpose(0, 2, 1), dtype=np.float32)
        n = len(self._tree.nodes)
        self._values = np.zeros((n, N_GRID), dtype=np.float32)
        self._flop_values = np.zeros((2, n, N_GRID), dtype=np.float32)  # by our seat
        self._flops_due = [0, 0]
        self._known = np.zeros(n)
        self._action_values = np.zeros((n, 3))
        self._own = np.zeros(N_GRID)
        self._reach = np.zeros((n, N_GRID))
        self._showdowns = self._beliefs.showdowns.copy()
        self._memory = Memory()

    @property
    def memory(self) -> Memory:
        """What was seen in this match."""
        if self._memory is None:
            self._memory = Memory()
        return self._memory

    def action_values(self, view: View) -> NDArray[np.float64]:
        """Expected sb (3,) of fold, call and raise from here on, money already paid included; -inf if illegal."""
        place = int(self._tree.place[view.betting.index])
        first, stop = self._searched
        if not first <= place < stop or self._tree.street[first] != view.betting.street:
            self._search(view, place)
        row: NDArray[np.float64] = self._action_values[place]
        return row

    def _search(self, view: View, place: int) -> None:
        tree, memory, seat = self._tree, self.memory, view.seat
        a, b = view.hole
        if view.board:
            next_strengths(a, b, np.array(view.board, dtype=np.int64), self._own)
            self._search_later(place, seat, self._values)
        else:
            self._own[:] = self._table.flops[HOLE_CLASS[hole_index(a, b)]]
            if self._n_hands >= self._flops_due[seat]:
                self._search_later(0, seat, self._flop_values[seat])
                self._flops_due[seat] = self._n_hands + min(_FLOPS_REFRESH, 1 + self._n_hands // 20)
        search_street(
            place,
            seat,
            self._own,
            self.temperature if self.mix else 0.0,
            tree.child,
            tree.stop,
            tree.street,
            tree.seat,
            tree.fold_sb,
            tree.paid_sb,
            tree.action_contexts[seat],
            memory.action_counts,
            memory.action_seen,
            self._beliefs.actions,
            tree.showdown_contexts[seat],
            memory.showdown_counts,
            memory.showdown_seen,
            self._showdowns[seat],
            self._values if view.board else self._flop_values[seat],
            self._known,
            self._action_values,
        )
        self._searched = (place, int(tree.stop[place]))

    def _search_later(self, place: int, seat: int, values: NDArray[np.float32]) -> None:
        tree, memory = self._tree, self.memory
        search_later_streets(
            place,
            seat,
            self.temperature if self.mix else 0.0,
            tree.child,
            tree.stop,
            tree.street,
            tree.seat,
            tree.opens,
            tree.fold_sb,
            tree.paid_sb,
            tree.action_contexts[seat],
            memory.action_counts,
            memory.action_seen,
            self._beliefs.actions,
            tree.showdown_contexts[seat],
            memory.showdown_counts,
            memory.showdown_seen,
            self._showdowns[seat],
            self._moves,
            values,
        )

    def act(self, view: View, rng: np.random.Generator) -> int:
        """The best action, or with `mix` one of the good ones."""
        values = self.action_values(view)
        if not self.mix:
            return int(values.argmax())
        weights = np.exp((values - values.max()) / self.temperature)
        return int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum(), side="right"))

    def observe(self, view: View, before: Betting, action: int) -> None:
        """Count the opponent's actions."""
        if before.seat != view.seat:
            memory, contexts = self.memory, self._tree.action_contexts[view.seat, self._tree.place[before.index]]
            record(contexts, action, self.decay, self.trust, memory.action_counts, memory.action_seen)

    def end_hand(self, view: View, result: HandResult) -> None:
        """Count the strength of a hand the opponent shows."""
        shown = result.holes[1 - view.seat]
        if shown is None or not result.betting.is_showdown:
            return
        strength = showdown_strength(shown[0], shown[1], np.array(result.board, dtype=np.int64))
        cell = min(int(strength * N_CELLS), N_CELLS - 1)
        memory, contexts = self.memory, self._tree.showdown_contexts[view.seat, self._tree.place[result.betting.index]]
        record(contexts, cell, self.decay, self.trust, memory.showdown_counts, memory.showdown_seen)
