"""What vexbot believes of an opponent it has not seen: a plain sensible player, or the corpus.

Either is a strategy P(action | strength, position). Sent forward through the whole betting tree with the population's
moves of strength (vex_strength) it gives, at every position, how often each action is taken and, at every showdown,
with what hands: the same two kinds of figures vexbot later observes.

Frequencies are learned long before showdowns: an opponent that raises everything is known after ten hands, its hands in
each of 5,103 showdowns never. So the expected showdowns follow the frequencies (`expect_showdowns`): at every point the
opponent is held to raise the strongest of the hands it may have there as often as it was seen to raise, to fold the
weakest and to call with the rest, in part (`_BLIND`) whatever it holds. One who always raises shows any hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.vex_search import SearchTree, blend, search_tree
from hardbot.bots.vex_strength import N_CELLS, N_GRID, StrengthTable, strength_table
from hardbot.errors import BotError
from hardbot.game.betting import Betting
from hardbot.game.cards import HOLE_CLASS, N_CLASSES
from hardbot.game.jit import njit
from hardbot.game.rules import BOARD_SIZES, CALL, FOLD, RAISE

if TYPE_CHECKING:
    from hardbot.model.likelihood import ActionModel

PRIORS = ("default", "corpus")
_NOISE = 0.1  # share of the uniform distribution in the plain player's play
_SLOPE = 0.06  # half-width of the plain player's thresholds
_BOARDS = 24  # per street, to see which buckets hands of a strength are in
_SEED = 2010
_PREFLOP_PLACES = 32  # decisions, folds and flops: 22 of them
_BLIND = 0.2  # share of an opponent's actions that say nothing about its hand

Floats = NDArray[np.float64]
Strategy = Callable[[Betting], Floats]  # position -> P(action | strength) (169 or 21, 3)


@dataclass(frozen=True)
class Beliefs:
    """Figures at every place of the search tree; the opponent is whoever is to act, or sits opposite."""

    actions: Floats  # (n, 3)
    showdowns: Floats  # (2, n, 20) by seat of the observer


@lru_cache(maxsize=len(PRIORS))
def beliefs(prior: str) -> Beliefs:
    """Beliefs of a named prior; ModelError if `corpus` is asked for and there is no model."""
    if prior == "default":
        return spread(plain_strategy)
    if prior == "corpus":
        return spread(corpus_strategy())
    raise BotError(f"expected a prior of {', '.join(PRIORS)} for vexbot, got {prior!r}")


def spread(strategy: Strategy) -> Beliefs:
    """Send all hands of the player to act through the tree, for both seats."""
    tree = search_tree()
    actions = np.zeros((len(tree.nodes), 3))
    showdowns = np.zeros((2, len(tree.nodes), N_CELLS))
    triples = {p: strategy(node) for p, node in enumerate(tree.nodes) if not node.is_over}
    for player in range(2):
        _spread_player(tree, triples, player, actions, showdowns[1 - player])
    return Beliefs(actions, showdowns)


def _spread_player(tree: SearchTree, triples: dict[int, Floats], player: int, actions: Floats, shown: Floats) -> None:
    table = strength_table()
    weights = np.bincount(HOLE_CLASS, minlength=N_CLASSES) / len(HOLE_CLASS)
    reach: list[Floats] = [weights] * len(tree.nodes)
    for p, node in enumerate(tree.nodes):  # preorder: a parent comes before its children
        held = reach[p]
        if tree.opens[p]:
            held = held @ (table.flops if node.street == 1 else table.moves[node.street - 1])
        if node.is_over:
            if node.is_showdown:
                shown[p] = _cells(held / held.sum())
            continue
        if node.seat == player:
            actions[p] = held @ triples[p] / held.sum()
        for action in node.legal:
            share = triples[p][:, action] if node.seat == player else 1.0
            reach[tree.child[p, action]] = held * share


def _cells(grid: Floats) -> Floats:
    """Histogram of 20 cells from weights on their 21 borders: half of a border's weight to either side."""
    halves = grid / 2
    halves[0], halves[-1] = grid[0], grid[-1]
    cells: Floats = halves[:-1] + halves[1:]
    return cells


def plain_strategy(node: Betting) -> Floats:
    """Bets good hands, raises better ones, folds when a bet is too dear: straight lines around fixed thresholds."""
    table = strength_table()
    strength = table.equity if node.street == 0 else np.linspace(0.0, 1.0, N_GRID)
    again = node.raises + (1 if node.street == 0 else 0)  # bets of this round
    p = np.zeros((len(strength), 3))
    if FOLD in node.legal:
        price = node.to_call / (node.pot + node.to_call)
        fold = _ramp((0.28 if node.street == 0 else 0.30) + 0.4 * price + 0.05 * (again - 1) - strength)
        bold = _ramp(strength - (0.54 if node.street == 0 else 0.64) - 0.07 * (again - 1))
    else:
        fold, bold = np.zeros(len(strength)), _ramp(strength - 0.56)
    p[:, RAISE] = bold if RAISE in node.legal else 0.0
    p[:, FOLD] = (1.0 - p[:, RAISE]) * fold
    p[:, CALL] = 1.0 - p[:, RAISE] - p[:, FOLD]
    legal = np.isin(np.arange(3), node.legal)
    mixed: Floats = (1.0 - _NOISE) * p + _NOISE * legal / legal.sum()
    return mixed


def _ramp(margin: Floats) -> Floats:
    ramp: Floats = np.clip(0.5 + margin / (2 * _SLOPE), 0.0, 1.0)
    return ramp


