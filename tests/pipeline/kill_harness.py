"""Run `hardbot train` again and again in child processes of one warm process, killing some of them; prints JSON.

Usage: kill_harness.py STORE FOLDER SEED N_POINTS. A child is killed by SIGKILL to itself at its n-th call or return of
a function of `pipeline`, so a point is the same on a fast and on a slow machine. Before the last fork nothing happens
that starts a thread (no query, no frame): libraries with threads of their own do not survive one.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType

import numpy as np
import sklearn.cluster  # noqa: F401
import threadpoolctl  # noqa: F401

from hardbot.cli import main
from hardbot.game.feature_tables import features_on_board
from hardbot.model.context import street_contexts
from hardbot.model.likelihood import nearest_centroids, sum_contexts
from pipeline.features import decision_features
from pipeline.kernel import kernel_counts, mean_kernel
from pipeline.ranges import disjoint_weight
from pipeline.store import Store

OPTIONS = ["--k", "4", "--score-hands", "4", "--json"]


def warm_up() -> None:
    """Load what every child needs: betting trees, tables and machine code."""
    for street in range(4):
        street_contexts(street)
    board = (0, 5, 10, 15, 20)
    for size in (3, 4, 5):
        features_on_board(board[:size])
    boards = np.array([board], dtype=np.int8)
    for street in (1, 2, 3):
        decision_features(street, np.array([1000], dtype=np.int16), boards)
    vectors = np.zeros((1, 4), dtype=np.float32)
    buckets = nearest_centroids(vectors, vectors)
    slots, actions = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int8)
    kernel_counts(vectors, buckets, slots, actions, vectors, 0.2, mean_kernel(vectors, buckets, vectors, 0.2)[0], 1)
    for dtype in (np.float32, np.float64):
        sum_contexts(np.zeros((1, 1, 3), dtype=dtype), slots, 1)
    disjoint_weight(np.ones(1326))


def count_events(limit: int, counter: Path | None) -> None:
    """Kill this process at the limit (0: never), or write the number of events down at the end."""
    n = 0

    def hook(frame: FrameType, event: str, argument: object) -> None:
        nonlocal n
        if event in {"call", "return"} and str(frame.f_globals.get("__name__", "")).startswith("pipeline."):
            n += 1
            if n == limit:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(hook)
    try:
        main()
    except SystemExit as end:
        sys.setprofile(None)
        if counter is not None:
            counter.write_text(str(n))
        sys.stdout.flush()
        os._exit(int(end.code or 0))


def run(folder: Path, limit: int = 0, counter: Path | None = None) -> int:
    """Train in a child process; its wait status."""
    sys.argv = ["hardbot", "train", "--store", str(folder / "s.duckdb"), "--models", str(folder / "models"), *OPTIONS]
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        count_events(limit, counter)
    return os.waitpid(child, 0)[1]


def state(folder: Path) -> dict[str, str]:
    """Hashes of every file of the models folder and of the store's rows."""
    files = sorted(path for path in (folder / "models").rglob("*") if path.is_file())
    found = {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    with Store(folder / "s.duckdb", read_only=True) as store:
        for table in ("features", "buckets", "scores", "hands", "decisions"):
            rows = sorted(map(str, store.query(f"SELECT * FROM {table}").rows()))
            found[table] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
        models = "SELECT model_id, corpus_hash, n_hands, promoted FROM models ORDER BY model_id"
        found["models"] = str(store.query(models).rows())
    return found


def fresh(store: Path, folder: Path) -> Path:
    """A new folder with a copy of the store."""
    folder.mkdir()
    shutil.copy(store, folder / "s.duckdb")
    return folder


def report(store: Path, folder: Path, seed: int, n_points: int) -> dict[str, object]:
    """Undisturbed state, and for every point whether the child was killed and the state after a second run."""
    warm_up()
    calm, counter = fresh(store, folder / "calm"), folder / "events"
    assert run(calm, counter=counter) == 0
    n_events = int(counter.read_text())
    points = sorted(random.Random(seed).sample(range(1, n_events), n_points))
    places = [fresh(store, folder / str(point)) for point in points]
    codes = [(run(place, limit=point), run(place)) for point, place in zip(points, places, strict=True)]
    ends = [
        {"killed": os.WIFSIGNALED(first), "again": second, "state": state(place)}
        for (first, second), place in zip(codes, places, strict=True)
    ]
    return {"events": n_events, "points": points, "calm": state(calm), "ends": ends}


if __name__ == "__main__":
    print(json.dumps(report(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))))
