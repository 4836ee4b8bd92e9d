"""The cards of a block of hands, from a seed alone.

Deals depend on the seed, the block and the number of seats, never on the bots, their randomness or
the number of worker processes. Each deal is a partial Fisher-Yates shuffle (Durstenfeld, CACM 7, 1964)
driven by numpy's PCG64; a random word is scaled by multiply and shift (Lemire, ACM TOMACS 29, 2019),
whose bias of at most 52 in 2^32 no match could see.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import ArenaError
from hardbot.game.cards import N_CARDS
from hardbot.game.evaluator import rank_batch
from hardbot.game.hand import Deal, Hole
from hardbot.game.jit import njit

N_BOARD = 5
DECK_STREAM = 0  # bots' generators use the numbers from 1 on


@dataclass(frozen=True)
class DealBlock:
    """Cards of n deals as arrays, and as the Python objects that views hold."""

    holes: NDArray[np.int8]  # (n, seats, 2), higher card first
    boards: NDArray[np.int8]  # (n, 5)

    def __len__(self) -> int:
        return len(self.boards)

    @cached_property
    def ranks(self) -> NDArray[np.int16]:
        """Rank (n, seats) of each seat's seven cards."""
        n, n_seats, _ = self.holes.shape
        boards = np.broadcast_to(self.boards[:, None, :], (n, n_seats, N_BOARD))
        return rank_batch(np.concatenate([self.holes, boards], axis=2).reshape(-1, 7)).reshape(n, n_seats)

    @cached_property
    def signs(self) -> NDArray[np.int8]:
        """Heads-up: 1 where seat 0 has the better hand, -1 where seat 1 has, 0 for a tie (n,)."""
        signs: NDArray[np.int8] = np.sign(self.ranks[:, 0] - self.ranks[:, 1]).astype(np.int8)
        return signs

    @cached_property
    def seat_holes(self) -> list[list[Hole]]:
        """Hole hands of every seat as tuples, by seat and deal."""
        return [list(map(tuple, self.holes[:, seat].tolist())) for seat in range(self.holes.shape[1])]

    @cached_property
    def board_tuples(self) -> list[tuple[int, ...]]:
        """Boards as tuples."""
        return list(map(tuple, self.boards.tolist()))

    def deal(self, index: int) -> Deal:
        """One deal as an object."""
        return Deal(tuple(holes[index] for holes in self.seat_holes), self.board_tuples[index])


def deal_block(n_seats: int, n_deals: int, seed: int, block: int) -> DealBlock:
    """`n_deals` deals; the first deals of a shorter block are the same."""
    if seed < 0:
        raise ArenaError(f"expected a seed of 0 or more, got {seed}")
    n_cards = 2 * n_seats + N_BOARD
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, block, DECK_STREAM])))
    words = rng.integers(0, 1 << 32, size=(n_deals, n_cards), dtype=np.uint64)
    cards = np.empty((n_deals, n_cards), dtype=np.int8)
    _shuffle(words, cards, n_seats)
    return DealBlock(cards[:, : 2 * n_seats].reshape(n_deals, n_seats, 2), cards[:, 2 * n_seats :])


@njit
def _shuffle(words: NDArray[np.uint64], cards: NDArray[np.int8], n_seats: int) -> None:
    """Deal the top cards of a shuffled deck; the deck is not reset, any order is as good to start from."""
    deck = np.arange(N_CARDS).astype(np.int8)
    for i in range(words.shape[0]):
        for k in range(words.shape[1]):
            other = k + np.int64((words[i, k] * np.uint64(N_CARDS - k)) >> np.uint64(32))
            card = deck[other]
            deck[other] = deck[k]
            deck[k] = card
            cards[i, k] = card
        for seat in range(n_seats):
            first, second = cards[i, 2 * seat], cards[i, 2 * seat + 1]
            cards[i, 2 * seat], cards[i, 2 * seat + 1] = max(first, second), min(first, second)
