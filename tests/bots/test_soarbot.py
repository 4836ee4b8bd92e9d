from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from hardbot.arena.match import play_match
from hardbot.arena.ring import play_ring
from hardbot.arena.table import play_hand, seat_player
from hardbot.bots.base import Bot
from hardbot.bots.soar.history import History, OperatorRecord, PlayerRecord
from hardbot.bots.soar.log import RESULT_COLUMNS
from hardbot.bots.soarbot import SoarBot
from hardbot.errors import BotError
from hardbot.game.betting import parse_betting
from hardbot.game.cards import parse_board, parse_hole
from hardbot.game.hand import Deal, HandResult, View
from hardbot.game.rules import CALL, HEADS_UP, RAISE, ring


class Script(Bot):
    """Plays given actions on the river and calls before."""

    name = "script"

    def __init__(self, river: str = "") -> None:
        self.river = list(river)

    def act(self, view: View, rng: np.random.Generator) -> int:
        if view.betting.street == 3 and self.river:
            return "fcr".index(self.river.pop(0))
        return CALL


def deal(*holes: str, board: str) -> Deal:
    return Deal(tuple(parse_hole(hole) for hole in holes), parse_board(board))


def play(bot: SoarBot, others: list[Bot], cards: Deal, number: int = 0, seed: int = 1):
    """One hand with the bot in seat 0."""
    rng = np.random.default_rng(seed)
    rules = ring(len(others) + 1)
    players = [seat_player(b, f"p{i}", rng) for i, b in enumerate([bot, *others])]
    return play_hand(rules, cards, players, number)


def test_check_raise_on_the_river_happens_once_and_is_a_plan_of_two_acts():
    bot = SoarBot(opponents=False, results=False)
    bot.new_hand(river_view("cccc/cccc/cccc/"))
    rng = np.random.default_rng(1)
    assert bot.act(river_view("cccc/cccc/cccc/"), rng) == CALL
    assert bot.last_decision is not None
    assert bot.last_decision.operator == "river*check-raise"
    assert bot.act(river_view("cccc/cccc/cccc/crfc"), rng) == RAISE
    assert (bot.last_decision.operator, bot.last_decision.action) == ("river*check-raise", "raise")
    assert bot.last_decision.fired == ()  # nobody was asked
    assert bot.facts(river_view("cccc/cccc/cccc/"), "no")["check-raise-used"] == "yes"
    bot.new_hand(river_view("cccc/cccc/cccc/"))
    assert bot.facts(river_view("cccc/cccc/cccc/"), "no")["check-raise-used"] == "no"


def test_check_raise_that_nobody_bets_into_is_not_used_up():
    bot, rng = SoarBot(opponents=False, results=False), np.random.default_rng(1)
    bot.new_hand(river_view("cccc/cccc/cccc/"))
    bot.act(river_view("cccc/cccc/cccc/"), rng)
    assert bot.facts(river_view("cccc/cccc/cccc/"), "no")["check-raise-used"] == "no"


def river_view(line: str) -> View:
    rules = ring(4)
    return View(rules, 0, 0, parse_hole("AhKh"), tuple("abcd"), parse_betting(rules, line), parse_board("QhJhTh2s3c"))


@pytest.mark.parametrize(("line", "legal"), [("rrr", (0, 1)), ("c", (1, 2))])
def test_forbidden_action_becomes_the_nearest_allowed_one(line, legal):
    bot, rng = SoarBot(), np.random.default_rng(1)
    for hole in ("AhAd", "7h2d"):
        betting = parse_betting(HEADS_UP, line)
        assert betting.legal == legal
        view = View(HEADS_UP, betting.seat, 0, parse_hole(hole), ("a", "b"), betting)
        assert {bot.act(view, rng) for _ in range(20)} <= set(legal)


def test_decision_says_which_rules_fired_and_why():
    bot = SoarBot()
    betting = parse_betting(HEADS_UP, "cc/cc/r")
    view = View(HEADS_UP, 1, 7, parse_hole("KhQd"), ("a", "b"), betting, parse_board("Kc8c3c2c"))
    assert bot.act(view, np.random.default_rng(1)) == 0
    decision = bot.last_decision
    assert decision is not None
    assert decision.operator == "turn*fold*4-flush-on-board"
    assert {"analysis*top-pair", "analysis*4-flush-on-board"} <= set(decision.fired)
    assert decision.operators[0].score == 100
    assert (decision.hand_number, decision.hole, decision.board, decision.action) == (7, "KhQd", "Kc8c3c2c", "fold")
    later = View(HEADS_UP, 1, 8, parse_hole("KhQd"), ("a", "b"), parse_betting(HEADS_UP, ""), ())
    bot.new_hand(later)
    bot.act(later, np.random.default_rng(1))
    assert "analysis*top-pair" in bot.last_decision.retracted
    assert "analysis*top-pair" not in bot.last_decision.holding


