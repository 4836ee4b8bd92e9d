"""pokabayes: a Bayesian decision network, heads-up.

After D. Katzenelson, L. Erickson, S. Gu and R. Eginton, Bayesian Pokerbot (2013). Cards are seen as 44 types; the
network's tables come from simulated deals, the opponent's actions from the model of an amateur. From all actions so
far it infers what the opponent has and will have, and takes the legal action of the highest utility, as printed there:

    U(act) = (P(win) + P(tie)/2) * (pot + cost(act) + sum over his acts of P(his act) cost(his act)) - P(lose) cost(act)

Folding is worth 0. Costs are chips as the rules of the game have them (small bets here), his answer is the next action
of his that would follow ours: none after a last call, a bet or a check when a new street begins. The formula
counts our own stake among the winnings; `net=yes` leaves it out, which is what a call really brings.
`learn=yes` learns the opponent's table from past games (see bayes/amateur.py), one for each name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hardbot.bots.base import HEADS_UP_ONLY, Bot
from hardbot.bots.bayes.amateur import NOTHING, Floats, OpponentModel, faced
from hardbot.bots.bayes.handtypes import N_TYPES, hand_type
from hardbot.bots.bayes.network import Belief, Outcome
from hardbot.bots.bayes.tables import default_tables, load_tables
from hardbot.errors import BotError
from hardbot.game.betting import Betting
from hardbot.game.hand import HandResult, Hole, View
from hardbot.game.rules import BOARD_SIZES, CALL, FOLD, RAISE
from hardbot.game.storage import write_whole

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Observed:
    """An action of the opponent as the model learns it."""

    street: int
    board_type: int
    facing: int
    action: int
    types: Floats  # (44,) belief after it


@dataclass(frozen=True, slots=True)
class Reckoning:
    """What the last decision was made of; utilities in small bets, None for what is illegal."""

    own_type: int
    outcome: Outcome
    utilities: tuple[float | None, float | None, float | None]


class PokaBayes(Bot):
    """Takes the legal action of the highest utility."""

    name = "pokabayes"
    table_sizes = HEADS_UP_ONLY

    def __init__(self, learn: bool = False, net: bool = False, tables: str = "") -> None:
        self.tables = load_tables(Path(tables) if tables else default_tables())
        self.models: dict[str, OpponentModel] = {}
        self.belief = Belief(self.tables)
        self.last_reckoning: Reckoning | None = None
        self.learns = learn
        self._net = net
        self._model = OpponentModel()
        self._observed: list[Observed] = []
        self._own = (-1, -1)  # board size, type

    def new_hand(self, view: View) -> None:
        """Nothing is known of the opponent's hand yet."""
        self.belief = Belief(self.tables)
        self._observed.clear()
        self._own = (-1, -1)
        if self.learns:
            self._model = self.models.setdefault(view.players[1 - view.seat], OpponentModel())

    def observe(self, view: View, before: Betting, action: int) -> None:
        """Infer from an action of the opponent."""
        if before.seat == view.seat:
            return
        self._catch_up(view.board, before.street)
        belief, facing = self.belief, faced(before)
        triples = self._model.triples(before.street, belief.strength, facing, before.legal)
        belief.update(triples[:, action])
        if self.learns and RAISE in before.legal:  # a call at the cap may have wanted to be a raise
            self._observed.append(Observed(before.street, belief.board_type, facing, action, belief.types))

    def _catch_up(self, board: tuple[int, ...], street: int) -> None:
        """Bring the belief to the street that is being played."""
        while self.belief.street < street:
            self.belief.advance(hand_type(board[: BOARD_SIZES[self.belief.street + 1]]))

    def act(self, view: View, rng: np.random.Generator) -> int:
        """The legal action of the highest utility; equal ones go to the boldest."""
        utilities = self.reckon(view).utilities
        legal = view.betting.legal
        return max(reversed(legal), key=lambda action: utilities[action] or 0.0)

    def reckon(self, view: View) -> Reckoning:
        """Chances and utilities of a position."""
        betting = view.betting
        self._catch_up(view.board, betting.street)
        outcome = self.belief.outcome(self._own_type(view))
        by_action = [self._utility(betting, a, outcome) if a in betting.legal else None for a in (FOLD, CALL, RAISE)]
        self.last_reckoning = Reckoning(self._own[1], outcome, (by_action[0], by_action[1], by_action[2]))
        return self.last_reckoning

    def _own_type(self, view: View) -> int:
        if self._own[0] != len(view.board):
            self._own = (len(view.board), hand_type((*view.hole, *view.board)))
        return self._own[1]

    def _utility(self, betting: Betting, action: int, outcome: Outcome) -> float:
        if action == FOLD:
            return 0.0
        cost = betting.to_call + (betting.bet_size if action == RAISE else 0)
        won = betting.pot + (0 if self._net else cost) + self.answer_cost(betting.after(action), betting.seat)
        share = outcome.p_win + outcome.p_tie / 2
        return betting.rules.to_sb(share * won - outcome.p_lose * cost)

    def answer_cost(self, after: Betting, seat: int) -> float:
        """Chips the opponent is expected to put in with his next action."""
        belief = self.belief
        if after.is_over:
            return 0.0
        facing, to_call = NOTHING, 0
        legal: tuple[int, ...] = (CALL, RAISE)
        if after.seat != seat and after.street == belief.street:
            facing, legal, to_call = faced(after), after.legal, after.to_call
        triples = self._model.triples(belief.street, belief.strength, facing, legal)
        _, p_call, p_raise = belief.types @ triples
        return float(p_call * to_call + p_raise * (to_call + after.bet_size))

    def end_hand(self, view: View, result: HandResult) -> None:
        """Count what the opponent did with what he had."""
        if not self.learns:
            return
        hole = result.holes[1 - view.seat]
        for seen in self._observed:
            weights = seen.types if hole is None else _certain(hole, result.board, seen.street)
            strength = self.tables.strength[seen.street, seen.board_type]
            self._model.learn(seen.street, strength, seen.facing, seen.action, weights)

    def save_memory(self, path: Path) -> None:
        """Write what was learned of every opponent."""
        counts = {name: model.counts.tolist() for name, model in sorted(self.models.items())}
        write_whole(path, json.dumps({"schema": SCHEMA, "opponents": counts}).encode())

    def load_memory(self, path: Path) -> None:
        """Take up what was learned before."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["schema"] != SCHEMA:
                raise ValueError(f"schema {data['schema']!r}")
            self.models = {str(name): _model(counts) for name, counts in data["opponents"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BotError(f"expected counts as written by pokabayes in {path}, got {error!r}") from error


def _certain(hole: Hole, board: tuple[int, ...], street: int) -> Floats:
    """The type he had on a street, now that he has shown it."""
    weights = np.zeros(N_TYPES)
    weights[hand_type((*hole, *board[: BOARD_SIZES[street]]))] = 1.0
    return weights


def _model(counts: list[object]) -> OpponentModel:
    model = OpponentModel()
    array = np.array(counts, dtype=float)
    if array.shape != model.counts.shape or not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"counts of shape {array.shape}")
    model.counts = array
    return model
