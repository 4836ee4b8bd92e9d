"""Dealer logs: complete or absent, and readable by our parser and by PokerKit."""

from __future__ import annotations

import gzip

import pytest
from pokerkit import FixedLimitTexasHoldem, HandHistory

from hardbot.arena.match import play_match
from hardbot.arena.ring import play_ring
from hardbot.bots.simple import AlwaysCall
from hardbot.errors import ArenaError
from hardbot.game.hand import Deal, Hand
from hardbot.game.notation import format_log_hand, parse_log_hand
from hardbot.game.rules import HEADS_UP, ring


class FailsLate(AlwaysCall):
    """Fails in its fortieth hand."""

    name = "fails_late"
    made = 0

    def __init__(self):
        self.n_hands = 0

    def new_hand(self, view):
        self.n_hands += 1
        if self.n_hands == 40:
            raise RuntimeError("tired")


def states(text):
    return [line for line in text.splitlines() if line.startswith("STATE:")]


@pytest.mark.parametrize(
    ("specs", "rules"),
    [(("random", "always_call"), HEADS_UP), (("random", "random", "always_call"), ring(3))],
    ids=["match", "ring"],
)
def test_every_line_replays_to_its_own_payoffs_and_the_score_adds_up(specs, rules, tmp_path):
    log, names = tmp_path / "m.log", ["ann", "bob", "cyd"][: len(specs)]
    if len(specs) == 2:
        play_match(*specs, 120, 3, log=log, block=50, names=names, compiled=False)
    else:
        play_ring(specs, 80, 3, log=log, block=50, names=names)
    lines, score = states(log.read_text()), dict.fromkeys(names, 0)
    assert len(lines) == 240
    for number, line in enumerate(lines):
        record = parse_log_hand(line, rules)
        assert record.hand_number == number
        assert format_log_hand(record) == line
        board = list(record.board)
        board += [c for c in range(52) if c not in board and all(c not in hole for hole in record.holes)][
            : 5 - len(board)
        ]
        hand = Hand(rules, Deal(record.holes, tuple(board)))
        for char in record.betting.text.replace("/", ""):
            hand.apply("fcr".index(char))
        assert hand.net_chips() == record.net_chips
        for name, chips in zip(record.players, record.net_chips, strict=True):
            score[name] += int(chips)
    last = log.read_text().splitlines()[-1]
    assert last == f"SCORE:{'|'.join(str(score[name]) for name in names)}:{'|'.join(names)}"


def test_the_header_is_the_competitions(tmp_path):
    log = tmp_path / "evening.log"
    play_match("random", "always_call", 5, 3, log=log)
    first = log.read_text().splitlines()[0]
    assert first == "# name/game/hands/seed evening holdem.limit.2p.reverse_blinds.game 10 3"


def test_pokerkit_reads_the_log_and_agrees_on_the_payoffs(tmp_path):
    log = tmp_path / "m.log"
    play_match("random", "random", 30, 5, log=log)
    game = FixedLimitTexasHoldem((), True, 0, (5, 10), 10, 20)
    hands = list(HandHistory.from_acpc_protocol(game, 10_000, log.read_text(), error_status=True))
    assert len(hands) == 60
    for history, line in zip(hands, states(log.read_text()), strict=True):
        record = parse_log_hand(line, HEADS_UP)
        *_, final = history
        assert tuple(final.payoffs) == record.net_chips
        assert tuple(history.players) == record.players


def test_gz_logs_hold_the_same_text_and_are_reproducible(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        play_match("random", "always_call", 20, 5, log=tmp_path / folder / "m.log.gz")
    play_match("random", "always_call", 20, 5, log=tmp_path / "m.log")
    packed = (tmp_path / "a" / "m.log.gz").read_bytes()
    assert packed == (tmp_path / "b" / "m.log.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "m.log").read_bytes()


@pytest.mark.parametrize("existing", [False, True], ids=["new", "over an old log"])
def test_a_match_that_fails_leaves_no_partial_file(existing, tmp_path):
    log = tmp_path / "m.log"
    if existing:
        log.write_text("an older match\n")
    with pytest.raises(ArenaError, match="tired"):
        play_match(FailsLate, "random", 100, 5, log=log)
    assert [path.name for path in tmp_path.iterdir()] == (["m.log"] if existing else [])
    assert not existing or log.read_text() == "an older match\n"


@pytest.mark.parametrize("name", ["missing/m.log", "."], ids=["no folder", "a folder"])
def test_an_unwritable_log_fails_before_the_first_hand(name, tmp_path):
    with pytest.raises(ArenaError, match="expected a"):
        play_match(FailsLate, "random", 100, 5, log=tmp_path / name)
    assert list(tmp_path.iterdir()) == []
