"""From a store to a published model: what is recorded, what is reused, and what a kill -9 leaves behind."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hardbot.cli import app
from hardbot.errors import ModelError
from hardbot.model.artifact import load_model
from pipeline.blocks import commit_block, compute_block, plan_blocks
from pipeline.dataset import TEST, VALIDATION, corpus_fingerprint, load_corpus, split
from pipeline.ingest import ingest
from pipeline.selection import Grid
from pipeline.settings import ModelSettings
from pipeline.steps import TrainOptions, options_from_json, prepare, retrain_options
from pipeline.store import Store
from pipeline.train import WORK, job_from_json, make_job, train, train_to


def small(k: int = 8, **changes) -> TrainOptions:
    settings = ModelSettings()
    for street in (1, 2, 3):
        settings = settings.with_street(street, k=k)
    return replace(TrainOptions(settings=settings, score_hands=20), **changes)


@pytest.fixture
def store(training_store, tmp_path) -> Path:
    """A store of its own: training writes."""
    return Path(shutil.copy(training_store, tmp_path / "hands.duckdb"))


def test_a_training_publishes_records_and_promotes(store, tmp_path):
    report = train(store, tmp_path / "models", small())
    assert report.promoted
    model = load_model(tmp_path / "models")
    assert model.model_id == report.model_id
    manifest = model.manifest
    assert manifest["k"] == [169, 8, 8, 8]
    assert manifest["n_hands"] == report.n_hands == sum(manifest["hands_by_rules"].values())
    assert manifest["scores"]["action_nats"]["overall"]["model"] == manifest["held_out_nats"]
    with Store(store, read_only=True) as reader:
        assert reader.query("SELECT model_id, n_hands, promoted FROM models").rows() == [
            (report.model_id, report.n_hands, True)
        ]
        assert reader.value("SELECT count(*) FROM buckets") == 24
        kept = "SELECT value FROM scores WHERE metric = 'action_nats.model' AND street IS NULL"
        assert reader.value(kept) == pytest.approx(report.held_out_nats)
    assert not (tmp_path / "models" / WORK).exists()


def test_the_same_training_gives_the_same_bytes(store, tmp_path):
    first, second = (train(store, tmp_path / name, small()) for name in ("a", "b"))
    for file in ("manifest.json", "arrays.npz"):
        assert (first.path / file).read_bytes() == (second.path / file).read_bytes()


def test_held_out_hands_are_never_counted_and_pairs_stay_together(training_corpus):
    sides = split(training_corpus)
    assert set(np.unique(sides)) == {0, VALIDATION, TEST}
    by_pair: dict[tuple[int, int], set[int]] = {}
    for match, pair, side in zip(training_corpus.match, training_corpus.pair, sides, strict=True):
        by_pair.setdefault((int(match), int(pair)), set()).add(int(side))
    assert all(len(found) == 1 for found in by_pair.values())
    assert 0.03 < (sides == TEST).mean() < 0.25


def test_hands_keep_their_side_when_the_corpus_grows(training_corpus):
    spread = replace(training_corpus, pair=training_corpus.pair * 10)  # many blocks of a hundred pairs
    early = spread.pair < 2000
    assert np.array_equal(split(spread.select(early)), split(spread)[early])


def test_a_warm_retrain_counts_new_hands_in_the_old_buckets(training_logs, tmp_path):
    store, models = tmp_path / "s.duckdb", tmp_path / "models"
    ingest(training_logs[:2], store)
    first = train(store, models, small())
    ingest(training_logs[2:], store)
    options = retrain_options(store, models)
    assert options is not None
    assert not options.warm  # half as many hands again: buckets are made anew
    second = train(store, models, small(warm=True))
    assert 0 < second.n_features_added < first.n_features_added
    assert second.n_hands > first.n_hands
    old, new = load_model(first.path), load_model(second.path)
    for before, after in zip(old.streets, new.streets, strict=True):
        assert np.array_equal(before.centroids, after.centroids)
    assert retrain_options(store, models) is None  # nothing has come in since


def test_a_warm_start_needs_a_model(store, tmp_path):
    with pytest.raises(ModelError, match="expected a current model"):
        train(store, tmp_path / "models", small(warm=True))


def test_hands_of_an_unseen_player_are_left_out(store):
    with Store(store) as writer:
        writer.run("UPDATE hands SET players = ['tight', 'rare'] WHERE hand_id <= 100")
    everyone, without = load_corpus(store), load_corpus(store, without_players=("rare",))
    assert without.n_hands == everyone.n_hands - 100
    assert corpus_fingerprint(store) != corpus_fingerprint(store, without_players=("rare",))
    with pytest.raises(ModelError, match="got none that fit"):
        load_corpus(store, without_players=("tight",))


def test_a_model_for_one_purpose_goes_into_its_own_folder(store, tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(ModelError, match="expected no folder, or that of a model"):
        train_to(store, tmp_path / "taken", small())
    for k in (4, 8):  # the second takes the first one's place
        report = train_to(store, tmp_path / "unseen-x", small(k=k))
        assert load_model(tmp_path / "unseen-x").manifest["k"] == [169, k, k, k]
        assert (report.path, report.promoted) == (tmp_path / "unseen-x", False)
        (report.path / "README.md").write_text("about it")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hands.duckdb", "taken", "unseen-x"]
    train_to(store, tmp_path / "unseen-x", small(k=4))
    assert (tmp_path / "unseen-x" / "README.md").read_text() == "about it"
    with Store(store, read_only=True) as reader:
        assert reader.value("SELECT count(*) FROM models") == 0


def test_a_worse_model_is_kept_but_not_promoted(store, tmp_path):
    good = train(store, tmp_path / "models", small())
    flat = small(k=1)
    bad = train(store, tmp_path / "models", flat)
    assert not bad.promoted
    assert bad.current_nats == pytest.approx(good.held_out_nats)
    assert load_model(tmp_path / "models").model_id == good.model_id
    assert bad.path.is_dir()


def test_the_grid_keeps_its_curve_and_a_broken_run_keeps_the_choice(store, tmp_path):
    grid = Grid(k=(3, 8), width=(0.0, 0.3), tau=(10.0,), floor=(0.001,))
    report = train(store, tmp_path / "models", small(grid=grid))
    curve = load_model(report.path).manifest["curve"]
    tried = {(row["street"], row["k"], row["width"]) for row in curve if row["varied"] == "k, width"}
    assert {("flop", k, width) for k in (3, 8) for width in (0.0, 0.3)} <= tried
    best = min((row["nats"], row["k"]) for row in curve if row["street"] == "flop" and row["varied"] == "k, width")
    assert report.settings.streets[1].k == best[1]


def test_options_and_jobs_survive_json(store, tmp_path):
    options = small(grid=Grid(k=(3,)), matches=("a*",), without_players=("x",), held_out=("b*",))
    assert options_from_json(json.loads(json.dumps(options.to_json()))) == options
    job = make_job(store, tmp_path / "models", small())
    assert job_from_json(json.loads(json.dumps(job.to_json()))) == job
    with pytest.raises(ModelError, match="expected the options"):
        options_from_json({"settings": None})


def test_features_by_blocks_are_those_of_the_direct_way(store, tmp_path):
    direct = "SELECT * FROM features ORDER BY hand_id, step"
    with Store(store) as writer:
        wanted = writer.query(direct)
        writer.run("DELETE FROM features WHERE hand_id > 1000")
    ((block, _),) = plan_blocks(store)
    file = compute_block(store, tmp_path / "models", block)
    assert commit_block(store, file) > 0
    assert not file.exists()
    with Store(store, read_only=True) as reader:
        assert reader.query(direct).equals(wanted)
    assert plan_blocks(store) == []
    assert prepare(store) == 0


def test_an_empty_store_is_a_clear_error(tmp_path):
    with Store(tmp_path / "empty.duckdb"):
        pass
    with pytest.raises(ModelError, match=r"expected heads-up hands in .*empty\.duckdb, got none"):
        train(tmp_path / "empty.duckdb", tmp_path / "models", small())


def test_a_store_in_use_is_one_line_and_nothing_is_lost(store, tmp_path):
    arguments = ["train", "--store", str(store), "--models", str(tmp_path / "models"), "--k", "8"]
    with Store(store):
        done = subprocess.run(
            [sys.executable, "-m", "hardbot.cli", *arguments], capture_output=True, text=True, check=False, timeout=120
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "one process writes at a time" in done.stderr
    assert not (tmp_path / "models").exists()


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
from hardbot.cli import main
main()
"""


