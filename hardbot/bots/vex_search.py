"""vexbot's search: miximax over the rest of the betting, in machine code.

Positions are numbered in preorder, so that what may follow a position is one stretch of the arrays and a backward
sweep over it is the whole search. Every position after the current street has a value for each of the 21 strengths
our hand may then have (vex_strength); where a street begins, values are averaged over the strengths our hand may move
to: exactly (all next cards) from the street we are on, by the population's Markov chain further on. On the current
street our hand is known and a value is one number.

    own decision       the largest value of a child (miximax), or a mixture of all (miximix)
    opponent decision  children's values weighted with the frequencies observed in such contexts
    fold               what is in the pot from either side
    showdown           paid * (2 Pr(win) - 1), Pr(win) = share of the opponent's histogram below our strength

A context (Billings et al., "Game-Tree Search with Adaptation in Stochastic Imperfect-Information Games", 2004) is seen
at four levels: the exact sequence; bets and raises of each player; those of the opponent; all of them. Each level with
n observations (old ones count less, as in the histograms) takes 1 - .95^n of the weight the finer levels have left; the
rest goes to the default model. For actions, levels two to four also hold the street and the legal actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.vex_strength import N_CELLS, N_GRID
from hardbot.game.betting import Betting
from hardbot.game.jit import njit
from hardbot.game.rules import HEADS_UP
from hardbot.game.tree import betting_tree

N_LEVELS = 4
_NEGLIGIBLE = 1e-4

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int32]


@dataclass(frozen=True)
class SearchTree:
    """The heads-up betting tree in preorder; arrays by place, -1 for "none"."""

    nodes: tuple[Betting, ...]
    place: Ints  # (nodes,) place of a node of betting_tree(HEADS_UP)
    child: Ints  # (n, 3)
    stop: Ints  # (n,) one past the last place below
    street: NDArray[np.int8]  # (n,)
    seat: NDArray[np.int8]  # (n,) to act, -1 at an end
    opens: NDArray[np.bool_]  # (n,) first decision of a later street: a card was dealt before it
    fold_sb: Floats  # (n, 2) what each seat wins where the other, or itself, has folded
    paid_sb: Floats  # (n,) paid by each seat at a showdown, -1 elsewhere
    action_contexts: Ints  # (2, n, 4) by seat of the observer
    showdown_contexts: Ints  # (2, n, 4)
    n_action_contexts: int
    n_showdown_contexts: int


@lru_cache(maxsize=1)
def search_tree() -> SearchTree:
    """The one tree of the competition's rules."""
    tree = betting_tree(HEADS_UP)
    order = _preorder(tree.child)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    nodes = tuple(tree.nodes[index] for index in order)
    child = tree.child[order]
    child[child >= 0] = place[child[child >= 0]]
    stop = np.arange(1, len(order) + 1, dtype=np.int32)
    for p in range(len(order) - 1, -1, -1):
        stop[p] = max([p + 1] + [int(stop[c]) for c in child[p] if c >= 0])
    paid = tree.contributions[order] / HEADS_UP.bet_sizes[0]
    winner = tree.winner[order]
    fold_sb = np.zeros((len(order), 2))
    for seat in range(2):
        fold_sb[winner == seat, seat] = paid[winner == seat, 1 - seat]
        fold_sb[winner == 1 - seat, seat] = -paid[winner == 1 - seat, seat]
    shown = np.array([node.is_showdown for node in nodes])
    actions, n_actions = _contexts([_action_keys(node) for node in nodes])
    showdowns, n_showdowns = _contexts([_showdown_keys(node) for node in nodes])
    return SearchTree(
        nodes=nodes,
        place=place,
        child=np.ascontiguousarray(child),
        stop=stop,
        street=tree.street[order],
        seat=tree.seat[order],
        opens=np.array([not n.is_over and n.parent is not None and n.parent.street < n.street for n in nodes]),
        fold_sb=fold_sb,
        paid_sb=np.where(shown, paid[:, 0], -1.0),
        action_contexts=actions,
        showdown_contexts=showdowns,
        n_action_contexts=n_actions,
        n_showdown_contexts=n_showdowns,
    )


def _preorder(child: Ints) -> list[int]:
    order: list[int] = []
    pending = [0]
    while pending:
        index = pending.pop()
        order.append(index)
        pending.extend(int(c) for c in child[index][::-1] if c >= 0)
    return order


