"""Matches between bots that are tables, wholly in machine code.

A bot with a `table_policy` is nothing but probabilities by betting position and card bucket; two of
them need no Python object per hand. Buckets are computed for a whole block at once, actions are drawn with
SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), one generator per instance, seeded from the same sequence
as a Python bot's generator. Deterministic tables play exactly as they do in Python; others have the
same distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardbot.arena.deals import DealBlock
from hardbot.arena.entrants import BotSpec, make_bot
from hardbot.bots.base import Bot
from hardbot.errors import ArenaError, StrategyError
from hardbot.game.hand import View
from hardbot.game.jit import njit
from hardbot.game.notation import format_view
from hardbot.game.rules import ACTION_NAMES, BOARD_SIZES, CALL, FOLD, N_STREETS, RAISE, STREET_NAMES, Rules
from hardbot.game.tree import betting_tree
from hardbot.model.policy import TablePolicy

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_TO_UNIT = 1.0 / (1 << 53)


def policies_for(specs: Sequence[BotSpec], bots: Sequence[Bot], rules: Rules) -> tuple[TablePolicy, TablePolicy] | None:
    """Both bots' tables if both have one for these rules and neither learns."""
    if any(bot.learns or type(bot).table_policy is Bot.table_policy for bot in bots):
        return None  # most bots: no need to make another one to ask
    if not all(isinstance(spec, str) for spec in specs):
        return None
    first, second = (_policy(spec) for spec in specs if isinstance(spec, str))
    if first is None or second is None or first.rules != rules or second.rules != rules:
        return None
    return first, second


@lru_cache(maxsize=8)
def _policy(spec: str) -> TablePolicy | None:
    """A table is the same for every block; loading it may be slow."""
    return make_bot(spec).table_policy()


def play_side_compiled(
    specs: Sequence[BotSpec],
    rules: Rules,
    deals: DealBlock,
    seeds: Sequence[np.random.SeedSequence],
    side: int,
    numbers: range,
    names: tuple[str, str],
    where: str,
) -> NDArray[np.int32]:
    """As heads_up.play_side, for two tables."""
    tree = betting_tree(rules)
    first, second = (_policy(spec) for spec in specs if isinstance(spec, str))
    assert first is not None
    assert second is not None
    ends = np.empty(len(deals), dtype=np.int32)
    states = np.array([seed.generate_state(1, np.uint64)[0] for seed in seeds], dtype=np.uint64)
    swaps = (np.arange(len(deals)) + side) % 2  # seat of the first entrant
    failed = _play(
        tree.child,
        tree.seat,
        tree.street,
        swaps,
        (first.offsets, second.offsets),
        (first.probabilities, second.probabilities),
        (_buckets(first, deals, swaps), _buckets(second, deals, 1 - swaps)),
        states,
        ends,
    )
    if failed >= 0:
        seat = int(tree.seat[ends[failed] // 4])
        name = names[(seat + int(swaps[failed])) % 2]
        raise _table_failure(rules, deals, int(failed), int(ends[failed]), name, f"{where}, hand {numbers[failed]}")
    return ends


def _buckets(policy: TablePolicy, deals: DealBlock, seats: NDArray[np.int64]) -> NDArray[np.int32]:
    """Buckets (n, 4) of the hands one entrant holds, checked against the table: machine code would read beyond it."""
    holes = deals.holes[np.arange(len(deals)), seats]
    buckets = np.ascontiguousarray(policy.buckets(holes, deals.boards), dtype=np.int32)
    if buckets.shape != (len(deals), N_STREETS):
        raise StrategyError(f"expected buckets of shape {(len(deals), N_STREETS)}, got {buckets.shape}")
    starts = betting_tree(policy.rules).first_of_street
    for street in range(N_STREETS):
        lowest, highest = int(buckets[:, street].min()), int(buckets[:, street].max())
        last_row = int(policy.offsets[starts[street] : starts[street + 1]].max()) + highest
        if lowest < 0 or last_row >= len(policy.probabilities):
            raise StrategyError(
                f"expected {STREET_NAMES[street]} buckets within {len(policy.probabilities)} rows, "
                f"got buckets {lowest} to {highest}"
            )
    return buckets


def _table_failure(rules: Rules, deals: DealBlock, index: int, code: int, name: str, where: str) -> ArenaError:
    node, action = betting_tree(rules).nodes[code // 4], code % 4
    legal = " or ".join(ACTION_NAMES[action] for action in node.legal)
    got = ACTION_NAMES[action] if action < len(ACTION_NAMES) else "no probability above 0"
    hole, board = deals.seat_holes[node.seat][index], deals.board_tuples[index][: BOARD_SIZES[node.street]]
    state = format_view(View(rules, node.seat, 0, hole, (), node, board))
    return ArenaError(f"expected {legal} from the table of {name}, got {got} at {state} ({where})")


@njit
def _play(
    child: NDArray[np.int32],
    seat_of: NDArray[np.int8],
    street_of: NDArray[np.int8],
    swaps: NDArray[np.int64],
    offsets: tuple[NDArray[np.int64], NDArray[np.int64]],
    tables: tuple[NDArray[np.float32], NDArray[np.float32]],
    buckets: tuple[NDArray[np.int32], NDArray[np.int32]],
    states: NDArray[np.uint64],
    ends: NDArray[np.int32],
) -> int:
    """Play every deal; -1, or the deal that failed.

    `ends` then has 4 * node + action there: an illegal action, or 3 for a row without probabilities.
    """
    state_a, state_b = states[0], states[1]
    for i in range(ends.shape[0]):
        swap = swaps[i]
        node = 0
        seat = seat_of[0]
        while seat >= 0:
            street = street_of[node]
            if seat == swap:
                state_a += _GAMMA
                word = state_a
                row = tables[0][offsets[0][node] + buckets[0][i, street]]
            else:
                state_b += _GAMMA
                word = state_b
                row = tables[1][offsets[1][node] + buckets[1][i, street]]
            word = (word ^ (word >> np.uint64(30))) * _MIX_A
            word = (word ^ (word >> np.uint64(27))) * _MIX_B
            word ^= word >> np.uint64(31)
            total = np.float64(row[0] + row[1] + row[2])
            if not total > 0.0:  # nan included
                ends[i] = 4 * node + 3
                return i
            point = np.float64(word >> np.uint64(11)) * _TO_UNIT * total
            if point < row[0]:
                action = FOLD
            elif point < row[0] + row[1] or row[2] <= 0.0:
                action = CALL if row[1] > 0.0 else FOLD
            else:
                action = RAISE
            following = child[node, action]
            if following < 0:
                ends[i] = 4 * node + action
                return i
            node = following
            seat = seat_of[node]
        ends[i] = node
    return -1
