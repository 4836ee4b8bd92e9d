"""Exact best response to a table-driven strategy below one flop, all hands at once.

The responder knows the strategy, not the cards: for each of its hands it takes, at every decision, the action with the
highest value against what the opponent's hands would do, on all turns and rivers. The values of all hands at a showdown
are found in linear time from the hands sorted by rank (Johanson, Waugh, Bowling and Zinkevich, "Accelerating Best
Response Calculation in Large Extensive Games", IJCAI 2011), for the thirteen lines of a round together (`lanes`).
Turns and rivers that differ only by suits the board does not tell apart are walked once.

Masses are sums of the opponent's reaches over hands (at most 1,225 against one hand); values are sb times mass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardbot.game.cards import HOLE_CARDS
from hardbot.game.isomorphism import SUIT_ORDERS
from hardbot.game.jit import njit
from hardbot.model.board_index import HOLE_RENAMED
from hardbot.solver.abstraction import BucketTables
from hardbot.solver.boards import N_RIVER_HANDS, look_up_row, score_board, sort_board
from hardbot.solver.cfr import Floats, Ints, reach_round, sum_folds, sum_showdowns
from hardbot.solver.lanes import N_LANES, N_TOTALS, Rows, aligned_rows, scale_row
from hardbot.solver.rounds import (
    END_OF,
    FOLD_BETS,
    FOLD_SIGN,
    N_CHOICES,
    N_STARTS,
    PREFLOP_END_OF,
    PREFLOP_NODES,
    SHOWDOWN_BETS,
    round_map,
)

LEAST_MASS = 1e-6  # lines reached by less are left out: together they cannot be worth 1e-5 sb
_ORDERS = np.array(SUIT_ORDERS, dtype=np.int64)
_ALL_HOLES = np.arange(1326)


class Rival(NamedTuple):
    """The strategy responded to: products of its choices within a round (starts, 2 seats, buckets, 16)."""

    preflop: Rows
    flop: Rows
    turn: Rows
    river: Rows
    tables: BucketTables


class Stakes(NamedTuple):
    """Each player's sb before the street, by start."""

    flop: Floats
    turn: Floats
    river: Floats


class Sheet(NamedTuple):
    """Work space of one flop."""

    lanes: Rows  # (1326, 16)
    won: Rows  # (1326, 16)
    totals: Rows  # (53, 16)
    every_hole: Ints  # (1326, 3) cards of all hands, as `order`
    order: Ints  # (1081, 3)
    holes: Ints  # (1081,)
    scores: NDArray[np.int32]  # (1081,)
    counts: NDArray[np.int32]  # (7464,)
    buckets: Ints  # (3, 1326) flop, turn, river
    turn_reach: Floats  # (63, 1326)
    turn_value: Floats  # (63, 1326)
    river_reach: Floats  # (567, 1326)
    river_value: Floats  # (567, 1326)
    value: Floats  # (1326,)


def new_sheet() -> Sheet:
    """Room for one flop."""
    every = np.zeros((1326, 3), dtype=np.int64)
    every[:, :2] = HOLE_CARDS
    n = N_RIVER_HANDS
    return Sheet(
        aligned_rows(1326),
        aligned_rows(1326),
        aligned_rows(N_TOTALS),
        every,
        np.zeros((n, 3), dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int32),
        np.zeros(7464, dtype=np.int32),
        np.zeros((3, 1326), dtype=np.int64),
        np.zeros((63, 1326), dtype=np.float32),
        np.zeros((63, 1326), dtype=np.float32),
        np.zeros((567, 1326), dtype=np.float32),
        np.zeros((567, 1326), dtype=np.float32),
        np.zeros(1326, dtype=np.float32),
    )


def stakes_of_streets() -> Stakes:
    """Stakes of flop, turn and river."""
    return Stakes(*round_map().stakes[1:])


@njit
def _reach_rounds(p: Rows, q: Rows) -> None:
    for start in range(p.shape[0]):
        for seat in range(2):
            for b in range(p.shape[2]):
                reach_round(p[start, seat], b, q[start, seat], seat)


