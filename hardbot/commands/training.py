"""`hardbot train`, `hardbot score` and `hardbot models`: from stored hands to a model, and how good it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardbot.commands.options import Json
from hardbot.commands.output import format_cell, print_json, print_table, step_progress
from hardbot.errors import ModelError

if TYPE_CHECKING:
    from pipeline.settings import ModelSettings
    from pipeline.train import TrainOptions

StoreFile = Annotated[
    Path | None, typer.Option("--store", help="Store to read; default $HARDBOT_STORE or ./hardbot.duckdb.")
]
Models = Annotated[
    Path | None, typer.Option("--models", help="Folder of models; default the user's data folder ($HARDBOT_DATA).")
]
Patterns = Annotated[list[str] | None, typer.Option("--match", help="Only matches like this (GLOB); repeatable.")]
Progress = Callable[[str, int, int], None]
STREETS = ("preflop", "flop", "turn", "river")
STUDIES = ("features", "size", "censoring")


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("train", epilog="Example: hardbot train --store hands.duckdb --grid --json")(train)
    app.command("score", epilog="Example: hardbot score --model models/current-model hands.log.gz --json")(score)
    app.command("models", epilog="Example: hardbot models --promote 0a0008c5dc89")(models)


def train(
    store: StoreFile = None,
    models: Models = None,
    k: Annotated[
        str | None, typer.Option("--k", help="Buckets on flop, turn and river: one number or three, as 100,100,60.")
    ] = None,
    width: Annotated[
        str | None,
        typer.Option("--width", help="Kernel widths (standard deviations; 0: hard buckets): one number or three."),
    ] = None,
    grid: Annotated[
        bool, typer.Option("--grid", help="Choose k, widths and shrinkage by held-out likelihood.")
    ] = False,
    warm: Annotated[bool, typer.Option("--warm", help="Keep the current model's settings and buckets.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Buckets follow from it.")] = 0,
    em_iterations: Annotated[int, typer.Option("--em-iterations", help="At most, where cards are hidden.")] = 30,
    match: Patterns = None,
    without_match: Annotated[list[str] | None, typer.Option(help="No matches like this (GLOB); repeatable.")] = None,
    without_player: Annotated[list[str] | None, typer.Option(help="No hands with this player; repeatable.")] = None,
    held_out: Annotated[
        list[str] | None, typer.Option(help="Score on matches like this (GLOB) instead of the usual tenth.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the model to this folder instead; nothing is promoted.")
    ] = None,
    promote: Annotated[bool, typer.Option("--promote", help="Make it current even if it scores worse.")] = False,
    score_hands: Annotated[int, typer.Option(help="Held-out hands whose ranges are scored.")] = 4_000,
    study: Annotated[
        str | None, typer.Option("--study", help=f"Publish nothing; held-out curves: {', '.join(STUDIES)}.")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="With --grid: the curve over k as an image.")] = None,
    as_json: Json = False,
) -> None:
    """Train a model from the heads-up hands of a store, score it on held-out hands and publish it.

    Where cards are hidden the counts come from expectation-maximisation. The model becomes the current one unless the
    one before scores better on the same held-out hands.
    """
    from hardbot.model.artifact import user_models
    from pipeline.selection import Grid, plot_curve
    from pipeline.store import default_store_path
    from pipeline.train import TrainOptions, train_to
    from pipeline.train import train as run_training

    options = TrainOptions(
        settings=_settings(k, width, seed, em_iterations),
        grid=Grid() if grid else None,
        warm=warm,
        matches=tuple(match) if match else None,
        without_matches=tuple(without_match or ()),
        without_players=tuple(without_player or ()),
        held_out=tuple(held_out or ()),
        promote=promote,
        score_hands=score_hands,
    )
    store_path, folder = store or default_store_path(), models or user_models()
    with step_progress(not as_json) as progress:
        if study is not None:
            _show_study(study, _run_study(study, store_path, options, progress), as_json)
            return
        if out is not None:
            report = train_to(store_path, out, options, progress)
        else:
            report = run_training(store_path, folder, options, progress)
    if plot is not None:
        from hardbot.model.artifact import load_model

        plot_curve(load_model(report.path).manifest["curve"], plot)
    if as_json:
        print_json(report.to_json())
        return
    _print_scores(report.scores)
    steps = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in report.seconds.items())
    print(f"{report.n_hands:,} hands counted; {steps}")
    print(f"{report.path}: {'current' if report.promoted else 'kept'} ({report.reason})")


def _settings(k: str | None, width: str | None, seed: int, em_iterations: int) -> ModelSettings:
    from dataclasses import replace

    from pipeline.settings import ModelSettings

    settings = replace(ModelSettings(), seed=seed, em_iterations=em_iterations)
    for street, value in zip((1, 2, 3), _three(k, "--k"), strict=True):
        settings = settings if value is None else settings.with_street(street, k=int(value))
    for street, value in zip((1, 2, 3), _three(width, "--width"), strict=True):
        settings = settings if value is None else settings.with_street(street, width=value)
    settings.check()
    return settings


def _three(text: str | None, option: str) -> list[float] | list[None]:
    if text is None:
        return [None, None, None]
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError as error:
        raise ModelError(f"expected one number or three with commas for {option}, got {text!r}") from error
    if len(values) not in {1, 3}:
        raise ModelError(f"expected one number or three with commas for {option}, got {text!r}")
    return values * (3 // len(values))


def _run_study(name: str, store: Path, options: TrainOptions, progress: Progress | None) -> Any:
    from pipeline.dataset import load_corpus
    from pipeline.settings import ModelSettings
    from pipeline.study import study_censoring, study_features, study_size

    if name not in STUDIES:
        raise ModelError(f"expected a study of {', '.join(STUDIES)}, got {name!r}")
    corpus = load_corpus(
        store,
        matches=options.matches,
        without_matches=options.without_matches,
        without_players=options.without_players,
        all_features=name == "features",
    )
    settings = options.settings or ModelSettings()
    if name == "features":
        return study_features(corpus, settings, progress)
    if name == "size":
        return study_size(corpus, settings, progress=progress)
    return study_censoring(corpus, settings, progress)


def _show_study(name: str, result: Any, as_json: bool) -> None:
    if as_json:
        print_json(result)
        return
    rows = result if isinstance(result, list) else [result["action_nats"] | {"won_back": result["won_back"]}]
    print_table(
        f"held-out nats: {name}", list(rows[0]), [[format_cell(value) for value in row.values()] for row in rows]
    )


def score(
    paths: Annotated[list[Path], typer.Argument(help="Hand histories, folders of them, or one .duckdb store.")],
    model: Annotated[
        Path | None,
        typer.Option("--model", help="Model folder, or a folder with a `current`; default: the default model."),
    ] = None,
    max_hands: Annotated[int, typer.Option(help="Hands whose ranges are scored, evenly spaced.")] = 20_000,
    as_json: Json = False,
) -> None:
    """Score a model on hands: nats an action against two baselines, bits about hidden cards against Poki, calibration.

    Smaller nats and larger bits are better. `action_nats` needs a source that shows all cards.
    """
    from hardbot.model.artifact import load_model
    from pipeline.score import corpus_of_paths, score_model

    trained = load_model(model)
    with step_progress(not as_json) as progress:
        report = score_model(trained, corpus_of_paths(paths), max_hands, progress)
    if as_json:
        print_json(report)
        return
    _print_scores(report)


def models(
    folder: Models = None,
    promote: Annotated[str | None, typer.Option("--promote", help="Make this model the current one.")] = None,
    as_json: Json = False,
) -> None:
    """The trained models of a folder, and which of them is current."""
    from hardbot.model.artifact import user_models
    from pipeline import publish

    place = folder or user_models()
    if promote is not None:
        publish.promote(place, promote)
    rows = publish.list_models(place)
    if as_json:
        print_json(rows)
        return
    columns = ["model", "current", "hands", "k", "held-out nats", "error"]
    keys = ("model_id", "current", "n_hands", "k", "held_out_nats", "error")
    print_table(f"models in {place}", columns, [[format_cell(row.get(key), no="") for key in keys] for row in rows])


def _print_scores(report: dict[str, Any]) -> None:
    print(f"{report['hands']:,} held-out hands, {report['decisions']:,} decisions")
    for metric in ("action_nats", "public_nats", "range_bits"):
        rows = report[metric]
        if rows is None:
            print(f"{metric}: the corpus does not show all cards")
            continue
        columns = ["street", *next(iter(rows.values()))]
        print_table(
            metric, columns, [[name, *(format_cell(value) for value in row.values())] for name, row in rows.items()]
        )
    observed = report["calibration"]["observed"]
    print("calibration (each tenth should hold .100): " + " ".join(f"{share:.3f}" for share in observed))
