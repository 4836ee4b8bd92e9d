"""The rule language: one rule a line, conditions, an arrow, what follows.

    turn*strength*top-pair*clean: top-pair, not danger --> turn-strength 2
    flop*bet*first: n-bets = 0, flop-strength <= 4 --> propose raise 30

A condition names an attribute of working memory. Alone it asks for the value `yes`; else one value of the
attribute has to pass a comparison (`= != < <= > >=`) with a number, a word, a choice `a|b|c` or another
attribute `@name`. `not` asks that no value does. A right-hand side adds facts (several, with commas; a value
may be a product `@x * @y`), or proposes one action with a score, or adds to the score of operators
already proposed (`adjust -15`; its conditions are then about the operator: its record, its score).

SoarBot's author (R. Follek, SoarBot, Pace University 2003, section 2.2.4) complains that a misspelt name in
a rule passes unnoticed. Here `check_attributes` refuses a rule that asks for what nobody sets.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from hardbot.errors import BotError

Value = str | float
Values = Mapping[Value, int]  # values of one attribute with the number of their supports
Facts = Mapping[str, Values]
Test = Callable[[Facts], bool]

YES = "yes"
ACTIONS = ("fold", "call", "raise", "check-raise")
_ORDERINGS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NAME = r"[a-z0-9][a-z0-9-]*"
_CONDITION = re.compile(rf"(not\s+)?({_NAME})(?:\s*(<=|>=|!=|=|<|>)\s*(\S+))?")
_RULE = re.compile(r"(\S+):\s+(?:(.*?)\s+)?-->\s+(.+)")
_FACT = re.compile(rf"({_NAME})(?:\s+(\S+)|\s+@({_NAME})\s*\*\s*@({_NAME}))?")
_NOTHING: Values = {}


@dataclass(frozen=True, slots=True)
class Condition:
    """One test on working memory; `attributes` are those whose change can change its outcome."""

    text: str
    attributes: tuple[str, ...]
    test: Test


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact that a rule adds: a constant, or the product of two attributes' values."""

    attribute: str
    value: Value = YES
    factors: tuple[str, str] | None = None

    def evaluate(self, facts: Facts) -> Value:
        """Value to add now; a product takes the first value of each factor."""
        if self.factors is None:
            return self.value
        first, second = (float(next(iter(facts[name]))) for name in self.factors)
        return first * second


@dataclass(frozen=True, slots=True)
class Proposal:
    """An operator: the action it would take and how much its rule wants it."""

    action: str
    score: float


@dataclass(frozen=True, slots=True)
class Rule:
    """One production. Exactly one of `facts`, `proposal` and `adjustment` is given."""

    name: str
    group: str
    conditions: tuple[Condition, ...]
    facts: tuple[NewFact, ...] = ()
    proposal: Proposal | None = None
    adjustment: float | None = None
    text: str = ""

    @property
    def kind(self) -> str:
        """`elaborate`, `propose` or `adjust`."""
        return "propose" if self.proposal else "elaborate" if self.facts else "adjust"


def parse_rules(group: str, text: str, stage: str | None = None) -> tuple[Rule, ...]:
    """Rules of one group, one a line; `#` begins a comment, an indented line goes on with the last.

    With a `stage` every rule also asks for `stage = STAGE`: it belongs to that subgoal.
    """
    lines: list[str] = []
    for raw in text.splitlines():
        line = raw.split("#", 1)[0].rstrip()
        if line[:1].isspace() and line.strip() and lines:
            lines[-1] += " " + line.strip()
        elif line:
            lines.append(line)
    return tuple(_parse_rule(group, line, stage) for line in lines)


def _parse_rule(group: str, line: str, stage: str | None) -> Rule:
    match = _RULE.fullmatch(line)
    if match is None:
        raise BotError(f"expected 'name: conditions --> result' in rules of {group}, got {line!r}")
    name, left, right = match.group(1), match.group(2) or "", match.group(3)
    texts = ([f"stage = {stage}"] if stage else []) + [part.strip() for part in left.split(",") if part.strip()]
    conditions = tuple(parse_condition(part, name) for part in texts)
    words = right.split()
    if words[0] == "propose":
        return Rule(name, group, conditions, proposal=_parse_proposal(words, name), text=line)
    if words[0] == "adjust" and len(words) == 2:
        return Rule(name, group, conditions, adjustment=_parse_number(words[1], name), text=line)
    facts = tuple(_parse_fact(part.strip(), name) for part in right.split(","))
    return Rule(name, group, conditions, facts=facts, text=line)


