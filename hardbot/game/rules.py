"""Fixed-limit hold'em for 2 to 10 seats, its rules as data.

A seat is the competition's position within one hand: in a ring game seat 0 posts the small
blind, seat 1 the big blind and the last seat has the button; heads-up with reverse blinds seat 0
posts the big blind and seat 1 (the button) the small one. Stacks are not modelled: they are deep
enough never to matter, so nobody is ever all-in and there are no side pots.

Chips are the competition's: blinds 5 and 10, bets 10 and 20. One small bet ("sb") is
`bet_sizes[0]` chips. `max_raises` counts bets and raises of a round, the big blind not among
them: 3 raises preflop and 4 bets or raises later make at most four bets a round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hardbot.errors import RulesError

FOLD, CALL, RAISE = 0, 1, 2
ACTION_CHARS = "fcr"
ACTION_NAMES = ("fold", "call", "raise")
N_STREETS = 4
STREET_NAMES = ("preflop", "flop", "turn", "river")
BOARD_SIZES = (0, 3, 4, 5)  # board cards in sight on each street
UNCAPPED = 1_000_000
MIN_SEATS, MAX_SEATS = 2, 10


@dataclass(frozen=True, slots=True)
class Rules:
    """One kind of table. Amounts are chips; tuples over seats or over the four streets."""

    name: str
    blinds: tuple[int, ...]
    first_seat: tuple[int, int, int, int]
    bet_sizes: tuple[int, int, int, int] = (10, 10, 20, 20)
    max_raises: tuple[int, int, int, int] = (3, 4, 4, 4)
    free_folds: bool = False  # whether one may fold where checking is free

    def __post_init__(self) -> None:
        n = len(self.blinds)
        if not MIN_SEATS <= n <= MAX_SEATS:
            raise RulesError(f"expected {MIN_SEATS} to {MAX_SEATS} seats, got {n}")
        if any(not 0 <= seat < n for seat in self.first_seat):
            raise RulesError(f"expected first seats below {n}, got {self.first_seat}")
        if min(self.blinds) < 0 or max(self.blinds) <= 0:
            raise RulesError(f"expected blinds of 0 or more and one above 0, got {self.blinds}")
        if min(self.bet_sizes) <= 0 or min(self.max_raises) < 0:
            raise RulesError(f"expected bet sizes above 0 and caps of 0 or more in {self}")

    @property
    def n_seats(self) -> int:
        """Number of seats."""
        return len(self.blinds)

    @property
    def button(self) -> int:
        """Seat with the button."""
        return 1 if self.is_reverse else self.n_seats - 1

    @property
    def is_reverse(self) -> bool:
        """Heads-up with the small blind on the button, as the competition plays it."""
        return self.n_seats == 2 and self.blinds[0] > self.blinds[1]

    def to_sb(self, chips: float) -> float:
        """Chips as small bets."""
        return chips / self.bet_sizes[0]

    def uncapped(self) -> Rules:
        """The same table without a limit on raises (old records need it)."""
        return replace(self, name=f"{self.name}-uncapped", max_raises=(UNCAPPED,) * 4)

    def recorded(self) -> Rules:
        """The same table as people played it: no limit on raises, and one may leave where checking is free."""
        return replace(self.uncapped(), name=f"{self.name}-recorded", free_folds=True)


HEADS_UP = Rules("heads-up", blinds=(10, 5), first_seat=(1, 0, 0, 0))
HEADS_UP_IRC = Rules("heads-up-irc", blinds=(5, 10), first_seat=(0, 0, 0, 0))


def ring(n_seats: int, *, five_bets: bool = False) -> Rules:
    """Table of `n_seats`; two seats play reverse blinds. `five_bets`: the cap of Casey's experiments."""
    if n_seats == 2:
        rules = HEADS_UP
    elif MIN_SEATS < n_seats <= MAX_SEATS:
        rules = Rules(f"ring-{n_seats}", blinds=(5, 10) + (0,) * (n_seats - 2), first_seat=(2, 0, 0, 0))
    else:
        raise RulesError(f"expected {MIN_SEATS} to {MAX_SEATS} seats, got {n_seats}")
    return replace(rules, name=f"{rules.name}-five-bets", max_raises=(4, 5, 5, 5)) if five_bets else rules


PRESETS = ("heads-up", "heads-up-irc", "heads-up-five-bets") + tuple(
    f"ring-{n}{suffix}" for n in range(3, MAX_SEATS + 1) for suffix in ("", "-five-bets")
)


def preset(name: str) -> Rules:
    """Rules by the name of a preset."""
    if name not in PRESETS:
        raise RulesError(f"expected one of {', '.join(PRESETS)}, got {name!r}")
    if name == HEADS_UP_IRC.name:
        return HEADS_UP_IRC
    parts = name.split("-")
    return ring(2 if parts[0] == "heads" else int(parts[1]), five_bets=name.endswith("five-bets"))
