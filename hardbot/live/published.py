"""What was published for people to look at: results of matches and manifests of models, both plain JSON.

Results are documents of hardbot.arena.gauntlet in the user's folder `results` and in the project's `data/results`;
models are folders with a manifest. A file that cannot be read is told with its reason, never passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hardbot.arena.gauntlet import results_folder
from hardbot.errors import HardBotError
from hardbot.game.storage import shipped_folder
from hardbot.model.artifact import CURRENT, MANIFEST, default_model_path, resolve_model, user_models

MAX_BYTES = 8_000_000
_LATEST = "latest-"
_MODEL_FACTS = (
    *("model_id", "n_hands", "decisions_known", "decisions_hidden", "held_out_nats", "k", "widths", "code_version"),
    *("hands_by_rules", "curve", "em_trace", "corpus_hash"),
)
_SCORES = ("action_nats", "public_nats", "range_bits", "calibration", "hands", "decisions")


class UnreadableFile(HardBotError):
    """A published file that is not what it should be."""


def _read(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UnreadableFile(f"expected at most {MAX_BYTES} bytes, got {path.stat().st_size} in {path.name}")
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"expected JSON in {path.name}, got {error}") from error
    if not isinstance(document, dict):
        raise UnreadableFile(f"expected a JSON object in {path.name}, got {type(document).__name__}")
    return document


def _result_files() -> dict[str, Path]:
    """Published documents by name, newest last; `latest-` copies are left out where the dated one is there."""
    found: dict[str, Path] = {}
    for folder in (shipped_folder("results"), results_folder()):
        dated = [path for path in folder.glob("*.json") if not path.name.startswith((_LATEST, "."))]
        kinds = {path.name.split("-")[0] for path in dated}
        latest = [p for p in folder.glob(f"{_LATEST}*.json") if p.stem.removeprefix(_LATEST) not in kinds]
        found |= {path.stem: path for path in [*latest, *dated]}
    return found


def list_results() -> list[dict[str, Any]]:
    """One line a document, newest first."""
    lines: list[dict[str, Any]] = []
    for name, path in _result_files().items():
        try:
            document = read_result(name)
        except UnreadableFile as error:
            lines.append({"name": name, "error": str(error), "played_at": ""})
            continue
        lines.append(
            {
                "name": name,
                "kind": document.get("kind", path.stem),
                "played_at": str(document.get("played_at", "")),
                "hero": document["rows"][0].get("hero", "") if document["rows"] else "",
                "unseen": bool(document.get("unseen", False)),
                "matches": len(document["rows"]),
            }
        )
    return sorted(lines, key=lambda line: line["played_at"], reverse=True)


def read_result(name: str) -> dict[str, Any]:
    """A whole document; KeyError if there is none of that name."""
    path = _result_files()[name]
    document = _read(path)
    rows = document.get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UnreadableFile(f"expected rows in {path.name}, got {type(rows).__name__}")
    return document


def _model_folders() -> Iterator[tuple[str, Path]]:
    shipped = shipped_folder("default-model")
    if (shipped / MANIFEST).is_file():
        yield "shipped", shipped
    models = user_models()
    if models.is_dir():
        yield from (("yours", path.parent) for path in sorted(models.glob(f"[!.]*/{MANIFEST}")))


def list_models() -> list[dict[str, Any]]:
    """Facts and scores of every model, the one in use first."""
    try:
        in_use: Path | None = default_model_path()
    except HardBotError:
        in_use = None
    pointer = user_models() / CURRENT
    promoted = resolve_model(user_models()) if pointer.is_file() else None
    lines = []
    for origin, folder in _model_folders():
        line: dict[str, Any] = {"name": folder.name, "origin": origin, "in_use": folder == in_use}
        line["promoted"] = folder == promoted
        try:
            manifest = _read(folder / MANIFEST)
        except UnreadableFile as error:
            lines.append(line | {"error": str(error)})
            continue
        scores = manifest.get("scores")
        kept = scores if isinstance(scores, dict) else {}
        line |= {key: manifest[key] for key in _MODEL_FACTS if key in manifest}
        lines.append(line | {"scores": {key: kept[key] for key in _SCORES if key in kept}})
    return sorted(lines, key=lambda line: (not line["in_use"], line["origin"], line["name"]))
