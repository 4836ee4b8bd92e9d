"""Somebody whom no known player explains: a portrait of it from its hands, and an answer learned at the table.

The portrait (hardbot/solver/portrait.py) starts from the rivals it resembles and follows what the opponent does; the
answer (hardbot/solver/responder.py) starts as the equilibrium and is improved by a few boards after every hand, against
the portrait as far as it is borne out by observations. Work is spread over the hands so that no decision waits long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from hardbot.solver.abstraction import Abstraction
from hardbot.solver.portrait import Portrait, PortraitSettings
from hardbot.solver.responder import Responder, Workshop

FIRST_DRAWING = 10  # hands
GROWTH = 1.25  # between drawings, at least FIRST_DRAWING hands and at most LONGEST
LONGEST = 50
LEAST_BOARDS = 10.0
UNREADY = -9.0  # sb a hand
Rows = NDArray[np.float32]
Ints = NDArray[np.int64]


def boards_after(n_hands: int) -> int:
    """Boards for each seat after a hand: more while little is known."""
    if n_hands < 100:
        return 2
    return 1 if n_hands < 300 else n_hands % 2


class Stranger:
    """What was learned of one opponent in this match."""

    def __init__(
        self, abstraction: Abstraction, equilibrium: Rows, make_workshop: Callable[[], Workshop],
        settings: PortraitSettings | None = None,
    ) -> None:  # fmt: skip
        self.equilibrium = equilibrium
        self.portrait = Portrait(abstraction, equilibrium, settings)
        self.responder: Responder | None = None  # there is one from the first drawing on
        self.seed: int | None = None  # of the boards to learn from; without it nothing is learned
        self.n_hands = 0
        self._make_workshop = make_workshop
        self._next = FIRST_DRAWING

    @property
    def value(self) -> float:
        """What the learned answer is worth by the portrait, sb a hand; worse than anything before there is one."""
        if self.responder is None or min(self.responder.n_boards) < LEAST_BOARDS:
            return UNREADY
        return self.responder.value

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
            self.responder = Responder(self.equilibrium, self._make_workshop(), self.seed)
        self.portrait.draw(sketch)
        self.responder.face(self.portrait.cautious(self.equilibrium))
        self._next = self.n_hands + min(max(int((GROWTH - 1.0) * self.n_hands), FIRST_DRAWING), LONGEST)

    def improve(self) -> None:
        """A few boards for the answer."""
        if self.responder is not None:
            for seat in (0, 1):
                self.responder.learn(seat, boards_after(self.n_hands))

    def triple(self, point: int, bucket: int) -> tuple[float, float, float]:
        """What the learned answer does."""
        assert self.responder is not None
        return self.responder.triple(point, bucket)
