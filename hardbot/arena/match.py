"""Heads-up matches: duplicate or single deals, in blocks, with honest intervals.

In a duplicate match every deal is played twice with the seats swapped, at two tables ("sides") with
instances of their own: no bot meets a deal it has seen. On both sides an instance changes seats from
hand to hand. The mean of a pair's two hands is one sample; the cards' luck mostly cancels in it
(FACTS: variance 8.4 times smaller than a hand's). Bots live for one block. If one of them learns, its
hands depend on each other and whole blocks are the samples.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hardbot.arena.blocks import DEFAULT_BLOCK, block_sizes, run_blocks
from hardbot.arena.compiled import play_side_compiled, policies_for
from hardbot.arena.deals import DealBlock, deal_block
from hardbot.arena.entrants import BotSpec, bot_generator, bot_seed, make_bot, make_entrants, spec_labels, table_names
from hardbot.arena.heads_up import end_nets, play_side, seat0_chips
from hardbot.arena.log import DealerLog
from hardbot.arena.statistics import estimate_blocks, estimate_mean
from hardbot.arena.table import Player, Stopwatch, seat_player
from hardbot.errors import ArenaError
from hardbot.game.notation import LogHand, format_log_hand
from hardbot.game.rules import BOARD_SIZES, HEADS_UP, Rules
from hardbot.game.tree import betting_tree

Progress = Callable[[int, int], None]  # deals done, deals in all
_GAME_FILE = "holdem.limit.2p.reverse_blinds.game"


@dataclass(frozen=True)
class MatchResult:
    """What a match says about its first bot. `ci95` is the interval's half-width, nan if there is one sample only.

    `seconds` is the time of play without the bots' set-up. `hands`, `pairs` and the means count the
    window's hands only; `pair_chips` has the chips won in each pair (both hands together; one hand of a
    single match).
    """

    bots: tuple[str, str]
    hands: int
    pairs: int
    sb_per_hand: float
    ci95: float
    sd_pair: float
    seconds: float
    hands_per_second: float
    interval: Literal["pairs", "blocks"]
    seed: int
    block: int
    duplicate: bool
    compiled: bool
    window: tuple[int, int] | None
    pair_chips: NDArray[np.int32]
    pair_sb: NDArray[np.float64]
    block_sb: NDArray[np.float64]
    block_pairs: NDArray[np.int64]
    decision_ms: tuple[float, float] | None

    def to_json(self) -> dict[str, Any]:
        """The command line's document; null where an interval cannot be had."""
        keys = "hands pairs sb_per_hand ci95 sd_pair seconds hands_per_second interval seed block duplicate compiled"
        document: dict[str, Any] = {"bots": list(self.bots)} | {key: getattr(self, key) for key in keys.split()}
        if self.window is not None:
            document["window"] = list(self.window)
        if self.decision_ms is not None:
            document["decision_ms"] = list(self.decision_ms)
        return {key: None if isinstance(v, float) and math.isnan(v) else v for key, v in document.items()}


@dataclass(frozen=True)
class MatchPlan:
    """All a worker needs to play any block of a match; made by `plan_match`, which has checked it."""

    specs: tuple[BotSpec, BotSpec]
    names: tuple[str, str]
    sizes: tuple[int, ...]
    block: int
    seed: int
    sides: int
    rules: Rules
    compiled: bool
    logged: bool
    timed: bool
    learns: bool


@dataclass(frozen=True)
class BlockOutcome:
    """What came of a block; `ends` with the deals of (seed, block) tells every action of every hand."""

    chips: NDArray[np.int32]  # (deals,) first bot's, all sides together
    ends: NDArray[np.int32]  # (sides, deals) last position of each hand
    log: str
    seconds: tuple[float, float]
    decisions: tuple[int, int]


