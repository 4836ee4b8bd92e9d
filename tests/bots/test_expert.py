"""The expert chooser: plain situations have plain answers, and no answer is ever illegal."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardbot.bots.expert import RULES, Situation, choose
from hardbot.game.rules import CALL, FOLD, RAISE

UNBET = Situation(
    street=1,
    pot_sb=4.0,
    to_call_sb=0.0,
    bet_sb=1.0,
    later_bets_sb=4.0,
    raises=0,
    may_raise=True,
    in_position=True,
    hs=0.5,
    ppot=0.1,
    npot=0.1,
    p_win=0.5,
    p_win_called=0.45,
    p_fold=0.2,
    p_reraise=0.1,
    p_bet_if_checked=0.0,
)
FACING = replace(UNBET, to_call_sb=1.0, pot_sb=5.0, raises=1)
share = st.floats(0.0, 1.0)
situations = st.builds(
    Situation,
    street=st.integers(0, 3),
    pot_sb=st.floats(1.5, 48.0),
    to_call_sb=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    bet_sb=st.sampled_from([1.0, 2.0]),
    later_bets_sb=st.sampled_from([5.0, 4.0, 2.0, 0.0]),
    raises=st.integers(0, 4),
    may_raise=st.booleans(),
    in_position=st.booleans(),
    hs=share,
    ppot=share,
    npot=share,
    p_win=share,
    p_win_called=share,
    p_fold=share,
    p_reraise=share,
    p_bet_if_checked=share,
)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(situations)
def test_answer_is_a_distribution_over_legal_actions(situation):
    choice = choose(situation)
    assert sum(choice.triple) == pytest.approx(1.0)
    assert min(choice.triple) >= 0.0
    if not situation.may_raise:
        assert choice.triple[RAISE] == 0.0
    if situation.to_call_sb <= 0.0:
        assert choice.triple[FOLD] == 0.0
    assert sum(part for _, part in choice.shares) == pytest.approx(1.0)
    assert choice.rule == max(choice.shares, key=lambda item: item[1])[0]


def test_strong_hand_bets_for_value():
    choice = choose(replace(UNBET, hs=0.9, p_win=0.85, p_win_called=0.8))
    assert (choice.rule, choice.triple[RAISE]) == ("value bet", pytest.approx(1.0))


def test_strong_hand_out_of_position_sometimes_lets_an_aggressive_opponent_bet():
    choice = choose(replace(UNBET, p_win=0.85, in_position=False, p_bet_if_checked=0.9))
    assert dict(choice.shares)["check-raise"] == pytest.approx(0.4)
    assert choice.triple[CALL] == pytest.approx(0.4)


def test_strong_hand_raises_a_bet_and_calls_at_the_cap():
    strong = replace(FACING, hs=0.95, p_win=0.9, p_win_called=0.88)
    assert choose(strong).rule == "value raise"
    capped = choose(replace(strong, may_raise=False, raises=4))
    assert capped.triple == (0.0, 1.0, 0.0)


def test_weak_hand_bluffs_only_when_the_opponent_folds_enough():
    weak = replace(UNBET, street=3, hs=0.1, ppot=0.0, p_win=0.1, p_win_called=0.02, later_bets_sb=0.0)
    assert choose(replace(weak, p_fold=0.6)).rule == "bluff"
    assert choose(replace(weak, p_fold=0.1)).triple[RAISE] == 0.0


def test_draw_calls_with_odds_and_hopeless_hand_folds():
    draw = replace(FACING, hs=0.1, ppot=0.35, p_win=0.38, p_win_called=0.35, p_fold=0.0)
    assert choose(draw).triple[FOLD] == 0.0
    hopeless = replace(FACING, street=3, hs=0.02, ppot=0.0, p_win=0.02, p_win_called=0.0, p_fold=0.0, later_bets_sb=0.0)
    assert choose(hopeless).rule == "fold"


def test_river_call_needs_the_pot_odds():
    river = replace(FACING, street=3, ppot=0.0, p_fold=0.0, later_bets_sb=0.0)
    odds = river.pot_odds
    assert choose(replace(river, hs=odds + 0.01, p_win=odds + 0.01)).triple[CALL] == pytest.approx(1.0)
    assert choose(replace(river, hs=odds - 0.01, p_win=odds - 0.01)).triple[FOLD] == pytest.approx(1.0)


def test_semi_bluff_counts_folds_and_outs_together():
    draw = replace(UNBET, hs=0.2, ppot=0.35, p_win=0.4, p_win_called=0.38)
    assert dict(choose(replace(draw, p_fold=0.5)).shares).get("semi-bluff", 0.0) == pytest.approx(0.8)
    assert "semi-bluff" not in dict(choose(replace(draw, p_fold=0.0)).shares)


def test_rules_go_from_the_boldest_to_the_meekest():
    names = [rule.name for rule in RULES]
    assert names == [
        *("value raise", "check-raise", "value bet", "semi-bluff", "bluff"),
        *("call with odds", "showdown call", "check", "fold"),
    ]
