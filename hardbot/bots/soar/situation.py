"""The table as facts: stage, bets, position, odds.

Terms are the thesis's (R. Follek, SoarBot, Pace University 2003, section 2.2). It is silent on a few, where we chose:
`pot-odds` with nothing to call are those of a bet of our own; `implied-odds` add one bet of the next street from one
opponent; `bet-timing` cuts the order of play after the flop in three (heads-up the button is late, the other early).
`n-bets` counts the big blind before the flop, `unacted` is how many may still act in this round, ourselves included.
`best-hand-probability` is the share of hands we beat to the power of the number of opponents.
"""

from __future__ import annotations

from hardbot.bots.soar.analysis import Facts
from hardbot.bots.soar.language import YES
from hardbot.game.betting import Betting
from hardbot.game.rules import N_STREETS, STREET_NAMES, Rules

SITUATION_FACTS = frozenset(
    {"stage", "n-bets", "bets-to-call", "pot-odds", "implied-odds", "n-active", "n-players", "unacted"}
    | {"bet-timing", "maybe", "check-raise-used", "in-voluntarily", "best-hand-probability"}
)


def unacted_players(betting: Betting) -> int:
    """Players who may still act in this round if nobody raises any more, the one to act included."""
    actions = betting.street_text
    raised = actions.rfind("r")
    since = actions[raised + 1 :]
    return betting.n_live + since.count("f") - len(since) - (raised >= 0)


def bet_timing(rules: Rules, seat: int) -> str:
    """Early, middle or late in the order of play after the flop."""
    n = rules.n_seats
    place = (seat - rules.button - 1) % n  # 0 acts first, n - 1 has the button
    if 3 * place < n:
        return "early"
    return "late" if 3 * (place + 1) > 2 * n else "middle"


def betting_facts(betting: Betting, seat: int) -> Facts:
    """Facts of the public position for the player at `seat`, whose turn it is."""
    rules, street, bet = betting.rules, betting.street, betting.bet_size
    price = betting.to_call or bet
    later = rules.bet_sizes[min(street + 1, N_STREETS - 1)] if street < N_STREETS - 1 else 0
    facts: Facts = {
        "stage": STREET_NAMES[street],
        "n-bets": betting.raises + (street == 0),
        "bets-to-call": betting.to_call / bet,
        "pot-odds": betting.pot / price,
        "implied-odds": (betting.pot + later) / price,
        "n-active": betting.n_live,
        "n-players": rules.n_seats,
        "unacted": unacted_players(betting),
        "bet-timing": bet_timing(rules, seat),
    }
    if betting.contributions[seat] > rules.blinds[seat]:
        facts["in-voluntarily"] = YES
    return facts
