"""The protocol without sockets: the published examples, answers good and bad, and a bot that is spoken to in lines."""

from __future__ import annotations

import re

import pytest

from hardbot.bots.base import Bot
from hardbot.errors import ArenaError, ProtocolError
from hardbot.game.betting import parse_betting
from hardbot.game.cards import parse_hole
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE, ring
from hardbot.live.protocol import ProtocolPlayer, check_version, read_answer
from hardbot.live.warm import warm_up

# Messages of the protocol specification 2.0.0 (October 2010), heads-up limit, hands 0 and 1, and ring limit, hand 90.
HEADS_UP_LINES = [
    ("MATCHSTATE:0:0::TdAs|", ""),
    ("MATCHSTATE:0:0:r:TdAs|", "r"),
    ("MATCHSTATE:0:0:rr:TdAs|", ""),
    ("MATCHSTATE:0:0:rrc/:TdAs|/2c8c3h", "r"),
    ("MATCHSTATE:0:0:rrc/r:TdAs|/2c8c3h", ""),
    ("MATCHSTATE:0:0:rrc/rc/:TdAs|/2c8c3h/9c", "c"),
    ("MATCHSTATE:0:0:rrc/rc/c:TdAs|/2c8c3h/9c", ""),
    ("MATCHSTATE:0:0:rrc/rc/cr:TdAs|/2c8c3h/9c", "c"),
    ("MATCHSTATE:0:0:rrc/rc/crc/:TdAs|/2c8c3h/9c/Kh", "c"),
    ("MATCHSTATE:0:0:rrc/rc/crc/c:TdAs|/2c8c3h/9c/Kh", ""),
    ("MATCHSTATE:0:0:rrc/rc/crc/cr:TdAs|/2c8c3h/9c/Kh", "c"),
    ("MATCHSTATE:0:0:rrc/rc/crc/crc:TdAs|8hTc/2c8c3h/9c/Kh", ""),
    ("MATCHSTATE:1:1::|Qd7c", "r"),
    ("MATCHSTATE:1:1:r:|Qd7c", ""),
    ("MATCHSTATE:1:1:rr:|Qd7c", "c"),
    ("MATCHSTATE:1:1:rrc/:|Qd7c/2h8h5c", ""),
    ("MATCHSTATE:1:1:rrc/r:|Qd7c/2h8h5c", "c"),
    ("MATCHSTATE:1:1:rrc/rc/:|Qd7c/2h8h5c/Th", ""),
    ("MATCHSTATE:1:1:rrc/rc/r:|Qd7c/2h8h5c/Th", "f"),
    ("MATCHSTATE:1:1:rrc/rc/rf:|Qd7c/2h8h5c/Th", ""),
]
RING_LINES = [
    ("MATCHSTATE:0:90::Ad6h||", ""),
    ("MATCHSTATE:0:90:c:Ad6h||", "r"),
    ("MATCHSTATE:0:90:cr:Ad6h||", ""),
    ("MATCHSTATE:0:90:crf:Ad6h||", ""),
    ("MATCHSTATE:0:90:crfc/:Ad6h||/TsKd7h", "r"),
    ("MATCHSTATE:0:90:crfc/r:Ad6h||/TsKd7h", ""),
    ("MATCHSTATE:0:90:crfc/rc/:Ad6h||/TsKd7h/Kh", "r"),
    ("MATCHSTATE:0:90:crfc/rc/r:Ad6h||/TsKd7h/Kh", ""),
    ("MATCHSTATE:0:90:crfc/rc/rc/:Ad6h||/TsKd7h/Kh/6d", "r"),
    ("MATCHSTATE:0:90:crfc/rc/rc/r:Ad6h||/TsKd7h/Kh/6d", ""),
    ("MATCHSTATE:0:90:crfc/rc/rc/rc:Ad6h||Td2h/TsKd7h/Kh/6d", ""),
]


