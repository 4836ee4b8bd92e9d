"""Sessions: one table of bots that play on hand after hand, as the learning experiments of Casey did.

Nothing is replayed: every deal is played once, everybody moves one seat on from hand to hand, and every bot keeps its
memory from the first hand to the last. So a session shows how play changes with experience; the price is that the luck
of the cards stays in. What is kept of every hand: chips, who came in by choice, showdowns, and blinds that were raised
(Sandven and Tessem, "A Case-Based Learner for Poker", 2006, sections 4 and 5).

Intervals: hands of a learning bot depend on each other, so a mean over part of one session has the interval of its
batch means (batches of 100 hands; Law and Kelton, Simulation Modeling and Analysis, 2000, section 9.5): what the
cards did to this one learner. How learners differ is seen only in several sessions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from hardbot.arena.deals import deal_block
from hardbot.arena.entrants import BotSpec, bot_generator, make_bot, make_entrants, spec_labels, table_names
from hardbot.arena.statistics import Estimate, estimate_mean
from hardbot.arena.table import play_hand, seat_player
from hardbot.bots.base import Bot
from hardbot.errors import ArenaError
from hardbot.game.betting import Betting
from hardbot.game.rules import CALL, FOLD, RAISE, Rules, ring

BATCH = 100  # hands
_ACTIONS = {"f": FOLD, "c": CALL, "r": RAISE}
_AT_ONCE = 1_000  # deals made at a time

Flags = NDArray[np.bool_]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class SessionResult:
    """A session hand by hand; all arrays are (hands, entrants), entrants in the order they were given."""

    bots: tuple[str, ...]
    rules: Rules
    seed: int
    seconds: float
    chips: NDArray[np.int32]
    seats: NDArray[np.int8]
    entered: Flags  # put chips in preflop by choice
    saw_flop: Flags
    shown: Flags  # was in at a showdown
    won: Flags  # won or shared the pot
    asked: Flags  # had the choice to enter: did act preflop
    raised_blind: Flags  # sat in a blind and was first raised by another
    defended: Flags  # ... and did not fold to it
    players: tuple[Bot, ...]

    @property
    def hands(self) -> int:
        """Hands played."""
        return len(self.chips)

    @property
    def sb(self) -> NDArray[np.float64]:
        """Winnings in small bets."""
        return self.chips / self.rules.bet_sizes[0]

    def mean_sb(self, entrant: int, first: int = 0, last: int | None = None) -> Estimate:
        """Mean winnings of hands first to last (exclusive), with the interval of batch means."""
        return batch_estimate(self.sb[first:last, entrant])


def batch_estimate(values: NDArray[np.float64], batch: int = BATCH) -> Estimate:
    """Mean of a series whose neighbours may depend on each other; a last short batch is left out of the interval."""
    n = len(values) // batch
    if n < 2:
        return Estimate(float(values.mean()), float("nan"), float("nan"), n)
    found = estimate_mean(values[: n * batch].reshape(n, batch).mean(axis=1))
    return Estimate(float(values.mean()), found.half_width, found.sd, n)


def fluctuation(values: NDArray[np.float64]) -> float:
    """Highest less lowest running total of a series, the start (0) included."""
    totals = np.concatenate([[0.0], np.cumsum(values)])
    return float(totals.max() - totals.min())


def play_session(
    specs: Sequence[BotSpec],
    n_hands: int,
    seed: int,
    *,
    rules: Rules | None = None,
    progress: Progress | None = None,
) -> SessionResult:
    """Play `n_hands` hands at one table, seats moving on by one each hand."""
    table = rules if rules is not None else ring(len(specs))
    n = table.n_seats
    if n != len(specs):
        raise ArenaError(f"expected {n} bots for {table.name}, got {len(specs)}")
    if n_hands < 1:
        raise ArenaError(f"expected at least 1 hand, got {n_hands}")
    make_entrants(specs, n)
    bots, names = [make_bot(spec) for spec in specs], table_names(specs, None)
    players = [
        seat_player(bot, name, bot_generator(seed, 0, 0, entrant, n))
        for entrant, (bot, name) in enumerate(zip(bots, names, strict=True))
    ]
    book = _Book(n_hands, n)
    start = time.perf_counter()
    for first in range(0, n_hands, _AT_ONCE):
        deals = deal_block(n, min(_AT_ONCE, n_hands - first), seed, first // _AT_ONCE)
        ranks = deals.ranks.tolist()
        for i in range(len(deals)):
            number = first + i
            entrants = [(seat - number) % n for seat in range(n)]  # by seat
            seated = [players[entrant] for entrant in entrants]
            result = play_hand(table, deals.deal(i), seated, number, ranks[i], f"seed {seed}")
            book.write(number, entrants, result.betting, result.net_chips)
        if progress is not None:
            progress(first + len(deals), n_hands)
    return SessionResult(
        bots=tuple(spec_labels(specs)),
        rules=table,
        seed=seed,
        seconds=time.perf_counter() - start,
        players=tuple(bots),
        **{column: getattr(book, column) for column in _COLUMNS},
    )


_COLUMNS = tuple(f.name for f in fields(SessionResult) if f.name not in ("bots", "rules", "seed", "seconds", "players"))


class _Book:
    """What is kept of every hand."""

    def __init__(self, n_hands: int, n_seats: int) -> None:
        shape = (n_hands, n_seats)
        self.chips = np.zeros(shape, dtype=np.int32)
        self.seats = np.zeros(shape, dtype=np.int8)
        self.entered, self.saw_flop, self.shown = np.zeros(shape, bool), np.zeros(shape, bool), np.zeros(shape, bool)
        self.won, self.asked = np.zeros(shape, bool), np.zeros(shape, bool)
        self.raised_blind, self.defended = np.zeros(shape, bool), np.zeros(shape, bool)

    def write(self, number: int, entrants: Sequence[int], betting: Betting, net: Sequence[int]) -> None:
        """Take in a finished hand; `entrants` by seat."""
        flop_live = _live_after_preflop(betting)
        for seat, entrant in enumerate(entrants):
            self.chips[number, entrant] = net[seat]
            self.seats[number, entrant] = seat
            self.saw_flop[number, entrant] = flop_live[seat]
            self.shown[number, entrant] = betting.is_showdown and betting.live[seat]
            self.won[number, entrant] = betting.live[seat] and net[seat] + betting.contributions[seat] > 0
        for before, action in preflop_actions(betting):
            entrant = entrants[before.seat]
            blind = before.rules.blinds[before.seat]
            if blind and not self.asked[number, entrant] and before.raises:
                self.raised_blind[number, entrant] = True
                self.defended[number, entrant] = action != FOLD
            self.asked[number, entrant] = True
            if action == RAISE or (action == CALL and before.to_call > 0):
                self.entered[number, entrant] = True


def preflop_actions(betting: Betting) -> list[tuple[Betting, int]]:
    """Positions of the first street and what was done there, in order."""
    found: list[tuple[Betting, int]] = []
    node = betting
    while node.parent is not None:
        if node.parent.street == 0:
            found.append((node.parent, _ACTIONS[node.text.rstrip("/")[-1]]))
        node = node.parent
    return found[::-1]


def _live_after_preflop(betting: Betting) -> tuple[bool, ...]:
    """Who saw the flop; nobody if the hand ended before it."""
    node = betting
    if node.street == 0:
        return (False,) * len(node.live)
    while node.parent is not None and node.parent.street > 0:
        node = node.parent
    return node.live
