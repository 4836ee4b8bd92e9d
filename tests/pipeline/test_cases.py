"""Casey's cases survive the way to parquet and back, or are refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from hardbot.arena.sessions import play_session
from hardbot.bots.casebase import load_cases
from hardbot.bots.casey import Casey
from hardbot.errors import BotError
from pipeline.cases import export_cases, import_cases, read_parquet


@pytest.fixture(scope="module")
def learner():
    return play_session(["casey", "random", "always_call"], 150, 1).players[0]


@pytest.fixture
def memory(learner, tmp_path):
    learner.save_memory(tmp_path / "casey.npz")
    return tmp_path / "casey.npz"


def test_parquet_and_back_is_the_same_memory(learner, memory, tmp_path):
    files = export_cases(memory, tmp_path / "cases")
    assert [file.name for file in files] == ["preflop.parquet", "postflop.parquet"]
    n_cases = import_cases(tmp_path / "cases", tmp_path / "again.npz")
    assert n_cases == len(learner.preflop_) + len(learner.postflop_) > 300
    (first, facts), (second, facts_again) = load_cases(memory), load_cases(tmp_path / "again.npz")
    assert facts == facts_again == {"hands": 150}
    for base in ("preflop", "postflop"):
        assert first[base].keys() == second[base].keys()
        assert all(np.array_equal(first[base][name], second[base][name]) for name in first[base])
    assert len(Casey(memory=str(tmp_path / "again.npz")).postflop_) == len(learner.postflop_)


def test_rows_are_readable_by_others(learner, memory, tmp_path):
    export_cases(memory, tmp_path)
    frame = pl.read_parquet(tmp_path / "postflop.parquet")
    assert frame.height == len(learner.postflop_)
    assert {"strength", "ppot", "pot", "strategy", "result_sb"} <= set(frame.columns)
    assert frame["stage"].unique().sort().to_list() == [1, 2, 3]


def test_changed_or_missing_files_are_refused(memory, tmp_path):
    export_cases(memory, tmp_path)
    file = tmp_path / "preflop.parquet"
    stored = pl.read_parquet_metadata(file)["hardbot.cases"]
    changed = pl.read_parquet(file).with_columns(pl.col("result_sb") + 1)
    changed.write_parquet(file, metadata={"hardbot.cases": stored})
    with pytest.raises(BotError, match="expected the checksum"):
        read_parquet(tmp_path)
    changed.write_parquet(file)
    with pytest.raises(BotError, match="expected cases in parquet, got KeyError"):
        read_parquet(tmp_path)
    file.unlink()
    with pytest.raises(BotError, match="expected cases in parquet"):
        read_parquet(tmp_path)