class Scripted(Bot):
    """Plays given actions and keeps everything it is told."""

    name = "scripted"

    def __init__(self, actions):
        self.actions = list(actions)
        self.told = []
        self.names = []
        self.results = []

    def new_hand(self, view):
        self.told.append((view.hand_number, view.seat, view.hole))
        self.names.append(view.players)

    def observe(self, view, before, action):
        self.told.append((before.seat, action, len(view.board)))

    def act(self, view, rng):
        return "fcr".index(self.actions.pop(0))

    def end_hand(self, view, result):
        self.results.append(result)


def speak(lines, **options):
    bot = Scripted("".join(action for _, action in lines))
    player = ProtocolPlayer(lambda: bot, **options)
    return bot, player, [player.answer(line) for line, _ in lines]


@pytest.mark.parametrize("lines", [HEADS_UP_LINES, RING_LINES], ids=["heads-up", "ring"])
def test_the_published_examples_are_answered_line_by_line(lines):
    bot, _, replies = speak(lines)
    assert replies == [f"{line}:{action}" if action else None for line, action in lines]
    assert bot.actions == []


def test_the_bot_is_told_what_the_arena_would_tell_it():
    bot, player, _ = speak(HEADS_UP_LINES)
    assert bot.told[0] == (0, 0, parse_hole("AsTd"))  # higher card first, as the arena deals
    hand_0 = bot.told[1 : bot.told.index((1, 1, parse_hole("Qd7c")))]
    assert "".join("fcr"[action] for _, action, _ in hand_0) == "rrcrccrccrc"
    assert [n_board for _, _, n_board in hand_0] == [0, 0, 3, 3, 4, 4, 4, 5, 5, 5, 5]
    showdown, fold = bot.results
    assert showdown.holes == (parse_hole("AsTd"), parse_hole("Tc8h"))
    assert showdown.net_chips == (-80, 80)  # a pair of eights beats ace high
    assert fold.holes == (None, None)
    assert fold.net_chips == (40, -40)
    assert (player.n_hands, player.net_chips) == (2, -120)


def test_a_player_keeps_its_name_while_the_seats_move():
    bot, _, _ = speak(
        [("MATCHSTATE:2:0::||AsTs", "c"), ("MATCHSTATE:1:1:c:|AsTs|", ""), ("MATCHSTATE:1:1:cc:|AsTs|", "c")]
    )
    assert bot.names == [("opponent-1", "opponent-2", "hardbot"), ("opponent-2", "hardbot", "opponent-1")]


def test_missed_messages_are_caught_up_with():
    bot, _, replies = speak([("MATCHSTATE:0:5:rrc/:TdAs|/2c8c3h", "c"), ("# a comment", ""), ("", "")])
    assert replies == ["MATCHSTATE:0:5:rrc/:TdAs|/2c8c3h:c", None, None]
    assert [told[:2] for told in bot.told[1:]] == [(1, RAISE), (0, RAISE), (1, CALL)]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["hello"], "expected 'MATCHSTATE:seat:hand:betting:cards' from the dealer, got 'hello'"),
        (["MATCHSTATE:0:0::TdAs"], "expected 2 to 10 seats, got 1"),
        (["MATCHSTATE:0:0:cx:TdAs|"], "expected one of 'fcr/'"),
        (["MATCHSTATE:0:0::|TdAs"], "expected our hole cards in hand 0"),
        (["MATCHSTATE:0:0:rrrrr:TdAs|"], "expected 'f' or 'c', got 'r'"),
        (["MATCHSTATE:0:0:c:TdAs|", "MATCHSTATE:0:0:rr:TdAs|"], "expected betting that goes on from 'c', got 'rr'"),
        (["MATCHSTATE:0:0:c:TdAs|", "MATCHSTATE:0:1::TdAs||"], "expected 2 hole hands"),
        (["MATCHSTATE:1:0:rc/cc/cc/cc:|Qd7c/2h8h5c/Th/As"], "expected all live hands to be shown"),
    ],
)
def test_a_dealer_that_makes_no_sense_is_told_so(lines, message):
    player = ProtocolPlayer(lambda: Scripted("ccc"))
    with pytest.raises(ProtocolError, match=message):
        [player.answer(line) for line in lines]


