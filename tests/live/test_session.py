"""The table without a transport: whose turn it is, what may be seen, and that it deals the arena's hands."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hardbot.arena.entrants import bot_generator, make_bot
from hardbot.arena.match import play_match
from hardbot.bots.simple import AlwaysCall, AlwaysFold
from hardbot.errors import ArenaError, BotError, IllegalAction, SessionError
from hardbot.game.cards import CARD_TEXT, N_HOLES
from hardbot.game.notation import parse_log_hand
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE, ring
from hardbot.live.beliefs import Beliefs
from hardbot.live.play_log import PlayLog
from hardbot.live.session import PERSON, TableSession


class Thinker(AlwaysCall):
    """Says that it believes in every hand alike."""

    name = "thinker"

    def new_hand(self, view):
        self.n_seen = 0

    def observe(self, view, before, action):
        self.n_seen += 1

    def explain(self):
        return Beliefs(weights=np.full(N_HOLES, 1 / N_HOLES), figures={"seen": self.n_seen}, rule="call")


class Breaks(AlwaysCall):
    """Fails in its second hand."""

    name = "breaks"

    def __init__(self):
        self.n_hands = 0

    def new_hand(self, view):
        self.n_hands += 1

    def act(self, view, rng):
        if self.n_hands == 2:
            raise RuntimeError("tired")
        return CALL


class Confused(AlwaysCall):
    """Cannot explain itself after the first hand."""

    name = "confused"
    n_hands = 0

    def new_hand(self, view):
        self.n_hands += 1

    def explain(self):
        if self.n_hands == 2:
            raise ZeroDivisionError("no range")
        return


class Cheats(AlwaysFold):
    """Folds when checking is free."""

    name = "cheats"

    def act(self, view, rng):
        return FOLD


def play_out(table, choose):
    """The rest of the hand in play with `choose(view)` as the person."""
    while not table.is_between_hands:
        if table.is_persons_turn:
            table.submit(choose(table.view()))
        else:
            table.step()


def play_hands(table, n_hands, choose):
    for _ in range(n_hands):
        table.start_hand()
        play_out(table, choose)


def call(view):
    return CALL


def test_a_person_who_plays_like_a_bot_gets_the_arenas_hands(tmp_path):
    table = TableSession(["rulebot"], seed=11, n_hands=120, log=PlayLog(tmp_path, name="t"), person="rulebot.a")
    stand_in, rng = make_bot("random"), bot_generator(11, 0, 0, 0)
    while not table.is_finished:
        table.start_hand()
        while not table.is_between_hands:
            if table.is_persons_turn:
                table.submit(stand_in.act(table.own_view(), rng))
            else:
                table.step()
    match = play_match(
        "random",
        "rulebot",
        120,
        11,
        duplicate=False,
        compiled=False,
        log=tmp_path / "m.log",
        names=["rulebot.a", "rulebot"],
    )
    arena = [line for line in (tmp_path / "m.log").read_text().splitlines() if line.startswith("STATE")]
    live = [line.split(" # ")[0] for line in (tmp_path / "t.log").read_text().splitlines()[1:]]
    assert live == arena
    assert table.totals[PERSON] == match.pair_chips.sum()
    assert table.score.to_json()["net_sb"] == pytest.approx(match.pair_chips.sum() / 10)


@pytest.mark.parametrize("n_bots", [1, 2, 5, 9])
def test_chips_balance_and_the_button_moves_at_every_table_size(n_bots):
    table = TableSession(["random"] * n_bots, seed=5)
    play_hands(table, 2 * (n_bots + 1), call)
    assert sum(table.totals) == 0
    buttons = []
    for _ in range(n_bots + 1):
        table.start_hand()
        buttons.append(next(chair.chair for chair in table.view().chairs if chair.has_button))
        play_out(table, call)
    assert sorted(buttons) == list(range(n_bots + 1))
    assert all((b - a) % (n_bots + 1) == 1 for a, b in zip(buttons, buttons[1:], strict=False))


def test_nothing_the_person_is_sent_names_a_hidden_card():
    table = TableSession(["rulebot", "random"], seed=3)
    n_hidden = 0
    for _ in range(30):
        table.start_hand()
        deal = table._live.hand.deal
        while not table.is_between_hands:
            seat = table.own_view().seat
            board = set(table.view().board)
            hidden = {CARD_TEXT[c] for hole in deal.holes for c in hole if hole != deal.holes[seat]}
            hidden |= {CARD_TEXT[c] for c in deal.board if c not in board}

            current = [e for e in table.events if e.hand_number == table.view().hand_number]

            assert not [card for card in hidden if f'"{card}"' in json.dumps(table.view().to_json())]
            assert not [card for card in hidden if f'"{card}"' in json.dumps([e.to_json() for e in current])]
            n_hidden += len(hidden)
            if table.is_persons_turn:
                table.submit(CALL)
            else:
                table.step()
        record = table.records[-1]
        if not record.result.betting.is_showdown:
            folded = [c for s, hole in enumerate(deal.holes) if s != record.seat for c in hole]
            text = json.dumps([record.to_json(), table.view().to_json()])
            assert not [card for card in folded if f'"{CARD_TEXT[card]}"' in text]
    assert n_hidden > 500


def test_an_action_out_of_turn_stale_or_illegal_is_refused_and_changes_nothing():
    table = TableSession(["always_call"], seed=1)
    with pytest.raises(SessionError, match="between hands"):
        table.submit(CALL)
    with pytest.raises(SessionError, match="before its first hand"):
        table.view()
    table.start_hand()
    assert not table.is_persons_turn  # hand 0: the person has the big blind
    with pytest.raises(SessionError, match=r"expected always_call to act"):
        table.submit(CALL)
    with pytest.raises(SessionError, match="played out before the next deal"):
        table.start_hand()
    table.step()
    n_events = len(table.events)
    with pytest.raises(IllegalAction, match="expected call or raise, got 0"):
        table.submit(FOLD)
    with pytest.raises(SessionError, match="expected an action for hand 0 after 'c', got one for hand 0 after ''"):
        table.submit(CALL, hand_number=0, betting="")
    with pytest.raises(SessionError, match="got one for hand 7"):
        table.submit(CALL, hand_number=7, betting="c")
    with pytest.raises(SessionError, match="waits for a person"):
        table.step()
    assert len(table.events) == n_events
    table.submit(RAISE, hand_number=0, betting="c")
    assert table.view().betting == "cr"


def test_the_session_ends_after_its_hands():
    table = TableSession(["always_fold"], seed=1, n_hands=2)
    play_hands(table, 2, lambda view: view.legal[-1])
    assert table.is_finished
    with pytest.raises(SessionError, match="expected no more than 2 hands"):
        table.start_hand()


def test_events_tell_the_whole_hand_in_order():
    table = TableSession(["always_call"], seed=4)
    table.start_hand()
    play_out(table, call)
    kinds = [event.kind for event in table.events]
    assert kinds == ["deal"] + ["action", "action", "board"] * 3 + ["action", "action", "end"]
    assert [event.number for event in table.events] == list(range(len(kinds)))
    assert [len(event.cards) for event in table.events if event.kind == "board"] == [3, 1, 1]
    assert [event.paid_chips for event in table.events if event.kind == "action"][:2] == [5, 0]
    assert table.events[-1].pot_chips == 20
    assert table.view().is_showdown
    assert all(chair.hole is not None for chair in table.view().chairs)


@pytest.mark.parametrize(
    ("bots", "options", "error", "message"),
    [
        ([], {}, SessionError, "expected 1 to 9 bots at a table, got 0"),
        (["random"] * 10, {}, SessionError, "expected 1 to 9 bots"),
        (["nobody"], {}, BotError, "got 'nobody'"),
        (["random"], {"n_hands": 0}, SessionError, "expected at least 1 hand"),
        (["random"], {"person": "a|b"}, SessionError, "expected a name of letters"),
        (["random"], {"person": ""}, SessionError, "expected a name of letters"),
        (["random"], {"seed": -4}, ValueError, "negative"),
    ],
)
def test_tables_that_cannot_be_set_up_say_why(bots, options, error, message):
    with pytest.raises(error, match=message):
        TableSession(bots, **options)


def test_names_at_the_table_are_different():
    assert TableSession(["random", "random"], person="random").names == ("random", "random-2", "random-3")


@pytest.mark.parametrize(
    ("bot", "n_good", "message"),
    [
        (Breaks, 1, "expected a decision from breaks, got RuntimeError: tired"),
        (Confused, 1, "expected a decision from confused, got ZeroDivisionError: no range"),
        (Cheats, 1, r"expected 1 \(call\)"),
    ],
    ids=["exception", "explanation", "illegal action"],
)
def test_a_bot_that_fails_voids_the_hand_and_the_table_goes_on(bot, n_good, message, tmp_path):
    table = TableSession([bot], seed=2, log=PlayLog(tmp_path, name="t"))
    play_hands(table, n_good, call)
    with pytest.raises(ArenaError, match=message):
        play_hands(table, 1, call)
    assert table.is_between_hands
    assert table.events[-1].kind == "void"
    assert len(table.records) == table.score.played.n == n_good
    table.start_hand()
    assert table.view().hand_number == n_good + 1
    assert len((tmp_path / "t.log").read_text().splitlines()) == 1 + n_good


def test_beliefs_are_kept_after_every_event_and_for_finished_hands():
    table = TableSession([Thinker], seed=6)
    table.start_hand()
    assert [snapshot.beliefs.figures["seen"] for snapshot in table.snapshots()] == [0]
    table.step()
    table.submit(RAISE)
    assert [snapshot.betting for snapshot in table.snapshots()] == ["", "c", "cr"]
    assert [snapshot.beliefs.figures["seen"] for snapshot in table.snapshots()] == [0, 1, 2]
    play_out(table, call)
    assert table.snapshots() == ()
    kept = table.snapshots(0)
    assert [snapshot.beliefs.figures["seen"] for snapshot in kept] == list(range(len(kept)))
    assert json.dumps(kept[0].to_json())
    assert np.shape(kept[0].to_json()["heat"]) == (13, 13)
    assert table.records[0].snapshots == ()


def test_a_bot_without_beliefs_has_no_snapshots():
    table = TableSession(["always_call"], seed=6)
    table.start_hand()
    table.step()
    assert table.snapshots() == ()


def test_every_hand_is_in_the_log_before_the_next_is_dealt(tmp_path):
    log = PlayLog(tmp_path / "deep" / "play", name="evening", clock=lambda: 1_800_000_000.25)
    table = TableSession(["random", "rulebot"], seed=8, log=log)
    for n_played in range(1, 6):
        table.start_hand()
        play_out(table, call)
        lines = (tmp_path / "deep" / "play" / "evening.log").read_text().splitlines()
        assert len(lines) == 1 + n_played
        hand = parse_log_hand(lines[-1], ring(3))
        assert lines[-1].endswith(" # 1800000000.250000")
        assert hand.players == table.records[-1].result.players
        assert hand.net_chips == tuple(map(float, table.records[-1].result.net_chips))
    assert lines[0].startswith("# name/game/hands/seed evening-")
    assert lines[0].endswith(" holdem.limit.3p.game 0 8")


def test_two_tables_of_one_second_have_files_of_their_own(tmp_path):
    tables = [TableSession(["always_fold"], seed=s, log=PlayLog(tmp_path, clock=lambda: 0.0)) for s in (1, 2)]
    for table in tables:
        play_hands(table, 3, lambda view: view.legal[-1])
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["play-19700101-000000-2.log", "play-19700101-000000.log"]
    headers = {path.read_text().splitlines()[0].split()[2] for path in tmp_path.iterdir()}
    assert len(headers) == 2


def test_a_table_that_is_not_played_leaves_no_file(tmp_path):
    table = TableSession(["always_fold"], seed=1, log=PlayLog(tmp_path))
    table.start_hand()
    assert list(tmp_path.iterdir()) == []


def test_a_hand_that_cannot_be_logged_does_not_count(tmp_path):
    (tmp_path / "play").write_text("a file where the folder should be")
    table = TableSession(["always_fold"], seed=1, log=PlayLog(tmp_path / "play"))
    table.start_hand()
    with pytest.raises(SessionError, match="expected a writable play folder"):
        play_out(table, lambda view: view.legal[-1])
    assert table.is_between_hands
    assert table.totals == [0, 0]
    assert table.records == []


def test_the_score_has_intervals_from_the_second_hand_on():
    table = TableSession(["always_call"], seed=9, rules=HEADS_UP)
    assert table.score.to_json()["hands"] == 0
    play_hands(table, 1, call)
    assert table.score.to_json()["ci95"] is None
    play_hands(table, 30, call)
    score = table.score.to_json()
    assert score["hands"] == len(table.score.points) == 31
    assert score["net_sb"] == pytest.approx(table.totals[PERSON] / 10)
    assert score["ci95"] > 0
    assert score["adjusted_ci95"] > 0
