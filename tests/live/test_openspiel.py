"""OpenSpiel's universal_poker and ours: same rules, same payoffs, bots on either side."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest

from hardbot.arena.deals import deal_block
from hardbot.arena.match import play_match
from hardbot.arena.ring import play_ring
from hardbot.arena.table import play_hand, seat_player
from hardbot.bots.registry import create_bot
from hardbot.bots.simple import AlwaysCall
from hardbot.errors import ArenaError, BotError
from hardbot.game.rules import CALL, RAISE, ring
from hardbot.live.openspiel import OpenSpielBot, PyspielBot, limit_game


class Diary(AlwaysCall):
    """Raises with its first card's suit, keeps all it is told."""

    name = "diary"

    def __init__(self):
        self.notes = []

    def new_hand(self, view):
        self.notes.append(("deal", view.seat, view.hole))

    def observe(self, view, before, action):
        self.notes.append((before.text, action, view.betting.text, view.board))

    def act(self, view, rng):
        return RAISE if RAISE in view.betting.legal and (sum(view.board) + view.hole[0]) % 3 == 0 else CALL

    def end_hand(self, view, result):
        self.notes.append((result.betting.text, result.board, result.holes, result.net_chips))


class Caller(pyspiel.Bot):
    """A pyspiel bot that calls and keeps what it is told."""

    def __init__(self):
        pyspiel.Bot.__init__(self)
        self.told = []

    def restart(self):
        self.told.append("restart")

    def inform_action(self, state, player_id, action):
        self.told.append((state.current_player(), player_id, action))

    def step(self, state):
        self.told.append(("step", state.current_player()))
        return 1


def make_caller(game, player, seed):
    return Caller()


def make_cheat(game, player, seed):
    bot = Caller()
    bot.step = lambda state: 0
    return bot


def play_openspiel(deal, bots):
    """One hand with given cards, as OpenSpiel's own loops play it."""
    n = len(bots)
    state, board = limit_game(n).new_initial_state(), iter(deal.board)
    for bot in bots:
        bot.restart()
    for hole in deal.holes:
        for card in hole:
            state.apply_action(card)
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(next(board))
            continue
        player = state.current_player()
        action = bots[player].step(state)
        for other, bot in enumerate(bots):
            if other != player:
                bot.inform_action(state, player, action)
        state.apply_action(action)
    return state


@pytest.mark.parametrize("n_seats", [2, 3, 4])
def test_our_bots_are_told_the_same_at_both_tables(n_seats):
    deals = deal_block(n_seats, 60, 5, 0)
    here = [Diary() for _ in range(n_seats)]
    there = [Diary() for _ in range(n_seats)]
    names = ["diary"] + [f"opponent-{j}" for j in range(1, n_seats)]
    players = [seat_player(bot, name, np.random.default_rng(1)) for bot, name in zip(here, names, strict=True)]
    guests = [PyspielBot(lambda seat=seat: there[seat], seat, n_seats) for seat in range(n_seats)]
    for index in range(60):
        result = play_hand(ring(n_seats), deals.deal(index), players, index)
        state = play_openspiel(deals.deal(index), guests)
        assert tuple(state.returns()) == pytest.approx(result.net_chips, abs=1.0)  # odd chips are split there
    assert [bot.notes for bot in there] == [bot.notes for bot in here]


def test_a_match_in_openspiel_gives_the_arenas_chips():
    deals = deal_block(2, 100, 8, 0)
    bots = [PyspielBot("rulebot", 0, seed=8), PyspielBot("random", 1, seed=8)]
    chips = [play_openspiel(deals.deal(i), bots).returns()[0] for i in range(100)]
    players = [
        seat_player(create_bot(spec), spec, np.random.Generator(np.random.PCG64(np.random.SeedSequence([8, 0, 1 + e]))))
        for e, spec in enumerate(["rulebot", "random"])
    ]
    arena = [play_hand(ring(2), deals.deal(i), players, i).net_chips[0] for i in range(100)]
    assert chips == arena


def test_openspiels_own_loop_plays_our_bots():
    bots = [PyspielBot("rulebot", 0), PyspielBot("always_call", 1)]
    game = limit_game()
    returns = [pyspiel.evaluate_bots(game.new_initial_state(), bots, seed) for seed in range(20)]
    assert all(sum(pair) == 0 for pair in returns)
    assert len({pair[0] for pair in returns}) > 3


