"""Live tables of a web server: who may use them, work off the event loop, and the words that go to the browser.

Every table has an id (in addresses) and a secret token (in a cookie of that table alone). Bots think in worker threads,
one caller a table at a time, so that a slow bot keeps nobody else waiting. What the browser may know is put
into words here and nowhere else: `state` and live `study` hold only what the person may see, without the session's
seed, and everything about a bot's cards waits for the end of the hand.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from hardbot.arena.entrants import BotSpec
from hardbot.bots.registry import BOTS, bot_class, split_spec
from hardbot.errors import ArenaError, BotError, SessionError
from hardbot.game.cards import CARD_TEXT, hole_class
from hardbot.game.rules import ACTION_NAMES, CALL, MAX_SEATS, MIN_SEATS
from hardbot.live.play_log import PlayLog
from hardbot.live.session import Event, HandRecord, Snapshot, TableSession
from hardbot.live.terminal import describe, outcome

N_WORKERS = 24
N_REHEARSED = 4  # hands
MAX_TABLES = 200
MAX_LISTENERS = 6  # streams a table
IDLE_S = 3600.0  # a table nobody has touched for this long may make room
N_LISTED = 50  # finished hands in the history
N_POINTS = 240  # of the result's line
_TELL_S = 0.05  # a hand in which bots think is told at most this often

T = TypeVar("T")


class UnknownTable(SessionError):
    """No table of that id."""


class TooManyTables(SessionError):
    """The server is full."""


class WebTable:
    """One person's table: a session, its token, and the streams that follow it."""

    def __init__(self, session: TableSession, loop: asyncio.AbstractEventLoop) -> None:
        self.id = secrets.token_hex(6)
        self.token = secrets.token_hex(24)
        self.session = session
        self.study_live = False
        self.touched = time.monotonic()
        self.listeners: set[asyncio.Event] = set()
        self.version = 0
        self.notice = ""
        self.is_closed = False
        self._loop = loop
        self._busy = threading.Lock()
        self._told = 0.0
        self.state = b""
        self._publish()

    # What the person does; all of these run in a worker

    def deal(self) -> bytes:
        """The next hand, up to the person's turn or its end."""
        return self._play(self.session.start_hand)

    def act(self, action: int, hand_number: int, betting: str) -> bytes:
        """The person's action at that very point of the hand, and the bots' answers."""
        return self._play(lambda: self.session.submit(action, hand_number=hand_number, betting=betting))

    def set_study(self, on: bool) -> bytes:
        """Whether the range map may be seen while a hand is in play."""
        with self._busy:
            self.study_live = on
            return self._publish()

    def _play(self, begin: Callable[[], object]) -> bytes:
        with self._busy:
            self.touched = self._told = time.monotonic()
            n_events = len(self.session.events)
            try:
                begin()
                self.notice = ""
                while not (self.session.is_between_hands or self.session.is_persons_turn):
                    self.session.step()
                    if time.monotonic() - self._told > _TELL_S:
                        self._publish()
            except ArenaError as error:
                self.notice = f"The hand is void: {error}"
            except SessionError as error:
                if len(self.session.events) == n_events:
                    raise  # refused: nothing has changed
                self.notice = f"The hand is void: {error}"
            return self._publish()

    # What the browser is told

    def _publish(self) -> bytes:
        """A new state for all who listen."""
        self.version += 1
        self.state = _encode(self._state())
        self._told = time.monotonic()
        self._loop.call_soon_threadsafe(self._wake)
        return self.state

    def hang_up(self) -> None:
        """End all streams."""
        self.is_closed = True
        self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for listener in self.listeners:
            listener.set()

    def _state(self) -> dict[str, Any]:
        session = self.session
        record = session.records[-1] if session.records and session.is_between_hands else None
        return session.to_json() | {
            "table": self.id,
            "version": self.version,
            "story": self._story(),
            "outcome": [] if record is None else outcome(session, record, reveal=False),
            "points": thinned(session.score.points),
            "study_live": self.study_live,
            "explains": _explains(session),
            "notice": self.notice,
        }

    def _story(self) -> list[dict[str, Any]]:
        """The events of the hand in play, else of the last one."""
        session = self.session
        if not session.events:
            return []
        number = session.events[-1].hand_number
        first = next(i for i in range(len(session.events) - 1, -1, -1) if session.events[i].kind == "deal")
        return [self._told_event(e) for e in session.events[first:] if e.hand_number == number and e.kind != "end"]

    def _told_event(self, event: Event) -> dict[str, Any]:
        return {
            "number": event.number,
            "kind": event.kind,
            "chair": event.chair,
            "text": describe(self.session, event) if event.kind != "deal" else _deal_words(self.session, event),
            "betting": event.betting,
        }

    def hands(self) -> bytes:
        """The last finished hands, newest first."""
        with self._busy:
            records = self.session.records[-N_LISTED:][::-1]
            return _encode({"hands": [record.to_json() for record in records]})

    def study(self, hand_number: int) -> bytes:
        """What the bot believed after each event of a hand; the bots' cards only when it is over."""
        with self._busy:
            session = self.session
            live = not session.is_between_hands and session.view().hand_number == hand_number
            if live:
                if not self.study_live:
                    raise SessionError("expected study during the hand to be switched on, it is off")
                own = hole_class(*session.own_view().hole)
                frames = self._live_frames(session.snapshots())
                return _encode({"hand": hand_number, "live": True, "own_class": own, "frames": frames})
            record = next((r for r in session.records if r.hand_number == hand_number), None)
            if record is None:
                raise SessionError(f"expected a hand that was played at this table, got {hand_number}")
            return _encode(self._studied(record))

    def _live_frames(self, snapshots: Sequence[Snapshot]) -> list[dict[str, Any]]:
        return [
            self._frame(snapshot) | snapshot.beliefs.public.to_json()
            for snapshot in snapshots
            if snapshot.beliefs.public is not None
        ]

    def _studied(self, record: HandRecord) -> dict[str, Any]:
        session, hand = self.session, record.hand_number
        snapshots = session.snapshots(hand)
        shown = [hole is not None for hole in record.result.holes]
        return {
            "hand": hand,
            "live": False,
            "own_class": hole_class(*record.hole),
            "frames": [self._frame(snapshot) | snapshot.beliefs.to_json() for snapshot in snapshots],
            "story": [self._told_event(e) for e in session.events[record.first_event : record.last_event]],
            "players": [
                {
                    "name": name,
                    "chair": (seat + hand) % session.rules.n_seats,
                    "hole": [CARD_TEXT[card] for card in record.deal.holes[seat]],
                    "shown": shown[seat],
                    "net_sb": session.rules.to_sb(record.result.net_chips[seat]),
                }
                for seat, name in enumerate(record.result.players)
            ],
            "record": record.to_json(),
        }

    def _frame(self, snapshot: Snapshot) -> dict[str, Any]:
        event = self.session.events[snapshot.event]
        text = self._told_event(event)["text"]
        if event.kind == "board":  # the action that closed the street comes with it
            text = f"{self._told_event(self.session.events[snapshot.event - 1])['text']}; {text}"
        return {
            "event": snapshot.event,
            "text": text,
            "betting": snapshot.betting,
            "board": [CARD_TEXT[card] for card in snapshot.board],
        }


