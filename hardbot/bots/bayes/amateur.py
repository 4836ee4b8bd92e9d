"""The opponent's node: P(action | hand type, board, round, what he faces), for a medium-skilled amateur or as learned.

After PokaBayes (Katzenelson et al. 2013, part 9): piecewise functions model the play of an amateur; the document does
not print them, these are ours. They depend on the type's strength, its expected share of the pot against any hand on
such a board. What he faces is nothing, a first bet, a raise on top, or, on the button before the flop, the rest
of the blind. `learn`: counts of past games, by round, what he faced and tenth of strength, are added to PRIOR
pseudo-observations of the amateur: the authors' first wish was a model that uses previously played games. Shown
hands count for their type; hidden ones count for every type by its probability, or folds would never be learned.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardbot.game.betting import Betting
from hardbot.game.rules import CALL, FOLD, RAISE

Floats = NDArray[np.float64]
FACING = ("nothing", "a bet", "a raise", "the blind")
NOTHING, BET, RAISED, BLIND = range(4)
N_BINS = 10
PRIOR = 10.0
_FLOOR = 0.01
# Piecewise linear in strength: (strengths, probabilities of folding), (strengths, probabilities of raising).
_FOLDS = {
    NOTHING: ([0.0, 1.0], [0.0, 0.0]),
    BET: ([0.0, 0.3, 0.45, 0.6, 1.0], [0.85, 0.7, 0.35, 0.05, 0.0]),
    RAISED: ([0.0, 0.35, 0.5, 0.65, 1.0], [0.9, 0.75, 0.4, 0.08, 0.0]),
    BLIND: ([0.0, 0.35, 0.42, 0.5, 1.0], [0.7, 0.45, 0.15, 0.0, 0.0]),
}
_RAISES = {
    NOTHING: ([0.0, 0.35, 0.5, 0.65, 0.8, 1.0], [0.15, 0.1, 0.25, 0.65, 0.85, 0.9]),
    BET: ([0.0, 0.5, 0.65, 0.8, 0.9, 1.0], [0.03, 0.05, 0.15, 0.4, 0.7, 0.8]),
    RAISED: ([0.0, 0.6, 0.8, 0.9, 1.0], [0.02, 0.04, 0.2, 0.5, 0.75]),
    BLIND: ([0.0, 0.45, 0.55, 0.65, 1.0], [0.05, 0.1, 0.3, 0.6, 0.85]),
}


def faced(betting: Betting) -> int:
    """What the seat to act faces."""
    if betting.to_call == 0:
        return NOTHING
    if betting.street == 0 and betting.raises == 0:
        return BLIND
    return BET if betting.raises == 1 else RAISED


def amateur_triples(strength: Floats, facing: int) -> Floats:
    """P(fold, call, raise) of an amateur, shape (types, 3), before the rules of the game are applied."""
    fold = np.interp(strength, *_FOLDS[facing])
    bet = np.interp(strength, *_RAISES[facing]) * (1.0 - fold)
    return np.stack([fold, 1.0 - fold - bet, bet], axis=1)


def legal_triples(triples: Floats, legal: tuple[int, ...]) -> Floats:
    """Triples with what is forbidden moved to the call and every legal action made possible."""
    result = triples.copy()
    for action in (FOLD, RAISE):
        if action not in legal:
            result[:, CALL] += result[:, action]
            result[:, action] = 0.0
    allowed = [action for action in (FOLD, CALL, RAISE) if action in legal]
    result[:, allowed] += _FLOOR
    return np.asarray(result / result.sum(axis=1, keepdims=True))


class OpponentModel:
    """The amateur, and what past games have added to him."""

    def __init__(self) -> None:
        self.counts = np.zeros((4, len(FACING), N_BINS, 3))

    def triples(self, street: int, strength: Floats, facing: int, legal: tuple[int, ...]) -> Floats:
        """P(fold, call, raise | type), shape (types, 3)."""
        amateur = amateur_triples(strength, facing)
        observed = self.counts[street, facing]
        if observed.any():
            counts = observed[bins_of(strength)]
            amateur = (PRIOR * amateur + counts) / (PRIOR + counts.sum(axis=1, keepdims=True))
        return legal_triples(amateur, legal)

    def learn(self, street: int, strength: Floats, facing: int, action: int, weights: Floats) -> None:
        """Count one action; `weights` (types,) say which type he had."""
        np.add.at(self.counts[street, facing, :, action], bins_of(strength), weights)


def bins_of(strength: Floats) -> NDArray[np.int64]:
    """Tenth of strength of each type."""
    return np.minimum((strength * N_BINS).astype(np.int64), N_BINS - 1)
