from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardbot.errors import NotationError
from hardbot.game.betting import Betting, first_betting, net_chips
from hardbot.game.cards import CARD_TEXT, parse_cards, parse_hole
from hardbot.game.evaluator import evaluate
from hardbot.game.hand import Deal, Hand
from hardbot.game.notation import (
    LogHand,
    format_log_hand,
    format_match_state,
    format_view,
    parse_log_hand,
    parse_match_state,
)
from hardbot.game.rules import CALL, HEADS_UP, PRESETS, Rules, preset, ring

T = TypeVar("T")
STEADY = settings(derandomize=True, deadline=None)
DEALER_LOG = Path(__file__).parents[2].parent / "shared" / "corpus" / "2p.limit.h1000.r0.log"


def draw_betting(draw: st.DrawFn, rules: Rules) -> Betting:
    betting = first_betting(rules)
    for action in draw(st.lists(st.sampled_from((0, 1, 1, 2)), max_size=50)):
        if not betting.is_over:
            betting = betting.after(action if action in betting.legal else CALL)
    return betting


def draw_cards(draw: st.DrawFn, n_seats: int, street: int) -> str:
    """A card field written by hand, some hole hands hidden."""
    deck = draw(st.permutations(CARD_TEXT))
    hidden = draw(st.lists(st.booleans(), min_size=n_seats, max_size=n_seats))
    holes = "|".join("" if hidden[i] else deck[2 * i] + deck[2 * i + 1] for i in range(n_seats))
    return holes + "".join(["/" + "".join(deck[-3:]), "/" + deck[-4], "/" + deck[-5]][:street])


@st.composite
def match_states(draw: st.DrawFn) -> tuple[Rules, str]:
    rules = preset(draw(st.sampled_from(PRESETS)))
    betting = draw_betting(draw, rules)
    cards = draw_cards(draw, rules.n_seats, betting.street)
    seat, number = draw(st.integers(0, rules.n_seats - 1)), draw(st.integers(0, 10**9))
    return rules, f"MATCHSTATE:{seat}:{number}:{betting.text}:{cards}"


@st.composite
def log_lines(draw: st.DrawFn) -> tuple[Rules, str]:
    rules = preset(draw(st.sampled_from(PRESETS)))
    betting = draw_betting(draw, rules)
    while not betting.is_over:
        betting = betting.after(CALL)
    cards = draw_cards(draw, rules.n_seats, betting.street)
    nets = [draw(st.integers(-(10**6), 10**6)) for _ in range(rules.n_seats)]
    decimals = [draw(st.sampled_from(["", "", ".5", ".333333", ".666667", ".25"])) for _ in nets]
    net = "|".join(f"{chips}{tail}" for chips, tail in zip(nets, decimals, strict=True))
    names = draw(
        st.lists(st.from_regex(r"[A-Za-z0-9_.-]{1,12}", fullmatch=True), min_size=len(nets), max_size=len(nets))
    )
    return rules, f"STATE:{draw(st.integers(0, 10**9))}:{betting.text}:{cards}:{net}:{'|'.join(names)}"


@STEADY
@given(match_states())
def test_parsing_then_formatting_a_match_state_is_the_identity(case):
    rules, text = case
    assert format_match_state(parse_match_state(text, rules)) == text


@STEADY
@given(log_lines())
def test_parsing_then_formatting_a_log_line_is_the_identity(case):
    rules, text = case
    assert format_log_hand(parse_log_hand(text, rules)) == text


EDITS = st.tuples(
    st.integers(0, 200), st.sampled_from(["cut", "insert", "replace"]), st.sampled_from("fcr/|:AKh2s 0-.x\u0663")
)


def edited(text: str, edit: tuple[int, str, str]) -> str:
    place, kind, char = edit
    place %= len(text)
    head, tail = text[:place], text[place:]
    return head + {"cut": tail[1:], "insert": char + tail, "replace": char + tail[1:]}[kind]


def parsed_or_refusal(parse: Callable[[str, Rules], T], text: str, rules: Rules) -> T | str:
    try:
        return parse(text, rules)
    except NotationError as error:
        return str(error)


