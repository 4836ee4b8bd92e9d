"""The fast hand loop for two Python bots.

The same calls in the same order as `table.play_hand`, for a whole block: betting positions are the
shared objects of the betting tree, so an action costs one look-up; who would win a showdown is known
beforehand for every deal; a hand's outcome is the number of its last position.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardbot.arena.deals import DealBlock
from hardbot.arena.table import Act, EndHand, NewHand, Observe, Player, bot_failure, illegal_action
from hardbot.errors import ArenaError
from hardbot.game.betting import first_betting
from hardbot.game.hand import HandResult, View
from hardbot.game.rules import BOARD_SIZES, Rules
from hardbot.game.tree import betting_tree


@lru_cache(maxsize=8)
def end_nets(rules: Rules) -> NDArray[np.int32]:
    """Chips (nodes, 3) won by seat 0 at each end of a hand, by the showdown's sign + 1."""
    tree = betting_tree(rules)
    paid = tree.contributions
    nets = paid[:, :1] * np.array([-1, 0, 1], dtype=np.int32)  # at a showdown both have paid the same
    nets[tree.winner == 0] = paid[tree.winner == 0, 1:]
    nets[tree.winner == 1] = -paid[tree.winner == 1, :1]
    nets[: tree.n_decisions] = 0
    return nets


@lru_cache(maxsize=8)
def _end_net_lists(rules: Rules) -> list[list[int]]:
    lists: list[list[int]] = end_nets(rules).tolist()
    return lists


def seat0_chips(rules: Rules, ends: NDArray[np.int32], deals: DealBlock) -> NDArray[np.int32]:
    """Chips won by seat 0 in every hand of a block (n,)."""
    chips: NDArray[np.int32] = end_nets(rules)[ends, deals.signs + 1]
    return chips


def play_side(
    rules: Rules, deals: DealBlock, players: tuple[Player, Player], side: int, numbers: range, where: str
) -> NDArray[np.int32]:
    """Play all deals; entrant 0 sits in seat (deal + side) % 2. Returns the last position of every hand (n,).

    `numbers` are the hands' numbers. One long loop: a call per hand or a look-up on `self` would show in hands/s.
    """
    betting_tree(rules)  # fills the children of all positions
    root, nets = first_betting(rules), _end_net_lists(rules)
    seatings = (_seating(players[0], players[1]), _seating(players[1], players[0]))
    holes0, holes1 = deals.seat_holes
    signs = deals.signs.tolist()
    ends: list[int] = []
    for index, board in enumerate(deals.board_tuples):
        names, act0, act1, rng0, rng1, new0, new1, observe0, observe1, end0, end1 = seatings[(index + side) & 1]
        view0 = View(rules, 0, numbers[index], holes0[index], names, root)
        view1 = View(rules, 1, numbers[index], holes1[index], names, root)
        node, seat, street = root, root.seat, 0
        try:
            if new0 is not None:
                new0(view0)
            if new1 is not None:
                new1(view1)
            while seat >= 0:
                action = act1(view1, rng1) if seat else act0(view0, rng0)
                if action not in node.legal:
                    raise illegal_action(names[seat], view1 if seat else view0, action, where)
                child = node.children[action]
                assert child is not None
                view0.betting = view1.betting = child
                if child.street != street:
                    street = child.street
                    view0.board = view1.board = board[: BOARD_SIZES[street]]
                if observe0 is not None:
                    observe0(view0, node, action)
                if observe1 is not None:
                    observe1(view1, node, action)
                node, seat = child, child.seat
            if end0 is not None or end1 is not None:
                chips = nets[node.index][signs[index] + 1]
                shown = (holes0[index], holes1[index]) if node.is_showdown else (None, None)
                result = HandResult(numbers[index], node, view0.board, shown, (chips, -chips), names)
                if end0 is not None:
                    end0(view0, result)
                if end1 is not None:
                    end1(view1, result)
        except ArenaError:
            raise
        except Exception as error:
            seated = players if (index + side) & 1 == 0 else players[::-1]
            raise bot_failure(error, seated, (view0, view1), where) from error
        ends.append(node.index)
    return np.array(ends, dtype=np.int32)


def _seating(
    first: Player, second: Player
) -> tuple[
    tuple[str, str],
    Act,
    Act,
    np.random.Generator,
    np.random.Generator,
    NewHand | None,
    NewHand | None,
    Observe | None,
    Observe | None,
    EndHand | None,
    EndHand | None,
]:
    """Everything the loop needs with these players in seats 0 and 1."""
    return (
        (first.name, second.name),
        first.act,
        second.act,
        first.rng,
        second.rng,
        first.new_hand,
        second.new_hand,
        first.observe,
        second.observe,
        first.end_hand,
        second.end_hand,
    )
