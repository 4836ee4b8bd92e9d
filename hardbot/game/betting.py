"""The public part of a hand: who has put in what, who is to act, and what that seat may do.

A `Betting` is immutable; `after(action)` gives the next one. Heads-up positions are remembered in
their parent, so that walking a known line costs one list look-up and the whole game is one shared
tree (6,378 decision points under the competition's rules). Its short text is the competition's
betting string: `crc/rf` (f fold, c check or call, r bet or raise, / a new street).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from hardbot.errors import IllegalAction, NotationError, RulesError
from hardbot.game.rules import ACTION_CHARS, CALL, FOLD, N_STREETS, RAISE, Rules

NOBODY = -1


class Betting:
    """A position in the betting of one hand.

    `seat` is to act, NOBODY when the hand is over. `to_call` and `pot` are chips (the pot holds
    everything put in so far); `raises` counts this street's bets and raises, blinds excluded;
    `contributions` are chips per seat over the whole hand; `live` says who has not folded;
    `aggressor` made the last bet or raise of the hand (NOBODY before the first).
    """

    __slots__ = (
        "_pending",
        "aggressor",
        "children",
        "contributions",
        "index",
        "is_showdown",
        "legal",
        "live",
        "n_live",
        "parent",
        "pot",
        "raises",
        "rules",
        "seat",
        "street",
        "text",
        "to_call",
    )

    rules: Rules
    street: int
    seat: int
    raises: int
    contributions: tuple[int, ...]
    live: tuple[bool, ...]
    n_live: int
    to_call: int
    pot: int
    legal: tuple[int, ...]
    text: str
    aggressor: int
    is_showdown: bool
    index: int  # number within betting_tree(rules), -1 outside of one
    parent: Betting | None
    children: list[Betting | None]

    def __init__(
        self,
        rules: Rules,
        street: int,
        contributions: tuple[int, ...],
        live: tuple[bool, ...],
        pending: int,
        seat: int,
        raises: int,
        text: str,
        aggressor: int,
        parent: Betting | None,
    ) -> None:
        self.rules = rules
        self.street = street
        self.contributions = contributions
        self.live = live
        self.n_live = sum(live)
        self.raises = raises
        self.text = text
        self.aggressor = aggressor
        self.parent = parent
        self.index = -1
        self.children = [None, None, None]
        self._pending = pending
        self.pot = sum(contributions)
        self.is_showdown = pending == 0 and self.n_live > 1
        self.seat = seat if pending else NOBODY
        self.to_call = max(contributions) - contributions[seat] if pending else 0
        self.legal = self._legal_actions() if pending else ()

    def _legal_actions(self) -> tuple[int, ...]:
        may_raise = self.raises < self.rules.max_raises[self.street]
        if self.to_call > 0 or self.rules.free_folds:
            return (FOLD, CALL, RAISE) if may_raise else (FOLD, CALL)
        return (CALL, RAISE) if may_raise else (CALL,)

    @property
    def is_over(self) -> bool:
        """Nobody is left to act: a showdown, or all but one have folded."""
        return self.seat == NOBODY

    @property
    def n_pending(self) -> int:
        """Seats that have yet to act before the street is over, the one to act among them."""
        return self._pending

    @property
    def bet_size(self) -> int:
        """Chips of one bet on this street."""
        return self.rules.bet_sizes[self.street]

    @property
    def bets_to_call(self) -> int:
        """Bets to call, a part of a bet (the small blind's half) counted as one."""
        return -(-self.to_call // self.bet_size)

    @property
    def street_text(self) -> str:
        """Actions of this street only."""
        return self.text.rsplit("/", 1)[-1]

    def after(self, action: int) -> Betting:
        """The position after `action` by the seat to act; IllegalAction if the rules forbid it."""
        if action not in self.legal:
            raise IllegalAction(f"{self._describe_legal()}, got {_name(action)} in {self}")
        child = self.children[action]
        if child is None:
            child = self._advance(action)
            if len(self.contributions) == 2:
                self.children[action] = child
        return child

    def _advance(self, action: int) -> Betting:
        seat, live, pending = self.seat, self.live, self._pending - 1
        contributions, raises, aggressor = self.contributions, self.raises, self.aggressor
        n_live = self.n_live
        if action == FOLD:
            live = live[:seat] + (False,) + live[seat + 1 :]
            n_live -= 1
        else:
            chips = contributions[seat] + self.to_call
            if action == RAISE:
                chips += self.bet_size
                raises, aggressor, pending = raises + 1, seat, n_live - 1
            contributions = (*contributions[:seat], chips, *contributions[seat + 1 :])
        text = self.text + ACTION_CHARS[action]
        street = self.street
        if n_live == 1:
            pending, following = 0, seat
        elif pending == 0 and street < N_STREETS - 1:
            street, pending, raises, text = street + 1, n_live, 0, text + "/"
            following = _first_live(live, self.rules.first_seat[street])
        else:
            following = _first_live(live, seat + 1) if pending else seat
        return Betting(self.rules, street, contributions, live, pending, following, raises, text, aggressor, self)

    def _describe_legal(self) -> str:
        if not self.legal:
            return "expected no more actions, the hand is over"
        return "expected " + " or ".join(_name(action) for action in self.legal)

    def __str__(self) -> str:
        return f"<{self.rules.name} {self.text!r}>"

    __repr__ = __str__


def _name(action: int) -> str:
    return f"'{ACTION_CHARS[action]}'" if 0 <= action < len(ACTION_CHARS) else repr(action)


def _first_live(live: tuple[bool, ...], start: int) -> int:
    n = len(live)
    for step in range(n):
        if live[(start + step) % n]:
            return (start + step) % n
    raise AssertionError("no live seat")


@lru_cache(maxsize=64)
def first_betting(rules: Rules) -> Betting:
    """The blinds are in, nobody has acted."""
    n = rules.n_seats
    return Betting(rules, 0, rules.blinds, (True,) * n, n, rules.first_seat[0], 0, "", NOBODY, None)


def parse_betting(rules: Rules, text: str) -> Betting:
    """Replay a betting string such as `crc/rf` from the blinds.

    A trailing `/` stands where a street is complete and the next has begun; it may be left out. Raises
    NotationError for text that is no betting string and IllegalAction for a move the rules forbid.
    """
    betting = first_betting(rules)
    for position, char in enumerate(text):
        action = ACTION_CHARS.find(char)
        if char == "/":
            if betting.text[: position + 1] != text[: position + 1]:
                raise NotationError(f"expected a street to end before '/' at {position} of betting {text!r}")
        elif action < 0:
            raise NotationError(f"expected one of 'fcr/' at {position} of betting {text!r}, got {char!r}")
        else:
            if betting.text != text[:position]:
                raise NotationError(f"expected '/' at {position} of betting {text!r}, got {char!r}")
            betting = betting.after(action)
    if betting.text.rstrip("/") != text.rstrip("/"):
        raise NotationError(f"expected betting {betting.text!r}, got {text!r}")
    return betting


def net_chips(betting: Betting, ranks: Sequence[int]) -> tuple[int, ...]:
    """Chips won or lost by each seat of a finished hand.

    `ranks` are the seats' hand ranks (larger is better), looked at only at a showdown. A pot that
    does not divide evenly gives its odd chips, one each, to the winners first to the left of the button.
    """
    if not betting.is_over:
        raise RulesError(f"expected a finished hand, got {betting}")
    best = max((rank for rank, live in zip(ranks, betting.live, strict=True) if live), default=0)
    order = [(betting.rules.button + 1 + i) % len(betting.live) for i in range(len(betting.live))]
    winners = [s for s in order if betting.live[s] and (not betting.is_showdown or ranks[s] == best)]
    share, odd = divmod(betting.pot, len(winners))
    net = [-chips for chips in betting.contributions]
    for place, seat in enumerate(winners):
        net[seat] += share + (1 if place < odd else 0)
    return tuple(net)
