"""What a bot is: the calls a table makes, in their order.

For every hand: `new_hand`, then `observe` after each action of any seat (one's own included), `act`
whenever it is one's turn, and `end_hand` with what everybody may know. A bot keeps between hands
whatever it likes; a fresh instance has no memory. Randomness comes only from the generator given to
`act`, so the same seed gives the same match.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hardbot.errors import BotError
from hardbot.game.betting import Betting
from hardbot.game.hand import HandResult, View

if TYPE_CHECKING:
    from hardbot.model.policy import TablePolicy

ANY_TABLE = range(2, 11)
HEADS_UP_ONLY = range(2, 3)


class Bot(ABC):
    """One player. Options are keyword arguments of `__init__`, which only stores them."""

    name: ClassVar[str]
    table_sizes: ClassVar[range] = ANY_TABLE
    learns: bool = False  # remembers earlier hands: hands of one instance are not independent samples

    def new_hand(self, view: View) -> None:
        """A hand begins; `view` is the one object that will follow it."""

    def observe(self, view: View, before: Betting, action: int) -> None:
        """`before.seat` took `action`; `view.betting` is the position after it.

        The board at the time of the action is `view.board[:BOARD_SIZES[before.street]]`.
        """

    @abstractmethod
    def act(self, view: View, rng: np.random.Generator) -> int:
        """One of `view.betting.legal`."""

    def end_hand(self, view: View, result: HandResult) -> None:
        """The hand is over; `result` has what was shown and what everybody won."""

    def prepare(self) -> None:
        """Load what the first hands would wait for; called before a live match, never needed."""

    def table_policy(self) -> TablePolicy | None:
        """The whole behaviour as a table for compiled matches, if the bot is of that kind."""
        return None

    def save_memory(self, path: Path) -> None:
        """Keep what was learned; only bots that learn between matches offer it."""
        raise BotError(f"{self.name} has no memory to save")

    def load_memory(self, path: Path) -> None:
        """Take up what was learned before."""
        raise BotError(f"{self.name} has no memory to load")