def parse_condition(text: str, rule: str = "") -> Condition:
    """A condition such as `not flop-strength <= 4`."""
    match = _CONDITION.fullmatch(text.strip())
    if match is None:
        raise BotError(f"expected a condition such as 'not pot-odds >= 5', got {text!r} in rule {rule!r}")
    negated, attribute, comparison, operand = match.groups()
    attributes = (attribute, operand[1:]) if operand and operand.startswith("@") else (attribute,)
    test = _make_test(attribute, comparison or "=", operand or YES, f"{text!r} in rule {rule!r}")
    return Condition(text, attributes, _negation(test) if negated else test)


def _negation(test: Test) -> Test:
    return lambda facts: not test(facts)


def _make_test(attribute: str, comparison: str, operand: str, where: str) -> Test:
    if comparison in ("=", "!="):
        if operand.startswith("@"):
            raise BotError(f"expected an ordering before another attribute, got {where}")
        wanted = frozenset(_parse_value(word) for word in operand.split("|"))
        return _membership(attribute, wanted) if comparison == "=" else _otherness(attribute, wanted)
    order = _ORDERINGS[comparison]
    if operand.startswith("@"):
        return _relation(attribute, order, operand[1:])
    return _comparison(attribute, order, _parse_number(operand, where))


def _membership(attribute: str, wanted: frozenset[Value]) -> Test:
    if len(wanted) == 1:
        only = next(iter(wanted))
        return lambda facts: only in facts.get(attribute, _NOTHING)
    return lambda facts: not wanted.isdisjoint(facts.get(attribute, _NOTHING))


def _otherness(attribute: str, unwanted: frozenset[Value]) -> Test:
    return lambda facts: any(value not in unwanted for value in facts.get(attribute, _NOTHING))


def _comparison(attribute: str, order: Callable[[float, float], bool], limit: float) -> Test:
    def test(facts: Facts) -> bool:
        return any(order(float(value), limit) for value in facts.get(attribute, _NOTHING))

    return test


def _relation(attribute: str, order: Callable[[float, float], bool], other: str) -> Test:
    def test(facts: Facts) -> bool:
        others = facts.get(other, _NOTHING)
        return any(order(float(a), float(b)) for a in facts.get(attribute, _NOTHING) for b in others)

    return test


def _parse_fact(text: str, rule: str) -> NewFact:
    match = _FACT.fullmatch(text)
    if match is None:
        raise BotError(f"expected a fact such as 'flop-strength 3.5', got {text!r} in rule {rule!r}")
    attribute, value, first, second = match.groups()
    if first:
        return NewFact(attribute, factors=(first, second))
    return NewFact(attribute, _parse_value(value) if value else YES)


def _parse_proposal(words: list[str], rule: str) -> Proposal:
    if len(words) != 3 or words[1] not in ACTIONS:
        raise BotError(f"expected 'propose {'|'.join(ACTIONS)} SCORE', got {' '.join(words)!r} in rule {rule!r}")
    return Proposal(words[1], _parse_number(words[2], rule))


def _parse_number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise BotError(f"expected a number, got {text!r} in rule {where!r}") from error


def _parse_value(text: str) -> Value:
    try:
        return float(text)
    except ValueError:
        return text


def check_attributes(rules: Iterable[Rule], inputs: Iterable[str]) -> None:
    """Raise BotError if two rules share a name or a condition asks for an attribute that nothing ever sets."""
    rules = tuple(rules)
    known = set(inputs) | {fact.attribute for rule in rules for fact in rule.facts}
    seen: set[str] = set()
    for rule in rules:
        if rule.name in seen:
            raise BotError(f"expected one rule of each name, got {rule.name!r} twice")
        seen.add(rule.name)
        asked = [name for condition in rule.conditions for name in condition.attributes]
        for factor in [name for fact in rule.facts for name in fact.factors or ()]:
            if factor not in asked:
                raise BotError(f"expected a condition on the factor {factor!r} in {rule.text!r}")
        for name in asked:
            if name not in known:
                raise BotError(f"expected an attribute that some rule or input sets, got {name!r} in {rule.text!r}")