def play_match(
    spec_a: BotSpec,
    spec_b: BotSpec,
    n_pairs: int,
    seed: int,
    *,
    block: int = DEFAULT_BLOCK,
    jobs: int = 1,
    duplicate: bool = True,
    log: Path | None = None,
    progress: Progress | None = None,
    names: Sequence[str] | None = None,
    rules: Rules = HEADS_UP,
    compiled: Literal["auto"] | bool = "auto",
    window: tuple[int, int] | None = None,
    timed: bool = False,
) -> MatchResult:
    """Play `n_pairs` deals (each twice if `duplicate`) and report the first bot's winnings.

    The result depends on everything but `jobs`. `window=(5000, 10000)` counts only hands 5,001 to 10,000
    of each block. `compiled`: "auto" uses the compiled loop when both bots are tables, False never, True
    insists. `timed` measures the time of a decision (Python loop only). ArenaError if a bot
    breaks the rules or fails; BotError if there is no such bot.
    """
    sizes = _checked_sizes(n_pairs, block, window)
    plan = plan_match(
        (spec_a, spec_b),
        sizes,
        seed,
        block=block,
        duplicate=duplicate,
        logged=log is not None,
        names=names,
        rules=rules,
        compiled=compiled,
        timed=timed,
    )
    start = time.perf_counter()
    outcomes = _run(plan, jobs, log, progress)
    return _summarise(plan, outcomes, window, time.perf_counter() - start)


def plan_match(
    specs: tuple[BotSpec, BotSpec],
    sizes: Sequence[int],
    seed: int,
    *,
    block: int = DEFAULT_BLOCK,
    duplicate: bool = True,
    logged: bool = False,
    names: Sequence[str] | None = None,
    rules: Rules = HEADS_UP,
    compiled: Literal["auto"] | bool = "auto",
    timed: bool = False,
) -> MatchPlan:
    """Check a match of blocks of these sizes (arguments as in `play_match`) and get ready to play it."""
    bots = make_entrants(specs, rules.n_seats)
    end_nets(rules)
    deal_block(2, 1, seed, 0).signs.sum()  # machine code is loaded, a bad seed refused
    name_a, name_b = table_names(specs, names)
    use_tables = compiled is not False and not timed and policies_for(specs, bots, rules) is not None
    if compiled is True and not use_tables:
        raise ArenaError(f"expected two bots with table policies for a compiled match, got {spec_labels(specs)}")
    return MatchPlan(
        specs=specs,
        names=(name_a, name_b),
        sizes=tuple(sizes),
        block=block,
        seed=seed,
        sides=2 if duplicate else 1,
        rules=rules,
        compiled=use_tables,
        logged=logged,
        timed=timed,
        learns=any(bot.learns for bot in bots),
    )


def _checked_sizes(n_pairs: int, block: int, window: tuple[int, int] | None) -> list[int]:
    if n_pairs < 1:
        raise ArenaError(f"expected at least 1 pair, got {n_pairs}")
    if window is not None and not 0 <= window[0] < min(window[1], block, n_pairs):
        raise ArenaError(f"expected a window within blocks of {min(block, n_pairs)} hands, got {window}")
    return block_sizes(n_pairs, block)


def _run(plan: MatchPlan, jobs: int, log: Path | None, progress: Progress | None) -> list[BlockOutcome]:
    """All blocks in order; the log is written as they come."""
    outcomes: list[BlockOutcome] = []
    n_deals, done, score = sum(plan.sizes), 0, 0
    with ExitStack() as stack:
        book = stack.enter_context(_open_log(plan, log)) if log is not None else None
        for outcome in run_blocks(play_block, plan, len(plan.sizes), jobs):
            outcomes.append(replace(outcome, ends=outcome.ends[:, :0], log=""))
            done += len(outcome.chips)
            score += int(outcome.chips.sum())
            if book is not None:
                book.write(outcome.log)
            if progress is not None:
                progress(done, n_deals)
        if book is not None:
            book.finish((score, -score), plan.names)
    return outcomes


def _open_log(plan: MatchPlan, path: Path) -> DealerLog:
    remarks = [f"block {plan.block}"]
    if plan.sides == 2:
        remarks.append("duplicate: hands 2i and 2i+1 are one deal with the seats swapped, at tables of their own")
    game = _GAME_FILE if plan.rules == HEADS_UP else f"{plan.rules.name}.game"
    return DealerLog(path, game, plan.sides * sum(plan.sizes), plan.seed, remarks)


