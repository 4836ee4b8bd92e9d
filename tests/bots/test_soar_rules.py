"""SoarBot's rule groups, each on hands whose answer is plain to a person."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from hardbot import cli
from hardbot.bots.soar.analysis import card_facts, hutchison_number
from hardbot.bots.soar.engine import WorkingMemory, weigh_operators
from hardbot.bots.soar.rulebook import all_rules, load_group, rule_set
from hardbot.bots.soar.situation import bet_timing, unacted_players
from hardbot.bots.soarbot import SoarBot
from hardbot.errors import BotError
from hardbot.game.betting import parse_betting
from hardbot.game.cards import parse_board, parse_hole
from hardbot.game.features import hand_features
from hardbot.game.hand import View
from hardbot.game.rules import HEADS_UP, Rules, ring

CHECKED = {0: "", 3: "cc/", 4: "cc/cc/", 5: "cc/cc/cc/"}  # heads-up and nobody has bet


def view_of(hole: str, board: str = "", line: str | None = None, rules: Rules = HEADS_UP) -> View:
    cards = parse_board(board)
    betting = parse_betting(rules, CHECKED[len(cards)] if line is None else line)
    names = tuple(f"p{seat}" for seat in range(rules.n_seats))
    return View(rules, betting.seat, 0, parse_hole(hole), names, betting, cards)


def memory_at(view: View, maybe: str = "yes", preflop: str = "loose", **more: float | str) -> WorkingMemory:
    bot = SoarBot(preflop=preflop)
    bot.memory.update(bot.facts(view, maybe) | {key.replace("_", "-"): value for key, value in more.items()})
    return bot.memory


def proposed(memory: WorkingMemory) -> dict[str, str]:
    """Proposed operators and their actions, best first."""
    return {operator.name: operator.action for operator in weigh_operators(memory)}


def best(memory: WorkingMemory) -> set[str]:
    """Actions of the operators with the highest score."""
    operators = weigh_operators(memory)
    return {operator.action for operator in operators if operator.score == operators[0].score}


def strength(memory: WorkingMemory, stage: str) -> float | None:
    return min((float(value) for value in memory.facts.get(f"{stage}-strength", ())), default=None)


# -- the rule book -----------------------------------------------------------------------------------------------


def test_coverage_is_at_least_the_thesis_s():
    kinds = Counter((rule.group, rule.kind) for rule in all_rules())
    wanted = {
        ("analysis", "elaborate"): 33,
        ("preflop_loose", "elaborate"): 11,
        ("preflop_loose", "propose"): 7,
        ("flop", "elaborate"): 22,
        ("turn", "elaborate"): 27,
        ("river", "propose"): 5,
        ("defaults", "propose"): 2,
    }
    assert {key: kinds[key] >= n for key, n in wanted.items()} == dict.fromkeys(wanted, True)
    assert kinds["results", "adjust"] >= 1
    assert len({rule.name for rule in all_rules()}) == len(all_rules())


@pytest.mark.parametrize("preflop", ["loose", "hutchison"])
def test_only_one_preflop_scheme_is_in_play(preflop):
    groups = {rule.group for rule in rule_set(preflop).rules}
    assert f"preflop_{preflop}" in groups
    assert sum(group.startswith("preflop") for group in groups) == 1


def test_unknown_groups_and_schemes_are_refused():
    with pytest.raises(BotError, match="expected a rule group of analysis"):
        load_group("bluffs")
    with pytest.raises(BotError, match="expected a preflop scheme of loose or hutchison, got 'tight'"):
        SoarBot(preflop="tight")


def test_rules_command_lists_every_rule(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["hardbot", "rules", "soarbot", "--json"])
    with pytest.raises(SystemExit):
        cli.main()
    listed = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in listed] == [rule.name for rule in all_rules()]
    monkeypatch.setattr("sys.argv", ["hardbot", "rules", "soarbot", "--group", "river"])
    with pytest.raises(SystemExit):
        cli.main()
    out = capsys.readouterr().out
    assert "river*fold*based-on-probability" in out
    assert "flop*bet*first" not in out


# -- analysis ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hole", "board", "holds", "fails"),
    [
        ("KhQd", "Kc8s3d", "pair top-pair good-kicker", "2-pair overpair danger weak-kicker"),
        ("Kh4d", "Kc8s3d", "top-pair weak-kicker", "good-kicker"),
        ("AhAd", "Kc8s3d", "top-pair overpair pair-in-hole", "second-pair"),
        ("8h7d", "Kc8s3d", "second-pair", "top-pair low-pair"),
        ("3h2h", "Kc8s3d", "low-pair pair", "second-pair top-pair"),
        ("Kh8d", "Kc8s3d", "2-pair top-2-pair", "top-pair 2-pair-half-on-board"),
        ("8h3h", "Kc8s3d", "2-pair", "top-2-pair second-pair"),
        ("AhKd", "KcQsQd", "top-pair pair-on-board danger 2-pair-half-on-board", "2-pair"),
        ("8h8d", "Kc8s3d", "set trips-with-hole-card", "pair top-pair"),
        ("8h7h", "8c8s3d", "trips-with-hole-card pair-on-board", "set"),
        ("AhKh", "8c8s8d", "trips-on-board danger", "trips-with-hole-card pair"),
        ("KhKd", "Kc8s8d", "full-house-with-hole-card big-hand", "trips-with-hole-card top-pair"),
        ("8h8d", "8c8s3d", "4-of-a-kind-with-hole-card", "full-house-with-hole-card set"),
        ("9h8h", "7h6h5h", "straight-flush-with-hole-card", "flush-with-hole-card straight-with-hole-card"),
        ("9h8d", "7c6s5h", "straight-with-hole-card", "open-straight"),
        ("Ah2d", "3c4s5h", "straight-with-hole-card", "gutshot"),
        (
            "AhKh",
            "Qh7h2c",
            "4-flush-with-hole-card 4-flush-with-both 2-overcards ace-high",
            "flush-with-hole-card pair",
        ),
        ("9h8d", "7c6s2h", "open-straight", "gutshot big-draw"),
        ("9h8d", "Tc6s2h", "gutshot", "open-straight"),
        ("9h8h", "7h6h2c", "big-draw open-straight 4-flush-with-hole-card", "pair"),
        ("AhKd", "Ac8s3d7h", "blank-on-board", "danger"),
        ("KhQd", "3c9dQs4h", "blank-on-board", "danger"),
        ("AhKd", "Kc8s3d8h", "pair-on-board", "blank-on-board"),
        ("AhKd", "Kc8c3c2c", "4-flush-on-board danger", "blank-on-board flush-with-hole-card"),
        ("AhKd", "9c8s7d6h", "4-straight-on-board danger", "straight-with-hole-card"),
        ("2h3d", "KcQsJdTh9c", "straight-on-board danger", "straight-with-hole-card"),
        ("Ah3d", "KcQsJdTh9c", "straight-on-board straight-with-hole-card", "pair"),
        ("2h3d", "AcKcQc9c2c", "flush-on-board", "flush-with-hole-card"),
        ("AhQd", "KcKs8d8h3c", "2-pair-on-board", "2-pair pair"),
        ("AhQd", "KcKsKd8h8c", "full-house-on-board", "full-house-with-hole-card"),
        ("AhQd", "KcKsKdKh8c", "4-of-a-kind-on-board", "4-of-a-kind-with-hole-card"),
    ],
)
def test_analysis_names_the_hand(hole, board, holds, fails):
    memory = memory_at(view_of(hole, board))
    assert [name for name in holds.split() if not memory.has(name)] == []
    assert [name for name in fails.split() if memory.has(name)] == []


def test_tie_breakers_tell_flushes_apart():
    # the thesis's example: A K 8 7 2 with four spades, where the queen is the nuts, the jack nearly, the four weak
    queen, jack, four = (card_facts(parse_hole(hole), parse_board("AsKs8h7s2s")) for hole in ("Qs3d", "Js3d", "4s3d"))
    assert [facts["made"] for facts in (queen, jack, four)] == ["flush"] * 3
    assert queen["nuts"] == "yes"
    assert "nuts" not in jack
    assert queen["tie-break"] > jack["tie-break"] > 0.8
    assert four["tie-break"] < 0.2
    assert memory_at(view_of("Js3d", "AsKs8h7s2s")).has("strong-of-kind")
    assert memory_at(view_of("4s3d", "AsKs8h7s2s")).has("weak-of-kind")


@pytest.mark.parametrize(
    ("hole", "board", "outs"),
    [
        ("AhKd", "7c5s2h", 6),  # three aces, three kings
        ("AhKh", "7h5h2c", 15),  # and nine hearts
        ("9h8d", "Tc7sAh2d", 8),  # four jacks, four sixes: a straight
        ("9h8d", "Tc6sAh2d", 4),  # four sevens
        ("Ah2h", "KhTh8c5d", 9 + 3),  # hearts, and an ace to go with it
        ("3h2d", "KsQs9h8dJc", 0),  # nothing comes after the river
        ("KhKd", "Kc8s3d", 0),  # nothing to hope for: it is there
    ],
)
def test_outs_are_those_a_person_counts(hole, board, outs):
    facts = card_facts(parse_hole(hole), parse_board(board))
    assert facts["outs"] == outs
    if outs:
        unseen = 50 - len(parse_board(board))
        assert facts["draw-odds"] == pytest.approx((unseen - outs) / outs)
    else:
        assert "draw-odds" not in facts


@pytest.mark.parametrize(("hole", "board"), [("AdQc", "Jh4c3h"), ("7h6h", "8h9hKd2c"), ("7h6h", "8h9hKd2cTc")])
def test_share_of_hands_is_the_project_s_hand_strength(hole, board):
    facts = card_facts(parse_hole(hole), parse_board(board))
    assert facts["hand-share"] == pytest.approx(hand_features(parse_hole(hole), parse_board(board)).hs)


@pytest.mark.parametrize(
    ("hole", "points"),
    [
        ("AhAd", 42),
        ("AhKh", 37),
        ("AhKd", 33),
        ("QhTh", 30),
        ("9h6d", 16),
        ("Th7d", 19),
        ("7h2d", 9),
        ("Ah2d", 21),
        ("Ah2h", 25),
    ],
)
def test_hutchison_points(hole, points):
    assert hutchison_number(parse_hole(hole)) == points


# -- position and odds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "line", "n"),
    [
        (HEADS_UP, "", 2),
        (HEADS_UP, "c", 1),
        (HEADS_UP, "r", 1),
        (HEADS_UP, "cc/", 2),
        (HEADS_UP, "cc/c", 1),
        (HEADS_UP, "cc/cr", 1),
        (ring(6), "", 6),
        (ring(6), "fc", 4),
        (ring(6), "fcr", 4),
        (ring(4), "cccc/cc", 2),
        (ring(4), "cccc/rfc", 1),
        (ring(4), "cccc/ccr", 3),
    ],
)
def test_unacted_counts_who_may_still_act(rules, line, n):
    betting = parse_betting(rules, line)
    assert unacted_players(betting) == n
    for _ in range(n):  # after so many calls the round is over
        assert betting.street == parse_betting(rules, line).street
        betting = betting.after(1)
    assert betting.street == parse_betting(rules, line).street + 1


def test_bet_timing_goes_by_the_button():
    assert [bet_timing(HEADS_UP, seat) for seat in range(2)] == ["early", "late"]
    assert [bet_timing(ring(6), seat) for seat in range(6)] == ["early"] * 2 + ["middle"] * 2 + ["late"] * 2
    assert [bet_timing(ring(10), seat) for seat in (0, 9)] == ["early", "late"]


def test_pot_odds_are_the_thesis_s():
    # 30 chips in the pot, 10 more bet, 10 to call: 4 to 1
    facts = SoarBot().facts(view_of("AhKd", "7c5s2h", "cc/r"), "no")
    assert facts["pot-odds"] == 3
    assert facts["implied-odds"] == 5  # with a big bet to come
    assert facts["n-bets"] == 1
    assert facts["bets-to-call"] == 1
    assert SoarBot().facts(view_of("AhKd"), "no")["bets-to-call"] == 0.5


# -- before the flop ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hole", "level"),
    [("AhAd", 1), ("KhKd", 1), ("AhKh", 1), ("JhJd", 2), ("QhJh", 2), ("AhKd", 2), ("8h8d", 3), ("KhTd", 3)]
    + [("Ah5h", 4), ("7h6h", 4), ("3h3d", 4), ("Kh7d", None), ("9h4d", None), ("7h2d", None)],
)
def test_loose_strength_at_a_full_table(hole, level):
    assert strength(memory_at(view_of(hole, rules=ring(9))), "preflop") == level


def test_strong_hands_are_both_suited_high_cards_and_ace_king():
    # the thesis: both rules fire and both strengths stand
    assert set(memory_at(view_of("AhKh", rules=ring(9))).facts["preflop-strength"]) >= {1.0, 2.0}


@pytest.mark.parametrize(
    ("hole", "line", "maybe", "action"),
    [
        ("AhAd", "ffffff", "yes", "raise"),
        ("AhAd", "ffffff", "no", "call"),
        ("AhAd", "fffffr", "yes", "raise"),
        ("QhJh", "fffffr", "yes", "call"),
        ("8h8d", "fffffr", "yes", "call"),
        ("8h8d", "ffffrr", "yes", "fold"),
        ("7h6h", "ffffcc", "yes", "call"),
        ("7h6h", "fffffr", "yes", "fold"),
        ("9h4d", "ffffff", "yes", "fold"),
    ],
)
def test_loose_play_on_the_button_of_nine(hole, line, maybe, action):
    assert best(memory_at(view_of(hole, line=line, rules=ring(9)), maybe)) == {action}


def test_aces_first_to_act_at_a_full_table_plan_a_check_raise():
    view = view_of("AhAd", line="ccccccc", rules=ring(9))  # the small blind, the big blind to come
    assert "preflop*check-raise" not in proposed(memory_at(view))
    early = view_of("AhAd", line="cccccc" + "f", rules=ring(9))
    assert early.seat == 0
    view = View(ring(9), 2, 0, parse_hole("AhAd"), early.players, parse_betting(ring(9), ""))
    assert best(memory_at(view)) == {"check-raise"}
    assert best(memory_at(view, check_raise_used="yes")) == {"raise"}


def test_heads_up_more_hands_are_played_than_at_a_full_table():
    assert best(memory_at(view_of("Kh7d"))) == {"call"}
    assert best(memory_at(view_of("Ah6d"), "yes")) == {"raise"}
    assert best(memory_at(view_of("7h2d"))) == {"fold"}
    assert best(memory_at(view_of("9h4d", line="c"))) == {"call"}  # free


@pytest.mark.parametrize(
    ("hole", "line", "action"),
    [
        ("KhQd", "", "call"),  # 30 points, early
        ("AhJh", "", "call"),  # 33
        ("AhQh", "", "raise"),  # 34 with a gap
        ("Kh9d", "ffffff", "fold"),  # 23, late
        ("JhTd", "ffffff", "call"),  # 26
        ("KhQd", "ffffff", "raise"),  # 30
        ("JhTd", "fffffr", "fold"),
        ("KhQd", "fffffr", "call"),
    ],
)
def test_hutchison_play_by_position(hole, line, action):
    view = view_of(hole, line=line, rules=ring(9))
    timing = "late" if line else "early"
    assert best(memory_at(view, preflop="hutchison", bet_timing=timing)) == {action}


# -- the flop ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hole", "board", "level"),
    [
        ("9h8h", "7h6h5h", 1),
        ("AhKh", "Qh7h2h", 1),
        ("9h8d", "7c6s5h", 1),
        ("9h8d", "7c6c5c", 2),
        ("8h8d", "Kc8s3d", 1),
        ("Kh8d", "Kc8s3d", 1.5),
        ("AhAd", "Kc8s3d", 2),
        ("KhQd", "Kc8s3d", 2),
        ("Kh4d", "Kc8s3d", 3),
        ("8h7d", "Kc8s3d", 5),
        ("3h2h", "Kc8s5d", None),
        ("3h2h", "Kc8s3d", 6),
        ("7h6h", "7cKh2h", 3.5),  # four to a flush and a pair
        ("9h8h", "7h6h2c", 3),
        ("AhKh", "Qh7h2c", 3.5),
        ("9h8d", "7c6s2h", 4),
        ("AhKd", "9c6s2h", 6),
        ("6h2d", "KcQs9h", None),
    ],
)
def test_flop_strength(hole, board, level):
    assert strength(memory_at(view_of(hole, board)), "flop") == level


@pytest.mark.parametrize(
    ("hole", "board", "line", "action"),
    [
        ("KhQd", "Kc8s3d", "cc/", "raise"),  # no free card
        ("7h6h", "7cKh2h", "cc/", "raise"),  # semi-bluff
        ("6h2d", "KcQs9h", "cc/", "call"),  # check
        ("6h2d", "KcQs9h", "cc/r", "fold"),
        ("8h8d", "Kc8s3d", "cc/rrr", "raise"),
        ("Kh4d", "Kc8s3d", "cc/rr", "call"),
        ("AhJd", "Kc8s3d", "cc/r", "call"),  # against one player: any potential at all
    ],
)
def test_flop_play_heads_up(hole, board, line, action):
    assert best(memory_at(view_of(hole, board, line), "no")) == {action}


def test_flop_draw_calls_three_players_when_implied_odds_pay():
    # open-ended on a paired board: eight outs are 4.9 to 1, six and a half to be won for one
    memory = memory_at(view_of("9h8d", "TcTs7h", "cccc/cr", ring(4)))
    assert memory.has("draw-pays")
    assert "flop*call*draw-pays" in proposed(memory)
    assert not memory_at(view_of("9h4d", "TcTs7h", "cccc/cr", ring(4))).has("draw-pays")


def test_ace_high_folds_to_a_bet_of_many():
    assert best(memory_at(view_of("Ah4d", "Kc8s3d", "cccc/r", ring(4)))) == {"fold"}


# -- the turn ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hole", "board", "level"),
    [
        ("KhKd", "Kc8s8d2h", 1),
        ("AhKh", "Qh7h2h3c", 1),
        ("Ah5d", "Kh9h7h2h", 1),  # the nuts
        ("3h2d", "Kh9h7h5h", 3),  # a small flush on four hearts
        ("9h8d", "7c6s5h2d", 1),
        ("9h8d", "7c6c5c2d", 2.5),
        ("8h8d", "Kc8s3d2h", 1),
        ("KhQd", "Kc8s3d2h", 2),
        ("KhQd", "Kc8s3d8h", 4),
        ("KhQd", "Kc8c3c2c", None),  # danger and no odds
        ("8h7d", "Kc8s3d2h", 5),
        ("7h6h", "7cKh2h9d", 3.5),
        ("9h8h", "7h6h2cKd", 3.5),
        ("6h2d", "KcQs9h8d", None),
    ],
)
def test_turn_strength(hole, board, level):
    line = "cc/cc/r" if level is None else None
    assert strength(memory_at(view_of(hole, board, line), pot_odds=2), "turn") == level


def test_top_pair_on_a_dangerous_board_wants_five_to_one():
    view = view_of("KhQd", "Kc8c3c2c")
    assert strength(memory_at(view, pot_odds=5), "turn") == 6
    assert strength(memory_at(view, pot_odds=3), "turn") is None
    # without danger and with the odds both elaborations stand
    assert set(memory_at(view_of("KhQd", "Kc8s3d2h"), pot_odds=5).facts["turn-strength"]) >= {2.0, 6.0}


@pytest.mark.parametrize(
    ("hole", "board", "line", "action"),
    [
        ("KhQd", "Kc8s3d2h", "cc/cc/", "raise"),
        ("KhQd", "Kc8s3d2h", "cc/cc/r", "raise"),
        ("KhQd", "Kc8s3d2h", "cc/cc/rrr", "call"),
        ("8h8d", "Kc8s3d2h", "cc/cc/rrr", "raise"),
        ("KhQd", "Kc8c3c2c", "cc/cc/r", "fold"),
        ("KhQd", "9c8s7d6h", "cc/cc/r", "fold"),
        ("6h2d", "KcQs9h8d", "cc/cc/r", "fold"),
        ("6h2d", "KcQs9h8d", "cc/cc/", "call"),
    ],
)
def test_turn_play_heads_up(hole, board, line, action):
    assert best(memory_at(view_of(hole, board, line), "no")) == {action}


def test_four_flush_on_board_folds_whatever_the_odds():
    memory = memory_at(view_of("KhQd", "Kc8c3c2c", "cc/cc/r"), pot_odds=9)
    assert "turn*call*playable-cards" in proposed(memory)
    assert next(iter(proposed(memory))) == "turn*fold*4-flush-on-board"
    assert "turn*fold*4-flush-on-board" not in proposed(memory_at(view_of("KhQc", "Kc8c3c2c", "cc/cc/r")))


def test_blank_on_the_turn_is_bet_by_the_last_to_act():
    board = "3c9dQs4h"
    memory = memory_at(view_of("AhJd", board, "cccc/cccc/ccc", ring(4)))
    assert proposed(memory)["turn*bet-first*blank-on-board"] == "raise"
    assert "turn*bet-first*blank-on-board" not in proposed(memory_at(view_of("AhJd", board, "cccc/cccc/cc", ring(4))))
    paired = memory_at(view_of("AhJd", "3c9dQsQh", "cccc/cccc/ccc", ring(4)))
    assert "turn*bet-first*blank-on-board" not in proposed(paired)


# -- the river ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hole", "board", "line", "action"),
    [
        ("AhKh", "QhJhTh2c3d", "cc/cc/cc/", "raise"),
        ("AhKh", "QhJhTh2c3d", "cc/cc/cc/rr", "raise"),
        ("KhQd", "Kc8s3d2h7c", "cc/cc/cc/", "raise"),
        ("KhQd", "Kc8s3d2h7c", "cc/cc/cc/rrr", "call"),
        ("8h7d", "KcJs8d2h4c", "cc/cc/cc/r", "call"),  # .70 at 4 to 1
        ("6h2d", "KcQs9h8dJc", "cc/cc/cc/r", "fold"),
        ("6h2d", "KcQs9h8dJc", "cc/cc/cc/", "call"),
    ],
)
def test_river_play_heads_up(hole, board, line, action):
    assert best(memory_at(view_of(hole, board, line))) == {action}


def test_adjusted_odds_are_probability_times_pot_odds():
    view = view_of("8h7d", "KcJs8d2h4c", "cc/cc/cc/r")
    memory = memory_at(view, best_hand_probability=0.45, pot_odds=3)
    assert memory.value("adjusted-odds") == pytest.approx(1.35)
    assert best(memory) == {"call"}
    assert best(memory_at(view, best_hand_probability=0.45, pot_odds=2)) == {"fold"}
    assert best(memory_at(view, best_hand_probability=0.39, pot_odds=9)) == {"fold"}  # whatever the odds


def test_river_check_raise_needs_three_behind_and_comes_once():
    view = view_of("AhKh", "QhJhTh2c3d", "cccc/cccc/cccc/", ring(4))
    assert best(memory_at(view)) == {"check-raise"}
    assert best(memory_at(view, check_raise_used="yes")) == {"raise"}
    assert best(memory_at(view_of("AhKh", "QhJhTh2c3d", "cccc/cccc/cccc/c", ring(4)))) == {"raise"}


def test_probability_to_be_best_falls_with_every_opponent():
    one = SoarBot().facts(view_of("KhQd", "Kc8s3d2h7c"), "no")
    three = SoarBot().facts(view_of("KhQd", "Kc8s3d2h7c", "cccc/cccc/cccc/", ring(4)), "no")
    assert three["best-hand-probability"] == pytest.approx(one["best-hand-probability"] ** 3)


# -- defaults, opponents, results --------------------------------------------------------------------------------


def test_defaults_fold_and_check():
    assert list(proposed(memory_at(view_of("6h2d", "KcQs9h8dJc")))) == ["check*no-cost", "fold*default"]


KNOWN = {"opp_hands": 100, "opp_faced": 50, "opp_folds": 0.3, "opp_aggression": 0.4}


@pytest.mark.parametrize(
    ("hole", "board", "line", "known", "before", "after"),
    [
        ("8h7d", "KcJs8d2h4c", "cc/cc/cc/", {"opp_folds": 0.0}, "call", "raise"),  # value from who never folds
        ("6h2d", "KcQs9h", "cc/", {"opp_folds": 0.7}, "call", "raise"),  # steal from who folds
        ("6h5d", "KcQs9h8dAc", "cc/cc/cc/", {"opp_folds": 0.7}, "call", "raise"),
        ("AhTd", "KcQs9h8d2c", "cc/cc/cc/r", {"opp_shown_bets": 10, "opp_bluffs": 0.6}, "fold", "call"),
        ("5h5d", "KcQs9h8d2c", "rc/cc/cc/r", {"opp_shown_bets": 10, "opp_bluffs": 0.0}, "call", "fold"),
        ("KhQd", "Kc8s3d2h", "cc/cc/rrr", {"opp_aggression": 0.1}, "call", "fold"),  # the timid raises twice
        ("Ah6d", "", "rr", {"opp_plays": 0.1}, "call", "fold"),
        ("Ah6d", "", "rr", {"opp_hands_here": 40, "opp_plays_here": 0.1}, "call", "fold"),
        ("Ah6d", "", "rr", {"opp_starts": 30}, "call", "fold"),
        ("9h8d", "7c6s2h", "cc/", {"opp_check_raises": 0.2}, "raise", "call"),  # no semi-bluff into a trap
        ("8h7d", "KcJs8d2h4c", "cc/cc/cc/rr", {"opp_hands": 200, "opp_wins": 0.5}, "call", "fold"),
    ],
)
def test_opponent_facts_change_the_play(hole, board, line, known, before, after):
    view = view_of(hole, board, line)
    assert best(memory_at(view, "no", **KNOWN)) == {before}
    assert best(memory_at(view, "no", **(KNOWN | known))) == {after}
    assert best(
        memory_at(
            view, "no", **(KNOWN | known | {"opp_hands": 5, "opp_hands_here": 3, "opp_faced": 2, "opp_shown_bets": 1})
        )
    ) == {before}


def test_call_that_keeps_losing_is_given_up_and_a_raise_that_wins_preferred():
    memory = memory_at(view_of("8h7d", "KcJs8d2h4c", "cc/cc/cc/r"))
    losing = {"uses": 60.0, "facing-bet": 1.0, "mean-sb": -1.0, "lower-sb": -1.6, "upper-sb": -0.4}
    calls = {name: losing for name, action in proposed(memory).items() if action == "call"}
    assert weigh_operators(memory)[0].action == "call"
    adjusted = weigh_operators(memory, calls)
    assert adjusted[0].action == "fold"
    assert adjusted[-1].adjusted_by == ("results*call*loses",)
    few = {name: losing | {"uses": 10.0} for name in calls}
    assert weigh_operators(memory, few)[0].action == "call"


def test_maybe_is_yes_half_the_time():
    bot, rng = SoarBot(), np.random.default_rng(2)
    view = view_of("AhAd", line="ffffff", rules=ring(9))
    actions = Counter(bot.act(view, rng) for _ in range(300))
    assert set(actions) == {1, 2}
    assert 110 < actions[1] < 190
