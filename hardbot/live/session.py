"""A live table without any transport: one person (or anything outside) against any bots, 2 to 10 chairs.

A chair belongs to a player for the whole session, chair 0 to the person; a seat is a position within one hand
and moves on as the button does: chair c has seat (c - hand) mod n, the competition's rotation, so that hand 0 has
chair = seat. Cards are the arena's for the same seed and the bots' generators are the arena's too, so a
session in which the person plays like a bot gives the same hands as `hardbot match --single`.

    table = TableSession(["rulebot"], seed=7)
    table.start_hand()
    while not table.is_between_hands:
        table.submit(table.view().legal[0]) if table.is_persons_turn else table.step()

`view()` and events hold only what the person may know; `HandRecord.deal` holds everything and stays on this side.
A session is used by one caller at a time.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hardbot.arena.blocks import DEFAULT_BLOCK
from hardbot.arena.deals import DealBlock, deal_block
from hardbot.arena.entrants import BotSpec, bot_generator, make_entrants, table_names
from hardbot.arena.statistics import Running
from hardbot.arena.table import Player, bot_failure, illegal_action, seat_player
from hardbot.bots.base import Bot
from hardbot.errors import ArenaError, IllegalAction, SessionError
from hardbot.game.betting import Betting
from hardbot.game.cards import CARD_TEXT
from hardbot.game.hand import Deal, Hand, HandResult, Hole, View
from hardbot.game.notation import LogHand
from hardbot.game.rules import ACTION_NAMES, BOARD_SIZES, MAX_SEATS, MIN_SEATS, STREET_NAMES, Rules
from hardbot.game.rules import ring as ring_rules
from hardbot.live.beliefs import Beliefs, beliefs_of
from hardbot.live.luck import luck_sb
from hardbot.live.play_log import PlayLog

PERSON = 0  # chair
NO_CHAIR, NO_ACTION = -1, -1
N_STUDIED = 50  # finished hands whose beliefs are kept; results are kept for all

EventKind = Literal["deal", "action", "board", "end", "void"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something the person sees happen; numbers count through the session without gaps.

    `cards` are the person's hole cards at a deal and the new board cards at a board event; `betting` is the
    competition's text after the event; amounts are chips.
    """

    number: int
    kind: EventKind
    hand_number: int
    betting: str
    pot_chips: int
    chair: int = NO_CHAIR
    action: int = NO_ACTION
    paid_chips: int = 0
    cards: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "number": self.number,
            "kind": self.kind,
            "hand": self.hand_number,
            "betting": self.betting,
            "pot": self.pot_chips,
            "chair": self.chair,
            "action": ACTION_NAMES[self.action] if self.action >= 0 else None,
            "paid": self.paid_chips,
            "cards": _card_texts(self.cards),
        }


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one bot believed after an event of the hand."""

    event: int
    betting: str
    board: tuple[int, ...]
    chair: int  # the bot's
    beliefs: Beliefs

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        place = {"event": self.event, "betting": self.betting, "board": _card_texts(self.board), "chair": self.chair}
        return place | self.beliefs.to_json()


@dataclass(frozen=True, slots=True)
class ChairView:
    """One player as the person sees him; `hole` only if it is the person's own or was shown."""

    chair: int
    seat: int
    name: str
    is_live: bool
    has_button: bool
    paid_chips: int  # in this hand
    hole: Hole | None
    net_chips: int | None  # of this hand, when it is over
    total_chips: int  # over the session

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "chair": self.chair,
            "seat": self.seat,
            "name": self.name,
            "live": self.is_live,
            "button": self.has_button,
            "paid": self.paid_chips,
            "hole": None if self.hole is None else _card_texts(self.hole),
            "net": self.net_chips,
            "total": self.total_chips,
        }


@dataclass(frozen=True, slots=True)
class TableView:
    """Everything the person may know about the hand in play, or about the last one when it is over."""

    hand_number: int
    street: int
    betting: str
    board: tuple[int, ...]
    pot_chips: int
    to_call_chips: int
    bet_chips: int
    to_act: int  # chair, NO_CHAIR when the hand is over
    legal: tuple[int, ...]  # the person's actions, empty when it is not his turn
    chairs: tuple[ChairView, ...]
    is_showdown: bool

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "hand": self.hand_number,
            "street": STREET_NAMES[self.street],
            "betting": self.betting,
            "board": _card_texts(self.board),
            "pot": self.pot_chips,
            "to_call": self.to_call_chips,
            "bet": self.bet_chips,
            "to_act": self.to_act,
            "legal": [ACTION_NAMES[action] for action in self.legal],
            "chairs": [chair.to_json() for chair in self.chairs],
            "showdown": self.is_showdown,
        }


