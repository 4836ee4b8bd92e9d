"""Casey on situations whose answer is plain, by hand where a number is claimed."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.arena.sessions import play_session
from hardbot.bots.casebase import COLUMNS
from hardbot.bots.casey import (
    BLUFF,
    CALL_ANY,
    CHECK_RAISE,
    GIVE_UP,
    PLAYS,
    RAISE_ANY,
    SEMI_BLUFF,
    START_STRENGTH,
    Casey,
    GeneralCase,
    follow,
    position,
)
from hardbot.errors import BotError
from hardbot.game.betting import parse_betting
from hardbot.game.cards import hole_index, parse_board, parse_hole
from hardbot.game.hand import Deal, Hand
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE, ring

FREE, FACING, CAPPED = (CALL, RAISE), (FOLD, CALL, RAISE), (FOLD, CALL)
HOLES = ("AhAd", "KhKd", "7c2d", "QsJs")
BOARD = "As8h3c2h9d"


def hand(betting="", holes=HOLES, board=BOARD, rules=None):
    """A hand at the position after this betting."""
    rules = rules or ring(len(holes))
    found = Hand(rules, Deal(tuple(parse_hole(hole) for hole in holes), parse_board(board)))
    found.betting = parse_betting(rules, betting)
    return found


def play(bot, seat, betting, **options):
    """Let the bot's cases arise along a given betting, whatever it would do itself; returns the result."""
    rng = np.random.default_rng(0)
    found = hand(**options)
    view = found.view(seat)
    bot.new_hand(view)
    for char in betting.replace("/", ""):
        before = found.betting
        view.betting, view.board = before, found.board
        if before.seat == seat:
            bot.act(view, rng)
        found.apply("fcr".index(char))
        view.betting, view.board = found.betting, found.board
        bot.observe(view, before, "fcr".index(char))
    bot.end_hand(view, found.result())
    return found.result()


# -- strategies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "free", "facing", "then"),
    [
        (GIVE_UP, CALL, FOLD, FOLD),
        (BLUFF, RAISE, RAISE, FOLD),
        (CALL_ANY, CALL, CALL, CALL),
        (SEMI_BLUFF, RAISE, RAISE, CALL),
        (RAISE_ANY, RAISE, RAISE, RAISE),
        (CHECK_RAISE, CALL, CALL, RAISE),
    ],
    ids=["give up", "bluff", "call any", "semi-bluff", "raise any", "check-raise"],
)
def test_strategy_has_a_first_action_and_a_follow_up(strategy, free, facing, then):
    assert follow(strategy, 0, FREE) == free
    assert follow(strategy, 0, FACING) == facing
    assert follow(strategy, 1, FACING) == then
    assert follow(strategy, 2, FACING) == then


def test_capped_raise_becomes_a_call():
    assert follow(RAISE_ANY, 0, CAPPED) == CALL
    assert follow(CHECK_RAISE, 1, CAPPED) == CALL
    assert follow(BLUFF, 1, CAPPED) == FOLD


def test_strategy_is_kept_through_a_street_and_chosen_anew_on_the_next():
    bot = Casey(min_cases=1)
    play(bot, 0, "cc" + "rrc" + "crrc" + "cc", holes=HOLES[:2], rules=ring(2))
    assert bot.preflop_.column("stage").tolist() == [0]
    assert bot.postflop_.column("stage").tolist() == [1, 2, 3]


# -- situations --------------------------------------------------------------------------------------------------------


def test_start_strength_is_the_share_of_worse_hands():
    def strength(text):
        return START_STRENGTH[hole_index(*parse_hole(text))]

    assert strength("AhAd") == 1 - 3 / 1326  # six of its kind, each half
    assert strength("3h2d") == 6 / 1326  # twelve of its kind
    assert strength("KhKd") > strength("AhKh") > strength("AhKd") > strength("Th9h") > strength("7h2d")
    assert START_STRENGTH.mean() == pytest.approx(0.5)