@STEADY
@given(match_states(), st.lists(EDITS, min_size=1, max_size=3))
def test_damaged_match_state_is_refused_or_still_the_identity(case, edits):
    rules, text = case
    for edit in edits:
        text = edited(text, edit)
    state = parsed_or_refusal(parse_match_state, text, rules)
    if isinstance(state, str):
        assert "expected" in state
    else:
        assert format_match_state(state) == text.strip()


@STEADY
@given(log_lines(), st.lists(EDITS, min_size=1, max_size=3))
def test_damaged_log_line_is_refused_or_formats_to_an_equal_hand(case, edits):
    rules, text = case
    for edit in edits:
        text = edited(text, edit)
    hand = parsed_or_refusal(parse_log_hand, text, rules)
    if isinstance(hand, str):
        assert "expected" in hand
    else:
        again = parse_log_hand(format_log_hand(hand), rules)
        assert (again.hand_number, again.betting.text, again.holes, again.board, again.players) == (
            (hand.hand_number, hand.betting.text, hand.holes, hand.board, hand.players)
        )
        assert again.net_chips == pytest.approx(hand.net_chips, abs=1e-6)


def test_match_state_of_the_protocol_reads_as_it_should():
    state = parse_match_state("MATCHSTATE:1:30:rc/:|TdAs/2c8c3h\r\n", HEADS_UP)
    assert (state.seat, state.hand_number, state.betting.text) == (1, 30, "rc/")
    assert state.holes == (None, parse_hole("TdAs"))
    assert state.board == parse_cards("2c8c3h")
    assert state.betting.seat == 0


def test_match_state_becomes_the_view_it_was_written_from():
    deal = Deal((parse_hole("AhAd"), parse_hole("KhKd"), parse_hole("2c7d")), parse_cards("Ac9s5h3d8c"))
    hand = Hand(ring(3), deal, hand_number=12)
    for action in (1, 2, 1, 1, 1, 2):
        hand.apply(action)
    text = format_view(hand.view(2))
    assert text == "MATCHSTATE:2:12:crcc/cr:||2c7d/Ac9s5h"
    view = parse_match_state(text, ring(3)).view(("a", "b", "c"))
    assert (view.seat, view.hole, view.board, view.players) == (2, deal.holes[2], deal.board[:3], ("a", "b", "c"))
    assert view.betting.text == hand.betting.text
    assert view.betting.contributions == hand.betting.contributions