def test_a_bot_can_be_asked_in_the_middle_of_a_hand():
    state = limit_game().new_initial_state()
    for action in (51, 50, 0, 5, 1, 2):
        state.apply_action(action)
    diary = Diary()
    bot = PyspielBot(lambda: diary, state.current_player())
    bot.restart_at(state)
    assert bot.step(state) in (CALL, RAISE)
    assert [note[:2] for note in diary.notes[1:3]] == [("", 1), ("c", 2)]


def test_openspiels_caller_wins_what_ours_wins():
    there = play_match("rulebot", lambda: OpenSpielBot(make_caller), 40, 5)
    ours = play_match("rulebot", "always_call", 40, 5, compiled=False)
    assert there.pair_chips.tolist() == ours.pair_chips.tolist()


def test_openspiels_random_bot_is_as_random_as_ours_and_follows_our_seed():
    first = play_match("always_call", "openspiel:uniform", 300, 5)
    again = play_match("always_call", "openspiel:uniform_random", 300, 5)
    other = play_match("always_call", "openspiel:uniform", 300, 6)
    ours = play_match("always_call", "random", 300, 5)
    assert first.pair_chips.tolist() == again.pair_chips.tolist() != other.pair_chips.tolist()
    assert abs(first.sb_per_hand - ours.sb_per_hand) < first.ci95 + ours.ci95


@pytest.mark.parametrize("n_seats", [3, 4])
def test_openspiels_bots_sit_at_rings(n_seats):
    specs = ["openspiel:uniform", "always_call", "always_raise", "rulebot"][:n_seats]
    result = play_ring(specs, 4, 5)
    assert result.deal_chips.sum() == 0


def test_a_pyspiel_bot_hears_of_others_actions_even_before_it_is_made():
    made = []
    bot = OpenSpielBot(lambda game, player, seed: made.append(Caller()) or made[-1])
    play_match(lambda: bot, "always_raise", 2, 3, duplicate=False)
    assert made[0].told[:3] == ["restart", (1, 1, 2), ("step", 0)]
    assert len(made) == 2  # one a seat


def test_openspiels_tree_search_plays_whole_hands():
    result = play_match("openspiel:ismcts", "always_call", 1, seed=4)
    assert result.hands == 2
    assert np.isfinite(result.sb_per_hand)


def test_hidden_cards_of_the_state_are_stand_ins():
    seen = []

    def make(game, player, seed):
        bot = Caller()
        bot.step = lambda state: seen.append((state.current_player(), state.history())) or 1
        return bot

    deals = deal_block(2, 30, 9, 0)
    play_match(lambda: OpenSpielBot(make), "always_raise", 30, 9, duplicate=False)
    n_same = 0
    for player, history in seen:
        hidden = tuple(sorted(history[2:4] if player == 0 else history[:2], reverse=True))
        assert len(set(history[:4])) == 4
        n_same += any(hidden == deals.deal(i).holes[1 - player] for i in range(30))
    assert seen
    assert n_same == 0


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("openspiel:nobody", "expected openspiel:NAME with uniform, .*or module:function, got 'openspiel:nobody'"),
        ("openspiel:", "expected openspiel:NAME"),
        ("openspiel:no.such:thing", "expected a function no.such:thing"),
        ("openspiel:pyspiel:nothing", "expected a function pyspiel:nothing"),
    ],
)
def test_unknown_bots_are_refused(spec, message):
    with pytest.raises(BotError, match=message):
        create_bot(spec)


def test_tables_above_four_are_refused_because_openspiel_crashes_there():
    with pytest.raises(BotError, match="expected 2 to 4 seats"):
        limit_game(5)
    with pytest.raises(BotError, match="expected 2 to 4 seats for openspiel:uniform, got 5"):
        play_ring(["openspiel:uniform"] + ["always_call"] * 4, 2, 1)


def test_an_illegal_action_of_a_pyspiel_bot_fails_the_match():
    with pytest.raises(ArenaError, match=r"expected 1 \(call\) or 2 \(raise\)"):
        play_match(lambda: OpenSpielBot(make_cheat), "always_call", 5, 1)
