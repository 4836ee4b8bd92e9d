"""The compiled loop against the Python loop: equal for fixed tables, the same distribution for mixed ones."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from hardbot.arena.match import play_match
from hardbot.bots.base import Bot
from hardbot.bots.registry import FACTORIES
from hardbot.errors import ArenaError, StrategyError
from hardbot.game.rules import BOARD_SIZES, HEADS_UP
from hardbot.game.tree import betting_tree
from hardbot.model.policy import TablePolicy

N_BUCKETS = 7


def _buckets(holes, boards):
    sums = [holes.sum(axis=1) + boards[:, :size].sum(axis=1) for size in BOARD_SIZES]
    return np.stack(sums, axis=1).astype(np.int32) % N_BUCKETS


class TableBot(Bot):
    """A table over buckets made of card sums; `pure` tables never mix."""

    name = "tablebot"

    def __init__(self, seed, pure):
        tree, rng = betting_tree(HEADS_UP), np.random.default_rng(seed)
        rows = rng.dirichlet([0.5, 2.0, 1.0], size=(tree.n_decisions, N_BUCKETS))
        rows *= (tree.child[: tree.n_decisions] >= 0)[:, None, :]
        rows /= rows.sum(axis=2, keepdims=True)
        if pure:
            rows = (rows == rows.max(axis=2, keepdims=True)).astype(float)
        self.rows = rows.astype(np.float32)

    def act(self, view, rng):
        bucket = (sum(view.hole) + sum(view.board)) % N_BUCKETS
        return int(np.searchsorted(np.cumsum(self.rows[view.betting.index, bucket]), rng.random(), side="right"))

    def table_policy(self):
        offsets = np.arange(len(self.rows), dtype=np.int64) * N_BUCKETS
        return TablePolicy(HEADS_UP, offsets, self.rows.reshape(-1, 3), _buckets)


class BrokenTable(TableBot):
    """A table with every row the same: an illegal raise at the cap, nothing at all, or not a number."""

    def __init__(self, row, shift=0):
        super().__init__(0, pure=True)
        self.rows[:] = row
        self.shift = shift

    def table_policy(self):
        policy = super().table_policy()
        return replace(policy, buckets=lambda holes, boards: _buckets(holes, boards) + self.shift)


@pytest.fixture(autouse=True)
def table_bots(monkeypatch):
    monkeypatch.setitem(FACTORIES, "pure", lambda spec: TableBot(int(spec.split(":")[1]), pure=True))
    monkeypatch.setitem(FACTORIES, "mixed", lambda spec: TableBot(int(spec.split(":")[1]), pure=False))
    monkeypatch.setitem(
        FACTORIES, "broken", lambda spec: BrokenTable([float(x) for x in spec.split(":")[1].split("/")])
    )
    monkeypatch.setitem(FACTORIES, "outside", lambda spec: BrokenTable([0, 1, 0], shift=int(spec.split(":")[1])))


@pytest.mark.parametrize("duplicate", [True, False], ids=["duplicate", "single"])
def test_fixed_tables_play_exactly_as_in_python(duplicate, tmp_path):
    results, logs = [], []
    for compiled in (False, True):
        log = tmp_path / str(compiled) / "match.log"
        log.parent.mkdir()
        options = {"block": 300, "duplicate": duplicate, "compiled": compiled, "log": log}
        results.append(play_match("pure:1", "pure:2", 1_000, 5, **options))
        logs.append(log.read_text())
    assert logs[0] == logs[1]
    assert np.array_equal(results[0].pair_chips, results[1].pair_chips)
    assert len(np.unique(results[0].pair_chips)) > 20


def test_mixed_tables_win_the_same_on_average():
    slow = play_match("mixed:1", "mixed:2", 3_000, seed=5, compiled=False)
    fast = play_match("mixed:1", "mixed:2", 40_000, seed=6, compiled=True)
    spread = math.hypot(slow.ci95, fast.ci95) / 1.96
    assert abs(slow.sb_per_hand - fast.sb_per_hand) < 3.5 * spread
    assert slow.sd_pair == pytest.approx(fast.sd_pair, rel=0.08)


def test_random_tables_take_every_action_as_often_as_random_bots(tmp_path):
    counts = []
    for compiled in (False, True):
        log = tmp_path / f"{compiled}.log"
        play_match("random", "random", 4_000, seed=3, compiled=compiled, log=log)
        betting = "".join(line.split(":")[2] for line in log.read_text().splitlines() if line.startswith("STATE"))
        counts.append(np.array([betting.count(char) for char in "fcr"]))
    shares = [count / count.sum() for count in counts]
    assert np.abs(shares[0] - shares[1]).max() < 4 * 0.5 / math.sqrt(min(count.sum() for count in counts))


def test_the_two_sides_of_a_compiled_match_draw_different_numbers(tmp_path):
    log = tmp_path / "match.log"
    play_match("random", "random", 50, seed=3, compiled=True, log=log)
    lines = [line.split(":")[2] for line in log.read_text().splitlines() if line.startswith("STATE")]
    assert lines[::2] != lines[1::2]


@pytest.mark.parametrize(
    ("row", "got"), [("0/0/1", "raise"), ("0/0/0", "no probability above 0"), ("nan/0/1", "no probability above 0")]
)
def test_a_broken_table_fails_loudly(row, got):
    where = r"at MATCHSTATE.*seed 1, block 0, hand 0"
    with pytest.raises(ArenaError, match=rf"from the table of broken\S+, got {got} {where}"):
        play_match(f"broken:{row}", "always_raise", 10, seed=1)


@pytest.mark.parametrize("shift", [-1, 1])
def test_buckets_outside_the_table_are_refused(shift):
    with pytest.raises(StrategyError, match="buckets within"):
        play_match(f"outside:{shift}", "always_raise", 200, seed=1)


def test_callables_and_timed_matches_stay_in_python():
    assert play_match(lambda: TableBot(1, pure=True), "always_call", 5, seed=1).compiled is False
    assert play_match("pure:1", "always_call", 5, seed=1, timed=True).compiled is False
    assert play_match("pure:1", "always_call", 5, seed=1).compiled is True
