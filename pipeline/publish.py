"""Publishing: a model becomes visible all at once, and `current` names the last good one.

A models folder holds one folder per model, named by the hash of its arrays, and the file `current` with the name of
the promoted one. A model is written into a hidden folder beside its place, synced, and renamed; `current` is
replaced by a rename as well. A reader therefore sees the old model or the new one, never a half; a killed
writer leaves a hidden folder that the next publication clears away. Publishing the same arrays again changes
nothing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardbot.errors import ModelError
from hardbot.model.artifact import CURRENT, MANIFEST, TrainedModel, load_model, resolve_model, save_model

_ASIDE = ".aside-"


@dataclass(frozen=True)
class Published:
    """Where a model went, and whether `current` names it now."""

    model_id: str
    path: Path
    promoted: bool
    reason: str


def current_model(models: Path) -> TrainedModel | None:
    """The promoted model of a folder, None when there is none yet."""
    if not (models / CURRENT).is_file():
        return None
    return load_model(resolve_model(models))


def publish_model(model: TrainedModel, models: Path, notes: Mapping[str, Any] | None = None) -> TrainedModel:
    """Put a model into the models folder (not promoted yet); returns it as loaded back from there."""
    models.mkdir(parents=True, exist_ok=True)
    _clear_aside(models)
    aside = models / f"{_ASIDE}{os.getpid()}"
    saved = save_model(model, aside, notes)
    place = models / saved.model_id
    if _is_good(place):
        shutil.rmtree(aside)
        return load_model(place)
    if place.exists():  # damaged: the new one takes its place
        shutil.rmtree(place)
    aside.rename(place)
    _sync_folder(models)
    return load_model(place)


def promote(models: Path, name: str) -> None:
    """Let `current` name this model; refuses one that does not load."""
    if Path(name).name != name or not (models / name / MANIFEST).is_file():
        raise ModelError(f"expected the name of a model in {models}, got {name!r}")
    load_model(models / name)
    pointer = models / f"{_ASIDE}{CURRENT}-{os.getpid()}"
    with pointer.open("w", encoding="utf-8") as file:
        file.write(name + "\n")
        file.flush()
        os.fsync(file.fileno())
    pointer.replace(models / CURRENT)
    _sync_folder(models)


def promote_if_better(
    models: Path, candidate: TrainedModel, nats: float, current_nats: float | None, force: bool = False
) -> Published:
    """Promote unless the current model scores better on the same held-out hands; nats: smaller is better.

    `current_nats` is None when there is no current model.
    """
    path = candidate.path or models / candidate.model_id
    if current_nats is None:
        reason, good = "the first model", True
    elif nats <= current_nats:
        reason, good = f"{nats:.5f} nats held out, the current model {current_nats:.5f}", True
    else:
        reason, good = f"{nats:.5f} nats held out is worse than the current model's {current_nats:.5f}", force
        reason += ", promoted on request" if force else ": kept, not promoted"
    if good:
        promote(models, path.name)
    return Published(candidate.model_id, path, good, reason)


def list_models(models: Path) -> list[dict[str, Any]]:
    """Models of a folder by name, with hands, k, score and which is current; damaged ones say why."""
    pointer = models / CURRENT
    current = pointer.read_text(encoding="utf-8").strip() if pointer.is_file() else ""
    rows: list[dict[str, Any]] = []
    for folder in sorted(models.iterdir()) if models.is_dir() else ():
        if not folder.is_dir() or folder.name.startswith("."):
            continue
        row: dict[str, Any] = {"model_id": folder.name, "current": folder.name == current, "path": str(folder)}
        try:
            model = load_model(folder)
            keys = ("n_hands", "corpus_hash", "k", "widths", "held_out_nats", "code_version")
            row |= {key: model.manifest.get(key) for key in keys} | {"error": None}
        except ModelError as error:
            row["error"] = str(error)
        rows.append(row)
    return rows


def _is_good(folder: Path) -> bool:
    try:
        load_model(folder)
    except ModelError:
        return False
    return True


def _clear_aside(models: Path) -> None:
    """Remove what killed writers left; a living writer's folder stays."""
    for leftover in models.glob(f"{_ASIDE}*"):
        pid = leftover.name.rsplit("-", 1)[-1]
        if pid.isdecimal() and int(pid) != os.getpid() and _is_alive(int(pid)):
            continue
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
