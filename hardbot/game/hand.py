"""One dealt hand, and what each seat can see of it.

`Hand` knows every card and belongs to the dealer. A `View` is what one seat sees: its own hole
cards, the board in sight, the public betting and the names at the table. It holds no hidden card,
so a bot that is given a view cannot peek.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hardbot.errors import CardError, RulesError
from hardbot.game.betting import Betting, first_betting, net_chips
from hardbot.game.cards import check_distinct
from hardbot.game.rules import BOARD_SIZES, Rules

Hole = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Deal:
    """All cards of one hand: a hole hand for every seat and the five board cards, dealt or not."""

    holes: tuple[Hole, ...]
    board: tuple[int, ...]

    def check(self) -> None:
        """Raise CardError unless hole hands have two cards, the board five, and no card stands twice."""
        if len(self.board) != BOARD_SIZES[-1]:
            raise CardError(f"expected five board cards, got {len(self.board)}")
        for seat, hole in enumerate(self.holes):
            if len(hole) != 2:
                raise CardError(f"expected two hole cards for seat {seat}, got {len(hole)}")
        check_distinct([card for hole in self.holes for card in hole] + list(self.board))


class View:
    """What one seat sees.

    A table keeps one view a seat for the whole hand and moves its `betting` and `board` on as the
    hand goes, so a bot that wants an earlier position has to keep it (a `Betting` never changes).
    """

    __slots__ = ("betting", "board", "hand_number", "hole", "players", "rules", "seat")

    def __init__(
        self,
        rules: Rules,
        seat: int,
        hand_number: int,
        hole: Hole,
        players: tuple[str, ...],
        betting: Betting,
        board: tuple[int, ...] = (),
    ) -> None:
        self.rules = rules
        self.seat = seat
        self.hand_number = hand_number
        self.hole = hole
        self.players = players
        self.betting = betting
        self.board = board

    @property
    def street(self) -> int:
        """Street of the current position."""
        return self.betting.street

    @property
    def pot_sb(self) -> float:
        """Pot in small bets."""
        return self.betting.pot / self.rules.bet_sizes[0]

    @property
    def to_call_sb(self) -> float:
        """Price of a call in small bets."""
        return self.betting.to_call / self.rules.bet_sizes[0]


@dataclass(frozen=True, slots=True)
class HandResult:
    """What everybody learns when a hand is over.

    `holes` has the shown hands of a showdown and None for the rest; the receiver knows its own.
    """

    hand_number: int
    betting: Betting
    board: tuple[int, ...]
    holes: tuple[Hole | None, ...]
    net_chips: tuple[int, ...]
    players: tuple[str, ...]


class Hand:
    """A hand in play, as the dealer knows it."""

    def __init__(self, rules: Rules, deal: Deal, hand_number: int = 0, players: Sequence[str] | None = None) -> None:
        if len(deal.holes) != rules.n_seats:
            raise CardError(f"expected {rules.n_seats} hole hands, got {len(deal.holes)}")
        if players is not None and len(players) != rules.n_seats:
            raise RulesError(f"expected {rules.n_seats} player names, got {len(players)}")
        deal.check()
        self.rules = rules
        self.deal = deal
        self.hand_number = hand_number
        self.players = tuple(f"p{seat + 1}" for seat in range(rules.n_seats)) if players is None else tuple(players)
        self.betting = first_betting(rules)

    @property
    def board(self) -> tuple[int, ...]:
        """Board cards in sight."""
        return self.deal.board[: BOARD_SIZES[self.betting.street]]

    def view(self, seat: int) -> View:
        """What `seat` sees now; a later position needs a new view or a table that moves this one on."""
        return View(self.rules, seat, self.hand_number, self.deal.holes[seat], self.players, self.betting, self.board)

    def apply(self, action: int) -> None:
        """Let the seat to act take `action`."""
        self.betting = self.betting.after(action)

    def result(self) -> HandResult:
        """Outcome of a finished hand; the hands still in are shown at a showdown."""
        shown = self.betting.is_showdown
        return HandResult(
            self.hand_number,
            self.betting,
            self.board,
            tuple(
                hole if shown and live else None for hole, live in zip(self.deal.holes, self.betting.live, strict=True)
            ),
            self.net_chips(),
            self.players,
        )

    def net_chips(self) -> tuple[int, ...]:
        """Chips won or lost by each seat of a finished hand."""
        if not self.betting.is_showdown:
            return net_chips(self.betting, (0,) * self.rules.n_seats)
        from hardbot.game.evaluator import evaluate

        return net_chips(self.betting, [evaluate((*hole, *self.deal.board)) for hole in self.deal.holes])
