"""A hand with an answer: as the answer plays before the turn, by looking ahead from there on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hardbot.arena.match import play_match
from hardbot.bots.foresight import Foresight
from hardbot.bots.portfolio import Watch, load_portfolio
from hardbot.game.betting import parse_betting
from hardbot.game.cards import parse_board, parse_hole
from hardbot.game.hand import View
from hardbot.game.preflop import CLASS_EQUITY
from hardbot.game.rules import BOARD_SIZES, CALL, HEADS_UP, RAISE
from hardbot.game.tree import betting_tree
from hardbot.solver.abstraction import make_abstraction
from hardbot.solver.rounds import N_CHOICES, N_STARTS
from hardbot.solver.strategy import Strategy
from pipeline.rivals import build_portfolio

BOARD = parse_board("Jh4c3h9d2s")
TEXTS = ("", "cc/r", "cc/rc/r", "cc/rc/rc/r")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The equilibrium is a player of equal chances over coarse buckets; two rivals that look at no cards."""
    abstraction = make_abstraction(0, 0, 20)
    parts = [np.ones((N_STARTS[s], 2, abstraction.sizes[s], N_CHOICES), dtype=np.uint8) for s in range(4)]
    path = tmp_path_factory.mktemp("portfolio")
    base = Strategy(abstraction, (parts[0], parts[1], parts[2], parts[3]))
    build_portfolio(path, base, players=(), types=("always_call", "always_raise"), n_boards=150, value_pairs=500)
    return path


def watch_of(folder, action: int, n_hands: int = 8, *, unseen: tuple[str, ...] = ()) -> Watch:
    """Somebody who did the same at every decision of some hands."""
    betting_tree(HEADS_UP)
    watch = Watch(load_portfolio(folder).without(unseen))
    steps = [(parse_betting(HEADS_UP, text), action) for text in TEXTS]
    for _ in range(n_hands):
        watch.learn(steps, parse_hole("AhKd"), BOARD, parse_hole("7s2c"))
    return watch


def view_of(text: str, hole: str) -> View:
    betting = parse_betting(HEADS_UP, text)
    board = BOARD[: BOARD_SIZES[betting.street]]
    return View(HEADS_UP, betting.seat, 0, parse_hole(hole), ("us", "him"), betting, board)


def test_answer_plays_itself_before_the_turn(folder):
    watch = watch_of(folder, CALL)
    for text in ("", "cc/"):
        view = view_of(text, "AhKd")
        play = Foresight(watch)
        assert play.name == "answer to always_call"
        choice = play.choose(view, [])
        assert choice.triple == watch.triple(play.answer, view.betting, view.hole, view.board)
        assert choice.rule == "answer to always_call"


@pytest.mark.parametrize(("hole", "action"), [("JsJd", RAISE), ("7h6h", CALL)])
def test_caller_is_bet_into_with_the_best_hand_and_checked_to_with_the_worst(folder, hole, action):
    play = Foresight(watch_of(folder, CALL))
    for text in ("cc/cc/", "cc/cc/cc/"):
        choice = play.choose(view_of(text, hole), [])
        assert choice.rule == "answer to always_call, looking ahead"
        assert choice.triple[action] == 1.0


def test_worth_of_the_river_is_what_a_caller_pays(folder):
    """Against somebody who calls with anything a bet of the nuts is worth one bet more than a check."""
    view = view_of("cc/cc/cc/", "5s6s")  # 2-3-4-5-6: the best hand there is
    watch = watch_of(folder, CALL)
    worth = Foresight(watch).worth(view, [], watch.habits_to_read(watch.choose()))
    assert worth == pytest.approx([-np.inf, 1.0, 3.0], abs=0.05)


def test_what_he_did_before_is_in_his_range(folder):
    """Who raises before the flop with the best hands only has them on the river as well."""
    watch = watch_of(folder, CALL)
    habits = watch.habits_to_read(watch.choose()).copy()
    first = parse_betting(HEADS_UP, "")
    row = int(watch.portfolio.offsets[first.index])
    habits[row : row + 169] = np.where(CLASS_EQUITY[:, None] > 0.6, (0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
    view = view_of("rc/cc/cc/", "8s8d")
    with_any, with_good = (Foresight(watch).worth(view, steps, habits)[CALL] for steps in ([], [(first, RAISE)]))
    assert with_good < with_any - 0.2


def test_equilibrium_is_met_as_somebody_known_only_if_it_is(folder):
    def meet(unseen=()) -> Foresight:
        watch = Watch(load_portfolio(folder).without(unseen))
        watch.evidence[0] = 30.0
        return Foresight(watch)

    view = view_of("cc/cc/cc/", "JsJd")
    known, unknown = meet().choose(view, []), meet(("sparbot",)).choose(view, [])
    assert known.rule.endswith("looking ahead")
    assert known.triple[RAISE] == 1.0
    assert "looking ahead" not in unknown.rule


def test_who_learns_is_not_read_by_old_habits(folder):
    watch = watch_of(folder, CALL)
    assert watch.habits_to_read(watch.choose()) is not None
    watch.portfolio = replace(watch.portfolio, head_start=np.ones(3))
    assert watch.habits_to_read(watch.choose()) is None


def test_looking_ahead_can_be_switched_off(folder):
    choice = Foresight(watch_of(folder, CALL), looks=False).choose(view_of("cc/cc/cc/", "JsJd"), [])
    assert choice.rule == "answer to always_call"


def test_looking_ahead_wins_more_than_the_answer_alone(folder):
    """The buckets of this portfolio do not see flop and turn, so there is much to gain on the turn."""
    looking, blind = (
        play_match(f"hardbot:portfolio={folder}{option}", "always_call", 400, seed=2, block=200).sb_per_hand
        for option in ("", ",look=no")
    )
    assert looking > blind + 0.05
