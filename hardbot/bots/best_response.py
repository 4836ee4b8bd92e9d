"""Best response to always_call or always_raise: the exact ceiling for bots that learn to exploit them.

An opponent who ignores its cards keeps the range it was dealt, so each action is worth what the chances of winning on
all run-outs make of it (`solver/cardless.py`). After the flop that is counted on the spot for the own hand (a few
milliseconds); before it, the exact values after the flop are kept in best_response.npz. Against always_call the bot
wins 1.163476 sb a hand, against always_raise 3.697693. Against anybody else it is merely odd.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.base import HEADS_UP_ONLY, Bot
from hardbot.bots.simple import AlwaysCall, AlwaysRaise
from hardbot.errors import BotError
from hardbot.game.cards import HOLE_CLASS, hole_index
from hardbot.game.hand import View
from hardbot.game.jit import njit
from hardbot.game.rules import CALL, HEADS_UP
from hardbot.solver.boards import river_score
from hardbot.solver.cardless import Rounds, different_rounds, exact_after, river_values
from hardbot.solver.exploit import Values, opponent_masses, preflop_options, rival_of_policy
from hardbot.solver.response import Rival, best_of_round, set_stakes
from hardbot.solver.rounds import END_OF, round_map
from hardbot.solver.strategy import nodes_of

TARGETS: dict[str, type[AlwaysCall] | type[AlwaysRaise]] = {"always_call": AlwaysCall, "always_raise": AlwaysRaise}
_VALUES = Path(__file__).with_suffix(".npz")
Floats = NDArray[np.float32]


class Place(NamedTuple):
    """A decision within its round."""

    street: int
    start: int
    entry: int  # first place in the row
    legal: tuple[int, ...]


class Knowledge(NamedTuple):
    """Everything about one opponent."""

    rival: Rival
    rounds: tuple[Rounds, Rounds, Rounds]  # flop, turn, river
    number: dict[tuple[int, int, int], int]  # (street, seat, start) -> round
    by_score: Floats  # (river rounds, 1981)
    after: Values  # (2, 7, 169)
    masses: Values  # (2, 169, 16)


@lru_cache(maxsize=1)
def _places() -> dict[int, Place]:
    """Where every decision point lies."""
    places, found = round_map(HEADS_UP), {}
    for street in range(4):
        for start in range(len(places.node[street])):
            for seat in (0, 1):
                for _, entry, legal in nodes_of(street, seat):
                    found[int(places.node[street][start, seat, entry])] = Place(street, start, entry, legal)
    return found


@lru_cache(maxsize=2)
def _knowledge(name: str) -> Knowledge:
    policy = TARGETS[name]().table_policy()
    rival = rival_of_policy(policy)
    flops, turns, rivers, first = different_rounds(rival)
    number: dict[tuple[int, int, int], int] = {}

    def visit(street: int, seat: int, start: int, at: int) -> None:
        number[street, seat, start] = at
        if street < 3:
            rounds = (flops, turns)[street - 1]
            for k in range(13):
                following = int(rounds.follows[at, k])
                if following >= 0:
                    visit(street + 1, seat, 9 * start + int(END_OF[seat, k]), following)

    for seat in (0, 1):
        for start in np.flatnonzero(first[seat] >= 0):
            visit(1, seat, int(start), int(first[seat, start]))
    with np.load(_VALUES, allow_pickle=False) as stored:
        after = stored[name]
    return Knowledge(rival, (flops, turns, rivers), number, river_values(rivers), after, opponent_masses(rival))


def save_values(path: Path = _VALUES) -> None:
    """Compute the values after the flop again (a minute); the file beside this module came from here."""
    after = {name: exact_after(rival_of_policy(bot().table_policy())) for name, bot in TARGETS.items()}
    np.savez_compressed(path, allow_pickle=False, **after)


@njit
def _round_values(rounds: Rounds, bet: float, after: Floats, out: Floats) -> None:
    """Values (rounds,) of one hand from its values after each next round."""
    ws, fs = np.zeros(16, dtype=np.float32), np.zeros(16, dtype=np.float32)
    w = np.zeros(16, dtype=np.float32)
    for j in range(rounds.stake.shape[0]):
        set_stakes(rounds.stake[j], bet, False, ws, fs)
        for k in range(13):
            following = rounds.follows[j, k]
            w[k] = rounds.q[j, k] * after[following] if following >= 0 else 0.0
        out[j] = best_of_round(w, rounds.q[j], ws, fs, rounds.seat[j])


@njit
def _after_turn(hole: int, cards: NDArray[np.int64], dead: int, by_score: Floats, out: Floats) -> None:
    """Mean (river rounds,) over the rivers of cards[:4]; dead: bits of board and hand."""
    out[:] = 0.0
    for card in range(52):
        if dead >> card & 1 == 0:
            cards[4] = card
            score = river_score(hole, cards)
            for j in range(out.shape[0]):
                out[j] += by_score[j, score] / 46.0


@njit
def _after_flop(hole: int, cards: NDArray[np.int64], dead: int, turns: Rounds, by_score: Floats, out: Floats) -> None:
    """Mean (turn rounds,) over the turns of cards[:3]."""
    after = np.zeros(by_score.shape[0], dtype=np.float32)
    values = np.zeros(out.shape[0], dtype=np.float32)
    out[:] = 0.0
    for card in range(52):
        if dead >> card & 1 == 0:
            cards[3] = card
            _after_turn(hole, cards, dead | (1 << card), by_score, after)
            _round_values(turns, 2.0, after, values)
            for j in range(out.shape[0]):
                out[j] += values[j] / 47.0


def _follow_values(know: Knowledge, hole: int, board: tuple[int, ...]) -> Floats:
    """Values of one hand after each round of the next street, or 2e - 1 on the river."""
    cards = np.zeros(5, dtype=np.int64)
    cards[: len(board)] = board
    high = next(a for a in range(1, 52) if a * (a + 1) // 2 > hole)
    dead = sum(1 << card for card in (*board, high, hole - high * (high - 1) // 2))
    if len(board) == 5:
        return np.array([2.0 * river_score(hole, cards) / 1980.0 - 1.0], dtype=np.float32)
    if len(board) == 4:
        out = np.zeros(len(know.rounds[2].stake), dtype=np.float32)
        _after_turn(hole, cards, dead, know.by_score, out)
    else:
        out = np.zeros(len(know.rounds[1].stake), dtype=np.float32)
        _after_flop(hole, cards, dead, know.rounds[1], know.by_score, out)
    return out


def round_options(q: Floats, w: Floats, ws: Floats, fs: Floats, seat: int) -> dict[int, tuple[float, ...]]:
    """Values of the actions of every decision of a round, by its first place in the row."""
    f, w = fs * q, ws * w
    third = (f[4], w[4], f[5] + w[6])
    facing = (f[1], w[1], f[2] + w[3] + max(third))
    capped = (f[12], w[12])
    raised = (f[9], w[9], f[10] + w[11] + max(capped))
    opened = (w[0] + (max(facing) if seat == 0 else 0.0), f[7] + w[8] + max(raised))
    return {0: opened, 2: raised, 5: capped, 7: facing, 10: third}


class BestResponse(Bot):
    """Plays the best response to one of the simple bots (`best_response:to=always_raise`)."""

    name = "best_response"
    table_sizes = HEADS_UP_ONLY

    def __init__(self, *, to: str = "always_call") -> None:
        if to not in TARGETS:
            raise BotError(f"expected best_response:to={' or '.join(TARGETS)}, got {to!r}")
        self.to = to
        self._board: tuple[int, ...] | None = None
        self._after: Floats = np.zeros(0, dtype=np.float32)

    def new_hand(self, view: View) -> None:
        """Forget the last hand."""
        if view.rules != HEADS_UP:
            raise BotError(f"expected the rules {HEADS_UP.name} for {self.name}, got {view.rules.name}")
        self._board = None

    def act(self, view: View, rng: np.random.Generator) -> int:
        """The action of the highest value; of equal ones the most aggressive."""
        know, place = _knowledge(self.to), _places()[view.betting.index]
        hole = hole_index(*view.hole)
        if place.street == 0:
            c = int(HOLE_CLASS[hole])
            options = preflop_options(view.seat, know.after[view.seat, :, c], know.masses[view.seat, c])[place.entry]
        else:
            at = know.number.get((place.street, view.seat, place.start))
            if at is None:
                return CALL  # a line this opponent never takes
            if self._board != view.board:
                self._after, self._board = _follow_values(know, hole, view.board), view.board
            options = self._round(know.rounds[place.street - 1], at, place.street, view.seat)[place.entry]
        best = max(options)
        return max(action for action, value in zip(place.legal, options, strict=True) if value >= best - 1e-6)

    def _round(self, rounds: Rounds, at: int, street: int, seat: int) -> dict[int, tuple[float, ...]]:
        ws, fs, w = (np.zeros(16, dtype=np.float32) for _ in range(3))
        set_stakes(rounds.stake[at], 1.0 if street == 1 else 2.0, street == 3, ws, fs)
        q, follows = rounds.q[at], rounds.follows[at]
        for k in range(13):
            if street == 3:
                w[k] = q[k] * self._after[0]
            elif follows[k] >= 0:
                w[k] = q[k] * self._after[follows[k]]
        return round_options(q, w, ws, fs, seat)
