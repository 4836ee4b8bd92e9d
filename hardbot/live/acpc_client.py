"""`hardbot acpc`: one of our bots at a competition dealer's table, over TCP."""

from __future__ import annotations

from dataclasses import dataclass

from hardbot.arena.entrants import BotSpec
from hardbot.errors import PeerGone
from hardbot.game.rules import HEADS_UP
from hardbot.live.protocol import VERSION, ProtocolPlayer
from hardbot.live.warm import warm_up
from hardbot.live.wire import LinePeer, connect


@dataclass(frozen=True, slots=True)
class ClientResult:
    """What our bot won, as far as it was told."""

    hands: int
    net_chips: int

    @property
    def net_sb(self) -> float:
        """Winnings in small bets."""
        return HEADS_UP.to_sb(self.net_chips)  # all of the competition's limit tables have the same bets


def play_at_dealer(
    host: str, port: int, bot: BotSpec, *, seed: int = 0, name: str = "hardbot", connect_limit_s: float = 10.0
) -> ClientResult:
    """Play until the dealer hangs up. ProtocolError if it cannot be reached or says what no dealer says."""
    warm_up(bot)  # the dealer's clock runs from the first hand on
    player = ProtocolPlayer(bot, seed, name)
    peer = LinePeer(connect(host, port, connect_limit_s), "the dealer")
    try:
        peer.send(VERSION)
        while True:
            reply = player.answer(peer.receive())
            if reply is not None:
                peer.send(reply)
    except PeerGone:
        return ClientResult(player.n_hands, player.net_chips)
    finally:
        peer.close()
