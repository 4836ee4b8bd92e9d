"""From stored hands to a published model: seconds and memory by size, what a warm retrain saves.

Hands are played by tables in machine code (always_call, always_raise, random), so that making them costs little; what
training costs does not depend on how well they are played. Sizes in thousands of hands can be given in
$HARDBOT_BENCH_HANDS (default 50,200; the figures in docs/RESULTS.md used 250,1000).
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from hardbot.arena.match import play_match
from hardbot.commands.output import print_table

PAIRINGS = (("random", "random"), ("random", "always_call"), ("random", "always_raise"))


def hardbot(*arguments: str) -> tuple[float, dict[str, object]]:
    """Seconds and JSON answer of a command."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "hardbot.cli", *arguments, "--json"], check=True, capture_output=True, text=True
    )
    return time.perf_counter() - start, json.loads(done.stdout)


def play(folder: Path, n_hands: int, seed: int) -> None:
    """Write logs of about n hands."""
    for number, (first, second) in enumerate(PAIRINGS):
        pairs = max(1, n_hands // (2 * len(PAIRINGS)))
        log = folder / f"{n_hands}-{seed}-{number}.log.gz"
        play_match(first, second, pairs, seed=seed * 10 + number, block=5_000, log=log)


def measure(n_hands: int, folder: Path) -> list[str]:
    """One row: cold training, then 1% more hands and a warm one."""
    logs, store, models = folder / "logs", folder / "s.duckdb", folder / "models"
    logs.mkdir(parents=True)
    play(logs, n_hands, seed=1)
    hardbot("ingest", str(logs), "--store", str(store))
    target = ("--store", str(store), "--models", str(models))
    cold, report = hardbot("train", *target)
    peak_gb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    play(logs, n_hands // 100, seed=2)
    hardbot("ingest", str(logs), "--store", str(store))
    warm, _ = hardbot("train", *target, "--warm")
    steps = report["seconds"]
    assert isinstance(steps, dict)
    shown = " ".join(f"{name} {seconds:.1f}" for name, seconds in steps.items())
    return [f"{n_hands:,}", f"{cold:.1f}", f"{warm:.1f}", f"{peak_gb:.2f}", shown]


def main() -> None:
    """Print a row per size."""
    sizes = [int(float(part) * 1000) for part in os.environ.get("HARDBOT_BENCH_HANDS", "50,200").split(",")]
    with TemporaryDirectory(prefix="hardbot-bench-") as folder:
        rows = [measure(size, Path(folder) / str(size)) for size in sizes]
    print_table(
        "training: seconds from store to published model", ["hands", "cold", "1% more, warm", "GB", "steps"], rows
    )


if __name__ == "__main__":
    main()
