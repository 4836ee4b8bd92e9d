"""P(action | bucket, context): proper distributions everywhere, the shrinkage formula, speed at the table."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from hardbot.errors import ModelError
from hardbot.game.betting import parse_betting
from hardbot.game.cards import HOLE_CLASS, compatible_holes, hole_index, parse_board, parse_hole
from hardbot.game.feature_tables import FEATURE_COLUMNS, features_on_board
from hardbot.game.rules import CALL, FOLD, HEADS_UP, HEADS_UP_IRC, RAISE, preset
from hardbot.model.artifact import StreetModel, TrainedModel
from hardbot.model.context import context_slot, street_contexts
from hardbot.model.likelihood import ActionModel, StreetLikelihood, class_kernel, coarse_levels

COLUMNS = (("e", "e2"), ("e", "e2", "ppot", "npot"), ("e", "e2", "ppot", "npot"), ("e",))
FLOOR = 0.003
TAUS = (5.0, 10.0, 20.0, 7.0)
FLOP = parse_board("Jh4c3h")
RIVER = parse_board("Jh4c3h9sTd")


def make_model(k: int = 12, share_seen: float = 0.3, seed: int = 1, floor: float = FLOOR) -> TrainedModel:
    rng = np.random.default_rng(seed)
    streets = []
    for street, columns in enumerate(COLUMNS):
        contexts = street_contexts(street)
        size = 169 if street == 0 else k
        seen = (rng.random(contexts.n_slots) < share_seen)[:, None, None]
        shape = (contexts.n_slots, size, 3)
        counts = (rng.gamma(0.5, 4.0, shape) * contexts.legal[:, None, :] * seen).astype(np.float32)
        streets.append(
            StreetModel(
                street=street,
                columns=columns,
                width=0.3,
                taus=TAUS,
                tau_class=8.0,
                centroids=rng.normal(size=(size, len(columns))).astype(np.float32),
                mean=np.full(len(columns), 0.4, dtype=np.float32),
                std=np.full(len(columns), 0.2, dtype=np.float32),
                kernel_norm=np.ones(size, dtype=np.float32),
                counts=counts,
                context_counts=counts.sum(axis=1),
            )
        )
    return TrainedModel(tuple(streets), floor)


@pytest.fixture(scope="module")
def action_model() -> ActionModel:
    return ActionModel(make_model())


@pytest.mark.parametrize("street", range(4))
def test_every_decision_point_has_a_proper_distribution(street):
    likelihood = StreetLikelihood(make_model().streets[street], FLOOR)
    p = likelihood.probabilities(np.arange(likelihood.contexts.n_slots))
    legal = np.broadcast_to(likelihood.contexts.legal[:, None, :], p.shape)
    assert p.sum(axis=2) == pytest.approx(np.ones(p.shape[:2]), abs=1e-12)
    assert (p[~legal] == 0.0).all()
    n_legal = likelihood.contexts.legal.sum(axis=1)[:, None, None]
    assert (p >= FLOOR / n_legal * (1 - 1e-9))[legal].all()


def test_a_model_without_any_count_is_uniform_over_legal_actions():
    empty = make_model(share_seen=0.0)
    model = ActionModel(empty)
    assert model.bucket_probabilities(parse_betting(HEADS_UP, "rc/r")) == pytest.approx(np.full((12, 3), 1 / 3))
    assert model.bucket_probabilities(parse_betting(HEADS_UP, "rc/")) == pytest.approx(np.tile([0, 0.5, 0.5], (12, 1)))


def test_shrinkage_is_the_stated_formula_written_out():
    part = make_model().streets[1]
    contexts = street_contexts(1)
    slot = context_slot(parse_betting(HEADS_UP, "rc/cr"))
    bucket = 4

    def count(level: int) -> np.ndarray:
        same = contexts.level[level] == contexts.level[level][slot]
        return part.counts[same, bucket].sum(axis=0, dtype=np.float64)

    p = np.full(3, 1 / 3)  # fold, call and raise are legal
    for level in (3, 2, 1, 0):
        p = (count(level) + TAUS[level] * p) / (count(level).sum() + TAUS[level])
    p = (1 - FLOOR) * p + FLOOR / 3
    assert StreetLikelihood(part, FLOOR).probabilities(np.array([slot]))[0, bucket] == pytest.approx(p, rel=1e-5)


def test_preflop_classes_are_pooled_with_their_neighbours_then_counted_alone():
    part = make_model().streets[0]
    contexts = street_contexts(0)
    slot, hand = context_slot(parse_betting(HEADS_UP, "r")), 13
    pool = class_kernel(part.centroids, part.width)

    def count(level: int) -> np.ndarray:
        same = contexts.level[level] == contexts.level[level][slot]
        return pool[hand] @ part.counts[same].sum(axis=0, dtype=np.float64)

    p = np.full(3, 1 / 3)
    for level in (3, 2, 1, 0):
        p = (count(level) + TAUS[level] * p) / (count(level).sum() + TAUS[level])
    own = part.counts[slot, hand].astype(np.float64)
    p = (own + 8.0 * p) / (own.sum() + 8.0)
    p = (1 - FLOOR) * p + FLOOR / 3
    assert StreetLikelihood(part, FLOOR).probabilities(np.array([slot]))[0, hand] == pytest.approx(p, rel=1e-5)


def test_much_data_overrules_the_prior_and_no_data_follows_it():
    part = make_model(share_seen=0.0).streets[1]
    slot = context_slot(parse_betting(HEADS_UP, "cc/r"))
    sibling = context_slot(parse_betting(HEADS_UP_IRC, "cc/r"))  # the same at level 1
    counts = part.counts.copy()
    counts[slot, 3] = (0.0, 1e5, 3e5)
    likelihood = StreetLikelihood(replace(part, counts=counts), FLOOR)
    p = likelihood.probabilities(np.array([slot, sibling]))
    assert p[0, 3] == pytest.approx([0, 0.25, 0.75], abs=0.002)
    assert p[1, 3] == pytest.approx(p[0, 3], abs=0.01)
    assert p[1, 4] == pytest.approx(np.full(3, 1 / 3))  # another bucket learns nothing


def test_coarse_levels_add_up_counts_over_nested_contexts():
    part, contexts = make_model(share_seen=1.0).streets[1], street_contexts(1)
    tiny = (1e-9,) * 4
    first, second, third = coarse_levels(part.counts, contexts, tiny)
    for level, found in ((1, first), (2, second), (3, third)):
        context = 2
        total = part.counts[contexts.level[level] == context].sum(axis=0, dtype=np.float64)
        assert found[context] == pytest.approx(total / total.sum(axis=1, keepdims=True), rel=1e-5)


@pytest.mark.parametrize("text", ["", "r", "rc/", "rc/cr", "rc/cc/rr", "rc/cc/cc/r", "rrrc/rrrrc/rrrrc/rrrr"])
@pytest.mark.parametrize("rules", [HEADS_UP, HEADS_UP_IRC], ids=lambda rules: rules.name)
def test_all_hole_hands_get_distributions_over_legal_actions(action_model, rules, text):
    betting = parse_betting(rules, text)
    board = RIVER[: (0, 3, 4, 5)[betting.street]]
    p = action_model.action_probabilities(betting, board)
    assert p.shape == (1326, 3)
    assert p.dtype == np.float64
    assert p.sum(axis=1) == pytest.approx(np.ones(1326), abs=1e-12)
    for action in (FOLD, CALL, RAISE):
        assert ((p[:, action] > 0) == (action in betting.legal)).all()


def test_a_hand_gets_the_row_of_its_bucket_and_a_blocked_one_the_contexts_mean(action_model):
    betting = parse_betting(HEADS_UP, "rc/r")
    buckets = action_model.buckets(FLOP)
    p = action_model.action_probabilities(betting, FLOP)
    rows = action_model.bucket_probabilities(betting)
    free = compatible_holes(FLOP)
    assert ((buckets >= 0) == free).all()
    assert np.array_equal(p[free], rows[buckets[free]])
    assert (p[~free] == action_model.context_probabilities(betting)).all()


def test_buckets_are_the_nearest_centroids_of_standardised_vectors(action_model):
    part = action_model.model.streets[1]
    features = features_on_board(FLOP)[:, [FEATURE_COLUMNS.index(name) for name in part.columns]]
    vectors = (features - part.mean) / part.std
    free = compatible_holes(FLOP)
    distance = np.linalg.norm(vectors[free][:, None] - part.centroids[None], axis=2)
    nearest = np.sort(distance, axis=1)
    clear = nearest[:, 1] - nearest[:, 0] > 1e-4
    assert np.array_equal(action_model.buckets(FLOP)[free][clear], distance.argmin(axis=1)[clear])
    assert np.array_equal(action_model.buckets(()), HOLE_CLASS)


def test_suit_symmetric_hands_share_a_bucket(action_model):
    buckets = action_model.buckets(parse_board("Jh4h3h"))
    for texts in (("AsKs", "AcKc", "AdKd"), ("7c2h", "7d2h", "7s2h")):
        assert len({int(buckets[hole_index(*parse_hole(text))]) for text in texts}) == 1
    assert len(np.unique(buckets)) > 3


def test_a_board_that_does_not_fit_the_street_is_refused(action_model):
    with pytest.raises(ModelError, match="3 board cards"):
        action_model.action_probabilities(parse_betting(HEADS_UP, "rc/"), RIVER)
    with pytest.raises(ModelError, match="finished"):
        action_model.bucket_probabilities(parse_betting(HEADS_UP, "rf"))


@pytest.mark.parametrize("text", ["", "rrr", "rrrr", "rc/rrrrr", "rrrrc/crrrr"])
def test_other_heads_up_caps_get_distributions_over_their_own_legal_actions(action_model, text):
    for rules in (preset("heads-up-five-bets"), HEADS_UP_IRC.uncapped()):
        betting = parse_betting(rules, text)
        p = action_model.action_probabilities(betting, FLOP if betting.street else ())
        assert p.sum(axis=1) == pytest.approx(np.ones(1326), abs=1e-12)
        assert np.flatnonzero(p[0] > 0).tolist() == list(betting.legal)


@pytest.mark.parametrize("text", ["", "rfc", "ccccc", "rrrfffc", "cccccc/ccr"])
def test_ring_tables_fall_back_on_street_and_price(action_model, text):
    betting = parse_betting(preset("ring-6"), text)
    p = action_model.action_probabilities(betting, FLOP if betting.street else ())
    assert p.sum(axis=1) == pytest.approx(np.ones(1326), abs=1e-12)
    assert np.flatnonzero(p[0] > 0).tolist() == list(betting.legal)


def test_zero_pseudo_counts_are_refused():
    part = replace(make_model().streets[1], taus=(1.0, 0.0, 1.0, 1.0))
    with pytest.raises(ModelError, match="above 0"):
        StreetLikelihood(part, FLOOR)


def test_a_seen_board_costs_less_than_a_third_of_a_millisecond():
    model = ActionModel(make_model(k=200))
    positions = [parse_betting(HEADS_UP, text) for text in ("rc/", "rc/r", "rc/cr", "cc/rr")]
    for betting in positions:
        model.action_probabilities(betting, FLOP)
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        for betting in positions:
            model.action_probabilities(betting, FLOP)
        best = min(best, (time.perf_counter() - start) / len(positions))
    assert best < 0.3e-3