def _explains(session: TableSession) -> bool:
    return session.rules.n_seats == MIN_SEATS and hasattr(session.bot_at(1), "explain")


def _deal_words(session: TableSession, event: Event) -> str:
    """`describe` asks the view for the button, which is that of the last hand only."""
    n = session.rules.n_seats
    button = session.names[(session.rules.button + event.hand_number) % n]
    cards = " ".join(CARD_TEXT[card] for card in event.cards)
    return f"hand {event.hand_number + 1}: you have {cards}, button {button}"


def thinned(points: Sequence[tuple[float, float]]) -> list[list[float]]:
    """(hands, sb, sb without luck) at no more than N_POINTS places, the last one among them."""
    n = len(points)
    places = range(n) if n <= N_POINTS else sorted({round(i * (n - 1) / (N_POINTS - 1)) for i in range(N_POINTS)})
    return [[i + 1, round(points[i][0], 3), round(points[i][1], 3)] for i in places]


def _encode(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode()


class Lobby:
    """All tables of a server, and the workers in which bots think."""

    def __init__(self, bots: Sequence[str], *, seed: int | None, folder: Path | None, keeps_log: bool) -> None:
        self.default_bots = tuple(bots)
        self.seed = seed
        self.folder = folder
        self.keeps_log = keeps_log
        self.tables: dict[str, WebTable] = {}
        self.n_opened = 0
        self.loop: asyncio.AbstractEventLoop | None = None  # the server's, once it runs
        self.workers = ThreadPoolExecutor(N_WORKERS, thread_name_prefix="table")
        self._warm: set[str] = set()
        self._warming: dict[str, threading.Lock] = {}

    async def run(self, call: Callable[[], T]) -> T:
        """Something that may take its time."""
        return await asyncio.get_running_loop().run_in_executor(self.workers, call)

    def hang_up(self) -> None:
        """End all streams, which would keep a server from ending."""
        for table in list(self.tables.values()):
            table.hang_up()

    def close(self) -> None:
        """No more work is taken."""
        self.workers.shutdown(wait=False, cancel_futures=True)

    def offered(self) -> list[dict[str, Any]]:
        """Bots a browser may ask for: the registered ones without options, and those named on the command line."""
        specs = [*dict.fromkeys(self.default_bots), *(name for name in BOTS if name not in self.default_bots)]
        return [
            {
                "bot": spec,
                "summary": _summary(spec),
                "max_seats": _sizes(spec).stop - 1,
                "min_seats": _sizes(spec).start,
            }
            for spec in specs
        ]

    def make_ready(self, spec: str) -> None:
        """Load what a bot needs, once; HardBotError if it cannot play."""
        with self._warming.setdefault(spec, threading.Lock()):
            if spec not in self._warm:
                rehearse(spec)
                self._warm.add(spec)

    async def open_table(self, bots: Sequence[str], person: str) -> WebTable:
        """A new table; only offered bots sit down, since options can name files and programs."""
        known = {*BOTS, *self.default_bots}
        strangers = [bot for bot in bots if bot not in known]
        if strangers:
            raise BotError(f"expected bots of {', '.join(sorted(known))}, got {', '.join(strangers)[:80]}")
        if not 1 <= len(bots) < MAX_SEATS:
            raise SessionError(f"expected 1 to {MAX_SEATS - 1} bots at a table, got {len(bots)}")
        self._make_room()
        seed = None if self.seed is None else self.seed + self.n_opened
        self.n_opened += 1
        return self.seat(await self.run(lambda: self._session(bots, person, seed)))

    def seat(self, session: TableSession) -> WebTable:
        """A table for a session that is there already."""
        table = WebTable(session, self.loop or asyncio.get_running_loop())
        self.tables[table.id] = table
        return table

    def _session(self, bots: Sequence[BotSpec], person: str, seed: int | None) -> TableSession:
        log = PlayLog(self.folder) if self.keeps_log else None
        session = TableSession(bots, person=person, seed=seed, log=log)
        for spec in dict.fromkeys(bots):
            assert isinstance(spec, str)
            self.make_ready(spec)
        _ask_for_reasons(session)
        return session

    def _make_room(self) -> None:
        """Forget the table that was idle longest, if there are too many; refuse if all are in use."""
        if len(self.tables) < MAX_TABLES:
            return
        oldest = min(self.tables.values(), key=lambda table: table.touched)
        if time.monotonic() - oldest.touched < IDLE_S:
            raise TooManyTables(f"expected at most {MAX_TABLES} tables in use, got one more")
        del self.tables[oldest.id]

    def table(self, table_id: str) -> WebTable:
        """The table of an id."""
        found = self.tables.get(table_id)
        if found is None:
            raise UnknownTable(f"expected the id of a table of this server, got {table_id[:20]!r}")
        return found


def _ask_for_reasons(session: TableSession) -> None:
    """Bots that can keep the figures of their decisions do so, where they can be studied."""
    for player in session.players:
        if hasattr(player.bot, "keeps_reasons"):
            player.bot.keeps_reasons = session.rules.n_seats == MIN_SEATS


def rehearse(spec: str) -> None:
    """A few hands at a table nobody sees, so that the first real ones do not wait for models and machine code.

    A bot that is told to remember its opponents in a file gets none here.
    """
    name, options = split_spec(spec) if spec.partition(":")[0] in BOTS else (spec, {})
    kept = [f"{key}={value}" for key, value in options.items() if key != "memory"]
    session = TableSession([f"{name}:{','.join(kept)}" if kept else name], seed=0)
    _ask_for_reasons(session)
    for player in session.players:
        if player.bot is not None:
            player.bot.prepare()
    for number in range(N_REHEARSED):
        session.start_hand()
        while not session.is_between_hands:
            if session.is_persons_turn:
                legal = session.view().legal
                session.submit(legal[-1] if number == 0 else CALL)
            else:
                session.step()


def _summary(spec: str) -> str:
    name = split_spec(spec)[0] if ":" not in spec or spec.partition(":")[0] in BOTS else ""
    return BOTS[name].summary if name in BOTS else "named on the command line"


def _sizes(spec: str) -> range:
    name = spec.partition(":")[0]
    return bot_class(name).table_sizes if name in BOTS else range(MIN_SEATS, MAX_SEATS + 1)


def action_number(word: object) -> int:
    """0, 1 or 2 for fold, call or raise, and for f, c, r."""
    for number, name in enumerate(ACTION_NAMES):
        if word in (name, name[0]):
            return number
    raise ValueError(f"expected fold, call or raise, got {str(word)[:20]!r}")
