"""Duplicate matches: exact reference values, memory kept apart, the same result however it is run."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from hardbot.arena.deals import deal_block
from hardbot.arena.match import play_match
from hardbot.arena.statistics import estimate_blocks
from hardbot.bots.base import Bot
from hardbot.bots.simple import AlwaysCall
from hardbot.errors import ArenaError, BotError, RulesError
from hardbot.game.rules import CALL, FOLD, HEADS_UP_IRC, RAISE, preset, ring

GOLDEN = Path(__file__).with_name("golden_match.log")
LOOPS = pytest.mark.parametrize("compiled", [False, True], ids=["python", "compiled"])


class Spy(AlwaysCall):
    """Remembers what an instance has seen since it was made."""

    name = "spy"

    def __init__(self):
        self.seen = []

    def new_hand(self, view):
        self.seen.append((view.hand_number, view.seat, view.hole))


class Learner(AlwaysCall):
    """Calls, but says that it learns."""

    name = "learner"
    learns = True


class Gambler(Bot):
    """Draws any number of random numbers, then plays at random."""

    name = "gambler"

    def __init__(self, draws):
        self.draws = draws

    def act(self, view, rng):
        rng.random(self.draws)
        return view.betting.legal[int(rng.integers(len(view.betting.legal)))]


class Fader(Bot):
    """Raises in its first hands and folds later: a bot whose result depends on the hand's number."""

    name = "fader"

    def __init__(self):
        self.n_hands = 0

    def new_hand(self, view):
        self.n_hands += 1

    def act(self, view, rng):
        wish = RAISE if self.n_hands <= 30 else FOLD
        return wish if wish in view.betting.legal else CALL


@LOOPS
def test_call_against_raise_is_zero_in_every_duplicate_pair(compiled):
    result = play_match("always_call", "always_raise", 2_000, seed=1, compiled=compiled)
    assert result.compiled is compiled
    assert not result.pair_chips.any()
    assert (result.sb_per_hand, result.ci95, result.hands, result.pairs) == (0.0, 0.0, 4_000, 2_000)


@LOOPS
def test_call_against_raise_on_single_deals_has_the_known_spread(compiled):
    result = play_match("always_call", "always_raise", 60_000, seed=7, duplicate=False, compiled=compiled)
    assert result.sd_pair == pytest.approx(6.856, rel=0.02)
    assert abs(result.sb_per_hand) <= result.ci95
    assert result.ci95 == pytest.approx(1.96 * 6.856 / math.sqrt(60_000), rel=0.02)
    assert result.hands == result.pairs == 60_000


@LOOPS
def test_raise_wins_three_quarters_of_a_small_bet_from_fold(compiled):
    result = play_match("always_raise", "always_fold", 500, seed=2, compiled=compiled)
    assert (result.pair_sb == 0.75).all()
    assert result.sb_per_hand == 0.75


@pytest.mark.parametrize(
    ("first", "second", "duplicate"),
    [("random", "always_call", True), ("always_call", "always_raise", False)],
    ids=["pairs", "single deals"],
)
def test_intervals_of_matches_cover_the_true_value_95_times_in_100(first, second, duplicate):
    truth = play_match(first, second, 400_000, seed=10_000, block=10_000, duplicate=duplicate).sb_per_hand
    matches = [play_match(first, second, 100, seed, duplicate=duplicate) for seed in range(500)]
    covered = [abs(match.sb_per_hand - truth) <= match.ci95 for match in matches]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.025)


def test_a_bot_against_itself_wins_nothing_and_pairing_removes_the_luck():
    twins = play_match("always_call", "always_call", 300, seed=5)
    assert not twins.pair_chips.any()
    paired = play_match("random", "always_call", 4_000, seed=5)
    single = play_match("random", "always_call", 4_000, seed=5, duplicate=False)
    assert paired.sd_pair < 0.5 * single.sd_pair


def test_swapping_the_bots_changes_the_sign():
    forth = play_match("always_raise", Fader, 50, seed=3)
    back = play_match(Fader, "always_raise", 50, seed=3)
    assert forth.pair_chips.any()
    assert np.array_equal(forth.pair_chips, -back.pair_chips)
    assert forth.bots == ("always_raise", "fader")


@LOOPS
def test_the_result_is_the_same_for_any_number_of_jobs(compiled, tmp_path):
    logs = [tmp_path / f"jobs{jobs}" / "match.log" for jobs in (1, 2)]
    results = []
    for jobs, log in zip((1, 2), logs, strict=True):
        log.parent.mkdir()
        results.append(play_match("random", "random", 230, seed=9, block=50, jobs=jobs, compiled=compiled, log=log))
    assert np.array_equal(results[0].pair_chips, results[1].pair_chips)
    assert results[0].pair_chips.any()
    assert logs[0].read_text() == logs[1].read_text()
    assert results[0].block_pairs.tolist() == [50, 50, 50, 50, 30]


def test_a_seed_decides_the_match():
    results = [play_match("random", "random", 100, seed=seed, compiled=False).pair_chips for seed in (1, 1, 2)]
    assert np.array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])


def test_the_golden_match_is_played_line_by_line(tmp_path):
    log = tmp_path / "golden_match.log"
    play_match("random", "always_call", 8, seed=2010, block=4, compiled=False, log=log)
    assert log.read_text().splitlines() == GOLDEN.read_text().splitlines()


