"""The steps from a store of hands to a published model, each a plain function.

prepare -> divide -> choose -> buckets -> counts -> evaluate -> publish. Each step is deterministic given the corpus,
the settings and the seed; train.py strings them together and keeps what took long. Counts are made from training and
validation hands; the test hands are never counted, so the published score is honest and two models can be compared on
them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardbot.errors import ModelError
from hardbot.game.rules import N_STREETS, STREET_NAMES
from hardbot.model.artifact import TrainedModel
from hardbot.model.context import MODEL_RULES
from pipeline.buckets import Buckets
from pipeline.dataset import TEST, TRAIN, VALIDATION, Corpus, load_corpus, split
from pipeline.em import Fit, fit_model
from pipeline.features import STORED_COLUMNS, prepare_features
from pipeline.publish import Published, current_model, promote_if_better, publish_model
from pipeline.range_score import OVERALL
from pipeline.score import held_out_nats, score_model
from pipeline.selection import AllBuckets, Grid, choose_settings, fit_all_buckets
from pipeline.settings import ModelSettings, settings_from_json
from pipeline.store import HEADS_UP_RULES, Store

Progress = Callable[[str, int, int], None]
GRID_HANDS = 100_000  # hands the grid looks at
SCORE_HANDS = 4_000  # held-out hands of which ranges are scored
WARM_GROWTH = 0.2
ORIGIN = (
    *("corpus_hash", "n_hands", "hands_by_rules", "hands_all_cards"),
    *("decisions_known", "decisions_hidden", "decisions_beyond_cap", "em_trace"),
)


@dataclass(frozen=True)
class TrainOptions:
    """What to train on and how; `settings` None: the defaults, or the current model's with `warm`."""

    settings: ModelSettings | None = None
    grid: Grid | None = None  # search k, widths and shrinkage first
    warm: bool = False  # keep the current model's settings and buckets, only count and score anew
    matches: tuple[str, ...] | None = None  # GLOBs
    without_matches: tuple[str, ...] = ()
    without_players: tuple[str, ...] = ()
    held_out: tuple[str, ...] = ()  # GLOBs of matches to score on instead of the usual split
    promote: bool = False  # even if it scores worse than the current model
    score_hands: int = SCORE_HANDS
    record: bool = True  # in the store's tables

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def options_from_json(data: Mapping[str, Any]) -> TrainOptions:
    """Options from plain data."""
    try:
        lists = {key: tuple(data[key]) for key in ("without_matches", "without_players", "held_out")}
        return TrainOptions(
            settings=None if data["settings"] is None else settings_from_json(data["settings"]),
            grid=None if data["grid"] is None else Grid(**{key: tuple(tried) for key, tried in data["grid"].items()}),
            warm=bool(data["warm"]),
            matches=None if data["matches"] is None else tuple(data["matches"]),
            promote=bool(data["promote"]),
            score_hands=int(data["score_hands"]),
            record=bool(data["record"]),
            **lists,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"expected the options of a training, got {type(error).__name__}: {error}") from error


def retrain_options(store: Path, models: Path) -> TrainOptions | None:
    """How to train on what the store holds: not at all (None) when nothing came in since the last model.

    A corpus that grew by less than a fifth keeps the current model's settings and buckets.
    """
    with Store(store, read_only=True) as reader:
        last_file = reader.value("SELECT max(ingested_at) FROM files WHERE n_hands > 0")
        last_model = reader.value("SELECT max(created_at) FROM models")
        n_hands = int(reader.value("SELECT count(*) FROM hands WHERE list_contains(?, rules)", [list(HEADS_UP_RULES)]))
    current = current_model(models)
    if n_hands == 0 or (current is not None and last_model is not None and last_file <= last_model):
        return None
    counted = 0 if current is None else int(current.manifest["scores"]["hands"]) + current.n_hands
    return TrainOptions(warm=counted > 0 and n_hands < counted * (1 + WARM_GROWTH))


@dataclass(frozen=True)
class Division:
    """The corpus cut up: hands to count, to choose settings by, and to score on."""

    train: Corpus
    validation: Corpus
    counted: Corpus  # train and validation
    test: Corpus


def prepare(store: Path, progress: Progress | None = None) -> int:
    """Features of decisions that have none yet; returns how many were added."""
    with Store(store) as writer:
        return prepare_features(writer, progress)


