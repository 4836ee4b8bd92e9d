"""One hand at a table of any size: the calls of the bot protocol in their order.

Calls that a bot's class leaves as the base class defines them are skipped; that is found out once per
instance. Whatever goes wrong inside a bot ends the match with an ArenaError that says which bot, which
hand and the match state it was looking at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import ParamSpec, TypeVar

import numpy as np

from hardbot.bots.base import Bot
from hardbot.errors import ArenaError
from hardbot.game.betting import Betting, first_betting, net_chips
from hardbot.game.evaluator import evaluate
from hardbot.game.hand import Deal, HandResult, View
from hardbot.game.notation import format_view
from hardbot.game.rules import ACTION_NAMES, BOARD_SIZES, Rules

Act = Callable[[View, np.random.Generator], int]
NewHand = Callable[[View], None]
Observe = Callable[[View, Betting, int], None]
EndHand = Callable[[View, HandResult], None]


P = ParamSpec("P")
R = TypeVar("R")


class Stopwatch:
    """An `act` that adds up its time and that of the bot's other calls: learning is part of a decision's cost."""

    __slots__ = ("act", "n_decisions", "seconds")

    def __init__(self, act: Act) -> None:
        self.act = act
        self.n_decisions = 0
        self.seconds = 0.0

    def __call__(self, view: View, rng: np.random.Generator) -> int:
        """Act and keep the time."""
        start = time.perf_counter()
        action = self.act(view, rng)
        self.seconds += time.perf_counter() - start
        self.n_decisions += 1
        return action

    def around(self, call: Callable[P, R]) -> Callable[P, R]:
        """The same call with its time kept."""

        def timed(*args: P.args, **kwargs: P.kwargs) -> R:
            start = time.perf_counter()
            found = call(*args, **kwargs)
            self.seconds += time.perf_counter() - start
            return found

        return timed


@dataclass(slots=True)
class Player:
    """A bot at the table: its calls (None for those it does not define), its generator and its name."""

    bot: Bot
    name: str
    rng: np.random.Generator
    act: Act
    new_hand: NewHand | None
    observe: Observe | None
    end_hand: EndHand | None


def seat_player(bot: Bot, name: str, rng: np.random.Generator, *, timed: bool = False) -> Player:
    """Take up a bot; `timed` puts a Stopwatch around its calls."""
    cls = type(bot)
    new_hand = bot.new_hand if cls.new_hand is not Bot.new_hand else None
    observe = bot.observe if cls.observe is not Bot.observe else None
    end_hand = bot.end_hand if cls.end_hand is not Bot.end_hand else None
    if not timed:
        return Player(bot, name, rng, bot.act, new_hand, observe, end_hand)
    watch = Stopwatch(bot.act)
    return Player(
        bot,
        name,
        rng,
        watch,
        watch.around(new_hand) if new_hand is not None else None,
        watch.around(observe) if observe is not None else None,
        watch.around(end_hand) if end_hand is not None else None,
    )


def play_hand(
    rules: Rules,
    deal: Deal,
    players: Sequence[Player],
    hand_number: int = 0,
    ranks: Sequence[int] | None = None,
    where: str = "",
) -> HandResult:
    """Play one hand with `players` in seat order; `ranks` of the seats' hands are computed if not given.

    `where` (seed and block, say) goes into error messages.
    """
    names = tuple(player.name for player in players)
    node = first_betting(rules)
    views = [View(rules, seat, hand_number, hole, names, node) for seat, hole in enumerate(deal.holes)]
    try:
        for player, view in zip(players, views, strict=True):
            if player.new_hand is not None:
                player.new_hand(view)
        while node.seat >= 0:
            player = players[node.seat]
            action = player.act(views[node.seat], player.rng)
            if action not in node.legal:
                raise illegal_action(player.name, views[node.seat], action, where)
            node = _advance(node, action, deal, players, views)
        result = _result(node, deal, ranks, hand_number, names)
        for player, view in zip(players, views, strict=True):
            if player.end_hand is not None:
                player.end_hand(view, result)
    except ArenaError:
        raise
    except Exception as error:
        raise bot_failure(error, players, views, where) from error
    return result


def _advance(node: Betting, action: int, deal: Deal, players: Sequence[Player], views: Sequence[View]) -> Betting:
    child = node.after(action)
    board = deal.board[: BOARD_SIZES[child.street]]
    for view in views:
        view.betting = child
        view.board = board
    for player, view in zip(players, views, strict=True):
        if player.observe is not None:
            player.observe(view, node, action)
    return child


def _result(
    node: Betting, deal: Deal, ranks: Sequence[int] | None, hand_number: int, names: tuple[str, ...]
) -> HandResult:
    shown = node.is_showdown
    if ranks is None:
        ranks = [evaluate((*hole, *deal.board)) if shown else 0 for hole in deal.holes]
    holes = tuple(hole if shown and live else None for hole, live in zip(deal.holes, node.live, strict=True))
    board = deal.board[: BOARD_SIZES[node.street]]
    return HandResult(hand_number, node, board, holes, net_chips(node, ranks), names)


def illegal_action(name: str, view: View, action: object, where: str) -> ArenaError:
    """The error for an action the rules do not allow."""
    legal = " or ".join(f"{a} ({ACTION_NAMES[a]})" for a in view.betting.legal)
    return ArenaError(f"expected {legal} from {name}, got {action!r} at {format_view(view)}{_suffix(where)}")


def bot_failure(error: Exception, players: Sequence[Player], views: Sequence[View], where: str) -> ArenaError:
    """The error for a bot whose code fails: who it was is read off the traceback."""
    seat = _failing_seat(error.__traceback__, players)
    what = f"{type(error).__name__}: {error}"
    if seat is None:
        return ArenaError(f"expected a playable hand, got {what} at {format_view(views[0])}{_suffix(where)}")
    state = format_view(views[seat])
    return ArenaError(f"expected a decision from {players[seat].name}, got {what} at {state}{_suffix(where)}")


def _failing_seat(traceback: TracebackType | None, players: Sequence[Player]) -> int | None:
    while traceback is not None:
        owner = traceback.tb_frame.f_locals.get("self")
        for seat, player in enumerate(players):
            if owner is player.bot:
                return seat
        traceback = traceback.tb_next
    return None


def _suffix(where: str) -> str:
    return f" ({where})" if where else ""
