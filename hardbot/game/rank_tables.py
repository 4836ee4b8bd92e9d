"""Lookup tables of the hand evaluator, computed with numpy when first imported (some 30 ms).

A hand without a flush is a multiset of ranks, and there are only 49,205 of them with seven cards
(18,395 with six, 6,175 with five; no rank more than four times). They are numbered without gaps by a
two-part perfect hash: the counts of the seven low ranks 2..8 and of the six high ranks 9..A are each
read as a number in base five, `LOW_SLOT[low] + HIGH_SLOT[high]` is the number of the multiset, and a third
table holds its rank. Both numbers are sums over cards, so one 64-bit key per card and additions give
them, together with the number of cards of each suit. A flush is ranked by the 13-bit mask of its suit.

Ranks are the 7,462 classes of five-card hands that differ in value, 1 (7-5-4-3-2) to 7,462 (royal flush).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

N_RANKS = 7462
N_LOW = 7  # ranks 2..8 go into the low part, 9..A into the high part
LOW_BITS = 17  # the low sum is at most 4*5^6 + 3*5^5 = 71,875
HIGH_BITS = 14  # the high sum is at most 4*5^5 + 3*5^4 = 14,375
SUIT_SHIFT = 32
SUIT_BIAS = 0x3333 << SUIT_SHIFT  # each suit counts from 3, so that its fifth card sets the bit of value 8
FLUSH_BITS = 0x8888 << SUIT_SHIFT

CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
Ints = NDArray[np.int64]


def _card_keys() -> Ints:
    keys = np.zeros(52, dtype=np.int64)
    for card in range(52):
        rank, suit = divmod(card, 4)
        part = 5**rank if rank < N_LOW else 5 ** (rank - N_LOW) << LOW_BITS
        keys[card] = part + (1 << (SUIT_SHIFT + 4 * suit))
    return keys


def _top_bits() -> Ints:
    """(6, 8192): mask reduced to its k highest bits, for k = 0..5."""
    masks = np.arange(8192)
    tops, rest = np.zeros((6, 8192), dtype=np.int64), masks.copy()
    for k in range(1, 6):
        high = np.where(rest > 0, 1 << np.floor(np.log2(np.maximum(rest, 1))).astype(np.int64), 0)
        tops[k] = tops[k - 1] | high
        rest = rest & ~high
    return tops


def _straight_tops() -> Ints:
    """(8192,): bit of the highest card of the best straight within a mask of ranks, 0 if none."""
    masks = np.arange(8192)
    tops = np.where(masks & 0x100F == 0x100F, 1 << 3, 0)  # five high: A 2 3 4 5
    for top in range(4, 13):
        run = 0b11111 << (top - 4)
        tops = np.where(masks & run == run, 1 << top, tops)
    return tops


TOP = _top_bits()
STRAIGHT_TOP = _straight_tops()


def _part_counts(n_ranks: int) -> list[NDArray[np.int8]]:
    """Every way to hold 0..7 cards of these ranks: for each number of cards an array (m, n_ranks)."""
    digits = np.arange(5**n_ranks)[:, None] // 5 ** np.arange(n_ranks) % 5
    n_cards = digits.sum(axis=1)
    return [digits[n_cards == n].astype(np.int8) for n in range(8)]


_LOW = _part_counts(N_LOW)
_HIGH = _part_counts(13 - N_LOW)


def _score(category: int, main: Ints, kickers: Ints) -> Ints:
    return (category << 26) + (main << 13) + kickers


def _scores_without_flush(counts: NDArray[np.int8]) -> Ints:
    """Score rank multisets (n, 13) comparably: category, then the ranks that matter as bit masks."""
    bits = 1 << np.arange(13)
    held, twice, thrice, four = ((counts >= k) @ bits for k in (1, 2, 3, 4))
    quad, trip, pair = TOP[1][four], TOP[1][thrice], TOP[1][twice]
    two, under_trip = TOP[2][twice], TOP[1][twice & ~trip]
    straight = STRAIGHT_TOP[held]
    none = np.zeros_like(held)
    score = _score(0, none, TOP[5][held])
    layers = (
        (twice > 0, _score(1, pair, TOP[3][held & ~pair])),
        (two != pair, _score(2, two, TOP[1][held & ~two])),
        (thrice > 0, _score(3, trip, TOP[2][held & ~trip])),
        (straight > 0, _score(4, straight, none)),
        ((thrice > 0) & (under_trip > 0), _score(6, trip, under_trip)),
        (four > 0, _score(7, quad, TOP[1][held & ~quad])),
    )
    for holds, value in layers:  # from weak to strong: the last that holds counts
        score = np.where(holds, value, score)
    return score


def _scores_of_flushes() -> Ints:
    """(8192,): scores of a suit's mask of ranks, 0 below five cards."""
    masks = np.arange(8192)
    flush = _score(5, np.zeros_like(masks), TOP[5])
    straight_flush = _score(8, STRAIGHT_TOP, np.zeros_like(masks))
    score = np.where(STRAIGHT_TOP > 0, straight_flush, flush)
    return np.where(TOP[5] == TOP[4], 0, score)


def _multisets(n_cards: int) -> tuple[NDArray[np.int8], NDArray[np.uint16]]:
    """All rank multisets of n cards in the order of their numbers, and LOW_SLOT for hands of n cards."""
    blocks, start = [], 0
    slots = np.zeros(4 * 5**6 + 3 * 5**5 + 1, dtype=np.uint16)
    for n_low in range(n_cards + 1):
        low, high = _LOW[n_low], _HIGH[n_cards - n_low]
        slots[low @ 5 ** np.arange(N_LOW)] = start + np.arange(len(low)) * len(high)
        blocks.append(np.hstack([np.repeat(low, len(high), axis=0), np.tile(high, (len(low), 1))]))
        start += len(low) * len(high)
    return np.concatenate(blocks), slots


def _high_slots() -> NDArray[np.uint16]:
    slots = np.zeros(4 * 5**5 + 3 * 5**4 + 1, dtype=np.uint16)
    for high in _HIGH:
        slots[high @ 5 ** np.arange(13 - N_LOW)] = np.arange(len(high))
    return slots


_FLUSH_SCORES = _scores_of_flushes()
_FIVE, LOW_SLOT_5 = _multisets(5)
_SIX, LOW_SLOT_6 = _multisets(6)
_SEVEN, LOW_SLOT_7 = _multisets(7)
_SCORES_5 = _scores_without_flush(_FIVE)
_SCORES = np.unique(np.concatenate([_SCORES_5, _FLUSH_SCORES[_FLUSH_SCORES > 0]]))  # the 7,462 values, weak to strong


def _ranks(scores: Ints) -> NDArray[np.int16]:
    return (np.searchsorted(_SCORES, scores) + 1).astype(np.int16)


CARD_KEY = _card_keys()
HIGH_SLOT = _high_slots()
RANK_5 = _ranks(_SCORES_5)
RANK_6 = _ranks(_scores_without_flush(_SIX))
RANK_7 = _ranks(_scores_without_flush(_SEVEN))
FLUSH_RANK = np.where(_FLUSH_SCORES > 0, _ranks(_FLUSH_SCORES), 0).astype(np.int16)
CATEGORY_OF_RANK = np.concatenate([[-1], _SCORES >> 26]).astype(np.int8)  # (7463,), entry 0 is no hand