def raise_counts(node: Betting) -> tuple[int, int]:
    """Bets and raises of seat 0 and seat 1 so far."""
    counts = [0, 0]
    position, parent = node, node.parent
    while parent is not None:
        if position.text[len(parent.text)] == "r":
            counts[parent.seat] += 1
        position, parent = parent, parent.parent
    return counts[0], counts[1]


def _levels(node: Betting, opponent: int, extra: object) -> tuple[object, ...]:
    raises = raise_counts(node)
    theirs, ours = raises[opponent], raises[1 - opponent]
    return (
        ("exact", node.text, opponent),
        ("each", theirs, ours, extra),
        ("theirs", theirs, extra),
        ("all", theirs + ours, extra),
    )


def _action_keys(node: Betting) -> list[tuple[object, ...] | None]:
    """Keys by seat of the observer; only the other seat's decisions have any."""
    extra = (node.street, node.legal)
    return [_levels(node, 1 - seat, extra) if node.seat == 1 - seat else None for seat in range(2)]


def _showdown_keys(node: Betting) -> list[tuple[object, ...] | None]:
    return [_levels(node, 1 - seat, None) if node.is_showdown else None for seat in range(2)]


def _contexts(keys: list[list[tuple[object, ...] | None]]) -> tuple[Ints, int]:
    number: dict[object, int] = {}
    ids = np.full((2, len(keys), N_LEVELS), -1, dtype=np.int32)
    for p, by_seat in enumerate(keys):
        for seat, levels in enumerate(by_seat):
            if levels is not None:
                ids[seat, p] = [number.setdefault(key, len(number)) for key in levels]
    return ids, len(number)


@njit
def record(contexts: Ints, cell: int, decay: float, trust: float, counts: Floats, seen: Floats) -> None:
    """Note one observation in the four contexts of a place: older ones there fade by `decay`.

    `seen` (contexts, 2) has the number n of observations, faded alike, and the share trust^n left to coarser levels.
    """
    for context in contexts:
        counts[context] *= decay
        counts[context, cell] += 1.0
        seen[context, 0] = seen[context, 0] * decay + 1.0
        seen[context, 1] = trust ** seen[context, 0]


@njit
def blend(contexts: Ints, default: Floats, counts: Floats, seen: Floats, out: Floats) -> None:
    """Mix the levels' relative frequencies and the default into out."""
    out[:] = 0.0
    left = 1.0
    for context in contexts:
        if seen[context, 0] > 0.0:
            share = left * (1.0 - seen[context, 1]) / seen[context, 0]
            for i in range(out.shape[0]):
                out[i] += share * counts[context, i]
            left *= seen[context, 1]
            if left < _NEGLIGIBLE:
                break
    for i in range(out.shape[0]):
        out[i] += left * default[i]


@njit
def _mixed_value(values: Floats, n: int, temperature: float) -> float:
    """Mean of an own decision's values (n,) if better ones are taken more often (a soft maximum)."""
    best = values[:n].max()
    total, mean = 0.0, 0.0
    for i in range(n):
        weight = np.exp((values[i] - best) / temperature)
        total += weight
        mean += weight * values[i]
    return mean / total


