"""Speed of the solver, of best responses and of sparbot's look-ups, one core, in one run.

A board is one iteration for both seats with all 1,081 x 990 pairs of hands; hands x boards is the figure to hold
against programs that sample one pair of hands an iteration (280,000-305,000 a second for a compiled external-sampling
prototype), although theirs see one opponent hand each and ours all of them. Times are processor time.
"""

from __future__ import annotations

import time

import numpy as np

from hardbot.arena.match import play_match
from hardbot.bots.registry import create_bot
from hardbot.commands.output import print_table
from hardbot.game.cards import parse_cards
from hardbot.solver.abstraction import bucket_tables, make_abstraction
from hardbot.solver.boards import N_RIVER_HANDS
from hardbot.solver.cardless import exact_response
from hardbot.solver.exploit import rival_of_strategy
from hardbot.solver.response import new_sheet, respond_flop, stakes_of_streets
from hardbot.solver.solve import Solver


def boards_per_second(threshold: float, seconds: float = 8.0) -> float:
    """Iterations a second after a warm-up, with 169/169/169/200 buckets."""
    abstraction = make_abstraction(0, 0, 200)
    solver = Solver(abstraction, bucket_tables(abstraction), threshold)
    solver.run(40)
    start, before = time.process_time(), solver.n_boards
    while time.process_time() - start < seconds:
        solver.run(5)
    return (solver.n_boards - before) / (time.process_time() - start)


def seconds_per_flop() -> float:
    """One two-suited flop, one seat, against a mixed strategy."""
    abstraction = make_abstraction(0, 0, 200)
    solver = Solver(abstraction, bucket_tables(abstraction))
    solver.run(20)
    rival, sheet, out = rival_of_strategy(solver.strategy()), new_sheet(), np.zeros((7, 1326), dtype=np.float32)
    flop, stakes = np.array(parse_cards("Ts9s4h")), stakes_of_streets()
    respond_flop(flop, 0, rival, stakes, sheet, np.array([0, 1]), out)  # compiles
    start = time.process_time()
    respond_flop(flop, 0, rival, stakes, sheet, np.array([-1, -1]), out)
    return time.process_time() - start


def main() -> None:
    """Print the table."""
    rows = []
    for threshold in (0.0, 25.0, 300.0):
        speed = boards_per_second(threshold)
        rows.append([f"boards/s, lines below {threshold:g} of 1,081 sampled", f"{speed:,.1f}"])
        rows.append(["  hands x boards/s", f"{speed * N_RIVER_HANDS:,.0f}"])
    rows.append(["best response below one flop and seat, s", f"{seconds_per_flop():.1f}"])
    for name in ("always_call", "always_raise"):
        policy = create_bot(name).table_policy()
        assert policy is not None
        start = time.process_time()
        found = exact_response(policy)
        rows.append([f"exact response to {name}: {found.value:+.6f}, s", f"{time.process_time() - start:.1f}"])
    for label, compiled in (("Python", False), ("compiled", True)):
        play_match("sparbot", "sparbot", 50, seed=1, compiled=compiled)
        start = time.process_time()
        hands = play_match("sparbot", "sparbot", 3_000, seed=1, compiled=compiled).hands
        rows.append([f"sparbot against itself, {label}, hands/s", f"{hands / (time.process_time() - start):,.0f}"])
    print_table("solver", ["", "value"], rows)


if __name__ == "__main__":
    main()
