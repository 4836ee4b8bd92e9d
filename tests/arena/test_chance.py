"""The luck of the cards has mean zero, exactly where that can be enumerated and statistically elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.arena.chance import N_BOARDS, chance_generator, deal_equities, paid_when_dealt, street_luck
from hardbot.arena.deals import DealBlock, deal_block
from hardbot.arena.match import plan_match, play_block
from hardbot.arena.series import score_block
from hardbot.game.betting import parse_betting
from hardbot.game.cards import parse_cards
from hardbot.game.rules import HEADS_UP
from hardbot.game.tree import betting_tree

HOLES = (parse_cards("KsQs"), parse_cards("8h7c"))
FLOP = parse_cards("Js9s6d")


def equities_of(boards):
    holes = np.tile(np.array([HOLES], dtype=np.int8), (len(boards), 1, 1))
    block = DealBlock(holes, np.array(boards, dtype=np.int8))
    return deal_equities(block, chance_generator(1, 0))


def rest(*dead):
    return [card for card in range(52) if card not in {c for cards in dead for c in cards}]


def test_equity_on_the_flop_is_the_exact_mean_over_all_turn_cards():
    turns = rest(*HOLES, FLOP)
    boards = [(*FLOP, turn, next(c for c in turns if c != turn)) for turn in turns]
    equities = equities_of(boards)
    assert len(boards) == 45
    assert np.ptp(equities[:, 1]) == 0.0
    assert equities[:, 2].mean() == pytest.approx(equities[0, 1], abs=1e-12)
    assert equities[:, 2].std() > 0.05


def test_equity_on_the_turn_is_the_exact_mean_over_all_rivers():
    turn = parse_cards("2s")
    equities = equities_of([(*FLOP, *turn, river) for river in rest(*HOLES, FLOP, turn)])
    assert len(equities) == 44
    assert equities[:, 3].mean() == pytest.approx(equities[0, 2], abs=1e-12)
    assert set(equities[:, 3]) <= {0.0, 0.5, 1.0}


def test_equity_before_the_flop_is_estimated_without_bias():
    holes = np.tile(np.array([(parse_cards("AsAh"), parse_cards("KdKc"))], dtype=np.int8), (300, 1, 1))
    boards = np.tile(np.array([parse_cards("2c3d4h5s7c")], dtype=np.int8), (300, 1))
    estimates = deal_equities(DealBlock(holes, boards), chance_generator(7, 3))[:, 0]
    exact = 0.8125548967940273  # over all 1,712,304 boards
    error = np.sqrt(exact * (1 - exact) / N_BOARDS / 300)
    assert abs(estimates.mean() - exact) < 4 * error
    assert estimates.std() == pytest.approx(np.sqrt(exact * (1 - exact) / N_BOARDS), rel=0.2)


def test_stakes_are_what_was_paid_when_the_street_was_dealt():
    betting_tree(HEADS_UP)
    end = parse_betting(HEADS_UP, "rc/rc/crf").index
    assert paid_when_dealt(HEADS_UP)[end].tolist() == [-1.0, 2.0, 3.0, -1.0]


def test_streets_that_were_not_dealt_have_no_luck():
    betting_tree(HEADS_UP)
    ends = np.array([parse_betting(HEADS_UP, text).index for text in ("f", "cc/rf", "cc/cc/cc/cc")], dtype=np.int32)
    luck = street_luck(HEADS_UP, ends, np.array([[0.5, 0.6, 0.8, 1.0]] * 3))
    assert (luck != 0).tolist() == [[False] * 4, [False, True, False, False], [False, True, True, True]]


@pytest.mark.parametrize("bots", [("random", "always_raise"), ("rulebot", "random")], ids=" against ".join)
def test_luck_has_mean_zero_on_every_street(bots):
    n = 6_000 if "rulebot" not in bots else 1_500
    plan = plan_match(bots, [n], 31, block=n)
    ends = play_block(plan, 0).ends[0]
    equities = deal_equities(deal_block(2, n, 31, 0), chance_generator(31, 0))
    luck = street_luck(HEADS_UP, ends, equities)
    for street in (1, 2, 3):
        error = luck[:, street].std() / np.sqrt(n)
        assert error > 0
        assert abs(luck[:, street].mean()) < 3.5 * error


def test_correction_leaves_the_mean_and_takes_the_variance():
    n = 3_000
    plan = plan_match(("rulebot", "always_call"), [n], 32, block=n)
    score = score_block(plan, 0, play_block(plan, 0).ends, 1.0, (0.0, 0.0), (0, 0))
    luck, raw = score.luck_sb, score.raw_sb
    assert abs(luck.mean()) < 3.5 * luck.std() / np.sqrt(n)
    assert raw.var() / (raw - luck).var() > 2.0


def test_where_cards_decide_nothing_the_correction_is_nothing():
    for bots, worth in ((("always_raise", "always_fold"), 0.75), (("always_call", "always_raise"), 0.0)):
        plan = plan_match(bots, [50], 3, block=50)
        score = score_block(plan, 0, play_block(plan, 0).ends, 1.0, (0.0, 0.0), (0, 0))
        assert score.raw_sb == pytest.approx(np.full(50, worth))
        assert score.luck_sb == pytest.approx(np.zeros(50), abs=1e-12)
