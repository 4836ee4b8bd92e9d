"""The Bayesian player, node by node, on hands whose answer is plain to a person."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from hardbot import cli
from hardbot.arena.match import play_match
from hardbot.arena.table import play_hand, seat_player
from hardbot.bots.bayes.amateur import BET, BLIND, FACING, NOTHING, RAISED, OpponentModel, amateur_triples, faced
from hardbot.bots.bayes.handtypes import N_FINALS, N_TYPES, TYPE_FINAL, TYPE_NAMES, hand_type
from hardbot.bots.bayes.network import Belief
from hardbot.bots.bayes.tables import (
    ARRAYS,
    MANIFEST,
    SHAPES,
    default_tables,
    load_counts,
    load_tables,
    save_tables,
    simulate_tables,
)
from hardbot.bots.pokabayes import PokaBayes
from hardbot.bots.simple import AlwaysCall, AlwaysRaise
from hardbot.errors import BotError, CardError, TableError
from hardbot.game.betting import parse_betting
from hardbot.game.cards import parse_board, parse_cards, parse_hole
from hardbot.game.evaluator import rank_batch
from hardbot.game.hand import Deal, View
from hardbot.game.rules import BOARD_SIZES, CALL, FOLD, HEADS_UP, RAISE


@pytest.fixture(scope="module")
def tables():
    return load_tables(default_tables())


def random_hands(n: int, n_cards: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random((n, 52)).argsort(axis=1)[:, :n_cards].astype(np.int8)


# -- hand types --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        ("7h2d", "nine high or less"),
        ("7h6d", "nine high or less, partial straight"),
        ("7h2h", "nine high or less, partial flush"),
        ("7h6h", "nine high or less, partial flush"),
        ("AhKd", "ace high, partial straight"),
        ("Ah2d", "ace high, partial straight"),
        ("Ah9d", "ace high"),
        ("AhAd", "pair of aces"),
        ("5h5d", "pair of fives or less"),
        ("KcQsJd", "king high, partial straight"),
        ("Kc8c2c", "king high, partial flush"),
        ("Kc8c2d", "king high"),
        ("KcKs2d", "pair of kings"),
        ("8c8s8d", "three of a kind, tens or less"),
        ("9h8d7c6s2h", "nine high or less, partial straight"),
        ("9h8d7c5s2h", "nine high or less, partial straight"),
        ("KhQh7h2hAc", "ace high, partial flush"),
        ("9h8d7c6s9c", "pair of nines or tens, partial straight"),
        ("KhKd8c8s2h", "two pair, kings or aces"),
        ("9h8d7c6s5h", "straight to the ten or less"),
        ("AhKdQcJsTh", "straight to the jack or more"),
        ("Ah2d3c4s5h", "straight to the ten or less"),
        ("AhKhQh7h2h", "flush"),
        ("KhKdKc8s8h2d", "full house"),
        ("KhKdKcKs8h2d", "four of a kind"),
        ("9h8h7h6h5h2dAc", "straight flush"),
        ("KhKd8c8s2h2dAc", "two pair, kings or aces"),
        ("9h8d7c6s2hKdAc", "ace high"),  # partials mean nothing with seven cards
        ("KhQh7h2hAc9d3s", "ace high"),
    ],
)
def test_hand_type_is_the_one_a_person_names(cards, name):
    assert TYPE_NAMES[hand_type(parse_cards(cards))] == name


def test_there_are_44_types_and_22_classes():
    assert len(set(TYPE_NAMES)) == N_TYPES == len(TYPE_FINAL)
    assert sorted(set(TYPE_FINAL.tolist())) == list(range(N_FINALS))
    assert (np.diff(TYPE_FINAL) >= 0).all()


def test_type_needs_two_to_seven_different_cards():
    for cards in ([0], list(range(8)), [3, 3]):
        with pytest.raises(CardError):
            hand_type(cards)


def test_pairs_are_78_of_1326_starting_hands():
    types = [hand_type(pair) for pair in combinations(range(52), 2)]
    assert sum("pair of" in TYPE_NAMES[t] for t in types) == 78
    assert sum("flush" in TYPE_NAMES[t] for t in types) == 312


def test_better_class_beats_worse_class_at_showdown():
    hands = random_hands(4000, 7)
    ranks = rank_batch(hands)
    classes = np.array([TYPE_FINAL[hand_type(hand.tolist())] for hand in hands])
    bounds = [(ranks[classes == c].min(), ranks[classes == c].max()) for c in range(N_FINALS) if (classes == c).any()]
    assert len(bounds) >= 18
    assert all(low[1] < high[0] for low, high in zip(bounds, bounds[1:], strict=False))


# -- tables ------------------------------------------------------------------------------------------------------


def test_simulation_is_reproducible_and_adds_up():
    counts, again = simulate_tables(3000, 5), simulate_tables(3000, 5)
    assert all((counts[name] == again[name]).all() for name in SHAPES)
    assert counts["start"].sum() == 6000
    assert [int(counts["step"][street].sum()) for street in range(3)] == [6000] * 3
    assert [int(counts["seen"][street].sum()) for street in range(4)] == [6000] * 4
    assert int(counts["points"][0].sum()) == 6000  # one point a deal, in halves, for two players
    assert (simulate_tables(3000, 6)["start"] != counts["start"]).any()


def test_shipped_tables_are_a_simulation_of_our_deck():
    counts, manifest = load_counts(default_tables())
    assert manifest["deals"] >= 1_000_000
    assert counts["start"].sum() == 2 * manifest["deals"]
    share = counts["start"] / counts["start"].sum()
    exact = np.bincount([hand_type(pair) for pair in combinations(range(52), 2)], minlength=N_TYPES) / 1326
    assert np.abs(share - exact).max() < 1e-3
    finals = np.bincount(TYPE_FINAL, weights=counts["seen"][3].sum(axis=1), minlength=N_FINALS)
    by_kind = np.array([finals[:5].sum(), finals[5:11].sum(), finals[11:14].sum(), finals[18]]) / finals.sum()
    assert by_kind == pytest.approx([0.1741, 0.4382, 0.2350, 0.0303], abs=1e-3)  # known shares of seven cards


def test_probabilities_are_distributions(tables):
    assert tables.start.sum() == pytest.approx(1)
    for table in (tables.step, tables.final):
        assert np.abs(table.sum(axis=-1) - 1).max() < 1e-9
        assert table.min() >= 0
    assert ((tables.strength > 0) & (tables.strength < 1)).all()


@pytest.mark.parametrize(
    ("hole", "equity"),
    [("AhAd", 0.852), ("KhKd", 0.824), ("5h5d", 0.553)],  # the mean of 22 (.503) to 55 (.603)
)
def test_strength_of_pairs_is_their_equity(tables, hole, equity):
    assert tables.strength[0, 0, hand_type(parse_hole(hole))] == pytest.approx(equity, abs=0.01)


def test_drawing_hand_makes_its_flush_a_third_of_the_time(tables):
    board = parse_board("Kh7h2c")
    now = hand_type((*parse_hole("QhJh"), *board))
    p_flush = tables.final[1, hand_type(board), now, 18]
    assert 0.25 < p_flush < 0.45  # 9 outs, two cards: .35


def test_damaged_or_missing_tables_are_refused(tmp_path):
    with pytest.raises(TableError, match="run: hardbot pokabayes-tables"):
        load_counts(tmp_path)
    save_tables(simulate_tables(200, 1), tmp_path, {"deals": 200})
    counts, manifest = load_counts(tmp_path)
    assert manifest["deals"] == 200
    assert counts["start"].sum() == 400
    (tmp_path / ARRAYS).write_bytes((tmp_path / ARRAYS).read_bytes()[:-1] + b"x")
    with pytest.raises(TableError, match="expected the sha256 of the manifest"):
        load_counts(tmp_path)
    (tmp_path / MANIFEST).write_text('{"schema": 99}')
    with pytest.raises(TableError, match="expected tables of schema 1"):
        load_counts(tmp_path)


def test_command_builds_tables_a_bot_can_play_with(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "tables"
    monkeypatch.setattr("sys.argv", ["hardbot", "pokabayes-tables", "--deals", "2000", "--out", str(folder), "--json"])
    with pytest.raises(SystemExit):
        cli.main()
    assert json.loads(capsys.readouterr().out)["deals"] == 2000
    bot = PokaBayes(tables=str(folder))
    assert bot.act(view_of("AhAd"), np.random.default_rng(1)) == RAISE


# -- the opponent's action ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "facing"),
    [("", BLIND), ("c", NOTHING), ("r", BET), ("rr", RAISED), ("cc/", NOTHING), ("cc/r", BET), ("cc/rr", RAISED)],
)
def test_what_an_opponent_faces(line, facing):
    assert faced(parse_betting(HEADS_UP, line)) == facing


@pytest.mark.parametrize("facing", range(len(FACING)))
def test_amateur_raises_more_and_folds_less_the_stronger_he_is(facing):
    strong = np.linspace(0.4, 1, 30)
    triples = amateur_triples(strong, facing)
    assert np.abs(triples.sum(axis=1) - 1).max() < 1e-12
    assert triples.min() >= 0
    assert (np.diff(triples[:, FOLD]) <= 1e-12).all()
    assert (np.diff(triples[:, RAISE]) >= -1e-12).all()


@pytest.mark.parametrize(("line", "forbidden"), [("c", FOLD), ("rrr", RAISE), ("cc/", FOLD), ("cc/rrrr", RAISE)])
def test_model_gives_illegal_actions_no_chance_and_legal_ones_some(line, forbidden):
    betting = parse_betting(HEADS_UP, line)
    triples = OpponentModel().triples(betting.street, np.linspace(0, 1, 5), faced(betting), betting.legal)
    assert (triples[:, forbidden] == 0).all()
    assert (triples[:, list(betting.legal)] > 0).all()
    assert triples.sum(axis=1) == pytest.approx(np.ones(5))


def test_model_learns_what_it_sees():
    model, strength = OpponentModel(), np.array([0.2, 0.8])
    before = model.triples(1, strength, BET, (0, 1, 2))
    for _ in range(100):
        model.learn(1, strength, BET, RAISE, np.array([1.0, 0.0]))
    after = model.triples(1, strength, BET, (0, 1, 2))
    assert after[0, RAISE] > 0.85 > before[0, RAISE]
    assert after[1] == pytest.approx(before[1])  # strong hands were not seen
    assert model.triples(2, strength, BET, (0, 1, 2))[0] == pytest.approx(before[0])  # nor other rounds


# -- inference ---------------------------------------------------------------------------------------------------


def view_of(hole: str, line: str = "", board: str = "") -> View:
    betting = parse_betting(HEADS_UP, line)
    return View(HEADS_UP, betting.seat, 0, parse_hole(hole), ("a", "b"), betting, parse_board(board))


def bot_at(hole: str, line: str, board: str = "", **options: bool) -> tuple[PokaBayes, View]:
    """A bot that has watched a line of a hand up to its turn."""
    bot, cards = PokaBayes(**options), parse_board(board)
    end = parse_betting(HEADS_UP, line)
    view = View(HEADS_UP, end.seat, 0, parse_hole(hole), ("a", "b"), parse_betting(HEADS_UP, ""), ())
    bot.new_hand(view)
    for char in line.replace("/", ""):
        before, action = view.betting, "fcr".index(char)
        view.betting = before.after(action)
        view.board = cards[: BOARD_SIZES[view.betting.street]]
        bot.observe(view, before, action)
    return bot, view


def test_belief_stays_a_distribution_and_moves_with_the_board(tables):
    belief = Belief(tables)
    assert belief.types.sum() == pytest.approx(1)
    belief.advance(hand_type(parse_board("KcKs8d")))
    assert belief.types.sum() == pytest.approx(1)
    at_least_kings = [t for t in range(N_TYPES) if TYPE_FINAL[t] >= TYPE_FINAL[TYPE_NAMES.index("pair of kings")]]
    assert belief.types[at_least_kings].sum() > 0.99  # two kings are on the board


def test_every_raise_of_his_makes_his_hand_stronger():
    # the authors' regret: only the last action counted
    chances = []
    for line in ("cc/cc/", "cc/crrc/", "cc/crrrrc/"):
        bot, view = bot_at("AhKd", line, "Kc8s3d2h")
        bot.reckon(view)
        chances.append(bot.last_reckoning.outcome.p_win)
    assert chances[0] > chances[1] > chances[2]


def test_earlier_streets_are_not_forgotten():
    quiet, view = bot_at("9h9d", "cc/cc/", "Kc8s3d2h")
    loud, same = bot_at("9h9d", "rrrc/cc/", "Kc8s3d2h")
    assert quiet.reckon(view).outcome.p_win > loud.reckon(same).outcome.p_win + 0.02


@pytest.mark.parametrize(
    ("hole", "board", "low", "high"),
    [
        ("AhKh", "QhJhTh2c3d", 0.99, 1.0),
        ("KhKd", "Kc8s8d2h3c", 0.9, 1.0),
        ("7h2d", "KcQs9h8dJc", 0.0, 0.2),  # king high ties king high: types know no kickers
        ("AhAd", "", 0.65, 0.9),
    ],
)
def test_chance_to_win_is_plain(hole, board, low, high):
    line = {0: "", 5: "cc/cc/cc/"}[len(parse_board(board))]
    bot, view = bot_at(hole, line, board)
    outcome = bot.reckon(view).outcome
    assert low <= outcome.p_win + outcome.p_tie / 2 <= high
    assert outcome.p_win + outcome.p_tie + outcome.p_lose == pytest.approx(1)


# -- utilities ---------------------------------------------------------------------------------------------------


def test_utility_is_the_printed_formula():
    bot, view = bot_at("KhQd", "cc/cc/cr", "Kc8s3d2h")
    reckoning = bot.reckon(view)
    out, betting = reckoning.outcome, view.betting
    triples = bot._model.triples(2, bot.belief.strength, RAISED, (0, 1, 2))
    p_fold, p_call, p_raise = bot.belief.types @ triples
    assert p_fold + p_call + p_raise == pytest.approx(1)
    # 8 sb are in the pot counting his bet; a raise costs us 4, then a call costs him 2 and a reraise 4
    assert betting.pot == 40 + 0 * betting.to_call
    answer = p_call * 20 + p_raise * 40
    raised = (out.p_win + out.p_tie / 2) * (betting.pot + 40 + answer) - out.p_lose * 40
    assert reckoning.utilities[RAISE] == pytest.approx(raised / 10)
    assert reckoning.utilities[FOLD] == 0


def test_last_call_expects_no_answer_and_net_leaves_out_our_stake():
    for net in (False, True):
        bot, view = bot_at("KhQd", "cc/cc/cc/r", "Kc8s3d2h7c", net=net)
        reckoning = bot.reckon(view)
        out, betting = reckoning.outcome, view.betting
        stake = 0 if net else betting.to_call
        called = (out.p_win + out.p_tie / 2) * (betting.pot + stake) - out.p_lose * betting.to_call
        assert reckoning.utilities[CALL] == pytest.approx(called / 10)


@pytest.mark.parametrize(
    ("hole", "line", "board", "action"),
    [
        ("AhAd", "", "", RAISE),
        ("AhAd", "rr", "", RAISE),
        ("AhAd", "rrr", "", CALL),
        ("AhKh", "cc/cc/cc/r", "QhJhTh2c3d", RAISE),
        ("7h2d", "rrc/rrc/rrc/r", "KcQs9h8dJc", FOLD),
        ("7h2d", "cc/cc/cc/", "KcQs9h8dJc", CALL),
    ],
)
def test_plain_decisions(hole, line, board, action):
    bot, view = bot_at(hole, line, board)
    assert bot.act(view, np.random.default_rng(1)) == action
    utilities = bot.last_reckoning.utilities
    assert [utility is not None for utility in utilities] == [a in view.betting.legal for a in range(3)]


# -- learning ----------------------------------------------------------------------------------------------------


def play(bot: PokaBayes, other: AlwaysCall | AlwaysRaise, n: int) -> None:
    rng = np.random.default_rng(4)
    for number, cards in enumerate(random_hands(n, 9, seed=8).tolist()):
        seats = [seat_player(bot, "bot", rng), seat_player(other, "him", rng)]
        holes = ((cards[0], cards[1]), (cards[2], cards[3]))
        play_hand(HEADS_UP, Deal(holes, tuple(cards[4:])), seats if number % 2 else seats[::-1], number)


def test_who_always_raises_is_found_out():
    bot, fixed = PokaBayes(learn=True), PokaBayes()
    play(bot, AlwaysRaise(), 250)
    play(fixed, AlwaysRaise(), 5)
    assert not fixed.models
    strength = np.full(1, 0.55)
    assert bot.models["him"].counts[:, :, :, CALL].sum() == 0  # calls at the cap were no choice
    learned = bot.models["him"].triples(0, strength, BLIND, (0, 1, 2))[0, RAISE]
    assert learned > 0.8 > OpponentModel().triples(0, strength, BLIND, (0, 1, 2))[0, RAISE]


def test_memory_is_saved_and_loaded(tmp_path):
    bot, other = PokaBayes(learn=True), PokaBayes(learn=True)
    play(bot, AlwaysCall(), 10)
    bot.save_memory(tmp_path / "memory.json")
    other.load_memory(tmp_path / "memory.json")
    assert (other.models["him"].counts == bot.models["him"].counts).all()
    assert bot.models["him"].counts.sum() > 10
    for text in ("no", '{"schema": 2, "opponents": {}}', '{"schema": 1, "opponents": {"x": [1, 2]}}', "[]"):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(BotError, match="expected counts as written by pokabayes"):
            other.load_memory(tmp_path / "bad.json")


def test_learning_is_a_switch():
    assert PokaBayes(learn=True).learns
    assert not PokaBayes().learns


def test_beats_random_and_always_call():
    for opponent in ("random", "always_call"):
        result = play_match("pokabayes", opponent, 600, 3)
        assert result.sb_per_hand - result.ci95 > 0, opponent
