"""Loki's simulation, compiled: the rest of a hand played out many times with probability triples for everybody.

Selective sampling (J. Schaeffer, D. Billings, L. Pena and D. Szafron, "Learning to Play Strong Poker", 1999): in every
trial the opponents' hands are drawn from their weight tables and the missing board cards from what is left; the hand
is then played to its end twice on these cards, once after a call and once after a raise. A player's strength on a
board is HS against one reasonable opponent, to the power of the opponents left, with the potential of its draws.
Two simplifications keep a play-out at a few microseconds: HS is read off the 91 rank pairs of the board without
removing the hand's own cards, and on boards where a flush is possible flushes are counted as a share of all hands.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.poki_kernels import (
    MAKE1,
    N_DRAWS,
    Bytes,
    Floats,
    Shorts,
    board_tables,
    draw_hand,
    hand_rank,
    next_uniform,
    postflop_triple,
    potential_of,
    preflop_group,
    preflop_triple,
)
from hardbot.game.evaluator import rank_cards7
from hardbot.game.jit import njit

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

N_PAIRS = 91  # rank pairs, high >= low
FLUSHES_FROM, FLUSHES_TO = 5864, 7140  # ranks of flushes
FOLD, CALL, RAISE = 0, 1, 2
INCOME_PER_FREQUENCY = 700.0  # income rate between hands whose percentiles differ by 1, near the middle
MAX_TRIES = 40  # draws of a hand before the weight table is given up (all its likely hands share a card)


@njit
def pair_counts(board: Bytes, by_pair: Shorts, pair_weights: Ints, ranks: Ints, counts: Ints) -> int:
    """Fill ranks and weighted numbers (91,) of the rank pairs left on a board; returns the sum of the numbers."""
    left = np.full(13, 4, dtype=np.int64)
    for card in board:
        left[card >> 2] -= 1
    total, place = 0, 0
    for high in range(13):
        for low in range(high + 1):
            n = left[high] * left[low] if high != low else left[high] * (left[high] - 1) // 2
            ranks[place] = by_pair[13 * high + low]
            counts[place] = n * pair_weights[13 * high + low]
            total += counts[place]
            place += 1
    return total


@njit
def quick_strength(
    a: int,
    b: int,
    n_board: int,
    by_pair: Shorts,
    ranks: Ints,
    counts: Ints,
    total: int,
    suit: int,
    mask: int,
    needed: int,
) -> float:
    """HS of a hand against one reasonable opponent, from the board's rank pairs."""
    own = hand_rank(a, b, by_pair, suit, mask, needed)
    halves = 0
    for i in range(N_PAIRS):
        halves += counts[i] * ((ranks[i] < own) + (ranks[i] <= own))
    hs = halves / (2.0 * total)
    if needed > 2 or needed < 1 or own > FLUSHES_TO:
        return hs
    cards = 50.0 - n_board  # unseen by this player
    suited = 13.0 - (5 - needed)
    if own < FLUSHES_FROM:
        missing = (cards - suited) * (cards - suited - 1.0) / (cards * (cards - 1.0))
        share = suited * (suited - 1.0) / (cards * (cards - 1.0)) if needed == 2 else 1.0 - missing
        return hs * (1.0 - share)
    best = max(a >> 2 if a & 3 == suit else -1, b >> 2 if b & 3 == suit else -1)
    higher = 0.0
    for rank in range(best + 1, 13):
        higher += 1.0 - (mask >> rank & 1)
    if needed == 2:
        return 1.0 - higher * (2.0 * suited - higher - 1.0) / (cards * (cards - 1.0))
    return (cards - higher) * (cards - higher - 1.0) / (cards * (cards - 1.0))


@njit
def _seat_strength(
    street: int,
    seat: int,
    board: Bytes,
    hands: Ints,
    pair_weights: Ints,
    by_pair: Shorts,
    pairs: Ints,
    meta: Ints,
    strengths: Floats,
) -> None:
    """Fill strengths[street, seat] (HS, potential), the street's tables first if nobody has needed them yet.

    by_pair (streets, 169), pairs (streets, 2, 91): ranks and numbers; meta (streets, 5): ready, flush suit, its mask,
    hole cards needed, sum of the numbers.
    """
    seen = board[: street + 2]
    table, facts = by_pair[street], meta[street]
    if facts[0] == 0:
        suit, mask, needed = board_tables(seen, table)
        total = pair_counts(seen, table, pair_weights, pairs[street, 0], pairs[street, 1])
        facts[0], facts[1], facts[2], facts[3], facts[4] = 1, suit, mask, needed, total
    a, b = hands[seat, 0], hands[seat, 1]
    strengths[street, seat, 0] = quick_strength(
        a, b, street + 2, table, pairs[street, 0], pairs[street, 1], facts[4], facts[1], facts[2], facts[3]
    )
    strengths[street, seat, 1] = potential_of(a, b, seen, np.empty(N_DRAWS))


