from __future__ import annotations

import pytest

from hardbot.errors import RulesError
from hardbot.game.betting import first_betting, parse_betting
from hardbot.game.rules import HEADS_UP, HEADS_UP_IRC, PRESETS, RAISE, Rules, preset, ring


def preflop_order(rules: Rules) -> list[int]:
    betting, order = first_betting(rules), []
    while betting.street == 0:
        order.append(betting.seat)
        betting = betting.after(1)
    return order


def flop_order(rules: Rules) -> list[int]:
    betting, order = parse_betting(rules, "c" * rules.n_seats), []
    while betting.street == 1:
        order.append(betting.seat)
        betting = betting.after(1)
    return order


def test_competition_heads_up_posts_reverse_blinds():
    assert HEADS_UP.blinds == (10, 5)
    assert HEADS_UP.is_reverse
    assert HEADS_UP.button == 1
    assert (preflop_order(HEADS_UP), flop_order(HEADS_UP)) == ([1, 0], [0, 1])


def test_irc_heads_up_lets_the_small_blind_act_first_on_every_street():
    assert HEADS_UP_IRC.blinds == (5, 10)
    assert not HEADS_UP_IRC.is_reverse
    assert (preflop_order(HEADS_UP_IRC), flop_order(HEADS_UP_IRC)) == ([0, 1], [0, 1])


@pytest.mark.parametrize("n_seats", range(3, 11))
def test_ring_opens_left_of_the_big_blind_and_later_left_of_the_button(n_seats):
    rules = ring(n_seats)
    assert rules.blinds == (5, 10) + (0,) * (n_seats - 2)
    assert rules.button == n_seats - 1
    assert preflop_order(rules) == [*range(2, n_seats), 0, 1]
    assert flop_order(rules) == list(range(n_seats))


@pytest.mark.parametrize("name", PRESETS)
def test_preset_has_its_name_and_its_cap(name):
    rules = preset(name)
    assert rules.name == name
    assert rules.max_raises == ((4, 5, 5, 5) if name.endswith("five-bets") else (3, 4, 4, 4))
    assert rules.bet_sizes == (10, 10, 20, 20)
    betting, bets = first_betting(rules), 0
    while RAISE in betting.legal:
        betting, bets = betting.after(RAISE), bets + 1
    assert max(betting.contributions) == 10 * (1 + bets)
    assert 1 + bets == (5 if name.endswith("five-bets") else 4)


def test_there_are_presets_for_two_to_ten_seats():
    assert {preset(name).n_seats for name in PRESETS} == set(range(2, 11))
    assert len(PRESETS) == 19


def test_uncapped_table_never_closes_raising():
    betting = parse_betting(HEADS_UP_IRC.uncapped(), "r" * 48)
    assert RAISE in betting.legal
    assert betting.contributions == (480, 490)


def test_one_small_bet_is_the_first_bet_size():
    assert HEADS_UP.to_sb(25) == 2.5


@pytest.mark.parametrize("n_seats", [-1, 0, 1, 11])
def test_table_has_two_to_ten_seats(n_seats):
    with pytest.raises(RulesError, match=f"expected 2 to 10 seats, got {n_seats}"):
        ring(n_seats)


def test_unknown_preset_is_refused_with_the_known_ones():
    with pytest.raises(RulesError, match=r"expected one of heads-up, .*, got 'ring-11'"):
        preset("ring-11")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"blinds": (5,)}, "expected 2 to 10 seats, got 1"),
        ({"blinds": (0, 0)}, "one above 0"),
        ({"blinds": (-5, 10)}, "0 or more"),
        ({"first_seat": (2, 0, 0, 0)}, "expected first seats below 2"),
        ({"bet_sizes": (0, 10, 20, 20)}, "bet sizes above 0"),
        ({"max_raises": (-1, 4, 4, 4)}, "caps of 0 or more"),
    ],
    ids=["seats", "no blind", "negative blind", "first seat", "bet size", "cap"],
)
def test_impossible_table_is_refused(change, message):
    fields = {"name": "odd", "blinds": (10, 5), "first_seat": (1, 0, 0, 0)} | change
    with pytest.raises(RulesError, match=message):
        Rules(**fields)
