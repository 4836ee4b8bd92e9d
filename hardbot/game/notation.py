"""The competition's text forms: match states sent to a player, and lines of a dealer log.

`MATCHSTATE:seat:hand:betting:cards` and `STATE:hand:betting:cards:net:players`, where cards are
`hole0|hole1|.../flop/turn/river`, hands that a player may not see are empty, and nets and
players stand in seat order. Parsing then formatting gives the same text back, nets in their
shortest form (the competition splits a pot to fractions of a chip and writes up to six decimals).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hardbot.errors import CardError, HardBotError, NotationError
from hardbot.game.betting import Betting, parse_betting
from hardbot.game.cards import check_distinct, format_cards, parse_cards, parse_hole
from hardbot.game.hand import Hole, View
from hardbot.game.rules import BOARD_SIZES, Rules

_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
_NET = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,12})?")


@dataclass(frozen=True, slots=True)
class MatchState:
    """One player's view of a hand, with the hole cards it may see (None for hidden ones)."""

    seat: int
    hand_number: int
    betting: Betting
    holes: tuple[Hole | None, ...]
    board: tuple[int, ...]

    def view(self, players: Sequence[str] | None = None) -> View:
        """The same as a view for a bot; own hole cards must be known."""
        hole = self.holes[self.seat]
        if hole is None:
            raise NotationError(f"expected hole cards of seat {self.seat} in {format_match_state(self)!r}")
        names = tuple(players) if players else tuple(f"p{seat + 1}" for seat in range(len(self.holes)))
        return View(self.betting.rules, self.seat, self.hand_number, hole, names, self.betting, self.board)


@dataclass(frozen=True, slots=True)
class LogHand:
    """One hand of a dealer log; nets are chips."""

    hand_number: int
    betting: Betting
    holes: tuple[Hole | None, ...]
    board: tuple[int, ...]
    net_chips: tuple[float, ...]
    players: tuple[str, ...]


def format_match_state(state: MatchState) -> str:
    """`MATCHSTATE:0:0:cr:AhKd|` and so on."""
    cards = format_card_field(state.holes, state.board)
    return f"MATCHSTATE:{state.seat}:{state.hand_number}:{state.betting.text}:{cards}"


def format_view(view: View) -> str:
    """Match state of a view: only its own hole cards are shown."""
    holes = tuple(view.hole if seat == view.seat else None for seat in range(view.rules.n_seats))
    return format_match_state(MatchState(view.seat, view.hand_number, view.betting, holes, view.board))


def parse_match_state(text: str, rules: Rules) -> MatchState:
    """Parse and check a match state: legal betting, distinct cards, a board that fits the street."""
    fields = text.strip().split(":")
    if len(fields) != 5 or fields[0] != "MATCHSTATE":
        raise NotationError(f"expected 'MATCHSTATE:seat:hand:betting:cards', got {text!r}")
    try:
        seat, number = _parse_number(fields[1], "a seat"), _parse_number(fields[2], "a hand number")
        if seat >= rules.n_seats:
            raise NotationError(f"expected a seat below {rules.n_seats}, got {seat}")
        betting = parse_betting(rules, fields[3])
        holes, board = parse_card_field(fields[4], betting)
    except HardBotError as error:
        raise NotationError(f"{error} (match state {text.strip()!r})") from error
    if betting.text != fields[3]:
        raise NotationError(f"expected betting {betting.text!r}, got {fields[3]!r} (match state {text.strip()!r})")
    return MatchState(seat, number, betting, holes, board)


def format_log_hand(hand: LogHand) -> str:
    """`STATE:0:rf:...` line of a dealer log, without the line end."""
    cards = format_card_field(hand.holes, hand.board)
    net = "|".join(_format_net(chips) for chips in hand.net_chips)
    return f"STATE:{hand.hand_number}:{hand.betting.text}:{cards}:{net}:{'|'.join(hand.players)}"


def parse_log_hand(text: str, rules: Rules) -> LogHand:
    """Parse and check a `STATE` line; the betting must be complete. Payoffs are not recomputed."""
    line = text.split(" # ", maxsplit=1)[0].strip()
    fields = line.split(":")
    if len(fields) != 6 or fields[0] != "STATE":
        raise NotationError(f"expected 'STATE:hand:betting:cards:net:players', got {text!r}")
    try:
        number = _parse_number(fields[1], "a hand number")
        betting = parse_betting(rules, fields[2])
        if not betting.is_over:
            raise NotationError(f"expected a finished hand, got betting {fields[2]!r}")
        holes, board = parse_card_field(fields[3], betting)
        net = tuple(_parse_net(chips) for chips in fields[4].split("|"))
        players = tuple(fields[5].split("|"))
        if not len(net) == len(players) == rules.n_seats or "" in players:
            raise NotationError(f"expected {rules.n_seats} nets and players, got {fields[4]!r} and {fields[5]!r}")
    except HardBotError as error:
        raise NotationError(f"{error} (log line {line!r})") from error
    return LogHand(number, betting, holes, board, net, players)


def format_card_field(holes: Sequence[Hole | None], board: Sequence[int]) -> str:
    """`AhKd|/QhJhTh/2c` from hole hands by seat (None: hidden) and the board in sight."""
    text = "|".join("" if hole is None else format_cards(hole) for hole in holes)
    for start, end in pairwise(BOARD_SIZES):
        if len(board) >= end:
            text += "/" + format_cards(board[start:end])
    return text


def parse_card_field(text: str, betting: Betting) -> tuple[tuple[Hole | None, ...], tuple[int, ...]]:
    """Hole hands and board of a card field that must fit this betting."""
    if any(char.isspace() for char in text):
        raise NotationError(f"expected cards without white space, got {text!r}")
    hole_text, *street_texts = text.split("/")
    hole_texts = hole_text.split("|")
    if len(hole_texts) != betting.rules.n_seats:
        raise NotationError(f"expected {betting.rules.n_seats} hole hands in {text!r}, got {len(hole_texts)}")
    holes = tuple(parse_hole(part) if part else None for part in hole_texts)
    streets = [parse_cards(part) for part in street_texts]
    sizes, wanted = [len(street) for street in streets], [3, 1, 1][: betting.street]
    if sizes != wanted:
        raise CardError(f"expected board cards {wanted} for betting {betting.text!r}, got {sizes} in {text!r}")
    board = tuple(card for street in streets for card in street)
    check_distinct([card for hole in holes if hole is not None for card in hole] + list(board))
    return holes, board


def _parse_number(text: str, what: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise NotationError(f"expected {what} (a whole number of 0 or more), got {text!r}")
    return int(text)


def _parse_net(text: str) -> float:
    if not _NET.fullmatch(text):
        raise NotationError(f"expected a net in chips such as -20, got {text!r}")
    return float(text)


def _format_net(chips: float) -> str:
    text = f"{chips:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