def test_preflop_features_by_hand():
    view = hand("", HOLES, rules=ring(4)).view(2)
    strength = START_STRENGTH[hole_index(*parse_hole("7c2d"))]
    assert Casey().situation(view) == pytest.approx([strength**3, 2 / 3, 3 / 9, 1 / 5])
    raised = hand("rf", HOLES, rules=ring(4)).view(0)  # first raises, button folds, small blind to act
    strength = START_STRENGTH[hole_index(*parse_hole("AhAd"))]
    assert Casey().situation(raised) == pytest.approx([strength**2, 0.0, 2 / 9, 2 / 5])
    unraised = hand("ccc", HOLES, rules=ring(4)).view(1)  # the big blind may check
    assert Casey().situation(unraised)[3] == 0.0


def test_postflop_features_by_hand():
    view = hand("cccc/", HOLES).view(0)
    strength, place, bets, stage, ppot, npot, pot = Casey().situation(view)
    assert strength == pytest.approx(1.0)  # top set, nothing is ahead of it
    assert (place, bets, stage, pot) == (0.0, 0.0, 0.0, 4 / 40)
    assert ppot == 0.0
    assert 0.0 < npot < 0.1
    river = hand("cccc/cccc/cccc/cr", HOLES).view(2)
    strength, place, bets, stage, ppot, npot, pot = Casey().situation(river)
    assert (bets, stage, ppot, npot, pot) == (1 / 5, 1.0, 0.0, 0.0, 6 / 40)


def test_position_after_the_flop_counts_those_still_to_act():
    rules = ring(4)

    def of(text):
        betting = parse_betting(rules, text)
        return position(betting, betting.seat)

    assert of("cccc/") == 0.0
    assert of("cccc/c") == pytest.approx(1 / 3)
    assert of("cccc/ccc") == 1.0
    assert of("cccc/r") == pytest.approx(1 / 3)  # two more behind, then it is back at the bettor
    assert of("cccc/rff") == 1.0
    assert of("cccc/cccr") == pytest.approx(1 / 3)  # the first seat again: two behind it before the bettor
    assert of("ccfc/c") == pytest.approx(1 / 2)  # without the small blind three are left
    assert of("ccfc/") == 0.0


def test_heads_up_button_has_the_best_position():
    assert position(parse_betting(HEADS_UP, ""), 1) == 1.0
    assert position(parse_betting(HEADS_UP, "c"), 0) == 0.0
    assert position(parse_betting(HEADS_UP, "cc/c"), 1) == 1.0


def test_pot_odds_and_opponents_are_features_on_request():
    bot = Casey(pot_odds=True, opponents=True)
    names = [feature.name for feature in bot.preflop_.features]
    assert names == ["strength", "position", "opponents", "bets", "pot_odds", "looseness", "aggression"]
    play(bot, 0, "rrccc" + "rccc" + "rccc" + "rccc")
    view = hand("rf").view(0)
    bot.new_hand(view)
    situation = bot.situation(view)
    assert situation[4] == pytest.approx(2 * 15 / (35 + 15))
    entered, raised = (1 + 4) / 12, (0 + 4) / 13  # one of two hands, none of three actions, ten by habit
    assert situation[5] == pytest.approx(entered)
    assert situation[6] == pytest.approx(raised)


# -- results of cases --------------------------------------------------------------------------------------------------


def test_won_stage_is_worth_what_the_others_put_in_and_a_lost_one_costs_the_investment():
    winner, loser = Casey(), Casey()
    line = "rfcc" + "rcc" + "ccc" + "ccc"  # seat 2 raises, seat 3 folds, the blinds call; the small blind bets the flop
    for bot, seat in ((winner, 0), (loser, 2)):
        play(bot, seat, line)
    base = winner.postflop_
    assert winner.preflop_.column("invested_sb").tolist() == [1.5]  # the half bet posted belongs to the pot
    assert winner.preflop_.column("stage_pot_sb").tolist() == [4.5]
    assert winner.case_results(base, np.array([1, 2])).tolist() == [0.0, 0.0]  # checked through
    assert base.column("invested_sb").tolist() == [1.0, 0.0, 0.0]
    assert base.column("result_sb").tolist() == [6.0, 6.0, 6.0]
    assert loser.preflop_.column("result_sb").tolist() == [-3.0]
    loser.preflop_.column("strategy")[:] = CALL_ANY
    assert loser.case_results(loser.preflop_, np.array([0])).tolist() == [-2.0]
    winner.preflop_.column("strategy")[:] = CALL_ANY
    assert winner.case_results(winner.preflop_, np.array([0])).tolist() == [4.5]


