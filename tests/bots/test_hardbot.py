"""hardbot at the table: what it believes, why it acts, and that it learns."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from hardbot.arena.match import play_match
from hardbot.bots.hardbot import HardBot, follow
from hardbot.errors import BotError, ModelError, NotationError
from hardbot.game.cards import N_HOLES, hole_index, parse_hole
from hardbot.game.notation import parse_match_state
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE

RAISED = "MATCHSTATE:0:0:rc/cr:AhKd|/Jh4c3h"


def expert_at(text: str, **options: object) -> tuple[HardBot, object]:
    bot = HardBot(chooser="expert", **options)
    return bot, follow(bot, parse_match_state(text, HEADS_UP))


def test_range_leaves_out_own_cards_and_the_board():
    bot, _ = expert_at(RAISED)
    weights = bot.explain().weights
    assert weights.sum() == pytest.approx(1.0)
    assert np.count_nonzero(weights) == 1081
    for hole in ("AhQc", "KdQc", "Jh9c", "4c2d"):
        assert weights[hole_index(*parse_hole(hole))] == 0.0


def test_raises_make_strong_hands_likelier():
    bot, _ = expert_at("MATCHSTATE:0:0:r:7h2d|")
    weights = bot.explain().weights
    assert weights[hole_index(*parse_hole("AcAs"))] > 1.5 * weights[hole_index(*parse_hole("7s2c"))]


def test_own_range_is_tracked_as_the_opponent_sees_it():
    bot, _ = expert_at(RAISED)
    own = bot.explain().own_weights
    assert own[hole_index(*parse_hole("AhKd"))] > 0.0  # the opponent does not know our cards
    assert np.count_nonzero(own) == 1176


def test_decision_is_legal_and_has_a_reason():
    bot, view = expert_at(RAISED)
    choice = bot.decide(view)
    assert sum(choice.triple) == pytest.approx(1.0)
    reasons = bot.explain()
    assert reasons.rule == choice.rule
    assert set(reasons.figures) >= {"hs", "ppot", "npot", "ehs", "pot_odds", "p_fold"}
    assert sum(p for _, p in reasons.buckets) == pytest.approx(1.0)


def test_checking_is_never_turned_into_a_fold():
    bot, view = expert_at("MATCHSTATE:0:0:cc/:7h2d|/AsKsQs")
    assert bot.decide(view).triple[FOLD] == 0.0
    assert all(bot.act(view, np.random.default_rng(seed)) in (CALL, RAISE) for seed in range(20))


def test_context_never_seen_in_the_corpus_backs_off():
    bot, view = expert_at("MATCHSTATE:0:0:rrrc/rrrrc/rrrrc/rrr:7h2d|/AsKsQs/Js/Ts")
    assert sum(bot.decide(view).triple) == pytest.approx(1.0)


def test_expert_beats_the_plain_bots():
    for opponent, least in (("always_call", 0.3), ("always_raise", 0.5)):
        result = play_match("hardbot:chooser=expert", opponent, 150, seed=3, block=150)
        assert result.sb_per_hand > least


def test_adjustment_learns_who_always_raises():
    match = play_match("hardbot:chooser=expert", "always_raise", 60, seed=4, block=60, duplicate=False)
    assert match.hands == 60
    bot = HardBot(chooser="expert")
    for number in range(30):
        state = parse_match_state(f"MATCHSTATE:0:{number}:rc/cr:AhKd|/Jh4c3h", HEADS_UP)
        view = follow(bot, state)
        bot.tracker.end(None)
    follow(bot, parse_match_state("MATCHSTATE:0:99::AhKd|", HEADS_UP))
    table, p_corpus = bot.tracker.likelihoods(view.betting.rules and _first(), (), opponent=True)
    assert (bot.tracker.theirs.weights @ table)[RAISE] > p_corpus[RAISE] + 0.2


def _first():
    from hardbot.game.betting import first_betting

    return first_betting(HEADS_UP)


def test_memory_is_kept_between_sessions_if_asked(tmp_path):
    path = tmp_path / "memory.json"
    play_match(f"hardbot:chooser=expert,memory={path}", "always_call", 5, seed=1, block=5, duplicate=False)
    document = json.loads(path.read_text())
    assert next(iter(document["opponents"].values()))["n_hands"] == pytest.approx(5.0, rel=0.01)
    assert HardBot(chooser="expert", memory=str(path)).opponents


def test_unknown_chooser_and_missing_model_are_clear_errors(tmp_path):
    with pytest.raises(BotError, match=r"portfolio|expert"):
        HardBot(chooser="oracle")
    bot = HardBot(chooser="expert", model=str(tmp_path))
    with pytest.raises(ModelError, match=r"manifest\.json"):
        follow(bot, parse_match_state(RAISED, HEADS_UP))


@pytest.mark.parametrize(
    "text",
    ["MATCHSTATE:0:0:rrrrr:AhKd|", "MATCHSTATE:0:0:rc/cr:AhAh|/Jh4c3h", "MATCHSTATE:0:0:rc/cr:AhKd|/Jh4c", "hello"],
    ids=["betting", "cards", "board", "text"],
)
def test_impossible_match_state_is_refused(text):
    with pytest.raises(NotationError):
        parse_match_state(text, HEADS_UP)


def test_explain_prints_the_documented_json():
    command = [sys.executable, "-m", "hardbot.cli", "explain", RAISED, "--chooser", "expert", "--json"]
    row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert set(row) >= {"actions", "rule", "hs", "ppot", "npot", "ehs", "pot_odds", "range", "buckets"}
    assert sum(row["actions"]) == pytest.approx(1.0)
    assert sum(row["range"].values()) == pytest.approx(1.0)
    assert len(row["range"]) == 1081 <= N_HOLES
    assert len(row["buckets"]) == 2
    assert sum(row["buckets"][0]["after"]) == pytest.approx(1.0)


def test_same_seed_same_match():
    results = [play_match("hardbot:chooser=expert", "rulebot", 20, seed=9, block=10) for _ in range(2)]
    assert results[0].sb_per_hand == results[1].sb_per_hand
