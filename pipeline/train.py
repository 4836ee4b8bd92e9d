"""Training from a store to a published model, in stages that can be broken off anywhere.

A `Job` names the store, the models folder, the options and fingerprints of the corpus and of the code. Every stage
takes plain data and leaves its result in the hidden `.work` of the models folder, written aside and renamed, under a
name that follows from the job: settings (after a search), buckets, counts, scores. A stage that finds its result does
nothing, so a run that was killed goes on where it was and ends in the same state; a finished run clears its work away.
Features are kept in the store (features.py). `train` runs all stages in this process; flows/ runs the same ones as
tasks.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import hardbot
import pipeline
from hardbot.errors import ModelError
from hardbot.model.artifact import ARRAYS, MANIFEST, load_model, save_model
from pipeline.blocks import WORK
from pipeline.dataset import corpus_fingerprint
from pipeline.publish import current_model
from pipeline.settings import ModelSettings, settings_from_json
from pipeline.steps import (
    Choice,
    Division,
    TrainOptions,
    choose,
    divide,
    evaluate,
    fit_counts,
    make_buckets,
    notes_for,
    options_from_json,
    origin_of,
    pack_buckets,
    prepare,
    publish,
    unpack_buckets,
)

T = TypeVar("T")
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Job:
    """One training as plain data; equal jobs give equal models."""

    store: Path
    models: Path
    options: TrainOptions
    corpus: str  # fingerprint of the selected hands
    code: str  # fingerprint of the sources
    warm_from: str  # current model of a warm start, else empty

    def to_json(self) -> dict[str, Any]:
        """Plain data for a task."""
        paths = {"store": str(self.store), "models": str(self.models), "options": self.options.to_json()}
        return asdict(self) | paths

    @property
    def key(self) -> str:
        """Name of the job's results: everything they depend on, where they lie left out."""
        options = replace(self.options, promote=False, record=True).to_json()
        parts = json.dumps([options, self.corpus, self.code, self.warm_from], sort_keys=True)
        return hashlib.sha256(parts.encode()).hexdigest()[:24]

    def place(self, name: str) -> Path:
        """Where a result of this job is kept."""
        return self.models / WORK / f"{self.key}-{name}"


def make_job(store: Path, models: Path, options: TrainOptions) -> Job:
    """The job of training on what the store holds now."""
    warm_from = ""
    if options.warm:
        current = current_model(models)
        warm_from = current.model_id if current is not None else ""
    corpus = corpus_fingerprint(
        store,
        matches=options.matches,
        without_matches=options.without_matches,
        without_players=options.without_players,
    )
    return Job(store, models, options, corpus, code_fingerprint(), warm_from)


def job_from_json(data: Mapping[str, Any]) -> Job:
    """A job from plain data."""
    options = options_from_json(data["options"])
    texts = (str(data[name]) for name in ("corpus", "code", "warm_from"))
    return Job(Path(data["store"]), Path(data["models"]), options, *texts)