def play_block(plan: MatchPlan, index: int) -> BlockOutcome:
    """One block from nothing: deals, fresh bots, both sides."""
    n_deals, first = plan.sizes[index], index * plan.block
    deals = deal_block(2, n_deals, plan.seed, index)
    flips = np.where(np.arange(n_deals) % 2 == 0, 1, -1)
    chips = np.zeros(n_deals, dtype=np.int32)
    seconds, decisions = [0.0, 0.0], [0, 0]
    side_ends: list[NDArray[np.int32]] = []
    where = f"seed {plan.seed}, block {index}"
    for side in range(plan.sides):
        numbers = range(plan.sides * first + side, plan.sides * (first + n_deals) + side, plan.sides)
        if plan.compiled:
            seeds = [bot_seed(plan.seed, index, side, entrant) for entrant in range(2)]
            ends = play_side_compiled(plan.specs, plan.rules, deals, seeds, side, numbers, plan.names, where)
        else:
            players = _seat_players(plan, index, side)
            ends = play_side(plan.rules, deals, players, side, numbers, where)
            _add_times(players, seconds, decisions)
        chips += seat0_chips(plan.rules, ends, deals) * (flips if side == 0 else -flips)
        side_ends.append(ends)
    log = _log_text(plan, deals, side_ends, first) if plan.logged else ""
    return BlockOutcome(chips, np.stack(side_ends), log, (seconds[0], seconds[1]), (decisions[0], decisions[1]))


def _seat_players(plan: MatchPlan, index: int, side: int) -> tuple[Player, Player]:
    first, second = (
        seat_player(make_bot(spec), name, bot_generator(plan.seed, index, side, entrant), timed=plan.timed)
        for entrant, (spec, name) in enumerate(zip(plan.specs, plan.names, strict=True))
    )
    return first, second


def _add_times(players: tuple[Player, Player], seconds: list[float], decisions: list[int]) -> None:
    for entrant, player in enumerate(players):
        if isinstance(player.act, Stopwatch):
            seconds[entrant] += player.act.seconds
            decisions[entrant] += player.act.n_decisions


def _log_text(plan: MatchPlan, deals: DealBlock, side_ends: Sequence[NDArray[np.int32]], first: int) -> str:
    """STATE lines of a block, the sides of a deal one after the other."""
    nodes = betting_tree(plan.rules).nodes
    chips = [seat0_chips(plan.rules, ends, deals).tolist() for ends in side_ends]
    lines: list[str] = []
    for i in range(len(deals)):
        deal = deals.deal(i)
        for side, ends in enumerate(side_ends):
            node = nodes[ends[i]]
            names = plan.names if (i + side) % 2 == 0 else plan.names[::-1]
            board, net = deal.board[: BOARD_SIZES[node.street]], chips[side][i]
            number = plan.sides * (first + i) + side
            lines.append(format_log_hand(LogHand(number, node, deal.holes, board, (net, -net), names)) + "\n")
    return "".join(lines)


def _summarise(
    plan: MatchPlan, outcomes: Sequence[BlockOutcome], window: tuple[int, int] | None, seconds: float
) -> MatchResult:
    cut = slice(*window) if window is not None else slice(None)
    parts = [outcome.chips[cut] for outcome in outcomes if len(outcome.chips[cut])]
    chips = np.concatenate(parts)
    pair_sb = chips / (plan.sides * plan.rules.bet_sizes[0])
    block_pairs = np.array([len(part) for part in parts], dtype=np.int64)
    block_sb = np.array([part.mean() for part in parts]) / (plan.sides * plan.rules.bet_sizes[0])
    pairs = estimate_mean(pair_sb)
    chosen = estimate_blocks(block_sb, block_pairs) if plan.learns else pairs
    played = plan.sides * sum(plan.sizes)
    name_a, name_b = spec_labels(plan.specs)
    return MatchResult(
        bots=(name_a, name_b),
        hands=plan.sides * len(chips),
        pairs=len(chips),
        sb_per_hand=pairs.mean,
        ci95=chosen.half_width,
        sd_pair=pairs.sd,
        seconds=seconds,
        hands_per_second=played / seconds,
        interval="blocks" if plan.learns else "pairs",
        seed=plan.seed,
        block=plan.block,
        duplicate=plan.sides == 2,
        compiled=plan.compiled,
        window=window,
        pair_chips=chips,
        pair_sb=pair_sb,
        block_sb=block_sb,
        block_pairs=block_pairs,
        decision_ms=_decision_ms(outcomes) if plan.timed else None,
    )


def _decision_ms(outcomes: Sequence[BlockOutcome]) -> tuple[float, float]:
    seconds = [sum(outcome.seconds[entrant] for outcome in outcomes) for entrant in range(2)]
    counts = [sum(outcome.decisions[entrant] for outcome in outcomes) for entrant in range(2)]
    return 1e3 * seconds[0] / max(counts[0], 1), 1e3 * seconds[1] / max(counts[1], 1)
