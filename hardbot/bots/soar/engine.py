"""Forward chaining with retraction: match, fire and retract in waves until nothing changes.

A rule whose conditions all hold has fired: its facts are in working memory, or its operator is proposed, for as
long as the conditions hold and no longer (Soar's instantiation support; Laird, Congdon and Coulter, The Soar 8
User's Manual, 1999). All rules of a wave act at once, so their order means nothing. As in the rete method
(Forgy, Artificial Intelligence 19, 1982) equal conditions are one node, and a change of an attribute wakes
only the conditions that look at it: each rule merely counts its unmet conditions.

A rule that takes away its own ground fires and retracts for ever; after MAX_WAVES that is an error that
names the rules. Rules that ground each other in a circle stay up, as in Soar; ours have no circles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hardbot.bots.soar.language import Condition, Proposal, Rule, Value, check_attributes
from hardbot.errors import BotError

MAX_WAVES = 40


class RuleSet:
    """Rules compiled into a network: shared conditions, who listens to what, how many conditions each rule has."""

    def __init__(self, rules: Iterable[Rule], inputs: Iterable[str]) -> None:
        everything = tuple(rules)
        self.inputs = frozenset(inputs)
        self.rules = tuple(rule for rule in everything if rule.adjustment is None)
        self.adjustments = tuple(rule for rule in everything if rule.adjustment is not None)
        check_attributes(self.rules, self.inputs)
        numbers: dict[str, int] = {}
        self.conditions: list[Condition] = []
        self.listeners: list[list[int]] = []  # condition -> rules
        for index, rule in enumerate(self.rules):
            for condition in {c.text: c for c in rule.conditions}.values():
                number = numbers.setdefault(condition.text, len(numbers))
                if number == len(self.conditions):
                    self.conditions.append(condition)
                    self.listeners.append([])
                self.listeners[number].append(index)
        self.watchers: dict[str, tuple[int, ...]] = self._watchers()
        self.products = self._products()
        self.truth = [condition.test({}) for condition in self.conditions]  # of an empty memory
        self.unmet = [0] * len(self.rules)
        for number, listening in enumerate(self.listeners):
            for index in listening:
                self.unmet[index] += not self.truth[number]

    def _watchers(self) -> dict[str, tuple[int, ...]]:
        watchers: dict[str, list[int]] = {}
        for number, condition in enumerate(self.conditions):
            for attribute in condition.attributes:
                watchers.setdefault(attribute, []).append(number)
        return {attribute: tuple(numbers) for attribute, numbers in watchers.items()}

    def _products(self) -> dict[str, tuple[int, ...]]:
        """Rules that compute a fact from an attribute: they must fire anew when it changes."""
        products: dict[str, list[int]] = {}
        for index, rule in enumerate(self.rules):
            for fact in rule.facts:
                for factor in fact.factors or ():
                    products.setdefault(factor, []).append(index)
        return {attribute: tuple(indices) for attribute, indices in products.items()}


class WorkingMemory:
    """Facts and fired rules of one player, kept up to date by `update`."""

    def __init__(self, rule_set: RuleSet) -> None:
        self.rule_set = rule_set
        self.facts: dict[str, dict[Value, int]] = {}
        self.proposals: dict[int, Proposal] = {}
        self.fired: list[int] = []  # rules that fired in the last update, in order
        self.retracted: list[int] = []
        self._inputs: dict[str, Value] = {}
        self._truth = list(rule_set.truth)
        self._unmet = list(rule_set.unmet)
        self._standing: dict[int, tuple[tuple[str, Value], ...]] = {}  # fired rule -> what it added
        self._dirty: dict[str, None] = {}
        self._refire: set[int] = set()
        self._wave({index for index, unmet in enumerate(self._unmet) if unmet == 0})

    def update(self, inputs: Mapping[str, Value]) -> None:
        """Replace all input facts (one value each) and chain until quiescence."""
        old = self._inputs
        for attribute, value in inputs.items():
            before = old.get(attribute)
            if before != value:
                if before is not None:
                    self._remove(attribute, before)
                self._add(attribute, value)
        for attribute in old.keys() - inputs.keys():
            self._remove(attribute, old[attribute])
        self._inputs = dict(inputs)
        self.fired = []
        self.retracted = []
        self._settle()

    def matched(self) -> list[str]:
        """Names of all rules whose conditions hold now."""
        return [self.rule_set.rules[index].name for index in sorted(self._standing)]

    def value(self, attribute: str) -> Value | None:
        """One value of an attribute, None if it has none."""
        return next(iter(self.facts.get(attribute, ())), None)

    def has(self, attribute: str, value: Value = "yes") -> bool:
        """Whether this fact is in memory."""
        return value in self.facts.get(attribute, ())

    def _add(self, attribute: str, value: Value) -> None:
        values = self.facts.setdefault(attribute, {})
        count = values.get(value, 0)
        values[value] = count + 1
        if count == 0:
            self._dirty[attribute] = None

    def _remove(self, attribute: str, value: Value) -> None:
        values = self.facts[attribute]
        values[value] -= 1
        if values[value] == 0:
            del values[value]
            self._dirty[attribute] = None

    def _settle(self) -> None:
        for _ in range(MAX_WAVES):
            if not self._dirty:
                return
            self._wave(self._awaken())
        names = ", ".join(sorted({self.rule_set.rules[index].name for index in self.fired[-20:]}))
        raise BotError(f"expected rules to come to rest within {MAX_WAVES} waves, got a loop among {names}")

    def _awaken(self) -> set[int]:
        """Look again at the conditions of changed attributes; the rules they touch."""
        rule_set, facts, truth, unmet = self.rule_set, self.facts, self._truth, self._unmet
        dirty, self._dirty = self._dirty, {}
        touched: set[int] = set()
        for attribute in dirty:
            for number in rule_set.watchers.get(attribute, ()):
                now = rule_set.conditions[number].test(facts)
                if now != truth[number]:
                    truth[number] = now
                    step = -1 if now else 1
                    for index in rule_set.listeners[number]:
                        unmet[index] += step
                        touched.add(index)
            for index in rule_set.products.get(attribute, ()):
                self._refire.add(index)
                touched.add(index)
        return touched

    def _wave(self, touched: set[int]) -> None:
        """Retract and fire, all at once."""
        unmet, standing, refire = self._unmet, self._standing, self._refire
        order = sorted(touched)
        leaving = [index for index in order if index in standing and (unmet[index] > 0 or index in refire)]
        entering = [i for i in order if unmet[i] == 0 and (i not in standing or i in refire)]
        added = [(index, self._evaluate(index)) for index in entering]  # from the facts as they were
        for index in leaving:
            self._retract(index)
        for index, facts in added:
            standing[index] = facts
            self.fired.append(index)
            for attribute, value in facts:
                self._add(attribute, value)
            proposal = self.rule_set.rules[index].proposal
            if proposal is not None:
                self.proposals[index] = proposal
        refire.clear()

    def _evaluate(self, index: int) -> tuple[tuple[str, Value], ...]:
        return tuple((fact.attribute, fact.evaluate(self.facts)) for fact in self.rule_set.rules[index].facts)

    def _retract(self, index: int) -> None:
        self.retracted.append(index)
        for attribute, value in self._standing.pop(index):
            self._remove(attribute, value)
        self.proposals.pop(index, None)


@dataclass(frozen=True, slots=True)
class Operator:
    """A proposed operator as the decision sees it: its score is the rule's plus all adjustments."""

    name: str
    action: str
    score: float
    adjusted_by: tuple[str, ...] = ()


