"""Best responses: against a plain recursion over the betting tree, and against the published exact values."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.bots.registry import create_bot
from hardbot.errors import StrategyError
from hardbot.game.cards import HOLE_CARDS, parse_cards
from hardbot.game.evaluator import board_ranks
from hardbot.game.isomorphism import canonical_boards
from hardbot.game.jit import njit
from hardbot.game.rules import HEADS_UP
from hardbot.game.tree import betting_tree
from hardbot.solver.abstraction import bucket_function
from hardbot.solver.boards import MAX_SCORE, N_RIVER_HANDS, score_board, sort_board
from hardbot.solver.cardless import different_rounds, river_values, street_values, sum_rivers
from hardbot.solver.exploit import (
    board_index,
    draw_flops,
    exploitability,
    finished_exploitability,
    rival_of_policy,
    rival_of_strategy,
)
from hardbot.solver.response import new_sheet, respond_flop, stakes_of_streets
from hardbot.solver.rounds import PREFLOP_ENDS
from hardbot.solver.strategy import triples

ALL = np.array([-1, -1])


class Recursion:
    """A best response on one known board by plain matrix products."""

    def __init__(self, strategy, tables, board, seat):
        ranks = board_ranks(board).astype(np.int64)
        self.holes = np.flatnonzero(ranks)
        cards = HOLE_CARDS[self.holes]
        self.meet = (~np.equal(cards[:, None, :, None], cards[None, :, None, :]).any(axis=(2, 3))).astype(np.float32)
        self.signs = np.sign(ranks[self.holes][:, None] - ranks[self.holes][None, :]).astype(np.float32) * self.meet
        boards = np.tile(np.array(board, dtype=np.int8), (len(cards), 1))
        self.buckets = bucket_function(tables)(cards, boards)
        self.offsets, self.rows = triples(strategy)
        self.tree, self.seat = betting_tree(HEADS_UP), seat

    def triple(self, node):
        return self.rows[self.offsets[node] + self.buckets[:, self.tree.street[node]]]

    def value(self, node, reach):
        tree, seat = self.tree, self.seat
        if tree.seat[node] < 0:
            paid = tree.contributions[node] / HEADS_UP.bet_sizes[0]
            if tree.winner[node] < 0:
                return paid[0] * (self.signs @ reach)
            return (paid[1 - seat] if tree.winner[node] == seat else -paid[seat]) * (self.meet @ reach)
        children = [(action, child) for action, child in enumerate(tree.child[node]) if child >= 0]
        if tree.seat[node] == seat:
            return np.max([self.value(child, reach) for _, child in children], axis=0)
        p = self.triple(node)
        return sum(self.value(child, reach * p[:, action]) for action, child in children)


@pytest.mark.parametrize(("seat", "start"), [(0, 1), (1, 4)])
def test_response_on_a_known_board_equals_a_plain_recursion(mixed_strategy, small_tables, seat, start):
    board = parse_cards("Ts9s4hKc2d")
    plain = Recursion(mixed_strategy, small_tables, board, seat)
    node, reach = 0, np.ones(N_RIVER_HANDS, dtype=np.float32)
    for char in PREFLOP_ENDS[start]:
        action = "fcr".index(char)
        if plain.tree.seat[node] != seat:
            reach = reach * plain.triple(node)[:, action]
        node = plain.tree.child[node, action]
    out = np.zeros((7, 1326), dtype=np.float32)
    rival = rival_of_strategy(mixed_strategy)
    respond_flop(np.array(board[:3]), seat, rival, stakes_of_streets(), new_sheet(), np.array(board[3:]), out)
    assert np.allclose(out[start, plain.holes], plain.value(node, reach), atol=0.02, rtol=1e-4)


def test_suits_a_board_does_not_tell_apart_change_nothing():
    rival = rival_of_policy(create_bot("always_call").table_policy())
    values = []
    for text in ("7s7h2d", "7c7d2s"):
        out = np.zeros((7, 1326), dtype=np.float32)
        respond_flop(np.array(parse_cards(text)), 1, rival, stakes_of_streets(), new_sheet(), ALL, out)
        values.append(np.sort(out[0]))
    assert np.allclose(values[0], values[1], atol=1e-2)


@pytest.mark.parametrize("name", ["always_call", "always_raise"])
def test_two_ways_to_respond_below_a_flop_agree(name):
    """Vectors of opponent hands, and equities alone: the opponent's range never changes."""
    rival = rival_of_policy(create_bot(name).table_policy())
    flop = np.array(parse_cards("7s7h7d"))
    flops, turns, rivers, first = different_rounds(rival)
    sums = np.zeros((len(turns.stake), 1326), dtype=np.float32)
    after, values = np.zeros((len(rivers.stake), 1326), np.float32), np.zeros((len(turns.stake), 1326), np.float32)
    for turn in set(range(52)) - set(flop.tolist()):
        cards = np.array([*flop, turn, 0])
        sum_rivers(cards, river_values(rivers), after)
        street_values(turns, 2.0, after, 46.0, values)
        sums += values * ~np.isin(HOLE_CARDS, cards[:4]).any(axis=1)
    found = np.zeros((len(flops.stake), 1326), dtype=np.float32)
    street_values(flops, 1.0, sums, 47.0, found)
    free = ~np.isin(HOLE_CARDS, flop).any(axis=1)
    for seat in (0, 1):
        out = np.zeros((7, 1326), dtype=np.float32)
        respond_flop(flop, seat, rival, stakes_of_streets(), new_sheet(), ALL, out)
        for start in np.flatnonzero(first[seat] >= 0):
            assert np.allclose(out[start, free] / 1081, found[first[seat, start], free], atol=1e-3)


