"""Sparbot: the strategy that ships, other strategies, and the same play with and without tables."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hardbot.arena.match import play_match
from hardbot.bots.registry import create_bot
from hardbot.bots.sparbot import Sparbot, StrategyPlayer, default_folder
from hardbot.errors import ArenaError, BotError, StrategyError
from hardbot.game.betting import first_betting
from hardbot.game.cards import CLASS_TEXT, parse_hole
from hardbot.game.hand import View
from hardbot.game.rules import HEADS_UP, HEADS_UP_IRC
from hardbot.solver.abstraction import make_abstraction
from hardbot.solver.rounds import N_STARTS
from hardbot.solver.strategy import load_strategy, probabilities, quantise, save_strategy


@pytest.fixture(scope="module")
def raiser(tmp_path_factory):
    """A folder with a strategy over starting classes that raises more than it calls."""
    folder = tmp_path_factory.mktemp("raiser")
    small = make_abstraction(0, 0, 5)
    rng = np.random.default_rng(4)
    sums = [rng.random((starts, 2, n, 16)).astype(np.float32) for starts, n in zip(N_STARTS, small.sizes, strict=True)]
    for part in sums[1:]:
        part[:, :, :, [1, 4, 9, 12]] += 3.0
    save_strategy(quantise(tuple(sums), small), folder)
    return folder


def test_shipped_strategy_is_whole_and_fine_enough():
    strategy = load_strategy(default_folder())
    flop, turn, river = strategy.abstraction.sizes[1:]
    assert min(flop, turn, river) >= 100
    size = sum(path.stat().st_size for path in default_folder().iterdir())
    assert size < 4_000_000
    manifest = json.loads((default_folder() / "manifest.json").read_text())
    assert manifest["boards"] > 5_000


def test_shipped_strategy_plays_strong_hands_fast_and_drops_the_worst():
    button = probabilities(load_strategy(default_folder()), 0)[0, 1]
    kings, worst = CLASS_TEXT.index("KK"), CLASS_TEXT.index("72o")
    assert button[kings, 0] == 0.0
    assert button[worst, 0] > 0.5


def test_plays_from_single_hands_until_tables_pay(monkeypatch, tmp_path):
    """Without cached tables the first decisions are counted on the spot."""
    monkeypatch.setenv("HARDBOT_CACHE", str(tmp_path))
    player = StrategyPlayer(load_strategy(default_folder()))
    hole, board = parse_hole("AhQh"), (44, 3, 9)
    bucket = player.bucket(hole, board)
    assert 0 <= bucket < player.strategy.abstraction.sizes[1]
    assert not list(tmp_path.glob("buckets-*"))
    assert sum(player.triple(0, int(player.bucket(hole, ())))) == pytest.approx(1.0, abs=1e-6)


def test_python_and_compiled_matches_have_the_same_distribution(raiser):
    spec = f"sparbot:strategy={raiser}"
    compiled = play_match(spec, "always_call", 4_000, seed=5)
    python = play_match(spec, "always_call", 1_000, seed=6, compiled=False)
    assert compiled.compiled
    assert not python.compiled
    assert abs(compiled.sb_per_hand - python.sb_per_hand) < 1.5 * (compiled.ci95 + python.ci95)


def test_draws_from_the_probabilities_of_its_row(raiser):
    bot = create_bot(f"sparbot:strategy={raiser}")
    view = View(HEADS_UP, 1, 0, parse_hole("7h2c"), ("a", "b"), first_betting(HEADS_UP))
    bot.new_hand(view)
    rng = np.random.default_rng(1)
    actions = np.bincount([bot.act(view, rng) for _ in range(4_000)], minlength=3) / 4_000
    expected = probabilities(load_strategy(raiser), 0)[0, 1, CLASS_TEXT.index("72o"), :3]
    assert np.allclose(actions, expected, atol=0.03)


def test_other_rules_and_missing_strategies_are_refused(tmp_path):
    with pytest.raises(StrategyError, match="expected a strategy"):
        play_match(f"sparbot:strategy={tmp_path / 'none'}", "always_call", 10, seed=1)
    view = View(HEADS_UP_IRC, 0, 0, parse_hole("7h2c"), ("a", "b"), first_betting(HEADS_UP_IRC))
    with pytest.raises(BotError, match="expected the rules heads-up for sparbot, got heads-up-irc"):
        Sparbot().new_hand(view)
    with pytest.raises((ArenaError, StrategyError), match="expected a strategy"):
        play_match(f"sparbot:strategy={tmp_path / 'none'}", "rulebot", 10, seed=1)