def weigh_operators(memory: WorkingMemory, records: Mapping[str, Mapping[str, float]] | None = None) -> list[Operator]:
    """All proposed operators with their final scores, best first.

    `records` has facts about single operators (by name), which the rule set's adjustments look at.
    """
    rule_set = memory.rule_set
    operators = []
    for index in sorted(memory.proposals):
        proposal = memory.proposals[index]
        name = rule_set.rules[index].name
        score: float = proposal.score
        reasons: tuple[str, ...] = ()
        record = records.get(name) if records else None
        if record:
            score, reasons = _adjust(rule_set.adjustments, proposal, record)
        operators.append(Operator(name, proposal.action, score, reasons))
    operators.sort(key=lambda op: -op.score)
    return operators


def _adjust(rules: Sequence[Rule], proposal: Proposal, record: Mapping[str, float]) -> tuple[float, tuple[str, ...]]:
    facts: dict[str, dict[Value, int]] = {key: {value: 1} for key, value in record.items()}
    facts["action"] = {proposal.action: 1}
    score, reasons = proposal.score, []
    for rule in rules:
        if all(condition.test(facts) for condition in rule.conditions):
            score += rule.adjustment or 0.0
            reasons.append(rule.name)
    return score, tuple(reasons)


def select_operator(operators: Sequence[Operator], rng: np.random.Generator) -> Operator:
    """The operator of the highest score; equal ones are indifferent, so chance decides."""
    if not operators:
        raise BotError("expected at least one proposed operator, got none: a default rule is missing")
    best = [op for op in operators if op.score == operators[0].score]
    return best[0] if len(best) == 1 else best[int(rng.random() * len(best))]
