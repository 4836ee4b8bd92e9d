"""The competition protocol without its sockets: the bot's side and the reading of answers.

ACPC protocol specification 2.0.0 (October 2010): a player opens with `VERSION:2.0.0`, then gets a match state after
every event, its own actions and the hand's end included, and answers those in which it is to act with the same
state, `:` and the action. Lines that begin with `#` or `;` are comments. A player's position
changes from hand to hand, its neighbours do not, so a player is named by how many places after us it sits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from hardbot.arena.entrants import BotSpec, bot_generator, make_entrants, table_names
from hardbot.arena.table import Player, bot_failure, illegal_action, seat_player
from hardbot.errors import ArenaError, HardBotError, NotationError, ProtocolError
from hardbot.game.betting import Betting, first_betting, net_chips
from hardbot.game.evaluator import evaluate
from hardbot.game.hand import HandResult, Hole, View
from hardbot.game.notation import MatchState, parse_match_state
from hardbot.game.rules import ACTION_CHARS, BOARD_SIZES, CALL, Rules, ring

VERSION = "VERSION:2.0.0"
_VERSION = re.compile(r"VERSION:2\.0\.\d+")
COMMENT_MARKS = ("#", ";")
Result = TypeVar("Result")


def check_version(line: str, who: str) -> None:
    """Raise ProtocolError unless the line opens protocol 2.0."""
    if not _VERSION.fullmatch(line):
        raise ProtocolError(f"expected {VERSION!r} from {who}, got {line[:80]!r}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a line means to a dealer: an action, a call in place of an illegal one, or nothing (action -1)."""

    action: int
    complaint: str = ""

    @property
    def is_for_state(self) -> bool:
        """The line answers the state asked about, well or badly."""
        return self.action >= 0


def read_answer(line: str, asked: str, betting: Betting) -> Answer:
    """Read a line sent in answer to match state `asked`.

    As the competition's dealer does: comments and lines about another state (late answers among them) are passed
    over, an action that is malformed or not allowed is changed to a call.
    """
    if line.startswith(COMMENT_MARKS) or not line.strip():
        return Answer(-1)
    state, colon, text = line.rstrip().rpartition(":")
    if not colon or (state != asked and not _is_same_state(state, asked, betting.rules)):
        return Answer(-1, f"expected an answer to {asked!r}, got {line[:200]!r}: passed over")
    action = ACTION_CHARS.find(text) if len(text) == 1 else -1
    if action in betting.legal:
        return Answer(action)
    legal = " or ".join(ACTION_CHARS[a] for a in betting.legal)
    return Answer(CALL, f"expected {legal} at {asked!r}, got {text[:20]!r}: call")


def _is_same_state(text: str, asked: str, rules: Rules) -> bool:
    """Whether two states differ at most in the order of the cards dealt together."""
    try:
        return _in_order(parse_match_state(text, rules)) == _in_order(parse_match_state(asked, rules))
    except HardBotError:
        return False


def _in_order(state: MatchState) -> tuple[object, ...]:
    holes = tuple(None if hole is None else sorted(hole) for hole in state.holes)
    return state.seat, state.hand_number, state.betting.text, holes, sorted(state.board[:3]), state.board[3:]


