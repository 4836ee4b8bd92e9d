from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from hardbot.bots.soar.engine import Operator, RuleSet, WorkingMemory, select_operator, weigh_operators
from hardbot.bots.soar.language import parse_condition, parse_rules
from hardbot.errors import BotError


def memory_of(text: str, *inputs: str) -> WorkingMemory:
    return WorkingMemory(RuleSet(parse_rules("test", text), inputs))


def test_facts_chain_and_retract_with_their_ground():
    memory = memory_of("a: x >= 3 --> big, seen\nb: big --> worth 2", "x")
    memory.update({"x": 5})
    assert memory.has("big")
    assert memory.has("worth", 2)
    assert memory.matched() == ["a", "b"]
    memory.update({"x": 1})
    assert not memory.has("big")
    assert memory.value("worth") is None
    assert [memory.rule_set.rules[i].name for i in memory.retracted] == ["a", "b"]


def test_negated_condition_waits_for_a_better_hand_to_show():
    memory = memory_of("pair: x >= 2, not trips --> pair\ntrips: x >= 3 --> trips", "x")
    memory.update({"x": 2})
    assert memory.has("pair")
    memory.update({"x": 3})
    assert memory.has("trips")
    assert not memory.has("pair")


def test_fact_stays_while_one_of_its_supports_does():
    memory = memory_of("a: x --> good\nb: y --> good", "x", "y")
    memory.update({"x": "yes", "y": "yes"})
    memory.update({"y": "yes"})
    assert memory.has("good")
    memory.update({})
    assert not memory.has("good")


def test_attribute_may_have_several_values():
    memory = memory_of(
        "a: x --> s 1\nb: x --> s 2\nweak: s >= 2 --> propose fold 1\nbest: s <= 1 --> propose raise 2", "x"
    )
    memory.update({"x": "yes"})
    assert [op.action for op in weigh_operators(memory)] == ["raise", "fold"]


def test_product_is_computed_anew_when_a_factor_changes():
    memory = memory_of("p: x >= 0, y >= 0 --> z @x * @y\nq: z > 1 --> paid", "x", "y")
    memory.update({"x": 0.5, "y": 3})
    assert memory.value("z") == 1.5
    memory.update({"x": 0.5, "y": 1})
    assert memory.value("z") == 0.5
    assert not memory.has("paid")


@pytest.mark.parametrize(
    ("condition", "facts", "holds"),
    [
        ("x", {"x": "yes"}, True),
        ("x", {"x": "no"}, False),
        ("x = a|b", {"x": "b"}, True),
        ("x != a", {"x": "a"}, False),
        ("x != a", {"x": "b"}, True),
        ("not x <= 2", {"x": 3.0}, True),
        ("not x <= 2", {}, True),
        ("x > @y", {"x": 2.0, "y": 1.0}, True),
        ("x > @y", {"x": 2.0}, False),
    ],
)
def test_condition(condition, facts, holds):
    assert parse_condition(condition).test({key: {value: 1} for key, value in facts.items()}) is holds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: pear --> propose fold 1", "expected an attribute that some rule or input sets, got 'pear'"),
        ("a: x --> y\na: x --> z", "expected one rule of each name, got 'a' twice"),
        ("a: x --> propose bluff 1", "expected 'propose fold|call|raise|check-raise SCORE'"),
        ("a: x --> propose fold high", "expected a number, got 'high'"),
        ("a x y", "expected 'name: conditions --> result'"),
        ("a: x >> 3 --> y", "expected a condition such as"),
        ("a: x --> z @x * @y", "expected a condition on the factor 'y'"),
    ],
)
def test_wrong_rule_is_refused(text, message):
    with pytest.raises(BotError, match=message.replace("|", r"\|")):
        memory_of(text, "x")


def test_rule_that_takes_away_its_own_ground_is_named():
    memory = memory_of("liar: x, not y --> y", "x")
    with pytest.raises(BotError, match="got a loop among liar"):
        memory.update({"x": "yes"})


def test_highest_score_wins_and_equal_scores_are_left_to_chance():
    rng = np.random.default_rng(3)
    operators = [Operator("a", "raise", 30), Operator("b", "call", 30), Operator("c", "fold", 10)]
    chosen = Counter(select_operator(operators, rng).name for _ in range(400))
    assert set(chosen) == {"a", "b"}
    assert 150 < chosen["a"] < 250
    with pytest.raises(BotError, match="a default rule is missing"):
        select_operator([], rng)


def test_results_adjust_only_the_operator_they_are_about():
    text = "bad: x --> propose call 20\ngood: x --> propose call 19\nr: uses >= 40, upper-sb < 0 --> adjust -12"
    memory = memory_of(text, "x")
    memory.update({"x": "yes"})
    operators = weigh_operators(
        memory, {"bad": {"uses": 50.0, "upper-sb": -0.1}, "good": {"uses": 9.0, "upper-sb": -1}}
    )
    assert [(op.name, op.score, op.adjusted_by) for op in operators] == [("good", 19, ()), ("bad", 8, ("r",))]