def test_nothing_but_the_blinds_can_be_won_from_always_fold():
    found = exploitability(rival_of_policy(create_bot("always_fold").table_policy()), 4, seed=1, keep=False)
    assert found.by_seat == pytest.approx((0.5, 1.0), abs=1e-9)
    assert found.standard_error == pytest.approx(0.0, abs=1e-9)


@njit
def _river_gain(boards, weights):
    """Mean of max(0, 2e - 1) over all hands on all boards."""
    order, holes = np.zeros((N_RIVER_HANDS, 3), dtype=np.int64), np.zeros(N_RIVER_HANDS, dtype=np.int64)
    counts, scores = np.zeros(7464, dtype=np.int32), np.zeros(N_RIVER_HANDS, dtype=np.int32)
    total = 0.0
    for b in range(boards.shape[0]):
        sort_board(boards[b], holes, order, counts)
        score_board(order, scores)
        gain = 0
        for i in range(N_RIVER_HANDS):
            gain += max(0, 2 * scores[i] - MAX_SCORE)
        total += weights[b] * gain
    return total / (weights.sum() * N_RIVER_HANDS * MAX_SCORE)


def test_river_part_of_the_best_response_to_always_call_is_exact():
    boards, weights = canonical_boards(5)
    assert _river_gain(boards.astype(np.int64), weights) == pytest.approx(0.256254, abs=5e-7)


def test_flops_are_drawn_by_their_weight():
    drawn = np.concatenate([draw_flops(200, seed).ravel() for seed in range(20)])
    cards = board_index(3).cards[drawn]
    n_suits = np.array([len(set(row)) for row in (cards % 4).tolist()])
    assert (n_suits == 1).mean() == pytest.approx(0.0518, abs=0.003)
    assert (n_suits == 3).mean() == pytest.approx(0.3976, abs=0.003)
    assert draw_flops(8, 1).shape == (4, 2)
    with pytest.raises(StrategyError, match="expected an even number of at least 4 flops, got 7"):
        draw_flops(7, 1)


def test_a_stopped_run_takes_finished_flops_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARDBOT_CACHE", str(tmp_path))
    rival = rival_of_policy(create_bot("always_fold").table_policy())
    first = exploitability(rival, 4, seed=1)
    seen = []
    again = exploitability(rival, 4, seed=1, progress=lambda done, total: seen.append((done, total)))
    assert again == first
    assert seen[0][0] == seen[0][1]
    stopped = finished_exploitability(rival, 4, seed=1)
    assert stopped.value == pytest.approx(first.value)
    with pytest.raises(StrategyError, match="expected at least two finished strata of 3"):
        finished_exploitability(rival, 6, seed=99)
