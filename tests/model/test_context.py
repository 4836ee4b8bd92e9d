"""Betting contexts: numbers of contexts, nesting of the levels, and tables the model was not made for."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.errors import ModelError
from hardbot.game.betting import parse_betting
from hardbot.game.rules import HEADS_UP, HEADS_UP_IRC, RAISE, preset
from hardbot.game.tree import betting_tree
from hardbot.model.context import (
    MODEL_RULES,
    N_LEVELS,
    clip_to_cap,
    coarse_context,
    context_slot,
    earlier_raises,
    rules_index,
    slot_of,
    slots_of,
    street_contexts,
)


def test_slots_are_the_decision_points_of_both_blind_orders():
    assert [street_contexts(street).n_slots for street in range(4)] == [16, 140, 1260, 11340]
    assert sum(street_contexts(street).n_nodes for street in range(4)) == 6378


def test_both_trees_number_the_same_texts_alike():
    first, second = (betting_tree(rules) for rules in MODEL_RULES)
    assert [node.text for node in first.nodes] == [node.text for node in second.nodes]


def test_sizes_of_the_coarser_levels_count_distinct_histories():
    # L1: street actions x raises before; preflop nobody has raised before
    assert [street_contexts(street).sizes for street in range(4)] == [
        (16, 8, 8, 3),
        (140, 60, 10, 3),
        (1260, 180, 10, 3),
        (11340, 360, 10, 3),
    ]


@pytest.mark.parametrize("street", range(4))
def test_each_level_is_a_function_of_the_one_before(street):
    contexts = street_contexts(street)
    for level in range(N_LEVELS - 1):
        parent = contexts.parent(level)
        assert (parent[contexts.level[level]] == contexts.level[level + 1]).all()
        assert set(contexts.level[level + 1]) == set(range(contexts.sizes[level + 1]))


@pytest.mark.parametrize("street", range(4))
def test_contexts_never_mix_different_legal_actions(street):
    contexts = street_contexts(street)
    assert (contexts.to_call_legal[contexts.level[3]] == contexts.legal).all()


def test_blind_order_is_told_apart_at_the_exact_level_only():
    contexts = street_contexts(1)
    # the first to speak on the flop bets into the one who raised before: small blind there, big blind here
    reverse = context_slot(parse_betting(HEADS_UP, "rc/r"))
    plain = context_slot(parse_betting(HEADS_UP_IRC, "crc/r"))
    assert reverse % contexts.n_nodes != plain % contexts.n_nodes
    assert contexts.level[1][reverse] == contexts.level[1][plain]
    same_text = context_slot(parse_betting(HEADS_UP_IRC, "rc/r"))
    assert reverse != same_text
    assert contexts.level[2][reverse] == contexts.level[2][same_text]


def test_raises_before_are_counted_by_who_made_them():
    # competition order: the button (seat 1) raises, is re-raised, calls; the big blind is first on the flop
    assert earlier_raises(parse_betting(HEADS_UP, "rrc/")) == (1, 1)
    assert earlier_raises(parse_betting(HEADS_UP, "rc/")) == (0, 1)
    assert earlier_raises(parse_betting(HEADS_UP, "rc/c")) == (1, 0)
    assert earlier_raises(parse_betting(HEADS_UP, "rc/rc/crc/")) == (1, 2)
    assert earlier_raises(parse_betting(HEADS_UP, "rr")) == (0, 0)


def test_same_street_and_raises_share_a_context_whatever_their_order_before():
    contexts = street_contexts(2)
    a = context_slot(parse_betting(HEADS_UP, "rc/cc/r"))
    b = context_slot(parse_betting(HEADS_UP, "cc/crc/r"))  # the button raised once before, on another street
    assert a != b
    assert contexts.level[1][a] == contexts.level[1][b]


def test_slots_of_many_agree_with_one_by_one():
    tree = betting_tree(HEADS_UP)
    nodes = np.arange(tree.n_decisions, dtype=np.int32)
    for order in (0, 1):
        slots = slots_of(np.full(len(nodes), order, dtype=np.int8), nodes, tree.street[: len(nodes)])
        picked = [slot_of(order, int(n), int(tree.street[n])) for n in nodes[::97]]
        assert slots[::97].tolist() == picked


@pytest.mark.parametrize(
    ("text", "clipped"),
    [
        ("crrrr", "crr"),  # one raise too many: one more goes, so that the same seat is to act
        ("rrrrr", "rrr"),
        ("crrrrc/", "crrrc/"),
        ("rrrc/rrrrrrc/r", "rrrc/rrrrc/r"),
        ("rrrc/crrrrrrr", "rrrc/crrr"),
        ("rc/cr", "rc/cr"),
    ],
)
def test_raises_beyond_the_cap_are_left_out_and_the_same_seat_acts(text, clipped):
    for rules in MODEL_RULES:
        betting = parse_betting(rules.uncapped(), text)
        found = clip_to_cap(betting)
        assert found.text == clipped
        assert (found.seat, found.street) == (betting.seat, betting.street)
        assert context_slot(betting) == context_slot(parse_betting(rules, clipped))


def test_ring_tables_have_a_coarse_context_with_the_same_legal_actions():
    betting = parse_betting(preset("ring-6"), "rfc")
    street, context = coarse_context(betting)
    assert street == 0
    assert np.flatnonzero(street_contexts(0).to_call_legal[context]).tolist() == list(betting.legal)
    with pytest.raises(ModelError, match="heads-up"):
        context_slot(betting)


def test_five_bet_tables_are_brought_under_the_cap():
    rules = preset("heads-up-five-bets")
    betting = parse_betting(rules, "rrr")
    assert RAISE in betting.legal
    assert context_slot(betting) == context_slot(parse_betting(HEADS_UP, "rrr"))


def test_a_finished_hand_has_no_context():
    with pytest.raises(ModelError, match="finished"):
        context_slot(parse_betting(HEADS_UP, "rf"))
    with pytest.raises(ModelError):
        coarse_context(parse_betting(preset("ring-3"), "ff"))


def test_unknown_rules_have_no_number():
    assert rules_index(HEADS_UP_IRC.name) == 1
    with pytest.raises(ModelError, match="ring-4"):
        rules_index("ring-4")
