"""Style figures, counted a second time from the betting strings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hardbot.arena.deals import deal_block
from hardbot.arena.match import plan_match, play_block
from hardbot.arena.style import Style, count_style
from hardbot.game.betting import parse_betting
from hardbot.game.rules import HEADS_UP
from hardbot.game.tree import betting_tree


def style_of(texts, seats, signs=None):
    betting_tree(HEADS_UP)
    ends = np.array([parse_betting(HEADS_UP, text).index for text in texts], dtype=np.int32)
    signs = np.zeros(len(texts), dtype=np.int8) if signs is None else np.array(signs, dtype=np.int8)
    return count_style(HEADS_UP, ends, np.array(seats), signs)


def test_a_check_of_the_big_blind_is_no_voluntary_entry():
    assert style_of(["cc/cc/cc/cc"], [0]).voluntary_entry == 0.0
    assert style_of(["cc/cc/cc/cc"], [1]).voluntary_entry == 1.0  # the small blind has to complete


def test_a_fold_before_the_flop_is_neither_entry_nor_flop():
    style = style_of(["f", "rf"], [1, 0])
    assert (style.entered, style.flops, style.hands) == (0, 0, 2)
    assert math.isnan(style.went_to_showdown)


def test_raise_then_fold_to_a_reraise_counts_as_entry_and_raise():
    style = style_of(["rrf"], [1])
    assert (style.voluntary_entry, style.preflop_raise) == (1.0, 1.0)


def test_aggression_is_bets_and_raises_per_call_after_the_flop():
    style = style_of(["rrc/crrc/rc/crc"], [0])  # seat 0: reraise; check-raise; bet; check-call
    assert (style.bets, style.calls) == (2, 1)
    assert style.aggression == 2.0
    assert style_of(["rc/rc/rc/rc"], [0]).aggression == math.inf
    assert style_of(["rc/rc/rc/rc"], [0]).to_json()["aggression"] is None


def test_showdowns_won_count_ties_half():
    style = style_of(["cc/cc/cc/cc"] * 3 + ["cc/rf"], [0, 0, 1, 0], signs=[1, 0, 1, 1])
    assert (style.flops, style.showdowns, style.won) == (4, 3, 1.5)
    assert style.went_to_showdown == 0.75
    assert style.won_at_showdown == 0.5


def test_styles_add_up():
    one, two = style_of(["rc/rf"], [0]), style_of(["f"], [1])
    assert one + two == style_of(["rc/rf", "f"], [0, 1])
    assert Style() + one == one


def test_table_agrees_with_counting_the_text_of_every_hand():
    plan = plan_match(("random", "random"), [400], 5, block=400)
    ends = play_block(plan, 0).ends[0]
    deals = deal_block(2, 400, 5, 0)
    seats = np.arange(400) % 2
    style = count_style(HEADS_UP, ends, seats, deals.signs)
    entered = bets = 0
    for end, seat in zip(ends, seats, strict=True):
        node, line = betting_tree(HEADS_UP).nodes[end], []
        while node.parent is not None:
            char = node.text.rstrip("/")[-1]
            line.append((node.parent.seat, node.parent.street, char, node.parent.to_call))
            node = node.parent
        mine = [(street, char, price) for who, street, char, price in line if who == seat]
        entered += any(s == 0 and (c == "r" or (c == "c" and price)) for s, c, price in mine)
        bets += sum(s > 0 and c == "r" for s, c, _ in mine)
    assert (style.entered, style.bets) == (entered, bets)


@pytest.mark.parametrize(("bot", "entry", "raised"), [("always_raise", 1.0, 1.0), ("always_call", 0.5, 0.0)])
def test_plain_bots_have_plain_styles(bot, entry, raised):
    plan = plan_match((bot, "always_call"), [10], 1, block=10)
    ends = play_block(plan, 0).ends[0]
    style = count_style(HEADS_UP, ends, np.arange(10) % 2, deal_block(2, 10, 1, 0).signs)
    assert (style.voluntary_entry, style.preflop_raise, style.went_to_showdown) == (entry, raised, 1.0)
