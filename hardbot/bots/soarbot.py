"""soarbot: an expert system of readable rules, for 2 to 10 seats.

After R. Follek, SoarBot: A Rule-Based System For Playing Poker (Pace University 2003): facts about the game go into
working memory, elaboration rules add names and strengths until nothing changes, proposal rules offer actions with
scores, the highest score is taken and chance decides between equals. Rules are in `soar/rules`, printed by
`hardbot rules soarbot`; every decision keeps the rules that fired (`last_decision`, and a file with `log=FOLDER`).

A check-raise is one plan of two acts: check (or call the blind), and raise without asking the rules if somebody
bets; once a hand. `maybe` is yes in half of all decisions. An action the rules of the game forbid becomes the
nearest one they allow: a raise above the cap a call, a fold for nothing a check.

What the thesis only wishes for is in and can be switched off: opponent facts (`opponents=no`) and scores
adjusted by results (`results=no`). `preflop=hutchison` plays by points before the flop.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hardbot.bots.base import Bot
from hardbot.bots.soar.analysis import Facts, card_facts, hole_facts
from hardbot.bots.soar.engine import Operator, WorkingMemory, select_operator, weigh_operators
from hardbot.bots.soar.history import History
from hardbot.bots.soar.log import Decision, SoarLog
from hardbot.bots.soar.rulebook import rule_set
from hardbot.bots.soar.situation import betting_facts
from hardbot.game.betting import Betting
from hardbot.game.cards import format_cards
from hardbot.game.hand import HandResult, View
from hardbot.game.rules import ACTION_NAMES, CALL, FOLD, RAISE

_ACTION_OF = {"fold": FOLD, "call": CALL, "raise": RAISE, "check-raise": CALL}
P_MAYBE = 0.5


class SoarBot(Bot):
    """Plays the rules; remembers opponents and the results of its operators."""

    name = "soarbot"

    def __init__(self, preflop: str = "loose", opponents: bool = True, results: bool = True, log: str = "") -> None:
        self.rules = rule_set(preflop, opponents, results)
        self._names = [rule.name for rule in self.rules.rules]
        self.memory = WorkingMemory(self.rules)
        self.history = History()
        self.last_decision: Decision | None = None
        self.learns = opponents or results
        self._uses_opponents = opponents
        self._uses_results = results
        self._log = SoarLog(Path(log)) if log else None
        self._choices: list[tuple[str, int, bool]] = []  # operator, chips in before, facing a bet
        self._cards: Facts = {}
        self._cards_street = -1
        self._trap: Operator | None = None  # a check-raise begun
        self._trap_street = -1
        self._check_raised = False

    def new_hand(self, view: View) -> None:
        """Forget the last hand, not its lessons."""
        self.history.begin()
        self._choices.clear()
        self._cards_street = self._trap_street = -1
        self._check_raised = False

    def observe(self, view: View, before: Betting, action: int) -> None:
        """Keep what opponents do."""
        self.history.observe(view, before, action)

    def act(self, view: View, rng: np.random.Generator) -> int:
        """The best proposed operator's action."""
        betting = view.betting
        if self._trap_street == betting.street and betting.to_call and RAISE in betting.legal:
            return self._spring_trap(view)
        inputs = self.facts(view, "yes" if rng.random() < P_MAYBE else "no")
        self.memory.update(inputs)
        operators = self._weigh()
        operator = select_operator(operators, rng)
        action = self._apply(operator, betting)
        self._choices.append((operator.name, betting.contributions[view.seat], betting.to_call > 0))
        self._keep_decision(view, inputs, operators, operator, action)
        return action

    def _spring_trap(self, view: View) -> int:
        """The second act of a check-raise: no rule is asked."""
        plan = self._trap
        assert plan is not None
        self._trap, self._trap_street, self._check_raised = None, -1, True
        self._keep_decision(view, {}, [plan], plan, RAISE)
        return RAISE

    def facts(self, view: View, maybe: str) -> Facts:
        """Everything that goes into working memory for one decision."""
        betting = view.betting
        if self._cards_street != betting.street:
            self._cards = card_facts(view.hole, view.board) if betting.street else hole_facts(view.hole)
            self._cards_street = betting.street
        facts = self._cards | betting_facts(betting, view.seat)
        facts["maybe"] = maybe
        facts["check-raise-used"] = "yes" if self._check_raised else "no"
        if betting.street:
            facts["best-hand-probability"] = float(facts["hand-share"]) ** (betting.n_live - 1)
        return facts | self.history.opponent_facts(view) if self._uses_opponents else facts

    def _weigh(self) -> list[Operator]:
        if not self._uses_results:
            return weigh_operators(self.memory)
        operators = self.history.operators
        names = (self._names[index] for index in self.memory.proposals)
        return weigh_operators(self.memory, {name: operators[name].facts() for name in names if name in operators})

    def _apply(self, operator: Operator, betting: Betting) -> int:
        if operator.action == "check-raise":
            self._trap, self._trap_street = operator, betting.street
        action = _ACTION_OF[operator.action]
        return action if action in betting.legal else CALL

    def _keep_decision(
        self, view: View, inputs: Facts, operators: list[Operator], operator: Operator, action: int
    ) -> None:
        memory, names = self.memory, self._names
        self.last_decision = Decision(
            hand_number=view.hand_number,
            betting=view.betting.text,
            hole=format_cards(view.hole),
            board=format_cards(view.board),
            action=ACTION_NAMES[action],
            operator=operator.name,
            operators=tuple(operators),
            fired=tuple(names[index] for index in memory.fired) if inputs else (),
            retracted=tuple(names[index] for index in memory.retracted) if inputs else (),
            holding=tuple(memory.matched()),
            inputs=inputs,
        )
        if self._log is not None:
            self._log.write_decision(self.last_decision)

    def end_hand(self, view: View, result: HandResult) -> None:
        """Learn from the outcome and write it down."""
        net = result.net_chips[view.seat]
        for name, chips_in, facing in self._choices:
            self.history.operator(name).add(view.rules.to_sb(net + chips_in), facing)
        self.history.end(view, result)
        if self._log is not None:
            self._log.write_result(view, result, self.history)

    def save_memory(self, path: Path) -> None:
        """Write the history of opponents and operators."""
        self.history.save(path)

    def load_memory(self, path: Path) -> None:
        """Take up a history."""
        self.history.load(path)
