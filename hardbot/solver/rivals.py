"""Habits of a player in the solver's buckets, and the best answer to them.

`fit_habits` turns counts of a player's decisions by (decision point, bucket, action) into a strategy: counts are pooled
over neighbouring buckets with a kernel, each betting context is shrunk towards the next coarser one (the levels of
model/context.py), and what remains uncertain leans on a base strategy, the equilibrium: trust in the data grows with
the observations of the context (data-biased responses: Johanson and Bowling, "Data Biased Robust Counter Strategies",
AISTATS 2009). `respond` then learns the best answer to that strategy by regret minimisation against a player who
does not change; where nothing was ever learned it plays the base strategy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import StrategyError
from hardbot.game.jit import njit
from hardbot.game.preflop import CLASS_EQUITY
from hardbot.game.rules import HEADS_UP, N_STREETS
from hardbot.game.tree import betting_tree
from hardbot.model.context import street_contexts
from hardbot.model.likelihood import coarse_levels, shrink
from hardbot.model.policy import TablePolicy, cardless_policy
from hardbot.solver.abstraction import Abstraction, BucketTables
from hardbot.solver.cfr import Board, Game, Scratch, deal_board, walk_preflop
from hardbot.solver.iterations import Desk, new_board, new_game, new_scratch, set_board
from hardbot.solver.rounds import round_map
from hardbot.solver.strategy import Strategy, nodes_of, probabilities

Floats = NDArray[np.float64]
Counts = tuple[Floats, Floats, Floats, Floats]  # by street: (decision points, buckets, 3)
THRESHOLD = 10.0  # opponent mass (of 1,081 hands) below which a line is sampled


@dataclass(frozen=True)
class HabitSettings:
    """How counts become probabilities."""

    width: float = 0.03  # of the kernel over buckets, in units of equity
    taus: tuple[float, float, float, float] = (6.0, 6.0, 6.0, 6.0)  # pseudo-counts from each coarser level
    tau_base: float = 30.0  # observations of a context that weigh as much as the base strategy
    floor: float = 0.005  # share of the uniform distribution


def empty_counts(abstraction: Abstraction) -> Counts:
    """Zeros for every street."""
    sizes = abstraction.sizes
    parts = [np.zeros((street_contexts(street).n_nodes, sizes[street], 3)) for street in range(N_STREETS)]
    return parts[0], parts[1], parts[2], parts[3]


def bucket_kernel(abstraction: Abstraction, street: int, width: float) -> Floats:
    """Weights (k, k) with which the buckets of a street count for each other; 1 for itself."""
    if street == 0:
        points = CLASS_EQUITY[:, None]
    elif street == 3:
        scores = np.arange(len(abstraction.river)) / (len(abstraction.river) - 1)
        n = int(abstraction.river.max()) + 1
        sums = np.bincount(abstraction.river, weights=scores, minlength=n)
        points = (sums / np.maximum(np.bincount(abstraction.river, minlength=n), 1))[:, None]
    else:
        centroids = abstraction.flop if street == 1 else abstraction.turn
        points = centroids.astype(np.float64) if len(centroids) else CLASS_EQUITY[:, None]
    distance = np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2))
    kernel: Floats = np.exp(-distance / width)
    return kernel


def fit_habits(counts: Counts, base: Strategy, settings: HabitSettings | None = None) -> Strategy:
    """The player's strategy as far as it was seen, the base strategy where it was not."""
    settings = settings or HabitSettings()
    parts = []
    for street in range(N_STREETS):
        found = _street_habits(street, counts[street], _by_node(base, street), base.abstraction, settings)
        parts.append(_quantised(found, base, street))
    return Strategy(base.abstraction, (parts[0], parts[1], parts[2], parts[3]))


def exact_habits(policy: TablePolicy, base: Strategy) -> Strategy:
    """Habits of a player that looks at no cards, such as always_call."""
    parts = []
    tree = betting_tree(HEADS_UP)
    for street in range(N_STREETS):
        first, last = tree.first_of_street[street], tree.first_of_street[street + 1]
        rows = policy.probabilities[policy.offsets[first:last]].astype(np.float64)
        k = base.abstraction.sizes[street]
        parts.append(_quantised(np.repeat(rows[:, None, :], k, axis=1), base, street))
    return Strategy(base.abstraction, (parts[0], parts[1], parts[2], parts[3]))


def calling_strategy(like: Strategy) -> Strategy:
    """Check or call everywhere, over the same buckets: next to nothing when packed."""
    return exact_habits(cardless_policy(HEADS_UP, lambda legal: (0.0, 1.0, 0.0)), like)


