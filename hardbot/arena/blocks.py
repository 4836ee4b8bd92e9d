"""Blocks of a match on worker processes, results always in block order.

A block is played from nothing (fresh bots, its own deals and generators), so who plays it and when
cannot change its result. Workers are started by the fork server with the arena preloaded:
no threads or half-open files of the caller are copied. At most a few blocks per worker are under way,
so memory does not grow with the match.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from hardbot.errors import ArenaError

DEFAULT_BLOCK = 1_000  # deals
MAX_DEALS = 10**9  # of a match; a larger number is a slip of the finger, and would fill the memory first
_AHEAD = 3  # blocks under way per worker

Plan = TypeVar("Plan")
Outcome = TypeVar("Outcome")


def block_sizes(n_deals: int, block: int) -> list[int]:
    """Deals of each block; only the last may be short."""
    if n_deals < 1:
        raise ArenaError(f"expected at least 1 deal, got {n_deals}")
    if block < 1:
        raise ArenaError(f"expected a block of at least 1 deal, got {block}")
    if n_deals > MAX_DEALS:
        raise ArenaError(f"expected at most {MAX_DEALS:,} deals, got {n_deals:,}")
    return [min(block, n_deals - start) for start in range(0, n_deals, block)]


def run_blocks(
    play: Callable[[Plan, int], Outcome], plan: Plan, blocks: int | Iterable[int], jobs: int
) -> Iterator[Outcome]:
    """Outcomes of `play(plan, index)` in order; `play` and `plan` must pickle when jobs > 1.

    `blocks` is their number, or their indices; these are asked for as workers become free, so that later ones may
    depend on the outcomes already given.
    """
    if jobs < 1:
        raise ArenaError(f"expected at least 1 job, got {jobs}")
    indices = range(blocks) if isinstance(blocks, int) else blocks
    workers = min(jobs, blocks) if isinstance(blocks, int) else jobs
    if workers == 1:
        for index in indices:
            yield play(plan, index)
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["hardbot.arena.match", "hardbot.arena.ring"])
    pool = ProcessPoolExecutor(workers, mp_context=context)
    waiting: deque[Future[Outcome]] = deque()
    try:
        for index in indices:
            waiting.append(pool.submit(play, plan, index))
            if len(waiting) >= _AHEAD * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise ArenaError(f"expected {jobs} worker processes to stay alive, one ended abruptly ({error})") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
