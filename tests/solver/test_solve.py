"""The solver: values add up, learning helps, a stopped run goes on exactly."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.errors import StrategyError
from hardbot.solver import inside
from hardbot.solver.cfr import deal_board, walk_preflop
from hardbot.solver.inside import STARTS, board_values, fixed_game, learned_response, root_value
from hardbot.solver.iterations import new_board, new_scratch, set_board
from hardbot.solver.rivals import respond
from hardbot.solver.solve import CHECKPOINT, Solver, load_solver


def test_what_one_seat_wins_the_other_loses(mixed_strategy, small_tables):
    game = fixed_game((mixed_strategy, mixed_strategy), seed=5)
    board, desk = new_board(169)
    scratch = new_scratch(169)
    deal_board(game.random, desk.cards)
    set_board(board, desk, small_tables)
    values = []
    for seat in (0, 1):
        walk_preflop(seat, 0.0, game, board, scratch)
        values.append(root_value(seat, board, scratch))
    assert abs(values[0]) > 0.01
    assert values[0] + values[1] == pytest.approx(0.0, abs=2e-5)


def test_on_the_same_boards_one_strategy_wins_what_the_other_loses(mixed_strategy, caller, small_tables):
    won, lost = (
        board_values(*pair, small_tables, 3, 5) for pair in ((caller, mixed_strategy), (mixed_strategy, caller))
    )
    assert won.mean() > 0.02
    assert won == pytest.approx(-lost, abs=2e-5)
    assert won != pytest.approx(board_values(caller, mixed_strategy, small_tables, 3, 6), abs=1e-3)


def test_a_response_to_always_call_wins_much_and_not_too_much(caller, small_tables):
    found = learned_response(caller, small_tables, 60, seed=2)
    assert 0.4 < found.value < 1.163476 + 3 * found.standard_error
    assert 0 < found.standard_error < 0.2


def test_learning_makes_a_strategy_harder_to_beat(small, small_tables):
    solver = Solver(small, small_tables, seed=3)
    solver.run(3)
    early = learned_response(solver.strategy(), small_tables, 40, seed=2)
    solver.run(150)
    late = learned_response(solver.strategy(), small_tables, 40, seed=2)
    assert late.value < early.value - 0.05
    assert (early.start, late.start) == ("nothing", "strategy")


def test_a_strategy_far_from_equilibrium_is_answered_from_nothing(mixed_strategy, small_tables):
    found = learned_response(mixed_strategy, small_tables, 24, seed=2)
    held = respond(mixed_strategy, mixed_strategy, small_tables, 24, 2, start=STARTS["strategy"])
    assert found.start == "nothing"
    assert found.value > board_values(held, mixed_strategy, small_tables, 12, 77).mean() + 0.05


def test_a_response_is_paid_on_boards_that_neither_taught_nor_chose_it(caller, small_tables, monkeypatch):
    drawn = []

    def record(own, other, tables, n_boards, seed):
        drawn.append((n_boards, seed))
        return board_values(own, other, tables, n_boards, seed)

    monkeypatch.setattr(inside, "board_values", record)
    found = learned_response(caller, small_tables, 16, seed=2)
    assert drawn[0] == drawn[1]  # both starts on the same boards, then the better one alone
    assert len(drawn) == 3
    assert drawn[2][1] not in (2, 3, drawn[0][1])  # seats learn from the boards of seeds 2 and 3
    assert (found.n_boards, found.n_paid) == (16, drawn[2][0])


def test_a_stopped_run_goes_on_exactly(small, small_tables, tmp_path):
    whole = Solver(small, small_tables, seed=9)
    whole.run(6)
    part = Solver(small, small_tables, seed=9)
    part.run(2)
    part.save(tmp_path)
    rest = load_solver(tmp_path)
    rest.run(4)
    assert rest.n_boards == whole.n_boards == 6
    for one, other in zip(whole.streets, rest.streets, strict=True):
        assert np.array_equal(one.regrets, other.regrets)
        assert np.array_equal(one.averages, other.averages)


def test_a_missing_or_foreign_checkpoint_is_refused(tmp_path):
    with pytest.raises(StrategyError, match="expected a checkpoint of a solver"):
        load_solver(tmp_path)
    (tmp_path / CHECKPOINT).write_bytes(b"no archive")
    with pytest.raises(StrategyError, match="expected a checkpoint of a solver"):
        load_solver(tmp_path)
