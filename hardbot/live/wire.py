"""Lines over TCP: what both ends of the competition protocol need and nothing else.

A message is a line that ends with CR LF; a bare LF is taken too. Reading has a deadline, because a peer may be
slow, silent or send half a line; a line has a greatest length, because it may send garbage for ever.
"""

from __future__ import annotations

import socket
import time

from hardbot.errors import PeerGone, PeerLate, ProtocolError

MAX_LINE = 4096  # bytes; the longest match state of ten players has about 250
MAX_WAIT_S = 1e6


class LinePeer:
    """One end of a connection."""

    def __init__(self, connection: socket.socket, name: str) -> None:
        self.name = name
        self._socket = connection
        self._buffer = bytearray()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, line: str, limit_s: float = MAX_WAIT_S) -> None:
        """Send one line; PeerGone if nobody is there, PeerLate if the peer does not read."""
        try:
            self._socket.settimeout(limit_s)
            self._socket.sendall(line.encode("ascii") + b"\r\n")
        except TimeoutError as error:
            raise PeerLate(f"expected {self.name} to read within {limit_s:.3g} s, it did not") from error
        except OSError as error:
            raise PeerGone(f"expected {self.name} to listen, got {error.strerror or error}") from error

    def receive(self, limit_s: float = MAX_WAIT_S) -> str:
        """The next line without its end; bytes beyond ASCII come escaped.

        PeerLate after `limit_s`, PeerGone at the end of the stream, ProtocolError for an endless line.
        """
        deadline = time.monotonic() + limit_s
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > MAX_LINE:
                raise ProtocolError(f"expected lines of at most {MAX_LINE} bytes from {self.name}, got a longer one")
            self._read_more(deadline, limit_s)
        line = bytes(self._buffer[:end]).removesuffix(b"\r")
        del self._buffer[: end + 1]
        return line.decode("ascii", errors="backslashreplace")

    def _read_more(self, deadline: float, limit_s: float) -> None:
        left = deadline - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            data = self._socket.recv(65536)
        except TimeoutError as error:
            what = f"half a line ({bytes(self._buffer[:40])!r})" if self._buffer else "nothing"
            raise PeerLate(f"expected a line from {self.name} within {limit_s:.3g} s, got {what}") from error
        except OSError as error:
            raise PeerGone(f"expected a line from {self.name}, got {error.strerror or error}") from error
        if not data:
            raise PeerGone(f"expected a line from {self.name}, it closed the connection")
        self._buffer += data

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def connect(host: str, port: int, limit_s: float) -> socket.socket:
    """A connection to a server that may still be starting; ProtocolError if there is none in time."""
    if not 0 < port < 1 << 16:
        raise ProtocolError(f"expected a dealer at {host}:{port}, got no port number below 65536")
    deadline = time.monotonic() + limit_s
    while True:
        try:
            return socket.create_connection((host, port), timeout=max(0.05, deadline - time.monotonic()))
        except OSError as error:
            if time.monotonic() + 0.05 >= deadline or not isinstance(error, ConnectionRefusedError):
                raise ProtocolError(f"expected a dealer at {host}:{port}, got {error.strerror or error}") from error
            time.sleep(0.05)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
    try:
        return socket.create_server((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ProtocolError(f"expected a free port {port} on {host}, got {reason}") from error


def accept(listener: socket.socket, name: str, deadline: float) -> LinePeer:
    """The peer that connects before `deadline` (time.monotonic)."""
    try:
        listener.settimeout(max(0.001, deadline - time.monotonic()))
        connection, _ = listener.accept()
    except TimeoutError as error:
        port = listener.getsockname()[1]
        raise PeerLate(f"expected {name} to connect to port {port} in time, nobody did") from error
    return LinePeer(connection, name)
