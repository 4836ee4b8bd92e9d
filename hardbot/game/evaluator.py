"""Ranks of five, six and seven cards: 1 (7-5-4-3-2) to 7,462 (royal flush), larger is better.

One key per card, added up, holds the rank multiset and the suit counts; two additions of table entries and
one look-up give the rank (see rank_tables). Scalar kernels are meant to be inlined by other kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import CardError
from hardbot.game.cards import HOLE_CARDS, N_CARDS, N_HOLES, check_distinct
from hardbot.game.jit import njit
from hardbot.game.rank_tables import (
    CARD_KEY,
    CATEGORIES,
    CATEGORY_OF_RANK,
    FLUSH_BITS,
    FLUSH_RANK,
    HIGH_BITS,
    HIGH_SLOT,
    LOW_BITS,
    LOW_SLOT_5,
    LOW_SLOT_6,
    LOW_SLOT_7,
    N_RANKS,
    RANK_5,
    RANK_6,
    RANK_7,
    SUIT_BIAS,
)

__all__ = [
    "CATEGORIES",
    "N_RANKS",
    "board_ranks",
    "evaluate",
    "rank7",
    "rank_batch",
    "rank_cards5",
    "rank_cards6",
    "rank_cards7",
    "rank_category",
]

Cards = NDArray[np.int8] | NDArray[np.uint8]
_LOW_MASK = (1 << LOW_BITS) - 1
_HIGH_MASK = (1 << HIGH_BITS) - 1


@njit
def flush_suit(key: int) -> int:
    """Suit of which a key (bias included) counts five cards or more, -1 if none."""
    flags = key & FLUSH_BITS
    for suit in range(4):
        if flags >> (35 + 4 * suit) & 1:
            return suit
    return -1


@njit
def rank_key5(key: int) -> int:
    """Rank of five cards by the sum of their keys, flushes aside."""
    return int(RANK_5[LOW_SLOT_5[key & _LOW_MASK] + HIGH_SLOT[key >> LOW_BITS & _HIGH_MASK]])


@njit
def rank_key6(key: int) -> int:
    """Rank of six cards by the sum of their keys, flushes aside."""
    return int(RANK_6[LOW_SLOT_6[key & _LOW_MASK] + HIGH_SLOT[key >> LOW_BITS & _HIGH_MASK]])


@njit
def rank_key7(key: int) -> int:
    """Rank of seven cards by the sum of their keys, flushes aside."""
    return int(RANK_7[LOW_SLOT_7[key & _LOW_MASK] + HIGH_SLOT[key >> LOW_BITS & _HIGH_MASK]])


@njit
def suit_bit(card: int, suit: int) -> int:
    """Bit of the card's rank if it is of this suit, else 0."""
    return 1 << (card >> 2) if card & 3 == suit else 0


@njit
def rank_cards5(c0: int, c1: int, c2: int, c3: int, c4: int) -> int:
    """Rank of five cards."""
    key = CARD_KEY[c0] + CARD_KEY[c1] + CARD_KEY[c2] + CARD_KEY[c3] + CARD_KEY[c4] + SUIT_BIAS
    if key & FLUSH_BITS:
        return int(FLUSH_RANK[1 << (c0 >> 2) | 1 << (c1 >> 2) | 1 << (c2 >> 2) | 1 << (c3 >> 2) | 1 << (c4 >> 2)])
    return rank_key5(key)


@njit
def rank_cards6(c0: int, c1: int, c2: int, c3: int, c4: int, c5: int) -> int:
    """Rank of the best five of six cards."""
    key = CARD_KEY[c0] + CARD_KEY[c1] + CARD_KEY[c2] + CARD_KEY[c3] + CARD_KEY[c4] + CARD_KEY[c5] + SUIT_BIAS
    if key & FLUSH_BITS:
        s = flush_suit(key)
        mask = suit_bit(c0, s) | suit_bit(c1, s) | suit_bit(c2, s) | suit_bit(c3, s) | suit_bit(c4, s) | suit_bit(c5, s)
        return int(FLUSH_RANK[mask])
    return rank_key6(key)


