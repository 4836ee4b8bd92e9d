"""Taking the luck of the board cards out of a match, without bias.

The arena deals, so it knows both hands and can tell what each card was worth. Let e_s be seat 0's share of the pot if
the hand were played to the end without betting, with the board cards of street s in sight: e_1 on the flop, e_2 on the
turn, e_3 on the river. When street s is dealt, both players have paid p each, and the cards are worth

    luck_s = stake_s(p) * 2 (e_s - e_{s-1})          stake_s(p) = RATE[s] * p + BASE[s]

to seat 0. Given everything before the deal (both hands, the board so far, all actions, all memories, hence p), the next
cards are a uniform draw from the rest of the deck and e_{s-1} is the mean of e_s over it, so luck_s has mean exactly 0
whatever the stakes and whoever plays. Winnings less the sum of luck_s over the streets that were dealt therefore have
the same mean as winnings: this is the advantage-sum estimator (Zinkevich, Bowling, Bard, Kan, Billings, AAAI 2006;
White and Bowling, "Learning a value analysis tool", IJCAI 2009) with equity times stake as its value function.

e_1, e_2 and e_3 are exact (990, 44 and 1 run-outs). e_0 would need 1,712,304 boards: the mean over N_BOARDS boards
drawn from a generator of its own is used instead, which has mean e_0 given the hands and is independent of the flop
and of all play: the mean of luck_1 stays exactly 0. The luck of the hole cards is left alone: duplicate deals take it
out.

RATE and BASE were fitted by least squares on matches of other seeds than any reported and are constants: a
fit to the same match would bias its result.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardbot.arena.deals import DealBlock
from hardbot.game.evaluator import rank_cards7
from hardbot.game.jit import njit
from hardbot.game.rules import N_STREETS, Rules
from hardbot.game.tree import betting_tree

N_BOARDS = 400
RATE = (0.0, 1.75, 1.65, 1.2)  # by street, of what each has paid
BASE_SB = (0.0, 0.65, 0.5, 0.45)
_CHANCE_STREAM = 1_000_003  # far from the streams of the deck (0) and of the bots (1, 2, ...)

Floats = NDArray[np.float64]


def chance_generator(seed: int, block: int) -> np.random.Generator:
    """Generator of the boards that stand for e_0."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, block, _CHANCE_STREAM])))


def deal_equities(deals: DealBlock, rng: np.random.Generator) -> Floats:
    """e_0 (estimated), e_1, e_2 and e_3 of seat 0 for every deal (n, 4)."""
    equities = np.empty((len(deals), N_STREETS))
    words = rng.integers(0, 1 << 32, size=(len(deals), 2), dtype=np.uint64)
    _equities(deals.holes.astype(np.int64), deals.boards.astype(np.int64), words, equities)
    return equities


@njit
def _points(holes: NDArray[np.int64], board: NDArray[np.int64]) -> int:
    """2 if seat 0 wins, 1 for a tie, 0 if seat 1 wins."""
    c0, c1, c2, c3, c4 = board[0], board[1], board[2], board[3], board[4]
    mine = rank_cards7(holes[0, 0], holes[0, 1], c0, c1, c2, c3, c4)
    theirs = rank_cards7(holes[1, 0], holes[1, 1], c0, c1, c2, c3, c4)
    return 2 if mine > theirs else (1 if mine == theirs else 0)


@njit
def _equities(
    holes: NDArray[np.int64], boards: NDArray[np.int64], words: NDArray[np.uint64], equities: NDArray[np.float64]
) -> None:
    rest = np.empty(52, dtype=np.int64)
    board = np.empty(5, dtype=np.int64)
    for i in range(holes.shape[0]):
        dead = 0
        for seat in range(2):
            dead |= 1 << holes[i, seat, 0] | 1 << holes[i, seat, 1]
        n_rest = 0
        for card in range(52):
            if not dead >> card & 1:
                rest[n_rest] = card
                n_rest += 1
        state = words[i, 0] << np.uint64(32) | words[i, 1]
        points = 0
        for _ in range(N_BOARDS):
            for k in range(5):
                state += np.uint64(0x9E3779B97F4A7C15)  # SplitMix64 (Steele, Lea, Flood, 2014)
                word = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                word ^= word >> np.uint64(31)
                other = k + np.int64(((word >> np.uint64(32)) * np.uint64(n_rest - k)) >> np.uint64(32))
                rest[k], rest[other] = rest[other], rest[k]
                board[k] = rest[k]
            points += _points(holes[i], board)
        equities[i, 0] = points / (2.0 * N_BOARDS)
        board[:] = boards[i]
        for k in range(5):
            dead |= 1 << board[k]
        dead_flop = dead & ~(1 << board[3] | 1 << board[4])
        dead_turn = dead & ~(1 << board[4])
        equities[i, 3] = _points(holes[i], board) / 2.0
        points, n = 0, 0
        for river in range(52):
            if not dead_turn >> river & 1:
                board[4] = river
                points += _points(holes[i], board)
                n += 1
        equities[i, 2] = points / (2.0 * n)
        points, n = 0, 0
        for turn in range(52):
            if dead_flop >> turn & 1:
                continue
            board[3] = turn
            for river in range(turn):
                if not dead_flop >> river & 1:
                    board[4] = river
                    points += _points(holes[i], board)
                    n += 1
        equities[i, 1] = points / (2.0 * n)


@lru_cache(maxsize=8)
def paid_when_dealt(rules: Rules) -> Floats:
    """Payment of each seat in sb when a street was dealt (nodes, 4), by last position of the hand; -1: never dealt."""
    tree = betting_tree(rules)
    paid = np.full((len(tree.nodes), N_STREETS), -1.0)
    for index, node in enumerate(tree.nodes):
        position = node
        while position.parent is not None:
            if position.parent.street < position.street:  # the first position of a street: both have paid the same
                paid[index, position.street] = rules.to_sb(position.contributions[0])
            position = position.parent
    return paid


def street_luck(rules: Rules, ends: NDArray[np.int32], equities: Floats) -> Floats:
    """Worth of each street's cards to seat 0 in sb (n, 4), 0 for streets that were not dealt."""
    paid = paid_when_dealt(rules)[ends]
    stakes = np.where(paid >= 0.0, np.array(RATE) * paid + np.array(BASE_SB), 0.0)
    gains = np.zeros_like(equities)
    gains[:, 1:] = 2.0 * np.diff(equities, axis=1)
    luck: Floats = stakes * gains
    return luck
