"""Exact best response to an opponent who does not look at its cards, over all boards.

Such an opponent's range stays as dealt, so a hand is worth what its chance of winning against all hands makes of it.
From the river backwards: a river round's value is a function of the score alone; a turn hand's is the mean over its
rivers; and so on, each board taken once up to suits (134,459 rivers inside 16,432 turns inside 1,755 flops). Rounds
with the same stake and the same opponent behaviour are the same round and are computed once: always_raise has 12 river
rounds for each seat instead of 567. Reference values (docs/solver.md): +1.163476 sb a hand against always_call,
+3.697693 against always_raise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardbot.game.cards import HOLE_CARDS, HOLE_CLASS, N_CLASSES
from hardbot.game.isomorphism import SUIT_ORDERS
from hardbot.game.jit import njit
from hardbot.model.board_index import HOLE_RENAMED, BoardIndex, board_index, set_number
from hardbot.model.policy import TablePolicy
from hardbot.solver.boards import MAX_SCORE, N_RIVER_HANDS, score_board, sort_board
from hardbot.solver.cfr import Floats, Ints
from hardbot.solver.exploit import opponent_masses, respond_preflop, rival_of_policy
from hardbot.solver.response import Rival, best_of_round, set_stakes
from hardbot.solver.rounds import END_OF, N_STARTS, PREFLOP_END_OF, round_map

Progress = Callable[[int, int], None]
Values = NDArray[np.float64]
_BOARDS_AT_ONCE = 128


@dataclass(frozen=True)
class ExactResponse:
    """What a best response wins, sb a hand; by seat: in the big blind, on the button."""

    value: float
    by_seat: tuple[float, float]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


class Rounds(NamedTuple):
    """Different rounds of one street: the opponent's reaches, stakes, the responder's seat, where each entry leads."""

    q: Floats  # (rounds, 16)
    stake: Floats  # (rounds,)
    seat: Ints  # (rounds,)
    follows: Ints  # (rounds, 16) round of the next street, -1 for none


def different_rounds(rival: Rival) -> tuple[Rounds, Rounds, Rounds, Ints]:
    """Flop, turn and river rounds that the opponent can reach, and the flop round (2, 7) of each seat and start."""
    tables, stakes = (rival.flop, rival.turn, rival.river), round_map().stakes[1:]
    found: list[dict[tuple[Any, ...], int]] = [{}, {}, {}]

    def visit(street: int, seat: int, start: int) -> int:
        q = tables[street][start, 1 - seat, 0]
        follows = [-1] * 16
        for k in range(13):
            end = int(END_OF[seat, k])
            if street < 2 and end >= 0 and q[k] > 0.0:
                follows[k] = visit(street + 1, seat, 9 * start + end)
        key = (seat, float(stakes[street][start]), tuple(q.tolist()), tuple(follows))
        return found[street].setdefault(key, len(found[street]))

    first = np.full((2, N_STARTS[1]), -1, dtype=np.int64)
    for seat in (0, 1):
        for k in range(PREFLOP_END_OF.shape[1]):
            end = int(PREFLOP_END_OF[seat, k])
            if end >= 0 and rival.preflop[0, 1 - seat, 0, k] > 0.0:
                first[seat, end] = visit(0, seat, end)
    parts = [_rounds(list(street)) for street in found]
    return parts[0], parts[1], parts[2], first


def _rounds(keys: list[tuple[Any, ...]]) -> Rounds:
    return Rounds(
        np.array([key[2] for key in keys], dtype=np.float32).reshape(len(keys), 16),
        np.array([key[1] for key in keys], dtype=np.float32),
        np.array([key[0] for key in keys], dtype=np.int64),
        np.array([key[3] for key in keys], dtype=np.int64).reshape(len(keys), 16),
    )


@njit
def _round_value(q: Floats, after: Floats, ws: Floats, fs: Floats, seat: int, w: Floats) -> float:
    """Value for one hand against one opponent hand on average; after (16,): values after each entry."""
    for k in range(13):
        w[k] = q[k] * after[k]
    return best_of_round(w, q, ws, fs, seat)


@njit
def river_values(rivers: Rounds) -> Floats:
    """Value (rounds, 1981) of every score."""
    found = np.zeros((rivers.stake.shape[0], MAX_SCORE + 1), dtype=np.float32)
    ws, fs = np.zeros(16, dtype=np.float32), np.zeros(16, dtype=np.float32)
    after, w = np.zeros(16, dtype=np.float32), np.zeros(16, dtype=np.float32)
    for j in range(found.shape[0]):
        set_stakes(rivers.stake[j], 2.0, True, ws, fs)
        for score in range(MAX_SCORE + 1):
            after[:] = 2.0 * score / MAX_SCORE - 1.0
            found[j, score] = _round_value(rivers.q[j], after, ws, fs, rivers.seat[j], w)
    return found


@njit
def street_values(rounds: Rounds, bet: float, after: Floats, n_next: float, out: Floats) -> None:
    """Values (rounds, 1326) from sums (next rounds, 1326) over n_next next cards."""
    ws, fs = np.zeros(16, dtype=np.float32), np.zeros(16, dtype=np.float32)
    mean, w = np.zeros(16, dtype=np.float32), np.zeros(16, dtype=np.float32)
    for j in range(rounds.stake.shape[0]):
        set_stakes(rounds.stake[j], bet, False, ws, fs)
        for h in range(1326):
            for k in range(13):
                following = rounds.follows[j, k]
                mean[k] = after[following, h] / n_next if following >= 0 else 0.0
            out[j, h] = _round_value(rounds.q[j], mean, ws, fs, rounds.seat[j], w)


@njit
def sum_rivers(cards: Ints, by_score: Floats, sums: Floats) -> None:
    """Sums (rounds, 1326) of river values over the 48 rivers of a turn board (cards[:4])."""
    holes, order = np.zeros(N_RIVER_HANDS, dtype=np.int64), np.zeros((N_RIVER_HANDS, 3), dtype=np.int64)
    counts, scores = np.zeros(7464, dtype=np.int32), np.zeros(N_RIVER_HANDS, dtype=np.int32)
    sums[:] = 0.0
    for card in range(52):
        if card in (cards[0], cards[1], cards[2], cards[3]):
            continue
        cards[4] = card
        sort_board(cards, holes, order, counts)
        score_board(order, scores)
        for j in range(by_score.shape[0]):
            row, out = by_score[j], sums[j]
            for i in range(N_RIVER_HANDS):
                out[holes[i]] += row[scores[i]]


@njit
def add_turns(
    boards: NDArray[np.int8],
    weights: Ints,
    flop_weights: Ints,
    flop_numbers: NDArray[np.int32],
    flop_renamings: NDArray[np.int8],
    turns: Rounds,
    by_score: Floats,
    sums: Floats,
) -> None:
    """Add the turn values of some boards to the sums (rounds, 1755, 1326) of the flops they come from."""
    cards, flop = np.zeros(5, dtype=np.int64), np.zeros(3, dtype=np.int64)
    after = np.zeros((by_score.shape[0], 1326), dtype=np.float32)
    values = np.zeros((turns.stake.shape[0], 1326), dtype=np.float32)
    for b in range(boards.shape[0]):
        for i in range(4):
            cards[i] = boards[b, i]
        sum_rivers(cards, by_score, after)
        street_values(turns, 2.0, after, 46.0, values)
        for turn in range(4):
            for i in range(3):
                flop[i] = cards[i if i < turn else i + 1]
            number = set_number(flop, 3)
            row, renamed = flop_numbers[number], HOLE_RENAMED[flop_renamings[number]]
            share = weights[b] / flop_weights[row]
            for h in range(1326):
                a, c = HOLE_CARDS[h, 0], HOLE_CARDS[h, 1]
                if a not in (cards[0], cards[1], cards[2], cards[3]) and c not in (
                    cards[0],
                    cards[1],
                    cards[2],
                    cards[3],
                ):
                    for j in range(values.shape[0]):
                        sums[j, row, renamed[h]] += share * values[j, h]


def _even_out(sums: Floats, index: BoardIndex) -> None:
    """Average over the suit orders that keep each flop: the sums went to one of several equivalent hands."""
    orders = np.array(SUIT_ORDERS)
    for row, board in enumerate(index.cards.astype(np.int64)):
        same = [p for p, o in enumerate(orders) if set((board // 4 * 4 + o[board % 4]).tolist()) == set(board.tolist())]
        if len(same) > 1:
            sums[:, row] = np.mean([sums[:, row, HOLE_RENAMED[p]] for p in same], axis=0)


def exact_after(rival: Rival, progress: Progress | None = None) -> Values:
    """Values (2 seats, 7 starts, 169) after the flop against a rival with one bucket, sb times opponent mass.

    About half a minute for always_call or always_raise.
    """
    flops, turns, rivers, first = different_rounds(rival)
    flop_index, turn_index = board_index(3), board_index(4)
    sums = np.zeros((len(turns.stake), len(flop_index.cards), 1326), dtype=np.float32)
    by_score = river_values(rivers)
    for at in range(0, len(turn_index.cards), _BOARDS_AT_ONCE):
        part = slice(at, at + _BOARDS_AT_ONCE)
        add_turns(
            turn_index.cards[part],
            turn_index.weights[part],
            flop_index.weights,
            flop_index.board,
            flop_index.renaming,
            turns,
            by_score,
            sums,
        )
        if progress is not None:
            progress(min(at + _BOARDS_AT_ONCE, len(turn_index.cards)), len(turn_index.cards))
    _even_out(sums, flop_index)
    return _after_preflop(rival, flops, first, sums)


def exact_response(policy: TablePolicy, progress: Progress | None = None) -> ExactResponse:
    """Best response to a policy that ignores its cards."""
    rival = rival_of_policy(policy)
    return response_value(rival, exact_after(rival, progress))


def response_value(rival: Rival, after: Values) -> ExactResponse:
    """What the best response wins, given the values after the flop."""
    value, _ = respond_preflop(after, opponent_masses(rival))
    return ExactResponse(float(value.mean()), (float(value[0]), float(value[1])))


def _after_preflop(rival: Rival, flops: Rounds, first: Ints, sums: Floats) -> Values:
    """Values (2, 7, 169) after the flop, sb times opponent mass."""
    index = board_index(3)
    size = np.bincount(HOLE_CLASS, minlength=N_CLASSES)
    totals = np.zeros((len(flops.stake), N_CLASSES))
    values = np.zeros((len(flops.stake), 1326), dtype=np.float32)
    for row, cards in enumerate(index.cards):
        street_values(flops, 1.0, np.ascontiguousarray(sums[:, row]), 47.0, values)
        free = ~np.isin(HOLE_CARDS, cards).any(axis=1)
        for j in range(len(values)):
            totals[j] += index.weights[row] * np.bincount(HOLE_CLASS, weights=values[j] * free, minlength=N_CLASSES)
    found = np.zeros((2, N_STARTS[1], N_CLASSES))
    for seat in (0, 1):
        for k in range(PREFLOP_END_OF.shape[1]):
            end = int(PREFLOP_END_OF[seat, k])
            if end >= 0 and first[seat, end] >= 0:
                reach = float(rival.preflop[0, 1 - seat, 0, k])
                found[seat, end] = reach * comb(47, 2) * totals[first[seat, end]] / size / comb(48, 3)
    return found