@dataclass(frozen=True, slots=True)
class HandRecord:
    """A finished hand. `deal` and `snapshots` are not for the person's eyes without asking; `to_json` is."""

    hand_number: int
    seat: int  # the person's
    deal: Deal
    result: HandResult
    net_sb: float
    luck_sb: float
    first_event: int
    last_event: int
    snapshots: tuple[Snapshot, ...]

    @property
    def hole(self) -> Hole:
        """The person's cards."""
        return self.deal.holes[self.seat]

    def to_json(self) -> dict[str, Any]:
        """What the person may know of it."""
        shown = [_card_texts(h) if h is not None else None for h in self.result.holes]
        shown[self.seat] = _card_texts(self.hole)
        return {
            "hand": self.hand_number,
            "seat": self.seat,
            "players": list(self.result.players),
            "holes": shown,
            "board": _card_texts(self.result.board),
            "betting": self.result.betting.text,
            "net_sb": self.net_sb,
            "luck_sb": round(self.luck_sb, 4),
            "events": [self.first_event, self.last_event],
        }


@dataclass(slots=True)
class Score:
    """The person's running result in small bets, as played and with the luck of the cards taken off."""

    played: Running = field(default_factory=Running)
    adjusted: Running = field(default_factory=Running)
    points: list[tuple[float, float]] = field(default_factory=list)  # sums after each hand

    def add(self, net_sb: float, luck: float) -> None:
        """Take in one hand."""
        self.played.add(net_sb)
        self.adjusted.add(net_sb - luck)
        last = self.points[-1] if self.points else (0.0, 0.0)
        self.points.append((last[0] + net_sb, last[1] + net_sb - luck))

    def to_json(self) -> dict[str, Any]:
        """Sums, means and half-widths of 95% intervals (null below two hands)."""
        played, adjusted = self.played.estimate(), self.adjusted.estimate()
        total, total_adjusted = self.points[-1] if self.points else (0.0, 0.0)
        has_interval = self.played.n > 1
        return {
            "hands": self.played.n,
            "net_sb": round(total, 4),
            "adjusted_sb": round(total_adjusted, 4),
            "sb_per_hand": round(played.mean, 4),
            "ci95": round(played.half_width, 4) if has_interval else None,
            "adjusted_sb_per_hand": round(adjusted.mean, 4),
            "adjusted_ci95": round(adjusted.half_width, 4) if has_interval else None,
        }


@dataclass(slots=True)
class _LiveHand:
    """The hand in play as the dealer knows it."""

    hand: Hand
    views: list[View]  # by seat
    first_event: int
    snapshots: list[Snapshot] = field(default_factory=list)
    pots_sb: list[float] = field(default_factory=list)  # when each street was dealt