def test_bluff_that_is_called_has_not_worked_even_if_it_wins():
    bot = Casey()
    play(bot, 0, "ffrc" + "rc" + "cc" + "cc")
    play(bot, 0, "ffrc" + "rf")
    base = bot.postflop_
    base.column("strategy")[:] = BLUFF
    assert base.column("uncontested").tolist() == [0, 0, 0, 1]
    assert bot.case_results(base, np.array([0, 3])).tolist() == [-1.0, 0.0]  # the raiser got nothing more, but kept it
    base.column("strategy")[:] = SEMI_BLUFF
    assert bot.case_results(base, np.array([0, 3])).tolist() == [1.0, 0.0]


def test_other_results_count_the_whole_hand_or_what_folding_would_have_cost():
    line = "ffrc" + "rc" + "cc" + "cc"  # aces win 2 + 1 bets
    final, fold = Casey(results="final"), Casey(results="fold")
    for bot in (final, fold):
        play(bot, 0, line)
    assert final.case_results(final.postflop_, np.array([0])).tolist() == [3.0]
    assert fold.case_results(fold.postflop_, np.array([0])).tolist() == [5.0]  # and gets its own two bets back
    assert fold.case_results(fold.preflop_, np.array([0])).tolist() == [3.5]


# -- the generalised case ----------------------------------------------------------------------------------------------


def with_cases(bot, view, cases):
    """Retain cases of this very situation: (strategy, how many, share of the pot won); a bet each way."""
    vector = bot.situation(view)
    base = bot.postflop_ if view.betting.street else bot.preflop_
    for strategy, count, share in cases:
        for _ in range(count):
            uncontested = int(strategy == BLUFF and share == 1)
            known = {"strategy": strategy, "share": share, "uncontested": uncontested}
            base.retain(vector, dict.fromkeys(COLUMNS, 0) | {"invested_sb": 1, "stage_pot_sb": 2} | known)
    return base


def chosen(bot, view, n=40):
    """Strategies taken in repeated visits, without learning from them."""
    found = []
    for seed in range(n):
        bot.new_hand(view)
        bot.act(view, np.random.default_rng(seed))
        found.append(bot._pending[-1].strategy)
    return set(found)


def test_generalised_case_sums_results_by_strategy():
    bot, view = Casey(), hand("cccc/").view(0)
    base = with_cases(
        bot, view, [(CALL_ANY, 6, 1), (CALL_ANY, 4, 0), (RAISE_ANY, 3, 0.5), (BLUFF, 2, 1), (GIVE_UP, 9, 0)]
    )
    general = bot.generalise(base, bot.situation(view))
    assert general.counts.tolist() == [0, 2, 10, 0, 3, 0]
    assert general.totals_sb.tolist() == [0.0, 4.0, 8.0, 0.0, 1.5, 0.0]
    assert general.wins.tolist() == [0, 2, 6, 0, 3, 0]
    assert general.n_plays == 13
    assert general.mean_sb(CALL_ANY) == pytest.approx(8 / 14)
    assert general.best_play() == CALL_ANY


def test_best_play_never_is_a_bluff():
    totals = np.array([50.0, 100.0, -1.0, -2.0, -3.0, -4.0])
    general = GeneralCase(totals, np.full(6, 10), np.zeros(6, dtype=np.int64))
    assert general.best_play() == CALL_ANY
    assert set(PLAYS) == {CALL_ANY, SEMI_BLUFF, RAISE_ANY, CHECK_RAISE}


def test_at_most_a_hundred_cases_are_summed_up():
    bot, view = Casey(), hand("cccc/").view(0)
    base = with_cases(bot, view, [(CALL_ANY, 80, 0), (RAISE_ANY, 70, 1)])
    assert bot.generalise(base, bot.situation(view)).counts.tolist() == [0, 0, 30, 0, 70, 0]


# -- decisions ---------------------------------------------------------------------------------------------------------


