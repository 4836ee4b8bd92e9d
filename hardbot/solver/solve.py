"""Running the solver: a game, its tables, checkpoints that go on exactly where they stopped.

A run's folder holds the strategy (`strategy`) and checkpoint.npz with regrets, sums and the state of the generator. The
same seed gives the same iterations whether or not the run was interrupted.
"""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import StrategyError
from hardbot.game.rules import STREET_NAMES
from hardbot.game.storage import write_whole
from hardbot.solver.abstraction import Abstraction, BucketTables, bucket_tables
from hardbot.solver.iterations import iterate, new_board, new_game, new_scratch
from hardbot.solver.rounds import N_CHOICES
from hardbot.solver.strategy import Strategy, quantise, save_strategy

CHECKPOINT = "checkpoint.npz"
SCHEMA = 1
THRESHOLD = 25.0  # opponent mass (of 1,081 hands) below which a line is sampled; chosen by head-to-head, docs/solver.md
Progress = Callable[["Solver"], None]


@dataclass
class Solver:
    """A game being solved. `n_boards` iterations are done, in `seconds` of work."""

    abstraction: Abstraction
    tables: BucketTables
    threshold: float = THRESHOLD
    seed: int = 1

    def __post_init__(self) -> None:
        self.n_boards = 0
        self.seconds = 0.0
        limit = self.threshold
        self.game = new_game(self.abstraction.sizes, (0.0, limit, limit, limit), self.seed)
        largest = max(self.abstraction.sizes)
        self._board, self._desk = new_board(largest)
        self._scratch = new_scratch(largest)

    @property
    def streets(self) -> tuple[Any, ...]:
        """Tables by street."""
        return self.game[:4]

    def run(self, n_boards: int) -> None:
        """More iterations."""
        start = time.perf_counter()
        iterate(self.n_boards + 1, n_boards, self.game, self._board, self._desk, self._scratch, self.tables)
        self.n_boards += n_boards
        self.seconds += time.perf_counter() - start

    def strategy(self) -> Strategy:
        """The average strategy so far."""
        return quantise(tuple(street.averages for street in self.streets), self.abstraction)

    def notes(self) -> dict[str, Any]:
        """What a manifest says of the run."""
        return {
            "algorithm": "linear CFR, public chance sampling, lines sampled by reach",
            "boards": self.n_boards,
            "seconds": round(self.seconds, 1),
            "threshold": self.threshold,
            "seed": self.seed,
        }

    def save(self, folder: Path) -> Strategy:
        """Write strategy and checkpoint."""
        arrays: dict[str, NDArray[Any]] = {
            "schema": np.array(SCHEMA),
            "n_boards": np.array(self.n_boards),
            "seconds": np.array(self.seconds),
            "threshold": np.array(self.threshold),
            "seed": np.array(self.seed),
            "random": self.game.random,
            "flop_centroids": self.abstraction.flop,
            "turn_centroids": self.abstraction.turn,
            "river_buckets": self.abstraction.river,
        }
        for name, street in zip(STREET_NAMES, self.streets, strict=True):
            arrays[f"{name}_regrets"] = street.regrets[..., :N_CHOICES]
            arrays[f"{name}_averages"] = street.averages[..., :N_CHOICES]
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays)
        write_whole(folder / CHECKPOINT, buffer.getvalue())
        return save_strategy(self.strategy(), folder, self.notes())


def load_solver(folder: Path) -> Solver:
    """A run as it was saved; StrategyError if there is none or it is damaged."""
    path = folder / CHECKPOINT
    try:
        with np.load(path, allow_pickle=False) as arrays:
            if int(arrays["schema"]) != SCHEMA:
                raise StrategyError(f"expected schema {SCHEMA} in {path}, got {int(arrays['schema'])}")
            abstraction = Abstraction(arrays["flop_centroids"], arrays["turn_centroids"], arrays["river_buckets"])
            solver = Solver(abstraction, bucket_tables(abstraction), float(arrays["threshold"]), int(arrays["seed"]))
            solver.n_boards, solver.seconds = int(arrays["n_boards"]), float(arrays["seconds"])
            solver.game.random[:] = arrays["random"]
            for name, street in zip(STREET_NAMES, solver.streets, strict=True):
                street.regrets[..., :N_CHOICES] = arrays[f"{name}_regrets"]
                street.averages[..., :N_CHOICES] = arrays[f"{name}_averages"]
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise StrategyError(f"expected a checkpoint of a solver in {path}, got {error}") from error
    return solver


def solve(
    solver: Solver,
    seconds: float,
    folder: Path,
    every: float = 60.0,
    progress: Progress | None = None,
    boards_at_once: int = 50,
) -> Strategy:
    """Run for a time and save, also every so many seconds; Ctrl-C saves and stops."""
    end = time.perf_counter() + seconds
    saved = time.perf_counter()
    try:
        while time.perf_counter() < end:
            solver.run(boards_at_once)
            if time.perf_counter() - saved >= every:
                solver.save(folder)
                saved = time.perf_counter()
                if progress is not None:
                    progress(solver)
    except KeyboardInterrupt:
        solver.save(folder)
        raise
    return solver.save(folder)
