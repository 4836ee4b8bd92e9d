from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from hardbot.bots.base import Bot
from hardbot.bots.simple import AlwaysCall, AlwaysFold, AlwaysRaise, Random
from hardbot.errors import BotError
from hardbot.game.betting import Betting, parse_betting
from hardbot.game.hand import View
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE, ring
from hardbot.game.tree import betting_tree

TREE = betting_tree(HEADS_UP)
SIMPLE = [AlwaysCall, AlwaysRaise, AlwaysFold, Random]
any_simple_bot = pytest.mark.parametrize("cls", SIMPLE, ids=lambda cls: cls.name)


def view_of(betting: Betting) -> View:
    board = (20, 24, 28, 33, 37)[: (0, 3, 4, 5)[betting.street]]
    names = tuple("abcdefghij"[: betting.rules.n_seats])
    return View(betting.rules, betting.seat, 0, (0, 5), names, betting, board)


def act(bot: Bot, betting: Betting, seed: int = 0) -> int:
    return bot.act(view_of(betting), np.random.default_rng(seed))


@any_simple_bot
def test_action_is_legal_at_every_decision_point(cls):
    bot, rng = cls(), np.random.default_rng(1)
    for node in TREE.nodes[: TREE.n_decisions]:
        assert bot.act(view_of(node), rng) in node.legal


@pytest.mark.parametrize(
    ("cls", "line", "action"),
    [
        (AlwaysCall, "", CALL),
        (AlwaysCall, "rrr", CALL),
        (AlwaysRaise, "", RAISE),
        (AlwaysRaise, "rrr", CALL),
        (AlwaysRaise, "cc/rrrr", CALL),
        (AlwaysFold, "", FOLD),
        (AlwaysFold, "c", CALL),
        (AlwaysFold, "cc/", CALL),
        (AlwaysFold, "cc/r", FOLD),
    ],
    ids=lambda value: getattr(value, "name", repr(value)),
)
def test_plain_bot_does_what_its_name_says(cls, line, action):
    assert act(cls(), parse_betting(HEADS_UP, line)) == action


@pytest.mark.parametrize("line", ["", "c", "rrr"], ids=["three actions", "check or bet", "fold or call"])
def test_random_takes_every_legal_action_equally_often(line):
    betting = parse_betting(ring(3) if line == "rrr" else HEADS_UP, line)
    bot, rng, n = Random(), np.random.default_rng(3), 6000
    counts = Counter(bot.act(view_of(betting), rng) for _ in range(n))
    assert set(counts) == set(betting.legal)
    p = 1 / len(betting.legal)
    assert all(abs(count / n - p) < 4 * (p * (1 - p) / n) ** 0.5 for count in counts.values())


@any_simple_bot
def test_table_policy_is_the_same_player(cls):
    policy, bot = cls().table_policy(), cls()
    assert np.allclose(policy.probabilities.sum(axis=1), 1.0)
    for node in TREE.nodes[: TREE.n_decisions]:
        triple = policy.probabilities[policy.offsets[node.index]]
        assert [a for a in range(3) if triple[a] > 0 and a not in node.legal] == []
        if cls is not Random:
            assert triple[act(bot, node)] == 1.0
        else:
            assert np.allclose(triple[list(node.legal)], 1 / len(node.legal))


@any_simple_bot
def test_bot_without_memory_says_so(cls, tmp_path):
    bot = cls()
    assert not bot.learns
    with pytest.raises(BotError, match=f"{cls.name} has no memory to save"):
        bot.save_memory(tmp_path / "memory.json")
    with pytest.raises(BotError, match=f"{cls.name} has no memory to load"):
        bot.load_memory(tmp_path / "memory.json")
