from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardbot.errors import IllegalAction, NotationError, RulesError
from hardbot.game.betting import NOBODY, Betting, first_betting, net_chips, parse_betting
from hardbot.game.rules import CALL, FOLD, HEADS_UP, HEADS_UP_IRC, PRESETS, RAISE, Rules, preset, ring

STEADY = settings(derandomize=True, deadline=None)


@st.composite
def bettings(draw: st.DrawFn) -> Betting:
    """Any position of any preset."""
    betting = first_betting(preset(draw(st.sampled_from(PRESETS))))
    for choice in draw(st.lists(st.sampled_from("fccrr"), max_size=60)):
        if betting.is_over:
            break
        action = "fcr".index(choice)
        betting = betting.after(action if action in betting.legal else CALL)
    return betting


def test_blinds_are_in_and_the_button_faces_half_a_bet_heads_up():
    betting = first_betting(HEADS_UP)
    assert (betting.seat, betting.to_call, betting.pot, betting.raises) == (1, 5, 15, 0)
    assert betting.legal == (FOLD, CALL, RAISE)
    assert betting.bets_to_call == 1


def test_big_blind_may_check_or_raise_after_a_limp():
    betting = parse_betting(HEADS_UP, "c")
    assert (betting.seat, betting.legal, betting.to_call) == (0, (CALL, RAISE), 0)


@pytest.mark.parametrize(("street", "line"), [(0, ""), (1, "cc/"), (2, "cc/cc/"), (3, "cc/cc/cc/")])
def test_fourth_bet_closes_raising(street, line):
    n_raises = 3 if street == 0 else 4
    before, after = parse_betting(HEADS_UP, line + "r" * (n_raises - 1)), parse_betting(HEADS_UP, line + "r" * n_raises)
    assert before.legal == (FOLD, CALL, RAISE)
    assert after.legal == (FOLD, CALL)
    with pytest.raises(IllegalAction, match=rf"expected 'f' or 'c', got 'r' in <heads-up '{line}{'r' * n_raises}'>"):
        after.after(RAISE)


def test_fifth_bet_closes_raising_under_the_five_bet_cap():
    assert parse_betting(ring(2, five_bets=True), "rrr").legal == (FOLD, CALL, RAISE)
    assert parse_betting(ring(2, five_bets=True), "rrrr").legal == (FOLD, CALL)
    assert parse_betting(ring(6, five_bets=True), "cccccc/rrrrr").legal == (FOLD, CALL)


def test_known_heads_up_line_costs_what_it_should():
    betting = parse_betting(HEADS_UP, "rrc/crrc/rc/crf")
    # preflop 30 each, flop 20 more, turn 20 more; the river bet of 20 by seat 1 is not called
    assert betting.contributions == (70, 90)
    assert (betting.is_over, betting.is_showdown, betting.live) == (True, False, (False, True))
    assert betting.aggressor == 1
    assert net_chips(betting, (0, 0)) == (-70, 70)


def test_known_irc_line_starts_with_the_small_blind():
    betting = parse_betting(HEADS_UP_IRC, "crc/")
    assert betting.contributions == (20, 20)
    assert betting.seat == 0


def test_known_ring_line_skips_the_folded_and_returns_to_the_blinds():
    rules = ring(6)
    betting = parse_betting(rules, "fcrf")
    assert (betting.seat, betting.to_call) == (0, 15)
    betting = parse_betting(rules, "fcrffrcc/")  # big blind makes it three bets, both others call
    assert betting.live == (False, True, False, True, True, False)
    assert betting.contributions == (5, 30, 0, 30, 30, 0)
    assert (betting.street, betting.seat, betting.pot) == (1, 1, 95)


def test_everybody_gets_a_turn_after_a_raise_but_the_raiser():
    betting = parse_betting(ring(4), "cccr")
    order = []
    while betting.street == 0:
        order.append(betting.seat)
        betting = betting.after(CALL)
    assert order == [2, 3, 0]


def test_all_folding_gives_the_big_blind_the_small_one():
    betting = parse_betting(ring(4), "fff")
    assert betting.is_over
    assert net_chips(betting, (0,) * 4) == (-5, 5, 0, 0)


def test_after_the_end_nothing_is_legal():
    betting = parse_betting(HEADS_UP, "f")
    assert (betting.legal, betting.seat, betting.to_call) == ((), NOBODY, 0)
    with pytest.raises(IllegalAction, match="expected no more actions, the hand is over, got 'c'"):
        betting.after(CALL)


def test_folding_for_free_is_illegal():
    with pytest.raises(IllegalAction, match="expected 'c' or 'r', got 'f'"):
        parse_betting(HEADS_UP, "c").after(FOLD)


@pytest.mark.parametrize("action", [-1, 3, 7])
def test_unknown_action_number_is_illegal(action):
    with pytest.raises(IllegalAction, match=f"got {action}"):
        first_betting(HEADS_UP).after(action)


