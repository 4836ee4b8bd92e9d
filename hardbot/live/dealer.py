"""A dealer of the competition protocol: deals, asks, checks, pays and keeps the log.

Cards are the arena's for the seed (one block as long as the match) and players sit as at the competition:
player p has position (p - hand) mod n. Two of our bots that were given the match's seed therefore play the very hands
of `hardbot match --single --block HANDS`.

What goes wrong is treated as the competition's own dealer (project_acpc_server, dealer.c, 2011 to 2017) does:
- a comment, garbage, or an answer to any other state than the one asked about is noted and passed over;
- an answer to the state asked about whose action is malformed or not allowed is noted and changed to a call;
- more such answers than `max_illegal`, no answer within the limits (one answer, one hand, all hands on average), an
  endless line or a closed connection end the match: the player forfeits, finished hands count, the hand in play
  does not. The specification (2.0.0, October 2010) asks for the same: the match should be ended, rather than
  results depend on how somebody plays on for a broken program.
That dealer sets no limit on illegal answers and waits ten minutes; the limits here are tighter by default.
"""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hardbot.arena.deals import DealBlock, deal_block
from hardbot.arena.entrants import table_names
from hardbot.arena.log import DealerLog
from hardbot.errors import ProtocolError
from hardbot.game.hand import Deal, Hand
from hardbot.game.notation import LogHand, MatchState, format_log_hand, format_match_state
from hardbot.game.rules import ring
from hardbot.live.play_log import game_file
from hardbot.live.protocol import check_version, read_answer
from hardbot.live.wire import LinePeer, accept, listen

MAX_NOTES = 100  # of each player, in the log; all are counted
_DEALT_AT_ONCE = 1_000  # hands


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds, and illegal answers, that a player may use."""

    answer_s: float = 10.0
    hand_s: float = 60.0
    per_hand_s: float = 7.0  # on average over the whole match
    start_s: float = 60.0  # until all have connected
    max_illegal: int = 100


@dataclass(frozen=True, slots=True)
class Forfeit:
    """Who ended the match, in which hand, and why."""

    player: str
    hand: int
    reason: str


@dataclass(slots=True)
class _Conduct:
    """What one player has used up."""

    hand_s: float = 0.0
    match_s: float = 0.0
    n_illegal: int = 0
    n_passed_over: int = 0
    n_notes: int = 0
    answers_s: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DealerResult:
    """A match over TCP, by player: chips, illegal answers, lines passed over, answer times in milliseconds."""

    players: tuple[str, ...]
    hands: int
    net_chips: tuple[int, ...]
    illegal: tuple[int, ...]
    passed_over: tuple[int, ...]
    median_ms: tuple[float, ...]
    p99_ms: tuple[float, ...]
    max_ms: tuple[float, ...]
    seconds: float
    forfeit: Forfeit | None

    def to_json(self) -> dict[str, Any]:
        """The command line's document."""
        document: dict[str, Any] = {"players": list(self.players), "hands": self.hands}
        for key in ("net_chips", "illegal", "passed_over", "median_ms", "p99_ms", "max_ms"):
            document[key] = [None if isinstance(v, float) and math.isnan(v) else v for v in getattr(self, key)]
        document["seconds"] = self.seconds
        lost = self.forfeit
        document["forfeit"] = (
            None if lost is None else {"player": lost.player, "hand": lost.hand, "reason": lost.reason}
        )
        return document


class _Forfeited(Exception):
    """Ends the match."""

    def __init__(self, player: int, reason: str) -> None:
        super().__init__(reason)
        self.player = player


