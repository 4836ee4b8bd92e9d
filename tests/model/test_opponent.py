"""The opponent term: nothing before the first observation, then what this opponent really does."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hardbot.errors import ModelError
from hardbot.game.betting import parse_betting
from hardbot.game.cards import N_HOLES
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE
from hardbot.model.opponent import N_DECILES, N_PSEUDO, OpponentModel, load_memory, save_memory, situation_features

FACING_BET = parse_betting(HEADS_UP, "cc/r")
UNBET = parse_betting(HEADS_UP, "cc/")
P_CORPUS = np.array([0.3, 0.5, 0.2])
DECILES = (np.arange(N_HOLES) * N_DECILES // N_HOLES).astype(np.int8)


def likelihoods(seed: int = 0) -> np.ndarray:
    table = np.random.default_rng(seed).random((N_HOLES, 3)) + 0.05
    return table / table.sum(axis=1, keepdims=True)


def seen(model: OpponentModel, action: int, times: int, betting=FACING_BET, hand: int | None = None) -> None:
    final = np.full(N_HOLES, 1.0 / N_HOLES)
    if hand is not None:
        final = np.zeros(N_HOLES)
        final[hand] = 1.0
    for _ in range(times):
        model.observe(betting, action, DECILES)
        model.end_hand(final)


def test_without_observations_the_corpus_model_stands_to_the_last_digit():
    table = likelihoods()
    adjusted = OpponentModel().adjust(FACING_BET, table, P_CORPUS, DECILES)
    assert np.abs(adjusted - table).max() < 1e-12
    assert np.abs(OpponentModel().predict(FACING_BET, P_CORPUS) - P_CORPUS).max() < 1e-12


def test_adjusted_rows_are_distributions_over_legal_actions():
    model = OpponentModel()
    seen(model, RAISE, 5)
    table = likelihoods()
    table[:, FOLD] = 0.0
    table /= table.sum(axis=1, keepdims=True)
    adjusted = model.adjust(UNBET, table, np.array([0.0, 0.6, 0.4]), DECILES)
    assert adjusted.sum(axis=1) == pytest.approx(np.ones(N_HOLES))
    assert (adjusted[:, FOLD] == 0.0).all()


@pytest.mark.parametrize("action", [FOLD, CALL, RAISE])
def test_prediction_goes_to_what_the_opponent_always_does(action):
    model = OpponentModel()
    before = model.predict(FACING_BET, P_CORPUS)[action]
    seen(model, action, 10)
    after_10 = model.predict(FACING_BET, P_CORPUS)[action]
    seen(model, action, 190)
    after_200 = model.predict(FACING_BET, P_CORPUS)[action]
    assert before < after_10 < after_200
    assert after_200 > 0.95


def test_exact_situation_alone_has_six_pseudo_observations():
    model = OpponentModel(use_naive_bayes=False, use_hands=False, decay=1.0)
    seen(model, RAISE, 4)
    wanted = (np.array([0.0, 0.0, 4.0]) + N_PSEUDO * P_CORPUS) / (4.0 + N_PSEUDO)
    assert model.predict(FACING_BET, P_CORPUS) == pytest.approx(wanted)


def test_shown_hand_teaches_the_decile_it_lies_in_more_than_others():
    model = OpponentModel(use_naive_bayes=False, use_situations=False)
    weak, strong = 3, N_HOLES - 3
    seen(model, FOLD, 60, hand=weak)
    seen(model, RAISE, 60, hand=strong)
    table = np.tile(P_CORPUS, (N_HOLES, 1))
    adjusted = model.adjust(FACING_BET, table, P_CORPUS, DECILES)
    assert adjusted[weak, FOLD] > 0.8
    assert adjusted[strong, RAISE] > 0.8
    assert adjusted[N_HOLES // 2] == pytest.approx(P_CORPUS)


def test_recent_behaviour_weighs_more():
    model = OpponentModel(decay=0.9)
    seen(model, FOLD, 100)
    seen(model, RAISE, 30)
    assert model.predict(FACING_BET, P_CORPUS)[RAISE] > 0.6


def test_situations_without_and_with_a_bet_are_kept_apart():
    assert not set(situation_features(UNBET)) & set(situation_features(FACING_BET))


def test_memory_comes_back_from_its_file(tmp_path):
    model = OpponentModel()
    seen(model, RAISE, 20)
    save_memory(tmp_path / "memory.json", {"villain": model})
    again = load_memory(tmp_path / "memory.json")["villain"]
    table = likelihoods()
    wanted = model.adjust(FACING_BET, table, P_CORPUS, DECILES)
    assert again.adjust(FACING_BET, table, P_CORPUS, DECILES) == pytest.approx(wanted)
    assert again.n_hands == pytest.approx(20.0)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"opponents": {"x": {"schema": 99}}}', '{"opponents": {"x": {"schema": 1}}}']
)
def test_damaged_memory_is_one_clear_error(tmp_path, text):
    path = tmp_path / "memory.json"
    path.write_text(text)
    with pytest.raises(ModelError, match=r"memory\.json|opponent memory"):
        load_memory(path)


def test_memory_of_wrong_shape_is_refused(tmp_path):
    model = OpponentModel()
    document = model.to_json()
    document["strength"] = [[0.0]]
    path = tmp_path / "memory.json"
    path.write_text(json.dumps({"schema": 1, "opponents": {"x": document}}))
    with pytest.raises(ModelError, match="strength counts"):
        load_memory(path)


def test_money_put_in_per_hand_tells_a_caller_from_a_folder(tmp_path):
    loose, tight = OpponentModel(), OpponentModel()
    assert loose.invests_sb is None
    seen(loose, CALL, 10)  # "cc/r" called: one small bet before the flop and one on it
    seen(tight, FOLD, 10)
    assert loose.invests_sb == pytest.approx(2.0)
    assert tight.invests_sb == pytest.approx(1.0)
    save_memory(tmp_path / "memory.json", {"loose": loose})
    assert json.loads((tmp_path / "memory.json").read_text())["opponents"]["loose"]["invests_sb"] == pytest.approx(2.0)
    assert load_memory(tmp_path / "memory.json")["loose"].invests_sb == pytest.approx(2.0)


def test_memory_written_before_money_was_counted_is_still_read():
    document = OpponentModel().to_json()
    del document["invested"], document["invests_sb"]
    assert OpponentModel.from_json(document, "an older file").invests_sb is None


def test_features_that_say_the_same_are_not_taken_for_six_proofs():
    careful, paper = OpponentModel(use_situations=False), OpponentModel(use_situations=False, feature_weight=1.0)
    for model in (careful, paper):
        seen(model, FOLD, 3)
        seen(model, RAISE, 3, betting=parse_betting(HEADS_UP, "cc/cr"))
    here = parse_betting(HEADS_UP, "cc/r")
    folds = [model.predict(here, P_CORPUS)[FOLD] for model in (careful, paper)]
    assert P_CORPUS[FOLD] < folds[0] < folds[1]
