"""Hidden cards: the E-step against enumeration, plain counting where nothing is hidden, and the gap won back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hardbot.game.cards import HOLE_CARDS, HOLE_CLASS, N_HOLES, compatible_holes
from hardbot.game.feature_tables import FEATURE_COLUMNS, features_on_board
from hardbot.model.context import street_contexts
from hardbot.model.likelihood import StreetLikelihood
from pipeline.buckets import VECTOR_COLUMNS
from pipeline.dataset import Corpus
from pipeline.em import Expectation, bucket_sample, fit_model, known_counts, public_nats, rounded, street_kernel
from pipeline.ranges import disjoint_weight
from pipeline.score import Likelihoods, action_nats
from pipeline.selection import fit_all_buckets
from pipeline.settings import ModelSettings
from pipeline.study import study_censoring


def small_settings(k: int = 12, width: float = 0.3) -> ModelSettings:
    settings = replace(ModelSettings(), em_iterations=25)
    for street in (1, 2, 3):
        settings = settings.with_street(street, k=k, width=width)
    return settings


@pytest.fixture(scope="module")
def settings() -> ModelSettings:
    return small_settings()


@pytest.fixture(scope="module")
def buckets(training_corpus, settings):
    return fit_all_buckets(training_corpus, settings)


def test_disjoint_weight_agrees_with_checking_every_pair():
    rng = np.random.default_rng(1)
    weights = rng.random(N_HOLES) * (rng.random(N_HOLES) < 0.5)
    overlap = (HOLE_CARDS[:, None, :, None] == HOLE_CARDS[None, :, None, :]).any(axis=(2, 3))
    assert disjoint_weight(weights) == pytest.approx((~overlap) @ weights, abs=1e-9)


def test_disjoint_weight_of_one_hand_is_zero_for_all_that_touch_it():
    weights = np.zeros(N_HOLES)
    weights[100] = 0.3
    found = disjoint_weight(weights)
    assert np.array_equal(found > 0, compatible_holes(int(card) for card in HOLE_CARDS[100]))


def test_nothing_hidden_is_plain_counting(training_corpus, buckets, settings):
    fit = fit_model(training_corpus, buckets, settings)
    assert (fit.n_hidden, fit.trace) == (0, ())
    assert fit.n_known == training_corpus.n_decisions
    for street in range(4):
        kernel = street_kernel(street, training_corpus, buckets[street], settings)
        plain = known_counts(training_corpus, street, kernel, buckets[street])
        assert np.array_equal(fit.model.streets[street].counts, rounded(plain))
    decisions = sum(part.context_counts.sum() for part in fit.model.streets)
    assert decisions == training_corpus.n_decisions


def _first_hands(corpus: Corpus, n: int) -> Corpus:
    return corpus.select(np.arange(corpus.n_hands) < n)


def _reference_posterior(corpus: Corpus, i: int, buckets, probabilities) -> tuple[np.ndarray, float]:
    """Posterior of both seats' hands (2, 1326) and the sum over pairs, by the full 1326 x 1326 table."""
    board = tuple(int(card) for card in corpus.board[i] if card >= 0)
    likelihood = np.tile(compatible_holes(board).astype(float), (2, 1))
    for seat in (0, 1):
        if corpus.holes[i, seat] >= 0:
            likelihood[seat] *= np.arange(N_HOLES) == corpus.holes[i, seat]
    for j in range(corpus.first[i], corpus.first[i + 1]):
        street = corpus.street[j]
        ids = HOLE_CLASS if street == 0 else buckets[street].assign(features_on_board(board[: 2 + street]))
        p = probabilities[street][corpus.slot[j], :, corpus.action[j]]
        likelihood[corpus.seat[j]] *= np.where(ids >= 0, p[ids], 0.0)
    overlap = (HOLE_CARDS[:, None, :, None] == HOLE_CARDS[None, :, None, :]).any(axis=(2, 3))
    joint = likelihood[0][:, None] * likelihood[1][None, :] * ~overlap
    total = joint.sum()
    return np.stack([joint.sum(axis=1), joint.sum(axis=0)]) / total, float(total)


