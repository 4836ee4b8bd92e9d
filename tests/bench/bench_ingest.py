"""Hands a second from files into the store: a dealer log of our own, beside PokerKit on the same log, and an IRC month.

Each figure is the best of ROUNDS into a new store, wall-clock time of a warm process (machine code loaded), with the
processor time beside it. The IRC months are read where the shared corpus is beside the project.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from pokerkit import FixedLimitTexasHoldem, HandHistory

from hardbot.arena.match import play_match
from hardbot.commands.output import print_table
from pipeline.ingest import ingest
from pipeline.store import Store

ROUNDS = 3
N_DEALS = 100_000
POKERKIT_HANDS = 1_000
MONTHS = ("holdem.199504", "holdem.200109", "holdem3.199910")
CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"


def into_store(path: Path, store: Path) -> Callable[[], int]:
    """Records of a file, read into a store that is not there yet."""

    def run() -> int:
        store.unlink(missing_ok=True)
        return ingest([path], store).total("n_records")

    return run


def hashed_again(path: Path, store: Path) -> Callable[[], int]:
    """Records of a file the store knows already."""

    def run() -> int:
        with Store(store) as opened:
            return ingest([path], opened).files[0].n_records

    return run


def through_pokerkit(path: Path) -> Callable[[], int]:
    """The first hands of a log, parsed and replayed by PokerKit."""
    text = "".join(path.read_text().splitlines(keepends=True)[: POKERKIT_HANDS + 3])
    game = FixedLimitTexasHoldem((), True, 0, (5, 10), 10, 20)
    return lambda: len(list(HandHistory.from_acpc_protocol(game, 10_000, text, error_status=True)))


def best(run: Callable[[], int], rounds: int = ROUNDS) -> tuple[int, float, float]:
    """Records, least wall-clock seconds, and the processor seconds of that round."""
    times = []
    for _ in range(rounds):
        wall, processor = time.perf_counter(), time.process_time()
        n_records = run()
        times.append((time.perf_counter() - wall, time.process_time() - processor))
    return n_records, *min(times)


def main() -> None:
    """Print the table."""
    rows = []
    with TemporaryDirectory(prefix="hardbot-bench-") as folder:
        log, store = Path(folder) / "random.log", Path(folder) / "hands.duckdb"
        play_match("random", "random", 100, 1, log=log)
        into_store(log, store)()
        play_match("random", "random", N_DEALS, 1, log=log)
        runs = {
            "dealer log, stored": into_store(log, store),
            "the same file again": hashed_again(log, store),
            "dealer log, PokerKit only parses": through_pokerkit(log),
        }
        for month in MONTHS:
            if (path := CORPUS / f"{month}.tgz").is_file():
                runs[f"IRC {month}"] = into_store(path, store)
        for name, run in runs.items():
            n_records, wall, processor = best(run, ROUNDS if "IRC" not in name else 1)
            rows.append([name, f"{n_records:,}", f"{wall:.2f}", f"{processor:.2f}", f"{n_records / wall:,.0f}"])
    print_table("ingest", ["what", "records", "s", "processor s", "records/s"], rows)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
