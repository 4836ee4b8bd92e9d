"""Known counts of the heads-up betting tree under caps 3/4/4/4."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.errors import RulesError
from hardbot.game.betting import Betting, net_chips, parse_betting
from hardbot.game.rules import CALL, FOLD, HEADS_UP, HEADS_UP_IRC, RAISE, ring
from hardbot.game.tree import betting_tree

TREE = betting_tree(HEADS_UP)
DECISIONS = TREE.nodes[: TREE.n_decisions]
ENDS = TREE.nodes[TREE.n_decisions :]


def by_street(nodes: list[Betting]) -> list[int]:
    return [sum(node.street == street for node in nodes) for street in range(4)]


def test_decision_points_are_8_70_630_and_5670():
    assert by_street(list(DECISIONS)) == [8, 70, 630, 5670]
    assert TREE.n_decisions == 6378
    assert TREE.first_of_street == (0, 8, 78, 708, 6378)


def test_streets_begin_after_1_7_63_and_567_lines():
    starts = [node for node in DECISIONS if node.street_text == ""]
    assert by_street(starts) == [1, 7, 63, 567]


def test_folds_are_7_56_504_and_4536_and_showdowns_5103():
    folds = [node for node in ENDS if not node.is_showdown]
    assert by_street(folds) == [7, 56, 504, 4536]
    assert len(folds) == 5103
    assert by_street([node for node in ENDS if node.is_showdown]) == [0, 0, 0, 5103]


def test_nodes_without_fold_and_without_raise():
    assert by_street([node for node in DECISIONS if FOLD not in node.legal]) == [1, 14, 126, 1134]
    assert by_street([node for node in DECISIONS if RAISE not in node.legal]) == [2, 14, 126, 1134]
    assert sum(len(node.legal) == 3 for node in DECISIONS) == 3827
    assert all(CALL in node.legal for node in DECISIONS)


def test_largest_pot_is_48_small_bets():
    assert max(node.pot for node in ENDS) == 480
    assert parse_betting(HEADS_UP, "rrrc/rrrrc/rrrrc/rrrrc").pot == 480


def test_every_line_ends_once_and_texts_are_different():
    texts = [node.text for node in TREE.nodes]
    assert len(set(texts)) == len(texts) == 6378 + 5103 + 5103
    reached = TREE.child[TREE.child >= 0]
    assert np.array_equal(np.sort(reached), np.arange(1, len(TREE.nodes)))


def test_arrays_say_what_the_positions_say():
    for node in TREE.nodes:
        i = node.index
        assert TREE.nodes[i] is node
        assert (TREE.street[i], TREE.seat[i]) == (node.street, node.seat)
        assert tuple(TREE.contributions[i]) == node.contributions
        assert [a for a in range(3) if TREE.child[i, a] >= 0] == list(node.legal)
        assert all(TREE.nodes[TREE.child[i, a]].text.rstrip("/") == node.text + "fcr"[a] for a in node.legal)


def test_winner_is_the_seat_left_after_a_fold():
    for node in TREE.nodes:
        winner = TREE.winner[node.index]
        if node.is_over and not node.is_showdown:
            assert net_chips(node, (0, 0))[winner] == node.contributions[1 - winner]
        else:
            assert winner == -1


@pytest.mark.parametrize("rules", [HEADS_UP_IRC, ring(2, five_bets=True)], ids=lambda rules: rules.name)
def test_other_heads_up_tables_have_trees_of_their_own(rules):
    tree = betting_tree(rules)
    starts = [sum(n.street == s and n.street_text == "" for n in tree.nodes[: tree.n_decisions]) for s in range(4)]
    closings = 2 * rules.max_raises[1] + 1  # ways to end a street after the flop without a fold
    assert starts == [1] + [(2 * rules.max_raises[0] + 1) * closings**street for street in range(3)]


@pytest.mark.parametrize("rules", [ring(3), HEADS_UP.uncapped()], ids=lambda rules: rules.name)
def test_only_capped_heads_up_tables_have_a_tree(rules):
    with pytest.raises(RulesError, match=f"expected a capped heads-up table for a betting tree, got {rules.name}"):
        betting_tree(rules)
