"""Scores against definitions written out: nats, bits, Poki's re-weighting, calibration."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from hardbot.game.cards import CLASS_TEXT, HOLE_CARDS, HOLE_CLASS, compatible_holes
from hardbot.game.feature_tables import FEATURE_COLUMNS, features_on_board
from hardbot.game.rules import BOARD_SIZES, CALL, FOLD, HEADS_UP, RAISE
from hardbot.game.tree import betting_tree
from hardbot.model.artifact import save_model
from hardbot.model.context import street_contexts
from hardbot.model.likelihood import ActionModel
from pipeline.dataset import TEST, Corpus, split
from pipeline.em import fit_model
from pipeline.range_score import POKI_DEFAULT, RangeScorer, poki_factor, preflop_percentile
from pipeline.score import Likelihoods, action_nats, range_scores, score_model
from pipeline.selection import fit_all_buckets
from pipeline.settings import ModelSettings


@pytest.fixture(scope="module")
def sides(training_corpus):
    return split(training_corpus)


@pytest.fixture(scope="module")
def model(training_corpus, sides):
    settings = ModelSettings()
    for street in (1, 2, 3):
        settings = settings.with_street(street, k=15, width=0.3)
    train = training_corpus.select(sides != TEST)
    return fit_model(train, fit_all_buckets(train, settings), settings).model


@pytest.fixture(scope="module")
def test_hands(training_corpus, sides) -> Corpus:
    return training_corpus.select(sides == TEST)


def position(corpus: Corpus, j: int):
    """Betting position of decision j."""
    contexts = street_contexts(int(corpus.street[j]))
    node = int(corpus.slot[j]) % contexts.n_nodes + contexts.first_node
    return betting_tree(HEADS_UP).nodes[node]


def board_at(corpus: Corpus, i: int, street: int) -> tuple[int, ...]:
    return tuple(int(card) for card in corpus.board[i, : BOARD_SIZES[street]])


def test_action_nats_are_what_the_table_would_say(model, test_hands):
    at_table = ActionModel(model)
    total = 0.0
    for j in range(test_hands.n_decisions):
        i = int(test_hands.hand[j])
        p = at_table.action_probabilities(position(test_hands, j), board_at(test_hands, i, int(test_hands.street[j])))
        total -= math.log(p[test_hands.hole[j], test_hands.action[j]])
    found = action_nats(Likelihoods(model), test_hands)["overall"]
    assert found["n"] == test_hands.n_decisions
    assert found["model"] == pytest.approx(total / test_hands.n_decisions, rel=1e-9)


def test_the_model_beats_both_baselines_on_every_street(model, test_hands):
    for street, row in action_nats(Likelihoods(model), test_hands).items():
        assert row["model"] < row["context"] < row["uniform"], street


def test_uniform_baseline_is_the_log_of_the_number_of_legal_actions(model, test_hands):
    wanted = np.mean([math.log(len(position(test_hands, j).legal)) for j in range(test_hands.n_decisions)])
    assert action_nats(Likelihoods(model), test_hands)["overall"]["uniform"] == pytest.approx(wanted)


def test_streets_add_up_to_the_whole(model, test_hands):
    rows = action_nats(Likelihoods(model), test_hands)
    parts = [rows[street] for street in ("preflop", "flop", "turn", "river")]
    assert sum(row["n"] for row in parts) == rows["overall"]["n"]
    whole = sum(row["model"] * row["n"] for row in parts) / rows["overall"]["n"]
    assert whole == pytest.approx(rows["overall"]["model"])


def test_censored_hands_have_no_action_nats(model, test_hands):
    assert score_model(model, test_hands.hide_folded(), max_hands=5)["action_nats"] is None


def test_public_nats_of_visible_hands_are_action_nats_plus_the_price_of_the_cards(model, test_hands):
    public = range_scores(model, test_hands)["public_nats"]
    plain = action_nats(Likelihoods(model), test_hands)
    for street in ("preflop", "flop", "turn", "river"):
        assert public[street]["model"] == pytest.approx(plain[street]["model"], rel=1e-9)
        assert public[street]["uniform"] == pytest.approx(plain[street]["uniform"], rel=1e-9)
    cards = public["overall"]["model"] - plain["overall"]["model"]
    assert cards == pytest.approx(public["cards"]["model"], rel=1e-6)
    n_board = (test_hands.board >= 0).sum(axis=1)
    pairs = {0: 1326 * 1225, 3: 1176 * 1081, 4: 1128 * 1035, 5: 1081 * 990}
    wanted = sum(math.log(pairs[int(n)]) for n in n_board) / test_hands.n_decisions
    assert cards == pytest.approx(wanted, rel=1e-6)


def test_public_nats_of_hidden_hands_sum_over_all_pairs(model, test_hands):
    hidden = test_hands.hide_folded()
    i = int(np.flatnonzero((hidden.holes < 0).all(axis=1) & (hidden.board[:, 2] >= 0))[0])
    one = hidden.select(np.arange(hidden.n_hands) == i)
    at_table = ActionModel(model)
    board = tuple(int(card) for card in one.board[0] if card >= 0)
    likelihood = np.tile(compatible_holes(board).astype(float), (2, 1))
    for j in range(one.n_decisions):
        p = at_table.action_probabilities(position(one, j), board[: BOARD_SIZES[int(one.street[j])]])
        likelihood[one.seat[j]] *= p[:, one.action[j]]
    overlap = (HOLE_CARDS[:, None, :, None] == HOLE_CARDS[None, :, None, :]).any(axis=(2, 3))
    free = compatible_holes(board)
    pairs = (free[:, None] & free[None, :] & ~overlap).sum()
    wanted = -math.log(float(likelihood[0] @ (~overlap) @ likelihood[1]) / int(pairs)) / one.n_decisions
    found = range_scores(model, one)["public_nats"]["overall"]
    assert found["model"] == pytest.approx(wanted, rel=1e-9)
    assert found["n"] == one.n_decisions


def test_range_bits_are_posterior_over_prior_with_the_observers_cards_removed(model, test_hands):
    i = int(np.flatnonzero(test_hands.board[:, 4] >= 0)[0])
    one = test_hands.select(np.arange(test_hands.n_hands) == i)
    at_table = ActionModel(model)
    board = tuple(int(card) for card in one.board[0])
    bits = []
    for seat in (0, 1):
        weights = compatible_holes((*board, *(int(card) for card in HOLE_CARDS[one.holes[0, 1 - seat]]))).astype(float)
        prior = 1.0 / weights.sum()
        for j in np.flatnonzero(one.seat == seat):
            p = at_table.action_probabilities(position(one, int(j)), board[: BOARD_SIZES[int(one.street[j])]])
            weights *= p[:, one.action[j]]
        bits.append(math.log2(weights[one.holes[0, seat]] / weights.sum() / prior))
    assert prior == pytest.approx(1 / 990)
    found = range_scores(model, one)["range_bits"]
    assert found["overall"]["model"] == pytest.approx(np.mean(bits), rel=1e-9)
    assert found["river"]["model"] == pytest.approx(np.mean(bits), rel=1e-9)
    assert found["overall"]["n"] == 2


def test_the_model_knows_more_about_hidden_cards_than_poki(model, test_hands):
    bits = range_scores(model, test_hands)["range_bits"]["overall"]
    assert bits["model"] > 0.1
    assert bits["model"] > bits["poki"]
    assert bits["model"] > bits["poki_observed"]


def test_poki_weights_are_the_published_formula():
    # one bet to call, raise: mu = .8, s = .08; call: mu = .5, s = .2
    strength = np.array([0.0, 0.70, 0.80, 0.85, 1.0])
    wanted = [0.01, 0.01, 0.5, 0.8125, 1.0]
    assert poki_factor(strength, RAISE, POKI_DEFAULT[1]) == pytest.approx(wanted)
    assert poki_factor(strength, CALL, POKI_DEFAULT[1]) == pytest.approx([0.01, 1.0, 1.0, 1.0, 1.0])
    assert poki_factor(np.array([0.5]), CALL, POKI_DEFAULT[1]) == pytest.approx([0.5])
    assert (poki_factor(strength, FOLD, POKI_DEFAULT[1]) == 1.0).all()
    # unbet, check: mu = 0, s = .4
    assert poki_factor(np.array([0.0, 0.2]), CALL, POKI_DEFAULT[0]) == pytest.approx([0.5, 0.75])


def test_poki_bits_follow_from_the_weights(model, test_hands):
    i = int(np.flatnonzero((test_hands.board[:, 2] >= 0) & (test_hands.board[:, 3] < 0))[0])
    one = test_hands.select(np.arange(test_hands.n_hands) == i)
    board = tuple(int(card) for card in one.board[0, :3])
    features = features_on_board(board)
    hs, ppot = (features[:, FEATURE_COLUMNS.index(name)].astype(float) for name in ("hs", "ppot"))
    strengths = {0: preflop_percentile(), 1: np.nan_to_num(hs + (1 - hs) * ppot)}
    bits = []
    for seat in (0, 1):
        weights = compatible_holes((*board, *(int(card) for card in HOLE_CARDS[one.holes[0, 1 - seat]]))).astype(float)
        prior = 1.0 / weights.sum()
        for j in np.flatnonzero(one.seat == seat):
            bet = int(FOLD in position(one, int(j)).legal)
            weights *= poki_factor(strengths[int(one.street[j])], int(one.action[j]), POKI_DEFAULT[bet])
        bits.append(math.log2(weights[one.holes[0, seat]] / weights.sum() / prior))
    assert range_scores(model, one)["range_bits"]["overall"]["poki"] == pytest.approx(np.mean(bits), rel=1e-9)


def test_preflop_percentile_orders_aces_first_and_averages_a_half():
    percentile = preflop_percentile()
    assert percentile.mean() == pytest.approx(0.5, abs=1e-6)
    assert CLASS_TEXT[HOLE_CLASS[percentile.argmax()]] == "AA"
    assert CLASS_TEXT[HOLE_CLASS[percentile.argmin()]] == "32o"


def test_calibration_is_flat_when_the_posterior_is_right(model):
    rng = np.random.default_rng(4)
    scorer = RangeScorer(model)
    posterior = rng.dirichlet(np.full(1326, 0.3))
    for hole in rng.choice(1326, 4000, p=posterior):
        scorer._add_level(posterior, int(hole))
    share = scorer.scores.bins / scorer.scores.bins.sum()
    assert share == pytest.approx(np.full(10, 0.1), abs=0.02)


def test_calibration_shows_a_posterior_that_is_too_sure(model):
    rng = np.random.default_rng(4)
    scorer = RangeScorer(model)
    truth = rng.dirichlet(np.full(1326, 0.5))
    sharp = truth**2 / (truth**2).sum()
    for hole in rng.choice(1326, 2000, p=truth):
        scorer._add_level(sharp, int(hole))
    share = scorer.scores.bins / scorer.scores.bins.sum()
    assert share[-1] > 0.2


def test_a_hand_in_a_tie_is_spread_over_its_span(model):
    scorer = RangeScorer(model)
    scorer._add_level(np.full(1326, 1 / 1326), 17)
    assert scorer.scores.bins == pytest.approx(np.full(10, 0.1))


def test_the_posterior_of_the_model_is_calibrated(model, test_hands):
    share = range_scores(model, test_hands)["calibration"]["observed"]
    assert sum(share) == pytest.approx(1.0)
    assert max(share) < 0.2
    assert min(share) > 0.03


def test_only_the_asked_number_of_hands_is_ranged(model, test_hands):
    report = range_scores(model, test_hands, max_hands=7)
    assert report["range_hands"] == 7
    assert report["range_bits"]["overall"]["n"] == 14


def test_the_command_scores_histories_with_a_model(model, training_logs, tmp_path):
    save_model(replace(model, manifest={"n_hands": 5}), tmp_path / "m")
    command = [sys.executable, "-m", "hardbot.cli", "score", "--model", str(tmp_path / "m"), "--max-hands", "20"]
    done = subprocess.run(
        [*command, str(training_logs[0]), "--json"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["hands"] == report["hands_all_cards"] == 800
    assert report["action_nats"]["overall"]["model"] < report["action_nats"]["overall"]["uniform"]
    assert set(report["range_bits"]["overall"]) == {"model", "poki", "poki_observed", "n"}
    assert len(report["calibration"]["observed"]) == 10


def test_the_command_says_in_one_line_that_there_is_no_model(training_logs, tmp_path):
    command = [sys.executable, "-m", "hardbot.cli", "score", "--model", str(tmp_path), str(training_logs[0])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "manifest.json" in done.stderr