class ProtocolPlayer:
    """A bot that is spoken to in lines.

    With a seed, the bot's randomness is that of the arena's entrant of the same number in a match of one block: a
    dealer gives the n-th player position n in its first hand.
    """

    def __init__(self, spec: BotSpec, seed: int = 0, name: str = "hardbot") -> None:
        self.spec = spec
        self.seed = seed
        self.name = table_names([name], None)[0]
        self.n_hands = 0
        self.net_chips = 0
        self._rules: Rules | None = None
        self._player: Player | None = None
        self._view: View | None = None

    def answer(self, line: str) -> str | None:
        """What to send back for a line from the dealer, None for nothing; ProtocolError if it makes no sense."""
        if line.startswith(COMMENT_MARKS) or not line.strip():
            return None
        state = self._parse(line)
        player = self._take_seat(state)
        view = self._follow(state, player)
        if view.betting.is_over:
            self._end_hand(state, view, player)
            return None
        if view.betting.seat != view.seat:
            return None
        action = _guarded(player, view, player.act, view, player.rng)
        if action not in view.betting.legal:
            raise illegal_action(player.name, view, action, f"seed {self.seed}")
        return f"{line.rstrip()}:{ACTION_CHARS[action]}"

    def _parse(self, line: str) -> MatchState:
        if self._rules is None:
            self._rules = _rules_of(line)
        try:
            return parse_match_state(line, self._rules)
        except NotationError as error:
            raise ProtocolError(str(error)) from error

    def _take_seat(self, state: MatchState) -> Player:
        """Make the bot when the first state says how many play and who we are."""
        if self._player is None:
            n = state.betting.rules.n_seats
            bot = make_entrants([self.spec], n)[0]
            self._player = seat_player(bot, self.name, bot_generator(self.seed, 0, 0, state.seat, n))
        return self._player

    def _follow(self, state: MatchState, player: Player) -> View:
        """Bring the view to this state, telling the bot of every action on the way."""
        view = self._view
        if view is None or (view.hand_number, view.seat) != (state.hand_number, state.seat) or view.betting.is_over:
            view = self._view = self._new_view(state)
            _guarded(player, view, player.new_hand, view)
        for before, action, after in betting_path(view.betting, state.betting):
            view.betting, view.board = after, state.board[: BOARD_SIZES[after.street]]
            _guarded(player, view, player.observe, view, before, action)
        return view

    def _new_view(self, state: MatchState) -> View:
        rules, hole = state.betting.rules, state.holes[state.seat]
        if hole is None:
            raise ProtocolError(f"expected our hole cards in hand {state.hand_number}, got none")
        n = rules.n_seats
        names = ["opponent" if n == 2 else f"opponent-{(seat - state.seat) % n}" for seat in range(n)]
        names[state.seat] = self.name
        return View(rules, state.seat, state.hand_number, _high_first(hole), tuple(names), first_betting(rules))

    def _end_hand(self, state: MatchState, view: View, player: Player) -> None:
        betting = view.betting
        shown = tuple(
            _high_first(hole) if hole is not None and betting.is_showdown and live else None
            for hole, live in zip(state.holes, betting.live, strict=True)
        )
        if betting.is_showdown and any(live and h is None for h, live in zip(shown, betting.live, strict=True)):
            raise ProtocolError(f"expected all live hands to be shown at the end of hand {state.hand_number}")
        ranks = [0 if hole is None else evaluate((*hole, *state.board)) for hole in shown]
        net = net_chips(betting, ranks)
        self.n_hands += 1
        self.net_chips += net[view.seat]
        result = HandResult(state.hand_number, betting, state.board, shown, net, view.players)
        _guarded(player, view, player.end_hand, view, result)


def _guarded(player: Player, view: View, call: Callable[..., Result] | None, *arguments: Any) -> Result | None:
    """A call into the bot, if it defines it; what goes wrong inside says where."""
    try:
        return None if call is None else call(*arguments)
    except ArenaError:
        raise
    except Exception as error:
        raise bot_failure(error, [player], [view], "") from error


def _rules_of(line: str) -> Rules:
    """The table a first match state was sent from: the competition's, of as many seats as there are hands."""
    fields = line.strip().split(":")
    if len(fields) != 5 or fields[0] != "MATCHSTATE":
        raise ProtocolError(f"expected 'MATCHSTATE:seat:hand:betting:cards' from the dealer, got {line[:200]!r}")
    try:
        return ring(fields[4].split("/")[0].count("|") + 1)
    except HardBotError as error:
        raise ProtocolError(f"{error} in match state {line[:200]!r}") from error


def betting_path(start: Betting, end: Betting) -> list[tuple[Betting, int, Betting]]:
    """Steps (before, action, after) between two positions of one hand; ProtocolError if they are not."""
    steps: list[tuple[Betting, int, Betting]] = []
    node = end
    while node.text != start.text:
        before = node.parent
        if before is None:
            raise ProtocolError(f"expected betting that goes on from {start.text!r}, got {end.text!r}")
        steps.append((before, ACTION_CHARS.index(node.text[len(before.text)]), node))
        node = before
    return steps[::-1]


def _high_first(hole: Hole) -> Hole:
    return (max(hole), min(hole))
