"""Betting contexts: which situations count as "the same" when the corpus is asked how people act.

The original model (2010) compares only decisions with the identical betting history. Where the corpus
is thin that says nothing, so a context is seen at four levels, each a coarsening of the one before:

    0 exact     the decision point of the betting tree, blind order included
    1 raises    this street's actions, and the bets and raises of the actor and of the opponent before
    2 street    this street's actions only
    3 to_call   the street, whether there is a bet to call and whether a raise is allowed

Beyond level 3 stands the uniform distribution over the legal actions. Position is in the actions of
the street: their number says whether the actor speaks first or second. The blind order (competition:
the button has the small blind; the old IRC server: it has the big one) is told apart at level 0 only,
so that the two kinds of corpus lend each other strength from level 1 on.

Decision points of one street are numbered by *slot*: those of the competition's tree first, then the same
of the IRC tree. This is the only definition of contexts; training and play both use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import ModelError
from hardbot.game.betting import Betting, parse_betting
from hardbot.game.rules import CALL, FOLD, HEADS_UP, HEADS_UP_IRC, N_STREETS, Rules
from hardbot.game.tree import BettingTree, betting_tree

LEVELS = ("exact", "raises", "street", "to_call")
N_LEVELS = len(LEVELS)
MODEL_RULES: tuple[Rules, ...] = (HEADS_UP, HEADS_UP_IRC)
N_ACTIONS = 3
_RULES_INDEX = {rules.name: index for index, rules in enumerate(MODEL_RULES)}


@dataclass(frozen=True)
class StreetContexts:
    """Contexts of one street. `level[0]` numbers the slots themselves; level l+1 is a function of level l."""

    street: int
    first_node: int  # tree index of this street's first decision point
    n_nodes: int  # decision points of one tree
    level: tuple[NDArray[np.int32], ...]  # 4 arrays (slots,): slot -> context of that level
    sizes: tuple[int, int, int, int]  # contexts at each level
    legal: NDArray[np.bool_]  # (slots, 3)
    to_call_legal: NDArray[np.bool_]  # (contexts of level 3, 3)
    facing_bet: NDArray[np.bool_]  # (slots,)

    @property
    def n_slots(self) -> int:
        """Decision points of this street over both blind orders."""
        return len(self.level[0])

    def parent(self, level: int) -> NDArray[np.int32]:
        """Context of `level + 1` for each context of `level`."""
        parents = np.zeros(self.sizes[level], dtype=np.int32)
        parents[self.level[level]] = self.level[level + 1]
        return parents


@lru_cache(maxsize=1)
def _trees() -> tuple[BettingTree, ...]:
    return tuple(betting_tree(rules) for rules in MODEL_RULES)


@lru_cache(maxsize=N_STREETS)
def street_contexts(street: int) -> StreetContexts:
    """Contexts of a street, both blind orders."""
    trees = _trees()
    start, end = trees[0].first_of_street[street], trees[0].first_of_street[street + 1]
    nodes = [node for tree in trees for node in tree.nodes[start:end]]
    keys = [_context_keys(order, node) for order, tree in enumerate(trees) for node in tree.nodes[start:end]]
    levels, sizes = [], []
    for level in range(N_LEVELS):
        number: dict[object, int] = {}
        ids = [number.setdefault(key[level], len(number)) for key in keys]
        levels.append(np.array(ids, dtype=np.int32))
        sizes.append(len(number))
    legal = np.zeros((len(nodes), N_ACTIONS), dtype=bool)
    for slot, node in enumerate(nodes):
        legal[slot, list(node.legal)] = True
    to_call_legal = np.zeros((sizes[3], N_ACTIONS), dtype=bool)
    to_call_legal[levels[3]] = legal
    return StreetContexts(
        street=street,
        first_node=start,
        n_nodes=end - start,
        level=tuple(levels),
        sizes=(sizes[0], sizes[1], sizes[2], sizes[3]),
        legal=legal,
        to_call_legal=to_call_legal,
        facing_bet=legal[:, FOLD].copy(),
    )


def _context_keys(order: int, node: Betting) -> tuple[object, object, object, object]:
    actor, opponent = earlier_raises(node)
    street_text = node.street_text
    return (order, node.text), (street_text, actor, opponent), street_text, node.legal


def earlier_raises(betting: Betting) -> tuple[int, int]:
    """Bets and raises on earlier streets by the seat to act and by everybody else."""
    counts = [0, 0]
    position, parent = betting, betting.parent
    while parent is not None:
        if parent.street < betting.street and position.text[len(parent.text)] == "r":
            counts[0 if parent.seat == betting.seat else 1] += 1
        position, parent = parent, parent.parent
    return counts[0], counts[1]


def rules_index(name: str) -> int:
    """Number of a blind order among the two the model knows."""
    index = _RULES_INDEX.get(name)
    if index is None:
        raise ModelError(f"expected rules of {', '.join(_RULES_INDEX)} for a betting context, got {name!r}")
    return index


def slot_of(order: int, node: int, street: int) -> int:
    """Slot of the decision point `node` of the tree of blind order `order`."""
    contexts = street_contexts(street)
    return order * contexts.n_nodes + node - contexts.first_node


def slots_of(orders: NDArray[np.int8], nodes: NDArray[np.int32], streets: NDArray[np.int8]) -> NDArray[np.int32]:
    """Slots of many decision points."""
    tree = _trees()[0]
    first = np.array(tree.first_of_street, dtype=np.int32)
    n_nodes = np.diff(first)
    slots: NDArray[np.int32] = orders.astype(np.int32) * n_nodes[streets] + nodes - first[streets]
    return slots


def context_slot(betting: Betting) -> int:
    """Slot of a position; one of another heads-up table is first brought under the cap.

    Raises ModelError when the position has no counterpart: a ring table, or a finished hand.
    """
    order = _RULES_INDEX.get(betting.rules.name)
    if order is None or betting.rules is not MODEL_RULES[order]:
        order = 0 if betting.rules.is_reverse else 1
        betting = clip_to_cap(betting)
    if betting.is_over:
        raise ModelError(f"expected a position with somebody to act, got the finished hand {betting}")
    if betting.index < 0:
        _trees()
    contexts = street_contexts(betting.street)
    return order * contexts.n_nodes + betting.index - contexts.first_node


def clip_to_cap(betting: Betting) -> Betting:
    """The nearest position of the model's own trees: raises beyond four bets a round are left out.

    On the current street an odd number of raises too many takes one more away, so that the same seat is to act.
    """
    if betting.rules.n_seats != 2:
        raise ModelError(f"expected a heads-up table for an exact betting context, got {betting}")
    rules = HEADS_UP if betting.rules.is_reverse else HEADS_UP_IRC
    *finished, current = betting.text.split("/")
    streets = [_clip_street(text, rules.max_raises[street]) for street, text in enumerate(finished)]
    cap = rules.max_raises[len(finished)]
    excess = max(0, current.count("r") - cap)
    streets.append(_clip_street(current, cap - excess % 2))
    return parse_betting(rules, "/".join(streets))


def _clip_street(text: str, cap: int) -> str:
    # heads-up, the bets and raises of a street stand in one run
    excess = max(0, text.count("r") - cap)
    return text.replace("r" * (excess + 1), "r", 1) if excess else text


def coarse_context(betting: Betting) -> tuple[int, int]:
    """Street and level-3 context of a position at any table, ring tables included."""
    contexts = street_contexts(betting.street)
    wanted = np.zeros(N_ACTIONS, dtype=bool)
    wanted[list(betting.legal)] = True
    found = np.flatnonzero((contexts.to_call_legal == wanted).all(axis=1))
    if len(found):
        return betting.street, int(found[0])
    facing = FOLD in betting.legal
    same_price = np.flatnonzero((contexts.to_call_legal[:, FOLD] == facing) & contexts.to_call_legal[:, CALL])
    if not betting.legal or not len(same_price):
        raise ModelError(f"expected a position with somebody to act, got {betting}")
    return betting.street, int(same_price[0])
