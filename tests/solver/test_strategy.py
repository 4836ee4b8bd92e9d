"""Strategies as files and as tables."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hardbot.errors import StrategyError
from hardbot.game.rules import CALL, HEADS_UP
from hardbot.game.tree import betting_tree
from hardbot.solver.strategy import ARRAYS, MANIFEST, load_strategy, probabilities, save_strategy, triples


def test_saved_strategy_comes_back_the_same(mixed_strategy, tmp_path):
    saved = save_strategy(mixed_strategy, tmp_path, {"boards": 7})
    again = load_strategy(tmp_path)
    assert again.manifest == saved.manifest
    assert again.manifest["boards"] == 7
    assert len(again.strategy_id) == 12
    for before, after in zip(mixed_strategy.choices, again.choices, strict=True):
        assert np.array_equal(before, after)
    assert np.array_equal(again.abstraction.river, mixed_strategy.abstraction.river)


def test_damage_is_noticed(mixed_strategy, tmp_path):
    with pytest.raises(StrategyError, match=r"expected a strategy with manifest.json"):
        load_strategy(tmp_path)
    save_strategy(mixed_strategy, tmp_path)
    data = bytearray((tmp_path / ARRAYS).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / ARRAYS).write_bytes(data)
    with pytest.raises(StrategyError, match="expected the sha256 of the manifest"):
        load_strategy(tmp_path)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    (tmp_path / MANIFEST).write_text(json.dumps(manifest | {"schema": 99}))
    with pytest.raises(StrategyError, match="expected schema 1"):
        load_strategy(tmp_path)


def test_table_rows_are_distributions_over_legal_actions(mixed_strategy):
    tree = betting_tree(HEADS_UP)
    offsets, rows = triples(mixed_strategy)
    assert np.allclose(rows.sum(axis=1), 1.0, atol=1e-6)
    sizes = mixed_strategy.abstraction.sizes
    for node in range(0, tree.n_decisions, 97):
        part = rows[offsets[node] : offsets[node] + sizes[tree.street[node]]]
        illegal = [action for action in range(3) if action not in tree.nodes[node].legal]
        assert (part[:, illegal] == 0).all()
        assert (part.max(axis=0)[list(tree.nodes[node].legal)] > 0).all()


def test_bytes_keep_probabilities_to_a_four_hundredth(mixed_strategy):
    """A decision of three: each byte is off by half at most, and so is their sum by 1.5 of 255."""
    p = probabilities(mixed_strategy, 3)
    assert np.allclose(p[:, 0, :, 7:10].sum(axis=2), 1.0, atol=1e-6)
    assert mixed_strategy.choices[3].max() == 255


def test_where_nothing_was_reached_the_strategy_checks_or_calls(caller):
    _, rows = triples(caller)
    assert (rows[:, CALL] == 1.0).all()