@lru_cache(maxsize=1)
def code_fingerprint() -> str:
    """Hash of the sources a model depends on: results of other code are not taken for this one's."""
    digest = hashlib.sha256()
    for package in (hardbot, pipeline):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*.py")):
            place = path.relative_to(root)
            if package is pipeline or place.parts[0] in {"game", "model"}:
                digest.update(f"{place}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=1)
def division(job: Job) -> Division:
    """The job's corpus, loaded once a process."""
    return divide(job.store, job.options)


def choose_stage(job: Job, progress: Progress | None = None) -> dict[str, Any]:
    """Settings and curve as plain data; a search is kept."""
    kept = job.place("choice.json")
    if kept.is_file():
        found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    choice = choose(division(job), job.options, job.models, progress)
    data = {"settings": choice.settings.to_json(), "curve": choice.curve}
    _keep(kept, json.dumps(data).encode())
    return data


def buckets_stage(job: Job, choice: Mapping[str, Any], progress: Progress | None = None) -> Path:
    """File with the buckets of all streets."""
    kept = job.place("buckets.npz")
    if not kept.is_file():
        settings = settings_from_json(choice["settings"])
        _keep(kept, pack_buckets(make_buckets(division(job), settings, job.options, job.models, progress)))
    return kept


def counts_stage(job: Job, choice: Mapping[str, Any], buckets: Path, progress: Progress | None = None) -> Path:
    """Folder with the counted model, not yet scored."""
    kept = job.place("counts")
    if not kept.is_dir():
        settings = settings_from_json(choice["settings"])
        fit = fit_counts(division(job), unpack_buckets(buckets.read_bytes()), settings, progress)
        aside = kept.with_name(f".{kept.name}.{os.getpid()}")
        shutil.rmtree(aside, ignore_errors=True)
        save_model(fit.model, aside, origin_of(division(job), fit))
        aside.rename(kept)
    return kept


def score_stage(job: Job, counts: Path, progress: Progress | None = None) -> dict[str, Any]:
    """Scores of the counted model on the held-out hands."""
    kept = job.place("scores.json")
    if not kept.is_file():
        scores = evaluate(load_model(counts), division(job), job.options.score_hands, progress)
        _keep(kept, json.dumps(scores).encode())
    found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return found


def publish_stage(job: Job, choice: Mapping[str, Any], counts: Path, scores: Mapping[str, Any]) -> TrainReport:
    """Publish, record and promote unless worse; safe to repeat."""
    chosen = Choice(settings_from_json(choice["settings"]), list(choice["curve"]))
    model = load_model(counts)
    notes = notes_for(model, chosen, dict(scores))
    recorded = job.store if job.options.record else None
    published, current_nats = publish(model, notes, division(job), job.models, recorded, job.options)
    return TrainReport(
        model_id=published.model_id,
        path=published.path,
        promoted=published.promoted,
        reason=published.reason,
        n_hands=model.n_hands,
        settings=chosen.settings,
        scores=dict(scores),
        held_out_nats=notes["held_out_nats"],
        current_nats=current_nats,
    )


def clear_work(models: Path) -> None:
    """A finished run needs no checkpoints."""
    shutil.rmtree(models / WORK, ignore_errors=True)


def _keep(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    aside.write_bytes(data)
    aside.replace(path)


@dataclass(frozen=True)
class TrainReport:
    """What a training did; `scores` as `hardbot score` prints them, on the held-out hands."""

    model_id: str
    path: Path
    promoted: bool
    reason: str
    n_hands: int
    settings: ModelSettings
    scores: dict[str, Any]
    held_out_nats: float
    current_nats: float | None
    n_features_added: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"path": str(self.path)}


def train(
    store: Path, models: Path, options: TrainOptions | None = None, progress: Progress | None = None
) -> TrainReport:
    """All stages: from a store to a published model."""
    clock = _Clock()
    added = clock.time("features", lambda: prepare(store, progress))
    job = make_job(store, models, options or TrainOptions())
    clock.time("load", lambda: division(job))
    choice = clock.time("choose", lambda: choose_stage(job, progress))
    buckets = clock.time("buckets", lambda: buckets_stage(job, choice, progress))
    counts = clock.time("counts", lambda: counts_stage(job, choice, buckets, progress))
    scores = clock.time("score", lambda: score_stage(job, counts, progress))
    report = clock.time("publish", lambda: publish_stage(job, choice, counts, scores))
    clear_work(models)
    division.cache_clear()
    return replace(report, n_features_added=added, seconds=clock.seconds)


def train_to(
    store: Path, out: Path, options: TrainOptions | None = None, progress: Progress | None = None
) -> TrainReport:
    """Train a model into a folder of its own, in place of what is there; nothing is promoted or recorded."""
    if out.exists() and not (out / MANIFEST).is_file():
        raise ModelError(f"expected no folder, or that of a model, to write to, got {out}")
    workshop = out.parent / f".{out.name}.training"
    report = train(store, workshop, replace(options or TrainOptions(), record=False), progress)
    if out.exists():
        for other in out.iterdir():  # such as a page about the model
            if other.is_file() and other.name not in {MANIFEST, ARRAYS}:
                shutil.copy2(other, report.path)
        shutil.rmtree(out)
    report.path.rename(out)
    shutil.rmtree(workshop)
    return replace(report, path=out, promoted=False, reason="written where asked")


class _Clock:
    """Seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def time(self, name: str, step: Callable[[], T]) -> T:
        """Run a step and remember how long it took."""
        start = time.perf_counter()
        result = step()
        self.seconds[name] = round(time.perf_counter() - start, 3)
        return result


__all__ = ["Job", "TrainOptions", "TrainReport", "make_job", "prepare", "train", "train_to"]