def test_expected_counts_agree_with_enumerating_all_pairs_of_hands(training_corpus, buckets, settings):
    hidden = _first_hands(training_corpus, 6).hide_folded()
    assert (hidden.holes < 0).any()
    assert (hidden.holes >= 0).any()
    model = fit_model(training_corpus, buckets, settings).model
    probabilities = []
    for part in model.streets:
        likelihood = StreetLikelihood(part, model.floor)
        probabilities.append(likelihood.probabilities(np.arange(likelihood.contexts.n_slots)).astype(np.float32))
    expected, _ = Expectation(hidden, buckets).run(probabilities)
    wanted = [np.zeros_like(e) for e in expected]
    for i in range(hidden.n_hands):
        posterior, _ = _reference_posterior(hidden, i, buckets, probabilities)
        board = tuple(int(card) for card in hidden.board[i] if card >= 0)
        for j in range(hidden.first[i], hidden.first[i + 1]):
            street, seat = hidden.street[j], hidden.seat[j]
            if hidden.holes[i, seat] >= 0:
                continue
            ids = HOLE_CLASS if street == 0 else buckets[street].assign(features_on_board(board[: 2 + street]))
            mass = np.bincount(ids[ids >= 0], posterior[seat][ids >= 0], minlength=wanted[street].shape[2])
            wanted[street][hidden.slot[j], hidden.action[j]] += mass
    for found, reference in zip(expected, wanted, strict=True):
        assert found == pytest.approx(reference, abs=1e-6)


def test_every_hidden_decision_is_expected_exactly_once(training_corpus, buckets, settings):
    hidden = training_corpus.hide_folded()
    fit = fit_model(hidden, buckets, settings)
    assert fit.n_hidden == int((hidden.hole < 0).sum())
    assert fit.n_known + fit.n_hidden == hidden.n_decisions
    preflop = fit.model.streets[0].counts.sum(dtype=np.float64)
    assert preflop == pytest.approx(int((hidden.street == 0).sum()), rel=1e-4)


def test_each_iteration_makes_what_was_seen_more_likely(training_corpus, buckets, settings):
    trace = fit_model(training_corpus.hide_folded(), buckets, settings).trace
    assert len(trace) > 3
    assert all(later < earlier + 1e-4 for earlier, later in zip(trace, trace[1:], strict=False))
    assert trace[-1] < trace[0] - 0.02


def test_counting_shown_hands_alone_forgets_that_people_fold(training_corpus, buckets, settings):
    hidden = training_corpus.hide_folded()
    naive = fit_model(hidden, buckets, settings, use_hidden=False).model
    assert naive.streets[0].counts[:, :, 0].sum() == 0
    assert fit_model(hidden, buckets, settings).model.streets[0].counts[:, :, 0].sum() > 100


def test_expectation_wins_back_most_of_what_hiding_cards_cost(training_corpus, settings):
    report = study_censoring(training_corpus, settings)
    nats = report["action_nats"]
    assert nats["full"] < nats["em"] < nats["naive"]
    assert report["won_back"] > 0.9


def test_nats_with_known_cards_are_the_action_nats(training_corpus, buckets, settings):
    model = fit_model(training_corpus, buckets, settings).model
    wanted = action_nats(Likelihoods(model), training_corpus)["overall"]["model"]
    assert public_nats(model, Expectation(training_corpus, buckets)) == pytest.approx(wanted, rel=1e-5)


def test_buckets_have_room_for_hands_nobody_showed(training_corpus):
    hidden = training_corpus.hide_folded()
    shown = hidden.features[(hidden.street == 2) & (hidden.hole >= 0)]
    sample = bucket_sample(hidden, 2, seed=1)
    assert len(shown) < len(sample) == int((hidden.street == 2).sum())
    columns = [FEATURE_COLUMNS.index(name) for name in VECTOR_COLUMNS]
    assert np.array_equal(sample[: len(shown), columns], shown[:, columns])
    drawn = sample[len(shown) :, columns]
    assert not np.isnan(drawn).any()  # no hand that shares a card with its board
    assert len(np.unique(drawn, axis=0)) > 0.5 * len(drawn)
    assert np.array_equal(sample, bucket_sample(hidden, 2, seed=1), equal_nan=True)


def test_slots_of_counts_are_legal(training_corpus, buckets, settings):
    for part in fit_model(training_corpus.hide_folded(), buckets, settings).model.streets:
        illegal = ~np.broadcast_to(street_contexts(part.street).legal[:, None, :], part.counts.shape)
        assert (part.counts[illegal] == 0).all()


def test_rounding_keeps_three_digits_and_drops_traces():
    counts = np.array([0.0, 5e-4, 0.0123456, 1.0, 3.14159, 123456.7])
    found = rounded(counts)
    assert found[:2].tolist() == [0.0, 0.0]
    assert found[2:] == pytest.approx(counts[2:], rel=2.5e-4)
    assert np.array_equal(rounded(found.astype(np.float64)), found)
