"""Poki's formulas on hands plain to a person, its modelling, and its play at every table size."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.arena.match import play_match
from hardbot.arena.ring import play_ring
from hardbot.bots.income import CLASS_INCOME, INCOME, INCOME_PERCENTILE
from hardbot.bots.poki import Poki, players_behind, preflop_thresholds
from hardbot.bots.poki_kernels import (
    draw_hand,
    one_card_potential,
    postflop_triple,
    preflop_equity,
    preflop_group,
    preflop_triple,
    ramp,
    reweight,
    strength_against,
)
from hardbot.bots.weight_tables import (
    ENOUGH,
    Frequencies,
    action_threshold,
    choose,
    hand_values,
    know_board,
    reasonable_weights,
    two_cards,
)
from hardbot.errors import BotError
from hardbot.game.betting import Betting, parse_betting
from hardbot.game.cards import CLASS_TEXT, HOLE_CARDS, N_HOLES, compatible_holes, hole_index, parse_board, parse_hole
from hardbot.game.features import UNIFORM, weighted_strength
from hardbot.game.hand import View
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE, ring


def view_of(betting: Betting, hole: str, board: str = "") -> View:
    names = tuple("abcdefghij"[: betting.rules.n_seats])
    return View(betting.rules, betting.seat, 0, parse_hole(hole), names, betting, parse_board(board))


def walk(bot: Poki, line: str, hole: str, board: str = "", seat: int | None = None) -> View:
    """Let a bot watch a betting line from the blinds; the view at its end, from the seat to act."""
    rules = HEADS_UP
    end = parse_betting(rules, line)
    chain: list[Betting] = []
    node: Betting | None = end
    while node is not None:
        chain.append(node)
        node = node.parent
    chain.reverse()
    cards = parse_board(board)
    view = View(rules, end.seat if seat is None else seat, 0, parse_hole(hole), ("a", "b"), chain[0])
    bot.new_hand(view)
    for before, after in zip(chain, chain[1:], strict=False):
        action = next(a for a in before.legal if before.after(a) is after)
        view.betting, view.board = after, cards[: (0, 3, 4, 5)[after.street]]
        bot.observe(view, before, action)
    return view


def income(text: str, group: int = 0) -> float:
    return float(CLASS_INCOME[group, CLASS_TEXT.index(text)])


def triple(ehs: float, ppot: float = 0.0, **change: float) -> tuple[float, float, float]:
    """Poki's hard rule on the flop, by default facing one bet of 10 into 40."""
    facts = {
        "street": 1,
        "to_call": 10,
        "bet": 10,
        "pot": 40,
        "may_raise": 1,
        "voluntary": 0,
        "bluffing": 0,
        "watched": 0,
    }
    facts |= change
    return postflop_triple(
        ehs,
        ppot,
        int(facts["street"]),
        facts["to_call"],
        facts["bet"],
        facts["pot"],
        bool(facts["may_raise"]),
        bool(facts["voluntary"]),
        bool(facts["bluffing"]),
        bool(facts["watched"]),
        0.1,
        0.0,
        0.0,
        0.0,
        0.0,
    )


def test_income_rates_are_the_published_ones():
    assert income("AA") == pytest.approx(704, abs=1)
    assert income("32o") == pytest.approx(-351, abs=4)
    assert income("AA", 1) == pytest.approx(1554, abs=10)
    assert income("AA", 2) == pytest.approx(2043, abs=15)
    assert int((CLASS_INCOME[2] >= 0).sum()) == pytest.approx(88, abs=2)


def test_income_rates_of_a_table_add_up_to_nothing():
    assert np.abs(INCOME.mean(axis=1)).max() < 3.0  # per 1,000 bets: roll-out noise only


def test_percentiles_put_aces_on_top_and_are_centred():
    assert INCOME_PERCENTILE[:, hole_index(*parse_hole("AhAd"))].min() > 0.997
    assert INCOME_PERCENTILE.mean(axis=1) == pytest.approx(0.5, abs=1e-4)


def test_two_player_thresholds_are_the_published_loose_ones():
    button, blind = parse_betting(HEADS_UP, ""), parse_betting(HEADS_UP, "c")
    assert preflop_thresholds(button, button.seat, 0) == (0, -50, 0, 300)
    assert preflop_thresholds(blind, blind.seat, 1) == (0, 0, 0, 300)