@STEADY
@given(bettings())
def test_replaying_the_text_gives_the_same_position(betting):
    again = parse_betting(betting.rules, betting.text)
    for name in ("street", "seat", "raises", "contributions", "live", "to_call", "pot", "legal", "text", "aggressor"):
        assert getattr(again, name) == getattr(betting, name)
    assert parse_betting(betting.rules, betting.text.rstrip("/")).text == betting.text


@STEADY
@given(bettings())
def test_position_keeps_its_own_books(betting):
    assert betting.pot == sum(betting.contributions)
    assert betting.n_live == sum(betting.live)
    assert betting.street == betting.text.count("/")
    assert betting.raises == betting.street_text.count("r") <= betting.rules.max_raises[betting.street]
    assert betting.is_over == (betting.seat == NOBODY) == (not betting.legal)
    assert (FOLD in betting.legal) == (betting.to_call > 0)
    if not betting.is_over:
        assert betting.live[betting.seat]
        assert betting.to_call == max(betting.contributions) - betting.contributions[betting.seat]
    elif betting.is_showdown:
        assert len({chips for chips, live in zip(betting.contributions, betting.live, strict=True) if live}) == 1


@STEADY
@given(bettings(), st.lists(st.integers(1, 7462), min_size=10, max_size=10))
def test_payoffs_sum_to_zero_and_the_folded_lose_their_chips(betting, ranks):
    while not betting.is_over:
        betting = betting.after(CALL)
    net = net_chips(betting, ranks[: betting.rules.n_seats])
    assert sum(net) == 0
    for chips, paid, live in zip(net, betting.contributions, betting.live, strict=True):
        assert chips >= -paid if live else chips == -paid


@pytest.mark.parametrize(
    ("rules", "line", "ranks", "net"),
    [
        (HEADS_UP, "cc/cc/cc/cc", (7, 7), (0, 0)),
        (HEADS_UP, "cc/cc/cc/rc", (7, 8), (-30, 30)),
        # the small blind folded: 25 chips for two, the odd one to the first left of the button
        (ring(3), "cfc/cc/cc/cc", (9, 5, 5), (-5, 3, 2)),
        # 40 chips for three: 14, 13, 13
        (ring(4), "cccc/cccc/cccc/cccc", (6, 6, 6, 1), (4, 3, 3, -10)),
        (ring(4), "cccc/cccc/cccc/cccc", (1, 6, 6, 6), (-10, 4, 3, 3)),
        # two fold to a bet on the flop, three split 80: the two odd chips go to seats 0 and 1
        (ring(5), "ccccc/crfcfc/ccc/ccc", (6, 6, 9, 6, 9), (7, 7, -10, 6, -10)),
    ],
    ids=["split", "bet won", "odd chip", "three-way", "three-way off the small blind", "two odd chips"],
)
def test_pots_split_by_the_usual_rule(rules, line, ranks, net):
    assert net_chips(parse_betting(rules, line), ranks) == net


def test_hand_in_play_has_no_payoffs():
    with pytest.raises(RulesError, match="expected a finished hand, got <heads-up 'c'>"):
        net_chips(parse_betting(HEADS_UP, "c"), (1, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", r"expected one of 'fcr/' at 0 of betting 'x', got 'x'"),
        ("cC", r"expected one of 'fcr/' at 1"),
        ("/", r"expected a street to end before '/' at 0"),
        ("c/", r"expected a street to end before '/' at 1"),
        ("ccc", r"expected '/' at 2 of betting 'ccc', got 'c'"),
        ("cc//", r"expected a street to end before '/' at 3"),
        ("f/", r"expected a street to end before '/' at 1"),
        ("cc/cc/cc/cc/", r"expected a street to end before '/' at 11"),
        ("r20c", r"at 1 of betting"),
    ],
)
def test_malformed_betting_is_refused_with_place_and_expectation(text, message):
    with pytest.raises(NotationError, match=message):
        parse_betting(HEADS_UP, text)


@pytest.mark.parametrize("text", ["rrrr", "cf", "ff", "cc/f", "cc/cc/cc/ccc", "fc"])
def test_betting_against_the_rules_is_illegal(text):
    with pytest.raises(IllegalAction, match="expected"):
        parse_betting(HEADS_UP, text)


def test_heads_up_positions_are_shared():
    assert parse_betting(HEADS_UP, "rrc/cr") is parse_betting(HEADS_UP, "rrc/cr")


def test_positions_of_a_ring_do_not_pile_up_in_their_parents():
    root = first_betting(ring(3))
    root.after(CALL)
    assert root.children == [None, None, None]


def test_own_blinds_and_bets_can_be_data():
    rules = Rules(
        "big", blinds=(0, 25, 50), first_seat=(0, 1, 1, 1), bet_sizes=(50, 50, 100, 100), max_raises=(1, 1, 1, 1)
    )
    betting = parse_betting(rules, "rcc/rff")
    assert betting.contributions == (100, 150, 100)
    assert parse_betting(rules, "r").legal == (FOLD, CALL)
