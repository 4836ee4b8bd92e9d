"""Bots made ready before anybody waits for them.

The first decision of a process loads models, tables and machine code, which can take a second; a hand in which
everybody calls, watched and thought through by an instance that is then thrown away, has them loaded beforehand.
The hand is not ended, so a bot that keeps a memory on disk does not remember it.
"""

from __future__ import annotations

import numpy as np

from hardbot.arena.deals import deal_block
from hardbot.arena.entrants import BotSpec, make_bot
from hardbot.game.hand import Hand
from hardbot.game.rules import CALL, ring


def warm_up(spec: BotSpec) -> None:
    """Let a fresh bot think through one hand to the river."""
    bot = make_bot(spec)
    bot.prepare()
    rules = ring(bot.table_sizes.start)
    hand = Hand(rules, deal_block(rules.n_seats, 1, 0, 0).deal(0))
    seat, rng = 0, np.random.default_rng(0)
    view = hand.view(seat)
    bot.new_hand(view)
    while not hand.betting.is_over:
        before = hand.betting
        if before.seat == seat:
            bot.act(view, rng)
        hand.apply(CALL)
        view.betting, view.board = hand.betting, hand.board
        bot.observe(view, before, CALL)
