"""What poki and loki know of their opponents: a weight for each of 1,326 hands, and how often each of them acts how.

A weight is the chance that the hand would have been played as it was (J. Schaeffer, D. Billings, L. Pena and D.
Szafron, "Learning to Play Strong Poker", 1999). Generic modelling re-weights after every action with default
frequencies, the same for everybody; specific modelling replaces them by the opponent's own, counted by round and by
bets to call {0, 1, 2+}, of which a round with S < 20 observations takes only S/20 and the rest from the round before
(before the flop: from the defaults). Without generic modelling every opponent has one fixed table of a reasonable
player, the one a call of one bet would leave, and nothing that happens changes it.

Actions are noted when they happen and worked in only when one's own decision needs them, so that a hand folded early
costs next to nothing. What a board says about all hands is remembered for all tables of the process: it
depends on the board alone.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.base import Bot
from hardbot.bots.income import INCOME_PERCENTILE
from hardbot.bots.poki_kernels import board_values, one_card_potential, reweight, strength_against
from hardbot.errors import BotError
from hardbot.game.betting import Betting
from hardbot.game.cards import HOLE_CARDS, N_HOLES
from hardbot.game.hand import HandResult, View
from hardbot.game.rules import BOARD_SIZES, CALL, FOLD, RAISE
from hardbot.game.storage import write_whole

DEFAULT_FREQUENCIES: NDArray[np.float64] = np.array(
    [[0.0, 0.5, 0.5], [0.5, 0.3, 0.2], [0.7, 0.2, 0.1]]
)  # (bets to call 0, 1, 2+; fold, call, raise)
ENOUGH = 20  # observations of a round after which it stands for itself
NO_INFORMATION = 0.05  # an action nearly everybody would take says nothing
_BOARDS = 3_300  # remembered boards, 19 kB each: a block of 1,000 deals finds its own again on its second side
MEMORY_SCHEMA = "action-frequencies-1"
Triple = tuple[float, float, float]
Potential = TypeVar("Potential", float, NDArray[np.float32])


class BoardKnowledge(NamedTuple):
    """All hands on one board, against one opponent who may hold anything; zero for hands that share a card."""

    cards: NDArray[np.uint8]
    ranks: NDArray[np.uint16]  # (1326,)
    hs: NDArray[np.float32]
    potential: NDArray[np.float32]  # estimated one-card PPot
    ehs: NDArray[np.float32]


@lru_cache(maxsize=_BOARDS)
def know_board(board: tuple[int, ...]) -> BoardKnowledge:
    """Ranks and strengths on a board of 3, 4 or 5."""
    cards = np.array(board, dtype=np.uint8)
    ranks = np.empty(N_HOLES, dtype=np.uint16)
    hs, potential = np.empty(N_HOLES, dtype=np.float32), np.empty(N_HOLES, dtype=np.float32)
    board_values(cards, ranks, hs, potential)
    to_river = two_cards(potential) if len(board) == 3 else potential
    return BoardKnowledge(cards, ranks, hs, potential, hs + (1.0 - hs) * to_river)


def two_cards(potential: Potential) -> Potential:
    """PPot with two cards to come from one-card PPot, as if the cards had two independent chances."""
    return 1.0 - (1.0 - potential) ** 2


class Frequencies:
    """How often one player folded, called and raised, by round and bets to call; counts are kept."""

    __slots__ = ("counts",)

    def __init__(self, counts: object = None) -> None:
        table = np.zeros((4, 3, 3)) if counts is None else np.asarray(counts)
        if table.shape != (4, 3, 3) or (table < 0).any():
            raise ValueError(f"counts of shape {table.shape}")
        self.counts: list[list[list[int]]] = table.astype(int).tolist()

    def add(self, street: int, bets: int, action: int) -> None:
        """Count one action; `bets` is 0, 1 or 2."""
        self.counts[street][bets][action] += 1

    def mixed(self, street: int, bets: int) -> list[float]:
        """Fold, call and raise frequencies, filled up from the rounds before."""
        table: list[float] = DEFAULT_FREQUENCIES[bets].tolist()
        for earlier in range(street + 1):
            counts = self.counts[earlier][bets]
            n = sum(counts)
            own = min(1.0, n / ENOUGH)
            if n:
                table = [own * count / n + (1.0 - own) * p for count, p in zip(counts, table, strict=True)]
        return table


class Action(NamedTuple):
    """One action of an opponent with what it was an answer to, and the frequencies to judge it by."""

    seat: int
    street: int
    board: tuple[int, ...]
    action: int
    before: Betting
    voluntary: bool
    n_in: int  # others who have entered this street's betting of their own will
    frequencies: list[float]


def bets_to_call(betting: Betting) -> int:
    """0, 1 or 2 (two or more), the context of the frequency tables."""
    return min(2, betting.bets_to_call)


def choose(triple: Triple, legal: tuple[int, ...], u: float) -> int:
    """The action a uniform number picks from a triple; what is not legal becomes a call."""
    action = FOLD if u < triple[0] else CALL if u < triple[0] + triple[1] else RAISE
    return action if action in legal else CALL


class ModellingBot(Bot):
    """Keeps weight tables and frequencies; subclasses decide."""

    def __init__(self, generic: bool, specific: bool) -> None:
        self.generic = generic
        self.specific = specific
        self.learns = specific
        self._players: dict[str, Frequencies] = {}
        self._pending: list[Action] = []
        self._weights: dict[int, NDArray[np.float64]] = {}
        self._voluntary: list[bool] = []
        self._street = 0
        self._bluffing = False

    def new_hand(self, view: View) -> None:
        """Everybody may hold anything again."""
        self._pending.clear()
        self._weights.clear()
        self._voluntary = [False] * view.rules.n_seats
        self._street = 0
        self._bluffing = False

    def observe(self, view: View, before: Betting, action: int) -> None:
        """Note the action; who bets against a semi-bluff ends it."""
        seat, street = before.seat, before.street
        if street != self._street:
            self._street = street
            self._voluntary = [False] * len(self._voluntary)
        if seat != view.seat:
            if action == RAISE:
                self._bluffing = False
            if self.generic or self.specific:
                self._note(view, before, action)
        if action == RAISE or (action == CALL and before.to_call):
            self._voluntary[seat] = True

    def _note(self, view: View, before: Betting, action: int) -> None:
        seat, bets = before.seat, bets_to_call(before)
        if self.generic and action != FOLD and view.betting.live[view.seat]:
            board = view.board[: BOARD_SIZES[before.street]]
            n_in = self._others_in(before, seat)
            frequencies = self.frequencies(view.players[seat], before.street, bets)
            self._pending.append(
                Action(seat, before.street, board, action, before, self._voluntary[seat], n_in, frequencies)
            )
        if self.specific:
            self._players.setdefault(view.players[seat], Frequencies()).add(before.street, bets, action)

    def _others_in(self, betting: Betting, seat: int) -> int:
        """Live players besides `seat` who have entered this street's betting of their own will."""
        pairs = enumerate(zip(self._voluntary, betting.live, strict=True))
        return sum(entered and live for other, (entered, live) in pairs if other != seat)

    def end_hand(self, view: View, result: HandResult) -> None:
        """The hand's notes are of no use any more."""
        self._pending.clear()

    def save_memory(self, path: Path) -> None:
        """Write the counts of every player seen, as JSON."""
        counts = {player: known.counts for player, known in sorted(self._players.items())}
        write_whole(path, json.dumps({"schema": MEMORY_SCHEMA, "players": counts}).encode())

    def load_memory(self, path: Path) -> None:
        """Take up counts written before."""
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if document["schema"] != MEMORY_SCHEMA:
                raise ValueError(f"schema {document['schema']!r}")
            self._players = {str(player): Frequencies(counts) for player, counts in document["players"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BotError(f"expected frequencies as written by {self.name} in {path}, got {error!r}") from error

    def frequencies(self, player: str, street: int, bets: int) -> list[float]:
        """What this player does in this context as far as it is known."""
        known = self._players.get(player)
        if known is None:
            table: list[float] = DEFAULT_FREQUENCIES[bets].tolist()
            return table
        return known.mixed(street, bets)

    def weights(self, view: View) -> dict[int, NDArray[np.float64]]:
        """Weight tables (1326,) of the opponents still in, all actions so far worked in."""
        live = view.betting.live
        for note in self._pending:
            if live[note.seat]:
                self._apply(note, self._table(note.seat, len(live)))
        self._pending.clear()
        return {seat: self._table(seat, len(live)) for seat in range(len(live)) if live[seat] and seat != view.seat}

    def _table(self, seat: int, n_seats: int) -> NDArray[np.float64]:
        table = self._weights.get(seat)
        if table is None:
            table = self._weights[seat] = np.ones(N_HOLES) if self.generic else reasonable_weights(n_seats)
        return table

    def _apply(self, note: Action, weights: NDArray[np.float64]) -> None:
        """Re-weight by an action: the threshold the player's frequencies imply, blurred by sigma."""
        values = hand_values(note.street, note.board, len(note.before.live))
        mu = action_threshold(note.frequencies, note.action)
        if mu >= NO_INFORMATION:
            reweight(weights, values, mu, 0.4 * (1.0 - mu))

    def strength(self, view: View) -> tuple[float, float]:
        """HS against all opponents still in (the product over them) and one-card PPot against their mean table."""
        tables = self.weights(view)
        known = know_board(view.board)
        a, b = max(view.hole), min(view.hole)
        hs, field = 1.0, np.zeros(N_HOLES)
        for table in tables.values():
            hs *= strength_against(a, b, known.ranks, HOLE_CARDS, table)
            field += table / table.sum()
        return hs, one_card_potential(a, b, known.cards, known.ranks, HOLE_CARDS, field)


def hand_values(street: int, board: tuple[int, ...], n_seats: int) -> NDArray[np.float32]:
    """How good each hand (1326,) is, 0..1: EHS, before the flop the percentile of its income rate."""
    if street:
        return know_board(board).ehs
    percentiles: NDArray[np.float32] = INCOME_PERCENTILE[0 if n_seats == 2 else 2]
    return percentiles


def action_threshold(frequencies: list[float], action: int) -> float:
    """mu: the value from which on a player with these frequencies takes this action or a stronger one."""
    mu = 1.0 - frequencies[RAISE]
    return mu if action == RAISE else mu - frequencies[CALL]


@lru_cache(maxsize=2)
def _reasonable(heads_up: bool) -> NDArray[np.float64]:
    weights = np.ones(N_HOLES)
    mu = action_threshold(DEFAULT_FREQUENCIES[1].tolist(), CALL)
    reweight(weights, INCOME_PERCENTILE[0 if heads_up else 2], mu, 0.4 * (1.0 - mu))
    weights.setflags(write=False)
    return weights


def reasonable_weights(n_seats: int) -> NDArray[np.float64]:
    """The fixed table of somebody who has called one bet before the flop."""
    return _reasonable(n_seats == 2)
