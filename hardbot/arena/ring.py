"""Ring tournaments: every deal is replayed once for every rotation of the seats.

The n-player form of duplicate (Billings et al., Artificial Intelligence 134, 2002): each of n bots
holds each of a deal's n hands once, in every position, so that the luck of the cards cancels in
a bot's sum over the deal. A rotation is a table of its own: n rotations have n instances of every
bot, none meets a deal twice, and from deal to deal everybody moves one seat on. The sample is the
deal, or the block when one of the bots learns.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hardbot.arena.blocks import DEFAULT_BLOCK, block_sizes, run_blocks
from hardbot.arena.deals import deal_block
from hardbot.arena.entrants import BotSpec, bot_generator, make_bot, make_entrants, spec_labels, table_names
from hardbot.arena.log import DealerLog
from hardbot.arena.statistics import Estimate, estimate_blocks, estimate_mean
from hardbot.arena.table import Player, play_hand, seat_player
from hardbot.errors import ArenaError
from hardbot.game.hand import Deal, HandResult
from hardbot.game.notation import LogHand, format_log_hand
from hardbot.game.rules import Rules
from hardbot.game.rules import ring as ring_rules

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class RingResult:
    """Each bot's winnings, in the order the bots were given; `ci95` are half-widths.

    `deal_chips` has the chips a bot won over all rotations of a deal.
    """

    bots: tuple[str, ...]
    hands: int
    deals: int
    sb_per_hand: tuple[float, ...]
    ci95: tuple[float, ...]
    sd_deal: tuple[float, ...]
    seconds: float
    hands_per_second: float
    interval: Literal["deals", "blocks"]
    seed: int
    block: int
    deal_chips: NDArray[np.int64]  # (deals, bots)

    def to_json(self) -> dict[str, Any]:
        """The command line's document: lists by bot."""
        document: dict[str, Any] = {"bots": list(self.bots), "hands": self.hands, "deals": self.deals}
        for key in ("sb_per_hand", "ci95", "sd_deal"):
            document[key] = [None if math.isnan(value) else value for value in getattr(self, key)]
        keys = ("seconds", "hands_per_second", "interval", "seed", "block")
        return document | {key: getattr(self, key) for key in keys}


@dataclass(frozen=True)
class _Plan:
    specs: tuple[BotSpec, ...]
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    block: int
    seed: int
    rules: Rules
    logged: bool


@dataclass(frozen=True)
class _Outcome:
    chips: NDArray[np.int64]  # (deals, bots)
    log: str


def play_ring(
    specs: Sequence[BotSpec],
    n_deals: int,
    seed: int,
    *,
    block: int = DEFAULT_BLOCK,
    jobs: int = 1,
    log: Path | None = None,
    progress: Progress | None = None,
    names: Sequence[str] | None = None,
    rules: Rules | None = None,
) -> RingResult:
    """Play `n_deals` deals in all rotations (as many hands a deal as there are bots)."""
    table = rules if rules is not None else ring_rules(len(specs))
    if table.n_seats != len(specs):
        raise ArenaError(f"expected {table.n_seats} bots for {table.name}, got {len(specs)}")
    sizes = tuple(block_sizes(n_deals, block))
    bots = make_entrants(specs, table.n_seats)
    deal_block(table.n_seats, 1, seed, 0).ranks.sum()  # machine code is loaded, a bad seed refused
    plan = _Plan(tuple(specs), table_names(specs, names), sizes, block, seed, table, log is not None)
    start = time.perf_counter()
    parts = _run(plan, jobs, log, progress)
    return _summarise(plan, parts, any(bot.learns for bot in bots), time.perf_counter() - start)


def _run(plan: _Plan, jobs: int, log: Path | None, progress: Progress | None) -> list[NDArray[np.int64]]:
    parts: list[NDArray[np.int64]] = []
    n_deals, done = sum(plan.sizes), 0
    with ExitStack() as stack:
        book = None
        if log is not None:
            remark = f"deal i is hands {len(plan.specs)}i to {len(plan.specs)}i+{len(plan.specs) - 1}, seats rotated"
            game, n_hands = f"holdem.limit.{plan.rules.n_seats}p.game", n_deals * len(plan.specs)
            book = stack.enter_context(DealerLog(log, game, n_hands, plan.seed, [f"block {plan.block}", remark]))
        for outcome in run_blocks(_play_block, plan, len(plan.sizes), jobs):
            parts.append(outcome.chips)
            done += len(outcome.chips)
            if book is not None:
                book.write(outcome.log)
            if progress is not None:
                progress(done, n_deals)
        if book is not None:
            book.finish(np.concatenate(parts).sum(axis=0).tolist(), plan.names)
    return parts


def _play_block(plan: _Plan, index: int) -> _Outcome:
    """One block: all rotations, each with instances of its own."""
    n, n_deals = len(plan.specs), plan.sizes[index]
    deals = deal_block(n, n_deals, plan.seed, index)
    ranks = deals.ranks.tolist()
    chips = np.zeros((n_deals, n), dtype=np.int64)
    lines: list[list[str]] = [[] for _ in range(n_deals)]
    where = f"seed {plan.seed}, block {index}"
    for rotation in range(n):
        players = _seat_players(plan, index, rotation)
        for i in range(n_deals):
            deal, turn = deals.deal(i), (i + rotation) % n  # entrant e sits in seat (e + turn) % n
            seated = [players[(seat - turn) % n] for seat in range(n)]
            number = n * (index * plan.block + i) + rotation
            result = play_hand(plan.rules, deal, seated, number, ranks[i], where)
            for seat, net in enumerate(result.net_chips):
                chips[i, (seat - turn) % n] += net
            if plan.logged:
                lines[i].append(_log_line(result, deal))
    return _Outcome(chips, "".join(line for rotations in lines for line in rotations))


def _seat_players(plan: _Plan, index: int, rotation: int) -> list[Player]:
    n = len(plan.specs)
    return [
        seat_player(make_bot(spec), name, bot_generator(plan.seed, index, rotation, entrant, n))
        for entrant, (spec, name) in enumerate(zip(plan.specs, plan.names, strict=True))
    ]


def _log_line(result: HandResult, deal: Deal) -> str:
    hand = LogHand(
        result.hand_number, result.betting, deal.holes, result.board, tuple(result.net_chips), result.players
    )
    return format_log_hand(hand) + "\n"


def _summarise(plan: _Plan, parts: Sequence[NDArray[np.int64]], learns: bool, seconds: float) -> RingResult:
    n, chips = len(plan.specs), np.concatenate(parts)
    unit = n * plan.rules.bet_sizes[0]  # chips over a deal's n hands to sb per hand
    by_deal = [estimate_mean(chips[:, entrant] / unit) for entrant in range(n)]
    chosen = by_deal
    if learns:
        chosen = [_by_block([part[:, entrant] / unit for part in parts]) for entrant in range(n)]
    return RingResult(
        bots=tuple(spec_labels(plan.specs)),
        hands=n * len(chips),
        deals=len(chips),
        sb_per_hand=tuple(estimate.mean for estimate in by_deal),
        ci95=tuple(estimate.half_width for estimate in chosen),
        sd_deal=tuple(estimate.sd for estimate in by_deal),
        seconds=seconds,
        hands_per_second=n * len(chips) / seconds,
        interval="blocks" if learns else "deals",
        seed=plan.seed,
        block=plan.block,
        deal_chips=chips,
    )


def _by_block(parts: Sequence[NDArray[np.float64]]) -> Estimate:
    return estimate_blocks([float(part.mean()) for part in parts], [len(part) for part in parts])
