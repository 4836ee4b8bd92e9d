"""A case base: situations met, what was done in them and what came of it, found again by similarity.

A situation is a vector of features in [0, 1]. The similarity of two situations is the weighted Euclidean one of
FreeCBR, 100 * (1 - sqrt(sum w d^2 / sum w)) with d the difference of a feature (Sandven and Tessem, "A Case-Based
Learner for Poker", 2006, use it with equal weights). Whatever is at least `threshold` similar may be reused, the
most similar cases first and of equally similar ones the youngest, since later play was better informed.

Retrieval is indexed without loss. A feature that moves in steps so wide that one step alone brings the similarity
below the threshold must agree exactly, so its value is part of a bucket's key. The first feature is cut into cells as
wide as it may differ at all: only a query's own cell and the two beside it are looked through, by a compiled loop.

Nothing is ever forgotten. Cases that tell nothing about playing on (folds) lie in buckets of their own, so that
they do not crowd out the others. Growing arrays double; a file is a plain npz with a checksum, never a pickle.
"""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import BotError
from hardbot.game.jit import njit

SCHEMA = 1
DEFAULT_WEIGHT = 5  # FreeCBR's

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Key = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Feature:
    """One number of a situation, scaled to [0, 1]; `step` is the least difference of two values, 0 if there is none."""

    name: str
    step: float = 0.0
    weight: int = DEFAULT_WEIGHT


# What a case holds besides its situation. Amounts are small bets.
COLUMNS: dict[str, type[np.generic]] = {
    "hand": np.int64,  # hands played when it was met
    "stage": np.int8,  # street
    "strategy": np.int8,
    "invested_sb": np.float32,  # own chips of this stage from the decision on
    "stage_pot_sb": np.float32,  # what the others put in in this stage, one's own blind included
    "before_sb": np.float32,  # own chips of the hand before the decision
    "result_sb": np.float32,  # of the whole hand
    "share": np.float32,  # of the pot that was won
    "uncontested": np.int8,  # 1 if everybody else folded
}


def similarity(first: Floats, second: Floats, weights: Floats) -> float:
    """Similarity of two situations in percent: 100 if equal, 0 if all features are as far apart as can be."""
    distance = math.sqrt(float(weights @ (first - second) ** 2) / float(weights.sum()))
    return 100.0 * (1.0 - distance)


@njit
def _scan(
    vectors: Floats,
    ids: Ints,
    n: int,
    query: Floats,
    weights: Floats,
    limit: float,
    near: Floats,
    near_ids: Ints,
    k: int,
) -> int:
    """Merge one bucket into the nearest cases so far; returns how many there are.

    `near` holds their squared distances, the farthest first among them at any place; younger cases are met first.
    """
    n_most = near.shape[0]
    worst, at = -1.0, 0
    if k == n_most:
        at = int(near.argmax())
        worst = near[at]
    for row in range(n - 1, -1, -1):
        square = 0.0
        for column in range(query.shape[0]):
            gap = vectors[row, column] - query[column]
            square += weights[column] * gap * gap
        if square > limit:
            continue
        if k < n_most:
            near[k], near_ids[k] = square, ids[row]
            k += 1
            if k == n_most:
                at = int(near.argmax())
                worst = near[at]
        elif square < worst or (square == worst and ids[row] > near_ids[at]):
            near[at], near_ids[at] = square, ids[row]
            at = int(near.argmax())
            worst = near[at]
    return k


class _Bucket:
    """Situations that share a key, side by side for the scan."""

    __slots__ = ("ids", "n", "vectors")

    def __init__(self, width: int) -> None:
        self.n = 0
        self.vectors = np.empty((16, width))
        self.ids = np.empty(16, dtype=np.int64)

    def add(self, vector: Floats, case: int) -> None:
        if self.n == len(self.ids):
            self.vectors = np.concatenate([self.vectors, np.empty_like(self.vectors)])
            self.ids = np.concatenate([self.ids, np.empty_like(self.ids)])
        self.vectors[self.n], self.ids[self.n] = vector, case
        self.n += 1


