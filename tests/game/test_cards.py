from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardbot.errors import CardError
from hardbot.game.cards import (
    CARD_TEXT,
    CLASS_TEXT,
    HOLE_CARDS,
    HOLE_CLASS,
    N_CARDS,
    N_HOLES,
    check_distinct,
    compatible_holes,
    format_cards,
    format_hole,
    hole_class,
    hole_index,
    parse_board,
    parse_card,
    parse_cards,
    parse_hole,
)

STEADY = settings(derandomize=True, deadline=None)
HANDS = st.lists(st.integers(0, N_CARDS - 1), unique=True, max_size=9)


def test_card_numbers_are_four_times_rank_plus_suit():
    assert (parse_card("2c"), parse_card("2s"), parse_card("3c"), parse_card("As")) == (0, 3, 4, 51)
    assert [parse_card(text) for text in CARD_TEXT] == list(range(N_CARDS))


@STEADY
@given(HANDS)
def test_parsing_formatted_cards_is_the_identity(cards):
    text = format_cards(cards)
    assert parse_cards(text) == tuple(cards)
    assert format_cards(parse_cards(text)) == text


def test_hole_index_numbers_every_hand_once_in_either_order():
    seen = [hole_index(int(a), int(b)) for a, b in HOLE_CARDS]
    assert seen == list(range(N_HOLES))
    assert [hole_index(int(b), int(a)) for a, b in HOLE_CARDS] == seen
    assert (HOLE_CARDS[:, 0] > HOLE_CARDS[:, 1]).all()


@pytest.mark.parametrize(
    ("text", "name", "cell"),
    [("AhAd", "AA", 0), ("KsAs", "AKs", 1), ("AsKh", "AKo", 13), ("2c2d", "22", 168), ("9hTd", "T9o", 13 * 5 + 4)],
    ids=str,
)
def test_starting_hands_have_their_cell_of_the_square(text, name, cell):
    assert hole_class(*parse_hole(text)) == cell
    assert CLASS_TEXT[cell] == name


def test_classes_hold_six_pairs_four_suited_and_twelve_offsuit_hands():
    sizes = np.bincount(HOLE_CLASS, minlength=169)
    wanted = [6 if len(name) == 2 else 4 if name.endswith("s") else 12 for name in CLASS_TEXT]
    assert sizes.tolist() == wanted
    assert len(set(CLASS_TEXT)) == 169


@STEADY
@given(st.sets(st.integers(0, N_CARDS - 1), max_size=7))
def test_compatible_holes_are_those_without_a_dead_card(dead):
    mask = compatible_holes(dead)
    n = N_CARDS - len(dead)
    assert mask.sum() == n * (n - 1) // 2
    assert all((int(a) in dead or int(b) in dead) != ok for (a, b), ok in zip(HOLE_CARDS, mask, strict=True))


def test_format_hole_puts_the_higher_card_first():
    assert format_hole(hole_index(*parse_hole("2cAh"))) == "Ah2c"


@pytest.mark.parametrize("text", ["", "A", "1h", "ah", "AH", "Ahh", "10h", "Ax", "??"])
def test_unknown_card_is_refused_with_what_was_expected(text):
    with pytest.raises(CardError, match="expected a card such as 'Ah'"):
        parse_card(text)


def test_duplicate_card_is_refused_by_name():
    with pytest.raises(CardError, match="got Ah twice in 'AhKdAh'"):
        parse_cards("AhKdAh")


@pytest.mark.parametrize("text", ["AhK", "Ah K"])
def test_odd_number_of_characters_is_refused(text):
    with pytest.raises(CardError, match="two characters each"):
        parse_cards(text)


@pytest.mark.parametrize("text", ["", "Ah", "AhKdQc"])
def test_hole_hand_has_two_cards(text):
    with pytest.raises(CardError, match="expected two hole cards"):
        parse_hole(text)


def test_board_takes_slashes_and_refuses_other_lengths():
    assert parse_board("Jh4c3h/2d/As") == parse_cards("Jh4c3h2dAs")
    with pytest.raises(CardError, match="expected a board of 3 or 4 or 5 cards, got 2"):
        parse_board("Jh4c", sizes=(3, 4, 5))
    with pytest.raises(CardError, match="got 6"):
        parse_board("Jh4c3h2dAsKs")


@pytest.mark.parametrize("card", [-1, 52, 400])
def test_number_outside_of_the_deck_is_no_card(card):
    with pytest.raises(CardError, match=f"expected card numbers from 0 to 51, got {card}"):
        check_distinct([0, card])
