"""Run every `bench_*.py` beside this file, or the named ones: each prints its own table."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path


def main(names: list[str]) -> int:
    """Run benchmarks in order of their names; 2 if one is not there."""
    offered = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    unknown = [name for name in names if name not in offered]
    if unknown:
        print(f"expected benchmarks of {', '.join(offered)}, got {', '.join(unknown)}", file=sys.stderr)
        return 2
    for name in names or offered:
        start = time.perf_counter()
        print(f"== {name}", flush=True)
        import_module(f"tests.bench.bench_{name}").main()
        print(f"   ({time.perf_counter() - start:.1f} s)\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