@njit
def rank_cards7(c0: int, c1: int, c2: int, c3: int, c4: int, c5: int, c6: int) -> int:
    """Rank of the best five of seven cards."""
    key = CARD_KEY[c0] + CARD_KEY[c1] + CARD_KEY[c2] + CARD_KEY[c3] + CARD_KEY[c4] + CARD_KEY[c5] + CARD_KEY[c6]
    key += SUIT_BIAS
    if key & FLUSH_BITS:
        s = flush_suit(key)
        mask = suit_bit(c0, s) | suit_bit(c1, s) | suit_bit(c2, s) | suit_bit(c3, s)
        return int(FLUSH_RANK[mask | suit_bit(c4, s) | suit_bit(c5, s) | suit_bit(c6, s)])
    return rank_key7(key)


@njit
def rank7(cards: Cards) -> int:
    """Rank of an array of seven cards."""
    return rank_cards7(cards[0], cards[1], cards[2], cards[3], cards[4], cards[5], cards[6])


@njit
def _rank_rows(cards: Cards, ranks: NDArray[np.int16]) -> None:
    n_rows, n_cards = cards.shape
    if n_cards == 7:
        for i in range(n_rows):
            c = cards[i]
            ranks[i] = rank_cards7(c[0], c[1], c[2], c[3], c[4], c[5], c[6])
    elif n_cards == 6:
        for i in range(n_rows):
            c = cards[i]
            ranks[i] = rank_cards6(c[0], c[1], c[2], c[3], c[4], c[5])
    else:
        for i in range(n_rows):
            c = cards[i]
            ranks[i] = rank_cards5(c[0], c[1], c[2], c[3], c[4])


@njit
def _board_ranks(board: Cards, holes: NDArray[np.int8], ranks: NDArray[np.int16]) -> None:
    dead = 0
    for card in board:
        dead |= 1 << card
    for h in range(holes.shape[0]):
        a, b = holes[h, 0], holes[h, 1]
        if (dead >> a | dead >> b) & 1:
            ranks[h] = 0
        else:
            ranks[h] = rank_cards7(a, b, board[0], board[1], board[2], board[3], board[4])


def evaluate(cards: Sequence[int]) -> int:
    """Rank of the best five of five, six or seven cards; CardError for anything else."""
    if len(cards) not in (5, 6, 7):
        raise CardError(f"expected 5, 6 or 7 cards to rank, got {len(cards)}")
    if not all(0 <= card < N_CARDS for card in cards):
        raise CardError(f"expected cards 0..51 to rank, got {list(cards)}")
    check_distinct(cards)
    return int(rank_batch(np.array([cards], dtype=np.int8))[0])


def rank_batch(cards: Cards) -> NDArray[np.int16]:
    """Ranks (n,) of hands (n, 5|6|7); the cards of a row are taken to be different."""
    if cards.ndim != 2 or cards.shape[1] not in (5, 6, 7):
        raise CardError(f"expected an array of shape (n, 5|6|7) to rank, got {cards.shape}")
    if cards.dtype not in (np.int8, np.uint8):
        raise CardError(f"expected cards as int8 or uint8, got {cards.dtype}")
    rows = np.ascontiguousarray(cards).view(np.uint8)
    if rows.size and rows.max() >= N_CARDS:
        raise CardError(f"expected cards 0..51 to rank, got {int(rows.max())}")
    ranks = np.empty(len(rows), dtype=np.int16)
    _rank_rows(rows, ranks)
    return ranks


def board_ranks(board: Sequence[int]) -> NDArray[np.int16]:
    """Ranks (1326,) of all hole hands on a board of five; 0 for hands that share a card with it."""
    if len(board) != 5:
        raise CardError(f"expected a board of 5 cards to rank, got {len(board)}")
    if not all(0 <= card < N_CARDS for card in board):
        raise CardError(f"expected cards 0..51 to rank, got {list(board)}")
    check_distinct(board)
    ranks = np.empty(N_HOLES, dtype=np.int16)
    _board_ranks(np.array(board, dtype=np.uint8), HOLE_CARDS, ranks)
    return ranks


def rank_category(rank: int) -> str:
    """Name of a rank's category: `pair`, `full house`, ..."""
    if not 1 <= rank <= N_RANKS:
        raise CardError(f"expected a rank 1..{N_RANKS}, got {rank}")
    return CATEGORIES[CATEGORY_OF_RANK[rank]]
