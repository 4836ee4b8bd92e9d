"""Sparbot: an approximate equilibrium of the heads-up game, played from a table.

The original (Billings et al., "Approximating Game-Theoretic Optimal Strategies for Full-scale Poker", IJCAI 2003)
solved games of six or seven buckets a street by linear programming. Ours is found by counterfactual regret
minimisation over finer buckets and the whole betting tree (`hardbot solve`, docs/solver.md). It does not look at
its opponent: in the long run nobody can win much from it, and it wins little from those who play badly.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from hardbot.bots.base import HEADS_UP_ONLY, Bot
from hardbot.errors import BotError
from hardbot.game.hand import View
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE
from hardbot.game.storage import shipped_folder
from hardbot.game.tree import betting_tree
from hardbot.model.policy import TablePolicy
from hardbot.solver.abstraction import (
    BucketTables,
    bucket_from_tables,
    bucket_on_spot,
    bucket_tables,
    tables_are_cached,
)
from hardbot.solver.strategy import Strategy, load_strategy, table_policy, triples

_PATIENCE = 300  # buckets counted on the spot by a process before it makes the tables


class StrategyPlayer:
    """A strategy with everything a decision needs; one per process and strategy."""

    def __init__(self, strategy: Strategy) -> None:
        betting_tree(HEADS_UP)  # numbers the positions
        self.strategy = strategy
        offsets, rows = triples(strategy)
        self.offsets: list[int] = offsets.tolist()
        self.rows = rows
        self._tables: BucketTables | None = None
        self._patience = 0 if tables_are_cached(strategy.abstraction) else _PATIENCE

    def bucket(self, hole: tuple[int, int], board: tuple[int, ...]) -> int:
        """Bucket of a hand; without tables counted on the spot, the same but slower, and only a few hundred times."""
        if self._tables is None:
            if self._patience > 0:
                self._patience -= len(board) in (3, 4)
                return bucket_on_spot(self.strategy.abstraction, hole, board)
            self._tables = bucket_tables(self.strategy.abstraction)
        return bucket_from_tables(self._tables, hole, board)

    def triple(self, node: int, bucket: int) -> tuple[float, float, float]:
        """Probabilities of fold, call and raise."""
        fold, call, bet = self.rows[self.offsets[node] + bucket].tolist()
        return fold, call, bet


def default_folder() -> Path:
    """The strategy that ships with the project."""
    return shipped_folder("sparbot")


@lru_cache(maxsize=4)
def strategy_player(folder: Path) -> StrategyPlayer:
    """Loaded once a process."""
    return StrategyPlayer(load_strategy(folder))


class Sparbot(Bot):
    """Plays a solved strategy: the one that ships, or another folder's (`sparbot:strategy=PATH`)."""

    name = "sparbot"
    table_sizes = HEADS_UP_ONLY

    def __init__(self, *, strategy: str = "") -> None:
        self.folder = Path(strategy) if strategy else default_folder()
        self._player: StrategyPlayer | None = None
        self._seen: tuple[tuple[int, int], int] | None = None  # hand and number of board cards of the last bucket
        self._bucket = 0

    def new_hand(self, view: View) -> None:
        """Forget the last hand."""
        if view.rules != HEADS_UP:
            raise BotError(f"expected the rules {HEADS_UP.name} for {self.name}, got {view.rules.name}")
        self._seen = None

    def act(self, view: View, rng: np.random.Generator) -> int:
        """Draw from the strategy's probabilities."""
        if self._player is None:
            self._player = strategy_player(self.folder)
        key = (view.hole, len(view.board))
        if self._seen != key:
            self._bucket, self._seen = self._player.bucket(view.hole, view.board), key
        fold, call, _ = self._player.triple(view.betting.index, self._bucket)
        point = rng.random()
        action = FOLD if point < fold else CALL if point < fold + call else RAISE
        return action if action in view.betting.legal else CALL  # rounding: fold + call may fall short of 1

    def table_policy(self) -> TablePolicy:
        """The strategy for compiled matches."""
        return table_policy(load_strategy(self.folder))
