"""Decision time of hardbot by street: the expert chooser, and the default one against strangers and known players.

A decision is everything the bot does from the opponent's last action to its own: following the ranges, features against
the range, the chooser, looking ahead. What it learns after a hand has a row of its own: no decision waits for it, but
it counts in hands a second. Times are taken in a real match, the first hands left out (machine code, tables), by the
processor's clock, so that other programs on the machine do not count (the one figure by the wall's clock says so).
Limits: median under 5 ms, 99th percentile under 50 ms, model load under .5 s, 300 hands a second.
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections import defaultdict
from itertools import chain
from typing import Any

import numpy as np

from hardbot.arena.deals import deal_block
from hardbot.arena.table import play_hand, seat_player
from hardbot.bots.hardbot import HardBot
from hardbot.bots.registry import create_bot
from hardbot.commands.output import print_table
from hardbot.game.betting import Betting
from hardbot.game.hand import HandResult, View
from hardbot.game.rules import HEADS_UP, STREET_NAMES
from hardbot.model.artifact import load_model
from hardbot.model.likelihood import ActionModel

N_WARM, N_HANDS = 60, 1_200
FORMS = (
    *(("chooser=expert", opponent) for opponent in ("always_call", "sparbot", "rulebot")),
    *((f"unseen={opponent}", opponent) for opponent in ("always_call", "rulebot", "poki", "loki")),
    *(("", opponent) for opponent in ("rulebot", "poki", "sparbot")),
)
AFTER = 4  # in the place of a street: what is learned after a hand
clock = time.process_time
PARTS = {
    "likelihoods of the corpus model": ("action_probabilities",),
    "opponent term": ("adjust", "end_hand"),
    "outcomes against every hand": ("_look",),
    "strength deciles": ("strength_deciles",),
    "range arithmetic": ("predict", "update", "remove"),
    "chooser": ("choose",),
}


class Timed(HardBot):
    """hardbot with a clock: what it costs between its own actions, by street."""

    def __init__(self, **options: str) -> None:
        super().__init__(**options)
        self.seconds: dict[int, list[float]] = defaultdict(list)
        self.all_seconds = 0.0
        self._since = 0.0

    def observe(self, view: View, before: Betting, action: int) -> None:
        """Follow, and keep the time for the next decision."""
        start = clock()
        super().observe(view, before, action)
        self._since += clock() - start

    def act(self, view: View, rng: np.random.Generator) -> int:
        """Decide."""
        start = clock()
        action = super().act(view, rng)
        self._since += clock() - start
        self.seconds[view.street].append(self._since)
        self.all_seconds += self._since
        self._since = 0.0
        return action

    def end_hand(self, view: View, result: HandResult) -> None:
        """Learn; no decision waits for it, but it counts for hands a second."""
        start = clock()
        super().end_hand(view, result)
        self.seconds[AFTER].append(clock() - start)
        self.all_seconds += self.seconds[AFTER][-1]


def play(bot: HardBot, opponent: str, first: int, n_hands: int) -> tuple[float, float]:
    """Seconds of a match by the processor's and by the wall's clock."""
    players = [
        seat_player(one, name, np.random.default_rng([first, seat]))
        for seat, (one, name) in enumerate(((bot, "hardbot"), (create_bot(opponent), opponent)))
    ]
    deals = deal_block(2, n_hands, 5, first)
    start, wall = clock(), time.perf_counter()
    for number in range(n_hands):
        seated = players if number % 2 == 0 else players[::-1]
        play_hand(HEADS_UP, deals.deal(number), seated, first + number)
    return clock() - start, time.perf_counter() - wall


def load_seconds() -> float:
    """Best of three: manifest, arrays, checks, and the first street's tables."""
    times = []
    for _ in range(3):
        start = clock()
        ActionModel(load_model()).street(0)
        times.append(clock() - start)
    return min(times)


def profile_shares(bot: HardBot, opponent: str) -> list[list[str]]:
    """Share of the bot's time in its parts (a profiler's, so small functions weigh a little too much)."""
    profiler = cProfile.Profile()
    profiler.enable()
    play(bot, opponent, N_WARM + N_HANDS, 300)
    profiler.disable()
    stats: dict[Any, Any] = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    own = {"observe", "act", "end_hand", "new_hand"}
    spent = defaultdict(float)
    for (file, _, name), (_, _, _, cumulative, _) in stats.items():
        if name in own and file.endswith("bench_hardbot.py"):
            spent["all"] += cumulative
        if name == "new_hand" and file.endswith("bots/hardbot.py"):
            spent["all"] += cumulative
        for part, functions in PARTS.items():
            if name in functions and ("/model/" in file or "/bots/" in file):
                spent[part] += cumulative
    rows = [[part, f"{spent[part] / spent['all']:.0%}"] for part in PARTS]
    return [*rows, ["the rest", f"{1 - sum(spent[part] for part in PARTS) / spent['all']:.0%}"]]


def time_rows(seconds: dict[int, list[float]]) -> list[list[str]]:
    """Decisions, median, 99% and largest ms by street, of all decisions, and after hands."""
    rows = []
    for place in (*range(4), None, AFTER):
        times = list(chain(*(seconds[street] for street in range(4)))) if place is None else seconds[place]
        if times:
            ms = 1e3 * np.array(times)
            name = "all decisions" if place is None else "after a hand" if place == AFTER else STREET_NAMES[place]
            figures = (ms.mean(), np.median(ms), np.quantile(ms, 0.99), ms.max())
            rows.append([name, f"{len(ms):,}", *(f"{value:.2f}" for value in figures)])
    return rows


def main() -> None:
    """Print times by street, hands a second and, for the expert, shares."""
    print(f"model load: {load_seconds():.3f} s")
    for form, opponent in FORMS:
        bot = Timed(**dict([form.split("=")] if form else []))
        bot.prepare()
        play(bot, opponent, 0, N_WARM)
        bot.seconds.clear()
        bot.all_seconds = 0.0
        seconds, wall = play(bot, opponent, N_WARM, N_HANDS)
        rates = [f"{N_HANDS / value:,.0f}" for value in (seconds, wall, bot.all_seconds)]
        name = f"hardbot:{form}" if form else "hardbot"
        title = f"{name} against {opponent}: {rates[0]} hands/s (wall {rates[1]}, bot alone {rates[2]})"
        print_table(title, ["street", "times", "mean ms", "median ms", "99% ms", "max ms"], time_rows(bot.seconds))
        if bot.chooser == "expert":
            print_table("where the time goes", ["part", "share"], profile_shares(bot, opponent))


if __name__ == "__main__":
    main()
