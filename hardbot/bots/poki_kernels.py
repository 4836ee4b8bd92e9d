"""Compiled parts of poki and loki: strength against a weight table, re-weighting, and the betting rules as triples.

Everything here works on vectors over the 1,326 hole hands. What is exact: ranks, HS of every hand against one uniform
opponent, HS and one-card PPot of one's own hand against a weight table. What is estimated: the potential of the
opponents' hands, for which PPot would be needed a thousand times per action. As in Loki (D. Papp, "Dealing with
Imperfect Information in Poker", University of Alberta, 1998, chapter 7) it is read off the draws a hand has;
here a linear form in them, fitted to the exact one-card PPot of 60 flops and 120 turns; EHS
then errs by .008 on the flop and .015 on the turn (root mean square).

A triple is (fold, call, raise). `postflop_triple` and `preflop_triple` are the published rules (FACTS section 3) with
every threshold softened to a ramp: probability 0 at `threshold - width`, 1/2 at it, 1 at `threshold + width`; width 0
is the hard rule. `looser_raise` and `looser_play` lower the thresholds for an opponent who raises or
plays that much more often than the default.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardbot.game.evaluator import rank_cards7
from hardbot.game.feature_kernels import live_cards, order_now, pair_ranks, suit_counts, suit_mask
from hardbot.game.jit import njit
from hardbot.game.rank_tables import FLUSH_RANK

Bytes = NDArray[np.uint8]
Shorts = NDArray[np.uint16]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

MAKE1, MAKE2 = 0.50, 0.85  # EHS to bet, EHS to raise
LOW_WEIGHT = 0.01
N_DRAWS = 8  # columns of draw_profile

# Fitted to exact one-card PPot, flop and turn: constant, flush draw with two cards, with one, straight ranks,
# overcards, other live cards, pair with the board, pocket pair.
DRAW_WEIGHTS: Floats = np.array(
    [
        [0.083, 0.181, 0.180, 0.077, 0.008, -0.003, 0.012, -0.038],
        [0.091, 0.174, 0.171, 0.063, 0.006, -0.006, -0.001, -0.035],
    ]
)


@njit
def apart(a: int, b: int, c: int, d: int) -> bool:
    """Whether two hole hands share no card."""
    return (1 << a | 1 << b) & (1 << c | 1 << d) == 0


@njit
def hand_rank(a: int, b: int, by_pair: Shorts, suit: int, mask: int, needed: int) -> int:
    """Rank of hole cards on a board given by its rank-pair table and its flush suit."""
    a_suited, b_suited = a & 3 == suit, b & 3 == suit
    if a_suited + b_suited >= needed:
        return int(FLUSH_RANK[mask | (a_suited << (a >> 2)) | (b_suited << (b >> 2))])
    return int(by_pair[13 * (a >> 2) + (b >> 2)])


@njit
def board_tables(board: Bytes, by_pair: Shorts) -> tuple[int, int, int]:
    """Fill the rank-pair table (169,); returns flush suit, its ranks on board and hole cards needed (9: no flush)."""
    pair_ranks(board, by_pair)
    counts = np.empty(4, dtype=np.int64)
    suit = suit_counts(board, counts)
    if suit < 0:
        return -1, 0, 9
    return suit, suit_mask(board, suit), 5 - counts[suit]


@njit
def draw_profile(a: int, b: int, board: Bytes, profile: Floats) -> None:
    """Fill profile (8,): the draws of a hand on a flop or turn, columns as in DRAW_WEIGHTS."""
    profile[:] = 0.0
    profile[0] = 1.0
    rank_a, rank_b = a >> 2, b >> 2
    board_ranks, top = 0, 0
    in_suit_a, in_suit_b = 0, 0
    for card in board:
        rank = int(card >> 2)
        board_ranks |= 1 << rank
        top = max(top, rank)
        in_suit_a += card & 3 == a & 3
        in_suit_b += card & 3 == b & 3
    if a & 3 == b & 3:
        profile[1] = 1.0 if in_suit_a == 2 else 0.0
    elif in_suit_a == 3 or in_suit_b == 3:
        profile[2] = 0.5 + (rank_a if in_suit_a == 3 else rank_b) / 24.0
    profile[3] = _straight_ranks(1 << rank_a | 1 << rank_b, board_ranks)
    if rank_a == rank_b:
        profile[7] = 0.0 if board_ranks >> rank_a & 1 else 1.0
        return
    for rank in (rank_a, rank_b):
        if board_ranks >> rank & 1:
            profile[6] = 1.0
        elif rank > top:
            profile[4] += 1.0
        else:
            profile[5] += rank / 12.0


@njit
def _straight_ranks(hole_ranks: int, board_ranks: int) -> float:
    """Ranks (at most two are counted) that would complete a straight in which a hole card is needed."""
    everything, on_board = hole_ranks | board_ranks, board_ranks
    everything, on_board = everything << 1 | everything >> 12, on_board << 1 | on_board >> 12  # bit 0: the low ace
    missing = 0
    for low in range(10):
        window = 31 << low
        if everything & window == window:
            return 0.0  # has its straight
        gap = window & ~everything
        if gap & (gap - 1) == 0 and on_board & window != window & ~gap:
            missing |= gap
    n_ranks = 0
    while missing:
        missing &= missing - 1
        n_ranks += 1
    return float(min(n_ranks, 2))


@njit
def potential_of(a: int, b: int, board: Bytes, profile: Floats) -> float:
    """Estimated one-card PPot of a hand; 0 on the river."""
    if board.shape[0] == 5:
        return 0.0
    draw_profile(a, b, board, profile)
    row = DRAW_WEIGHTS[board.shape[0] - 3]
    value = 0.0
    for i in range(N_DRAWS):
        value += row[i] * profile[i]
    return max(0.0, value)


@njit
def board_values(board: Bytes, ranks: Shorts, hs: Singles, potential: Singles) -> None:
    """All hands of a board: rank now (0: impossible), HS against one uniform opponent, estimated potential."""
    live = np.empty(52, dtype=np.uint8)
    n_live = live_cards(board, live)
    n_hands = n_live * (n_live - 1) // 2
    records = np.zeros((n_hands, 16), dtype=np.uint16)
    now = np.empty((n_hands, 3), dtype=np.int64)
    order_now(board, live, n_live, records, now)
    by_pair = np.empty(169, dtype=np.uint16)
    profile = np.empty(N_DRAWS)
    suit, mask, needed = board_tables(board, by_pair)
    ranks[:] = 0
    hs[:] = 0.0
    potential[:] = 0.0
    hand = 0
    for i in range(n_live):
        for j in range(i):
            a, b = int(live[i]), int(live[j])
            hole = a * (a - 1) // 2 + b
            ranks[hole] = hand_rank(a, b, by_pair, suit, mask, needed)
            hs[hole] = (now[hand, 0] + 0.5 * now[hand, 1]) / (now[hand, 0] + now[hand, 1] + now[hand, 2])
            potential[hole] = potential_of(a, b, board, profile)
            hand += 1


@njit
def strength_against(a: int, b: int, ranks: Shorts, holes: NDArray[np.int8], weights: Floats) -> float:
    """HS of hole cards a > b against a weight table, hands in the way (rank 0, shared card) left out."""
    own = ranks[a * (a - 1) // 2 + b]
    ahead, total = 0.0, 0.0
    for hole in range(holes.shape[0]):
        c, d = holes[hole, 0], holes[hole, 1]
        if ranks[hole] > 0 and apart(a, b, c, d):
            total += weights[hole]
            ahead += weights[hole] * (1.0 if ranks[hole] < own else 0.5 if ranks[hole] == own else 0.0)
    return ahead / total if total > 0.0 else 0.5


@njit
def one_card_potential(a: int, b: int, board: Bytes, ranks: Shorts, holes: NDArray[np.int8], weights: Floats) -> float:
    """PPot one card ahead of hole cards a > b against a weight table (FACTS section 1); 0 on the river."""
    if board.shape[0] == 5:
        return 0.0
    own = ranks[a * (a - 1) // 2 + b]
    rivals = np.empty((holes.shape[0], 2), dtype=np.int64)
    shares = np.empty(holes.shape[0])  # what overtaking this hand is worth: all if behind now, half if tied
    n_rivals, total = 0, 0.0
    for hole in range(holes.shape[0]):
        c, d = holes[hole, 0], holes[hole, 1]
        if ranks[hole] >= own and apart(a, b, c, d):
            rivals[n_rivals, 0], rivals[n_rivals, 1] = c, d
            shares[n_rivals] = weights[hole] * (1.0 if ranks[hole] > own else 0.5)
            n_rivals += 1
    dead = 1 << a | 1 << b
    longer = np.empty(board.shape[0] + 1, dtype=np.uint8)
    for i in range(board.shape[0]):
        longer[i] = board[i]
        dead |= 1 << board[i]
    by_pair = np.empty(169, dtype=np.uint16)
    won = 0.0
    for card in range(52):
        if dead >> card & 1:
            continue
        longer[board.shape[0]] = card
        suit, mask, needed = board_tables(longer, by_pair)
        then = hand_rank(a, b, by_pair, suit, mask, needed)
        for i in range(n_rivals):
            c, d = rivals[i, 0], rivals[i, 1]
            if card not in (c, d):
                rank = hand_rank(c, d, by_pair, suit, mask, needed)
                total += shares[i]
                if rank < then:
                    won += shares[i]
                elif rank == then:
                    was_behind = ranks[c * (c - 1) // 2 + d] > own
                    won += 0.5 * shares[i] if was_behind else 0.0
    return won / total if total > 0.0 else 0.0


@njit
def reweight(weights: Floats, values: Singles, mu: float, sigma: float) -> None:
    """Let weight *= clip((value - mu + sigma) / (2 sigma), .01, 1), never below .01; values are 0..1."""
    for hole in range(weights.shape[0]):
        factor = (values[hole] - mu + sigma) / (2.0 * sigma) if sigma > 0.0 else 1.0
        weights[hole] = max(LOW_WEIGHT, weights[hole] * min(1.0, max(LOW_WEIGHT, factor)))


@njit
def ramp(value: float, threshold: float, width: float) -> float:
    """0 below threshold - width, 1 above threshold + width, straight in between; a step when width is 0."""
    if width <= 0.0:
        return 1.0 if value >= threshold else 0.0
    return min(1.0, max(0.0, (value - threshold + width) / (2.0 * width)))


@njit
def postflop_triple(
    ehs: float,
    potential: float,
    street: int,
    to_call: float,
    bet: float,
    pot: float,
    may_raise: bool,
    voluntary: bool,
    bluffing: bool,
    watched: bool,
    bet_width: float,
    width: float,
    odds_width: float,
    looser_raise: float,
    looser_play: float,
) -> tuple[float, float, float]:
    """The betting rules after the flop: raise, Make(1), semi-bluff, pot odds, showdown odds.

    `bluffing`: goes on with a semi-bluff; `watched`: somebody may still bet behind, so hands that would raise check.
    """
    if to_call <= 0.0:
        raising = ramp(ehs, MAKE1 - looser_raise, bet_width)
        if watched:
            raising *= 1.0 - ramp(ehs, MAKE2 - looser_raise, width)
        if bluffing:
            raising = 1.0
        elif street < 3 and ehs < MAKE2:
            raising += (1.0 - raising) * ramp(potential, 2.0 * bet / (pot + 6.0 * bet), odds_width)
        if not may_raise:
            raising = 0.0
        return 0.0, 1.0 - raising, raising
    make2 = ramp(ehs, MAKE2 - looser_raise, width)
    make1 = max(make2, ramp(ehs, MAKE1 - looser_play, width))
    stay = make1 if voluntary or to_call <= bet else make2
    raising = make2 if may_raise else 0.0
    odds = ramp(ehs if street == 3 else potential, to_call / (pot + to_call), odds_width)
    if street < 3:
        cost = 4.0 * bet if street == 1 else bet
        odds = max(odds, ramp(ehs, (to_call + cost) / (pot + to_call + 2.0 * cost), odds_width))
    calling = stay - raising + (1.0 - stay) * odds
    return (1.0 - stay) * (1.0 - odds), calling, raising


@njit
def preflop_triple(
    income: float,
    make1: float,
    make2: float,
    make4: float,
    to_call: float,
    bet: float,
    raises: int,
    may_raise: bool,
    voluntary: bool,
    width: float,
) -> tuple[float, float, float]:
    """The betting rules before the flop: income rate against the three thresholds; the big blind is the first bet."""
    p4 = ramp(income, make4, width)
    p2 = max(p4, ramp(income, make2, width))
    p1 = max(p2, ramp(income, make1, width))
    raising = p2 if raises < 1 else p4
    if not may_raise:
        raising = 0.0
    stay = p1 if voluntary or to_call <= bet else p2
    if to_call <= 0.0:
        return 0.0, 1.0 - raising, raising
    return 1.0 - stay, stay - raising, raising


@njit
def preflop_group(n_in: int, n_waiting: int) -> int:
    """Income table (0: two players, 1: up to four, 2: more) for the players expected; 60% of those waiting come."""
    expected = n_in + 0.6 * n_waiting
    return 0 if expected < 2.5 else 1 if expected < 4.5 else 2


@njit
def postflop_triples(
    values: Singles,
    potential: Singles,
    street: int,
    to_call: float,
    bet: float,
    pot: float,
    may_raise: bool,
    voluntary: bool,
    watched: bool,
    width: float,
    odds_width: float,
    looser_raise: float,
    looser_play: float,
    action: int,
    noise: float,
    weights: Floats,
) -> None:
    """Let weight *= the triple's entry for the action seen, p -> p - p noise + noise / 3, for every hand."""
    for hole in range(weights.shape[0]):
        triple = postflop_triple(
            values[hole],
            potential[hole],
            street,
            to_call,
            bet,
            pot,
            may_raise,
            voluntary,
            False,
            watched,
            width,
            width,
            odds_width,
            looser_raise,
            looser_play,
        )
        p = triple[action]
        weights[hole] = max(1e-6, weights[hole] * (p - p * noise + noise / 3.0))


