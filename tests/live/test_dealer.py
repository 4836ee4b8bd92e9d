"""Whole matches over loopback TCP, and peers that are broken in every way."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from hardbot.arena.match import play_match
from hardbot.errors import PeerLate, ProtocolError
from hardbot.game.notation import parse_log_hand, parse_match_state
from hardbot.game.rules import HEADS_UP, ring
from hardbot.live.acpc_client import play_at_dealer
from hardbot.live.dealer import Dealer, Limits

QUICK = Limits(answer_s=1.0, max_illegal=5)  # the other player must be in time even on a busy machine


class Client(threading.Thread):
    """A bot of ours at the dealer's table, in a thread."""

    def __init__(self, port, bot, seed=0):
        super().__init__(daemon=True)
        self.arguments = ("127.0.0.1", port, bot)
        self.seed = seed
        self.result = None
        self.start()

    def run(self):
        self.result = play_at_dealer(*self.arguments, seed=self.seed)


class Peer(threading.Thread):
    """A scripted peer: `talk(connection, lines)` with the raw socket and the states as they come."""

    def __init__(self, port, talk, opening=b"VERSION:2.0.0\r\n"):
        super().__init__(daemon=True)
        self.port, self.talk, self.opening = port, talk, opening
        self.start()

    def run(self):
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(self.opening)
            try:
                self.talk(connection, connection.makefile("rb"))
            except (BrokenPipeError, ConnectionResetError):
                return  # the dealer hung up first


def is_asked(state):
    """Whether a heads-up state is one in which its receiver is to act."""
    parsed = parse_match_state(state, HEADS_UP)
    return parsed.betting.seat == parsed.seat


def calls(connection, lines):
    for line in lines:
        state = line.decode().strip()
        if is_asked(state):
            connection.sendall(f"{state}:c\r\n".encode())


def match(talk, *, n_hands=10, limits=QUICK, log=None, opening=b"VERSION:2.0.0\r\n"):
    """A scripted peer (player 1) against always_call."""
    dealer = Dealer(2, n_hands, 3, limits=limits, names=["peer", "caller"], log=log)
    Peer(dealer.ports[0], talk, opening)
    client = Client(dealer.ports[1], "always_call")
    result = dealer.play()
    client.join(5)
    assert not client.is_alive()
    return result


def hands_of(path, rules):
    return [parse_log_hand(line, rules) for line in path.read_text().splitlines() if line.startswith("STATE")]


@pytest.mark.parametrize(("first", "second"), [("random", "rulebot"), ("rulebot", "rulebot")])
def test_a_match_over_tcp_is_the_arenas_match(first, second, tmp_path):
    n_hands, seed = 150, 21
    dealer = Dealer(2, n_hands, seed, names=["ann", "bob"], log=tmp_path / "tcp.log")
    clients = [Client(port, bot, seed) for port, bot in zip(dealer.ports, (first, second), strict=True)]
    result = dealer.play()
    for client in clients:
        client.join(5)
    arena = play_match(
        first,
        second,
        n_hands,
        seed,
        duplicate=False,
        block=n_hands,
        names=["ann", "bob"],
        log=tmp_path / "arena.log",
        compiled=False,
    )
    lines = [(tmp_path / name).read_text().splitlines() for name in ("tcp.log", "arena.log")]
    states = [[line for line in part if not line.startswith("#")] for part in lines]
    assert states[0] == states[1]  # every hand and the score
    assert result.hands == n_hands
    assert result.forfeit is None
    assert result.net_chips[0] == arena.pair_chips.sum()
    assert [client.result.net_chips for client in clients] == list(result.net_chips)
    assert [client.result.hands for client in clients] == [n_hands] * 2


