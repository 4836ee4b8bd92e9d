"""Looking ahead on turn and river against a plain walk of the betting tree, hand by hand."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.errors import StrategyError
from hardbot.game.betting import parse_betting
from hardbot.game.cards import HOLE_CARDS, N_CARDS, N_HOLES, compatible_holes, parse_cards
from hardbot.game.evaluator import evaluate
from hardbot.game.rules import HEADS_UP
from hardbot.game.tree import betting_tree
from hardbot.solver.abstraction import bucket_on_spot
from hardbot.solver.lookahead import Lookahead, follow_range
from hardbot.solver.portrait import layout_of
from hardbot.solver.responder import choices_of

HOLE = tuple(sorted(parse_cards("AdQc"), reverse=True))
BOARD = tuple(parse_cards("Jh4c3hTs2d"))


@pytest.fixture(scope="module")
def habits(small):
    """Somebody who does anything with any hand, and never raises with some."""
    layout = layout_of(small.sizes)
    rng = np.random.default_rng(5)
    rows = rng.random((int(layout.offsets[-1]), 3)) ** 2
    rows[rng.random(len(rows)) < 0.2, 2] = 1e-9
    rows *= np.repeat(layout.legal, np.diff(layout.offsets), axis=0)
    rows /= rows.sum(axis=1, keepdims=True)
    return np.maximum(rows, 1e-3).astype(np.float32)  # no likelihood is taken to be smaller


class Walk:
    """The oracle: our maximum, his habits, every hand of his on its own."""

    def __init__(self, small, habits):
        self.small, self.habits, self.offsets = small, habits, layout_of(small.sizes).offsets
        self._buckets, self._signs = {}, {}

    def buckets(self, board):
        if board not in self._buckets:
            free = compatible_holes(board)
            self._buckets[board] = np.array(
                [
                    bucket_on_spot(self.small, tuple(HOLE_CARDS[h].tolist()), board) if free[h] else 0
                    for h in range(N_HOLES)
                ]
            )
        return self._buckets[board]

    def signs(self, board):
        if board not in self._signs:
            free, own = compatible_holes((*board, *HOLE)), evaluate((*HOLE, *board))
            self._signs[board] = np.array(
                [np.sign(own - evaluate((*HOLE_CARDS[h].tolist(), *board))) if free[h] else 0 for h in range(N_HOLES)]
            )
        return self._signs[board]

    def worth(self, node, me, board, reach):
        if node.is_over:
            stakes = np.array(node.contributions) / HEADS_UP.bet_sizes[0]
            if node.is_showdown:
                return float(stakes[me] * (reach @ self.signs(board)))
            return float(reach.sum()) * (stakes[1 - me] if node.live[me] else -stakes[me])
        if node.street == 3 and len(board) == 4:
            used = {*board, *HOLE}
            rivers = [(*board, card) for card in range(N_CARDS) if card not in used]
            return sum(self.worth(node, me, river, reach * compatible_holes(river)) for river in rivers) / 44
        return (max if node.seat == me else sum)(self.by_action(node, me, board, reach))

    def by_action(self, node, me, board, reach):
        if node.seat == me:
            return [self.worth(node.after(action), me, board, reach) for action in node.legal]
        rows = self.habits[self.offsets[node.index] + self.buckets(board)]
        return [self.worth(node.after(action), me, board, reach * rows[:, action]) for action in node.legal]


def some_range(board):
    reach = np.random.default_rng(3).random(N_HOLES) * compatible_holes((*board, *HOLE))
    return (reach / reach.sum()).astype(np.float32)


@pytest.mark.parametrize("text", ["crc/cc/rrc/", "rc/crrc/cc/"])
@pytest.mark.parametrize("moves", ["", "c", "r", "cr", "rr", "crr", "rrr", "crrr"])
def test_river_choices_are_worth_what_a_plain_walk_finds(small, habits, text, moves):
    betting_tree(HEADS_UP)
    node, start = parse_betting(HEADS_UP, text + moves), parse_betting(HEADS_UP, text)
    walk, reach, me = Walk(small, habits), some_range(BOARD), node.seat
    _, number, seat, place, legal = choices_of(node.index)
    found = Lookahead(small.sizes, small.river).river(number, seat, HOLE, BOARD, reach, habits)
    for at, char in enumerate(moves):  # the range as of this decision
        before = parse_betting(HEADS_UP, text + moves[:at]) if at else start
        if before.seat != me:
            rows = habits[walk.offsets[before.index] + walk.buckets(BOARD)]
            reach = reach * rows[:, "fcr".index(char)]
    expected = np.array(walk.by_action(node, me, BOARD, reach)) / reach.sum()
    assert found[place : place + len(legal)] == pytest.approx(expected, rel=1e-3, abs=2e-3)


@pytest.mark.parametrize("moves", ["", "c"])
def test_turn_choices_are_worth_what_a_plain_walk_over_every_river_card_finds(small, habits, moves):
    betting_tree(HEADS_UP)
    board = BOARD[:4]
    node, start = parse_betting(HEADS_UP, "rc/cc/" + moves), parse_betting(HEADS_UP, "rc/cc/")
    walk, reach = Walk(small, habits), some_range(board)
    _, number, seat, place, legal = choices_of(node.index)
    found = Lookahead(small.sizes, small.river).turn(number, seat, HOLE, board, reach, habits, walk.buckets(board))
    if moves:
        reach = reach * habits[walk.offsets[start.index] + walk.buckets(board)][:, 1]
    expected = np.array(walk.by_action(node, node.seat, board, reach)) / reach.sum()
    assert found[place : place + len(legal)] == pytest.approx(expected, rel=1e-3, abs=2e-3)


def test_cards_that_cannot_be_are_refused(small, habits):
    lookahead, reach = Lookahead(small.sizes, small.river), some_range(BOARD)
    with pytest.raises(StrategyError, match="5 board cards"):
        lookahead.river(0, 0, HOLE, BOARD[:4], reach, habits)
    with pytest.raises(StrategyError, match="two others in hand"):
        lookahead.turn(0, 0, BOARD[:2], BOARD[:4], reach, habits, np.zeros(N_HOLES, dtype=np.int64))


def test_range_follows_the_habits_and_never_empties(small, habits):
    walk, board = Walk(small, habits), BOARD[:3]
    node = parse_betting(HEADS_UP, "rc/")
    reach = some_range(board)
    rows = habits[walk.offsets[node.index] + walk.buckets(board)]
    expected = reach * rows[:, 2]
    never = np.zeros_like(habits)
    follow_range(reach, habits, int(walk.offsets[node.index]), walk.buckets(board), 2)
    assert reach == pytest.approx(expected, rel=1e-5)
    follow_range(reach, never, int(walk.offsets[node.index]), walk.buckets(board), 2)
    assert reach == pytest.approx(expected * 1e-3, rel=1e-5)