@njit
def preflop_triples(
    income: Floats,
    thresholds: Floats,
    to_call: float,
    bet: float,
    raises: int,
    may_raise: bool,
    voluntary: bool,
    width: float,
    action: int,
    noise: float,
    weights: Floats,
) -> None:
    """The same before the flop; thresholds (3,) of Make(1), Make(2), Make(4)."""
    for hole in range(weights.shape[0]):
        triple = preflop_triple(
            income[hole],
            thresholds[0],
            thresholds[1],
            thresholds[2],
            to_call,
            bet,
            raises,
            may_raise,
            voluntary,
            width,
        )
        p = triple[action]
        weights[hole] = max(1e-6, weights[hole] * (p - p * noise + noise / 3.0))


@njit
def next_uniform(state: NDArray[np.uint64]) -> float:
    """A number in [0, 1) from a 64-bit xorshift generator (Marsaglia, J. Stat. Software 8, 2003); state is not zero."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return float(x >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit
def draw_hand(running: Floats, u: float) -> int:
    """Hand whose share of the running sums (1326,) of a weight table holds u of the total."""
    low, high = 0, running.shape[0] - 1
    target = u * running[high]
    while low < high:
        middle = (low + high) // 2
        if running[middle] > target:
            high = middle
        else:
            low = middle + 1
    return low


@njit
def preflop_equity(
    a: int, b: int, holes: NDArray[np.int8], weights: Floats, n_deals: int, state: NDArray[np.uint64]
) -> float:
    """Chance of winning (ties half) against a weight table by a roll-out of `n_deals` deals."""
    running = np.empty(holes.shape[0])
    total = 0.0
    for hole in range(holes.shape[0]):
        c, d = holes[hole, 0], holes[hole, 1]
        if apart(a, b, c, d):
            total += weights[hole]
        running[hole] = total
    board = np.empty(5, dtype=np.int64)
    won = 0.0
    for _ in range(n_deals):
        hole = draw_hand(running, next_uniform(state))
        c, d = int(holes[hole, 0]), int(holes[hole, 1])
        dead = 1 << a | 1 << b | 1 << c | 1 << d
        for i in range(5):
            card = int(next_uniform(state) * 52)
            while dead >> card & 1:
                card = int(next_uniform(state) * 52)
            dead |= 1 << card
            board[i] = card
        own = rank_cards7(a, b, board[0], board[1], board[2], board[3], board[4])
        other = rank_cards7(c, d, board[0], board[1], board[2], board[3], board[4])
        won += 1.0 if own > other else 0.5 if own == other else 0.0
    return won / n_deals
