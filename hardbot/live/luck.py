"""The luck of the cards in a hand, as far as the player himself can see it.

A hand's result is skill and luck; the advantage-sum estimators (Zinkevich, Bowling, Bard, Kan, Billings, AAAI 2006)
take off, at every chance event, what the cards changed in some guess of the hand's value. Each such term has mean
zero whatever the guess, so the rest measures the same skill with less noise. The usual guesses look at all
hole cards; at a live table that would tell a player about a hand that was folded unseen. So the guess
here looks only at his own cards: E, his equity against one random hand, times what is at stake.

    luck = STAKE_HOLE * (E(hole) - 1/2) + sum over dealt streets of STAKE[street] * pot * (E(after) - E(before))

E(before) is the mean of E(after) over the cards that may come, so the terms have mean zero but for one small
effect: cards an opponent holds are missing from the deck, and what he holds is related to how he bet. The stakes
are a compromise between least-squares fits on several pairs of bots (docs/terminal.md has the figures); at tables of
more than two they take off less of the noise.
"""

from __future__ import annotations

from collections.abc import Sequence

from hardbot.game.cards import hole_index
from hardbot.game.hand import Hole
from hardbot.game.preflop import HOLE_EQUITY
from hardbot.game.rules import BOARD_SIZES

STAKE_HOLE_SB = 3.0
STAKES = (0.0, 1.5, 1.2, 1.0)  # by street, in pots


def equity(hole: Hole, board: Sequence[int]) -> float:
    """E: chance of winning against one random hand, ties half, all run-outs."""
    if not board:
        return float(HOLE_EQUITY[hole_index(*hole)])
    from hardbot.game.features import hand_features

    return hand_features(hole, tuple(board)).e


def luck_sb(hole: Hole, board: Sequence[int], pots_sb: Sequence[float]) -> float:
    """Luck of a hand: `pots_sb` is the pot when each street after the first was dealt, as many as were."""
    before = equity(hole, ())
    luck = STAKE_HOLE_SB * (before - 0.5)
    for street, pot_sb in enumerate(pots_sb, start=1):
        after = equity(hole, board[: BOARD_SIZES[street]])
        luck += STAKES[street] * pot_sb * (after - before)
        before = after
    return luck
