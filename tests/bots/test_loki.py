"""Loki: its triples, its simulation against plain arithmetic, its switches and the paper's experiment in small."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.arena.experiments import ENHANCEMENTS, loki_experiment
from hardbot.arena.match import play_match
from hardbot.arena.ring import play_ring
from hardbot.bots import loki as module
from hardbot.bots.loki import Loki, looseness, pair_weights
from hardbot.bots.loki_kernels import N_PAIRS, pair_counts, quick_strength
from hardbot.bots.poki_kernels import board_tables, postflop_triple
from hardbot.errors import ArenaError, BotError
from hardbot.game.betting import Betting, parse_betting
from hardbot.game.cards import HOLE_CARDS, N_HOLES, compatible_holes, hole_index, parse_board, parse_hole
from hardbot.game.features import all_hands
from hardbot.game.hand import View
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE, ring


def seated(bot: Loki, line: str, hole: str, board: str = "") -> View:
    """A bot that has watched nothing but sits at the end of a betting line."""
    end = parse_betting(HEADS_UP, line)
    view = View(HEADS_UP, end.seat, 0, parse_hole(hole), ("a", "b"), end, parse_board(board))
    bot.new_hand(view)
    return view


def board_strengths(board: str) -> np.ndarray:
    """HS of all hands as the play-outs read it off the rank pairs, against uniform hands."""
    cards = np.array(parse_board(board), dtype=np.uint8)
    by_pair = np.empty(169, dtype=np.uint16)
    ranks, counts = np.empty(N_PAIRS, dtype=np.int64), np.empty(N_PAIRS, dtype=np.int64)
    suit, mask, needed = board_tables(cards, by_pair)
    total = pair_counts(cards, by_pair, np.full(169, 1000), ranks, counts)
    strengths = np.full(N_HOLES, np.nan)
    for hole in np.flatnonzero(compatible_holes(parse_board(board))):
        a, b = (int(card) for card in HOLE_CARDS[hole])
        strengths[hole] = quick_strength(a, b, len(cards), by_pair, ranks, counts, total, suit, mask, needed)
    return strengths


@pytest.mark.parametrize("board", ["Jh4c3h", "Jh4c3s9d", "Ah9h4h", "Th8h3cQd2h", "Kh9h4h2h7s", "8h8d5s5cQh"])
def test_quick_strength_is_near_the_exact_one(board):
    exact = all_hands(parse_board(board)).values[:, 0]
    possible = ~np.isnan(exact)
    error = board_strengths(board)[possible] - exact[possible]
    assert float(np.sqrt(np.mean(error**2))) < 0.03
    assert float(np.abs(error).max()) < 0.15


def test_triples_are_probabilities_everywhere():
    rng = np.random.default_rng(4)
    for _ in range(2000):
        to_call = 10.0 * rng.integers(0, 3)
        flags = rng.random(4) < 0.5
        street = int(rng.integers(1, 4))
        shift = rng.uniform(-0.5, 0.5, size=2)
        p = postflop_triple(
            rng.random(),
            rng.random() / 2,
            street,
            to_call,
            10.0,
            40.0,
            *(bool(f) for f in flags),
            0.1,
            0.1,
            0.05,
            *shift,
        )
        assert min(p) >= -1e-12
        assert sum(p) == pytest.approx(1.0)
        assert to_call or p[FOLD] == 0.0


def test_nuts_on_the_river_are_worth_the_pot_at_least():
    bot, rng = Loki(), np.random.default_rng(1)
    view = seated(bot, "rc/cc/cc/", "AhKh", "QhJhTh2c3d")
    call_sb, raise_sb = bot.expectations(view, rng)
    assert call_sb >= 4.0  # the pot, checked down or more
    assert raise_sb >= 4.0
    assert bot.act(view, rng) in (CALL, RAISE)


def test_board_that_plays_for_everybody_splits_the_pot():
    bot, rng = Loki(generic=False, specific=False), np.random.default_rng(1)
    view = seated(bot, "rc/cc/cc/rrrr", "2c3d", "AhKhQhJhTh")
    share = (view.betting.pot + view.betting.to_call) / 2 - view.betting.to_call
    assert bot.expectations(view, rng)[0] == pytest.approx(share / 10.0)
    view = seated(bot, "rc/cc/cc/rrrr", "2c3d", "AcAdKcKd9s")  # most hands do better than the nine
    assert bot.expectations(view, rng)[0] < share / 10.0


def test_fold_when_both_means_are_negative_and_check_when_it_is_free():
    rng = np.random.default_rng(1)
    bot = Loki(generic=False, specific=False)
    assert bot.act(seated(bot, "rrc/rrc/rrc/r", "3h2d", "AcKdQsJh9c"), rng) == FOLD
    for line in ("cc/", "rc/cc/cc/"):
        assert bot.act(seated(bot, line, "3h2d", "AcKdQsJh9c"[: 6 if line == "cc/" else 10]), rng) != FOLD


def test_near_equal_means_are_chosen_at_random_and_clear_ones_are_not(monkeypatch):
    bot, rng = Loki(), np.random.default_rng(1)
    view = seated(bot, "rc/cc/cc/", "AhKh", "QhJhTh2c3d")
    for means, expected in (
        ((1.0, 1.0 + module.NEAR_SB / 2), {CALL, RAISE}),
        ((1.0, 1.2), {RAISE}),
        ((1.2, 1.0), {CALL}),
        ((-1.2, -1.0), {RAISE}),  # folding is not possible when there is nothing to call
    ):
        monkeypatch.setattr(bot, "expectations", lambda view, rng, means=means: means)
        assert {bot.act(view, rng) for _ in range(40)} == expected


def test_more_trials_give_steadier_means():
    spread = []
    for trials in (100, 2000):
        bot = Loki(trials=trials)
        view = seated(bot, "cc/", "KhQd", "Kc8s3d")
        means = [bot.expectations(view, np.random.default_rng(seed))[0] for seed in range(12)]
        spread.append(float(np.std(means)))
    assert spread[1] < 0.6 * spread[0]


def test_trials_must_be_positive():
    with pytest.raises(BotError, match="at least 1 trial"):
        seated(Loki(trials=0), "", "AhAd")


def test_caller_of_a_raise_becomes_likelier_to_hold_playable_hands():
    bot = Loki(simulate=False, specific=False)
    before = parse_betting(HEADS_UP, "r")
    view = View(HEADS_UP, 1, 0, parse_hole("AhAd"), ("a", "b"), before)
    bot.new_hand(view)
    view.betting, view.board = before.after(CALL), parse_board("Kc8s3d")
    bot.observe(view, before, CALL)
    weights = bot.weights(view)[0]
    kings, trash = (float(weights[hole_index(*parse_hole(text))]) for text in ("KhQd", "7h2d"))
    assert kings > 2 * trash > 0.0
    assert float(weights.min()) > 0.0


def test_looseness_is_measured_from_the_default():
    assert looseness([0.5, 0.3, 0.2], 1) == pytest.approx((0.0, 0.0))
    assert looseness([0.0, 0.0, 1.0], 1) == pytest.approx((0.8, 0.5))


def test_pair_weights_favour_high_cards_and_are_symmetric():
    table = pair_weights(2).reshape(13, 13)
    assert np.array_equal(table, table.T)
    assert table[12, 12] == 1000 > table[5, 0]


@pytest.mark.parametrize(
    "switches", ["simulate=no", "simulate=no,generic=no,specific=no", "trials=20", "trials=20,generic=no"]
)
@pytest.mark.parametrize("n", [2, 3, 6, 10])
def test_loki_plays_every_table_size(n, switches):
    bots = [f"loki:{switches}", "random", "always_raise", f"loki:{switches}", "always_call"]
    found = play_ring([bots[seat % len(bots)] for seat in range(n)], 4, seed=n)
    assert found.deal_chips.sum(axis=1).tolist() == [0] * 4


def test_same_seed_gives_the_same_match():
    first, second = (play_match("loki:trials=50", "random", 10, 5).pair_chips for _ in range(2))
    assert np.array_equal(first, second)


def test_simulation_beats_the_plain_program():
    found = play_match("loki:specific=no,trials=100", "loki:simulate=no,generic=no,specific=no", 300, 3)
    assert found.sb_per_hand > 0.0


def test_experiment_reports_every_enhancement_with_an_interval():
    found = loki_experiment(10, 1, trials=5)
    assert [result.enhancement for result in found] == list(ENHANCEMENTS)
    for result in found:
        document = result.to_json()
        assert (document["deals"], document["hands"]) == (10, 100)
        assert result.ci95 > 0.0
    assert [result.to_json()["published"] for result in found][::3] == [[0.031, 0.019], None]


def test_experiment_refuses_what_it_cannot_play():
    with pytest.raises(ArenaError, match="multiple of 5"):
        loki_experiment(12)
    with pytest.raises(ArenaError, match="got luck"):
        loki_experiment(10, enhancements=["luck"])


def test_ten_players_are_simulated_within_the_rules():
    bot, rng = Loki(trials=50, preflop=10), np.random.default_rng(2)
    betting: Betting = parse_betting(ring(10), "")
    view = View(betting.rules, betting.seat, 0, parse_hole("AhAd"), tuple("abcdefghij"), betting)
    bot.new_hand(view)
    assert bot.act(view, rng) in betting.legal
    assert min(bot.expectations(view, rng)) > 0.0
