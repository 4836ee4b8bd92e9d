"""Similarity by hand, retrieval against a plain search, files that can be trusted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hardbot.bots.casebase import COLUMNS, CaseBase, Feature, load_cases, save_cases, similarity
from hardbot.errors import BotError

FACTS = dict.fromkeys(COLUMNS, 0)


def facts(**changes):
    return FACTS | changes


def plain_search(base, query, n_most, threshold, strategies):
    """The definition: all cases, sorted by similarity and age."""
    weights = np.array([f.weight for f in base.features], dtype=float)
    found = [
        (-similarity(vector, query, weights), -case)
        for case, vector in enumerate(base.vectors)
        if base.column("strategy")[case] in strategies and similarity(vector, query, weights) >= threshold - 1e-9
    ]
    return [-case for _, case in sorted(found)[:n_most]]


def test_similarity_is_one_less_the_weighted_distance():
    equal = np.array([5.0, 5.0, 5.0, 5.0])
    here = np.array([0.5, 0.0, 1.0, 0.2])
    assert similarity(here, here, equal) == 100.0
    assert similarity(here, here + [0.1, 0, 0, 0], equal) == pytest.approx(95.0)  # sqrt(.01 / 4) = .05
    assert similarity(np.zeros(4), np.ones(4), equal) == 0.0
    uneven = np.array([9.0, 7.0])
    assert similarity(np.array([0.0, 0.5]), np.array([0.4, 0.5]), uneven) == pytest.approx(100 * (1 - 0.4 * 0.75))
    assert similarity(np.array([0.0, 0.0]), np.array([0.3, 0.4]), np.ones(2)) == pytest.approx(
        100 * (1 - math.sqrt(0.125))
    )


def test_threshold_admits_95_and_refuses_less():
    base = CaseBase([Feature("a"), Feature("b"), Feature("c"), Feature("d")])
    query = np.array([0.5, 0.5, 0.5, 0.5])
    base.retain(query + [0.0999, 0, 0, 0], facts())
    base.retain(query + [0.1001, 0, 0, 0], facts())
    base.retain(query + [0, 0.05, 0.05, 0.0], facts())
    base.retain(query + [0.06, 0.06, 0.06, 0.0], facts())
    cases, similarities = base.nearest(query, 100)
    assert cases.tolist() == [2, 0]
    assert similarities == pytest.approx([100 * (1 - math.sqrt(0.005 / 4)), 100 * (1 - 0.0999 / 2)])


def test_of_equally_similar_cases_the_youngest_are_taken():
    base = CaseBase([Feature("a"), Feature("b")])
    for _ in range(50):
        base.retain(np.array([0.3, 0.3]), facts())
    assert base.nearest(np.array([0.3, 0.3]), 10)[0].tolist() == list(range(49, 39, -1))


@pytest.mark.parametrize("threshold", [80.0, 95.0, 97.0])
@pytest.mark.parametrize("weights", [(5, 5, 5, 5), (9, 1, 2, 5), (0, 5, 5, 5)])
def test_index_loses_no_case(threshold, weights):
    features = [
        Feature("strength", 0.0, weights[0]),
        Feature("bets", 1 / 5, weights[1]),
        Feature("stage", 1 / 2, weights[2]),
        Feature("pot", 0.0, weights[3]),
    ]
    base = CaseBase(features, threshold=threshold, is_silent=frozenset({0}))
    rng = np.random.default_rng(3)

    def situation():
        return np.array([rng.random() ** 2, rng.integers(0, 6) / 5, rng.integers(0, 3) / 2, rng.random()])

    for _ in range(1500):
        base.retain(situation(), facts(strategy=rng.integers(0, 3)))
    n_found = 0
    for _ in range(40):
        query = situation()
        cases, similarities = base.nearest(query, 25)
        assert cases.tolist() == plain_search(base, query, 25, threshold, {1, 2})
        assert (np.diff(similarities) <= 0).all()
        assert base.nearest(query, 25, silent=True)[0].tolist() == plain_search(base, query, 25, threshold, {0})
        n_found += len(cases)
    assert n_found > 8


def test_case_keeps_everything_it_was_given():
    base = CaseBase([Feature("a")])
    given = {name: number + 1 for number, name in enumerate(COLUMNS)}
    for _ in range(600):  # arrays have to grow
        base.retain(np.array([0.25]), given)
    assert len(base) == 600
    assert base.vectors.shape == (600, 1)
    assert {name: base.column(name)[599] for name in COLUMNS} == given


def filled(n=40):
    base = CaseBase([Feature("a"), Feature("b", 0.5)])
    rng = np.random.default_rng(1)
    for case in range(n):
        base.retain(np.array([rng.random(), rng.integers(0, 3) / 2]), facts(hand=case, result_sb=case / 2))
    return base


def test_saved_cases_are_retrieved_as_before(tmp_path):
    base = filled()
    save_cases(tmp_path / "cases.npz", {"one": base.arrays()}, {"hands": 7})
    bases, stored = load_cases(tmp_path / "cases.npz")
    again = CaseBase(base.features)
    again.extend(bases["one"])
    assert stored == {"hands": 7}
    assert np.array_equal(again.vectors, base.vectors)
    assert all(np.array_equal(again.column(name), base.column(name)) for name in COLUMNS)
    query = np.array([0.4, 0.5])
    assert base.nearest(query, 5)[0].size
    assert again.nearest(query, 5)[0].tolist() == base.nearest(query, 5)[0].tolist()


def test_damaged_file_is_refused(tmp_path):
    path = tmp_path / "cases.npz"
    with pytest.raises(BotError, match="expected a case file, got FileNotFoundError"):
        load_cases(path)
    path.write_bytes(b"no archive")
    with pytest.raises(BotError, match="expected a case file"):
        load_cases(path)
    arrays = filled().arrays()
    save_cases(path, {"one": arrays}, {})
    with np.load(path) as stored:
        content = {name: stored[name] for name in stored.files}
    content["one/result_sb"] = content["one/result_sb"] + 1
    np.savez(path, **content)
    with pytest.raises(BotError, match="expected the checksum"):
        load_cases(path)


def test_foreign_columns_are_refused():
    arrays = filled().arrays()
    with pytest.raises(BotError, match="expected cases with columns c, hand"):
        CaseBase([Feature("c")]).extend(arrays)
    with pytest.raises(BotError, match="expected columns of one length"):
        filled().extend(arrays | {"hand": arrays["hand"][:5]})
    with pytest.raises(BotError, match="NaN or infinity"):
        filled().extend(arrays | {"a": np.full(40, np.nan)})


@pytest.mark.parametrize("threshold", [-1.0, 101.0])
def test_impossible_threshold_is_refused(threshold):
    with pytest.raises(BotError, match="from 0 to 100"):
        CaseBase([Feature("a")], threshold=threshold)


def test_features_without_weight_are_refused():
    with pytest.raises(BotError, match="not all 0"):
        CaseBase([Feature("a", 0.0, 0)])