def test_view_needs_its_own_cards():
    with pytest.raises(NotationError, match="expected hole cards of seat 0"):
        parse_match_state("MATCHSTATE:0:0:c:|TdAs", HEADS_UP).view()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected 'MATCHSTATE:seat:hand:betting:cards', got ''"),
        ("STATE:0:0:c:AhAd|", "expected 'MATCHSTATE:seat:hand:betting:cards'"),
        ("MATCHSTATE:0:0:c", "expected 'MATCHSTATE:seat:hand:betting:cards'"),
        ("MATCHSTATE:0:0:c:AhAd|:r", "expected 'MATCHSTATE:seat:hand:betting:cards'"),
        ("MATCHSTATE:2:0:c:AhAd|", "expected a seat below 2, got 2"),
        ("MATCHSTATE:-1:0:c:AhAd|", "expected a seat"),
        ("MATCHSTATE:0:x:c:AhAd|", "expected a hand number"),
        ("MATCHSTATE:0:007:c:AhAd|", "expected a hand number"),
        ("MATCHSTATE:0:\u0663:c:AhAd|", "expected a hand number"),
        ("MATCHSTATE:0:" + "9" * 5000 + ":c:AhAd|", "expected a hand number"),
        ("MATCHSTATE:0:0:q:AhAd|", "expected one of 'fcr/' at 0"),
        ("MATCHSTATE:0:0:r20c/:AhAd|/2c3c4c", "expected one of 'fcr/' at 1"),
        ("MATCHSTATE:0:0:cc:AhAd|/2c3c4c", "expected betting 'cc/', got 'cc'"),
        ("MATCHSTATE:0:0:rrrr:AhAd|", "expected 'f' or 'c', got 'r'"),
        ("MATCHSTATE:0:0:c:AhAd", "expected 2 hole hands in 'AhAd', got 1"),
        ("MATCHSTATE:0:0:c:Ah|", "expected two hole cards"),
        ("MATCHSTATE:0:0:c:AhAx|", "expected a card such as 'Ah'"),
        ("MATCHSTATE:0:0:c:Ah Ad|", "expected cards without white space"),
        ("MATCHSTATE:0:0:c:AhAd|AhKs", "expected different cards, got Ah twice"),
        ("MATCHSTATE:0:0:c:AhAd|/2c3c4c", r"expected board cards \[\] for betting 'c', got \[3\]"),
        ("MATCHSTATE:0:0:cc/:AhAd|", r"expected board cards \[3\] for betting 'cc/', got \[\]"),
        ("MATCHSTATE:0:0:cc/:AhAd|/2c3cAd", "expected different cards, got Ad twice"),
    ],
    ids=lambda text: text[:40],
)
def test_malformed_match_state_names_what_was_expected(text, message):
    with pytest.raises(NotationError, match=message):
        parse_match_state(text, HEADS_UP)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SCORE:455|-455:p1|p2", "expected 'STATE:hand:betting:cards:net:players'"),
        ("STATE:0:f:AhAd|KhKd:5|-5", "expected 'STATE:hand:betting:cards:net:players'"),
        ("STATE:0:c:AhAd|KhKd:5|-5:p1|p2", "expected a finished hand, got betting 'c'"),
        ("STATE:0:f:AhAd|KhKd:5:p1|p2", "expected 2 nets and players"),
        ("STATE:0:f:AhAd|KhKd:5|-5:p1", "expected 2 nets and players"),
        ("STATE:0:f:AhAd|KhKd:5|-5:p1|", "expected 2 nets and players"),
        ("STATE:0:f:AhAd|KhKd:five|-5:p1|p2", "expected a net in chips such as -20, got 'five'"),
        ("STATE:0:f:AhAd|KhKd:nan|-5:p1|p2", "expected a net in chips"),
        ("STATE:0:f:AhAd|KhKd/2c3c4c:5|-5:p1|p2", r"expected board cards \[\] for betting 'f'"),
        ("STATE:0:ff:AhAd|KhKd:5|-5:p1|p2", "expected no more actions, the hand is over"),
    ],
    ids=lambda text: text[:40],
)
def test_malformed_log_line_names_what_was_expected(text, message):
    with pytest.raises(NotationError, match=message):
        parse_log_hand(text, HEADS_UP)


def test_time_stamp_after_a_log_line_is_dropped():
    line = "STATE:0:f:AhAd|KhKd:5|-5:p1|p2"
    assert format_log_hand(parse_log_hand(line + " # 1301000000.123\n", HEADS_UP)) == line


def test_shares_of_a_chip_keep_six_decimals():
    hand = parse_log_hand("STATE:0:f:AhAd|KhKd:5|-5:p1|p2", HEADS_UP)
    thirds = LogHand(1, hand.betting, hand.holes, hand.board, (20 / 3, -20 / 3), hand.players)
    assert format_log_hand(thirds).split(":")[4] == "6.666667|-6.666667"
    large = LogHand(1, hand.betting, hand.holes, hand.board, (12345678, -0.0), hand.players)
    assert format_log_hand(large).split(":")[4] == "12345678|0"


@pytest.mark.skipif(not DEALER_LOG.exists(), reason="the shared corpus is not here")
def test_real_dealer_log_replays_to_its_own_nets():
    lines = [line for line in DEALER_LOG.read_text().splitlines() if line.startswith("STATE:")]
    assert len(lines) == 1000
    total: dict[str, float] = {}
    for line in lines:
        hand = parse_log_hand(line, HEADS_UP)
        assert format_log_hand(hand) == line
        ranks = [0, 0]
        if hand.betting.is_showdown:
            ranks = [evaluate((*hole, *hand.board)) for hole in hand.holes if hole is not None]
        assert net_chips(hand.betting, ranks) == hand.net_chips
        for name, chips in zip(hand.players, hand.net_chips, strict=True):
            total[name] = total.get(name, 0) + chips
    assert total == {"p1": 455, "p2": -455}
