"""The answer that learns while the match goes on."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.bots.simple import AlwaysCall, AlwaysRaise
from hardbot.game.betting import parse_betting
from hardbot.game.rules import CALL, HEADS_UP, RAISE
from hardbot.game.tree import betting_tree
from hardbot.solver.responder import Responder, Workshop, places_of
from hardbot.solver.rivals import exact_habits
from hardbot.solver.strategy import triples


@pytest.fixture(scope="module")
def workshop(small, small_tables, mixed_strategy) -> Workshop:
    return Workshop(small.sizes, small_tables, triples(mixed_strategy)[1])


def point_of(text: str) -> int:
    betting_tree(HEADS_UP)
    return parse_betting(HEADS_UP, text).index


def test_places_cover_every_row_of_a_strategy_once(small, mixed_strategy):
    _, rows = triples(mixed_strategy)
    seen = np.zeros(rows.shape, dtype=int)
    for seat in places_of(small.sizes):
        for street in seat:
            np.add.at(seen.reshape(-1), street.at, 1)
    assert seen.max() == 1
    assert (rows[seen == 0] == 0.0).all()  # what is left out are illegal actions


def test_answer_begins_as_the_equilibrium(mixed_strategy, workshop):
    offsets, rows = triples(mixed_strategy)
    responder = Responder(workshop, seed=1)
    point = point_of("crrc/r")
    assert responder.triple(point, 17) == pytest.approx(rows[offsets[point] + 17].tolist(), abs=1e-6)
    responder.face(rows)
    assert responder.triple(point, 17) == pytest.approx(rows[offsets[point] + 17].tolist(), abs=1e-6)


def test_answer_comes_to_win_nearly_all_there_is_from_always_call(mixed_strategy, workshop):
    habits = triples(exact_habits(AlwaysCall().table_policy(), mixed_strategy))[1]
    responder = Responder(workshop, seed=1)
    for _ in range(6):
        responder.face(habits)
        for seat in (0, 1):
            responder.learn(seat, 40)
    assert responder.value > 0.6  # exact ceiling 1.163; these buckets do not see flop and turn
    aces = 168
    assert responder.triple(point_of(""), aces)[RAISE] > 0.99


def test_exchanged_habits_change_the_answer(mixed_strategy, workshop):
    responder = Responder(workshop, seed=1)
    values = []
    for policy in (AlwaysCall().table_policy(), AlwaysRaise().table_policy()):
        habits = triples(exact_habits(policy, mixed_strategy))[1]
        for _ in range(6):
            responder.face(habits)
            for seat in (0, 1):
                responder.learn(seat, 20)
        values.append(responder.value)
    assert values[1] > 1.5 > values[0]  # ceilings 3.698 and 1.163


def test_same_seed_gives_the_same_answer(mixed_strategy, workshop):
    habits = triples(exact_habits(AlwaysCall().table_policy(), mixed_strategy))[1]
    found = []
    for seed in (3, 3, 4):
        responder = Responder(workshop, seed)
        responder.face(habits)
        responder.learn(1, 5)
        found.append((responder.value, responder.triple(point_of(""), 80)))
    assert found[0] == found[1]
    assert found[0] != found[2]
    assert found[0][1][CALL] + found[0][1][RAISE] <= 1.0 + 1e-6
