"""Counterfactual regret minimisation with sampled boards, both players' hands as vectors.

Public chance sampling (Johanson, Bard, Lanctot, Gibson and Bowling, "Efficient Nash Equilibrium Approximation
through Monte Carlo Counterfactual Regret Minimization", AAMAS 2012): an iteration samples the five board
cards and walks the betting tree with all 1,081 x 990 pairs of hands at once. Hands of one bucket share regrets
and strategy (imperfect recall: a street's bucket says nothing of the buckets before). Iteration t counts with
weight t in regrets and averages (linear CFR; Brown and Sandholm, "Solving Imperfect-Information Games via
Discounted Regret Minimization", AAAI 2019).

A line that the opponent seldom takes is walked with probability proportional to its reach, and counts
inversely: the same expectation, a fraction of the work. The rows are those of `rounds`; the tables of street
s have shape (starts, 2 seats, buckets, 16), padding included.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardbot.game.jit import njit
from hardbot.solver.lanes import (
    Rows,
    add_hand,
    add_scaled_row,
    add_showdown,
    dot_add,
    finish_fold,
    finish_showdown,
    scale_row,
    start_showdown,
)
from hardbot.solver.rounds import (
    END_OF,
    FOLD_BETS,
    FOLD_OF,
    FOLD_SIGN,
    PREFLOP_END_OF,
    SHOWDOWN_BETS,
    SHOWDOWN_OF,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


class Street(NamedTuple):
    """Tables of one street."""

    regrets: Rows  # (starts, 2 seats, buckets, 16)
    averages: Rows  # the same: summed reach of each choice
    stakes: Floats  # (starts,) sb each player has put in before


class Game(NamedTuple):
    """All that an iteration changes."""

    preflop: Street
    flop: Street
    turn: Street
    river: Street
    thresholds: Floats  # (4,) opponent mass below which a line of that street is sampled
    random: NDArray[np.uint64]  # (1,)


class Board(NamedTuple):
    """One sampled board: hands sorted by rank and their buckets by street."""

    order: Ints  # (n, 3) cards and end of the group of ties
    buckets: Ints  # (4, n)
    present: Ints  # (4, n) different buckets
    n_present: Ints  # (4,)


class Scratch(NamedTuple):
    """Work space, one layer a street."""

    lanes: Rows  # (4, n, 16) opponent mass by choice
    won: Rows  # (4, n, 16) wins minus losses, or values of the next street
    rows: Rows  # (4, 7, buckets, 16) strategy, opponent's reach, own reach, two coefficients, two sums
    mass: Floats  # (4, buckets)
    reach: Floats  # (4, n) of the opponent
    value: Floats  # (4, n) of the seat that learns
    totals: Rows  # (53, 16)


@njit
def next_random(state: NDArray[np.uint64]) -> float:
    """Uniform in [0, 1) and the next state (splitmix64, Steele, Lea and Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit
def match_two(row: NDArray[np.float32], p: Rows, b: int, at: int) -> None:
    """Regret matching of a choice of two: probabilities in proportion to positive regret."""
    x, y = max(row[at], np.float32(0.0)), max(row[at + 1], np.float32(0.0))
    total = x + y
    if total > 0.0:
        p[b, at] = x / total
        p[b, at + 1] = y / total
    else:
        p[b, at] = 0.5
        p[b, at + 1] = 0.5


@njit
def match_three(row: NDArray[np.float32], p: Rows, b: int, at: int) -> None:
    """Regret matching of a choice of three."""
    x, y, z = max(row[at], np.float32(0.0)), max(row[at + 1], np.float32(0.0)), max(row[at + 2], np.float32(0.0))
    total = x + y + z
    if total > 0.0:
        scale = np.float32(1.0) / total
        p[b, at] = x * scale
        p[b, at + 1] = y * scale
        p[b, at + 2] = z * scale
    else:
        third = np.float32(1.0 / 3.0)
        p[b, at] = third
        p[b, at + 1] = third
        p[b, at + 2] = third


@njit
def match_round(regrets: Rows, b: int, p: Rows) -> None:
    """p[b] = strategy of the thirteen choices by regret matching."""
    row = regrets[b]
    match_two(row, p, b, 0)
    match_three(row, p, b, 2)
    match_two(row, p, b, 5)
    match_three(row, p, b, 7)
    match_three(row, p, b, 10)


@njit
def reach_round(p: Rows, b: int, q: Rows, seat: int) -> None:
    """q[b] = reaches of the thirteen choices: products of own probabilities since the round began."""
    one = np.float32(1.0)
    facing = p[b, 0] if seat == 0 else one
    q[b, 0] = p[b, 0]
    q[b, 1] = p[b, 1]
    q[b, 2] = p[b, 1] * p[b, 2]
    q[b, 3] = p[b, 1] * p[b, 3]
    raised = p[b, 1] * p[b, 4]
    q[b, 4] = raised
    q[b, 5] = raised * p[b, 5]
    q[b, 6] = raised * p[b, 6]
    q[b, 7] = facing * p[b, 7]
    q[b, 8] = facing * p[b, 8]
    third = facing * p[b, 9]
    q[b, 9] = third
    q[b, 10] = third * p[b, 10]
    q[b, 11] = third * p[b, 11]
    q[b, 12] = third * p[b, 12]


@njit
def weigh_round(q: Rows, b: int, showdown: Rows, fold: Rows, stake: float, bet: float, is_river: bool) -> None:
    """Coefficients that turn opponent masses (or next-street values) into my value, by opponent's entry."""
    for k in range(13):
        mine = SHOWDOWN_OF[k]
        if mine >= 0:
            showdown[b, k] = q[b, mine] * ((stake + SHOWDOWN_BETS[k] * bet) if is_river else 1.0)
        mine = FOLD_OF[k]
        if mine >= 0:
            fold[b, k] = q[b, mine] * FOLD_SIGN[k] * (stake + FOLD_BETS[k] * bet)


@njit
def update_regrets(
    regrets: Rows, b: int, p: Rows, w: NDArray[np.float32], f: NDArray[np.float32], seat: int, weight: float
) -> None:
    """Add weighted regrets of bucket b; w and f are its values by opponent's entry: shown or gone on, folded."""
    third = p[b, 10] * f[4] + p[b, 11] * w[4] + p[b, 12] * (f[5] + w[6])
    regrets[b, 10] += weight * (f[4] - third)
    regrets[b, 11] += weight * (w[4] - third)
    regrets[b, 12] += weight * (f[5] + w[6] - third)
    again = f[2] + w[3] + third
    facing = p[b, 7] * f[1] + p[b, 8] * w[1] + p[b, 9] * again
    regrets[b, 7] += weight * (f[1] - facing)
    regrets[b, 8] += weight * (w[1] - facing)
    regrets[b, 9] += weight * (again - facing)
    capped = p[b, 5] * f[12] + p[b, 6] * w[12]
    regrets[b, 5] += weight * (f[12] - capped)
    regrets[b, 6] += weight * (w[12] - capped)
    again = f[10] + w[11] + capped
    raised = p[b, 2] * f[9] + p[b, 3] * w[9] + p[b, 4] * again
    regrets[b, 2] += weight * (f[9] - raised)
    regrets[b, 3] += weight * (w[9] - raised)
    regrets[b, 4] += weight * (again - raised)
    check = w[0] + (facing if seat == 0 else np.float32(0.0))
    bet = f[7] + w[8] + raised
    opened = p[b, 0] * check + p[b, 1] * bet
    regrets[b, 0] += weight * (check - opened)
    regrets[b, 1] += weight * (bet - opened)


@njit
def sum_showdowns(order: Ints, lanes: Rows, won: Rows, totals: Rows) -> None:
    """Sum to won = mass beaten minus mass lost to, lanes = mass met at all. order (n, 3): cards, end of tie."""
    n = order.shape[0]
    totals[:] = 0.0
    i = 0
    while i < n:
        end = order[i, 2]
        for h in range(i, end):
            start_showdown(won, h, totals, order[h, 0], order[h, 1])
        for h in range(i, end):
            add_hand(lanes, h, totals, order[h, 0], order[h, 1])
        for h in range(i, end):
            add_showdown(won, h, lanes, totals, order[h, 0], order[h, 1])
        i = end
    for h in range(n):
        finish_showdown(won, lanes, totals, order[h, 0], order[h, 1], h)


@njit
def sum_folds(order: Ints, lanes: Rows, totals: Rows) -> None:
    """Sum to lanes = opponent mass met at all."""
    n = order.shape[0]
    totals[:] = 0.0
    for h in range(n):
        add_hand(lanes, h, totals, order[h, 0], order[h, 1])
    for h in range(n):
        finish_fold(lanes, totals, order[h, 0], order[h, 1], h)


@njit
def prepare_round(
    regrets: Rows,
    seat: int,
    stake: float,
    bet: float,
    is_river: bool,
    present: Ints,
    rows: Rows,
    mass: NDArray[np.float32],
) -> None:
    """Strategies and coefficients of the buckets present; rows: p, opponent's q, own q, showdown, fold, two sums."""
    p, theirs, mine, showdown, fold = rows[0], rows[1], rows[2], rows[3], rows[4]
    for i in range(present.shape[0]):
        b = present[i]
        match_round(regrets[1 - seat], b, p)
        reach_round(p, b, theirs, 1 - seat)
        match_round(regrets[seat], b, p)
        reach_round(p, b, mine, seat)
        weigh_round(mine, b, showdown, fold, stake, bet, is_river)
        rows[5, b, :] = 0.0
        rows[6, b, :] = 0.0
        mass[b] = 0.0


@njit
def settle_round(
    regrets: Rows,
    averages: Rows,
    seat: int,
    stake: float,
    bet: float,
    is_river: bool,
    present: Ints,
    buckets: Ints,
    rows: Rows,
    mass: NDArray[np.float32],
    won: Rows,
    lanes: Rows,
    value: NDArray[np.float32],
    weight: float,
) -> None:
    """Values of all hands; regrets of `seat` and average strategy of the other."""
    for h in range(buckets.shape[0]):
        b = buckets[h]
        value[h] = dot_add(won, h, rows[3], b, rows[5]) + dot_add(lanes, h, rows[4], b, rows[6])
    for i in range(present.shape[0]):
        b = present[i]
        w, f = rows[5, b], rows[6, b]
        for k in range(13):
            if is_river:
                w[k] *= stake + SHOWDOWN_BETS[k] * bet
            f[k] *= FOLD_SIGN[k] * (stake + FOLD_BETS[k] * bet)
        update_regrets(regrets[seat], b, rows[0], w, f, seat, weight)
        add_scaled_row(averages[1 - seat], b, rows[1], b, weight * mass[b])


@njit
def spread_reach(buckets: Ints, reach: NDArray[np.float32], rows: Rows, mass: NDArray[np.float32], lanes: Rows) -> None:
    """lanes[h] = reach of hand h times its bucket's reaches within the round."""
    for h in range(buckets.shape[0]):
        b = buckets[h]
        scale_row(lanes, h, rows[1], b, reach[h])
        mass[b] += reach[h]


@njit
def gather_lane(lanes: Rows, k: int, reach: NDArray[np.float32]) -> float:
    """Set reach = lane k of all hands; returns its sum."""
    total = np.float32(0.0)
    for h in range(reach.shape[0]):
        reach[h] = lanes[h, k]
        total += reach[h]
    return float(total)


@njit
def chance_to_walk(total: float, threshold: float, random: NDArray[np.uint64]) -> float:
    """0 to leave a line out, else the probability with which it was taken."""
    if total >= threshold:
        return 1.0
    if total <= 0.0 or next_random(random) * threshold >= total:
        return 0.0
    return total / threshold


@njit
def scatter_lane(value: Floats, factor: float, won: Rows, k: int) -> None:
    """Lane k of all hands = value * factor."""
    for h in range(value.shape[0]):
        won[h, k] = value[h] * factor


@njit
def walk_river(j: int, seat: int, weight: float, game: Game, board: Board, scratch: Scratch) -> None:
    """River round j: from scratch.reach[3] to scratch.value[3]."""
    regrets, averages, stake = game.river.regrets[j], game.river.averages[j], game.river.stakes[j]
    buckets, present = board.buckets[3], board.present[3, : board.n_present[3]]
    lanes, won, rows, mass = scratch.lanes[3], scratch.won[3], scratch.rows[3], scratch.mass[3]
    prepare_round(regrets, seat, stake, 2.0, True, present, rows, mass)
    spread_reach(buckets, scratch.reach[3], rows, mass, lanes)
    sum_showdowns(board.order, lanes, won, scratch.totals)
    settle_round(
        regrets, averages, seat, stake, 2.0, True, present, buckets, rows, mass, won, lanes, scratch.value[3], weight
    )


@njit
def walk_turn(j: int, seat: int, weight: float, game: Game, board: Board, scratch: Scratch) -> None:
    """Turn round j: from scratch.reach[2] to scratch.value[2]."""
    regrets, averages, stake = game.turn.regrets[j], game.turn.averages[j], game.turn.stakes[j]
    buckets, present = board.buckets[2], board.present[2, : board.n_present[2]]
    lanes, won, rows, mass = scratch.lanes[2], scratch.won[2], scratch.rows[2], scratch.mass[2]
    prepare_round(regrets, seat, stake, 2.0, False, present, rows, mass)
    spread_reach(buckets, scratch.reach[2], rows, mass, lanes)
    for k in range(13):
        end = END_OF[seat, k]
        if end >= 0:
            total = gather_lane(lanes, k, scratch.reach[3])
            chance = chance_to_walk(total, game.thresholds[3], game.random)
            if chance > 0.0:
                walk_river(9 * j + end, seat, weight / chance, game, board, scratch)
                scatter_lane(scratch.value[3], 1.0 / chance, won, k)
            else:
                won[:, k] = 0.0
    sum_folds(board.order, lanes, scratch.totals)
    settle_round(
        regrets, averages, seat, stake, 2.0, False, present, buckets, rows, mass, won, lanes, scratch.value[2], weight
    )


@njit
def walk_flop(j: int, seat: int, weight: float, game: Game, board: Board, scratch: Scratch) -> None:
    """Flop round j: from scratch.reach[1] to scratch.value[1]."""
    regrets, averages, stake = game.flop.regrets[j], game.flop.averages[j], game.flop.stakes[j]
    buckets, present = board.buckets[1], board.present[1, : board.n_present[1]]
    lanes, won, rows, mass = scratch.lanes[1], scratch.won[1], scratch.rows[1], scratch.mass[1]
    prepare_round(regrets, seat, stake, 1.0, False, present, rows, mass)
    spread_reach(buckets, scratch.reach[1], rows, mass, lanes)
    for k in range(13):
        end = END_OF[seat, k]
        if end >= 0:
            total = gather_lane(lanes, k, scratch.reach[2])
            chance = chance_to_walk(total, game.thresholds[2], game.random)
            if chance > 0.0:
                walk_turn(9 * j + end, seat, weight / chance, game, board, scratch)
                scatter_lane(scratch.value[2], 1.0 / chance, won, k)
            else:
                won[:, k] = 0.0
    sum_folds(board.order, lanes, scratch.totals)
    settle_round(
        regrets, averages, seat, stake, 1.0, False, present, buckets, rows, mass, won, lanes, scratch.value[1], weight
    )


@njit
def match_preflop(regrets: Rows, b: int, p: Rows, q: Rows, seat: int) -> None:
    """Strategy p and reaches q of a starting hand; the rows are those of PREFLOP_NODES."""
    row = regrets[b]
    if seat == 0:
        match_two(row, p, b, 0)
        match_three(row, p, b, 2)
        match_three(row, p, b, 5)
        match_two(row, p, b, 8)
        for k in range(10):
            q[b, k] = p[b, k]
        for k in range(2, 5):
            q[b, k] = p[b, 1] * p[b, k]
        for k in range(8, 10):
            q[b, k] = p[b, 7] * p[b, k]
    else:
        match_three(row, p, b, 0)
        match_three(row, p, b, 3)
        match_two(row, p, b, 6)
        match_three(row, p, b, 8)
        for k in range(3):
            q[b, k] = p[b, k]
        for k in range(3, 6):
            q[b, k] = p[b, 1] * p[b, k]
        for k in range(6, 8):
            q[b, k] = q[b, 5] * p[b, k]
        for k in range(8, 11):
            q[b, k] = p[b, 2] * p[b, k]


@njit
def update_button(regrets: Rows, b: int, p: Rows, w: Floats, f: Floats, met: float, weight: float) -> None:
    """Regrets of the button; w and f by the big blind's entry, met = opponent mass at the start."""
    capped = p[b, 6] * (-3.0 * f[4]) + p[b, 7] * w[4]
    regrets[b, 6] += weight * (-3.0 * f[4] - capped)
    regrets[b, 7] += weight * (w[4] - capped)
    again = 2.0 * f[2] + w[3] + capped
    limped = p[b, 3] * -f[1] + p[b, 4] * w[1] + p[b, 5] * again
    regrets[b, 3] += weight * (-f[1] - limped)
    regrets[b, 4] += weight * (w[1] - limped)
    regrets[b, 5] += weight * (again - limped)
    again = 3.0 * f[8] + w[9]
    raised = p[b, 8] * (-2.0 * f[7]) + p[b, 9] * w[7] + p[b, 10] * again
    regrets[b, 8] += weight * (-2.0 * f[7] - raised)
    regrets[b, 9] += weight * (w[7] - raised)
    regrets[b, 10] += weight * (again - raised)
    fold, call, bet = -0.5 * met, w[0] + limped, f[5] + w[6] + raised
    value = p[b, 0] * fold + p[b, 1] * call + p[b, 2] * bet
    regrets[b, 0] += weight * (fold - value)
    regrets[b, 1] += weight * (call - value)
    regrets[b, 2] += weight * (bet - value)


@njit
def update_big_blind(regrets: Rows, b: int, p: Rows, w: Floats, f: Floats, weight: float) -> None:
    """Regrets of the big blind; w and f by the button's entry."""
    again = 3.0 * f[6] + w[7]
    raised = p[b, 2] * (-2.0 * f[5]) + p[b, 3] * w[5] + p[b, 4] * again
    regrets[b, 2] += weight * (-2.0 * f[5] - raised)
    regrets[b, 3] += weight * (w[5] - raised)
    regrets[b, 4] += weight * (again - raised)
    check, bet = w[1], f[3] + w[4] + raised
    value = p[b, 0] * check + p[b, 1] * bet
    regrets[b, 0] += weight * (check - value)
    regrets[b, 1] += weight * (bet - value)
    capped = p[b, 8] * (-3.0 * f[10]) + p[b, 9] * w[10]
    regrets[b, 8] += weight * (-3.0 * f[10] - capped)
    regrets[b, 9] += weight * (w[10] - capped)
    again = 2.0 * f[8] + w[9] + capped
    facing = p[b, 5] * -f[2] + p[b, 6] * w[2] + p[b, 7] * again
    regrets[b, 5] += weight * (-f[2] - facing)
    regrets[b, 6] += weight * (w[2] - facing)
    regrets[b, 7] += weight * (again - facing)


@njit
def walk_preflop(seat: int, weight: float, game: Game, board: Board, scratch: Scratch) -> None:
    """One iteration for one seat on one board."""
    regrets, averages = game.preflop.regrets[0], game.preflop.averages[0]
    buckets, present = board.buckets[0], board.present[0, : board.n_present[0]]
    lanes, won, rows, mass = scratch.lanes[0], scratch.won[0], scratch.rows[0], scratch.mass[0]
    other = 1 - seat
    for i in range(present.shape[0]):
        b = present[i]
        match_preflop(regrets[other], b, rows[0], rows[1], other)
        match_preflop(regrets[seat], b, rows[0], rows[2], seat)
        rows[5, b, :] = 0.0
        rows[6, b, :] = 0.0
        mass[b] = 0.0
    for h in range(buckets.shape[0]):
        b = buckets[h]
        scale_row(lanes, h, rows[1], b, 1.0)
        mass[b] += 1.0
    for k in range(11):
        end = PREFLOP_END_OF[seat, k]
        if end >= 0:
            total = gather_lane(lanes, k, scratch.reach[1])
            chance = chance_to_walk(total, game.thresholds[1], game.random)
            if chance > 0.0:
                walk_flop(end, seat, weight / chance, game, board, scratch)
                scatter_lane(scratch.value[1], 1.0 / chance, won, k)
            else:
                won[:, k] = 0.0
    sum_folds(board.order, lanes, scratch.totals)
    for h in range(buckets.shape[0]):
        add_scaled_row(rows[5], buckets[h], won, h, 1.0)
        add_scaled_row(rows[6], buckets[h], lanes, h, 1.0)
    for i in range(present.shape[0]):
        b = present[i]
        if seat == 0:
            update_big_blind(regrets[0], b, rows[0], rows[5, b], rows[6, b], weight)
        else:
            update_button(regrets[1], b, rows[0], rows[5, b], rows[6, b], 990.0 * mass[b], weight)
        add_scaled_row(averages[other], b, rows[1], b, weight * mass[b])


@njit
def deal_board(random: NDArray[np.uint64], cards: Ints) -> None:
    """Five different cards."""
    dead = np.int64(0)
    for i in range(5):
        card = np.int64(next_random(random) * 52.0)
        while dead >> card & 1:
            card = np.int64(next_random(random) * 52.0)
        dead |= np.int64(1) << card
        cards[i] = card


@njit
def find_present(buckets: Ints, present: Ints, seen: NDArray[np.bool_]) -> int:
    """List the different buckets; returns how many. `seen` is scratch, all False before and after."""
    n = 0
    for h in range(buckets.shape[0]):
        b = buckets[h]
        if not seen[b]:
            seen[b] = True
            present[n] = b
            n += 1
    for i in range(n):
        seen[present[i]] = False
    return n