def corpus_strategy(model: ActionModel | None = None) -> Strategy:
    """The trained (default: the current) model's P(action | bucket, context), brought from buckets to strengths."""
    if model is None:
        from hardbot.model.likelihood import ActionModel

        model = ActionModel()
    shares = [np.eye(N_CLASSES)] + [_bucket_shares(model, street) for street in (1, 2, 3)]

    def strategy(node: Betting) -> Floats:
        triples: Floats = shares[node.street] @ model.bucket_probabilities(node)
        return triples

    return strategy


def _bucket_shares(model: ActionModel, street: int) -> Floats:
    """Which buckets hands of a strength are in (21, k), counted on sampled boards."""
    from hardbot.game.feature_tables import FEATURE_COLUMNS, features_on_board

    rng = np.random.Generator(np.random.PCG64([_SEED, street]))
    shares = np.full((N_GRID, model.model.streets[street].k), 1e-6)
    for _ in range(_BOARDS):
        board = tuple(rng.permutation(52)[: BOARD_SIZES[street]].tolist())
        buckets, strength = model.buckets(board), features_on_board(board)[:, FEATURE_COLUMNS.index("e")]
        held = buckets >= 0
        points = np.rint(strength[held] * N_CELLS).astype(np.int64)
        np.add.at(shares, (points, buckets[held]), 1.0)
    normalised: Floats = shares / shares.sum(axis=1, keepdims=True)
    return normalised


@dataclass(frozen=True)
class Deck:
    """Starting hands from weak to strong: what `expect_showdowns` needs of the population."""

    weights: Floats  # (169,) share of all hands
    flops: Floats  # (169, 21)
    moves: Floats  # (4, 21, 21)


@lru_cache(maxsize=1)
def deck() -> Deck:
    """Classes in the order of their equity."""
    table: StrengthTable = strength_table()
    order = np.argsort(table.equity, kind="stable")
    weights = np.bincount(HOLE_CLASS, minlength=N_CLASSES) / len(HOLE_CLASS)
    return Deck(weights[order], np.ascontiguousarray(table.flops[order]), table.moves)


@njit
def _split(held: Floats, width: int, triple: Floats, shares: Floats) -> None:
    """Fill shares (width, 3): the part of each strength that takes each action; strong hands raise, weak ones fold."""
    total = 0.0
    for g in range(width):
        total += held[g]
    fold, raise_from = triple[0] * total, (1.0 - triple[2]) * total
    before = 0.0
    for g in range(width):
        mass = held[g]
        after = before + mass
        if mass > 0.0:
            folded = min(max(fold - before, 0.0), mass) / mass
            raised = min(max(after - raise_from, 0.0), mass) / mass
        else:
            folded, raised = triple[0], triple[2]
        shares[g, 0] = (1.0 - _BLIND) * folded + _BLIND * triple[0]
        shares[g, 2] = (1.0 - _BLIND) * raised + _BLIND * triple[2]
        shares[g, 1] = 1.0 - shares[g, 0] - shares[g, 2]
        before = after


@njit
def expect_showdowns(
    observer: int,
    child: NDArray[np.int32],
    street: NDArray[np.int8],
    to_act: NDArray[np.int8],
    opens: NDArray[np.bool_],
    paid_sb: Floats,
    contexts: NDArray[np.int32],
    counts: Floats,
    n_seen: Floats,
    default: Floats,
    weights: Floats,
    flops: Floats,
    moves: Floats,
    reach: Floats,
    showdowns: Floats,
) -> None:
    """Fill showdowns (n, 20): the opponent's hands at each showdown if its frequencies are those seen so far.

    `reach` (n, 21) is scratch. Other arrays as in vex_search.search, for the observer's seat.
    """
    n_classes = weights.shape[0]
    row_of = np.zeros(child.shape[0], dtype=np.int64)
    preflop = np.empty((_PREFLOP_PLACES, n_classes))  # classes that reach a place before the flop, or open it
    n_rows = 1
    preflop[0] = weights
    triple = np.empty(3)
    shares = np.empty((n_classes, 3))
    held = np.empty(n_classes)
    for p in range(child.shape[0]):
        width = n_classes if street[p] == 0 else N_GRID
        if opens[p]:
            held[:N_GRID] = 0.0
            if street[p] == 1:
                for g in range(n_classes):
                    for h in range(N_GRID):
                        held[h] += preflop[row_of[p], g] * flops[g, h]
            else:
                for g in range(N_GRID):
                    for h in range(N_GRID):
                        held[h] += reach[p, g] * moves[street[p] - 1, g, h]
        elif street[p] == 0:
            held[:] = preflop[row_of[p]]
        else:
            held[:N_GRID] = reach[p]
        if to_act[p] < 0:
            if paid_sb[p] >= 0.0:
                total = 0.0
                for g in range(N_GRID):
                    total += held[g]
                for cell in range(N_CELLS):
                    low = held[cell] if cell == 0 else held[cell] / 2
                    high = held[cell + 1] if cell == N_CELLS - 1 else held[cell + 1] / 2
                    showdowns[p, cell] = (low + high) / total if total > 0.0 else 1.0 / N_CELLS
            continue
        if to_act[p] != observer:
            blend(contexts[p], default[p], counts, n_seen, triple)
            for action in range(3):  # a line never taken still needs some hands in it
                if child[p, action] >= 0:
                    triple[action] = max(triple[action], 1e-3)
            _split(held, width, triple, shares)
        for action in range(3):
            following = child[p, action]
            if following >= 0:
                if street[p] == 0:
                    row_of[following] = n_rows
                    n_rows += 1
                row = preflop[row_of[following]] if street[p] == 0 else reach[following]
                for g in range(width):
                    row[g] = held[g] * (shares[g, action] if to_act[p] != observer else 1.0)