def test_new_situation_is_played_at_random_and_never_folded():
    view = hand("rr").view(0)
    assert chosen(Casey(), view, 80) == {BLUFF, CALL_ANY, SEMI_BLUFF, RAISE_ANY, CHECK_RAISE}
    bot = Casey()
    with_cases(bot, view, [(CALL_ANY, 19, 0)])
    assert GIVE_UP not in chosen(bot, view)
    with_cases(bot, view, [(CALL_ANY, 1, 0)])
    assert chosen(bot, view) == {GIVE_UP}


def test_familiar_profitable_situation_is_played_by_its_best_strategy():
    bot, view = Casey(), hand("cccc/").view(0)
    with_cases(bot, view, [(CALL_ANY, 20, 0.4), (RAISE_ANY, 20, 0.6), (CHECK_RAISE, 20, 0), (BLUFF, 10, 1)])
    assert chosen(bot, view) == {RAISE_ANY}


def test_bluff_is_tried_sometimes_where_no_play_pays_and_bluffs_did():
    bot, view = Casey(), hand("cccc/").view(0)
    with_cases(bot, view, [(CALL_ANY, 40, 0), (BLUFF, 10, 1)])
    assert chosen(bot, view) == {BLUFF, GIVE_UP}
    never = Casey(p_bluff=0.0)
    with_cases(never, view, [(CALL_ANY, 40, 0), (BLUFF, 10, 1)])
    assert chosen(never, view) == {GIVE_UP}


def test_folds_do_not_crowd_out_what_was_played():
    bot, view = Casey(), hand("cccc/").view(0)
    with_cases(bot, view, [(CALL_ANY, 40, 0), (GIVE_UP, 500, 0)])
    assert chosen(bot, view) == {GIVE_UP}


def test_cases_of_another_number_of_bets_say_nothing():
    bot = Casey()
    with_cases(bot, hand("cccc/").view(0), [(CALL_ANY, 40, 0)])
    assert GIVE_UP not in chosen(bot, hand("cccc/rr").view(2))


# -- memory and learning -----------------------------------------------------------------------------------------------


def test_saved_memory_plays_on_alike(tmp_path):
    session = play_session(["casey", "random", "random"], 200, 3)
    bot = session.players[0]
    bot.save_memory(tmp_path / "casey.npz")
    again = Casey(memory=str(tmp_path / "casey.npz"))
    assert again.hands_ == bot.hands_ == 200
    assert len(again.preflop_) == len(bot.preflop_) > 150
    view = hand("r").view(3)
    vector = bot.situation(view)
    assert np.array_equal(bot.generalise(bot.preflop_, vector).counts, again.generalise(again.preflop_, vector).counts)


def test_memory_with_other_features_is_refused(tmp_path):
    play_session(["casey", "random"], 20, 3).players[0].save_memory(tmp_path / "casey.npz")
    with pytest.raises(BotError, match=r"expected cases with columns .*pot_odds"):
        Casey(pot_odds=True).load_memory(tmp_path / "casey.npz")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"results": "luck"}, "expected results of stage, final, fold, got 'luck'"),
        ({"min_cases": 101}, "expected 1 <= min_cases <= max_cases"),
        ({"threshold": 120.0}, "from 0 to 100"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(BotError, match=message):
        Casey(**options)


def test_every_street_played_becomes_a_case():
    bot = play_session(["casey", "always_call", "always_call"], 50, 1).players[0]
    assert len(bot.preflop_) == 50
    assert set(bot.postflop_.column("stage").tolist()) == {1, 2, 3}


@pytest.mark.parametrize("n_seats", [2, 10])
def test_tables_of_all_sizes_are_played(n_seats):
    session = play_session(["casey"] * n_seats, 12, 1, rules=ring(n_seats, five_bets=True))
    for bot in session.players:
        vectors = np.concatenate([bot.preflop_.vectors.ravel(), bot.postflop_.vectors.ravel()])
        assert bot.hands_ == 12
        assert 0.0 <= vectors.min() <= vectors.max() <= 1.0


def test_casey_beats_random():
    session = play_session(["casey", "random", "random", "random"], 1_000, 1)
    late = session.mean_sb(0, 300)
    assert late.mean - late.half_width > 0.5
