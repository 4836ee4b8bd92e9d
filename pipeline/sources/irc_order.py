"""The order of play of an IRC hand, out of every player's own string of actions.

Each player's actions of a street stand together (`Bcr`, `kf`, `-`), in positions 1 to n; the rules say whose turn
it is, and the next action of that player's string is what he did. `B` is a blind, `k` a check, `c` a call, `b` and `r`
a bet or raise, `f` a fold, `A` an all-in, `Q` (quit) and `K` (kicked) a fold at the player's next turn if the pot
is still contested then; left over at the end of a hand they mean nothing. A hand that ends because somebody leaves
out of turn, before the one whose turn it was has acted, has no text in order of play: code left_early.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from hardbot.errors import HardBotError
from hardbot.game.betting import Betting
from hardbot.game.rules import CALL, FOLD, HEADS_UP_IRC, RAISE, ring
from pipeline.replay import remember_end, start

_LEAVES = "QK"
_MEANING = {"f": FOLD, "Q": FOLD, "K": FOLD, "k": CALL, "c": CALL, "b": RAISE, "r": RAISE}
_Actions = tuple[tuple[str, str, str, str], ...]  # by position and street


class Ordered(NamedTuple):
    """Betting text, or a reject code and reason; and (street, (live players, pot)) at the start of streets reached."""

    betting: str
    code: str = ""
    reason: str = ""
    streets: tuple[tuple[int, tuple[int, float]], ...] = ()


class _Disorder(HardBotError):
    """The actions are no hand; `code` says of which kind."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@lru_cache(maxsize=40_000)
def _after(betting: Betting, action: int) -> Betting:
    """Hands begin alike: ring positions, unlike heads-up ones, are not remembered by their parents."""
    return betting.after(action)


@lru_cache(maxsize=200_000)
def order_actions(actions: _Actions) -> Ordered:
    """Order the actions of all players, by position and street."""
    try:
        return _order(actions)
    except _Disorder as error:
        return Ordered("", error.code, str(error))


def _order(actions: _Actions) -> Ordered:
    queues = [[_letters(text) for text in streets] for streets in actions]
    _take_blinds(queues)
    if any("A" in "".join(streets) for streets in queues):
        raise _Disorder("all_in", f"expected nobody to be all-in, got {_show(actions)}")
    rules = HEADS_UP_IRC if len(actions) == 2 else ring(len(actions))
    betting = start(rules, uncapped=True)
    pots, gone = [], [False] * len(actions)
    while not betting.is_over:
        street = betting.street
        betting = _act(betting, queues, gone, actions)
        if betting.street != street:
            _leave_early(queues, street, gone, actions)
            pots.append((betting.street, (betting.n_live, float(betting.pot))))
    _check_rest(queues, actions)
    remember_end(rules, True, betting)
    return Ordered(betting.text, streets=tuple(pots))


def _letters(text: str) -> str:
    return "" if text == "-" else text


def _show(actions: _Actions) -> str:
    return " | ".join(" ".join(streets) for streets in actions)


def _take_blinds(queues: list[list[str]]) -> None:
    """Take the two blinds off the first two strings."""
    posted = [seat for seat, streets in enumerate(queues) if "B" in streets[0]]
    if sum("".join(streets).count("B") for streets in queues) != len(posted) or any(
        queues[seat][0][0] != "B" for seat in posted
    ):
        raise _Disorder("out_of_order", f"expected blinds before everything else, got positions {posted}")
    if len(posted) < 2:
        raise _Disorder("one_blind", f"expected two blinds, got {len(posted)}")
    if posted != [0, 1]:
        places = ", ".join(str(seat + 1) for seat in posted)
        raise _Disorder("extra_blind", f"expected blinds of positions 1 and 2, got those of {places}")
    for seat in posted:
        queues[seat][0] = queues[seat][0][1:]


def _act(betting: Betting, queues: list[list[str]], gone: list[bool], actions: _Actions) -> Betting:
    seat, street = betting.seat, betting.street
    queue = queues[seat][street]
    letter = "Q" if gone[seat] and not queue else queue[:1]
    queues[seat][street] = queue[1:]
    action = _MEANING.get(letter)
    if action is None or (letter == "k") != (action == CALL and betting.to_call == 0):
        others = [other for other, live in enumerate(betting.live) if live and other != seat]
        has_left = any(gone[other] or set(queues[other][street]) & set(_LEAVES) for other in others)
        code = "left_early" if has_left and not letter else "out_of_order"
        what = "an action" if action is None else "a call" if betting.to_call else "a check"
        where = f"position {seat + 1} after {betting.text!r} in {_show(actions)}"
        raise _Disorder(code, f"expected {what} of {where}, got {letter or 'none'!r}")
    return _after(betting, action)


def _leave_early(queues: list[list[str]], street: int, gone: list[bool], actions: _Actions) -> None:
    """A player who quits after his last turn of a street is gone; anything else left over is out of order."""
    left_over = [streets[street] for streets in queues]
    if not any(left_over):
        return
    if "".join(left_over).strip(_LEAVES):
        raise _Disorder("out_of_order", f"expected street {street} to be over in {_show(actions)}")
    for seat, letters in enumerate(left_over):
        gone[seat] = gone[seat] or bool(letters)


def _check_rest(queues: list[list[str]], actions: _Actions) -> None:
    if any("".join(streets).strip(_LEAVES) for streets in queues):
        raise _Disorder("out_of_order", f"expected no more actions after the end of the hand in {_show(actions)}")