def test_position_counts_those_who_act_later_after_the_flop():
    betting = parse_betting(ring(4), "")
    assert [players_behind(betting, seat) for seat in range(4)] == [3, 2, 1, 0]
    assert [players_behind(parse_betting(ring(4), "ff"), seat) for seat in (0, 1)] == [1, 0]


def test_group_expects_three_in_five_of_those_waiting():
    assert [preflop_group(1, waiting) for waiting in (1, 2, 3, 5, 6, 9)] == [0, 0, 1, 1, 2, 2]
    assert preflop_group(2, 1) == 1


@pytest.mark.parametrize(
    ("rate", "raises", "to_call", "expected"),
    [
        (-60, 0, 5, FOLD),
        (-40, 0, 5, CALL),
        (10, 0, 5, RAISE),
        (10, 1, 10, CALL),
        (-40, 1, 20, FOLD),
        (310, 2, 10, RAISE),
        (310, 3, 10, CALL),
    ],
)
def test_make_rules_before_the_flop(rate, raises, to_call, expected):
    p = preflop_triple(rate, -50.0, 0.0, 300.0, to_call, 10.0, raises, raises < 3, False, 0.0)
    assert p[expected] == 1.0


def test_make1_calls_a_second_bet_only_when_already_in():
    facts = (-40.0, -50.0, 0.0, 300.0, 20.0, 10.0, 2, True)
    assert preflop_triple(*facts, False, 0.0) == (1.0, 0.0, 0.0)
    assert preflop_triple(*facts, True, 0.0) == (0.0, 1.0, 0.0)


def test_bets_are_softened_as_published():
    assert [triple(ehs, to_call=0)[RAISE] for ehs in (0.40, 0.50, 0.60)] == pytest.approx([0.0, 0.5, 1.0])
    assert [ramp(x, 0.5, 0.0) for x in (0.49, 0.5)] == [0.0, 1.0]


def test_semi_bluff_needs_the_potential_to_call_a_bet_and_a_raise():
    needed = 20 / (40 + 60)
    assert triple(0.2, needed + 0.01, to_call=0)[RAISE] == 1.0
    assert triple(0.2, needed - 0.01, to_call=0)[RAISE] == 0.0
    assert triple(0.2, needed + 0.01, to_call=0, street=3)[RAISE] == 0.0
    assert triple(0.2, 0.0, to_call=0, street=3, bluffing=1)[RAISE] == 1.0


def test_strong_hands_raise_and_medium_hands_call_one_bet():
    assert triple(0.86) == (0.0, 0.0, 1.0)
    assert triple(0.86, may_raise=0) == (0.0, 1.0, 0.0)
    assert triple(0.84) == (0.0, 1.0, 0.0)


def test_strong_hand_checks_to_raise_when_somebody_may_bet_behind():
    assert triple(0.9, to_call=0, watched=1) == (0.0, 1.0, 0.0)
    assert triple(0.9, to_call=0) == (0.0, 0.0, 1.0)


def test_two_bets_cold_need_odds():
    assert triple(0.52, to_call=20, pot=30)[CALL] == 1.0  # showdown odds (20 + 40) / (30 + 20 + 80) = .46
    assert triple(0.45, to_call=20, pot=30) == (1.0, 0.0, 0.0)
    assert triple(0.45, 0.41, to_call=20, pot=30) == (0.0, 1.0, 0.0)  # pot odds 20 / 50


@pytest.mark.parametrize(("street", "threshold"), [(1, 50 / 130), (2, 20 / 70)])
def test_showdown_odds_cost_the_bets_to_come(street, threshold):
    assert triple(threshold + 0.001, street=street) == (0.0, 1.0, 0.0)
    assert triple(threshold - 0.001, street=street) == (1.0, 0.0, 0.0)