def divide(store: Path, options: TrainOptions) -> Division:
    """Load the corpus and cut it up."""
    wide = options.settings is not None and bool({"hs", "ppot1", "npot1"} & set(options.settings.columns))
    corpus = load_corpus(
        store,
        matches=options.matches,
        without_matches=(*options.without_matches, *options.held_out),
        without_players=options.without_players,
        all_features=wide,
    )
    sides = split(corpus)
    train, validation = corpus.select(sides == TRAIN), corpus.select(sides == VALIDATION)
    if options.held_out:
        test = load_corpus(store, matches=options.held_out, all_features=wide)
        return Division(corpus.select(sides != VALIDATION), validation, corpus, test)
    return Division(train, validation, corpus.select(sides != TEST), corpus.select(sides == TEST))


@dataclass(frozen=True)
class Choice:
    """Settings and, after a search, every point tried."""

    settings: ModelSettings
    curve: list[dict[str, Any]]


def choose(division: Division, options: TrainOptions, models: Path, progress: Progress | None = None) -> Choice:
    """Settings: given ones, the current model's (warm), or the best of the grid."""
    if options.warm:
        return Choice(settings_from_json(_warm_model(models).manifest["settings"]), [])
    settings = options.settings or ModelSettings()
    if options.grid is None:
        return Choice(settings, [])
    train, validation = _spaced(division.train, GRID_HANDS), _spaced(division.validation, GRID_HANDS // 5)
    return Choice(*choose_settings(train, validation, settings, options.grid, progress))


def _warm_model(models: Path) -> TrainedModel:
    current = current_model(models)
    if current is None:
        raise ModelError(f"expected a current model in {models} to start from, got none")
    return current


def _spaced(corpus: Corpus, limit: int) -> Corpus:
    if corpus.n_hands <= limit:
        return corpus
    mask = np.zeros(corpus.n_hands, dtype=bool)
    mask[np.linspace(0, corpus.n_hands - 1, limit).astype(int)] = True
    return corpus.select(mask)


def make_buckets(
    division: Division, settings: ModelSettings, options: TrainOptions, models: Path, progress: Progress | None = None
) -> AllBuckets:
    """Buckets of every street: fitted, or taken from the current model (warm)."""
    if options.warm:
        return model_buckets(_warm_model(models))
    return fit_all_buckets(division.counted, settings, progress)


def model_buckets(model: TrainedModel) -> AllBuckets:
    """The buckets a model was made with."""
    found: list[Buckets | None] = [None]
    for part in model.streets[1:]:
        found.append(Buckets(part.street, part.columns, part.mean, part.std, part.centroids))
    return tuple(found)


def pack_buckets(buckets: AllBuckets) -> bytes:
    """Buckets as the bytes of an npz file."""
    arrays: dict[str, NDArray[Any]] = {}
    for part in buckets:
        if part is not None:
            values = {"mean": part.mean, "std": part.std, "centroids": part.centroids, "columns": part.columns}
            arrays |= {f"{name}_{part.street}": np.asarray(value) for name, value in values.items()}
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack_buckets(data: bytes) -> AllBuckets:
    """Buckets from the bytes of `pack_buckets`."""
    found: list[Buckets | None] = [None]
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        for street in range(1, N_STREETS):
            columns = tuple(str(name) for name in arrays[f"columns_{street}"])
            mean, std, centroids = (arrays[f"{name}_{street}"] for name in ("mean", "std", "centroids"))
            found.append(Buckets(street, columns, mean, std, centroids))
    return tuple(found)


def fit_counts(
    division: Division, buckets: AllBuckets, settings: ModelSettings, progress: Progress | None = None
) -> Fit:
    """Counts of training and validation hands, hidden cards by expectation."""
    return fit_model(division.counted, buckets, settings, progress=progress)


def evaluate(
    model: TrainedModel, division: Division, max_hands: int = SCORE_HANDS, progress: Progress | None = None
) -> dict[str, Any]:
    """Scores on the held-out hands."""
    scores = score_model(model, division.test, max_hands, progress)
    scores.pop("model_id")  # the model has no name before it is published
    return scores


def comparable_nats(scores: dict[str, Any]) -> float:
    """The figure two models are compared by: action_nats where all held-out cards are known, else public_nats."""
    is_complete = scores["hands_all_cards"] == scores["hands"]
    rows = scores["action_nats"] if is_complete else scores["public_nats"]
    return float(rows[OVERALL]["model"])


def code_version() -> str:
    """Version of the installed project."""
    try:
        return version("hardbot")
    except PackageNotFoundError:
        return "unknown"


def origin_of(division: Division, fit: Fit) -> dict[str, Any]:
    """What the manifest says about the hands a model was counted from."""
    counted = division.counted
    return {
        "corpus_hash": counted.corpus_hash,
        "n_hands": counted.n_hands,
        "hands_by_rules": {r.name: int((counted.order == i).sum()) for i, r in enumerate(MODEL_RULES)},
        "hands_all_cards": int(counted.complete.sum()),
        "decisions_known": fit.n_known,
        "decisions_hidden": fit.n_hidden,
        "decisions_beyond_cap": counted.n_dropped,
        "em_trace": [round(nats, 6) for nats in fit.trace],
    }


def notes_for(model: TrainedModel, choice: Choice, scores: dict[str, Any]) -> dict[str, Any]:
    """What else the manifest says. No times: the same training gives the same bytes."""
    origin = {key: model.manifest[key] for key in ORIGIN}
    return origin | {
        "settings": choice.settings.to_json(),
        "curve": choice.curve,
        "code_version": code_version(),
        "scores": scores,
        "held_out_nats": comparable_nats(scores),
    }


def publish(
    model: TrainedModel,
    notes: dict[str, Any],
    division: Division,
    models: Path,
    store: Path | None = None,
    options: TrainOptions | None = None,
) -> tuple[Published, float | None]:
    """Write the model beside the others, record it in the store, promote it unless it is worse than the current one.

    Returns also the current model's nats on the same held-out hands, None when there is no usable one.
    """
    options = options or TrainOptions()
    saved = publish_model(model, models, notes)
    current_nats = _current_nats(models, saved, division.test, options.score_hands)
    if store is not None:
        record(store, saved)
    published = promote_if_better(models, saved, notes["held_out_nats"], current_nats, options.promote)
    if store is not None:
        with Store(store) as writer:
            writer.run("UPDATE models SET promoted = ? WHERE model_id = ?", [published.promoted, saved.model_id])
    return published, current_nats


def _current_nats(models: Path, candidate: TrainedModel, test: Corpus, max_hands: int) -> float | None:
    try:
        current = current_model(models)
    except ModelError:
        return None  # damaged: anything that loads is better
    if current is None:
        return None
    if current.model_id == candidate.model_id:
        return float(candidate.manifest["held_out_nats"])
    return held_out_nats(current, test, max_hands)


def record(store: Path, model: TrainedModel) -> None:
    """Put a model's row, buckets and scores into the store, in place of an earlier record of the same model."""
    key = [model.model_id]
    with Store(store) as writer, writer.transaction():
        for table in ("models", "buckets", "scores"):
            writer.run(f"DELETE FROM {table} WHERE model_id = ?", key)
        writer.run(
            "INSERT INTO models VALUES (?, now()::TIMESTAMP, ?, ?, ?, ?, false)",
            [
                model.model_id,
                model.manifest["corpus_hash"],
                model.n_hands,
                str(model.path),
                json.dumps(model.manifest, sort_keys=True),
            ],
        )
        writer.append("buckets", _bucket_rows(model))
        writer.append("scores", _score_rows(model))


def _bucket_rows(model: TrainedModel) -> pl.DataFrame:
    """Buckets after the flop in plain units; what a street's vectors do not hold follows from E."""
    frames = []
    for part in model.streets[1:]:
        raw = part.centroids.astype(np.float64) * part.std + part.mean
        columns = {name: raw[:, i] for i, name in enumerate(part.columns)}
        e = columns.get("e", np.zeros(part.k))
        rows = {name: columns.get(name, e**2 if name == "e2" else np.zeros(part.k)) for name in STORED_COLUMNS}
        weight = part.counts.sum(axis=(0, 2), dtype=np.float64)
        frames.append(
            pl.DataFrame(rows | {"e": e, "weight": weight, "bucket": np.arange(part.k), "street": part.street})
        )
    return pl.concat([frame.with_columns(model_id=pl.lit(model.model_id)) for frame in frames])


def _score_rows(model: TrainedModel) -> pl.DataFrame:
    scores = model.manifest["scores"]
    rows = []
    for metric in ("action_nats", "public_nats", "range_bits"):
        for name, row in (scores[metric] or {}).items():
            street = STREET_NAMES.index(name) if name in STREET_NAMES else None
            for source, value in row.items():
                if source != "n" and value is not None:
                    label = f"{metric}.{source}" if name in (*STREET_NAMES, OVERALL) else f"{metric}.{name}.{source}"
                    rows.append((model.model_id, scores["corpus_hash"], label, street, value, row["n"]))
    columns = ["model_id", "corpus", "metric", "street", "value", "n"]
    schema = dict(zip(columns, [pl.String, pl.String, pl.String, pl.Int8, pl.Float64, pl.Int64], strict=True))
    return pl.DataFrame(rows, schema=schema, orient="row")