class Dealer:
    """One match; the ports are open from the start, so that players can be told before `play`."""

    def __init__(
        self,
        n_players: int,
        n_hands: int,
        seed: int,
        *,
        names: Sequence[str] | None = None,
        host: str = "127.0.0.1",
        first_port: int = 0,
        limits: Limits | None = None,
        log: Path | None = None,
    ) -> None:
        self.rules = ring(n_players)
        if n_hands < 1:
            raise ProtocolError(f"expected at least 1 hand, got {n_hands}")
        self.n_hands = n_hands
        self.seed = seed
        self.names = table_names([f"player{p + 1}" for p in range(n_players)], names)
        self.limits = limits or Limits()
        self.log = log
        self._deals = deal_block(n_players, n_hands, seed, 0)
        self._conduct = [_Conduct() for _ in range(n_players)]
        self._peers: list[LinePeer] = []
        self._book: DealerLog | None = None
        self._listeners: list[socket.socket] = []
        try:
            for player in range(n_players):
                self._listeners.append(listen(host, first_port + player if first_port else 0))
        except ProtocolError:
            self.close()
            raise

    @property
    def ports(self) -> tuple[int, ...]:
        """Where each player is to connect."""
        return tuple(int(listener.getsockname()[1]) for listener in self._listeners)

    def close(self) -> None:
        """Hang up and free the ports."""
        for peer in self._peers:
            peer.close()
        for listener in self._listeners:
            listener.close()

    def play(self) -> DealerResult:
        """Wait for the players and play the match; ProtocolError if they do not come."""
        try:
            with ExitStack() as stack:
                if self.log is not None:
                    self._book = stack.enter_context(self._open_log(self.log))
                self._meet_players()
                return self._play_match()
        finally:
            self.close()

    def _open_log(self, path: Path) -> DealerLog:
        limits = self.limits
        remarks = [
            f"t_response {1e3 * limits.answer_s:.0f}",
            f"t_hand {1e3 * limits.hand_s:.0f}",
            f"t_per_hand {1e3 * limits.per_hand_s:.0f}",
        ]
        return DealerLog(path, game_file(self.rules), self.n_hands, self.seed, remarks)

    def _meet_players(self) -> None:
        deadline = time.monotonic() + self.limits.start_s
        for listener, name in zip(self._listeners, self.names, strict=True):
            self._peers.append(accept(listener, name, deadline))
        for peer in self._peers:
            check_version(peer.receive(max(0.001, deadline - time.monotonic())), peer.name)

    def _play_match(self) -> DealerResult:
        totals = [0] * self.rules.n_seats
        start, number, lost, dealt = time.perf_counter(), 0, None, self._deals
        try:
            while number < self.n_hands:
                if number % _DEALT_AT_ONCE == 0:  # Python objects for all cards of a long match would fill the memory
                    part = slice(number, number + _DEALT_AT_ONCE)
                    dealt = DealBlock(self._deals.holes[part], self._deals.boards[part])
                self._play_hand(number, dealt.deal(number % _DEALT_AT_ONCE), totals)
                number += 1
        except _Forfeited as error:
            lost = Forfeit(self.names[error.player], number, str(error))
            self._remark(f"forfeit: hand {number}, {lost.player}: {lost.reason}")
        if self._book is not None:
            self._book.finish(totals, self.names)
        return self._result(number, totals, time.perf_counter() - start, lost)

    def _play_hand(self, number: int, deal: Deal, totals: list[int]) -> None:
        n = self.rules.n_seats
        players = [(seat + number) % n for seat in range(n)]  # player of each seat
        hand = Hand(self.rules, deal, number, [self.names[player] for player in players])
        for conduct in self._conduct:
            conduct.hand_s = 0.0
        while not hand.betting.is_over:
            asked = self._send_states(hand, players)
            hand.apply(self._ask(hand, players[hand.betting.seat], asked))
        net = hand.net_chips()
        for seat, player in enumerate(players):
            totals[player] += net[seat]
        if self._book is not None:
            nets = tuple(float(chips) for chips in net)
            record = LogHand(number, hand.betting, deal.holes, hand.board, nets, hand.players)
            self._book.write(format_log_hand(record) + "\n")
        self._send_states(hand, players)

    def _send_states(self, hand: Hand, players: Sequence[int]) -> str:
        """Show everybody the hand as it is; returns the state of the seat to act."""
        asked, betting = "", hand.betting
        shown = hand.result().holes if betting.is_over else (None,) * self.rules.n_seats
        for seat, player in enumerate(players):
            holes = tuple(hand.deal.holes[s] if s == seat else shown[s] for s in range(self.rules.n_seats))
            text = format_match_state(MatchState(seat, hand.hand_number, betting, holes, hand.board))
            try:
                self._peers[player].send(text, self.limits.answer_s)
            except ProtocolError as error:
                if not self._is_last_message(hand):
                    raise _Forfeited(player, str(error)) from error
            if seat == betting.seat:
                asked = text
        return asked

    def _is_last_message(self, hand: Hand) -> bool:
        """The match is decided; a player that has already left loses nothing."""
        return hand.betting.is_over and hand.hand_number == self.n_hands - 1

    def _ask(self, hand: Hand, player: int, asked: str) -> int:
        """The player's action; notes what else it says."""
        conduct, start = self._conduct[player], time.monotonic()
        limit = self._time_left(conduct)
        while True:
            try:
                line = self._peers[player].receive(max(0.0, limit - (time.monotonic() - start)))
            except ProtocolError as error:
                raise _Forfeited(player, str(error)) from error
            if time.monotonic() - start > limit:  # lines without end come in time, each of them
                raise _Forfeited(player, f"expected an answer within {limit:.3g} s, got only other lines")
            answer = read_answer(line, asked, hand.betting)
            if answer.complaint:
                self._note(hand.hand_number, player, answer.complaint, is_illegal=answer.is_for_state)
            if answer.is_for_state:
                break
        used = time.monotonic() - start
        conduct.answers_s.append(used)
        conduct.hand_s += used
        conduct.match_s += used
        return answer.action

    def _time_left(self, conduct: _Conduct) -> float:
        """Seconds for the next answer under all three limits."""
        limits = self.limits
        match_s = limits.per_hand_s * self.n_hands - conduct.match_s
        return max(0.0, min(limits.answer_s, limits.hand_s - conduct.hand_s, match_s))

    def _note(self, number: int, player: int, complaint: str, *, is_illegal: bool) -> None:
        conduct = self._conduct[player]
        conduct.n_illegal += is_illegal
        conduct.n_passed_over += not is_illegal
        conduct.n_notes += 1
        if conduct.n_notes <= MAX_NOTES:
            self._remark(f"hand {number}, {self.names[player]}: {complaint}")
        if conduct.n_illegal > self.limits.max_illegal:
            raise _Forfeited(player, f"expected at most {self.limits.max_illegal} illegal answers, got more")

    def _remark(self, text: str) -> None:
        if self._book is not None:
            self._book.write(f"#--{' '.join(text.split())}\n")

    def _result(self, hands: int, totals: Sequence[int], seconds: float, lost: Forfeit | None) -> DealerResult:
        times = [1e3 * np.array(conduct.answers_s or [np.nan]) for conduct in self._conduct]
        return DealerResult(
            players=self.names,
            hands=hands,
            net_chips=tuple(totals),
            illegal=tuple(conduct.n_illegal for conduct in self._conduct),
            passed_over=tuple(conduct.n_passed_over for conduct in self._conduct),
            median_ms=tuple(float(np.median(ms)) for ms in times),
            p99_ms=tuple(float(np.quantile(ms, 0.99)) for ms in times),
            max_ms=tuple(float(ms.max()) for ms in times),
            seconds=seconds,
            forfeit=lost,
        )