def test_river_calls_by_pot_odds_alone():
    assert triple(0.21, street=3) == (0.0, 1.0, 0.0)
    assert triple(0.19, 0.9, street=3) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("hole", "board"), [("AdQc", "Jh4c3h"), ("9h8h", "7h6c2h"), ("2c2d", "AhKhQh"), ("KsKd", "7h7c2s9d")]
)
def test_own_strength_is_the_project_definition(hole, board):
    rng = np.random.default_rng(3)
    for weights in (UNIFORM, rng.random(N_HOLES)):
        known, (a, b) = know_board(parse_board(board)), sorted(parse_hole(hole), reverse=True)
        exact = weighted_strength(parse_hole(hole), parse_board(board), weights)
        assert strength_against(a, b, known.ranks, HOLE_CARDS, weights) == pytest.approx(exact.hs, abs=1e-9)
        found = one_card_potential(a, b, known.cards, known.ranks, HOLE_CARDS, weights)
        assert found == pytest.approx(exact.ppot1, abs=1e-9)


def test_two_card_potential_is_near_the_published_hand():
    assert two_cards(0.108) == pytest.approx(0.208, abs=0.005)


def test_draws_estimate_one_card_potential_of_all_hands():
    from hardbot.game.features import all_hands

    board = parse_board("Th8h3cQd")
    known, exact = know_board(board), all_hands(board).values
    possible = compatible_holes(board)
    assert known.hs[possible] == pytest.approx(exact[possible, 0], abs=1e-6)
    error = (1 - exact[possible, 0]) * (known.potential[possible] - exact[possible, 5])
    assert float(np.sqrt(np.mean(error**2))) < 0.03
    flush_draw, nothing = (float(known.potential[hole_index(*parse_hole(text))]) for text in ("6h5h", "6s5c"))
    assert flush_draw > nothing + 0.15
    assert not known.ehs[~possible].any()


def test_raise_of_a_tight_player_means_more_than_of_a_loose_one():
    values = hand_values(0, (), 2)
    aces, medium = hole_index(*parse_hole("AhAd")), hole_index(*parse_hole("Jh9d"))
    ratio = []
    for p_raise in (0.1, 0.5):
        weights, mu = np.ones(N_HOLES), action_threshold([0.0, 1 - p_raise, p_raise], RAISE)
        reweight(weights, values, mu, 0.4 * (1 - mu))
        assert weights[aces] > 0.9
        ratio.append(weights[medium] / weights[aces])
    assert ratio[0] < ratio[1]


def test_weight_at_the_threshold_is_halved_and_never_falls_below_a_hundredth():
    values, weights = np.array([0.0, 0.5, 1.0], dtype=np.float32), np.ones(3)
    reweight(weights, values, 0.5, 0.2)
    assert weights == pytest.approx([0.01, 0.5, 1.0])
    for _ in range(50):
        reweight(weights, values, 0.5, 0.2)
    assert weights == pytest.approx([0.01, 0.01, 1.0])


def test_thresholds_follow_the_frequencies():
    assert action_threshold([0.5, 0.3, 0.2], RAISE) == pytest.approx(0.8)
    assert action_threshold([0.5, 0.3, 0.2], CALL) == pytest.approx(0.5)


