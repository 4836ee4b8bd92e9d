"""Somebody whom no known player explains: a portrait of it from its hands, and an answer learned at the table.

The portrait (hardbot/solver/portrait.py) starts from the rivals it resembles and follows what the opponent does; the
answer (hardbot/solver/responder.py) starts as the equilibrium and is improved by a few boards after every hand, against
the portrait as far as it is borne out by observations. Work is spread over the hands so that no decision waits long.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hardbot.game.betting import Betting, first_betting
from hardbot.game.cards import N_HOLES
from hardbot.game.rules import CALL, HEADS_UP
from hardbot.solver.abstraction import Abstraction, bucket_tables
from hardbot.solver.portrait import LEAST, Easel, Portrait
from hardbot.solver.responder import Responder, Workshop

FIRST_DRAWING = 5  # hands
GROWTH = 1.25  # between drawings, at least FIRST_DRAWING hands and at most LONGEST
LONGEST = 50
LEAST_BOARDS = 10.0
USUAL_NATS = 0.7  # an action: how well people and programs can be foretold
SURPRISE_FADING = 0.95  # a hand
EVIDENCE_FADING = 0.98  # a hand: frequencies against portrait
CLEARLY = 5.0  # nats
N_PSEUDO = 4.0  # observations that the equilibrium's frequencies count as
Floats = NDArray[np.float64]
Rows = NDArray[np.float32]
Ints = NDArray[np.int64]


def boards_after(n_hands: int, n_decisions: int) -> float:
    """Boards for each seat after a hand: more while little is known, fewer where own decisions were few.

    Two decisions a hand are usual; that way the work is some milliseconds a decision against anybody.
    """
    usual = 2.0 if n_hands < 100 else 1.0 if n_hands < 300 else 0.5
    return usual * min(1.0, n_decisions / 2.0)


class Frequencies:
    """How often this very opponent takes each action, by street and this street's actions, whatever the cards."""

    def __init__(self, offsets: Ints, equilibrium: Rows) -> None:
        self._offsets, self._equilibrium = offsets, equilibrium
        self._counts: dict[tuple[int, str], Floats] = {}

    def explain(self, steps: Sequence[tuple[Betting, int]]) -> float:
        """Log-likelihood of the opponent's actions of a hand, each predicted before it is counted."""
        found = 0.0
        for betting, action in steps:
            counts = self._counts.setdefault((betting.street, betting.street_text), np.zeros(3))
            first, last = self._offsets[betting.index : betting.index + 2]
            prior = self._equilibrium[first:last, action].mean(dtype=np.float64)
            p = (counts[action] + N_PSEUDO * prior) / (counts.sum() + N_PSEUDO)
            found += float(np.log(max(p, LEAST)))
            counts[action] += 1.0
        return found


class Studio:
    """What all strangers share who are met with one equilibrium (rows, 3); its parts are made when first needed."""

    def __init__(self, abstraction: Abstraction, equilibrium: Rows) -> None:
        self.abstraction = abstraction
        self.equilibrium = equilibrium

    @cached_property
    def easel(self) -> Easel:
        """For portraits."""
        return Easel(self.abstraction)

    @cached_property
    def workshop(self) -> Workshop:
        """For answers."""
        return Workshop(self.abstraction.sizes, bucket_tables(self.abstraction), self.equilibrium)


class Stranger:
    """What was learned of one opponent in this match."""

    def __init__(self, studio: Studio, sketch: Rows, study: float = 1.0) -> None:
        self.studio = studio
        self.equilibrium = studio.equilibrium
        self.portrait = Portrait(studio.easel, sketch)
        self.frequencies = Frequencies(self.portrait.layout.offsets, studio.equilibrium)
        self._nats = USUAL_NATS  # an action, by the portrait, of late
        self._evidence = np.zeros(2)  # log-likelihoods of frequencies and portrait
        self.responder: Responder | None = None  # there is one from the first drawing on
        self.faced = sketch  # habits that the answer is learned against, the equilibrium mixed in
        self.seed: int | None = None  # of the boards to learn from; without it nothing is learned
        self.n_hands = 0
        self._study = study
        self._boards = 0.0  # due but not walked yet, of either seat
        self._next = FIRST_DRAWING

    @property
    def is_ready(self) -> bool:
        """Whether there is a learned answer."""
        return self.responder is not None and min(self.responder.n_boards) >= LEAST_BOARDS

    @property
    def value(self) -> float:
        """What the learned answer is worth by the portrait, sb a hand."""
        assert self.responder is not None
        return self.responder.value

    def explain(self, steps: Sequence[tuple[Betting, int]], by_portrait: float) -> float:
        """Log-likelihood of a hand by frequencies and portrait, each as likely as it has explained the hands so far.

        Frequencies are learned within a few hands, before there is a portrait that could be told from other players.
        """
        found = np.array([self.frequencies.explain(steps), by_portrait])
        self._nats = SURPRISE_FADING * self._nats + (1.0 - SURPRISE_FADING) * -by_portrait / len(steps)
        before = self._evidence - np.logaddexp.reduce(self._evidence)
        self._evidence = EVIDENCE_FADING * self._evidence + found
        return float(np.logaddexp.reduce(before + found))

    @property
    def is_recognised(self) -> bool:
        """Whether the portrait foretells the opponent clearly better than bare frequencies do.

        If not, he changes his ways faster than he can be portrayed, and an answer would come too late.
        """
        return bool(self._evidence[1] > self._evidence[0] + CLEARLY * self.surprise)

    @property
    def surprise(self) -> float:
        """How badly the portrait foretells his actions of late: 1 as for a usual player, 0 if it never fails."""
        return min(self._nats / USUAL_NATS, 1.0)

    @property
    def is_due(self) -> bool:
        """Whether the portrait is to be drawn anew."""
        return self.n_hands >= self._next and self.seed is not None

    def see(
        self, points: Sequence[int], actions: Sequence[int] | Ints, buckets: dict[int, Ints], dead: int, shown: int
    ) -> None:
        """Remember a hand."""
        self.portrait.see(points, actions, buckets, dead, shown)
        self.n_hands += 1

    def draw(self, sketch: Rows) -> None:
        """Draw the portrait from a sketch and face it; where it is not borne out, the equilibrium."""
        assert self.seed is not None
        if self.responder is None:
            self.responder = Responder(self.studio.workshop, self.seed)
        self.portrait.draw(sketch)
        self.faced = self.portrait.cautious(self.equilibrium, self.surprise)
        self.responder.face(self.faced)
        self._next = self.n_hands + min(max(int((GROWTH - 1.0) * self.n_hands), FIRST_DRAWING), LONGEST)

    def improve(self, n_decisions: int = 2) -> None:
        """A few boards for the answer after a hand with so many decisions of our own."""
        if self.responder is not None:
            self._boards += self._study * boards_after(self.n_hands, n_decisions)
            for seat in (0, 1):
                self.responder.learn(seat, int(self._boards))
            self._boards -= int(self._boards)

    def triple(self, point: int, bucket: int) -> tuple[float, float, float]:
        """What the learned answer does."""
        assert self.responder is not None
        return self.responder.triple(point, bucket)

    def rehearse(self) -> None:
        """Go through everything once, so that machine code and tables are there when a match needs them."""
        self.seed = 0
        first = first_betting(HEADS_UP)
        self.explain([(first, CALL)], -1.0)
        self.see([first.index], [CALL], {0: np.zeros(N_HOLES, dtype=np.int64)}, 0, -1)
        self.draw(self.equilibrium)
        self.improve()
        self.triple(first.index, 0)
