"""Cards and hole hands as small integers, and their text.

A card is `4 * rank + suit`: ranks 0..12 are 2..A, suits 0..3 are c, d, h, s. The 1,326 hole
hands are numbered so that the hand (a, b) with a > b has index `a * (a - 1) / 2 + b`; every
vector over hole hands in this project (ranges, features, ranks) uses that order. The 169
classes of starting hands are cells of a 13x13 square: pairs on the diagonal, suited hands
above it (row = high rank), offsuit hands below (row = low rank); row and column 0 is the ace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import CardError

RANKS = "23456789TJQKA"
SUITS = "cdhs"
N_CARDS = 52
N_HOLES = 1326
N_CLASSES = 169

CARD_TEXT: tuple[str, ...] = tuple(r + s for r in RANKS for s in SUITS)
_CARD_OF: dict[str, int] = {text: card for card, text in enumerate(CARD_TEXT)}


def hole_index(a: int, b: int) -> int:
    """Index 0..1325 of a hole hand, whichever order its two cards come in."""
    return a * (a - 1) // 2 + b if a > b else b * (b - 1) // 2 + a


def _hole_cards() -> NDArray[np.int8]:
    cards = np.zeros((N_HOLES, 2), dtype=np.int8)
    for a in range(1, N_CARDS):
        for b in range(a):
            cards[hole_index(a, b)] = (a, b)
    cards.setflags(write=False)
    return cards


HOLE_CARDS: NDArray[np.int8] = _hole_cards()  # (1326, 2), higher card first


def hole_class(a: int, b: int) -> int:
    """Cell 0..168 of the 13x13 square of starting hands: AA is 0, AKs 1, AKo 13, 22 168."""
    high, low = 12 - max(a, b) // 4, 12 - min(a, b) // 4  # 0 is the ace
    suited = a % 4 == b % 4
    return 13 * high + low if suited or high == low else 13 * low + high


HOLE_CLASS: NDArray[np.int16] = np.array([hole_class(int(a), int(b)) for a, b in HOLE_CARDS], dtype=np.int16)
HOLE_CLASS.setflags(write=False)


def format_class(cell: int) -> str:
    """Text of a starting-hand class: `AA`, `AKs`, `T9o`."""
    row, column = divmod(cell, 13)
    high, low = RANKS[12 - min(row, column)], RANKS[12 - max(row, column)]
    return high + low + ("" if row == column else "s" if column > row else "o")


CLASS_TEXT: tuple[str, ...] = tuple(format_class(cell) for cell in range(N_CLASSES))


def parse_card(text: str) -> int:
    """Card number of text such as `Ah`."""
    card = _CARD_OF.get(text)
    if card is None:
        raise CardError(f"expected a card such as 'Ah' (rank of {RANKS}, suit of {SUITS}), got {text!r}")
    return card


def parse_cards(text: str) -> tuple[int, ...]:
    """Card numbers of text such as `AhKd` or `Ah Kd`; duplicates are refused."""
    packed = "".join(text.split())
    if len(packed) % 2:
        raise CardError(f"expected cards of two characters each, got {text!r}")
    cards = tuple(parse_card(packed[i : i + 2]) for i in range(0, len(packed), 2))
    check_distinct(cards)
    return cards


def parse_hole(text: str) -> tuple[int, int]:
    """The two cards of a hole hand such as `AhKd`."""
    cards = parse_cards(text)
    if len(cards) != 2:
        raise CardError(f"expected two hole cards, got {len(cards)} in {text!r}")
    return cards[0], cards[1]


def parse_board(text: str, sizes: Sequence[int] = (0, 3, 4, 5)) -> tuple[int, ...]:
    """Board cards; slashes between streets are allowed."""
    cards = parse_cards(text.replace("/", ""))
    if len(cards) not in sizes:
        wanted = " or ".join(str(size) for size in sizes)
        raise CardError(f"expected a board of {wanted} cards, got {len(cards)} in {text!r}")
    return cards


def format_cards(cards: Iterable[int]) -> str:
    """Text of cards, in the order given: `AhKd`."""
    return "".join([CARD_TEXT[card] for card in cards])


def format_hole(index: int) -> str:
    """Text of the hole hand with this index."""
    return format_cards(int(card) for card in HOLE_CARDS[index])


def check_distinct(cards: Sequence[int]) -> None:
    """Raise CardError if a card stands twice or is no card number."""
    for card in cards:
        if not 0 <= card < N_CARDS:
            raise CardError(f"expected card numbers from 0 to {N_CARDS - 1}, got {card}")
    if len(set(cards)) != len(cards):
        twice = next(card for i, card in enumerate(cards) if card in cards[:i])
        raise CardError(f"expected different cards, got {CARD_TEXT[twice]} twice in {format_cards(cards)!r}")


def compatible_holes(dead: Iterable[int]) -> NDArray[np.bool_]:
    """Which of the 1,326 hole hands (mask) share no card with `dead`."""
    blocked = np.zeros(N_CARDS, dtype=bool)
    blocked[list(dead)] = True
    mask: NDArray[np.bool_] = ~(blocked[HOLE_CARDS[:, 0]] | blocked[HOLE_CARDS[:, 1]])
    return mask