class CaseBase:
    """All cases of one kind of decision.

    `is_silent` marks strategies whose cases are kept but not retrieved unless asked for.
    """

    def __init__(
        self, features: Sequence[Feature], *, threshold: float = 95.0, is_silent: frozenset[int] = frozenset()
    ) -> None:
        if not 0.0 <= threshold <= 100.0:
            raise BotError(f"expected a similarity threshold from 0 to 100, got {threshold}")
        if not features or min(f.weight for f in features) < 0 or sum(f.weight for f in features) == 0:
            raise BotError(f"expected features with weights of 0 or more, not all 0, got {list(features)}")
        self.features = tuple(features)
        self.threshold = threshold
        self.is_silent = is_silent
        weights = np.array([feature.weight for feature in features], dtype=np.float64)
        self.weights: Floats = weights / weights.sum()
        radius = 1.0 - threshold / 100.0
        self._limit = radius * radius * (1.0 + 1e-9)
        self._steps = [
            (i, feature.step)
            for i, feature in enumerate(features)
            if math.sqrt(self.weights[i]) * feature.step > radius * (1.0 + 1e-6)
        ]
        reach = radius / math.sqrt(self.weights[0]) if self.weights[0] > 0 else 1.0
        self._cell = min(max(reach, 1e-3), 1.0) * (1.0 + 1e-6)
        self._buckets: dict[Key, _Bucket] = {}
        self._n = 0
        self._vectors: Floats = np.empty((256, len(features)))
        self._columns: dict[str, NDArray[Any]] = {name: np.zeros(256, dtype) for name, dtype in COLUMNS.items()}

    def __len__(self) -> int:
        return self._n

    @property
    def vectors(self) -> Floats:
        """Situations of all cases (n, features)."""
        return self._vectors[: self._n]

    def column(self, name: str) -> NDArray[Any]:
        """One of COLUMNS for all cases (n,)."""
        return self._columns[name][: self._n]

    def retain(self, vector: Floats, facts: Mapping[str, float]) -> int:
        """Keep a case; `facts` has every one of COLUMNS. Returns its number."""
        if self._n == len(self._vectors):
            self._vectors = np.concatenate([self._vectors, np.empty_like(self._vectors)])
            self._columns = {name: np.concatenate([c, np.zeros_like(c)]) for name, c in self._columns.items()}
        case = self._n
        self._vectors[case] = vector
        for name, column in self._columns.items():
            column[case] = facts[name]
        self._n += 1
        self._index(vector, int(facts["strategy"]), case)
        return case

    def nearest(self, vector: Floats, n_most: int, *, silent: bool = False) -> tuple[Ints, Floats]:
        """Numbers and similarities of the at most `n_most` most similar cases, the most similar first."""
        near, near_ids, k = np.empty(n_most), np.empty(n_most, dtype=np.int64), 0
        *exact, cell = self._key(vector)
        for neighbour in (cell, cell - 1, cell + 1):
            bucket = self._buckets.get((int(silent), *exact, neighbour))
            if bucket is not None:
                k = _scan(bucket.vectors, bucket.ids, bucket.n, vector, self.weights, self._limit, near, near_ids, k)
        order = np.lexsort((-near_ids[:k], near[:k]))
        return near_ids[order], 100.0 * (1.0 - np.sqrt(near[order]))

    def _key(self, vector: Floats) -> Key:
        return (*(round(vector[i] / step) for i, step in self._steps), int(vector[0] // self._cell))

    def _index(self, vector: Floats, strategy: int, case: int) -> None:
        key = (int(strategy in self.is_silent), *self._key(vector))
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = _Bucket(len(self.features))
        bucket.add(vector, case)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything kept, by name: one array for each feature and column."""
        found: dict[str, NDArray[Any]] = {
            feature.name: self.vectors[:, i].copy() for i, feature in enumerate(self.features)
        }
        return found | {name: self.column(name).copy() for name in COLUMNS}

    def extend(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Retain many cases, given as `arrays` gives them; BotError if a name is missing or lengths differ."""
        names = [feature.name for feature in self.features]
        wanted = [*names, *COLUMNS]
        if set(arrays) != set(wanted):
            raise BotError(f"expected cases with columns {', '.join(wanted)}, got {', '.join(arrays)}")
        lengths = {len(array) for array in arrays.values()}
        if len(lengths) != 1:
            raise BotError(f"expected columns of one length, got {sorted(lengths)}")
        vectors = np.stack([np.asarray(arrays[name], dtype=np.float64) for name in names], axis=1)
        if not np.isfinite(vectors).all():
            raise BotError("expected finite numbers in the features of cases, got NaN or infinity")
        rows = zip(*(arrays[name].tolist() for name in COLUMNS), strict=True)
        for vector, row in zip(vectors, rows, strict=True):
            self.retain(vector, dict(zip(COLUMNS, row, strict=True)))


def digest(bases: Mapping[str, Mapping[str, NDArray[Any]]]) -> str:
    """sha256 over names, types and contents of all arrays."""
    found = hashlib.sha256()
    for base in sorted(bases):
        for name in sorted(bases[base]):
            array = np.ascontiguousarray(bases[base][name])
            found.update(f"{base}/{name}/{array.dtype.str}/{array.shape}".encode())
            found.update(array.tobytes())
    return found.hexdigest()


def save_cases(path: Path, bases: Mapping[str, Mapping[str, NDArray[Any]]], facts: Mapping[str, Any]) -> None:
    """Write case bases and a manifest (schema, checksum and `facts`) as one npz."""
    manifest = {"schema": SCHEMA, "sha256": digest(bases), "facts": dict(facts)}
    arrays: dict[str, Any] = {f"{base}/{name}": a for base, columns in bases.items() for name, a in columns.items()}
    with path.open("wb") as file:
        np.savez_compressed(file, manifest=np.array(json.dumps(manifest)), **arrays)


def load_cases(path: Path) -> tuple[dict[str, dict[str, NDArray[Any]]], dict[str, Any]]:
    """Case bases and facts of a file; BotError if it is missing, damaged or of another schema."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            manifest = json.loads(str(stored["manifest"]))
            bases: dict[str, dict[str, NDArray[Any]]] = {}
            for name in stored.files:
                base, slash, column = name.partition("/")
                if slash:
                    bases.setdefault(base, {})[column] = stored[name]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise BotError(f"expected a case file, got {type(error).__name__}: {error} at {path}") from error
    if manifest.get("schema") != SCHEMA:
        raise BotError(f"expected case schema {SCHEMA}, got {manifest.get('schema')} at {path}")
    if manifest.get("sha256") != digest(bases):
        raise BotError(f"expected the checksum {manifest.get('sha256')}, got {digest(bases)} at {path}")
    return bases, manifest["facts"]