def test_a_full_disk_is_one_line_and_the_second_run_completes(store, tmp_path):
    arguments = ["train", "--store", str(store), "--models", str(tmp_path / "models"), "--k", "8"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "4000", *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    assert "File too large" in done.stderr
    assert not (tmp_path / "models" / "current").exists()
    again = train(store, tmp_path / "models", small())
    assert (
        again.path.joinpath("arrays.npz").read_bytes()
        == train(store, tmp_path / "b", small()).path.joinpath("arrays.npz").read_bytes()
    )
    assert sorted(path.name for path in (tmp_path / "models").iterdir()) == sorted([again.model_id, "current"])


def test_train_and_models_print_json(store, tmp_path):
    models = ["--models", str(tmp_path / "models")]
    arguments = ["train", "--store", str(store), *models, "--k", "8", "--score-hands", "10", "--json"]
    report = json.loads(CliRunner().invoke(app, arguments, catch_exceptions=False).stdout)
    rows = json.loads(CliRunner().invoke(app, ["models", *models, "--json"], catch_exceptions=False).stdout)
    assert [(row["model_id"], row["current"]) for row in rows] == [(report["model_id"], True)]


def test_kill_minus_nine_at_ten_points_then_again_is_as_if_undisturbed(training_logs, tmp_path):
    store, log = tmp_path / "s.duckdb", tmp_path / "short.log"
    log.write_text("\n".join(training_logs[0].read_text().splitlines()[:201]) + "\n")
    ingest([log], store)
    harness = Path(__file__).with_name("kill_harness.py")
    done = subprocess.run(
        [sys.executable, str(harness), str(store), str(tmp_path), "11", "10"],
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert len(report["points"]) == 10
    assert [end["killed"] for end in report["ends"]] == [True] * 10
    assert [end["again"] for end in report["ends"]] == [0] * 10
    for point, end in zip(report["points"], report["ends"], strict=True):
        assert end["state"] == report["calm"], f"killed at event {point} of {report['events']}"