def test_frequencies_begin_with_the_default_and_end_with_the_player():
    player = Frequencies()
    assert player.mixed(2, 1) == [0.5, 0.3, 0.2]
    for _ in range(ENOUGH // 2):
        player.add(0, 1, RAISE)
    assert player.mixed(0, 1) == pytest.approx([0.25, 0.15, 0.6])
    assert player.mixed(2, 1) == pytest.approx([0.25, 0.15, 0.6])  # from the round before
    for _ in range(ENOUGH):
        player.add(2, 1, CALL)
    assert player.mixed(2, 1) == [0.0, 1.0, 0.0]
    assert player.mixed(1, 1) == pytest.approx([0.25, 0.15, 0.6])


def test_generic_modelling_makes_a_raiser_strong_and_its_absence_leaves_the_table():
    aces, trash = hole_index(*parse_hole("AhAd")), hole_index(*parse_hole("7h2d"))
    for generic in (True, False):
        bot = Poki(generic=generic, specific=False)
        view = walk(bot, "r", "KhQh")
        weights = bot.weights(view)[1 - view.seat]
        if generic:
            assert weights[aces] > 50 * weights[trash]
        else:
            assert np.array_equal(weights, reasonable_weights(2))


def test_specific_modelling_stops_believing_one_who_always_raises():
    bot = Poki()
    assert bot.learns
    before = [walk(bot, "r", "7h2d"), bot.weights][0]
    believed = bot.weights(before)[1 - before.seat].copy()
    for _ in range(40):
        walk(bot, "r", "7h2d")
    view = walk(bot, "r", "7h2d")
    assert np.ptp(believed) > 0.5
    assert np.ptp(bot.weights(view)[1 - view.seat]) == 0.0


def test_memory_survives_a_file(tmp_path):
    bot, other = Poki(), Poki()
    for _ in range(30):
        walk(bot, "r", "7h2d")
    bot.save_memory(tmp_path / "memory.json")
    other.load_memory(tmp_path / "memory.json")
    assert other.frequencies("b", 0, 1) == bot.frequencies("b", 0, 1) == [0.0, 0.0, 1.0]
    (tmp_path / "memory.json").write_text('{"schema": "action-frequencies-1", "players": {"b": [1, 2]}}')
    with pytest.raises(BotError, match="expected frequencies as written by poki"):
        other.load_memory(tmp_path / "memory.json")


def test_semi_bluff_goes_on_until_somebody_bets():
    bot, rng = Poki(), np.random.default_rng(1)
    view = walk(bot, "cc/", "6h5h", "7h4hKs")  # straight and flush draw, nothing yet
    assert bot.act(view, rng) == RAISE
    node = view.betting
    for action in (RAISE, CALL):
        before, node = node, node.after(action)
        view.betting, view.board = node, parse_board("7h4hKs2d")[: 4 if node.street == 2 else 3]
        bot.observe(view, before, action)
    assert bot.act(view, rng) == RAISE
    before, node = node, node.after(CALL).after(RAISE)
    view.betting = node
    bot.observe(view, before.after(CALL), RAISE)
    assert not bot._bluffing


def test_plain_hands_are_played_plainly():
    rng = np.random.default_rng(2)
    for line, hole, board, expected in (
        ("", "AhAd", "", RAISE),
        ("", "3h2d", "", FOLD),
        ("r", "AhAd", "", RAISE),
        ("rc/r", "AhAd", "AcAs2d", RAISE),
        ("rrc/r", "7h2d", "AcKsQd", FOLD),
        ("cc/cr", "8h7d", "Kc8s3d", CALL),
    ):
        bot = Poki()
        assert bot.act(walk(bot, line, hole, board), rng) == expected, (line, hole)


def test_choice_never_leaves_the_legal_actions():
    assert choose((0.0, 0.0, 1.0), (FOLD, CALL), 0.5) == CALL
    assert choose((1.0, 0.0, 0.0), (CALL, RAISE), 0.5) == CALL
    assert [choose((0.2, 0.5, 0.3), (FOLD, CALL, RAISE), u) for u in (0.1, 0.3, 0.9)] == [FOLD, CALL, RAISE]


def test_roll_out_equity_is_near_the_exact_one():
    (a, b), state = sorted(parse_hole("AhAd"), reverse=True), np.array([12345], dtype=np.uint64)
    assert preflop_equity(a, b, HOLE_CARDS, UNIFORM, 20_000, state) == pytest.approx(0.852, abs=0.01)


def test_hands_are_drawn_by_weight():
    running = np.cumsum([0.0, 1.0, 0.0, 3.0])
    assert [draw_hand(running, u) for u in (0.0, 0.24, 0.26, 0.99)] == [1, 1, 3, 3]


@pytest.mark.parametrize("n", range(2, 11))
def test_poki_plays_every_table_size(n):
    bots = ["poki", "random", "always_raise", "poki:specific=no", "always_call"]
    found = play_ring([bots[seat % len(bots)] for seat in range(n)], 6, seed=n)
    assert found.deal_chips.sum(axis=1).tolist() == [0] * 6


def test_same_seed_gives_the_same_match():
    first, second = (play_match("poki", "random", 40, 5).pair_chips for _ in range(2))
    assert np.array_equal(first, second)


def test_poki_beats_the_plain_bots():
    assert play_match("poki", "always_call", 600, 2).sb_per_hand > 0.2
    assert play_match("poki", "always_raise", 600, 2).sb_per_hand > 1.0