def test_memory_is_fresh_each_block_and_never_sees_the_other_sides_hands():
    spies: list[Spy] = []

    def spy():
        spies.append(Spy())
        return spies[-1]

    play_match(spy, "random", 70, seed=4, block=30)
    played = [s for s in spies if s.seen]
    assert [len(s.seen) for s in played] == [30, 30, 30, 30, 10, 10]  # two sides of three blocks
    for block, (one, two) in enumerate(zip(played[::2], played[1::2], strict=True)):
        deals = deal_block(2, 30, seed=4, block=block)
        for side, instance in enumerate((one, two)):
            numbers, seats, holes = zip(*instance.seen, strict=True)
            assert numbers == tuple(2 * (30 * block + i) + side for i in range(len(seats)))
            assert seats == tuple((i + side) % 2 for i in range(len(seats)))
            assert holes == tuple(deals.deal(i).holes[seat] for i, seat in enumerate(seats))
        assert not {number for number, _, _ in one.seen} & {number for number, _, _ in two.seen}


def test_bots_randomness_moves_neither_the_deals_nor_the_other_bot():
    spies: list[Spy] = []

    def spy():
        spies.append(Spy())
        return spies[-1]

    for draws in (0, 5):
        play_match(spy, lambda: Gambler(draws), 20, seed=8)  # noqa: B023
    few, many = spies[1:3], spies[4:6]  # the first instance of a match is only asked what it is
    assert [s.seen for s in few] == [s.seen for s in many]
    assert few[0].seen


def test_a_bots_generator_does_not_depend_on_its_opponent():
    first: list[list[float]] = []

    class Taster(AlwaysCall):
        def act(self, view, rng):
            first[-1].append(rng.random())
            return CALL

    for opponent in ("always_call", lambda: Gambler(3)):
        first.append([])
        play_match(Taster, opponent, 1, seed=8)
    assert first[0][0] == first[1][0]


def test_learning_bots_get_their_interval_over_blocks():
    result = play_match(Learner, "random", 200, seed=6, block=40)
    assert result.interval == "blocks"
    assert result.compiled is False
    assert result.ci95 == estimate_blocks(result.block_sb, result.block_pairs).half_width
    assert result.block_sb.mean() == pytest.approx(result.sb_per_hand)
    assert play_match("always_call", "random", 200, seed=6, block=40).interval == "pairs"


def test_one_block_of_a_learner_has_no_interval():
    result = play_match(Learner, "random", 30, seed=6)
    assert math.isnan(result.ci95)
    assert json.loads(json.dumps(result.to_json(), allow_nan=False))["ci95"] is None


def test_a_window_counts_only_its_hands_of_each_block():
    early = play_match(Fader, "always_fold", 120, seed=1, block=60, window=(0, 30))
    late = play_match(Fader, "always_fold", 120, seed=1, block=60, window=(30, 60))
    everything = play_match(Fader, "always_fold", 120, seed=1, block=60)
    assert early.sb_per_hand == 0.75
    assert late.sb_per_hand == 0.0
    assert everything.sb_per_hand == pytest.approx(0.375)
    assert (late.pairs, late.hands, everything.pairs) == (60, 120, 120)


def test_other_heads_up_rules_can_be_played():
    result = play_match("always_raise", "always_fold", 50, seed=1, rules=HEADS_UP_IRC)
    assert (result.pair_sb == 0.75).all()
    assert result.compiled is False  # the tables are for reverse blinds
    five = play_match("always_raise", "always_raise", 50, seed=1, rules=preset("heads-up-five-bets"), duplicate=False)
    assert set(np.abs(five.pair_chips)) <= {0, 300}
    assert np.abs(five.pair_chips).max() == 300


def test_timed_matches_report_milliseconds_a_decision():
    result = play_match("random", "always_call", 50, seed=1, timed=True)
    assert result.decision_ms is not None
    assert all(0 < ms < 1 for ms in result.decision_ms)


def test_progress_is_reported_block_by_block():
    steps = []
    play_match("random", "random", 25, seed=1, block=10, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(10, 25), (20, 25), (25, 25)]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("random", "random", 0, 1), {}, ArenaError, "expected at least 1 pair, got 0"),
        (("random", "random", 5, -1), {}, ArenaError, "expected a seed of 0 or more, got -1"),
        (("random", "nobody", 5, 1), {}, BotError, "got 'nobody'"),
        (("random", "random", 5, 1), {"block": 0}, ArenaError, "expected a block of at least 1 deal, got 0"),
        (("random", "random", 5, 1), {"jobs": 0}, ArenaError, "expected at least 1 job, got 0"),
        (("random", "random", 5, 1), {"window": (5, 9)}, ArenaError, "expected a window within blocks of 5 hands"),
        (("random", "random", 5, 1), {"names": ("a", "a")}, ArenaError, "expected 2 different names"),
        (("random", "random", 5, 1), {"names": ("a|b", "c")}, ArenaError, "expected 2 different names"),
        (("random", Learner, 5, 1), {"compiled": True}, ArenaError, "expected two bots with table policies"),
        (("random", "random", 5, 1), {"rules": ring(3)}, RulesError, "expected a capped heads-up table"),
    ],
    ids=["pairs", "seed", "bot", "block", "jobs", "window", "same names", "bad name", "no table", "three seats"],
)
def test_a_match_that_cannot_be_run_is_refused(arguments, options, error, message):
    with pytest.raises(error, match=message):
        play_match(*arguments, **options)
