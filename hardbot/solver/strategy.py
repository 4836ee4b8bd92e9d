"""A solved strategy as a folder: manifest.json and strategy.npz, checked on loading, never executed.

The arrays are the thirteen choices of every round (`rounds`) as bytes: a probability is its byte over the sum of the
bytes of its decision, so 0 is never taken and 255 against zeros is certain. A few megabytes hold the whole game.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import StrategyError
from hardbot.game.rules import CALL, HEADS_UP, STREET_NAMES
from hardbot.game.storage import write_whole
from hardbot.game.tree import betting_tree
from hardbot.model.policy import TablePolicy
from hardbot.solver.abstraction import Abstraction, bucket_function, bucket_tables
from hardbot.solver.rounds import N_CHOICES, N_STARTS, PREFLOP_NODES, ROUND_NODES, RoundMap, round_map

SCHEMA = 1
MANIFEST = "manifest.json"
ARRAYS = "strategy.npz"
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Strategy:
    """Choices (starts, 2 seats, buckets, 13) of the four streets as bytes, and the buckets they are for."""

    abstraction: Abstraction
    choices: tuple[Bytes, Bytes, Bytes, Bytes]
    manifest: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for street, (array, n) in enumerate(zip(self.choices, self.abstraction.sizes, strict=True)):
            wanted = (N_STARTS[street], 2, n, N_CHOICES)
            if array.shape != wanted or array.dtype != np.uint8:
                raise StrategyError(
                    f"expected {STREET_NAMES[street]} choices {wanted} of uint8, got {array.shape} of {array.dtype}"
                )

    @property
    def strategy_id(self) -> str:
        """Short hash of the arrays; empty before the strategy is saved."""
        return str(self.manifest.get("strategy_id", ""))


def nodes_of(street: int, seat: int) -> tuple[tuple[str, int, tuple[int, ...]], ...]:
    """Decisions of a seat in a round: betting since its start, first place in the row, actions."""
    return ROUND_NODES[seat] if street else PREFLOP_NODES[seat]


def quantise(averages: tuple[Floats, ...], abstraction: Abstraction) -> Strategy:
    """Strategy of summed reaches (starts, 2, buckets, 16): in proportion; never reached: check or call."""
    parts: list[Bytes] = []
    for street, table in enumerate(averages):
        part = np.zeros((*table.shape[:3], N_CHOICES), dtype=np.uint8)
        for seat in (0, 1):
            for _, place, legal in nodes_of(street, seat):
                sums = table[:, seat, :, place : place + len(legal)].astype(np.float64)
                total = sums.sum(axis=2, keepdims=True)
                default = np.array([action == CALL for action in legal], dtype=np.float64)
                share = np.where(total > 0.0, sums / np.where(total > 0.0, total, 1.0), default)
                part[:, seat, :, place : place + len(legal)] = np.rint(share * 255.0)
        parts.append(part)
    return Strategy(abstraction, (parts[0], parts[1], parts[2], parts[3]))


def probabilities(strategy: Strategy, street: int) -> Floats:
    """Choices of a street as probabilities (starts, 2, buckets, 16), zeros where the row is padding."""
    part = strategy.choices[street].astype(np.float32)
    found = np.zeros((*part.shape[:3], 16), dtype=np.float32)
    for seat in (0, 1):
        for text, place, legal in nodes_of(street, seat):
            rows = part[:, seat, :, place : place + len(legal)]
            total = rows.sum(axis=2, keepdims=True)
            if not (total > 0.0).all():
                raise StrategyError(
                    f"expected probabilities at every {STREET_NAMES[street]} decision, got none at {text!r}"
                )
            found[:, seat, :, place : place + len(legal)] = rows / total
    return found


def triples(strategy: Strategy) -> tuple[NDArray[np.int64], Floats]:
    """First row of every decision point, and rows (fold, call, raise), one per bucket."""
    tree, places = betting_tree(HEADS_UP), round_map(HEADS_UP)
    sizes = np.array(strategy.abstraction.sizes)[tree.street[: tree.n_decisions]]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = np.zeros((int(offsets[-1]), 3), dtype=np.float32)
    for street in range(4):
        _spread(probabilities(strategy, street), street, places, offsets, rows)
    return offsets[:-1], rows


def _spread(part: Floats, street: int, places: RoundMap, offsets: NDArray[np.int64], rows: Floats) -> None:
    node, action = places.node[street], places.action[street]
    buckets = np.arange(part.shape[2])
    for start in range(part.shape[0]):
        for seat in (0, 1):
            used = np.flatnonzero(node[start, seat] >= 0)
            first = offsets[node[start, seat, used]]
            rows[first[None, :] + buckets[:, None], action[start, seat, used][None, :]] = part[start, seat][:, used]


def table_policy(strategy: Strategy) -> TablePolicy:
    """Policy for compiled matches; makes the bucket tables if they are not there."""
    offsets, rows = triples(strategy)
    return TablePolicy(HEADS_UP, offsets, rows, bucket_function(bucket_tables(strategy.abstraction)))


def save_strategy(strategy: Strategy, folder: Path, notes: Mapping[str, Any] | None = None) -> Strategy:
    """Write into a folder; the same strategy gives the same arrays. Returns it with its manifest."""
    arrays: dict[str, NDArray[Any]] = {STREET_NAMES[street]: part for street, part in enumerate(strategy.choices)}
    found = strategy.abstraction
    arrays |= {"flop_centroids": found.flop, "turn_centroids": found.turn, "river_buckets": found.river}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    data = buffer.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    manifest = dict(strategy.manifest) | dict(notes or {})
    manifest |= {"schema": SCHEMA, "strategy_id": digest[:12], "sha256": digest, "buckets": list(found.sizes)}
    write_whole(folder / ARRAYS, data)
    write_whole(folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
    return Strategy(found, strategy.choices, manifest)


def load_strategy(folder: Path) -> Strategy:
    """Read a strategy; StrategyError if it is missing, damaged or of another schema."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        data = (folder / ARRAYS).read_bytes()
    except (OSError, ValueError) as error:
        raise StrategyError(f"expected a strategy with {MANIFEST} and {ARRAYS} in {folder}, got {error}") from error
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        raise StrategyError(f"expected schema {SCHEMA} in {folder / MANIFEST}, got another")
    if hashlib.sha256(data).hexdigest() != manifest.get("sha256"):
        raise StrategyError(f"expected the sha256 of the manifest, got another of {folder / ARRAYS}: it is damaged")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            river = arrays["river_buckets"].astype(np.int16)
            abstraction = Abstraction(arrays["flop_centroids"], arrays["turn_centroids"], river)
            parts = [arrays[name] for name in STREET_NAMES]
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        raise StrategyError(f"expected the arrays of a strategy in {folder / ARRAYS}, got {error}") from error
    return Strategy(abstraction, (parts[0], parts[1], parts[2], parts[3]), manifest)