@njit
def _behind(live: Bools, seat: int, first: int) -> int:
    """Live seats that act after this one on streets that begin with `first`."""
    n = live.shape[0]
    place = (seat - first) % n
    later = 0
    for other in range(n):
        if live[other] and (other - first) % n > place:
            later += 1
    return later


@njit
def _next_live(live: Bools, start: int) -> int:
    """First live seat from `start` on."""
    n = live.shape[0]
    seat = int(start % n)
    while not live[seat]:
        seat = int((seat + 1) % n)
    return seat


@njit
def _preflop_action(
    seat: int,
    n_live: int,
    live: Bools,
    entered: Bools,
    first: int,
    hole: int,
    income: Floats,
    thresholds: Floats,
    looser: Floats,
    to_call: float,
    bet: float,
    raises: int,
    may_raise: bool,
    width: float,
) -> tuple[float, float, float]:
    """Triple of a seat before the flop; looser (2,): how much more often it raises and plays than the default."""
    n_in = 0
    for other in range(live.shape[0]):
        n_in += live[other] and entered[other] and other != seat
    group = preflop_group(1 + n_in, n_live - 1 - n_in)
    lines, place = thresholds[group], _behind(live, seat, first)
    raise_shift, play_shift = INCOME_PER_FREQUENCY * looser[0], INCOME_PER_FREQUENCY * looser[1]
    return preflop_triple(
        income[group, hole],
        lines[0, 0] + lines[0, 1] * place - play_shift,
        lines[1, 0] + lines[1, 1] * place - raise_shift,
        lines[2, 0] + lines[2, 1] * place - raise_shift,
        to_call,
        bet,
        raises,
        may_raise,
        entered[seat],
        width,
    )


@njit
def play_out(
    hero: int,
    action: int,
    street: int,
    raises: int,
    pending: int,
    bet_sizes: Floats,
    max_raises: Ints,
    first_seats: Ints,
    live: Bools,
    paid: Floats,
    entered: Bools,
    bluffing: Bools,
    hands: Ints,
    board: Bytes,
    by_pair: Shorts,
    pairs: Ints,
    meta: Ints,
    strengths: Floats,
    income: Floats,
    thresholds: Floats,
    looser: Floats,
    pair_weights: Ints,
    widths: Floats,
    state: Words,
) -> float:
    """Chips the hero wins from here on when he takes `action` now and all follow their triples.

    The arrays live, paid, entered and bluffing (seats,) are used up. widths (3,): bet, thresholds, odds; before the
    flop 1000 times the first.
    """
    n = live.shape[0]
    already = paid[hero]
    n_live, pot, top = 0, 0.0, 0.0
    for seat in range(n):
        n_live += live[seat]
        pot += paid[seat]
        top = max(top, paid[seat])
    seat = hero
    while True:
        to_call = top - paid[seat]
        pending -= 1
        if action == FOLD:
            if seat == hero:
                return float(already - paid[hero])
            live[seat] = False
            n_live -= 1
            if n_live == 1:
                return float(pot - (paid[hero] - already))
        else:
            chips = to_call
            if action == RAISE:
                chips += bet_sizes[street]
                raises += 1
                pending = n_live - 1
                for other in range(n):
                    bluffing[other] = bluffing[other] and other == seat
            if chips > 0.0:
                entered[seat] = True
            paid[seat] += chips
            pot += chips
            top = max(top, paid[seat])
        if pending == 0:
            if street == 3:
                break
            street, raises, pending = street + 1, 0, n_live
            entered[:] = False
            seat = _next_live(live, first_seats[street])
        else:
            seat = _next_live(live, seat + 1)
        bet = bet_sizes[street]
        to_call = top - paid[seat]
        may_raise = raises < max_raises[street]
        shift = looser[seat, street, min(2, int(np.ceil(to_call / bet)))]
        if street == 0:
            a, b = hands[seat, 0], hands[seat, 1]
            triple = _preflop_action(
                seat,
                n_live,
                live,
                entered,
                first_seats[1],
                a * (a - 1) // 2 + b,
                income,
                thresholds,
                shift,
                to_call,
                bet,
                raises,
                may_raise,
                1000.0 * widths[0],
            )
            ehs = 1.0
        else:
            if strengths[street, seat, 0] < 0.0:
                _seat_strength(street, seat, board, hands, pair_weights, by_pair, pairs, meta, strengths)
            chance = strengths[street, seat, 1]
            strength = strengths[street, seat, 0] ** (n_live - 1)
            later = 1.0 - (1.0 - chance) ** 2 if street == 1 else chance
            ehs = strength + (1.0 - strength) * later
            triple = postflop_triple(
                ehs,
                chance,
                street,
                to_call,
                bet,
                pot,
                may_raise,
                entered[seat],
                bluffing[seat],
                _behind(live, seat, first_seats[1]) > 0,
                widths[0],
                widths[1],
                widths[2],
                shift[0],
                shift[1],
            )
        u = next_uniform(state)
        action = FOLD if u < triple[0] else CALL if u < triple[0] + triple[1] or not may_raise else RAISE
        if action == RAISE and to_call <= 0.0 and ehs < MAKE1 and street < 3:
            bluffing[seat] = True
    best, n_best = -1, 0
    for seat in range(n):
        if live[seat]:
            rank = rank_cards7(hands[seat, 0], hands[seat, 1], board[0], board[1], board[2], board[3], board[4])
            if rank > best:
                best, n_best = rank, 0
            n_best += rank == best
    own = rank_cards7(hands[hero, 0], hands[hero, 1], board[0], board[1], board[2], board[3], board[4])
    return float((pot / n_best if own == best else 0.0) - (paid[hero] - already))


