"""Ring tournaments: luck cancels over the rotations, memory is kept apart per rotation."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.arena.match import play_match
from hardbot.arena.ring import play_ring
from hardbot.bots.simple import AlwaysCall
from hardbot.errors import ArenaError, BotError, RulesError
from hardbot.game.rules import ring


class Spy(AlwaysCall):
    """Remembers what an instance has seen since it was made."""

    name = "spy"

    def __init__(self):
        self.seen = []

    def new_hand(self, view):
        self.seen.append((view.hand_number, view.seat, view.players))


class HeadsUpOnly(AlwaysCall):
    """Sits at tables of two."""

    name = "duelist"
    table_sizes = range(2, 3)


class Learner(AlwaysCall):
    """Says that it learns."""

    name = "learner"
    learns = True


@pytest.mark.parametrize("n_seats", [2, 3, 6, 10])
def test_equal_bots_win_nothing_over_the_rotations_of_any_deal(n_seats):
    result = play_ring(["always_call"] * n_seats, 30, seed=3)
    assert not result.deal_chips.any()
    assert result.hands == 30 * n_seats
    assert result.sb_per_hand == (0.0,) * n_seats


def test_winnings_of_a_deal_add_up_to_zero():
    result = play_ring(["random", "always_raise", "random", "always_call"], 100, seed=5)
    assert result.deal_chips.any()
    assert not result.deal_chips.sum(axis=1).any()


def test_one_raiser_takes_the_blinds_of_two_folders():
    result = play_ring(["always_fold", "always_raise", "always_fold"], 40, seed=1)
    assert result.sb_per_hand == (-0.5, 1.0, -0.5)  # 10, 5 and 15 chips from the three seats
    assert result.ci95 == (0.0, 0.0, 0.0)


def test_two_seats_are_the_duplicate_match():
    tournament = play_ring(["random", "always_call"], 150, seed=6, block=40)
    match = play_match("random", "always_call", 150, seed=6, block=40, compiled=False)
    assert np.array_equal(tournament.deal_chips[:, 0], match.pair_chips)
    assert tournament.sb_per_hand[0] == match.sb_per_hand
    assert tournament.ci95[0] == match.ci95


def test_every_bot_takes_every_seat_once_a_deal_at_tables_of_its_own():
    spies: list[Spy] = []

    def spy():
        spies.append(Spy())
        return spies[-1]

    play_ring([spy, "random", "random"], 8, seed=2, block=5)
    played = [s.seen for s in spies if s.seen]
    assert [len(seen) for seen in played] == [5, 5, 5, 3, 3, 3]
    for block, first in ((0, 0), (1, 5)):
        tables = played[3 * block : 3 * block + 3]
        for i in range(len(tables[0])):
            assert sorted(seen[i][1] for seen in tables) == [0, 1, 2]
            assert [seen[i][0] for seen in tables] == [3 * (first + i) + rotation for rotation in range(3)]
            assert all(players[seat] == "spy" for _, seat, players in (seen[i] for seen in tables))
        assert all(len({seat for _, seat, _ in seen}) == 3 for seen in tables)  # instances move on


def test_jobs_do_not_change_a_ring(tmp_path):
    specs = ["random", "always_call", "random"]
    logs = [tmp_path / f"{jobs}" / "ring.log.gz" for jobs in (1, 2)]
    results = []
    for jobs, log in zip((1, 2), logs, strict=True):
        log.parent.mkdir()
        results.append(play_ring(specs, 25, seed=4, block=10, jobs=jobs, log=log))
    assert np.array_equal(results[0].deal_chips, results[1].deal_chips)
    assert logs[0].read_bytes() == logs[1].read_bytes()


def test_learners_get_intervals_over_blocks():
    assert play_ring([Learner, "random", "random"], 30, seed=4, block=10).interval == "blocks"
    assert play_ring(["random", "random", "random"], 30, seed=4, block=10).interval == "deals"
    assert play_ring([Learner, "random", "random"], 5, seed=4).to_json()["ci95"] == [None] * 3


def test_a_ring_that_cannot_be_played_is_refused():
    with pytest.raises(RulesError, match="expected 2 to 10 seats, got 1"):
        play_ring(["random"], 5, seed=1)
    with pytest.raises(ArenaError, match="expected at least 1 deal, got 0"):
        play_ring(["random", "random"], 0, seed=1)
    with pytest.raises(ArenaError, match="expected 4 bots for ring-4, got 3"):
        play_ring(["random"] * 3, 5, seed=1, rules=ring(4))
    with pytest.raises(BotError, match="expected 2 to 2 seats for duelist, got 3"):
        play_ring([HeadsUpOnly, "random", "random"], 5, seed=1)