def test_logs_are_joined_by_game_numbers(tmp_path):
    bot = SoarBot(log=str(tmp_path / "logs"))
    for number in range(3):
        play(bot, [Script("c")], deal("AhKh", "2c3d", board="QhJh9s2s3c"), number)
    rows = list(csv.DictReader((tmp_path / "logs" / "results.csv").open()))
    assert [row["game"] for row in rows] == ["1-0", "1-1", "1-2"]
    assert list(rows[0]) == list(RESULT_COLUMNS)
    assert {row["hole"] for row in rows} == {"AhKh"}
    decisions = [json.loads(line) for line in (tmp_path / "logs" / "decisions-1.jsonl").read_text().splitlines()]
    assert {entry["game"] for entry in decisions} == {"1-0", "1-1", "1-2"}
    assert all(entry["fired"] or entry["holding"] for entry in decisions)
    players = json.loads((tmp_path / "logs" / "players-1.json").read_text())
    assert sum(players["players"]["p1"]["hands"]) == 3
    play(SoarBot(log=str(tmp_path / "logs")), [Script("c")], deal("AhKh", "2c3d", board="QhJh9s2s3c"))
    assert (tmp_path / "logs" / "decisions-2.jsonl").exists()
    assert len((tmp_path / "logs" / "results.csv").read_text().splitlines()) == 5


def observed(lines: list[str], holes: str = "", board: str = "KcQs9h8d2c") -> PlayerRecord:
    """History of the player in seat 1 of heads-up hands, as seat 0 sees him."""
    history = History()
    for line in lines:
        end = parse_betting(HEADS_UP, line)
        view = View(HEADS_UP, 0, 0, parse_hole("AhAd"), ("me", "him"), end, parse_board(board))
        history.begin()
        node = parse_betting(HEADS_UP, "")
        for char in line.replace("/", ""):
            history.observe(view, node, "fcr".index(char))
            node = node.after("fcr".index(char))
        shown = (parse_hole("AhAd"), parse_hole(holes)) if holes else (None, None)
        history.end(view, HandResult(0, end, parse_board(board), shown, (10, -10), ("me", "him")))
    assert set(history.players) == {"him"}
    return history.players["him"]


def test_history_counts_what_the_thesis_s_list_asks_for():
    record = observed(["cc/rf", "f", "rc/cc/cc/cc", "cc/cr" + "c/" + "cc/cc"])
    facts = record.facts("late")
    assert (facts["opp-hands-here"], facts["opp-plays-here"]) == (4, 3 / 4)
    assert "opp-plays-here" not in record.facts("early")
    assert facts["opp-hands"] == 4
    assert facts["opp-plays"] == 3 / 4
    assert facts["opp-folds"] == 1  # the one bet he faced
    assert facts["opp-wins"] == -1
    assert record.bets == 1


def test_check_raise_of_an_opponent_is_counted():
    rules = ring(3)
    history, node = History(), parse_betting(rules, "")
    view = View(rules, 2, 0, parse_hole("AhAd"), ("x", "y", "me"), node, ())
    for char in "ccc/ccrrf":
        if char != "/":
            history.observe(view, node, "fcr".index(char))
            node = node.after("fcr".index(char))
    assert history.player("x").check_raises == 1
    assert history.player("y").check_raises == 0


@pytest.mark.parametrize(("hole", "bluff"), [("6h5d", 1), ("KhKd", 0)])
def test_last_bet_with_a_weak_hand_shown_is_a_bluff(hole, bluff):
    record = observed(["cc/cc/cc/crc"], hole)
    assert (record.shown_bets, record.bluffs) == (1, bluff)
    assert observed(["cc/cc/cc/cc"], hole).shown_bets == 0
    assert observed(["cc/cc/cc/rc"], hole).shown_bets == 0  # the bet was ours


def test_operator_is_worth_what_followed_the_decision():
    bot = SoarBot()
    play(bot, [Script("f")], deal("AhKh", "2c3d", board="QhJhTh2s3c"))
    # the button called; whatever we put in after the decision came back with the rest
    for record in bot.history.operators.values():
        assert record.total_sb > 0
    record = OperatorRecord()
    for profit in (1.0, -3.0):
        record.add(profit, True)
    assert record.facts() == pytest.approx(
        {
            "uses": 2,
            "facing-bet": 1,
            "mean-sb": -1,
            "lower-sb": -1 - 1.96 * 2 / 2**0.5,
            "upper-sb": -1 + 1.96 * 2 / 2**0.5,
        }
    )


def test_memory_is_saved_and_loaded(tmp_path):
    bot, other = SoarBot(), SoarBot()
    for number in range(4):
        play(bot, [Script("c")], deal("AhKh", "2c3d", board="QhJh9s2s3c"), number)
    bot.save_memory(tmp_path / "memory.json")
    other.load_memory(tmp_path / "memory.json")
    assert other.history.to_json() == bot.history.to_json()
    assert other.history.players["p1"].n_hands == 4
    (tmp_path / "bad.json").write_text('{"schema": 1, "players": {"x": {"hands": 3}}, "operators": {}}')
    for bad in ("bad.json", "memory.txt"):
        (tmp_path / "memory.txt").write_text("no")
        with pytest.raises(BotError, match="expected a history as written by soarbot"):
            other.load_memory(tmp_path / bad)


def test_switches_make_it_a_player_without_memory():
    assert SoarBot().learns
    assert not SoarBot(opponents=False, results=False).learns


@pytest.mark.parametrize("n_seats", range(2, 11))
def test_plays_every_table_size_legally(n_seats):
    result = play_ring(["soarbot", "soarbot:preflop=hutchison", *["random"] * (n_seats - 2)], 2, 5)
    assert sum(result.sb_per_hand) == pytest.approx(0)


def test_beats_random_and_always_call():
    for opponent in ("random", "always_call"):
        result = play_match("soarbot:opponents=no,results=no", opponent, 600, 3)
        assert result.sb_per_hand - result.ci95 > 0, opponent
