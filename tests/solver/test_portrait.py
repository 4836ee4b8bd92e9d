"""Portraits: habits of one opponent from the hands of a match, shown or hidden."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.errors import StrategyError
from hardbot.game.betting import parse_betting
from hardbot.game.cards import N_HOLES, compatible_holes, parse_board
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE
from hardbot.game.tree import betting_tree
from hardbot.solver import portrait as module
from hardbot.solver.abstraction import make_abstraction
from hardbot.solver.portrait import LEAST, Easel, HandLog, Portrait, PortraitSettings, layout_of

BOARD = parse_board("Jh4c3h9d2s")
LINE = ("", "cc/r", "cc/rc/r", "cc/rc/rc/r")  # the button's decisions when it limps and is bet into on every street


@pytest.fixture(scope="module")
def abstraction():
    return make_abstraction(0, 0, 20)


@pytest.fixture(scope="module")
def uniform(abstraction):
    layout = layout_of(abstraction.sizes)
    rows = layout.legal / layout.legal.sum(axis=1, keepdims=True)
    return np.repeat(rows, np.diff(layout.offsets), axis=0).astype(np.float32)


def points_of(*texts: str) -> list[int]:
    betting_tree(HEADS_UP)
    return [parse_betting(HEADS_UP, text).index for text in texts]


def buckets_by_street(abstraction, rng) -> dict[int, np.ndarray]:
    return {street: rng.integers(size, size=N_HOLES) for street, size in enumerate(abstraction.sizes)}


def dead_cards(*cards: int) -> int:
    return sum(1 << card for card in cards)


def test_without_hands_the_portrait_is_the_sketch(abstraction, uniform):
    rng = np.random.default_rng(1)
    sketch = uniform * rng.uniform(0.5, 2.0, size=uniform.shape).astype(np.float32)
    sketch /= sketch.sum(axis=1, keepdims=True)
    portrait = Portrait(Easel(abstraction, PortraitSettings(floor=0.0)), sketch)
    portrait.draw(sketch)
    assert portrait.habits == pytest.approx(sketch, abs=1e-6)
    assert portrait.cautious(uniform) == pytest.approx(uniform)


def test_rows_lie_where_strategies_have_them(abstraction):
    layout = layout_of(abstraction.sizes)
    tree = betting_tree(HEADS_UP)
    assert len(layout.legal) == tree.n_decisions == 6378
    assert layout.offsets[-1] == 8 * 169 + (70 + 630) * 169 + 5670 * 20


def test_hidden_hands_are_spread_as_a_plain_loop_does(abstraction, uniform):
    rng = np.random.default_rng(2)
    habits = rng.dirichlet(np.ones(3), size=len(uniform)).astype(np.float32)
    portrait = Portrait(Easel(abstraction, PortraitSettings(decay=0.5)), uniform)
    portrait.habits = habits
    points, hands = points_of(*LINE), []
    for shown in (-1, 77):
        buckets = buckets_by_street(abstraction, rng)
        actions = [CALL, RAISE, CALL, FOLD]
        portrait.see(points, actions, buckets, dead_cards(*BOARD), shown)
        hands.append((buckets, actions, shown))
    found = portrait.count_hands()
    wanted = np.zeros_like(found)
    for weight, (buckets, actions, shown) in zip((0.5, 1.0), hands, strict=True):
        p = compatible_holes(BOARD).astype(float) if shown < 0 else np.eye(N_HOLES)[shown]
        rows = [[portrait.layout.offsets[x] + buckets[s][h] for h in range(N_HOLES)] for s, x in enumerate(points)]
        for at, action in zip(rows, actions, strict=True):
            p = p * np.maximum(habits[at, action], LEAST)
        for at, action in zip(rows, actions, strict=True):
            np.add.at(wanted, (at, action), weight * p / p.sum())
    assert found == pytest.approx(wanted, abs=1e-4)
    assert found.sum() == pytest.approx(4 * 1.5, rel=1e-4)


def test_frequencies_are_learned_before_cards_and_at_points_never_seen(abstraction, uniform):
    rng = np.random.default_rng(3)
    portrait = Portrait(Easel(abstraction), uniform)
    for _ in range(30):  # calls every bet
        portrait.see(points_of(*LINE), [CALL] * 4, buckets_by_street(abstraction, rng), dead_cards(*BOARD), -1)
    portrait.draw(uniform)
    other = points_of("crc/r")[0]  # the same street, another pot
    first = portrait.layout.offsets[other]
    assert portrait.habits[first : first + 169, CALL].min() > 0.7
    assert uniform[first, CALL] == pytest.approx(1 / 3)


def test_habits_follow_a_player_who_plays_by_strength(abstraction, uniform):
    rng = np.random.default_rng(4)
    portrait = Portrait(Easel(abstraction), uniform)
    point = points_of("cc/cc/cc/r")
    for number in range(200):  # river: the lower half of the buckets folds, the upper half raises
        bucket = number % 20
        buckets = {3: np.full(N_HOLES, bucket)}
        action = FOLD if bucket < 10 else RAISE
        portrait.see(point, [action], buckets, 0, int(rng.integers(N_HOLES)))
    portrait.draw(uniform)
    rows = portrait.habits[portrait.layout.offsets[point[0]] :][:20]
    assert rows[:8, FOLD].min() > 0.8
    assert rows[12:, RAISE].min() > 0.8
    assert rows.sum(axis=1) == pytest.approx(np.ones(20), abs=1e-5)


def test_trust_grows_with_the_observations_of_a_context(abstraction, uniform):
    rng = np.random.default_rng(5)
    portrait = Portrait(Easel(abstraction, PortraitSettings(tau_trust=20.0, likeness=0.0, decay=1.0)), uniform)
    shares = []
    for _ in range(2):
        for _ in range(20):
            portrait.see(points_of(""), [RAISE], buckets_by_street(abstraction, rng), 0, -1)
        portrait.draw(uniform)
        cautious = portrait.cautious(uniform)
        shares.append((cautious[0, RAISE] - 1 / 3) / (portrait.habits[0, RAISE] - 1 / 3))
    assert shares == pytest.approx([20 / 40, 40 / 60], abs=1e-3)
    never = portrait.layout.offsets[points_of("cc/r")[0]]
    assert cautious[never] == pytest.approx(uniform[never])
    sure = portrait.cautious(uniform, surprise=0.0)  # somebody who never surprises is trusted at once
    assert sure[0] == pytest.approx(portrait.habits[0], abs=1e-3)


def test_newest_hands_are_kept_and_count_most(monkeypatch):
    monkeypatch.setattr(module, "MAX_HANDS", 100)
    log = HandLog.empty()
    for number in range(130):
        log.add(np.array([number]), np.array([CALL]), {}, 0, -1)
    assert log.n_hands == 130
    assert sorted(log.points[:, 0].tolist()) == list(range(30, 130))
    weights = log.weights(0.9)
    assert weights[log.points[:, 0] == 129] == pytest.approx([1.0])
    assert weights[log.points[:, 0] == 30] == pytest.approx([0.9**99])


def test_hand_with_more_decisions_than_a_hand_can_have_is_refused():
    with pytest.raises(StrategyError, match="at most 12 decisions"):
        HandLog.empty().add(np.zeros(13, dtype=np.int64), np.zeros(13, dtype=np.int64), {}, 0, -1)
