"""The trained model as a folder: manifest.json and arrays.npz, checked on loading, never executed.

What is kept are counts: for every street, decision point (slot, see context.py), bucket and action the
kernel-weighted number of corpus decisions. Probabilities are derived from them (likelihood.py), so that shrinkage can
be changed, or counts of another corpus added, without training again. The manifest holds what is needed to read the
arrays (schema, shapes, sha256) and to trust them (corpus hash, hands, k and kernel width of each street, held-out
scores, version of the code). Plain npz without pickles: a model from a stranger can be wrong but cannot run code.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import ModelError
from hardbot.game.cards import N_CLASSES
from hardbot.game.rules import N_STREETS
from hardbot.game.storage import shipped_folder
from hardbot.model.context import N_ACTIONS, N_LEVELS, street_contexts

SCHEMA = 1
MANIFEST = "manifest.json"
ARRAYS = "arrays.npz"
CURRENT = "current"  # file with the folder name of the last promoted model
_PER_STREET = ("centroids", "mean", "std", "kernel_norm", "slots", "counts", "context_counts")


@dataclass(frozen=True)
class StreetModel:
    """What the corpus says about one street.

    Preflop the buckets are the 169 classes and `counts` are plain; later they are k-means buckets and `counts` are sums
    of kernel weights, in units of the mean weight of a bucket's own members (so one member counts one on average).
    """

    street: int
    columns: tuple[str, ...]  # features of the vectors, FEATURE_COLUMNS names
    width: float  # of the kernel, in standard deviations; 0: hard buckets
    taus: tuple[float, ...]  # pseudo-counts drawn from the next coarser level, one per level
    tau_class: float  # preflop: pseudo-counts drawn from the neighbouring classes; unused later
    centroids: NDArray[np.float32]  # (k, columns), standardised
    mean: NDArray[np.float32]  # (columns,)
    std: NDArray[np.float32]  # (columns,)
    kernel_norm: NDArray[np.float32]  # (k,) mean kernel weight of a bucket's own members
    counts: NDArray[np.float32]  # (slots, k, 3)
    context_counts: NDArray[np.float32]  # (slots, 3) decisions whatever the cards

    @property
    def k(self) -> int:
        """Number of buckets."""
        return len(self.centroids)

    def check(self) -> None:
        """Raise ModelError unless the shapes fit the betting contexts and each other."""
        k, d, slots = len(self.centroids), len(self.columns), street_contexts(self.street).n_slots
        wanted: dict[str, tuple[int, ...]] = {
            "centroids": (k, d),
            "mean": (d,),
            "std": (d,),
            "kernel_norm": (k,),
            "counts": (slots, k, N_ACTIONS),
            "context_counts": (slots, N_ACTIONS),
        }
        for name, shape in wanted.items():
            array: NDArray[np.float32] = getattr(self, name)
            if array.shape != shape:
                raise ModelError(f"expected {name} of street {self.street} as {shape}, got {array.shape}")
            if not np.isfinite(array).all():
                raise ModelError(f"expected finite numbers in {name} of street {self.street}, got NaN or infinity")
        if self.street == 0 and k != N_CLASSES:
            raise ModelError(f"expected {N_CLASSES} preflop classes, got {k}")
        if k < 1 or len(self.taus) != N_LEVELS or min(self.taus) < 0 or (self.counts < 0).any():
            raise ModelError(f"expected k >= 1, {N_LEVELS} pseudo-counts and no negative count on street {self.street}")


@dataclass(frozen=True)
class TrainedModel:
    """Four streets and the manifest they came with (`manifest` is plain JSON data)."""

    streets: tuple[StreetModel, ...]
    floor: float  # share of the uniform distribution mixed into every P(action | bucket, context)
    manifest: dict[str, Any] = field(default_factory=dict)
    path: Path | None = None

    @property
    def model_id(self) -> str:
        """Short hash of the arrays; empty before the model is saved."""
        return str(self.manifest.get("model_id", ""))

    @property
    def n_hands(self) -> int:
        """Corpus hands the counts come from."""
        return int(self.manifest.get("n_hands", 0))

    def check(self) -> None:
        """Raise ModelError unless all parts fit."""
        if len(self.streets) != N_STREETS or [part.street for part in self.streets] != list(range(N_STREETS)):
            raise ModelError(f"expected {N_STREETS} streets in order, got {[part.street for part in self.streets]}")
        if not 0 < self.floor < 1:
            raise ModelError(f"expected a floor between 0 and 1, got {self.floor}")
        for part in self.streets:
            part.check()


def save_model(model: TrainedModel, folder: Path, notes: Mapping[str, Any] | None = None) -> TrainedModel:
    """Write a model into a new folder and return it with its full manifest; `notes` are added to the manifest.

    The same model gives the same bytes. Use pipeline.publish for an atomic replacement of a model in use.
    """
    model.check()
    arrays = _pack(model)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    data = buffer.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    manifest = dict(model.manifest) | dict(notes or {})
    manifest |= {
        "schema": SCHEMA,
        "model_id": digest[:12],
        "floor": model.floor,
        "streets": [_describe(part) for part in model.streets],
        "k": [part.k for part in model.streets],
        "widths": [part.width for part in model.streets],
        "taus": [list(part.taus) for part in model.streets],
        "arrays": {name: {"shape": list(a.shape), "dtype": str(a.dtype)} for name, a in arrays.items()},
        "files": {ARRAYS: {"sha256": digest, "bytes": len(data)}},
    }
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / ARRAYS, data)
    _write(folder / MANIFEST, (json.dumps(manifest, indent=1, sort_keys=True, allow_nan=False) + "\n").encode())
    return TrainedModel(model.streets, model.floor, manifest, folder)


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _describe(part: StreetModel) -> dict[str, Any]:
    return {
        "street": part.street,
        "k": part.k,
        "columns": list(part.columns),
        "width": part.width,
        "taus": list(part.taus),
        "tau_class": part.tau_class,
        "mean": [float(x) for x in part.mean],
        "std": [float(x) for x in part.std],
    }


def _pack(model: TrainedModel) -> dict[str, NDArray[Any]]:
    """Arrays by name; only decision points with counts are written."""
    arrays: dict[str, NDArray[Any]] = {}
    for part in model.streets:
        seen = np.flatnonzero(part.counts.any(axis=(1, 2))).astype(np.int32)
        values: dict[str, NDArray[Any]] = {
            "centroids": part.centroids.astype(np.float32),
            "mean": part.mean.astype(np.float32),
            "std": part.std.astype(np.float32),
            "kernel_norm": part.kernel_norm.astype(np.float32),
            "slots": seen,
            "counts": part.counts[seen].astype(np.float32),
            "context_counts": part.context_counts.astype(np.float32),
        }
        arrays |= {f"{name}_{part.street}": value for name, value in values.items()}
    return arrays


def load_model(path: Path | str | None = None) -> TrainedModel:
    """Load and verify a model folder, or the one a folder's `current` file names; None: the default model.

    Raises ModelError when it is missing, of another schema, or when a hash or shape does not agree.
    """
    folder = resolve_model(Path(path)) if path is not None else default_model_path()
    manifest = _read_manifest(folder)
    data = _read_arrays(folder, manifest)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ModelError(f"expected plain arrays in {folder / ARRAYS}, got {error}") from error
    try:
        streets = tuple(_unpack(part, arrays) for part in manifest["streets"])
        model = TrainedModel(streets, float(manifest["floor"]), manifest, folder)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ModelError(f"expected a complete model in {folder}, got {type(error).__name__}: {error}") from error
    try:
        model.check()
    except ModelError as error:
        raise ModelError(f"{error} ({folder})") from error
    return model


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(f"expected a model folder with {MANIFEST}, got {folder} without it") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"expected JSON in {path}, got {error}") from error
    schema = manifest.get("schema") if isinstance(manifest, dict) else None
    if schema != SCHEMA:
        raise ModelError(f"expected model schema {SCHEMA}, got {schema!r} in {path}")
    return dict(manifest)


def _read_arrays(folder: Path, manifest: Mapping[str, Any]) -> bytes:
    path = folder / ARRAYS
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"expected arrays in {path}, got {error.strerror}") from error
    wanted = str(manifest.get("files", {}).get(ARRAYS, {}).get("sha256", ""))
    got = hashlib.sha256(data).hexdigest()
    if got != wanted:
        raise ModelError(f"expected sha256 {wanted[:12] or 'in the manifest'}..., got {got[:12]}... of {path}")
    return data


def _unpack(part: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> StreetModel:
    street = int(part["street"])
    found = {name: arrays[f"{name}_{street}"] for name in _PER_STREET}
    slots, packed = found["slots"], found["counts"]
    n_slots = street_contexts(street).n_slots
    if packed.ndim != 3 or len(slots) != len(packed) or (len(slots) and not 0 <= slots.min() <= slots.max() < n_slots):
        raise ModelError(f"expected counts of slots below {n_slots} on street {street}, got {packed.shape}")
    counts = np.zeros((n_slots, *packed.shape[1:]), dtype=np.float32)
    counts[slots] = packed
    return StreetModel(
        street=street,
        columns=tuple(str(name) for name in part["columns"]),
        width=float(part["width"]),
        taus=tuple(float(tau) for tau in part["taus"]),
        tau_class=float(part["tau_class"]),
        counts=counts,
        **{name: found[name] for name in _PER_STREET if name not in ("slots", "counts")},
    )


def resolve_model(path: Path) -> Path:
    """The model folder itself, or the one that `path/current` names."""
    pointer = path / CURRENT
    if (path / MANIFEST).exists() or not pointer.is_file():
        return path
    name = pointer.read_text(encoding="utf-8").strip()
    if not name or Path(name).name != name:
        raise ModelError(f"expected the name of a model folder in {pointer}, got {name!r}")
    return path / name


def user_models() -> Path:
    """Folder of the user's own models: $HARDBOT_DATA, or the platform's data folder."""
    data = os.environ.get("HARDBOT_DATA")
    if data:
        return Path(data) / "models"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "hardbot" / "models"


def default_model_path() -> Path:
    """$HARDBOT_MODEL, else the user's current model, else the one shipped with the project."""
    named = os.environ.get("HARDBOT_MODEL")
    if named:
        return resolve_model(Path(named))
    if (user_models() / CURRENT).is_file():
        return resolve_model(user_models())
    folder = shipped_folder("default-model")
    if (folder / MANIFEST).is_file():
        return folder
    raise ModelError(
        "expected a trained model in $HARDBOT_MODEL, the user's data folder or data/default-model, "
        "got none; run: hardbot train"
    )