def make_rival(choices: tuple[Floats, Floats, Floats, Floats], tables: BucketTables) -> Rival:
    """Rival of probabilities (starts, 2, buckets, 16) by street."""
    parts = []
    for street, p in enumerate(choices):
        q = aligned_rows(*p.shape[:3])
        if street:
            _reach_rounds(np.ascontiguousarray(p), q)
        else:
            _reach_preflop(p, q)
        parts.append(q)
    return Rival(parts[0], parts[1], parts[2], parts[3], tables)


def _reach_preflop(p: Floats, q: Rows) -> None:
    """Product of the own choices on the way to each preflop entry."""
    for seat in (0, 1):
        before = {text: np.ones(p.shape[2], dtype=np.float32) for text, _, _ in PREFLOP_NODES[seat]}
        for text, place, legal in PREFLOP_NODES[seat]:
            for i, action in enumerate(legal):
                q[0, seat, :, place + i] = before[text] * p[0, seat, :, place + i]
                for later in before:
                    if later.startswith(text + "fcr"[action]) and len(later) == len(text) + 2:
                        before[later] = q[0, seat, :, place + i]


@njit
def best_of_round(w: Floats, f: Floats, ws: Floats, fs: Floats, seat: int) -> float:
    """Value of the best choices of a round; w, f: by opponent's entry, shown or gone on and folded; ws, fs: stakes."""
    third = max(fs[4] * f[4], ws[4] * w[4], fs[5] * f[5] + ws[6] * w[6])
    facing = max(fs[1] * f[1], ws[1] * w[1], fs[2] * f[2] + ws[3] * w[3] + third)
    capped = max(fs[12] * f[12], ws[12] * w[12])
    raised = max(fs[9] * f[9], ws[9] * w[9], fs[10] * f[10] + ws[11] * w[11] + capped)
    bet = fs[7] * f[7] + ws[8] * w[8] + raised
    if seat == 0:
        return float(max(ws[0] * w[0] + facing, bet))
    return float(max(ws[0] * w[0], bet) + facing)


@njit
def set_stakes(stake: float, bet: float, is_river: bool, ws: Floats, fs: Floats) -> None:
    """Factors of shown (1 before the river) and folded masses, by opponent's entry."""
    for k in range(N_CHOICES):
        ws[k] = stake + SHOWDOWN_BETS[k] * bet if is_river else 1.0
        fs[k] = FOLD_SIGN[k] * (stake + FOLD_BETS[k] * bet)


@njit
def _respond_river(j: int, seat: int, rival: Rival, stake: float, sheet: Sheet, ws: Floats, fs: Floats) -> None:
    """Value of all sorted hands in river round j, into sheet.value."""
    q, reach, n = rival.river[j, 1 - seat], sheet.river_reach[j], sheet.holes.shape[0]
    lanes, won = sheet.lanes, sheet.won
    for i in range(n):
        scale_row(lanes, i, q, sheet.buckets[2, i], reach[sheet.holes[i]])
    sum_showdowns(sheet.order, lanes, won, sheet.totals)
    set_stakes(stake, 2.0, True, ws, fs)
    for i in range(n):
        sheet.value[i] = best_of_round(won[i], lanes[i], ws, fs, seat)


