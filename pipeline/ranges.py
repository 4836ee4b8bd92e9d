"""Hidden hands: likelihoods over all 1,326 hole hands, and sums over pairs of hands that share no card.

For two weight vectors u, v over hole hands, sum over disjoint pairs of u(h) v(g) is linear in the number of hands by
inclusion and exclusion: for each h, the weight of v disjoint from h is the total, less what holds h's first card, less
what holds its second, plus v(h), which was taken away twice.

A corpus hand has a likelihood vector L_s(h) = prod P(a_j | bucket_j(h), context_j) over the decisions j of
seat s; hands blocked by the board weigh nothing, and a shown hand is the only one left. Then
P(actions, shown cards | board) = sum over disjoint (h, g) of L_0(h) L_1(g) / number of pairs, and the posterior of a
seat's hand is L_s(h) times the other seat's weight disjoint from h, normalised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardbot.game.cards import HOLE_CARDS, HOLE_CLASS, N_CARDS, N_HOLES
from hardbot.game.jit import njit

Floats = NDArray[np.float64]
N_PAIRS = {0: 1326 * 1225, 3: 1176 * 1081, 4: 1128 * 1035, 5: 1081 * 990}  # disjoint pairs off the board, by its size


@njit
def disjoint_sums(weights: Floats, hole_cards: NDArray[np.int8], sums: Floats) -> float:
    """Fill `sums` with the weight disjoint from each hand; returns the total weight."""
    by_card = np.zeros(N_CARDS)
    total = 0.0
    for h in range(N_HOLES):
        w = weights[h]
        total += w
        by_card[hole_cards[h, 0]] += w
        by_card[hole_cards[h, 1]] += w
    for h in range(N_HOLES):
        # rounding may leave a trace below zero where nothing is left
        sums[h] = max(0.0, total - by_card[hole_cards[h, 0]] - by_card[hole_cards[h, 1]] + weights[h])
    return total


def disjoint_weight(weights: Floats) -> Floats:
    """For each hole hand the weight of the hands disjoint from it (1326,)."""
    sums = np.empty(N_HOLES)
    disjoint_sums(weights, HOLE_CARDS, sums)
    return sums


@njit
def _start_weights(board: NDArray[np.int8], hole: int, hole_cards: NDArray[np.int8], weights: Floats) -> None:
    for h in range(N_HOLES):
        free = hole < 0 or h == hole
        for j in range(5):
            free = free and board[j] != hole_cards[h, 0] and board[j] != hole_cards[h, 1]
        weights[h] = 1.0 if free else 0.0


@njit
def _spread(posterior: Floats, buckets: NDArray[np.int16], mass: Floats) -> None:
    mass[:] = 0.0
    for h in range(N_HOLES):
        if buckets[h] >= 0:
            mass[buckets[h]] += posterior[h]


@njit
def expect_hands(
    boards: NDArray[np.int8],
    holes: NDArray[np.int16],
    first: NDArray[np.int64],
    street: NDArray[np.int8],
    slot: NDArray[np.int32],
    seat: NDArray[np.int8],
    action: NDArray[np.int8],
    buckets: NDArray[np.int16],
    hole_class: NDArray[np.int16],
    hole_cards: NDArray[np.int8],
    p0: NDArray[np.float32],
    p1: NDArray[np.float32],
    p2: NDArray[np.float32],
    p3: NDArray[np.float32],
    r0: Floats,
    r1: Floats,
    r2: Floats,
    r3: Floats,
    log_likelihood: Floats,
) -> None:
    """E-step over n hands.

    `buckets` (n, 3, 1326) are those of flop, turn and river; p_s (slots, k, 3) probabilities by street. Adds to r_s
    (slots, 3, k) the expected decisions of hidden seats by bucket, and fills `log_likelihood` (n,) with the log of the
    sum over disjoint pairs (the constant number of pairs left out).
    """
    weights = np.empty((2, N_HOLES))
    other = np.empty((2, N_HOLES))
    mass = np.zeros(max(p0.shape[1], p1.shape[1], p2.shape[1], p3.shape[1]))
    for i in range(len(boards)):
        for s in range(2):
            _start_weights(boards[i], holes[i, s], hole_cards, weights[s])
        for j in range(first[i], first[i + 1]):
            p = p0 if street[j] == 0 else p1 if street[j] == 1 else p2 if street[j] == 2 else p3
            ids = hole_class if street[j] == 0 else buckets[i, street[j] - 1]
            w = weights[seat[j]]
            for h in range(N_HOLES):
                if w[h] > 0.0:
                    w[h] *= p[slot[j], ids[h], action[j]]
        disjoint_sums(weights[1], hole_cards, other[0])
        disjoint_sums(weights[0], hole_cards, other[1])
        z = 0.0
        for h in range(N_HOLES):
            z += weights[0, h] * other[0, h]
        log_likelihood[i] = np.log(z)
        for s in range(2):
            if holes[i, s] >= 0:
                continue
            for h in range(N_HOLES):
                weights[s, h] *= other[s, h] / z
            for number in range(4):
                filled = False
                for j in range(first[i], first[i + 1]):
                    if seat[j] != s or street[j] != number:
                        continue
                    if not filled:
                        _spread(weights[s], hole_class if number == 0 else buckets[i, number - 1], mass)
                        filled = True
                    r = r0 if number == 0 else r1 if number == 1 else r2 if number == 2 else r3
                    cell = r[slot[j], action[j]]
                    for b in range(len(cell)):
                        cell[b] += mass[b]


def classes() -> NDArray[np.int16]:
    """Preflop buckets of all hole hands, in the type the kernels want."""
    return np.ascontiguousarray(HOLE_CLASS, dtype=np.int16)