def _street_habits(
    street: int, counts: Floats, base: Floats, abstraction: Abstraction, settings: HabitSettings
) -> Floats:
    """P(action | bucket) (decision points, k, 3)."""
    contexts = street_contexts(street)
    kernel = bucket_kernel(abstraction, street, settings.width)
    pooled = np.einsum("bc,sca->sba", kernel, counts)
    both = np.concatenate([pooled, np.zeros_like(pooled)])  # contexts number the decision points of two blind orders
    first = coarse_levels(both, contexts, settings.taus)[0][contexts.level[1][: len(counts)]]
    seen = np.zeros(contexts.sizes[1])
    np.add.at(seen, contexts.level[1][: len(counts)], counts.sum(axis=(1, 2)))
    trust = seen[contexts.level[1][: len(counts)]]
    trust = (trust / (trust + settings.tau_base))[:, None, None]
    p = shrink(pooled, trust * first + (1.0 - trust) * base, settings.taus[0])
    legal = contexts.legal[: len(counts)]
    uniform = (legal / legal.sum(axis=1, keepdims=True))[:, None, :]
    mixed: Floats = ((1.0 - settings.floor) * p + settings.floor * uniform) * legal[:, None, :]
    normalised: Floats = mixed / mixed.sum(axis=2, keepdims=True)
    return normalised


def _by_node(strategy: Strategy, street: int) -> Floats:
    """A strategy's probabilities (decision points, k, 3) of one street."""
    tree = betting_tree(HEADS_UP)
    first, last = tree.first_of_street[street], tree.first_of_street[street + 1]
    rows = probabilities(strategy, street)
    places = round_map(HEADS_UP)
    found = np.zeros((last - first, rows.shape[2], 3))
    for start in range(rows.shape[0]):
        for seat in (0, 1):
            node, action = places.node[street][start, seat], places.action[street][start, seat]
            for k in np.flatnonzero(node >= 0):
                found[node[k] - first, :, action[k]] = rows[start, seat, :, k]
    return found


def _quantised(by_node: Floats, like: Strategy, street: int) -> NDArray[np.uint8]:
    """Choices (starts, 2, k, 13) as bytes from probabilities by decision point, in fifteenths: small when packed."""
    places = round_map(HEADS_UP)
    first = betting_tree(HEADS_UP).first_of_street[street]
    part = np.zeros_like(like.choices[street])
    for start in range(part.shape[0]):
        for seat in (0, 1):
            node, action = places.node[street][start, seat], places.action[street][start, seat]
            for k in np.flatnonzero(node >= 0):
                part[start, seat, :, k] = 17 * np.rint(15.0 * by_node[node[k] - first, :, action[k]])
    return part


@njit
def _answer(
    first: int, n: int, seat: int, game: Game, board: Board, desk: Desk, scratch: Scratch, tables: BucketTables
) -> None:
    """Iterations in which only `seat` learns."""
    for t in range(first, first + n):
        deal_board(game.random, desk.cards)
        set_board(board, desk, tables)
        walk_preflop(seat, float(t), game, board, scratch)


def respond(
    habits: Strategy,
    base: Strategy,
    tables: BucketTables,
    n_boards: int,
    seed: int = 1,
    progress: Callable[[str, int, int], None] | None = None,
    start: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
) -> Strategy:
    """The best answer to `habits` that `n_boards` boards teach, for both seats.

    It starts from nothing or, with weights by street, as the base strategy, held as firmly as the noise of so many
    boards (about n^1.5) times the weight.
    """
    if habits.abstraction.sizes != base.abstraction.sizes or n_boards < 1:
        raise StrategyError(f"expected strategies over the same buckets and boards of 1 or more, got {n_boards}")
    sizes = habits.abstraction.sizes
    parts = [part.copy() for part in base.choices]
    board, desk = new_board(max(sizes))
    scratch = new_scratch(max(sizes))
    for seat in (0, 1):
        game = new_game(sizes, (0.0, THRESHOLD, THRESHOLD, THRESHOLD), seed + seat)
        streets = (game.preflop, game.flop, game.turn, game.river)
        for street, table in enumerate(streets):
            table.regrets[:, 1 - seat] = probabilities(habits, street)[:, 1 - seat]
            table.regrets[:, seat] = start[street] * n_boards**1.5 * probabilities(base, street)[:, seat]
        done = 0
        while done < n_boards:
            n = min(500, n_boards - done)
            _answer(done + 1, n, seat, game, board, desk, scratch, tables)
            done += n
            if progress is not None:
                progress(f"answer in seat {seat}", done, n_boards)
        for street, table in enumerate(streets):
            _take_best(table.regrets[:, seat], parts[street][:, seat], street, seat)
    return Strategy(habits.abstraction, (parts[0], parts[1], parts[2], parts[3]))


def _take_best(regrets: NDArray[np.float32], choices: NDArray[np.uint8], street: int, seat: int) -> None:
    """Write the action of the highest regret into choices (starts, k, 13), where there is any."""
    for _, place, legal in nodes_of(street, seat):
        values = regrets[:, :, place : place + len(legal)]
        learned = (values != 0.0).any(axis=2)
        best = np.eye(len(legal), dtype=np.uint8)[values.argmax(axis=2)] * np.uint8(255)
        view = choices[:, :, place : place + len(legal)]
        view[learned] = best[learned]
