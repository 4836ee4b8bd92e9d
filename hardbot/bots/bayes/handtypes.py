"""Forty-four hand types for two to seven cards, the same set for a hand and for the board alone.

After PokaBayes (D. Katzenelson, L. Erickson, S. Gu, R. Eginton, 2013, part 10): the nine kinds of poker hands, divided
by their high cards, busted hands and pairs further by whether a straight or a flush is in the making. At the end
partial straights and flushes mean nothing, so types fall together into 22 classes that can be compared. The document
gives the number 44 and the idea; the division is ours:

    busted by high card (to 9, T-J, Q, K, A)              5 x 3 partials   types  0-14   classes  0-4
    pair by rank (2-5, 6-8, 9-T, J-Q, K, A)               6 x 3            types 15-32   classes  5-10
    two pair by the higher (to T, J-Q, K-A)               3                types 33-35   classes 11-13
    three of a kind (to T, J-A)                           2                types 36-37   classes 14-15
    straight (to T high, J high and more)                 2                types 38-39   classes 16-17
    flush, full house, four of a kind, straight flush     4                types 40-43   classes 18-21

Partials are none, straight, flush (a flush in the making counts before a straight). They take 2 cards of 2 (suited;
ranks at most two apart), 3 of 3 and of 4, 4 of 5 and of 6; of 7 none are looked for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import CardError
from hardbot.game.cards import check_distinct
from hardbot.game.evaluator import rank_cards5, rank_cards6, rank_cards7
from hardbot.game.jit import njit
from hardbot.game.rank_tables import CATEGORY_OF_RANK, STRAIGHT_TOP

N_TYPES = 44
N_FINALS = 22
PARTIALS = ("", "partial straight", "partial flush")
_HIGH_GROUP = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4])
_PAIR_GROUP = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5])
_TWO_PAIR_GROUP = np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2])
_NEEDED = np.array([0, 0, 2, 3, 3, 4, 4, 99])  # cards of a partial straight or flush, by the number of cards
_TEN = 8
_WHEEL = 0x100F
_FIRST_PAIR, _FIRST_TWO_PAIR, _FIRST_TRIPS, _FIRST_STRAIGHT, _FLUSH = 15, 33, 36, 38, 40


def _type_finals() -> NDArray[np.int64]:
    finals = [t // 3 for t in range(_FIRST_TWO_PAIR)]
    finals += range(11, N_FINALS)
    return np.array(finals, dtype=np.int64)


TYPE_FINAL = _type_finals()  # (44,) class of a type when all cards are out


def _type_names() -> tuple[str, ...]:
    high = ("nine high or less", "ten or jack high", "queen high", "king high", "ace high")
    pairs = ("fives or less", "sixes to eights", "nines or tens", "jacks or queens", "kings", "aces")
    names = [f"{group}, {p}" if p else group for group in high for p in PARTIALS]
    names += [f"pair of {group}, {p}" if p else f"pair of {group}" for group in pairs for p in PARTIALS]
    names += [f"two pair, {top}" for top in ("tens or less", "jacks or queens", "kings or aces")]
    names += ["three of a kind, tens or less", "three of a kind, jacks or more"]
    names += ["straight to the ten or less", "straight to the jack or more"]
    return (*names, "flush", "full house", "four of a kind", "straight flush")


TYPE_NAMES = _type_names()


@njit
def _partial(mask: int, suits: NDArray[np.int64], n: int) -> int:
    """0 none, 1 straight, 2 flush in the making."""
    needed = _NEEDED[n]
    for suit in range(4):
        if suits[suit] >= needed:
            return 2
    span = 3 if n == 2 else 5
    for low in range(-1, 13):
        window = ((1 << span) - 1) << low if low >= 0 else (_WHEEL if span == 5 else 0x1003)
        held = 0
        for rank in range(13):
            held += mask >> rank & window >> rank & 1
        if held >= needed:
            return 1
    return 0


@njit
def _category(c: NDArray[np.int64], n: int, counts: NDArray[np.int64]) -> int:
    """Kind of hand as in CATEGORIES; fewer than five cards hold neither straights nor flushes."""
    if n == 7:
        return int(CATEGORY_OF_RANK[rank_cards7(c[0], c[1], c[2], c[3], c[4], c[5], c[6])])
    if n == 6:
        return int(CATEGORY_OF_RANK[rank_cards6(c[0], c[1], c[2], c[3], c[4], c[5])])
    if n == 5:
        return int(CATEGORY_OF_RANK[rank_cards5(c[0], c[1], c[2], c[3], c[4])])
    pairs = 0
    for rank in range(13):
        if counts[rank] == 4:
            return 7
        if counts[rank] == 3:
            return 3
        pairs += counts[rank] == 2
    return pairs


@njit
def type_of_cards(c: NDArray[np.int64], n: int) -> int:
    """Type 0..43 of the first n cards of an array, n from 2 to 7."""
    counts = np.zeros(13, dtype=np.int64)
    suits = np.zeros(4, dtype=np.int64)
    mask = 0
    for i in range(n):
        counts[c[i] >> 2] += 1
        suits[c[i] & 3] += 1
        mask |= 1 << (c[i] >> 2)
    category = _category(c, n, counts)
    if category == 4:
        return _FIRST_STRAIGHT + int(STRAIGHT_TOP[mask] > 1 << _TEN)
    if category >= 5:
        return _FLUSH + category - 5
    top, top_pair, top_trips = 0, 0, 0
    for rank in range(13):
        if counts[rank] >= 1:
            top = rank
        if counts[rank] == 2:
            top_pair = rank
        if counts[rank] == 3:
            top_trips = rank
    if category == 3:
        return _FIRST_TRIPS + (top_trips > _TEN)
    if category == 2:
        return int(_FIRST_TWO_PAIR + _TWO_PAIR_GROUP[top_pair])
    if category == 1:
        return int(_FIRST_PAIR + 3 * _PAIR_GROUP[top_pair]) + _partial(mask, suits, n)
    return int(3 * _HIGH_GROUP[top]) + _partial(mask, suits, n)


def hand_type(cards: Sequence[int]) -> int:
    """Type 0..43 of two to seven cards; CardError for anything else."""
    if not 2 <= len(cards) <= 7:
        raise CardError(f"expected 2 to 7 cards of a hand type, got {len(cards)}")
    check_distinct(cards)
    return int(type_of_cards(np.array(cards, dtype=np.int64), len(cards)))
