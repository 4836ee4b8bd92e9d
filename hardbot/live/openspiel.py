"""OpenSpiel and this project at one table: our bots in universal_poker, OpenSpiel's bots in our arena.

Cards, seats and actions have the same numbers on both sides (card 4 * rank + suit, player = seat, fold 0, call 1,
raise 2). What differs is when cards come: OpenSpiel deals a street as a step of its own, after everybody has been told
of the action before it, and a pyspiel bot is given the whole state. Our bots are told of an action when the cards
that follow it lie, and only what their seat may see; OpenSpiel's bots get a state in which the
hidden cards are stand-ins, so they cannot peek either (a bot that looks at them plays against nonsense).

`pyspiel.hulh_game_string("fullgame")` of OpenSpiel 2.0.2 is broken (no raises); the betting abstraction "fcpa" has the
competition's rules, and `limit_game` asks for it. Its limit games crash the process above four players, so tables here
have two to four.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from hardbot.arena.entrants import BotSpec, bot_generator, make_entrants, table_names
from hardbot.arena.table import illegal_action, seat_player
from hardbot.bots.base import Bot
from hardbot.errors import BotError
from hardbot.game.betting import Betting, first_betting, net_chips
from hardbot.game.cards import N_CARDS
from hardbot.game.evaluator import evaluate
from hardbot.game.hand import HandResult, Hole, View
from hardbot.game.rules import BOARD_SIZES, Rules, ring
from hardbot.live.protocol import betting_path

try:
    import pyspiel
except ImportError as error:
    raise BotError("expected the optional package open-spiel (pip install 'hardbot[openspiel]'), got none") from error

TABLE_SIZES = range(2, 5)
ISMCTS_SIMULATIONS, ISMCTS_WORLDS = 300, 10  # some 60 ms a decision
ISMCTS_UCT = 50.0  # chips: what a hand is won or lost by
_CHANCE = int(pyspiel.PlayerId.CHANCE)
Moves = Sequence[tuple[int, int]]  # player (or chance) and action, from the beginning of the hand


@lru_cache(maxsize=4)
def limit_game(n_seats: int = 2) -> Any:
    """The pyspiel game with this project's rules."""
    if n_seats not in TABLE_SIZES:
        raise BotError(f"expected 2 to 4 seats for OpenSpiel's limit hold'em, got {n_seats}")
    rules = ring(n_seats)
    fields = {
        "betting": "limit",
        "numPlayers": str(n_seats),
        "numRounds": "4",
        "blind": " ".join(map(str, rules.blinds)),
        "firstPlayer": " ".join(str(seat + 1) for seat in rules.first_seat),
        "numSuits": "4",
        "numRanks": "13",
        "numHoleCards": "2",
        "numBoardCards": "0 3 1 1",
        "raiseSize": " ".join(map(str, rules.bet_sizes)),
        "maxRaises": " ".join(map(str, rules.max_raises)),
        "bettingAbstraction": "fcpa",
    }
    return pyspiel.load_game(f"universal_poker({','.join(f'{key}={value}' for key, value in fields.items())})")


class PyspielBot(pyspiel.Bot):  # type: ignore[misc]
    """One of our bots as a pyspiel bot of one player of `limit_game`."""

    def __init__(self, spec: BotSpec, player: int, n_seats: int = 2, seed: int = 0) -> None:
        pyspiel.Bot.__init__(self)
        self.rules: Rules = ring(n_seats)
        self.player_id = player
        names = ["opponent" if n_seats == 2 else f"opponent-{(seat - player) % n_seats}" for seat in range(n_seats)]
        names[player] = table_names([spec], None)[0]
        self._names = tuple(names)
        bot = make_entrants([spec], n_seats)[0]
        self._seated = seat_player(bot, names[player], bot_generator(seed, 0, 0, player, n_seats))
        self._hand_number = -1
        self._view: View | None = None
        self._moves: list[tuple[int, int]] = []
        self._n_followed = 0  # player actions the bot was told of

    def restart(self) -> None:
        """A new hand is about to be dealt."""
        self._view = None
        self._moves = []

    def restart_at(self, state: Any) -> None:
        """Go on from the middle of some hand."""
        self.restart()
        self._follow(_moves(state))

    def inform_action(self, state: Any, player_id: int, action: int) -> None:
        """Somebody acts in `state`."""
        self._follow([*_moves(state), (player_id, action)])

    def step(self, state: Any) -> int:
        """Our action."""
        moves = _moves(state)
        self._follow(moves)
        view, seated = self._view, self._seated
        assert view is not None
        action = seated.act(view, seated.rng)
        if action not in view.betting.legal:
            raise illegal_action(seated.name, view, action, "OpenSpiel")
        self._follow([*moves, (self.player_id, action)])
        return action

    def _follow(self, moves: Moves) -> None:
        """Tell the bot of everything it has not been told of yet, as far as the cards lie."""
        n_holes = 2 * self.rules.n_seats
        if len(moves) < n_holes:
            return
        if self._view is None or list(moves[: len(self._moves)]) != self._moves:
            self._begin(moves)
        self._moves = list(moves)
        view = self._view
        assert view is not None
        board = tuple(action for player, action in moves[n_holes:] if player == _CHANCE)
        actions = [action for player, action in moves[n_holes:] if player != _CHANCE]
        for action in actions[self._n_followed :]:
            before = view.betting
            after = before.after(action)
            if len(board) < BOARD_SIZES[after.street]:
                return  # the cards come next
            view.betting, view.board = after, board[: BOARD_SIZES[after.street]]
            self._n_followed += 1
            if self._seated.observe is not None:
                self._seated.observe(view, before, action)
        if view.betting.is_over and self._n_followed == len(actions):
            self._end(view, moves)

    def _begin(self, moves: Moves) -> None:
        self._hand_number += 1
        self._n_followed = 0
        hole = _holes(moves, self.rules.n_seats)[self.player_id]
        root = first_betting(self.rules)
        self._view = View(self.rules, self.player_id, self._hand_number, hole, self._names, root)
        if self._seated.new_hand is not None:
            self._seated.new_hand(self._view)

    def _end(self, view: View, moves: Moves) -> None:
        """The hand is over: what was shown and what everybody won."""
        if self._seated.end_hand is not None:
            betting, holes = view.betting, _holes(moves, self.rules.n_seats)
            shown = tuple(
                hole if betting.is_showdown and live else None for hole, live in zip(holes, betting.live, strict=True)
            )
            ranks = [0 if hole is None else evaluate((*hole, *view.board)) for hole in shown]
            net = net_chips(betting, ranks)
            self._seated.end_hand(view, HandResult(view.hand_number, betting, view.board, shown, net, view.players))
        self._view = None