@njit
def _deal_trial(
    trial: int,
    hero: int,
    live: Bools,
    running: Floats,
    holes: NDArray[np.int8],
    n_board: int,
    dead: int,
    hands: Ints,
    board: Bytes,
    state: Words,
) -> None:
    """Draw the opponents' hands from their tables, each trial beginning with another seat, and the board's rest."""
    n = live.shape[0]
    for step in range(n):
        seat = (hero + 1 + (trial + step) % n) % n
        if seat == hero or not live[seat]:
            continue
        tries = 0
        while True:
            if tries < MAX_TRIES:
                hole = draw_hand(running[seat], next_uniform(state))
            else:
                hole = int(next_uniform(state) * holes.shape[0])
            tries += 1
            a, b = int(holes[hole, 0]), int(holes[hole, 1])
            if (dead >> a | dead >> b) & 1 == 0:
                break
        hands[seat, 0], hands[seat, 1] = a, b
        dead |= 1 << a | 1 << b
    for i in range(n_board, 5):
        card = int(next_uniform(state) * 52)
        while dead >> card & 1:
            card = int(next_uniform(state) * 52)
        dead |= 1 << card
        board[i] = card


@njit
def simulate(
    hero: int,
    a: int,
    b: int,
    seen: Bytes,
    street: int,
    raises: int,
    pending: int,
    may_raise: bool,
    bet_sizes: Floats,
    max_raises: Ints,
    first_seats: Ints,
    live: Bools,
    paid: Floats,
    entered: Bools,
    bluffing: bool,
    weights: Floats,
    holes: NDArray[np.int8],
    income: Floats,
    thresholds: Floats,
    looser: Floats,
    pair_weights: Ints,
    widths: Floats,
    n_trials: int,
    state: Words,
) -> tuple[float, float]:
    """Sums over trials of the chips won after a call and after a raise (0 where raising is over).

    weights (seats, 1326) of the opponents; looser (seats, streets, bets to call, 2) shifts their thresholds.
    """
    n = live.shape[0]
    dead = 1 << a | 1 << b
    board = np.zeros(5, dtype=np.uint8)
    for i in range(seen.shape[0]):
        board[i] = seen[i]
        dead |= 1 << seen[i]
    running = np.zeros((n, holes.shape[0]))
    for seat in range(n):
        total = 0.0
        for hole in range(holes.shape[0]):
            if seat != hero and live[seat] and (dead >> holes[hole, 0] | dead >> holes[hole, 1]) & 1 == 0:
                total += weights[seat, hole]
            running[seat, hole] = total
    hands = np.zeros((n, 2), dtype=np.int64)
    hands[hero, 0], hands[hero, 1] = a, b
    by_pair = np.zeros((4, 169), dtype=np.uint16)
    pairs = np.zeros((4, 2, N_PAIRS), dtype=np.int64)
    meta = np.zeros((4, 5), dtype=np.int64)
    strengths = np.zeros((4, n, 2))
    sums = np.zeros(3)
    for trial in range(n_trials):
        _deal_trial(trial, hero, live, running, holes, seen.shape[0], dead, hands, board, state)
        meta[street + 1 :] = 0  # the board in sight keeps its tables
        strengths[:] = -1.0  # not known yet
        luck = state[0]
        for action in range(CALL, RAISE + 1 if may_raise else RAISE):
            state[0] = luck  # both actions meet the same random numbers, which steadies their difference
            others = live.copy()
            bluffs = np.zeros(n, dtype=np.bool_)
            bluffs[hero] = bluffing
            sums[action] += play_out(
                hero,
                action,
                street,
                raises,
                pending,
                bet_sizes,
                max_raises,
                first_seats,
                others,
                paid.copy(),
                entered.copy(),
                bluffs,
                hands,
                board,
                by_pair,
                pairs,
                meta,
                strengths,
                income,
                thresholds,
                looser,
                pair_weights,
                widths,
                state,
            )
    return sums[CALL], sums[RAISE]
