"""Conditional probability tables of the decision network, counted in simulated deals.

After PokaBayes (Katzenelson et al. 2013, part 9): probabilities of hand types are brute-forced by dealing many games
rather than derived. Kept are counts, and probabilities are made from them with a little smoothing. For two players on a
common board, with all types as in handtypes.py and streets 0 (two cards) to 3 (seven):

    start  (44,)             types of two cards
    step   (3, 44, 44, 44)   street 0-2: type now, type of the next board, type then
    final  (3, 44, 44, 22)   street 0-2: type now, type of the board now, class at the end
    points (4, 44, 44)       half points of the type against the other hand on that board, by the evaluator
    seen   (4, 44, 44)       and how often it was dealt
    joint  (4, 44, 22, 22)   both players' classes at the end, given the type of the board now

Before the flop the board has type 0. `hardbot pokabayes-tables` makes them; the shipped ones are in data/pokabayes.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.bayes.handtypes import N_FINALS, N_TYPES, TYPE_FINAL, type_of_cards
from hardbot.errors import TableError
from hardbot.game.evaluator import rank_cards7
from hardbot.game.jit import njit
from hardbot.game.storage import shipped_folder, write_whole

SCHEMA = 1
SHAPES: dict[str, tuple[int, ...]] = {
    "start": (N_TYPES,),
    "step": (3, N_TYPES, N_TYPES, N_TYPES),
    "final": (3, N_TYPES, N_TYPES, N_FINALS),
    "points": (4, N_TYPES, N_TYPES),
    "seen": (4, N_TYPES, N_TYPES),
    "joint": (4, N_TYPES, N_FINALS, N_FINALS),
}
MANIFEST, ARRAYS = "manifest.json", "tables.npz"
_CHUNK = 250_000
_TAU = 2.0  # pseudo-counts drawn from the coarser table
_HINT = "run: hardbot pokabayes-tables"

Floats = NDArray[np.float64]
Counts = dict[str, NDArray[np.uint32]]


@njit
def _count_deals(
    words: NDArray[np.uint64],
    start: NDArray[np.uint32],
    step: NDArray[np.uint32],
    final: NDArray[np.uint32],
    points: NDArray[np.uint32],
    seen: NDArray[np.uint32],
    joint: NDArray[np.uint32],
) -> None:
    """Deal nine cards by each row of random words: five board cards, two hands; count both players."""
    deck = np.arange(52)
    hands = np.empty((2, 7), dtype=np.int64)
    types = np.empty((2, 4), dtype=np.int64)
    boards = np.zeros(4, dtype=np.int64)
    for i in range(words.shape[0]):
        for k in range(9):
            other = k + np.int64((words[i, k] * np.uint64(52 - k)) >> np.uint64(32))
            deck[k], deck[other] = deck[other], deck[k]
        for street in range(1, 4):
            boards[street] = type_of_cards(deck[:5], 2 + street)
        for p in range(2):
            hands[p, :2] = deck[5 + 2 * p : 7 + 2 * p]
            hands[p, 2:] = deck[:5]
            types[p, 0] = type_of_cards(hands[p], 2)
            for street in range(1, 4):
                types[p, street] = type_of_cards(hands[p], 4 + street)
        ranks = (
            rank_cards7(hands[0, 0], hands[0, 1], hands[0, 2], hands[0, 3], hands[0, 4], hands[0, 5], hands[0, 6]),
            rank_cards7(hands[1, 0], hands[1, 1], hands[1, 2], hands[1, 3], hands[1, 4], hands[1, 5], hands[1, 6]),
        )
        for p in range(2):
            mine, theirs = TYPE_FINAL[types[p, 3]], TYPE_FINAL[types[1 - p, 3]]
            won = 2 if ranks[p] > ranks[1 - p] else (1 if ranks[p] == ranks[1 - p] else 0)
            start[types[p, 0]] += 1
            for street in range(4):
                now, board = types[p, street], boards[street]
                points[street, now, board] += won
                seen[street, now, board] += 1
                joint[street, board, mine, theirs] += 1
                if street < 3:
                    step[street, now, boards[street + 1], types[p, street + 1]] += 1
                    final[street, now, board, mine] += 1


def simulate_tables(n_deals: int, seed: int) -> Counts:
    """Counts of `n_deals` deals; the same seed gives the same counts."""
    counts: Counts = {name: np.zeros(shape, dtype=np.uint32) for name, shape in SHAPES.items()}
    rng = np.random.Generator(np.random.PCG64(seed))
    for first in range(0, n_deals, _CHUNK):
        words = rng.integers(0, 1 << 32, size=(min(_CHUNK, n_deals - first), 9), dtype=np.uint64)
        _count_deals(words, *(counts[name] for name in SHAPES))
    return counts


@dataclass(frozen=True)
class NetworkTables:
    """Probabilities derived from the counts, and where they came from."""

    start: Floats  # (44,) P(type of two cards)
    step: Floats  # (3, 44 boards, 44 now, 44 then) P(type then | type now, next board)
    final: Floats  # (4, 44 boards, 44, 22) P(class at the end | type, board); the river's is certain
    strength: Floats  # (4, 44 boards, 44) expected share of the pot against any hand
    relation: Floats  # (4, 44 boards, 22, 22) P(both classes) / (P(one) P(other)) on that board
    manifest: Mapping[str, Any]


def derive_tables(counts: Counts, manifest: Mapping[str, Any] | None = None) -> NetworkTables:
    """Probabilities with `_TAU` pseudo-counts from the same table without the own type (or board)."""
    step = np.swapaxes(counts["step"], 1, 2).astype(float)
    final = np.swapaxes(counts["final"], 1, 2).astype(float)
    river = np.zeros((1, N_TYPES, N_TYPES, N_FINALS))
    river[:, :, np.arange(N_TYPES), TYPE_FINAL] = 1.0
    points = np.swapaxes(counts["points"], 1, 2) / 2.0
    seen = np.swapaxes(counts["seen"], 1, 2).astype(float)
    by_type = (points.sum(1, keepdims=True) + 0.5) / (seen.sum(1, keepdims=True) + 1.0)
    joint = counts["joint"].astype(float)
    joint = (joint + np.swapaxes(joint, 2, 3)) / 2
    return NetworkTables(
        start=counts["start"] / counts["start"].sum(),
        step=_shrunk(step, 2),
        final=np.concatenate([_shrunk(final, 1), river]),
        strength=(points + _TAU * by_type) / (seen + _TAU),
        relation=_relation(joint),
        manifest=dict(manifest or {}),
    )


def _shrunk(counts: Floats, axis: int) -> Floats:
    """Rows normalised over the last axis, each mixed with the row summed over `axis`, that with a flat one."""
    n = counts.shape[-1]
    coarse = counts.sum(axis=axis, keepdims=True)
    coarse = (coarse + 1.0 / n) / (coarse.sum(-1, keepdims=True) + 1.0)
    return np.asarray((counts + _TAU * coarse) / (counts.sum(-1, keepdims=True) + _TAU))


def _relation(joint: Floats) -> Floats:
    """How much more often two classes come together than apart, drawn towards 1 where rarely dealt."""
    total = np.maximum(joint.sum((2, 3), keepdims=True), 1.0)
    one = joint.sum(3, keepdims=True)
    expected = one * np.swapaxes(one, 2, 3) / total
    return np.asarray((joint + _TAU) / (expected + _TAU))


def save_tables(counts: Counts, folder: Path, notes: Mapping[str, Any]) -> dict[str, Any]:
    """Write counts and manifest into a folder; the same counts give the same bytes. Returns the manifest."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in SHAPES:
            one = io.BytesIO()
            np.lib.format.write_array(one, counts[name], allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), one.getvalue(), zipfile.ZIP_DEFLATED)
    data = packed.getvalue()
    manifest = {"schema": SCHEMA, "sha256": hashlib.sha256(data).hexdigest(), **notes}
    write_whole(folder / ARRAYS, data)
    write_whole(folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
    return manifest


def load_counts(folder: Path) -> tuple[Counts, dict[str, Any]]:
    """Counts and manifest of a folder; TableError if missing, damaged or of another schema."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        data = (folder / ARRAYS).read_bytes()
    except FileNotFoundError as error:
        raise TableError(f"expected {MANIFEST} and {ARRAYS} in {folder}, found none; {_HINT}") from error
    except ValueError as error:
        raise TableError(f"expected JSON in {folder / MANIFEST}, got {error}; {_HINT}") from error
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        raise TableError(f"expected tables of schema {SCHEMA} in {folder}, got another; {_HINT}")
    if hashlib.sha256(data).hexdigest() != manifest.get("sha256"):
        raise TableError(f"expected the sha256 of the manifest, got another of {folder / ARRAYS}; {_HINT}")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            counts: Counts = {name: arrays[name] for name in SHAPES}
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise TableError(f"expected arrays {', '.join(SHAPES)} in {folder / ARRAYS}, got {error}; {_HINT}") from error
    for name, shape in SHAPES.items():
        if counts[name].shape != shape:
            raise TableError(f"expected {name} as {shape} in {folder / ARRAYS}, got {counts[name].shape}; {_HINT}")
    return counts, manifest


def default_tables() -> Path:
    """Folder of the tables that come with the project."""
    folder = shipped_folder("pokabayes")
    if not (folder / MANIFEST).is_file():
        raise TableError(f"expected tables in {folder}, found none; {_HINT}")
    return folder


@lru_cache(maxsize=2)
def load_tables(folder: Path) -> NetworkTables:
    """Probabilities of a folder of counts."""
    return derive_tables(*load_counts(folder))