@njit
def search_later_streets(
    root: int,
    seat: int,
    temperature: float,
    child: Ints,
    stop: Ints,
    street: NDArray[np.int8],
    to_act: NDArray[np.int8],
    opens: NDArray[np.bool_],
    fold_sb: Floats,
    paid_sb: Floats,
    action_contexts: Ints,
    action_counts: Floats,
    action_seen: Floats,
    action_default: Floats,
    showdown_contexts: Ints,
    showdown_counts: Floats,
    showdown_seen: Floats,
    showdown_default: Floats,
    moves: Singles,
    values: Singles,
) -> None:
    """Fill values (n, 21): sb won by `seat` below `root` on streets after its own, by our strength.

    A position that opens a street more than one ahead holds values by the strength of the street before it.
    `temperature` 0 is miximax. `moves` (4, 21, 21) has the strengths after a card in rows, those before in columns.
    Arrays with contexts or defaults are those of our seat.
    """
    now = street[root]
    cells = np.empty(N_CELLS)
    triple = np.empty(3)
    some = np.empty(3)
    turned = np.empty(N_GRID, dtype=np.float32)
    for p in range(stop[root] - 1, root - 1, -1):
        if street[p] == now:
            continue
        row = values[p]
        if to_act[p] < 0:
            if paid_sb[p] < 0.0:
                row[:] = fold_sb[p, seat]
                continue
            blend(showdown_contexts[p], showdown_default[p], showdown_counts, showdown_seen, cells)
            showdown_values(cells, paid_sb[p], row)
            continue
        if to_act[p] != seat:
            blend(action_contexts[p], action_default[p], action_counts, action_seen, triple)
            row[:] = 0.0
            for action in range(3):
                if child[p, action] >= 0 and triple[action] > 0.0:
                    weight, following = np.float32(triple[action]), values[child[p, action]]
                    for g in range(N_GRID):
                        row[g] += weight * following[g]
        elif temperature > 0.0:
            for g in range(N_GRID):
                n = 0
                for action in range(3):
                    if child[p, action] >= 0:
                        some[n] = values[child[p, action], g]
                        n += 1
                row[g] = _mixed_value(some, n, temperature)
        else:
            row[:] = -np.inf
            for action in range(3):
                if child[p, action] >= 0:
                    following = values[child[p, action]]
                    for g in range(N_GRID):
                        row[g] = max(row[g], following[g])
        if opens[p] and street[p] > now + 1:
            matrix = moves[street[p] - 1]
            turned[:] = 0.0
            for g in range(N_GRID):
                value = row[g]
                for h in range(N_GRID):
                    turned[h] += matrix[g, h] * value
            row[:] = turned


@njit
def showdown_values(cells: Floats, paid: float, row: Singles) -> None:
    """Fill row (21,): what a showdown is worth by our strength, against a histogram of 20 cells."""
    below = 0.0
    for g in range(N_GRID):
        row[g] = paid * (2.0 * below - 1.0)
        if g < N_CELLS:
            below += cells[g]


@njit
def search_street(
    root: int,
    seat: int,
    own: Floats,
    temperature: float,
    child: Ints,
    stop: Ints,
    street: NDArray[np.int8],
    to_act: NDArray[np.int8],
    fold_sb: Floats,
    paid_sb: Floats,
    action_contexts: Ints,
    action_counts: Floats,
    action_seen: Floats,
    action_default: Floats,
    showdown_contexts: Ints,
    showdown_counts: Floats,
    showdown_seen: Floats,
    showdown_default: Floats,
    values: Singles,
    known: Floats,
    action_values: Floats,
) -> None:
    """Fill action_values (n, 3): sb won by `seat` from each action at its decisions of this street below `root`.

    `own` (21,) is the distribution of our strength after the next card (on the river: now), `values` what
    search_later_streets has found; `known` (n,) is scratch.
    """
    now = street[root]
    cells = np.empty(N_CELLS)
    triple = np.empty(3)
    some = np.empty(3)
    ends = np.empty(N_GRID, dtype=np.float32)
    for p in range(stop[root] - 1, root - 1, -1):
        if street[p] != now:
            continue
        if to_act[p] < 0:
            if paid_sb[p] < 0.0:
                known[p] = fold_sb[p, seat]
            else:
                blend(showdown_contexts[p], showdown_default[p], showdown_counts, showdown_seen, cells)
                showdown_values(cells, paid_sb[p], ends)
                known[p] = _mean_value(own, ends)
            continue
        if to_act[p] != seat:
            blend(action_contexts[p], action_default[p], action_counts, action_seen, triple)
        n, best, mean = 0, -np.inf, 0.0
        for action in range(3):
            following = child[p, action]
            action_values[p, action] = -np.inf
            if following >= 0:
                value = known[following] if street[following] == now else _mean_value(own, values[following])
                action_values[p, action] = value
                some[n] = value
                best = max(best, value)
                mean += triple[action] * value if to_act[p] != seat else 0.0
                n += 1
        if to_act[p] == seat:
            mean = _mixed_value(some, n, temperature) if temperature > 0.0 else best
        known[p] = mean


@njit
def _mean_value(own: Floats, row: Singles) -> float:
    total = 0.0
    for g in range(N_GRID):
        total += own[g] * row[g]
    return total
