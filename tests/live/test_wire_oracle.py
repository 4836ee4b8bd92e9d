"""What goes over the wire, against PokerKit's own writing of the competition protocol."""

from __future__ import annotations

import socket
import threading

import pytest
from pokerkit import FixedLimitTexasHoldem, HandHistory

from hardbot.live.dealer import Dealer
from hardbot.live.protocol import ProtocolPlayer


class Recorder(threading.Thread):
    """A bot of ours whose conversation is kept, byte for byte."""

    def __init__(self, port, seed):
        super().__init__(daemon=True)
        self.port, self.player, self.talk = port, ProtocolPlayer("random", seed), []
        self.start()

    def run(self):
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(b"VERSION:2.0.0\r\n")
            for line in connection.makefile("rb"):
                self.talk.append(("S->", line.decode()))
                reply = self.player.answer(line.decode().strip())
                if reply is not None:
                    self.talk.append(("<-C", f"{reply}\r\n"))
                    connection.sendall(f"{reply}\r\n".encode())


def own_cards_only(message):
    """At a showdown the competition shows all hands still in, PokerKit mucks losing ones: others' cards are blanked."""
    direction, line = message
    fields = line.split(":")
    holes, slash, board = fields[4].partition("/")
    hands = holes.rstrip("\r\n").split("|")
    kept = [hand if seat == int(fields[1]) else "" for seat, hand in enumerate(hands)]
    end = "" if slash or len(fields) > 5 else "\r\n"
    return direction, ":".join([*fields[:4], "|".join(kept) + end + slash + board, *fields[5:]])


@pytest.mark.parametrize(("n_players", "blinds"), [(2, (5, 10)), (3, (5, 10, 0))])
def test_every_message_is_the_one_pokerkit_writes(n_players, blinds, tmp_path):
    n_hands, log = 30, tmp_path / "m.log"
    dealer = Dealer(n_players, n_hands, 17, log=log)
    recorders = [Recorder(port, 17) for port in dealer.ports]
    assert dealer.play().forfeit is None
    for recorder in recorders:
        recorder.join(5)
    game = FixedLimitTexasHoldem((), True, 0, blinds, 10, 20)
    histories = list(HandHistory.from_acpc_protocol(game, 10_000, log.read_text(), error_status=True))
    assert len(histories) == n_hands
    for player, recorder in enumerate(recorders):
        expected = [
            message
            for number, history in enumerate(histories)
            for message in history.to_acpc_protocol((player - number) % n_players, number)
        ]
        assert [own_cards_only(message) for message in recorder.talk] == [
            own_cards_only(message) for message in expected
        ]
