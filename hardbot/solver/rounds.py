"""The heads-up betting tree cut into rounds of one shape, and strategies as rows over it.

After the flop every betting round under the four-bet cap is the same little tree of ten decisions. Each of the
two players has thirteen choices in it, kept as one row:

    open    0 check   1 bet             nobody has bet (the second player: the first has checked)
    raised  2 fold    3 call    4 raise own bet was raised (two bets)
    capped  5 fold    6 call            own third bet was raised (four bets)
    facing  7 fold    8 call    9 raise the opponent has bet
    third  10 fold   11 call   12 raise own raise was raised (three bets)

The row of *reaches* has, in the same places, the product of a player's own choices from the start of the
round to there. An end of the round is reached with the product of one entry of each player's row, so with
row x of one player and y of the other the value of a round is bilinear, and `SHOWDOWN_OF` and `FOLD_OF` say which
entry y[k] meets which x[...]. The preflop round, with its blinds and three raises, has rows of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import StrategyError
from hardbot.game.betting import Betting, first_betting
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE, Rules
from hardbot.game.tree import betting_tree

N_CHOICES = 13
N_STARTS = (1, 7, 63, 567)  # betting sequences that begin a street
N_ENDS = 9  # ways to the next street: check-check, then 1..4 bets after a check, then 1..4 bets at once
BET_SB = (1.0, 1.0, 2.0, 2.0)
BIG_BLIND_SEAT, BUTTON_SEAT = 0, 1

# By the opponent's entry k: my entry at the showdown (or next street), bets each has put in, and where it leads.
SHOWDOWN_OF = np.array([0, 8, -1, 9, 11, -1, 12, -1, 1, 3, -1, 4, 6], dtype=np.int64)
SHOWDOWN_BETS = np.array([0, 1, 0, 2, 3, 0, 4, 0, 1, 2, 0, 3, 4], dtype=np.int64)
# By the opponent's entry k: my entry when somebody folds, the folder's bets, and who wins.
FOLD_OF = np.array([-1, 7, 9, -1, 10, 12, -1, 1, -1, 2, 4, -1, 5], dtype=np.int64)
FOLD_BETS = np.array([0, 0, 1, 0, 2, 3, 0, 0, 0, 1, 2, 0, 3], dtype=np.int64)
FOLD_SIGN = np.array([0, -1, 1, 0, -1, 1, 0, 1, 0, -1, 1, 0, -1], dtype=np.int64)
# END_OF[seat][k]: which of the nine ends my opponent's entry k leads to when I sit in `seat` (0 acts first).
END_OF = np.array(
    [[0, 1, -1, 2, 3, -1, 4, -1, 5, 6, -1, 7, 8], [0, 5, -1, 6, 7, -1, 8, -1, 1, 2, -1, 3, 4]], dtype=np.int64
)
END_BETS = np.array([0, 1, 2, 3, 4, 1, 2, 3, 4], dtype=np.int64)

# Preflop rows. Button: 0-2 first decision, 3-5 its limp was raised, 6-7 its third bet was raised, 8-10 its
# raise was raised. Big blind: 0-1 after a limp, 2-4 its raise was raised, 5-7 facing a raise, 8-9 its raise was raised.
PREFLOP_NODES: tuple[tuple[tuple[str, int, tuple[int, ...]], ...], ...] = (
    (
        ("c", 0, (CALL, RAISE)),
        ("crr", 2, (FOLD, CALL, RAISE)),
        ("r", 5, (FOLD, CALL, RAISE)),
        ("rrr", 8, (FOLD, CALL)),
    ),
    (
        ("", 0, (FOLD, CALL, RAISE)),
        ("cr", 3, (FOLD, CALL, RAISE)),
        ("crrr", 6, (FOLD, CALL)),
        ("rr", 8, (FOLD, CALL, RAISE)),
    ),
)
PREFLOP_ENDS = ("cc", "crc", "crrc", "crrrc", "rc", "rrc", "rrrc")
PREFLOP_STAKES = np.array([1, 2, 3, 4, 2, 3, 4], dtype=np.float64)  # sb each has put in, by end
# PREFLOP_END_OF[seat][k]: which flop start my opponent's entry k leads to when I sit in `seat`.
PREFLOP_END_OF = np.array(
    [[-1, 0, 4, -1, 1, 2, -1, 3, -1, 5, 6], [0, 1, -1, 2, 3, -1, 4, 5, -1, 6, -1]], dtype=np.int64
)
# Round nodes by seat: betting since the start of the round, first place in the row, actions there.
ROUND_NODES: tuple[tuple[tuple[str, int, tuple[int, ...]], ...], ...] = (
    (
        ("", 0, (CALL, RAISE)),
        ("rr", 2, (FOLD, CALL, RAISE)),
        ("rrrr", 5, (FOLD, CALL)),
        ("cr", 7, (FOLD, CALL, RAISE)),
        ("crrr", 10, (FOLD, CALL, RAISE)),
    ),
    (
        ("c", 0, (CALL, RAISE)),
        ("crr", 2, (FOLD, CALL, RAISE)),
        ("crrrr", 5, (FOLD, CALL)),
        ("r", 7, (FOLD, CALL, RAISE)),
        ("rrr", 10, (FOLD, CALL, RAISE)),
    ),
)
ROUND_ENDS = ("cc", "crc", "crrc", "crrrc", "crrrrc", "rc", "rrc", "rrrc", "rrrrc")


@dataclass(frozen=True)
class RoundMap:
    """Where each choice of the rows lies in the betting tree.

    For street s: `node[s]` and `action[s]` are (starts, 2 seats, 16), -1 where the row is padding.
    `stakes[s]` (starts,) are the sb each player has put in before the street.
    """

    node: tuple[NDArray[np.int32], ...]
    action: tuple[NDArray[np.int8], ...]
    stakes: tuple[NDArray[np.float32], ...]


def _replay(start: Betting, text: str) -> Betting:
    for char in text:
        start = start.after("fcr".index(char))
    return start


@lru_cache(maxsize=2)
def round_map(rules: Rules = HEADS_UP) -> RoundMap:
    """Map of the competition's heads-up tree; StrategyError for any other table."""
    if rules.max_raises != HEADS_UP.max_raises or rules.blinds != HEADS_UP.blinds or rules.first_seat != (1, 0, 0, 0):
        raise StrategyError(f"expected the heads-up table with reverse blinds and four bets, got {rules.name}")
    betting_tree(rules)  # numbers the positions
    starts = [first_betting(rules)]
    nodes, actions, stakes = [], [], []
    for street, count in enumerate(N_STARTS):
        node = np.full((count, 2, 16), -1, dtype=np.int32)
        action = np.full((count, 2, 16), -1, dtype=np.int8)
        layout = ROUND_NODES if street else PREFLOP_NODES
        for j, start in enumerate(starts):
            for seat in (0, 1):
                for text, place, legal in layout[seat]:
                    found = _replay(start, text)
                    if found.seat != seat or found.legal != legal:
                        raise StrategyError(f"expected seat {seat} with actions {legal} to act in {found}")
                    node[j, seat, place : place + len(legal)] = found.index
                    action[j, seat, place : place + len(legal)] = legal
        nodes.append(node)
        actions.append(action)
        stakes.append(np.array([min(s.contributions) / rules.bet_sizes[0] for s in starts], dtype=np.float32))
        if street < 3:
            starts = [_replay(start, text) for start in starts for text in (ROUND_ENDS if street else PREFLOP_ENDS)]
    return RoundMap(tuple(nodes), tuple(actions), tuple(stakes))
