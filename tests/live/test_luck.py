"""The luck of the cards: terms without bias, and less noise once it is taken off."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.game.cards import HOLE_CARDS, N_HOLES, parse_board, parse_hole
from hardbot.game.preflop import CLASS_EQUITY, HOLE_EQUITY
from hardbot.game.rules import CALL, RAISE
from hardbot.live.luck import STAKE_HOLE_SB, equity, luck_sb
from hardbot.live.session import TableSession


def test_hole_cards_have_no_luck_on_average():
    total = sum(luck_sb((int(a), int(b)), (), ()) for a, b in HOLE_CARDS)
    assert total / N_HOLES == pytest.approx(0.0, abs=1e-6)
    assert luck_sb(parse_hole("AsAh"), (), ()) == pytest.approx(STAKE_HOLE_SB * 0.3520371)


def test_preflop_equities_are_the_known_ones():
    known = {"AsAh": 0.852037, "KsKh": 0.823957, "AsKs": 0.670446, "7s2h": 0.345836, "3s2h": 0.323032, "2s2h": 0.503340}
    for text, value in known.items():
        assert equity(parse_hole(text), ()) == pytest.approx(value, abs=1e-6)
    assert CLASS_EQUITY.shape == (169,)
    assert np.array_equal(HOLE_EQUITY[[0, -1]], [CLASS_EQUITY[168], CLASS_EQUITY[0]])


@pytest.mark.parametrize("board", ["Jh4c3h", "Jh4c3h9s"])
def test_the_next_card_has_no_luck_on_average(board):
    hole, cards = parse_hole("AdQc"), parse_board(board)
    deck = [card for card in range(52) if card not in hole + cards]
    after = [equity(hole, (*cards, card)) for card in deck]
    assert np.mean(after) == pytest.approx(equity(hole, cards), abs=1e-9)


def test_streets_that_were_not_dealt_have_no_luck():
    hole = parse_hole("AdQc")
    board = parse_board("Jh4c3h9s2d")
    assert luck_sb(hole, board[:3], (2.0,)) == luck_sb(hole, board, (2.0,))
    assert luck_sb(hole, board, (2.0, 4.0)) != luck_sb(hole, board, (2.0,))


def test_the_adjusted_line_has_less_noise_and_the_same_aim():
    table = TableSession(["always_call"], seed=3)
    for _ in range(200):
        table.start_hand()
        while not table.is_between_hands:
            if table.is_persons_turn:
                table.submit(RAISE if RAISE in table.view().legal else CALL)
            else:
                table.step()
    score = table.score
    assert score.adjusted.sd < 0.95 * score.played.sd
    assert abs(score.adjusted.mean) < score.adjusted.estimate().half_width  # worth exactly 0
