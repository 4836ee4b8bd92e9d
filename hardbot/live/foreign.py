"""Foreign programs as bots of the arena: `tcp:COMMAND`.

Every instance starts `COMMAND HOST PORT` (as the competition starts its players) and speaks the dealer's side of
the protocol with it: matches, rings and gauntlets need not know that the bot is another process. The process
starts with the first hand and ends with the instance. It may learn, for all we know, so its hands count in blocks.

In the arena a bot's illegal action fails the match, and so it does here: no call is put in its place, and late answers
and closed connections fail too. `hardbot dealer` is the lenient one.
"""

from __future__ import annotations

import shlex
import socket
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable
from typing import IO

import numpy as np

from hardbot.bots.base import Bot
from hardbot.errors import BotError, PeerGone, PeerLate, ProtocolError
from hardbot.game.betting import Betting
from hardbot.game.hand import HandResult, View
from hardbot.game.notation import MatchState, format_match_state, format_view
from hardbot.live.protocol import check_version, read_answer
from hardbot.live.wire import LinePeer, accept, listen

HOST = "127.0.0.1"
START_LIMIT_S = 60.0
ANSWER_LIMIT_S = 60.0
END_LIMIT_S = 5.0


class ForeignBot(Bot):
    """A program behind a socket."""

    name = "tcp"
    learns = True

    def __init__(self, command: str, *, answer_limit_s: float = ANSWER_LIMIT_S) -> None:
        self.command = command
        self.answer_limit_s = answer_limit_s
        self._peer: LinePeer | None = None
        self._errors: IO[bytes] | None = None

    def new_hand(self, view: View) -> None:
        """Show the deal."""
        if self._peer is None:
            self._start()
        self._send(format_view(view))

    def observe(self, view: View, before: Betting, action: int) -> None:
        """Show the state after every action; the end of a hand is shown by `end_hand`."""
        if not view.betting.is_over:
            self._send(format_view(view))

    def act(self, view: View, rng: np.random.Generator) -> int:
        """The program's answer; it has randomness of its own."""
        asked, deadline = format_view(view), time.monotonic() + self.answer_limit_s
        while True:
            answer = read_answer(self._receive(deadline - time.monotonic()), asked, view.betting)
            if answer.is_for_state and not answer.complaint:
                return answer.action
            if answer.is_for_state:
                raise ProtocolError(answer.complaint.removesuffix(": call"))
            if time.monotonic() > deadline:
                raise PeerLate(f"expected an answer within {self.answer_limit_s:.3g} s, got only other lines")

    def end_hand(self, view: View, result: HandResult) -> None:
        """Show the end, with the hands that were shown."""
        holes = tuple(view.hole if seat == view.seat else hole for seat, hole in enumerate(result.holes))
        self._send(format_match_state(MatchState(view.seat, result.hand_number, result.betting, holes, result.board)))

    def _start(self) -> None:
        listener = listen(HOST, 0)
        words = [*shlex.split(self.command), HOST, str(listener.getsockname()[1])]
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        try:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        except OSError as error:
            listener.close()
            errors.close()
            raise ProtocolError(f"expected a program {self.command!r}, got {error.strerror or error}") from error
        self._errors = errors
        try:
            peer = self._meet(listener, process)
        except BaseException:
            process.terminate()
            _end(process, None, errors)
            raise
        finally:
            listener.close()
        self._peer = peer
        weakref.finalize(self, _end, process, peer, errors)

    def _meet(self, listener: socket.socket, process: subprocess.Popen[bytes]) -> LinePeer:
        """Wait for the connection, but not for a program that has ended."""
        deadline = time.monotonic() + START_LIMIT_S
        while True:
            try:
                peer = accept(listener, self.command, time.monotonic() + 0.25)
                break
            except ProtocolError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise ProtocolError(
                        f"expected {self.command!r} to connect, it did not{self._last_words()}"
                    ) from None
        check_version(peer.receive(max(0.001, deadline - time.monotonic())), self.command)
        return peer

    def _send(self, line: str) -> None:
        assert self._peer is not None
        try:
            self._peer.send(line, self.answer_limit_s)
        except PeerGone as error:
            raise PeerGone(f"{error}{self._last_words()}") from error

    def _receive(self, limit_s: float) -> str:
        assert self._peer is not None
        try:
            return self._peer.receive(max(0.001, limit_s))
        except PeerGone as error:
            raise PeerGone(f"{error}{self._last_words()}") from error

    def _last_words(self) -> str:
        """The last line the program wrote to its standard error."""
        if self._errors is None:
            return ""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return f" (it said: {said[-1][:200]})" if said else ""


def _end(process: subprocess.Popen[bytes], peer: LinePeer | None, errors: IO[bytes]) -> None:
    """Hang up, wait for the program to notice, and end it if it does not."""
    if peer is not None:
        peer.close()
    stops: tuple[Callable[[], object], ...] = (process.poll, process.terminate, process.kill)
    for stop in stops:
        stop()
        try:
            process.wait(END_LIMIT_S)
            break
        except subprocess.TimeoutExpired:
            continue
    errors.close()


def make_foreign_bot(spec: str) -> ForeignBot:
    """The bot of `tcp:COMMAND`."""
    command = spec.partition(":")[2].strip()
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BotError(f"expected a command in bot {spec!r}, got unbalanced quotes: {error}") from error
    if not words:
        raise BotError(f"expected a command as tcp:COMMAND, got {spec!r}")
    return ForeignBot(command)