def _moves(state: Any) -> list[tuple[int, int]]:
    return [(int(move.player), int(move.action)) for move in state.full_history()]


def _holes(moves: Moves, n_seats: int) -> list[Hole]:
    """Hole hands, higher card first: players are dealt two cards each in turn."""
    cards = [action for _, action in moves[: 2 * n_seats]]
    pairs = [cards[2 * seat : 2 * seat + 2] for seat in range(n_seats)]
    return [(max(pair), min(pair)) for pair in pairs]


PyspielMaker = Callable[[Any, int, int], Any]  # game, player, seed -> pyspiel bot


class OpenSpielBot(Bot):
    """A pyspiel bot in our arena: one pyspiel bot for each seat, made when first needed."""

    name = "openspiel"
    table_sizes = TABLE_SIZES

    def __init__(self, make: PyspielMaker, *, learns: bool = False) -> None:
        self.make = make
        self.learns = learns
        self._bots: dict[tuple[int, int], Any] = {}  # by table size and seat
        self._bot: Any = None
        self._told: list[tuple[Betting, int]] = []  # actions of this hand

    def new_hand(self, view: View) -> None:
        """Wake up the bot of this seat, if it is there already."""
        self._told = []
        self._bot = self._bots.get((view.rules.n_seats, view.seat))
        if self._bot is not None:
            self._bot.restart()

    def observe(self, view: View, before: Betting, action: int) -> None:
        """Others' actions; pyspiel bots know their own."""
        if before.seat != view.seat:
            self._told.append((before, action))
            if self._bot is not None:
                self._bot.inform_action(_state(view, before), before.seat, action)

    def act(self, view: View, rng: np.random.Generator) -> int:
        """Ask the bot; its seed is drawn from our generator when it is made."""
        if self._bot is None:
            key = (view.rules.n_seats, view.seat)
            self._bot = self._bots[key] = self.make(limit_game(key[0]), key[1], int(rng.integers(1 << 31)))
            self._bot.restart()
            for before, action in self._told:
                self._bot.inform_action(_state(view, before), before.seat, action)
        return int(self._bot.step(_state(view, view.betting)))


def _state(view: View, betting: Betting) -> Any:
    """The pyspiel state of a position, hidden cards replaced by stand-ins that are not in sight."""
    board = view.board[: BOARD_SIZES[betting.street]]
    spare = (card for card in range(N_CARDS) if card not in view.hole and card not in board)
    state = limit_game(view.rules.n_seats).new_initial_state()
    for seat in range(view.rules.n_seats):
        for place in range(2):
            state.apply_action(view.hole[place] if seat == view.seat else next(spare))
    coming = iter(board)
    for _, action, _ in betting_path(first_betting(view.rules), betting):
        state.apply_action(action)
        while state.is_chance_node():
            state.apply_action(next(coming))
    return state


def _uniform(game: Any, player: int, seed: int) -> Any:
    return pyspiel.make_uniform_random_bot(player, seed)


def _ismcts(game: Any, player: int, seed: int) -> Any:
    """OpenSpiel's information-set tree search (Cowling, Powley and Whitehouse 2012) with random roll-outs.

    It draws its worlds without our seed: equal matches differ a little.
    """
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    most_visited = pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
    # drawing a world costs more than a simulation, and with no limit on worlds it is done every time
    return pyspiel.ISMCTSBot(seed, evaluator, ISMCTS_UCT, ISMCTS_SIMULATIONS, ISMCTS_WORLDS, most_visited, False, False)


def make_arena_bot(spec: str) -> OpenSpielBot:
    """The bot of `openspiel:uniform`, `openspiel:ismcts`, `openspiel:NAME` (registered) or `openspiel:module:function`.

    The function is called with a game, a player and a seed and returns a pyspiel bot; such bots may learn.
    """
    name = spec.partition(":")[2]
    if name in ("uniform", "uniform_random"):
        return OpenSpielBot(_uniform)
    if name == "ismcts":
        return OpenSpielBot(_ismcts)
    if ":" in name:
        return OpenSpielBot(_import_maker(name, spec), learns=True)
    registered = pyspiel.registered_bots()
    if name not in registered:
        offered = ", ".join(["uniform", "ismcts", *registered])
        raise BotError(f"expected openspiel:NAME with {offered} or module:function, got {spec!r}")
    return OpenSpielBot(lambda game, player, seed: pyspiel.load_bot(name, game, player))


def _import_maker(name: str, spec: str) -> PyspielMaker:
    module, _, attribute = name.partition(":")
    try:
        found: PyspielMaker = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise BotError(f"expected a function {name} for bot {spec!r}, got {error}") from error
    return found
