"""Worker processes: order is kept and a bot's failure comes back as it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hardbot.arena.blocks import block_sizes, run_blocks
from hardbot.arena.match import play_match
from hardbot.bots.simple import AlwaysCall
from hardbot.errors import ArenaError

ROOT = Path(__file__).parents[2]


class Tired(AlwaysCall):
    """Fails in its third hand."""

    name = "tired"

    def __init__(self):
        self.n_hands = 0

    def new_hand(self, view):
        self.n_hands += 1
        if self.n_hands == 3:
            raise RuntimeError("three hands are enough")


def double(plan, index):
    return plan * index


def quit_process(plan, index):
    os._exit(3)


@pytest.fixture
def importable_in_workers(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def test_block_sizes_cover_the_match_and_only_the_last_is_short():
    assert block_sizes(25, 10) == [10, 10, 5]
    assert block_sizes(20, 10) == [10, 10]
    assert block_sizes(3, 10) == [3]


@pytest.mark.usefixtures("importable_in_workers")
def test_outcomes_come_in_block_order_whatever_the_jobs():
    assert list(run_blocks(double, 2, 20, jobs=1)) == list(run_blocks(double, 2, 20, jobs=2)) == list(range(0, 40, 2))


@pytest.mark.usefixtures("importable_in_workers")
def test_a_failure_in_a_worker_names_the_hand():
    with pytest.raises(ArenaError, match=r"from tired, got RuntimeError: three hands .*MATCHSTATE.*block 0"):
        play_match(Tired, "always_call", 40, seed=1, block=10, jobs=2)


@pytest.mark.usefixtures("importable_in_workers")
def test_a_worker_that_dies_ends_the_match_with_an_error():
    with pytest.raises(ArenaError, match="expected 2 worker processes to stay alive"):
        list(run_blocks(quit_process, 0, 4, jobs=2))
