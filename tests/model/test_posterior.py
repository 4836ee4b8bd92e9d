"""The range posterior: Bayes' rule in both of its forms, and never an empty range."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.errors import CardError
from hardbot.game.cards import N_HOLES, compatible_holes, hole_index, parse_board, parse_hole
from hardbot.model.posterior import FLOOR, Range, bucket_form

RNG = np.random.default_rng(3)


def test_start_is_uniform_over_possible_hands():
    held = Range(parse_hole("AhKd"))
    assert np.count_nonzero(held.weights) == 1225
    assert held.weights.sum() == pytest.approx(1.0)
    assert held.weights[hole_index(*parse_hole("AhQs"))] == 0.0


def test_cards_that_come_in_sight_leave_the_range():
    held = Range(parse_hole("AhKd"))
    held.remove(parse_board("Jh4c3h"))
    assert np.count_nonzero(held.weights) == 1081
    assert held.weights.sum() == pytest.approx(1.0)


def test_update_is_the_papers_form_with_buckets():
    buckets = RNG.integers(0, 7, N_HOLES).astype(np.int16)
    blocked = ~compatible_holes(parse_board("Jh4c3h"))
    buckets[blocked] = -1
    likelihood = RNG.random(7)
    held = Range(parse_board("Jh4c3h"))
    held.update(RNG.random(N_HOLES))  # any prior
    wanted = bucket_form(held.weights, buckets, likelihood)
    held.update(likelihood[buckets])
    assert held.weights == pytest.approx(wanted, abs=1e-15)


def test_impossible_action_keeps_the_range():
    held = Range()
    before = held.weights.copy()
    held.update(np.zeros(N_HOLES))
    assert held.weights == pytest.approx(before)


def test_one_hand_ruled_out_by_the_model_is_only_made_unlikely():
    held = Range()
    likelihood = np.ones(N_HOLES)
    likelihood[7] = 0.0
    held.update(likelihood)
    assert held.weights[7] == pytest.approx(FLOOR / (N_HOLES - 1 + FLOOR))


def test_no_possible_hand_is_an_error():
    held = Range()
    held.weights = np.zeros(N_HOLES)
    held.weights[hole_index(*parse_hole("AhKd"))] = 1.0
    with pytest.raises(CardError, match="expected a possible hand"):
        held.remove(parse_board("AhKd2c"))


def test_bucket_masses_sum_to_one_over_possible_hands():
    held = Range(parse_board("Jh4c3h"))
    buckets = np.where(compatible_holes(parse_board("Jh4c3h")), np.arange(N_HOLES) % 5, -1).astype(np.int16)
    masses = held.bucket_masses(buckets, 5)
    assert masses.sum() == pytest.approx(1.0)
    assert (masses > 0.1).all()
