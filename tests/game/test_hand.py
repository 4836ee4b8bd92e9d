"""Hands as dealt and played, compared with OpenSpiel's universal_poker and with PokerKit.

OpenSpiel 2.0.2 reads at most four stacks and crashes on tables of five seats and more, so those are PokerKit's alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pokerkit
import pyspiel
import pytest
from pokerkit import Automation

from hardbot.errors import CardError, RulesError
from hardbot.game.betting import net_chips
from hardbot.game.cards import CARD_TEXT, parse_cards, parse_hole
from hardbot.game.evaluator import evaluate
from hardbot.game.hand import Deal, Hand
from hardbot.game.rules import BOARD_SIZES, CALL, FOLD, HEADS_UP, HEADS_UP_IRC, RAISE, Rules, ring

ROYAL_BOARD = parse_cards("TsJsQsKsAs")  # everybody ties: split pots, odd chips
P_ACTION = np.array([0.12, 0.48, 0.40])
RULES = [HEADS_UP, *(ring(n) for n in range(3, 7))]
two_to_six_seats = pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)


def random_deals(n_seats: int, n_deals: int, rng: np.random.Generator) -> Iterator[Deal]:
    """Random deals, every fourth one on a board that ties everybody."""
    for number in range(n_deals):
        deck = rng.permutation(52).tolist()
        board = tuple(deck[-5:])
        if number % 4 == 0:
            board, deck = ROYAL_BOARD, [card for card in deck if card not in ROYAL_BOARD]
        yield Deal(tuple((deck[2 * i], deck[2 * i + 1]) for i in range(n_seats)), board)


def random_action(legal: tuple[int, ...], rng: np.random.Generator) -> int:
    p = P_ACTION[list(legal)]
    return int(rng.choice(legal, p=p / p.sum()))


def openspiel_game(rules: Rules) -> pyspiel.Game:
    n = rules.n_seats
    return pyspiel.load_game(
        f"universal_poker(betting=limit,numPlayers={n},numRounds=4,blind={' '.join(map(str, rules.blinds))},"
        f"firstPlayer={' '.join(str(seat + 1) for seat in rules.first_seat)},numSuits=4,numRanks=13,numHoleCards=2,"
        f"numBoardCards=0 3 1 1,raiseSize=10 10 20 20,maxRaises={' '.join(map(str, rules.max_raises))},"
        f"stack={' '.join(['100000'] * n)},bettingAbstraction=fcpa)"
    )


@pytest.mark.parametrize(
    "rules", [HEADS_UP, HEADS_UP_IRC, ring(3), ring(4), ring(4, five_bets=True)], ids=lambda rules: rules.name
)
def test_rules_agree_with_openspiel_at_every_step(rules):
    rng = np.random.default_rng(rules.n_seats)
    game, n_odd = openspiel_game(rules), 0
    for deal in random_deals(rules.n_seats, 1000, rng):
        hand, state = Hand(rules, deal), game.new_initial_state()
        cards = iter([card for hole in deal.holes for card in hole] + list(deal.board))
        while True:
            while state.is_chance_node():
                state.apply_action(next(cards))
            if hand.betting.is_over:
                break
            assert state.current_player() == hand.betting.seat
            assert tuple(state.legal_actions()) == hand.betting.legal
            action = random_action(hand.betting.legal, rng)
            hand.apply(action)
            state.apply_action(action)
        assert state.is_terminal()
        ours, theirs = np.array(hand.net_chips()), np.array(state.returns())
        # the competition splits a pot into fractions; whole chips are less than one away from that
        assert np.abs(ours - theirs).max() < 1.0
        n_odd += not np.array_equal(ours, theirs)
        if hand.betting.pot % max(1, (ours > -np.array(hand.betting.contributions)).sum()) == 0:
            assert np.array_equal(ours, theirs)
    assert (n_odd > 0) == (rules.n_seats > 2)  # odd chips were really seen, and cannot be heads-up


AUTOMATIONS = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.CARD_BURNING,
    Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)
STACK = 100_000


def pokerkit_state(deal: Deal) -> pokerkit.State:
    n = len(deal.holes)
    state = pokerkit.FixedLimitTexasHoldem.create_state(AUTOMATIONS, True, 0, (5, 10), 10, 20, STACK, n)
    for hole in deal.holes:
        state.deal_hole("".join(CARD_TEXT[card] for card in hole))
    return state


def pokerkit_move(state: pokerkit.State, action: int) -> None:
    if action == FOLD:
        state.fold()
    elif action == CALL:
        state.check_or_call()
    else:
        state.complete_bet_or_raise_to()


def spread_odd_chips(net: list[int], hand: Hand) -> int:
    """Number of odd chips. PokerKit gives all to the first winner left of the button, the usual rule one to each."""
    contributions = hand.betting.contributions
    winners = [seat for seat, paid in enumerate(contributions) if net[seat] > -paid]
    odd = hand.betting.pot % len(winners)
    first = (hand.rules.button + 1) % hand.rules.n_seats
    winners.sort(key=lambda seat: (seat - first) % hand.rules.n_seats)
    for seat in winners[1:odd]:
        net[winners[0]] -= 1
        net[seat] += 1
    return odd


@pytest.mark.filterwarnings("ignore:A card being dealt")  # PokerKit burns from a deck of its own
@two_to_six_seats
def test_rules_agree_with_pokerkit_at_every_step_odd_chips_included(rules):
    rng = np.random.default_rng(100 + rules.n_seats)
    n_odd = 0
    for deal in random_deals(rules.n_seats, 400, rng):
        hand, state = Hand(rules, deal), pokerkit_state(deal)
        while not hand.betting.is_over:
            betting = hand.betting
            assert state.actor_index == betting.seat
            assert (state.can_fold(), state.can_check_or_call()) == (FOLD in betting.legal, True)
            # PokerKit allows one raise more before the flop: compare within our cap only
            if (betting.street, betting.raises) != (0, 3):
                assert state.can_complete_bet_or_raise_to() == (RAISE in betting.legal)
            action = random_action(betting.legal, rng)
            hand.apply(action)
            pokerkit_move(state, action)
            if hand.betting.street > betting.street:
                start, end = BOARD_SIZES[betting.street], BOARD_SIZES[hand.betting.street]
                state.deal_board("".join(CARD_TEXT[card] for card in deal.board[start:end]))
        assert not state.status
        net = [int(stack) - STACK for stack in state.stacks]
        n_odd += spread_odd_chips(net, hand)
        assert list(hand.net_chips()) == net
    assert (n_odd > 0) == (rules.n_seats > 2)


@two_to_six_seats
def test_played_hand_sums_to_zero_and_shows_the_live_hands_of_a_showdown_only(rules):
    rng = np.random.default_rng(7)
    for number, deal in enumerate(random_deals(rules.n_seats, 200, rng)):
        hand = Hand(rules, deal, hand_number=number)
        while not hand.betting.is_over:
            hand.apply(random_action(hand.betting.legal, rng))
        result = hand.result()
        assert sum(result.net_chips) == 0
        assert (result.hand_number, result.betting, result.players) == (number, hand.betting, hand.players)
        assert result.board == deal.board[: BOARD_SIZES[hand.betting.street]]
        shown = [live and hand.betting.is_showdown for live in hand.betting.live]
        assert list(result.holes) == [hole if s else None for hole, s in zip(deal.holes, shown, strict=True)]


def test_best_hand_of_a_showdown_takes_the_pot():
    deal = Deal((parse_hole("AhAd"), parse_hole("KhKd"), parse_hole("7c2d")), parse_cards("Ac9s5h3d8c"))
    hand = Hand(ring(3), deal, players=("ann", "bob", "cy"))
    for action in "frccccrccc":
        hand.apply("fcr".index(action))
    assert hand.betting.text == "frc/cc/crc/cc"
    assert hand.net_chips() == (40, -40, 0)
    assert evaluate((*deal.holes[0], *deal.board)) > evaluate((*deal.holes[1], *deal.board))


def test_view_shows_own_cards_and_the_board_in_sight():
    deal = Deal((parse_hole("AhAd"), parse_hole("KhKd")), parse_cards("Ac9s5h3d8c"))
    hand = Hand(HEADS_UP, deal, hand_number=4)
    view = hand.view(1)
    assert (view.hole, view.board, view.seat, view.hand_number) == (deal.holes[1], (), 1, 4)
    assert (view.pot_sb, view.to_call_sb, view.street) == (1.5, 0.5, 0)
    for action in (RAISE, CALL, RAISE):
        hand.apply(action)
    view = hand.view(0)
    assert (view.board, view.street) == (deal.board[:3], 1)
    assert hand.view(1).to_call_sb == 1.0
    assert view.betting is hand.betting


def test_hand_in_play_has_no_result():
    hand = Hand(HEADS_UP, Deal(((0, 1), (2, 3)), (4, 5, 6, 7, 8)))
    with pytest.raises(RulesError, match="expected a finished hand"):
        hand.result()


@pytest.mark.parametrize(
    ("deal", "error", "message"),
    [
        (Deal(((0, 1),), (4, 5, 6, 7, 8)), CardError, "expected 2 hole hands, got 1"),
        (Deal(((0, 1), (2, 3)), (4, 5, 6)), CardError, "expected five board cards, got 3"),
        (Deal(((0, 1), (2, 0)), (4, 5, 6, 7, 8)), CardError, "got 2c twice"),
        (Deal(((0, 1), (2, 52)), (4, 5, 6, 7, 8)), CardError, "expected card numbers from 0 to 51, got 52"),
        (Deal(((0, 1), (2,)), (4, 5, 6, 7, 8)), CardError, "expected two hole cards for seat 1, got 1"),
    ],
    ids=["seats", "board", "duplicate", "number", "hole"],
)
def test_impossible_deal_is_refused(deal, error, message):
    with pytest.raises(error, match=message):
        Hand(HEADS_UP, deal)


def test_every_seat_has_a_name():
    with pytest.raises(RulesError, match="expected 2 player names, got 1"):
        Hand(HEADS_UP, Deal(((0, 1), (2, 3)), (4, 5, 6, 7, 8)), players=("ann",))


def test_ranks_of_folded_hands_are_not_looked_at():
    hand = Hand(ring(3), Deal(((0, 4), (8, 12), (50, 51)), (48, 49, 20, 25, 30)))
    for action in (FOLD, CALL, CALL):
        hand.apply(action)
    while not hand.betting.is_over:
        hand.apply(CALL)
    assert net_chips(hand.betting, (5, 6, 7462)) == (-10, 10, 0)
