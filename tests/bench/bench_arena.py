"""Hands a second of our match loops and of the libraries people use, one core, in one run.

Python loops play call against call; OpenSpiel's loop walks its C++ state from Python with cards drawn
beforehand, the fastest way we know to use it. The compiled rows play random against random. Every
figure is the best of several short runs, taken in turn, so that a busy machine hurts all alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pyspiel
from pokerkit import Automation, FixedLimitTexasHoldem

from hardbot.arena.match import play_match
from hardbot.bots.simple import AlwaysCall
from hardbot.commands.output import print_table

ROUNDS = 5
GAME = pyspiel.hulh_game_string("fcpa")  # "fullgame" is broken in OpenSpiel 2.0: no raises
CALL = 1


class Attentive(AlwaysCall):
    """Calls, and takes every call of the protocol."""

    name = "attentive"

    def __init__(self) -> None:
        self.n_calls = 0

    def new_hand(self, view: object) -> None:
        """Count."""
        self.n_calls += 1

    def observe(self, view: object, before: object, action: int) -> None:
        """Count."""
        self.n_calls += 1

    def end_hand(self, view: object, result: object) -> None:
        """Count."""
        self.n_calls += 1


def ours(first: object, second: object, n_pairs: int, compiled: bool) -> Callable[[], int]:
    """Hands of one of our matches."""
    return lambda: play_match(first, second, n_pairs, seed=1, compiled=compiled).hands  # type: ignore[arg-type]


def openspiel_python(n_hands: int = 4_000) -> int:
    """Call against call through OpenSpiel's Python binding."""
    root = pyspiel.load_game(GAME).new_initial_state()
    decks = np.random.default_rng(1).permuted(np.tile(np.arange(52), (n_hands, 1)), axis=1)[:, :9].tolist()
    for deck in decks:
        state, cards = root.clone(), iter(deck)  # cheaper than a new state
        while not state.is_terminal():
            state.apply_action(next(cards) if state.is_chance_node() else CALL)
        state.returns()
    return n_hands


def openspiel_compiled(n_hands: int = 10_000) -> int:
    """Random against random wholly inside OpenSpiel's C++."""
    root = pyspiel.load_game(GAME).new_initial_state()
    bots = [pyspiel.make_uniform_random_bot(player, player + 1) for player in range(2)]
    for seed in range(n_hands):
        pyspiel.evaluate_bots(root.clone(), bots, seed)
    return n_hands


def pokerkit(n_hands: int = 60) -> int:
    """Call against call in PokerKit."""
    automations = tuple(Automation)
    for _ in range(n_hands):
        state = FixedLimitTexasHoldem.create_state(automations, True, 0, (5, 10), 10, 20, 10_000, 2)
        while state.status:
            state.check_or_call()
    return n_hands


def best_rates(runs: dict[str, Callable[[], int]]) -> dict[str, float]:
    """Hands a second, best of ROUNDS, the contenders taking turns."""
    rates = dict.fromkeys(runs, 0.0)
    for run in runs.values():
        run()  # caches, machine code
    for _ in range(ROUNDS):
        for name, run in runs.items():
            start = time.perf_counter()
            n_hands = run()
            rates[name] = max(rates[name], n_hands / (time.perf_counter() - start))
    return rates


def main() -> None:
    """Print both comparisons."""
    python = best_rates(
        {
            "OpenSpiel, Python loop": openspiel_python,
            "ours, Python bots": ours("always_call", "always_call", 15_000, compiled=False),
            "ours, Python bots that take every call": ours(Attentive, Attentive, 8_000, compiled=False),
            "PokerKit": pokerkit,
        }
    )
    compiled = best_rates(
        {
            "OpenSpiel, C++ evaluate_bots": openspiel_compiled,
            "ours, compiled": ours("random", "random", 200_000, compiled=True),
        }
    )
    for title, rates in (("call against call", python), ("random against random", compiled)):
        yardstick = next(iter(rates.values()))
        rows = [[name, f"{rate:,.0f}", f"{rate / yardstick:.2f}x"] for name, rate in rates.items()]
        print_table(title, ["loop", "hands/s", "ratio"], rows)


if __name__ == "__main__":
    main()