@njit
def _respond_rivers(
    cards: Ints, seat: int, rival: Rival, stakes: Stakes, sheet: Sheet, group: Ints, n_group: int, only: int
) -> None:
    """Sum of the values over the rivers of one turn, into sheet.river_value; only: one river card, -1 for all."""
    n_lines = sheet.river_reach.shape[0]
    mass = np.zeros(n_lines)
    for j in range(n_lines):
        mass[j] = sheet.river_reach[j].sum()
    sheet.river_value[:] = 0.0
    ws, fs = np.zeros(N_LANES, dtype=np.float32), np.zeros(N_LANES, dtype=np.float32)
    images = np.zeros(24, dtype=np.int64)
    done = _card_bits(cards, 4)
    tables = rival.tables
    for card in range(52):
        if done >> card & 1 or (only >= 0 and card != only):
            continue
        n_images, seen = _orbit(card, group, n_group, images)
        done |= seen
        cards[4] = card
        sort_board(cards, sheet.holes, sheet.order, sheet.counts)
        score_board(sheet.order, sheet.scores)
        for i in range(N_RIVER_HANDS):
            sheet.buckets[2, i] = tables.river[sheet.scores[i]]
        for j in range(n_lines):
            if mass[j] < LEAST_MASS:
                continue
            _respond_river(j, seat, rival, stakes.river[j], sheet, ws, fs)
            for m in range(n_images if only < 0 else 1):
                renamed, out = HOLE_RENAMED[images[m]], sheet.river_value[j]
                for i in range(N_RIVER_HANDS):
                    out[renamed[sheet.holes[i]]] += sheet.value[i]


@njit
def _card_bits(cards: Ints, n: int) -> int:
    bits = np.int64(0)
    for i in range(n):
        bits |= np.int64(1) << cards[i]
    return int(bits)


@njit
def _orbit(card: int, group: Ints, n_group: int, images: Ints) -> tuple[int, int]:
    """Suit orders (one for each image of the card) and the images as bits."""
    n, seen = 0, np.int64(0)
    for m in range(n_group):
        image = (card & 60) + _ORDERS[group[m], card & 3]
        if seen >> image & 1 == 0:
            seen |= np.int64(1) << image
            images[n] = group[m]
            n += 1
    return n, int(seen)


@njit
def _keepers(cards: Ints, n_cards: int, group: Ints, n_group: int, kept: Ints) -> int:
    """Those of the suit orders that leave the set of cards as it is."""
    bits, n = _card_bits(cards, n_cards), 0
    for m in range(n_group):
        image = np.int64(0)
        for i in range(n_cards):
            image |= np.int64(1) << ((cards[i] & 60) + _ORDERS[group[m], cards[i] & 3])
        if image == bits:
            kept[n] = group[m]
            n += 1
    return n


@njit
def _spread(q: Rows, buckets: Ints, reach: Floats, lanes: Rows) -> None:
    for h in range(1326):
        scale_row(lanes, h, q, buckets[h], reach[h])


@njit
def _close_round(
    j: int,
    seat: int,
    q: Rows,
    buckets: Ints,
    reach: Floats,
    after: Floats,
    chance: float,
    stake: float,
    bet: float,
    sheet: Sheet,
) -> None:
    """Value of all hands in a flop or turn round from the values after it (ends, 1326), into sheet.value."""
    _spread(q, buckets, reach, sheet.lanes)
    sum_folds(sheet.every_hole, sheet.lanes, sheet.totals)
    ws, fs = np.zeros(N_LANES, dtype=np.float32), np.zeros(N_LANES, dtype=np.float32)
    set_stakes(stake, bet, False, ws, fs)
    w = np.zeros(N_LANES, dtype=np.float32)
    for h in range(1326):
        for k in range(N_CHOICES):
            end = END_OF[seat, k]
            w[k] = after[9 * j + end, h] * chance if end >= 0 else 0.0
        sheet.value[h] = best_of_round(w, sheet.lanes[h], ws, fs, seat)


@njit
def _pass_on(seat: int, j: int, lanes: Rows, reach: Floats, alive: NDArray[np.bool_]) -> None:
    """Reaches (ends, 1326) of the next street's starts from the lanes of round j."""
    for k in range(N_CHOICES):
        end = END_OF[seat, k]
        if end >= 0:
            out = reach[9 * j + end]
            for h in range(1326):
                out[h] = lanes[h, k] if alive[h] else 0.0


@njit
def _mark_alive(cards: Ints, n: int, alive: NDArray[np.bool_]) -> None:
    bits = _card_bits(cards, n)
    for h in range(1326):
        alive[h] = (bits >> HOLE_CARDS[h, 0] | bits >> HOLE_CARDS[h, 1]) & 1 == 0


