"""The calls a table makes, in their order, and what a bot may see."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardbot.arena.deals import deal_block
from hardbot.arena.heads_up import end_nets
from hardbot.arena.match import play_match
from hardbot.arena.ring import play_ring
from hardbot.arena.table import Stopwatch, play_hand, seat_player
from hardbot.bots.base import Bot
from hardbot.bots.registry import create_bot
from hardbot.bots.simple import AlwaysCall, AlwaysFold, AlwaysRaise
from hardbot.errors import ArenaError
from hardbot.game.betting import net_chips
from hardbot.game.cards import parse_cards, parse_hole
from hardbot.game.hand import Deal
from hardbot.game.notation import format_view
from hardbot.game.rules import BOARD_SIZES, CALL, FOLD, HEADS_UP, RAISE, ring
from hardbot.game.tree import betting_tree

DEAL = Deal((parse_hole("AhAd"), parse_hole("KcKs")), parse_cards("2c7d9hJsQd"))


class Diary(Bot):
    """Writes down every call and what was in sight."""

    name = "diary"

    def __init__(self, action=CALL):
        self.action = action
        self.calls = []

    def _note(self, kind, view, *details):
        assert len(view.board) == BOARD_SIZES[view.betting.street]
        self.calls.append((kind, format_view(view), *details))

    def new_hand(self, view):
        self._note("new", view)

    def observe(self, view, before, action):
        assert before.after(action) is view.betting or before.after(action).text == view.betting.text
        self._note("observe", view, before.seat, action)

    def act(self, view, rng):
        self._note("act", view)
        return self.action if self.action in view.betting.legal else CALL

    def end_hand(self, view, result):
        self._note("end", view, result.net_chips, result.holes)


class Clumsy(AlwaysCall):
    """Takes an illegal action, or fails, on the river."""

    name = "clumsy"

    def __init__(self, action=FOLD, fails_in="act"):
        self.action = action
        self.fails_in = fails_in

    def act(self, view, rng):
        if view.street == 3 and self.fails_in == "act":
            return self.action
        return CALL

    def observe(self, view, before, action):
        if self.fails_in == "observe" and view.street == 3:
            {}["no such key"]

    def end_hand(self, view, result):
        if self.fails_in == "end_hand":
            raise ZeroDivisionError("by zero")


def seated(*bots):
    return [seat_player(bot, f"p{i}", np.random.default_rng(i)) for i, bot in enumerate(bots)]


def test_calls_come_in_the_order_of_the_protocol():
    first, second = Diary(), Diary(RAISE)
    result = play_hand(HEADS_UP, DEAL, seated(first, second), hand_number=7)
    assert result.betting.text == "rc/crc/crc/crc"
    assert result.net_chips == (70, -70)
    assert [call[0] for call in first.calls] == ["new"] + ["observe", "act", "observe"] + [
        kind for _ in range(3) for kind in ("act", "observe", "observe", "act", "observe")
    ] + ["end"]
    assert first.calls[0] == ("new", "MATCHSTATE:0:7::AhAd|")
    assert first.calls[1] == ("observe", "MATCHSTATE:0:7:r:AhAd|", 1, RAISE)
    assert first.calls[3] == ("observe", "MATCHSTATE:0:7:rc/:AhAd|/2c7d9h", 0, CALL)
    assert second.calls[-1][2:] == ((70, -70), DEAL.holes)


def test_a_fold_shows_no_cards():
    diary = Diary()
    result = play_hand(HEADS_UP, DEAL, seated(diary, AlwaysFold()))
    assert result.betting.text == "f"
    assert result.holes == (None, None)
    assert result.net_chips == (5, -5)
    assert diary.calls[-1][2:] == ((5, -5), (None, None))


def test_folded_hands_stay_hidden_at_a_showdown_of_others():
    deal = Deal((*DEAL.holes, parse_hole("3c3d")), DEAL.board)
    result = play_hand(ring(3), deal, seated(AlwaysFold(), AlwaysCall(), AlwaysRaise()))
    assert result.holes[0] is None
    assert result.holes[1:] == deal.holes[1:]
    assert sum(result.net_chips) == 0


def test_the_fast_loop_makes_the_same_calls_as_the_general_one():
    fast, general = [], []

    def spy(store, action):
        def make():
            diary = Diary(action)
            store.append(diary)
            return diary

        return make

    play_match(spy(fast, CALL), spy(fast, RAISE), 40, seed=3, compiled=False)
    play_ring([spy(general, CALL), spy(general, RAISE)], 40, seed=3)
    lines = [[diary.calls for diary in store if diary.calls] for store in (fast, general)]
    assert len(lines[0]) == 4
    assert lines[0] == lines[1]


def test_end_nets_agree_with_the_rules_payoffs_at_all_10206_ends():
    tree, nets = betting_tree(HEADS_UP), end_nets(HEADS_UP)
    assert len(tree.nodes) - tree.n_decisions == 10_206
    for node in tree.nodes[tree.n_decisions :]:
        assert nets[node.index].tolist() == [net_chips(node, ranks)[0] for ranks in ((0, 1), (0, 0), (1, 0))]


def play_with_good_ones(table, clumsy):
    if table == "match":
        play_match("always_call", clumsy, 5, seed=4, names=("good", "bad"))
    else:
        play_ring(["always_call", "always_call", clumsy], 5, seed=4, names=("good", "other", "bad"))


@pytest.mark.parametrize("action", [FOLD, 3, -1, None, "c"], ids=repr)
@pytest.mark.parametrize("table", ["match", "ring"])
def test_an_illegal_action_fails_with_bot_seed_block_hand_and_state(action, table):
    def clumsy():
        return Clumsy(action)

    with pytest.raises(ArenaError) as caught:
        play_with_good_ones(table, clumsy)
    message = str(caught.value)
    assert "expected 1 (call) or 2 (raise) from bad, got " + repr(action) in message
    assert "MATCHSTATE:" in message
    assert "(seed 4, block 0)" in message


@pytest.mark.parametrize(("fails_in", "text"), [("observe", "KeyError"), ("end_hand", "ZeroDivisionError: by zero")])
@pytest.mark.parametrize("table", ["match", "ring"])
def test_a_bot_whose_code_fails_is_named_with_the_hand(fails_in, text, table):
    def clumsy():
        return Clumsy(fails_in=fails_in)

    with pytest.raises(ArenaError) as caught:
        play_with_good_ones(table, clumsy)
    assert f"from bad, got {text}" in str(caught.value)
    assert "MATCHSTATE:" in str(caught.value)
    assert "block 0" in str(caught.value)
    assert caught.value.__cause__ is not None


def test_calls_a_bot_does_not_define_are_skipped():
    player = seat_player(AlwaysCall(), "x", np.random.default_rng(0), timed=True)
    assert player.new_hand is None
    assert player.observe is None
    assert player.end_hand is None
    assert isinstance(player.act, Stopwatch)


class Brooder(AlwaysCall):
    """Thinks after the hand."""

    name = "brooder"

    def end_hand(self, view, result):
        time.sleep(0.02)


def test_learning_between_hands_counts_in_the_decision_time():
    player = seat_player(Brooder(), "x", np.random.default_rng(0), timed=True)
    other = seat_player(AlwaysCall(), "y", np.random.default_rng(0), timed=True)
    play_hand(HEADS_UP, DEAL, [player, other])
    assert player.act.n_decisions == 4
    assert player.act.seconds > 0.02 > other.act.seconds


class Script(Bot):
    """Plays a list of wishes, then calls; remembers what the other did."""

    name = "script"

    def __init__(self, wishes):
        self.wishes = list(wishes)

    def act(self, view, rng):
        wish = self.wishes.pop(0) if self.wishes else CALL
        return wish if wish in view.betting.legal and wish != FOLD else CALL


@pytest.mark.parametrize("spec", ["always_raise", "random", "rulebot"])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_no_action_depends_on_hidden_cards(spec, data):
    seed = data.draw(st.integers(0, 10_000), label="seed")
    wishes = data.draw(st.lists(st.sampled_from([CALL, RAISE]), max_size=10), label="wishes")
    seat = data.draw(st.sampled_from([0, 1]), label="seat")
    deal = deal_block(2, 1, seed, 0).deal(0)
    used = {card for hole in deal.holes for card in hole} | set(deal.board)
    free = [card for card in range(52) if card not in used]
    lines = []
    for hidden in (deal.holes[1 - seat], (free[seed % len(free)], free[(seed + 7) % len(free)])):
        holes = (deal.holes[0], hidden) if seat == 0 else (hidden, deal.holes[1])
        bots = [create_bot(spec), Script(wishes)] if seat == 0 else [Script(wishes), create_bot(spec)]
        lines.append(play_hand(HEADS_UP, Deal(holes, deal.board), seated(*bots)).betting.text)
    assert lines[0] == lines[1]