def test_a_bot_that_fails_says_where():
    player = ProtocolPlayer(lambda: Scripted("f"), name="us")
    with pytest.raises(ArenaError, match=r"expected 1 \(call\) or 2 \(raise\) from us, got 0 at MATCHSTATE:0:0:c:AsTd"):
        player.answer("MATCHSTATE:0:0:c:TdAs|")
    player = ProtocolPlayer(lambda: Scripted(""), name="us")
    with pytest.raises(ArenaError, match="expected a decision from us, got IndexError"):
        player.answer("MATCHSTATE:0:0:c:TdAs|")


ASKED = "MATCHSTATE:0:3:rrc/:TdAs|/2c8c3h"


@pytest.mark.parametrize(
    ("line", "action", "complaint"),
    [
        (f"{ASKED}:c", CALL, ""),
        (f"{ASKED}:r", RAISE, ""),
        (f"{ASKED}:r  ", RAISE, ""),
        ("MATCHSTATE:0:3:rrc/:AsTd|/8c2c3h:r", RAISE, ""),
        (f"{ASKED}:f", CALL, "expected c or r .*got 'f': call"),
        (f"{ASKED}:x", CALL, "got 'x': call"),
        (f"{ASKED}:", CALL, "got '': call"),
        (f"{ASKED}:r100", CALL, "got 'r100': call"),
        (ASKED, -1, "passed over"),
        ("# thinking", -1, ""),
        ("; thinking", -1, ""),
        ("", -1, ""),
        ("garbage", -1, "expected an answer to .*got 'garbage': passed over"),
        ("MATCHSTATE:0:2:rrc/:TdAs|/2c8c3h:c", -1, "passed over"),
        ("MATCHSTATE:0:3:rr:TdAs|:c", -1, "passed over"),
        ("MATCHSTATE:0:3:rrc/:TdAs|/2c8c4h:c", -1, "passed over"),
        ("MATCHSTATE:0:3:rrc/:\\xff|/2c8c4h:c", -1, "passed over"),
    ],
)
def test_answers_are_read_as_the_competitions_dealer_reads_them(line, action, complaint):
    answer = read_answer(line, ASKED, parse_betting(HEADS_UP, "rrc/"))
    assert answer.action == action
    assert answer.is_for_state == (action >= 0)
    assert re.search(complaint, answer.complaint) if complaint else answer.complaint == ""


def test_a_fold_is_an_answer_though_its_number_is_zero():
    answer = read_answer("MATCHSTATE:1:0:cr:|AsTs|:f", "MATCHSTATE:1:0:cr:|AsTs|", parse_betting(ring(3), "cr"))
    assert (answer.action, answer.is_for_state, answer.complaint) == (FOLD, True, "")


@pytest.mark.parametrize("line", ["VERSION:2.0.0", "VERSION:2.0.7"])
def test_versions_of_the_protocol_are_accepted(line):
    check_version(line, "somebody")


@pytest.mark.parametrize(
    "line", ["", "VERSION:1.0.0", "VERSION:2.1.0", "version:2.0.0", "MATCHSTATE:0:0::TdAs|", "VERSION:2.0.0 x"]
)
def test_other_openings_are_refused(line):
    with pytest.raises(ProtocolError, match=r"expected 'VERSION:2.0.0' from somebody"):
        check_version(line, "somebody")


def test_a_bot_is_warmed_up_by_a_whole_hand_that_it_does_not_remember():
    made = []

    def make():
        made.append(Scripted("rccr"))
        return made[-1]

    warm_up(make)
    assert made[0].actions == []  # asked on every street
    assert [n_board for _, _, n_board in made[0].told[1:]] == [0, 3, 3, 4, 4, 5, 5, 5]
    assert made[0].results == []