class TableSession:
    """One table: the person in chair 0, the bots in the chairs after it."""

    def __init__(
        self,
        bots: Sequence[BotSpec],
        *,
        person: str = "you",
        seed: int | None = None,
        n_hands: int | None = None,
        log: PlayLog | None = None,
        rules: Rules | None = None,
        study: bool = True,
    ) -> None:
        n = len(bots) + 1
        if not MIN_SEATS <= n <= MAX_SEATS:
            raise SessionError(f"expected {MIN_SEATS - 1} to {MAX_SEATS - 1} bots at a table, got {len(bots)}")
        if n_hands is not None and n_hands < 1:
            raise SessionError(f"expected at least 1 hand, got {n_hands}")
        self.rules = ring_rules(n) if rules is None else rules
        if self.rules.n_seats != n:
            raise SessionError(f"expected {self.rules.n_seats - 1} bots for {self.rules.name}, got {len(bots)}")
        self.seed = secrets.randbits(63) if seed is None else seed
        self.n_hands = n_hands
        self.log = log
        self.study = study  # ask the bots what they believe
        self.names = _chair_names(person, bots)
        self.players = self._seat_bots(bots)
        self.events: list[Event] = []
        self.records: list[HandRecord] = []
        self.score = Score()
        self.totals = [0] * n  # chips by chair
        self.next_hand = 0
        self._live: _LiveHand | None = None
        self._last: _LiveHand | None = None  # the hand to show between hands
        self._studied: deque[HandRecord] = deque(maxlen=N_STUDIED)
        self._deals: tuple[int, DealBlock] | None = None

    def _seat_bots(self, specs: Sequence[BotSpec]) -> list[Player]:
        """Players by chair - 1; generators are those of the arena's entrants 1, 2, ..."""
        n = len(specs) + 1
        bots = make_entrants(specs, n)
        return [
            seat_player(bot, self.names[chair], bot_generator(self.seed, 0, 0, chair, n))
            for chair, bot in enumerate(bots, start=1)
        ]

    # What is going on

    @property
    def is_between_hands(self) -> bool:
        """No hand is in play."""
        return self._live is None

    @property
    def is_finished(self) -> bool:
        """All hands asked for have been played."""
        return self._live is None and self.n_hands is not None and self.next_hand >= self.n_hands

    @property
    def is_persons_turn(self) -> bool:
        """The table waits for `submit`."""
        live = self._live
        return live is not None and live.hand.betting.seat == self._seat(PERSON, live.hand.hand_number)

    def view(self) -> TableView:
        """What the person sees: the hand in play, else the last one; SessionError before the first."""
        shown = self._live or self._last
        if shown is None:
            raise SessionError("expected a hand to look at, got a table before its first hand")
        return self._table_view(shown)

    def own_view(self) -> View:
        """The person's seat as a bot would see it, for anything that plays in his place."""
        if self._live is None:
            raise SessionError("expected a hand in play, got a table between hands")
        return self._live.views[self._seat(PERSON, self._live.hand.hand_number)]

    def events_since(self, number: int) -> list[Event]:
        """Events from this number on."""
        return self.events[max(number, 0) :]

    def snapshots(self, hand_number: int | None = None) -> tuple[Snapshot, ...]:
        """Bots' beliefs in the hand in play (None) or in a finished one; empty if no bot explains itself."""
        if hand_number is None:
            return tuple(self._live.snapshots) if self._live is not None else ()
        return next((record.snapshots for record in self._studied if record.hand_number == hand_number), ())

    def bot_at(self, chair: int) -> Bot:
        """The bot in a chair from 1 on."""
        return self.players[chair - 1].bot

    # Play

    def start_hand(self) -> list[Event]:
        """Deal the next hand; nobody has acted yet."""
        if self._live is not None:
            raise SessionError(f"expected hand {self._live.hand.hand_number} to be played out before the next deal")
        if self.is_finished:
            raise SessionError(f"expected no more than {self.n_hands} hands at this table, got a call for another")
        number, start = self.next_hand, len(self.events)
        names = tuple(self.names[chair] for chair in self._chairs(number))
        hand = Hand(self.rules, self._deal(number), number, names)
        live = _LiveHand(hand, [hand.view(seat) for seat in range(self.rules.n_seats)], start)
        self.next_hand += 1
        self._live = live
        own = live.views[self._seat(PERSON, number)].hole
        self._add_event("deal", cards=own)
        self._guard(lambda seat, player: player.new_hand and player.new_hand(live.views[seat]))
        self._snapshot()
        return self.events[start:]

    def submit(self, action: int, *, hand_number: int | None = None, betting: str | None = None) -> list[Event]:
        """The person acts; with `hand_number` and `betting`, only if the table still is there (stale clicks fail)."""
        live = self._live
        if live is None:
            raise SessionError("expected an action while a hand is in play, got one between hands")
        here = live.hand.betting
        if not self.is_persons_turn:
            raise SessionError(f"expected {self.names[self._chair(here.seat)]} to act, got an action out of turn")
        if hand_number not in (None, live.hand.hand_number) or betting not in (None, here.text):
            raise SessionError(
                f"expected an action for hand {live.hand.hand_number} after {here.text!r}, "
                f"got one for hand {hand_number} after {betting!r}"
            )
        if action not in here.legal:
            raise IllegalAction(f"expected {legal_names(here.legal)}, got {action!r}")
        return self._apply(action)

    def step(self) -> list[Event]:
        """The bot whose turn it is acts."""
        live = self._live
        if live is None or self.is_persons_turn:
            raise SessionError("expected a bot to be to act, got a table that waits for a person or a deal")
        seat = live.hand.betting.seat
        player, view = self.players[self._chair(seat) - 1], live.views[seat]
        decided: list[int] = []
        self._guard(lambda _, acting: decided.append(acting.act(view, acting.rng)), only=seat)
        if decided[0] not in live.hand.betting.legal:
            self._void()
            raise illegal_action(player.name, view, decided[0], f"seed {self.seed}")
        return self._apply(decided[0])

    def advance(self) -> list[Event]:
        """Let the bots act until it is the person's turn or the hand is over."""
        start = len(self.events)
        while self._live is not None and not self.is_persons_turn:
            self.step()
        return self.events[start:]

    def _apply(self, action: int) -> list[Event]:
        live = self._live
        assert live is not None
        start, before = len(self.events), live.hand.betting
        live.hand.apply(action)
        after, board = live.hand.betting, live.hand.board
        for view in live.views:
            view.betting, view.board = after, board
        paid = after.contributions[before.seat] - before.contributions[before.seat]
        self._add_event("action", chair=self._chair(before.seat), action=action, paid_chips=paid)
        if after.street > before.street:
            live.pots_sb.append(self.rules.to_sb(after.pot))
            self._add_event("board", cards=board[BOARD_SIZES[before.street] :])
        self._guard(lambda seat, player: player.observe and player.observe(live.views[seat], before, action))
        self._snapshot()
        if after.is_over:
            self._finish(live)
        return self.events[start:]

    def _finish(self, live: _LiveHand) -> None:
        """Pay out, keep the hand, tell the bots."""
        hand, result = live.hand, live.hand.result()
        number, seat = hand.hand_number, self._seat(PERSON, hand.hand_number)
        self._guard(lambda place, player: player.end_hand and player.end_hand(live.views[place], result))
        self._keep(hand, result)
        for place, chips in enumerate(result.net_chips):
            self.totals[self._chair(place)] += chips
        self._add_event("end")
        net = self.rules.to_sb(result.net_chips[seat])
        luck = luck_sb(hand.deal.holes[seat], hand.board, live.pots_sb)
        last = len(self.events) - 1
        record = HandRecord(number, seat, hand.deal, result, net, luck, live.first_event, last, tuple(live.snapshots))
        self.score.add(net, luck)
        self._studied.append(record)
        self.records.append(_without_snapshots(record))
        self._last, self._live = live, None

    def _keep(self, hand: Hand, result: HandResult) -> None:
        """Append to the play log; a hand that cannot be kept does not count."""
        if self.log is None:
            return
        nets = tuple(float(chips) for chips in result.net_chips)
        try:
            self.log.append(
                LogHand(hand.hand_number, hand.betting, hand.deal.holes, hand.board, nets, hand.players), self.seed
            )
        except SessionError:
            self._void()
            raise

    def _void(self) -> None:
        """Give up the hand in play: nothing is won, lost or kept."""
        self._add_event("void")
        self._live = None

    def _guard(self, call: Callable[[int, Player], object], only: int | None = None) -> None:
        """`call(seat, player)` for every bot in seat order, or one; a bot that fails voids the hand."""
        live = self._live
        assert live is not None
        chairs = self._chairs(live.hand.hand_number)
        seated = [
            (seat, self.players[chair - 1])
            for seat, chair in enumerate(chairs)
            if chair != PERSON and only in (None, seat)
        ]
        try:
            for seat, player in seated:
                call(seat, player)
        except Exception as error:
            self._void()
            if isinstance(error, ArenaError):
                raise
            views = [live.views[seat] for seat, _ in seated]
            raise bot_failure(error, [player for _, player in seated], views, f"seed {self.seed}") from error

    # Seats, cards, what is shown

    def _seat(self, chair: int, hand_number: int) -> int:
        return (chair - hand_number) % self.rules.n_seats

    def _chairs(self, hand_number: int) -> list[int]:
        """Chair of each seat."""
        return [(seat + hand_number) % self.rules.n_seats for seat in range(self.rules.n_seats)]

    def _chair(self, seat: int) -> int:
        shown = self._live or self._last
        assert shown is not None
        return (seat + shown.hand.hand_number) % self.rules.n_seats

    def _deal(self, number: int) -> Deal:
        block, index = divmod(number, DEFAULT_BLOCK)
        if self._deals is None or self._deals[0] != block:
            self._deals = (block, deal_block(self.rules.n_seats, DEFAULT_BLOCK, self.seed, block))
        return self._deals[1].deal(index)

    def _add_event(
        self,
        kind: EventKind,
        *,
        chair: int = NO_CHAIR,
        action: int = NO_ACTION,
        paid_chips: int = 0,
        cards: tuple[int, ...] = (),
    ) -> None:
        assert self._live is not None
        hand = self._live.hand
        number, betting = len(self.events), hand.betting
        self.events.append(
            Event(number, kind, hand.hand_number, betting.text, betting.pot, chair, action, paid_chips, cards)
        )

    def _snapshot(self) -> None:
        """Ask every bot what it believes now (heads-up only: a range map is about one opponent)."""
        live = self._live
        assert live is not None
        if self.rules.n_seats == MIN_SEATS and self.study:
            self._guard(lambda _, player: self._take_snapshot(live, player))

    def _take_snapshot(self, live: _LiveHand, player: Player) -> None:
        beliefs, hand = beliefs_of(player.bot), live.hand
        if beliefs is not None:
            chair = 1 + self.players.index(player)
            live.snapshots.append(Snapshot(len(self.events) - 1, hand.betting.text, hand.board, chair, beliefs))

    def _table_view(self, live: _LiveHand) -> TableView:
        betting, number = live.hand.betting, live.hand.hand_number
        own = self._seat(PERSON, number)
        result = live.hand.result() if betting.is_over else None
        is_own_turn = live is self._live and betting.seat == own
        chairs = [self._chair_view(chair, live, betting, result) for chair in range(self.rules.n_seats)]
        return TableView(
            hand_number=number,
            street=betting.street,
            betting=betting.text,
            board=live.hand.board,
            pot_chips=betting.pot,
            to_call_chips=betting.to_call if is_own_turn else 0,
            bet_chips=betting.bet_size,
            to_act=NO_CHAIR if betting.is_over else (betting.seat + number) % self.rules.n_seats,
            legal=betting.legal if is_own_turn else (),
            chairs=tuple(chairs),
            is_showdown=betting.is_showdown,
        )

    def _chair_view(self, chair: int, live: _LiveHand, betting: Betting, result: HandResult | None) -> ChairView:
        seat = self._seat(chair, live.hand.hand_number)
        hole = live.hand.deal.holes[seat] if chair == PERSON else None
        if result is not None and hole is None:
            hole = result.holes[seat]
        return ChairView(
            chair,
            seat,
            self.names[chair],
            betting.live[seat],
            seat == self.rules.button,
            betting.contributions[seat],
            hole,
            None if result is None else result.net_chips[seat],
            self.totals[chair],
        )

    def to_json(self) -> dict[str, Any]:
        """The table as the person may see it: names, the hand, the score; no belief, no hidden card."""
        return {
            "rules": self.rules.name,
            "small_bet": self.rules.bet_sizes[0],
            "names": list(self.names),
            "between_hands": self.is_between_hands,
            "finished": self.is_finished,
            "n_events": len(self.events),
            "view": None if (self._live or self._last) is None else self.view().to_json(),
            "score": self.score.to_json(),
        }


def legal_names(legal: Sequence[int]) -> str:
    """`fold, call or raise`."""
    names = [ACTION_NAMES[action] for action in legal]
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _without_snapshots(record: HandRecord) -> HandRecord:
    """The record that is kept for good: beliefs are large."""
    return HandRecord(
        record.hand_number,
        record.seat,
        record.deal,
        record.result,
        record.net_sb,
        record.luck_sb,
        record.first_event,
        record.last_event,
        (),
    )


def _chair_names(person: str, bots: Sequence[BotSpec]) -> tuple[str, ...]:
    """The person's name first; the bots', made different from it and from each other."""
    if table_names([person], None) != (person,) or not person:
        raise SessionError(f"expected a name of letters, digits and ._,=+-, got {person!r}")
    return table_names([person, *bots], None)


def _card_texts(cards: Sequence[int]) -> list[str]:
    return [CARD_TEXT[card] for card in cards]
