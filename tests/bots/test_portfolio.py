"""The portfolio: habits from counts, answers that win, and the right answer for the opponent at the table."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hardbot.arena.match import play_match
from hardbot.bots.hardbot import HardBot, follow
from hardbot.bots.portfolio import Portfolio, Watch, load_portfolio
from hardbot.bots.simple import AlwaysCall
from hardbot.errors import StrategyError
from hardbot.game.betting import parse_betting
from hardbot.game.cards import parse_board, parse_hole
from hardbot.game.notation import parse_match_state
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE
from hardbot.model.context import street_contexts
from hardbot.solver.abstraction import bucket_tables, make_abstraction
from hardbot.solver.rivals import bucket_kernel, empty_counts, exact_habits, fit_habits, respond
from hardbot.solver.rounds import N_CHOICES, N_STARTS
from hardbot.solver.strategy import Strategy, load_strategy, probabilities
from pipeline.rivals import build_portfolio

TYPES = ("always_call", "always_raise")


@pytest.fixture(scope="module")
def base() -> Strategy:
    """Every choice equally likely, over starting classes and twenty river buckets: small and quick."""
    abstraction = make_abstraction(0, 0, 20)
    parts = [np.ones((N_STARTS[s], 2, abstraction.sizes[s], N_CHOICES), dtype=np.uint8) for s in range(4)]
    return Strategy(abstraction, (parts[0], parts[1], parts[2], parts[3]))


@pytest.fixture(scope="module")
def folder(base, tmp_path_factory):
    path = tmp_path_factory.mktemp("portfolio")
    build_portfolio(path, base, players=(), types=TYPES, n_boards=150, value_pairs=500)
    return path


def all_call_counts(base: Strategy, n: float):
    counts = empty_counts(base.abstraction)
    for part in counts:
        part[:, :, CALL] = n
    return counts


def test_habits_follow_the_counts_where_there_are_many(base):
    habits = fit_habits(all_call_counts(base, 100.0), base)
    for street in range(4):
        rows = probabilities(habits, street)
        assert rows.max() == 1.0
        calls = rows[:, 1, :, 0] if street else rows[:, 1, :, 1]  # button: check when unbet, call first preflop
        assert calls.min() > 0.9


def test_habits_are_the_base_strategy_where_nothing_was_seen(base):
    habits = fit_habits(empty_counts(base.abstraction), base)
    for street in range(4):
        assert probabilities(habits, street) == pytest.approx(probabilities(base, street), abs=0.05)


def test_neighbouring_buckets_lend_each_other_counts(base):
    counts = empty_counts(base.abstraction)
    may_raise = street_contexts(3).legal[: len(counts[3]), RAISE]
    counts[3][may_raise, 19, RAISE] = 50.0
    counts[3][:, 0, CALL] = 50.0
    kernel = bucket_kernel(base.abstraction, 3, 0.03)
    assert np.diag(kernel) == pytest.approx(np.ones(20))
    assert kernel[0, 1] > kernel[0, 5] > 0.0
    rows = probabilities(fit_habits(counts, base), 3)
    assert rows[0, 0, 18, 1] > rows[0, 0, 1, 1]  # bets more with the second-best bucket than with the second-worst


def test_answer_to_always_call_wins_nearly_all_there_is_to_win(base, folder):
    result = play_match(f"sparbot:strategy={folder / 'always_call' / 'answer'}", "always_call", 3_000, seed=5)
    assert result.sb_per_hand - result.ci95 > 0.6  # exact ceiling 1.163; these buckets do not see flop and turn


def test_exact_habits_are_the_bot(base):
    habits = exact_habits(AlwaysCall().table_policy(), base)
    assert (probabilities(habits, 1)[:, :, :, 0] == 1.0).all()


def test_answers_need_the_same_buckets(base):
    other = make_abstraction(0, 0, 10)
    parts = [np.ones((N_STARTS[s], 2, other.sizes[s], N_CHOICES), dtype=np.uint8) for s in range(4)]
    with pytest.raises(StrategyError, match="same buckets"):
        respond(Strategy(other, (parts[0], parts[1], parts[2], parts[3])), base, bucket_tables(base.abstraction), 1)


def learn_calls(watch: Watch, n: int) -> None:
    board = parse_board("Jh4c3h9d2s")
    steps = [(parse_betting(HEADS_UP, text), CALL) for text in ("", "cc/r", "cc/rc/r", "cc/rc/rc/r")]
    for _ in range(n):
        watch.learn(steps, parse_hole("AhKd"), board, parse_hole("7s2c"))


def test_opponent_is_recognised_by_its_actions(folder):
    watch = Watch(load_portfolio(folder))
    assert watch.p_stranger == pytest.approx(0.25)
    learn_calls(watch, 5)
    name, p, _ = watch.summary()[0]
    assert (name, p > 0.95) == ("always_call", True)
    assert watch.portfolio.rivals[watch.choose()].name == "always_call"


def fold_every_other_river(watch: Watch, n: int) -> None:
    """Neither always_call nor always_raise nor the dice."""
    board = parse_board("Jh4c3h9d2s")
    texts = ("", "cc/r", "cc/rc/r", "cc/rc/rc/r")
    for number in range(n):
        steps = [(parse_betting(HEADS_UP, text), CALL) for text in texts[:3]]
        steps.append((parse_betting(HEADS_UP, texts[3]), (FOLD, CALL)[number % 2]))
        watch.learn(steps, parse_hole("AhKd"), board, None)


def test_somebody_who_plays_like_no_rival_is_a_stranger_with_an_answer_of_his_own(folder):
    watch = Watch(load_portfolio(folder))
    watch.stranger.seed = 1
    fold_every_other_river(watch, 60)
    assert watch.summary()[0][0] == "stranger"
    assert watch.stranger.is_ready
    assert watch.name_of(watch.learned) == "learned answer"
    assert sum(watch.triple(watch.learned, parse_betting(HEADS_UP, ""), parse_hole("AhKd"), ())) == pytest.approx(1.0)


def test_without_a_seed_nothing_is_learned_at_the_table(folder):
    watch = Watch(load_portfolio(folder))
    fold_every_other_river(watch, 20)
    assert watch.stranger.responder is None
    assert watch.worths[watch.learned] < watch.worths[0]
    assert np.isfinite([worth for _, _, worth in watch.summary()]).all()
    assert watch.choose() != watch.learned


def test_good_luck_makes_no_answer_better(folder):
    watch = Watch(load_portfolio(folder))
    before = watch.worths
    for _ in range(50):
        watch.settle(1, 10.0)
    assert watch.worths == pytest.approx(before)


def test_adaptive_rival_is_met_with_the_equilibrium(base, tmp_path):
    manifest = build_portfolio(
        tmp_path, base, players=(), types=("random",), adaptive=("random",), n_boards=5, value_pairs=50
    )
    assert manifest["adaptive"] == ["random"]
    assert manifest["values"][1][1] < manifest["values"][0][1]
    assert not (tmp_path / "random" / "answer").exists()
    portfolio = load_portfolio(tmp_path)
    assert np.array_equal(portfolio.rivals[1].answer, portfolio.rivals[0].answer)
    assert portfolio.head_start[1] > portfolio.head_start[0] == 0.0


def test_answer_that_loses_is_given_up(folder):
    watch = Watch(load_portfolio(folder))
    learn_calls(watch, 5)
    chosen = watch.choose()
    for _ in range(2_000):
        watch.settle(chosen, -1.5)
    assert watch.choose() != chosen


def test_evidence_fades_so_that_a_change_of_style_is_noticed(folder):
    watch = Watch(load_portfolio(folder))
    learn_calls(watch, 50)
    lead = watch.evidence.max() - watch.evidence.min()
    for _ in range(1_000):
        watch.learn([], parse_hole("AhKd"), (), None)
    assert watch.evidence.max() - watch.evidence.min() < 0.5 * lead


def test_rivals_can_be_left_out(folder):
    portfolio: Portfolio = load_portfolio(folder).without(["always_call"])
    assert [rival.name for rival in portfolio.rivals] == ["sparbot", "always_raise"]
    assert portfolio.values.shape == (2, 2)
    assert len(portfolio.habits) == 2


def test_hardbot_finds_the_answer_at_the_table(folder):
    result = play_match(f"hardbot:portfolio={folder}", "always_call", 250, seed=2, block=250)
    assert result.sb_per_hand > 0.4
    bot = HardBot(portfolio=str(folder))
    bot.keeps_reasons = True
    view = follow(bot, parse_match_state("MATCHSTATE:0:0:rc/cr:AhKd|/Jh4c3h", HEADS_UP))
    assert sum(bot.decide(view).triple) == pytest.approx(1.0)
    reasons = bot.explain()
    assert reasons.rule == "equilibrium" or reasons.rule.startswith("answer to ")
    assert {name for name, _, _ in reasons.rivals} == {"sparbot", "stranger", *TYPES}
    assert "hs" in reasons.figures


def test_build_goes_on_where_it_was(base, folder):
    before = load_strategy(folder / "always_call" / "answer").strategy_id
    (folder / "always_raise" / "answer" / "manifest.json").unlink()
    manifest = build_portfolio(folder, base, players=(), types=TYPES, n_boards=20, value_pairs=100)
    assert load_strategy(folder / "always_call" / "answer").strategy_id == before
    assert manifest["rivals"] == ["sparbot", *TYPES]


def test_damaged_portfolio_is_one_clear_error(folder, tmp_path):
    with pytest.raises(StrategyError, match=r"manifest\.json"):
        load_portfolio(tmp_path)
    document = json.loads((folder / "manifest.json").read_text())
    document["values"] = [[0.0]]
    (tmp_path / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(StrategyError, match="square table"):
        load_portfolio(tmp_path)