@pytest.mark.parametrize("n_players", [3, 10])
def test_rings_play_over_tcp(n_players, tmp_path):
    n_hands, log = 2 * n_players, tmp_path / "ring.log"
    dealer = Dealer(n_players, n_hands, 4, log=log)
    clients = [Client(port, "random", 4) for port in dealer.ports]
    result = dealer.play()
    for client in clients:
        client.join(5)
    assert sum(result.net_chips) == 0
    assert [client.result.net_chips for client in clients] == list(result.net_chips)
    hands = hands_of(log, ring(n_players))
    assert len(hands) == n_hands
    assert hands[0].players == result.players
    assert hands[1].players == result.players[1:] + result.players[:1]  # the button moves on, as at the competition


def test_a_peer_that_speaks_in_pieces_and_comments_plays_well():
    def talk(connection, lines):
        for line in lines:
            state = line.decode().strip()
            if is_asked(state):
                connection.sendall(b"# thinking\r\n;gui\n")
                for byte in f"{state}:c".encode():
                    connection.sendall(bytes([byte]))
                connection.sendall(b"\n")

    result = match(talk, n_hands=4, limits=Limits())
    assert result.forfeit is None
    assert result.hands == 4
    assert result.passed_over == result.illegal == (0, 0)


def test_illegal_answers_become_calls_and_are_noted(tmp_path):
    def talk(connection, lines):
        for line in lines:
            state = line.decode().strip()
            if is_asked(state):
                connection.sendall(f"{state}:q\r\n".encode())

    log = tmp_path / "m.log"
    result = match(talk, n_hands=1, limits=Limits(answer_s=5), log=log)
    assert result.forfeit is None
    assert result.illegal == (4, 0)
    assert [hand.betting.text for hand in hands_of(log, HEADS_UP)] == ["cc/cc/cc/cc"]
    notes = [line for line in log.read_text().splitlines() if "got 'q': call" in line]
    assert len(notes) == 4
    assert all(line.startswith("#--hand 0, peer: expected c or r at ") for line in notes)


def test_too_many_illegal_answers_forfeit(tmp_path):
    def talk(connection, lines):
        for line in lines:
            state = line.decode().strip()
            if is_asked(state):
                connection.sendall(f"{state}:fold\r\n".encode())

    log = tmp_path / "m.log"
    result = match(talk, limits=Limits(max_illegal=5), log=log)
    assert (result.forfeit.player, result.forfeit.hand) == ("peer", 1)
    assert result.forfeit.reason == "expected at most 5 illegal answers, got more"
    assert result.hands == 1  # the hand in play does not count
    lines = log.read_text().splitlines()
    assert len(hands_of(log, HEADS_UP)) == 1
    assert lines[-2] == "#--forfeit: hand 1, peer: expected at most 5 illegal answers, got more"
    assert lines[-1].startswith("SCORE:")


def test_garbage_and_answers_to_other_states_are_passed_over():
    def talk(connection, lines):
        last = "MATCHSTATE:0:99::AsAh|"
        for line in lines:
            state = line.decode().strip()
            if is_asked(state):
                connection.sendall(b"\xff\xfe garbage\r\n" + f"{last}:r\r\n{state}:c\r\n".encode())
                last = state

    result = match(talk, n_hands=3, limits=Limits())
    assert result.forfeit is None
    assert result.hands == 3
    assert result.illegal == (0, 0)
    assert result.passed_over[0] == 2 * 4 * 3


def test_garbage_without_end_forfeits_in_time():
    def talk(connection, lines):
        while True:
            connection.sendall(b"garbage\r\n" * 100)

    start = time.monotonic()
    result = match(talk)
    assert result.forfeit.player == "peer"
    assert "got only other lines" in result.forfeit.reason
    assert time.monotonic() - start < 20


def test_a_line_without_end_forfeits():
    def talk(connection, lines):
        connection.sendall(b"x" * 100_000)
        list(lines)

    result = match(talk)
    assert result.forfeit.player == "peer"
    assert "expected lines of at most 4096 bytes from peer" in result.forfeit.reason


