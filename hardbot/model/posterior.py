"""A probability for each of the 1,326 hole hands a player may hold, kept up to date by Bayes' rule.

    P(hand | action) = P(hand) * P(action | bucket(hand), context) / P(action)

which is the paper's P(hand) * P(bucket | action) / P(bucket), because every hand of a bucket is played
alike (a test shows both forms agree). Likelihoods are never below FLOOR: a model that calls an action
impossible is wrong about the player, not about the cards, and one wrong row must not empty the range.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import CardError
from hardbot.game.cards import N_HOLES, compatible_holes

FLOOR = 1e-3  # least likelihood of a legal action, whatever the model says

Weights = NDArray[np.float64]  # (1326,), sums to 1


class Range:
    """What one player may hold, as seen by somebody who knows the cards in `dead`."""

    __slots__ = ("weights",)

    def __init__(self, dead: Iterable[int] = ()) -> None:
        mask = compatible_holes(dead)
        self.weights: Weights = mask / mask.sum()

    def remove(self, cards: Iterable[int]) -> None:
        """Cards came in sight: no hand with one of them is possible any more."""
        weights = np.where(compatible_holes(cards), self.weights, 0.0)
        total = weights.sum()
        if total <= 0.0:
            raise CardError("expected a possible hand to be left, the cards in sight rule out all of them")
        self.weights = weights / total

    def predict(self, likelihoods: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(action) (3,): the likelihoods (1326, 3) averaged over the range."""
        return self.weights @ likelihoods

    def update(self, likelihood: NDArray[np.float64]) -> None:
        """Bayes' rule for an action seen; `likelihood` (1326,) is P(action | hand)."""
        weights = self.weights * np.maximum(likelihood, FLOOR)
        self.weights = weights / weights.sum()

    def bucket_masses(self, buckets: NDArray[np.int16], n_buckets: int) -> NDArray[np.float64]:
        """Probability of each bucket (n_buckets,); hands in bucket -1 are impossible ones."""
        known = buckets >= 0
        return np.bincount(buckets[known], weights=self.weights[known], minlength=n_buckets).astype(np.float64)


def bucket_form(prior: Weights, buckets: NDArray[np.int16], likelihood_by_bucket: NDArray[np.float64]) -> Weights:
    """The paper's form of the update: P(hand) * P(bucket | action) / P(bucket).

    `likelihood_by_bucket` (n_buckets,) is P(action | bucket). Kept beside `Range.update` as its oracle.
    """
    known = buckets >= 0
    p_bucket = np.bincount(buckets[known], weights=prior[known], minlength=len(likelihood_by_bucket))
    joint = p_bucket * np.maximum(likelihood_by_bucket, FLOOR)
    p_bucket_given_action = joint / joint.sum()
    ratio = np.divide(p_bucket_given_action, p_bucket, out=np.zeros_like(p_bucket), where=p_bucket > 0.0)
    posterior = np.zeros(N_HOLES)
    posterior[known] = prior[known] * ratio[buckets[known]]
    return posterior
