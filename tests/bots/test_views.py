"""No bot can see a hidden card: views hold none, and other hidden cards change no action."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from hardbot.arena.table import play_hand, seat_player
from hardbot.bots.base import Bot
from hardbot.bots.registry import BOTS, bot_class, create_bot, split_spec
from hardbot.game.betting import Betting
from hardbot.game.cards import parse_hole
from hardbot.game.hand import Deal, Hand, HandResult, Hole, View
from hardbot.game.rules import BOARD_SIZES, CALL, HEADS_UP, RAISE, Rules, ring

Decision = tuple[int, str, int]  # street, betting, action


class MarkedCard(int):
    """A card that can be told from all other numbers, wherever it turns up."""


def reachable_cards(root: object, clean: dict[int, Betting]) -> set[int]:
    """All marked cards in the object graph below `root`; positions found clean once are not walked again."""
    stack, seen, found = [root], set(), set()
    while stack:
        item = stack.pop()
        if isinstance(item, MarkedCard):
            found.add(int(item))
        if id(item) in seen or id(item) in clean or item is None or isinstance(item, str | int | float | type):
            continue
        seen.add(id(item))
        if isinstance(item, Betting):
            clean[id(item)] = item
        stack.extend(parts(item))
    return found


def parts(item: object) -> Iterator[object]:
    if isinstance(item, dict):
        yield from item.keys()
        yield from item.values()
    elif isinstance(item, list | tuple | set | frozenset):
        yield from item
    for cls in type(item).__mro__:
        for slot in getattr(cls, "__slots__", ()):
            yield getattr(item, slot, None)
    yield from getattr(item, "__dict__", {}).values()


class Spy(Bot):
    """Calls and raises by the betting alone and records which cards each call of the protocol could reach."""

    name = "spy"

    def __init__(self, deal: Deal, clean: dict[int, Betting], salt: str) -> None:
        self.deal, self.clean, self.salt, self.n_calls = deal, clean, salt, 0

    def new_hand(self, view: View) -> None:
        self.check(view, ())

    def observe(self, view: View, before: Betting, action: int) -> None:
        self.check(view, (before,))

    def act(self, view: View, rng: np.random.Generator) -> int:
        self.check(view, ())
        return scripted_action(view.betting, "fcccccccccrr", self.salt)

    def end_hand(self, view: View, result: HandResult) -> None:
        live, shown = result.betting.live, result.betting.is_showdown
        public = [hole for hole, seat_live in zip(self.deal.holes, live, strict=True) if shown and seat_live]
        board = set(self.deal.board[: BOARD_SIZES[result.betting.street]])
        assert reachable_cards(result, self.clean) == board | {card for hole in public for card in hole}
        self.check(view, ())

    def check(self, view: View, more: tuple[object, ...]) -> None:
        self.n_calls += 1
        in_sight = set(self.deal.board[: BOARD_SIZES[view.betting.street]])
        assert reachable_cards((view, *more), self.clean) == in_sight | set(self.deal.holes[view.seat])


def scripted_action(betting: Betting, choices: str, salt: str = "") -> int:
    """An action that depends on the public betting only."""
    wanted = "fcr".index(choices[zlib.crc32((salt + betting.text).encode()) % len(choices)])
    return wanted if wanted in betting.legal else CALL


def random_deal(rng: np.random.Generator, n_seats: int) -> Deal:
    deck = rng.permutation(52).tolist()
    return Deal(tuple((deck[2 * i], deck[2 * i + 1]) for i in range(n_seats)), tuple(deck[-5:]))


def marked(deal: Deal) -> Deal:
    holes = tuple((MarkedCard(a), MarkedCard(b)) for a, b in deal.holes)
    return Deal(holes, tuple(MarkedCard(card) for card in deal.board))


@pytest.mark.parametrize("rules", [HEADS_UP, ring(3), ring(6)], ids=lambda rules: rules.name)
def test_no_hidden_card_can_be_reached_from_what_a_bot_is_given(rules):
    rng, clean = np.random.default_rng(5), {}
    n_showdowns, n_with_folds = 0, 0
    for number in range(30):
        deal = marked(random_deal(rng, rules.n_seats))
        spies = [Spy(deal, clean, str(number)) for _ in range(rules.n_seats)]
        players = [seat_player(spy, f"p{seat}", rng) for seat, spy in enumerate(spies)]
        result = play_hand(rules, deal, players, number)
        n_showdowns += result.betting.is_showdown
        n_with_folds += not all(result.betting.live)
        assert all(spy.n_calls >= 2 + len(result.betting.text.replace("/", "")) for spy in spies)
    assert n_showdowns > 3
    assert n_with_folds > 3


def test_views_of_the_dealer_hold_no_hidden_card():
    deal, clean = marked(random_deal(np.random.default_rng(2), 3)), {}
    hand = Hand(ring(3), deal)
    assert reachable_cards(hand, {}) == {card for hole in deal.holes for card in hole} | set(deal.board)
    while not hand.betting.is_over:
        for seat in range(3):
            assert reachable_cards(hand.view(seat), clean) == set(deal.holes[seat]) | set(hand.board)
        hand.apply(CALL)


# -- the same view, other hidden cards ---------------------------------------------------------------------------


class Scripted(Bot):
    """Calls and raises by the betting alone."""

    name = "scripted"

    def act(self, view: View, rng: np.random.Generator) -> int:
        return scripted_action(view.betting, "ccr")


def other_hidden_cards(deal: Deal, seat: int, last_street: int, rng: np.random.Generator) -> Deal:
    """Another deal that `seat` cannot tell from this one until `last_street` is over."""
    board = deal.board[: BOARD_SIZES[last_street]]
    known = {*deal.holes[seat], *board}
    deck = [card for card in rng.permutation(52).tolist() if card not in known]
    holes: list[Hole] = [(deck.pop(), deck.pop()) for _ in deal.holes]
    holes[seat] = deal.holes[seat]
    return Deal(tuple(holes), (*board, *deck[: 5 - len(board)]))


def decisions(rules: Rules, make: Callable[[Deal], Bot], deals: list[Deal], seat: int) -> list[Decision]:
    """What a fresh bot does in the last of the deals, after having played the others."""
    found: list[Decision] = []
    bot = make(deals[-1])
    generator = np.random.default_rng(11)

    def act(view: View, rng: np.random.Generator) -> int:
        street, text = view.betting.street, view.betting.text
        action = bot.act(view, rng)
        found.append((street, text, action))
        return action

    for number, deal in enumerate(deals):
        found.clear()
        players = [seat_player(Scripted(), f"p{i}", np.random.default_rng(i)) for i in range(rules.n_seats)]
        players[seat] = seat_player(bot, "bot", generator)
        players[seat].act = act
        play_hand(rules, deal, players, number)
    return found


def differences(rules: Rules, make: Callable[[Deal], Bot], seat: int, hole: str, seed: int) -> tuple[int, list[str]]:
    """Number of decisions compared, and those that hidden cards have changed."""
    rng = np.random.default_rng(seed)
    warm_up = random_deal(rng, rules.n_seats)
    base = random_deal(rng, rules.n_seats)
    while set(parse_hole(hole)) & set(base.board):
        base = random_deal(rng, rules.n_seats)
    base = Deal((*base.holes[:seat], parse_hole(hole), *base.holes[seat + 1 :]), base.board)
    base = other_hidden_cards(base, seat, 3, rng)  # no card twice
    wanted = decisions(rules, make, [warm_up, base], seat)
    n, changed = 0, []
    for last_street in range(4):
        variant = other_hidden_cards(base, seat, last_street, rng)
        got = decisions(rules, make, [warm_up, variant], seat)
        want = [decision for decision in wanted if decision[0] <= last_street]
        n += len(want)
        if [decision for decision in got if decision[0] <= last_street] != want:
            changed.append(f"{base} and {variant}: {want} and {got}")
    return n, changed


def quick_spec(name: str) -> str:
    """The bot with few trials if it simulates: what it sees does not depend on how often it looks."""
    return f"{name}:trials=20" if "trials" in inspect.signature(bot_class(name).__init__).parameters else name


SPECS = (*(quick_spec(name) for name in sorted(BOTS)), "hardbot:chooser=expert")
TABLES = [(spec, n) for spec in SPECS for n in (2, 3) if n in bot_class(split_spec(spec)[0]).table_sizes]


@pytest.mark.parametrize(("spec", "n_seats"), TABLES)
def test_action_does_not_depend_on_hidden_cards(spec, n_seats):
    rules = HEADS_UP if n_seats == 2 else ring(3)
    compared = 0
    for seat, hole in [(0, "AhKh"), (1, "QdQs")][: 4 - n_seats]:
        n, changed = differences(rules, lambda _: create_bot(spec), seat, hole, seed=seat)
        assert changed == []
        compared += n
    assert compared >= 4


class Peeker(Bot):
    """What must never be: a bot that was slipped the deal."""

    name = "peeker"

    def __init__(self, deal: Deal, card: Callable[[Deal], int]) -> None:
        self.high = card(deal) >= 26

    def act(self, view: View, rng: np.random.Generator) -> int:
        return RAISE if self.high and RAISE in view.betting.legal else CALL


@pytest.mark.parametrize(
    "card", [lambda deal: deal.holes[1][0], lambda deal: deal.board[4]], ids=["opponent's hand", "river"]
)
def test_bot_that_peeks_would_be_caught(card):
    caught = [differences(HEADS_UP, lambda deal: Peeker(deal, card), 0, "AhKh", seed)[1] for seed in range(4)]
    assert any(caught)