def test_a_silent_peer_forfeits():
    result = match(lambda connection, lines: list(lines))
    assert (result.forfeit.player, result.hands) == ("peer", 0)
    assert "expected a line from peer within 1 s, got nothing" in result.forfeit.reason
    assert result.net_chips == (0, 0)
    assert result.to_json()["p99_ms"][0] is None


def test_half_a_line_is_no_answer():
    def talk(connection, lines):
        for line in lines:
            connection.sendall(line.strip() + b":")

    result = match(talk)
    assert result.forfeit.player == "peer"
    assert "got half a line (b'MATCHSTATE:0:0:" in result.forfeit.reason


def test_a_slow_peer_forfeits_by_the_time_of_a_hand():
    def talk(connection, lines):
        for line in lines:
            state = line.decode().strip()
            if is_asked(state):
                time.sleep(0.4)
                connection.sendall(f"{state}:c\r\n".encode())

    result = match(talk, limits=Limits(answer_s=5.0, hand_s=1.0))
    assert (result.forfeit.player, result.forfeit.hand) == ("peer", 0)
    assert result.forfeit.reason.startswith("expected a line from peer within 0.")


def test_a_slow_peer_forfeits_by_the_average_of_the_match():
    def talk(connection, lines):
        for line in lines:
            state = line.decode().strip()
            if is_asked(state):
                time.sleep(0.1)
                connection.sendall(f"{state}:c\r\n".encode())

    result = match(talk, n_hands=20, limits=Limits(per_hand_s=0.1))
    assert result.forfeit.player == "peer"
    assert 1 <= result.hands < 19


def test_a_late_answer_does_not_count_for_the_next_question():
    def talk(connection, lines):
        waiting = None
        for line in lines:
            state = line.decode().strip()
            if is_asked(state):
                if waiting is not None:
                    connection.sendall(f"{waiting}:f\r\n".encode())
                connection.sendall(f"{state}:c\r\n".encode())
                waiting = state

    result = match(talk, n_hands=2, limits=Limits())
    assert result.forfeit is None
    assert result.passed_over == (7, 0)


@pytest.mark.parametrize("n_answers", [0, 1, 5])
def test_a_peer_that_leaves_in_mid_hand_forfeits_and_finished_hands_count(n_answers, tmp_path):
    def talk(connection, lines):
        left = n_answers
        for line in lines:
            state = line.decode().strip()
            if is_asked(state):
                if left == 0:
                    return
                connection.sendall(f"{state}:c\r\n".encode())
                left -= 1

    log = tmp_path / "m.log"
    result = match(talk, limits=Limits(), log=log)
    assert result.forfeit.player == "peer"
    assert result.hands == n_answers // 4 == len(hands_of(log, HEADS_UP))
    assert sum(result.net_chips) == 0


@pytest.mark.parametrize("opening", [b"HELLO\r\n", b"VERSION:1.0.0\r\n", b"\xff\xff\r\n"])
def test_a_peer_of_another_version_is_refused(opening):
    with pytest.raises(ProtocolError, match=r"expected 'VERSION:2.0.0' from peer"):
        match(calls, opening=opening)


def test_players_that_do_not_come_end_the_wait(tmp_path):
    dealer = Dealer(2, 5, 1, limits=Limits(start_s=0.2), log=tmp_path / "m.log")
    with pytest.raises(PeerLate, match="expected player1 to connect to port"):
        dealer.play()
    assert list(tmp_path.iterdir()) == []


def test_ports_follow_the_first_and_a_taken_port_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ProtocolError, match=f"expected a free port {port} on 127.0.0.1"):
            Dealer(2, 5, 1, first_port=port)
    dealer = Dealer(2, 5, 1)
    assert len(set(dealer.ports)) == 2
    dealer.close()


def test_a_client_without_a_dealer_says_so():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ProtocolError, match=f"expected a dealer at 127.0.0.1:{port}"):
        play_at_dealer("127.0.0.1", port, "always_call", connect_limit_s=0.2)
