"""Flow `train`: features by blocks of hands in parallel, then settings, buckets, counts, scores, publication.

Every task but the last is cached by its inputs; the last is idempotent. The stages themselves are in pipeline/train.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import Task, flow, task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE

from flows.tasks import CACHED, RETRIED, report_progress
from pipeline import train as stages
from pipeline.blocks import commit_block, compute_block, plan_blocks
from pipeline.report import curve_markdown, score_rows
from pipeline.steps import TrainOptions, options_from_json
from pipeline.train import clear_work, code_fingerprint, job_from_json, make_job


@task(name="features of a block", task_run_name="features {block}", **CACHED, **RETRIED)
def features_of_block(store: str, models: str, block: int, missing: str, code: str) -> str:
    """File with the features of one block of hands."""
    return str(compute_block(Path(store), Path(models), block))


@task(name="store features", cache_policy=NO_CACHE, **RETRIED)
def store_features(store: str, files: list[str]) -> int:
    """Put the blocks' features into the store, a transaction each."""
    return sum(commit_block(Path(store), Path(file)) for file in files)


@task(name="choose settings", **CACHED)
def choose_settings(job: dict[str, Any]) -> dict[str, Any]:
    """k, widths and shrinkage."""
    return stages.choose_stage(job_from_json(job), report_progress("choose settings"))


@task(name="buckets", **CACHED)
def make_buckets(job: dict[str, Any], choice: dict[str, Any]) -> str:
    """k-means."""
    return str(stages.buckets_stage(job_from_json(job), choice, report_progress("buckets")))


@task(name="counts", **CACHED)
def count_actions(job: dict[str, Any], choice: dict[str, Any], buckets: str) -> str:
    """Kernel counts, hidden cards by expectation-maximisation."""
    return str(stages.counts_stage(job_from_json(job), choice, Path(buckets), report_progress("counts")))


@task(name="score", **CACHED)
def score_held_out(job: dict[str, Any], counts: str) -> dict[str, Any]:
    """Scores on held-out hands."""
    return stages.score_stage(job_from_json(job), Path(counts), report_progress("score"))


@task(name="publish", cache_policy=NO_CACHE, **RETRIED)
def publish(job: dict[str, Any], choice: dict[str, Any], counts: str, scores: dict[str, Any]) -> dict[str, Any]:
    """Publish, and promote unless worse."""
    return stages.publish_stage(job_from_json(job), choice, Path(counts), scores).to_json()


def _files_of(step: Task[..., str], *inputs: tuple[Any, ...]) -> list[str]:
    """Results of a cached task for several inputs; computed again where somebody has cleared the file away."""
    futures = [step.submit(*values) for values in inputs]
    found = [future.result() for future in futures]
    again = step.with_options(refresh_cache=True)
    return [
        file if Path(file).exists() else again.submit(*values).result()
        for file, values in zip(found, inputs, strict=True)
    ]


@flow(name="train")
def train_flow(store: str, models: str, options: dict[str, Any] | None = None) -> dict[str, Any]:
    """From a store to a published model; returns the report of the training."""
    chosen = TrainOptions() if options is None else options_from_json(options)
    code = code_fingerprint()
    blocks = [(store, models, block, missing, code) for block, missing in plan_blocks(Path(store))]
    added = store_features.submit(store, _files_of(features_of_block, *blocks)).result()
    job = make_job(Path(store), Path(models), chosen).to_json()
    choice = choose_settings.submit(job).result()
    (buckets,) = _files_of(make_buckets, (job, choice))
    (counts,) = _files_of(count_actions, (job, choice, buckets))
    scores = score_held_out.submit(job, counts).result()
    report = publish.submit(job, choice, counts, scores).result()
    clear_work(Path(models))
    create_table_artifact(score_rows(scores), key="held-out-scores", description=f"Model {report['model_id']}")
    create_markdown_artifact(
        curve_markdown(choice, report), key="k-curve", description="Settings and how they were chosen"
    )
    return report | {"n_features_added": added}
