"""Publishing: all or nothing, the pointer, promotion only of what is not worse."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from hardbot.errors import ModelError
from hardbot.model.artifact import ARRAYS, StreetModel, TrainedModel, load_model
from hardbot.model.context import street_contexts
from pipeline.publish import current_model, list_models, promote, promote_if_better, publish_model


def small_model(seed: int) -> TrainedModel:
    rng = np.random.default_rng(seed)
    streets = []
    for street in range(4):
        contexts = street_contexts(street)
        k = 169 if street == 0 else 2
        counts = (rng.random((contexts.n_slots, k, 3)) * contexts.legal[:, None, :]).astype(np.float32)
        one = np.ones(1, dtype=np.float32)
        centroids, norm = rng.random((k, 1), dtype=np.float32), np.ones(k, dtype=np.float32)
        streets.append(
            StreetModel(street, ("e",), 0.1, (1.0,) * 4, 1.0, centroids, one, one, norm, counts, counts.sum(axis=1))
        )
    return TrainedModel(tuple(streets), 0.01)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_published_model_loads_and_leaves_nothing_else_behind(tmp_path):
    saved = publish_model(small_model(1), tmp_path, {"n_hands": 7})
    assert names(tmp_path) == [saved.model_id]
    assert load_model(tmp_path / saved.model_id).n_hands == 7
    assert current_model(tmp_path) is None


def test_publishing_again_changes_nothing(tmp_path):
    first = publish_model(small_model(1), tmp_path, {"n_hands": 7})
    stamp = (first.path / ARRAYS).stat().st_mtime_ns
    assert publish_model(small_model(1), tmp_path, {"n_hands": 7}).model_id == first.model_id
    assert (first.path / ARRAYS).stat().st_mtime_ns == stamp


def test_a_damaged_model_is_replaced(tmp_path):
    saved = publish_model(small_model(1), tmp_path)
    (saved.path / ARRAYS).write_bytes(b"broken")
    again = publish_model(small_model(1), tmp_path)
    assert again.model_id == saved.model_id
    assert load_model(saved.path).model_id == saved.model_id


def test_what_a_killed_writer_left_is_cleared_away(tmp_path):
    gone = 2**22 + 12345  # above the largest process number
    (tmp_path / f".aside-{gone}").mkdir()
    (tmp_path / f".aside-{gone}" / ARRAYS).write_bytes(b"half")
    living = tmp_path / f".aside-{os.getppid()}"
    living.mkdir()
    saved = publish_model(small_model(1), tmp_path)
    assert names(tmp_path) == sorted([living.name, saved.model_id])


def test_the_first_model_is_promoted(tmp_path):
    saved = publish_model(small_model(1), tmp_path)
    published = promote_if_better(tmp_path, saved, 0.7, None)
    assert published.promoted
    current = current_model(tmp_path)
    assert current is not None
    assert current.model_id == saved.model_id


def test_a_better_model_becomes_current_and_the_old_one_stays(tmp_path):
    old, new = publish_model(small_model(1), tmp_path), publish_model(small_model(2), tmp_path)
    promote(tmp_path, old.model_id)
    assert promote_if_better(tmp_path, new, 0.69, 0.70).promoted
    assert load_model(tmp_path).model_id == new.model_id
    assert names(tmp_path) == sorted([old.model_id, new.model_id, "current"])


def test_a_worse_model_is_kept_but_not_promoted_unless_asked(tmp_path):
    old, new = publish_model(small_model(1), tmp_path), publish_model(small_model(2), tmp_path)
    promote(tmp_path, old.model_id)
    published = promote_if_better(tmp_path, new, 0.71, 0.70)
    assert not published.promoted
    assert "worse" in published.reason
    assert load_model(tmp_path).model_id == old.model_id
    assert load_model(tmp_path / new.model_id).model_id == new.model_id
    assert promote_if_better(tmp_path, new, 0.71, 0.70, force=True).promoted
    assert load_model(tmp_path).model_id == new.model_id


def test_only_a_model_that_loads_can_be_promoted(tmp_path):
    saved = publish_model(small_model(1), tmp_path)
    (saved.path / ARRAYS).write_bytes(b"broken")
    with pytest.raises(ModelError, match="sha256"):
        promote(tmp_path, saved.model_id)
    with pytest.raises(ModelError, match="name of a model"):
        promote(tmp_path, "../elsewhere")
    assert not (tmp_path / "current").exists()


def test_the_list_shows_the_current_one_and_says_what_is_wrong(tmp_path):
    good, bad = publish_model(small_model(1), tmp_path, {"n_hands": 7}), publish_model(small_model(2), tmp_path)
    promote(tmp_path, good.model_id)
    (bad.path / ARRAYS).write_bytes(b"broken")
    rows = {row["model_id"]: row for row in list_models(tmp_path)}
    assert rows[good.model_id]["current"]
    assert rows[good.model_id]["n_hands"] == 7
    assert "sha256" in rows[bad.model_id]["error"]
    assert list_models(tmp_path / "nowhere") == []