@njit
def _respond_turns(
    cards: Ints, seat: int, rival: Rival, stakes: Stakes, sheet: Sheet, group: Ints, n_group: int, only: Ints
) -> None:
    """Sum of the values over the turns of one flop, into sheet.turn_value; only: one turn and river card, or -1."""
    images, kept = np.zeros(24, dtype=np.int64), np.zeros(24, dtype=np.int64)
    alive = np.zeros(1326, dtype=np.bool_)
    done = _card_bits(cards, 3)
    tables, buckets = rival.tables, sheet.buckets[1]
    sheet.turn_value[:] = 0.0
    for card in range(52):
        if done >> card & 1 or (only[0] >= 0 and card != only[0]):
            continue
        n_images, seen = _orbit(card, group, n_group, images)
        done |= seen
        cards[3] = card
        _mark_alive(cards, 4, alive)
        n_kept = _keepers(cards[3:4], 1, group, n_group, kept)
        look_up_row(cards, 4, tables.turn_numbers, tables.turn_renamings, tables.turn, _ALL_HOLES, buckets)
        for j in range(sheet.turn_reach.shape[0]):
            _spread(rival.turn[j, 1 - seat], buckets, sheet.turn_reach[j], sheet.lanes)
            _pass_on(seat, j, sheet.lanes, sheet.river_reach, alive)
        _respond_rivers(cards, seat, rival, stakes, sheet, kept, n_kept, only[1])
        chance = 1.0 / 44.0 if only[1] < 0 else 1.0
        reach = np.zeros(1326, dtype=np.float32)
        for j in range(sheet.turn_reach.shape[0]):
            for h in range(1326):
                reach[h] = sheet.turn_reach[j, h] if alive[h] else 0.0
            q = rival.turn[j, 1 - seat]
            _close_round(j, seat, q, buckets, reach, sheet.river_value, chance, stakes.turn[j], 2.0, sheet)
            for m in range(n_images if only[0] < 0 else 1):
                renamed = HOLE_RENAMED[images[m]]
                for h in range(1326):
                    if alive[h]:
                        sheet.turn_value[j, renamed[h]] += sheet.value[h]


@njit
def respond_flop(flop: Ints, seat: int, rival: Rival, stakes: Stakes, sheet: Sheet, only: Ints, out: Floats) -> None:
    """Values (7, 1326) of a best response in `seat` below a flop by start; hands that share a card get 0.

    `only` names one turn and one river card, known from the start, or -1 and -1 for all.
    """
    cards = np.zeros(5, dtype=np.int64)
    cards[:3], cards[3:] = flop, only
    alive = np.zeros(1326, dtype=np.bool_)
    _mark_alive(cards, 3 if only[0] < 0 else 5, alive)
    group, everything = np.zeros(24, dtype=np.int64), np.arange(24)
    n_group = _keepers(cards, 3, everything, 24, group)
    tables, buckets = rival.tables, sheet.buckets[0]
    look_up_row(cards, 3, tables.flop_numbers, tables.flop_renamings, tables.flop, _ALL_HOLES, buckets)
    start = np.zeros((N_STARTS[1], 1326), dtype=np.float32)
    for k in range(N_LANES):
        end = PREFLOP_END_OF[seat, k] if k < PREFLOP_END_OF.shape[1] else -1
        if end >= 0:
            for h in range(1326):
                start[end, h] = rival.preflop[0, 1 - seat, tables.preflop[h], k] if alive[h] else 0.0
    for j in range(N_STARTS[1]):
        _spread(rival.flop[j, 1 - seat], buckets, start[j], sheet.lanes)
        _pass_on(seat, j, sheet.lanes, sheet.turn_reach, alive)
    _respond_turns(cards, seat, rival, stakes, sheet, group, n_group, only)
    chance = 1.0 / 45.0 if only[0] < 0 else 1.0
    for j in range(N_STARTS[1]):
        q = rival.flop[j, 1 - seat]
        _close_round(j, seat, q, buckets, start[j], sheet.turn_value, chance, stakes.flop[j], 1.0, sheet)
        for h in range(1326):
            out[j, h] = sheet.value[h] if alive[h] else 0.0
