"""vexbot: its strengths against counting, its search against a plain recursion, its learning against known ceilings."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.arena.match import play_match
from hardbot.bots.registry import create_bot
from hardbot.bots.vex_default import Beliefs, beliefs, corpus_strategy, spread
from hardbot.bots.vex_search import blend, record, search_tree
from hardbot.bots.vex_strength import N_CELLS, N_GRID, add_to_grid, next_strengths, showdown_strength, strength_table
from hardbot.bots.vexbot import VexBot
from hardbot.errors import BotError
from hardbot.game.betting import first_betting, parse_betting
from hardbot.game.cards import CLASS_TEXT, compatible_holes, hole_index, parse_cards
from hardbot.game.evaluator import board_ranks
from hardbot.game.features import hand_features
from hardbot.game.hand import View
from hardbot.game.preflop import CLASS_EQUITY
from hardbot.game.rules import CALL, HEADS_UP, HEADS_UP_IRC, RAISE
from hardbot.model.artifact import StreetModel, TrainedModel
from hardbot.model.context import street_contexts
from hardbot.model.likelihood import ActionModel

POINTS = np.arange(N_GRID) / N_CELLS


def boards_of_all_kinds(n):
    """Random hands, and boards of three, four and five of a suit."""
    rng = np.random.default_rng(3)
    for i in range(n):
        cards = rng.permutation(52)
        suited = i % 4
        if suited:
            of_suit = rng.permutation(13)[: suited + 2] * 4 + rng.integers(4)
            others = [c for c in cards if c not in of_suit]
            board = [*of_suit, *others[: 5 - len(of_suit)]]
            cards = np.array([*others[5:7], *board])
        yield int(cards[0]), int(cards[1]), cards[2:7].astype(np.int64)


def test_showdown_strength_is_the_share_of_weaker_hands():
    for a, b, board in boards_of_all_kinds(200):
        ranks = board_ranks(board.tolist())
        others = ranks[compatible_holes([a, b, *board.tolist()])]
        own = ranks[hole_index(a, b)]
        wanted = ((others < own).sum() + 0.5 * (others == own).sum()) / 990
        assert showdown_strength(a, b, board) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("board", ["Jh4c3h", "Jh4c3h9s", "Jh4c3h9s2d"])
def test_strength_now_and_after_the_next_card_agree_with_the_features(board):
    a, b = parse_cards("AdQc")
    grid = np.zeros(N_GRID)
    now = next_strengths(a, b, np.array(parse_cards(board), dtype=np.int64), grid)
    assert now == pytest.approx(hand_features((a, b), parse_cards(board)).e, abs=1e-6)
    assert grid.sum() == pytest.approx(1.0)
    assert grid @ POINTS == pytest.approx(now, abs=1e-9)  # the mean of the next strengths is the strength


def test_grid_keeps_weight_and_mean():
    grid = np.zeros(N_GRID)
    for strength in (0.0, 0.333, 0.975, 1.0):
        add_to_grid(strength, 0.25, grid)
    assert grid.sum() == pytest.approx(1.0)
    assert grid @ POINTS == pytest.approx(np.mean([0.0, 0.333, 0.975, 1.0]))


def test_shipped_strengths_agree_with_the_exact_equities():
    table = strength_table()
    assert np.abs(table.equity - CLASS_EQUITY).max() < 0.04
    assert table.flops.sum(axis=1) == pytest.approx(np.ones(169))
    assert table.moves[1:3].sum(axis=2) == pytest.approx(np.ones((2, N_GRID)))
    assert np.abs(table.moves[2] @ POINTS - POINTS)[1:20].max() < 0.03  # strength is a martingale


def test_each_level_takes_its_share_of_the_weight_left():
    counts, seen = np.zeros((4, 3)), np.column_stack([np.zeros(4), np.ones(4)])
    default, out = np.array([0.2, 0.3, 0.5]), np.zeros(3)
    contexts = np.arange(4, dtype=np.int32)
    blend(contexts, default, counts, seen, out)
    assert out == pytest.approx(default)
    for level, n in enumerate((3, 10)):
        for _ in range(n):
            record(contexts[level : level + 1], level, 1.0, 0.95, counts, seen)
    blend(contexts, default, counts, seen, out)
    left = 0.95**13
    assert out == pytest.approx([1 - 0.95**3 + left * 0.2, 0.95**3 * (1 - 0.95**10) + left * 0.3, left * 0.5])


def test_old_observations_fade():
    counts, seen = np.zeros((1, 3)), np.array([[0.0, 1.0]])
    contexts = np.zeros(1, dtype=np.int32)
    for action in (0, 2, 2):
        record(contexts, action, 0.5, 0.95, counts, seen)
    assert counts[0].tolist() == [0.25, 0.0, 1.5]
    assert seen[0].tolist() == [1.75, 0.95**1.75]


def test_contexts_are_those_of_the_paper():
    tree = search_tree()
    place = {node.text: int(tree.place[node.index]) for node in tree.nodes}

    def levels(text, observer):
        return tree.showdown_contexts[observer, place[text]].tolist()

    one, other = levels("rc/rc/cc/cc", 0), levels("rc/cc/rc/cc", 0)  # who raised how often agrees, where does not
    assert one[0] != other[0]
    raises = [tree.nodes[place[t]].text.count("r") for t in ("rc/rc/cc/cc", "rc/cc/rc/cc")]
    assert raises == [2, 2]
    assert one[1:] == other[1:]
    assert levels("rc/rc/cc/cc", 1)[0] != one[0]  # the opponent is the other seat
    three = levels("rrc/cc/cc/cc", 0)
    assert three[3] == one[3]
    same_decision = tree.action_contexts[1]
    first, second = place["cc/rc/"], place["rc/cc/"]  # seat 0 to act on the turn after a bet of each seat
    assert same_decision[first][3] == same_decision[second][3]
    assert same_decision[first][1] != same_decision[second][1]


def known_opponent(bot, action):
    """Tell a vexbot exactly how the opponent plays: one action where legal, else call, any hand at showdown."""
    tree = search_tree()
    actions = np.zeros((len(tree.nodes), 3))
    for place, node in enumerate(tree.nodes):
        if node.legal:
            actions[place, action if action in node.legal else CALL] = 1.0
    bot._beliefs = Beliefs(actions, np.full((2, len(tree.nodes), N_CELLS), 1 / N_CELLS))
    bot._showdowns = bot._beliefs.showdowns
    return bot


def view_of(seat, hole, betting="", board=""):
    position = parse_betting(HEADS_UP, betting) if betting else first_betting(HEADS_UP)
    return View(HEADS_UP, seat, 0, parse_cards(hole), ("me", "you"), position, parse_cards(board))


def plain_value(bot, view, node, own):
    """Miximax by plain recursion on the river: value of a position to view.seat."""
    tree = search_tree()
    if node.is_over:
        place = int(tree.place[node.index])
        if not node.is_showdown:
            return tree.fold_sb[place, view.seat]
        cells = bot._showdowns[view.seat][place]
        cdf = np.concatenate([[0.0], np.cumsum(cells)])
        return node.contributions[0] / 10 * (2 * float(own @ cdf) - 1)
    values = {action: plain_value(bot, view, node.after(action), own) for action in node.legal}
    if node.seat == view.seat:
        return max(values.values())
    triple = bot._beliefs.actions[tree.place[node.index]]
    return sum(triple[action] * value for action, value in values.items())


def test_river_search_is_miximax():
    bot = VexBot()
    view = view_of(0, "AsTd", "rc/rc/rc/", "Ah8c5d2s9h")
    bot.new_hand(view)
    found = bot.action_values(view)
    own = np.zeros(N_GRID)
    next_strengths(*parse_cards("AsTd"), np.array(view.board, dtype=np.int64), own)
    for action in view.betting.legal:
        wanted = plain_value(bot, view, view.betting.after(action), own)
        assert found[action] == pytest.approx(wanted, abs=1e-5)
    assert found[0] == -np.inf  # nothing to fold to


def test_against_a_calling_station_the_value_of_a_bet_is_its_equity():
    bot = VexBot()
    view = view_of(0, "AsTd", "rc/rc/rc/", "Ah8c5d2s9h")
    bot.new_hand(view)
    known_opponent(bot, CALL)
    values = bot.action_values(view)
    hs = showdown_strength(*parse_cards("AsTd"), np.array(view.board, dtype=np.int64))
    assert values[CALL] == pytest.approx(5.0 * (2 * hs - 1), abs=1e-5)
    assert values[RAISE] == pytest.approx(7.0 * (2 * hs - 1), abs=1e-5)


def test_a_fold_costs_what_was_paid_and_aces_win_big_pots_from_a_raiser():
    bot = VexBot()
    values = {}
    for text in ("AsAh", "7s2h"):
        view = view_of(1, text)
        bot.new_hand(view)
        known_opponent(bot, RAISE)
        values[text] = bot.action_values(view).copy()
    assert values["AsAh"][RAISE] > 10.0
    assert values["7s2h"][0] == pytest.approx(-0.5)
    assert values["7s2h"].max() < 1.0


def test_default_opponent_shows_better_hands_the_more_it_raised():
    expected, tree = beliefs("default"), search_tree()
    place = {node.text: int(tree.place[node.index]) for node in tree.nodes}
    centres = (np.arange(N_CELLS) + 0.5) / N_CELLS
    means = [expected.showdowns[1, place[t]] @ centres for t in ("cc/cc/cc/cc", "cc/rc/cc/cc", "cc/rc/rc/rc")]
    assert 0.15 < means[0] < means[1] < means[2] < 0.95
    assert expected.actions[0].sum() == pytest.approx(1.0)


def test_a_corpus_that_raises_strong_hands_is_expected_to_show_them():
    def street_model(street):
        contexts = street_contexts(street)
        size = 169 if street == 0 else 5
        strength = CLASS_EQUITY if street == 0 else np.linspace(0.1, 0.9, size)
        triple = np.stack([1 - strength, np.full(size, 0.5), strength], axis=1) * 200
        counts = (triple[None] * contexts.legal[:, None, :]).astype(np.float32)
        return StreetModel(
            street=street,
            columns=("e",),
            width=0.0,
            taus=(1.0, 1.0, 1.0, 1.0),
            tau_class=1.0,
            centroids=strength[:, None].astype(np.float32),
            mean=np.zeros(1, dtype=np.float32),
            std=np.ones(1, dtype=np.float32),
            kernel_norm=np.ones(size, dtype=np.float32),
            counts=counts,
            context_counts=counts.sum(axis=1),
        )

    model = ActionModel(TrainedModel(tuple(street_model(street) for street in range(4)), 0.001))
    expected, tree = spread(corpus_strategy(model)), search_tree()
    place = {node.text: int(tree.place[node.index]) for node in tree.nodes}
    root = expected.actions[place[""]]
    assert root == pytest.approx(np.array([0.5, 0.5, 0.5]) / 1.5, abs=0.01)  # mean strength one half
    centres = (np.arange(N_CELLS) + 0.5) / N_CELLS
    checked, bet = (expected.showdowns[1, place[text]] @ centres for text in ("cc/cc/cc/cc", "cc/rc/rc/rc"))
    assert bet > 0.6 > 0.5 > checked


def test_frequencies_decide_what_showdowns_are_expected():
    bot = VexBot()
    bot.new_hand(view_of(1, "AsAh"))
    tree = search_tree()
    place = next(p for p, node in enumerate(tree.nodes) if node.text == "crc/rc/rc/rc")
    before = bot._showdowns[1, place].copy()
    for contexts in np.unique(tree.action_contexts[1][tree.seat == 0], axis=0):
        for _ in range(60):
            record(contexts, RAISE, 0.95, 0.95, bot.memory.action_counts, bot.memory.action_seen)
    bot._expect_showdowns()
    after = bot._showdowns[1, place]
    centres = (np.arange(N_CELLS) + 0.5) / N_CELLS
    assert after.sum() == pytest.approx(1.0)
    assert after @ centres < before @ centres - 0.08  # one who always raises shows any hand
    assert after @ centres == pytest.approx(0.5, abs=0.06)


def test_it_learns_to_beat_the_plain_bots():
    call = play_match("vexbot", "always_call", 1_200, seed=21, block=1_200)
    assert call.pair_sb[400:].mean() > 0.85  # ceiling 1.163, standard error .04
    fold = play_match("vexbot", "always_fold", 300, seed=21, block=300)
    assert fold.pair_sb[100:].mean() > 0.70  # of .75


def test_miximix_mixes_and_miximax_does_not():
    view = view_of(0, "AsTd", "rc/rc/rc/", "Ah8c5d2s9h")
    taken = []
    for spec in ("vexbot", "vexbot:mix=yes,temperature=5"):
        bot, rng = create_bot(spec), np.random.default_rng(1)
        bot.new_hand(view)
        taken.append({bot.act(view, rng) for _ in range(60)})
    assert len(taken[0]) == 1
    assert taken[1] == {CALL, RAISE}


def test_the_same_seed_gives_the_same_match():
    one = play_match("vexbot", "random", 40, seed=3, block=40)
    two = play_match("vexbot", "random", 40, seed=3, block=40)
    assert np.array_equal(one.pair_chips, two.pair_chips)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("vexbot:decay=0", "expected a decay above 0 and up to 1 for vexbot, got 0.0"),
        ("vexbot:trust=1", "expected a trust between 0 and 1 for vexbot, got 1.0"),
        ("vexbot:prior=wrong", "expected a prior of default, corpus for vexbot, got 'wrong'"),
        ("vexbot:temperature=0", "expected a temperature above 0"),
    ],
)
def test_impossible_options_are_refused(spec, message):
    with pytest.raises(BotError, match=message):
        create_bot(spec)


def test_it_plays_the_competitions_rules_only():
    view = View(HEADS_UP_IRC, 0, 0, parse_cards("AsAh"), ("me", "you"), first_betting(HEADS_UP_IRC))
    with pytest.raises(BotError, match="expected the competition's heads-up rules for vexbot, got heads-up-irc"):
        VexBot().new_hand(view)


def test_class_order_of_the_table_is_that_of_the_square():
    table = strength_table()
    assert table.equity[CLASS_TEXT.index("AA")] == max(table.equity)
