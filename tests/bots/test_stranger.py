"""A stranger: frequencies within a few hands, a portrait within a few dozen, an answer learned at the table."""

from __future__ import annotations

import numpy as np
import pytest

from hardbot.arena.match import play_match
from hardbot.bots.hardbot import HardBot
from hardbot.bots.portfolio import load_portfolio
from hardbot.bots.stranger import FIRST_DRAWING, LONGEST, Frequencies, boards_after
from hardbot.errors import BotError
from hardbot.game.betting import parse_betting
from hardbot.game.cards import N_HOLES
from hardbot.game.rules import CALL, FOLD, HEADS_UP, RAISE
from hardbot.solver.abstraction import make_abstraction
from hardbot.solver.rounds import N_CHOICES, N_STARTS
from hardbot.solver.strategy import Strategy
from pipeline.rivals import build_portfolio


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Only the equilibrium, here a player of equal chances over coarse buckets: everybody is a stranger."""
    abstraction = make_abstraction(0, 0, 20)
    parts = [np.ones((N_STARTS[s], 2, abstraction.sizes[s], N_CHOICES), dtype=np.uint8) for s in range(4)]
    path = tmp_path_factory.mktemp("nobody")
    build_portfolio(path, Strategy(abstraction, (parts[0], parts[1], parts[2], parts[3])), players=(), value_pairs=50)
    return path


def steps_of(*actions: int):
    texts = ("", "cc/r", "cc/rc/r", "cc/rc/rc/r")[: len(actions)]
    return [(parse_betting(HEADS_UP, text), action) for text, action in zip(texts, actions, strict=True)]


def test_frequencies_foretell_what_was_seen_often(folder):
    stranger = load_portfolio(folder).new_stranger()
    frequencies = Frequencies(stranger.portrait.layout.offsets, stranger.equilibrium)
    first = frequencies.explain(steps_of(CALL, CALL))
    assert first == pytest.approx(2 * np.log(1 / 3), abs=1e-5)
    for _ in range(30):
        frequencies.explain(steps_of(CALL, CALL))
    assert frequencies.explain(steps_of(CALL, CALL)) > -0.3
    assert frequencies.explain(steps_of(RAISE)) < np.log(0.1)


def test_portrait_is_drawn_at_growing_distances(folder):
    stranger = load_portfolio(folder).new_stranger()
    stranger.seed = 1
    drawn = []
    for number in range(1, 400):
        stranger.see([steps_of(CALL)[0][0].index], [CALL], {0: np.zeros(N_HOLES, dtype=np.int64)}, 0, -1)
        if stranger.is_due:
            stranger.draw(stranger.equilibrium)
            drawn.append(number)
    gaps = np.diff(drawn)
    assert drawn[0] == FIRST_DRAWING
    assert (np.diff(gaps) >= -1).all()
    assert gaps[0] == FIRST_DRAWING
    assert gaps[-1] == LONGEST
    assert boards_after(10, 2) > boards_after(200, 2) > boards_after(1_000, 2) > boards_after(1_000, 1) > 0.0


def test_one_whom_frequencies_explain_as_well_is_not_recognised(folder):
    stranger = load_portfolio(folder).new_stranger()
    for number in range(40):
        steps = steps_of((FOLD, CALL, RAISE)[number % 3])
        stranger.explain(steps, by_portrait=-3.0)
    assert not stranger.is_recognised
    for _ in range(200):
        stranger.explain(steps_of(CALL), by_portrait=-0.01)
    assert stranger.is_recognised
    assert stranger.surprise < 0.5


def test_hardbot_learns_to_beat_a_stranger_it_has_no_answer_to(folder):
    result = play_match(f"hardbot:portfolio={folder}", "always_call", 300, seed=2, block=300, window=(151, 300))
    plain = play_match(f"sparbot:strategy={folder / 'sparbot'}", "always_call", 300, seed=2, block=300)
    assert result.sb_per_hand > plain.sb_per_hand + 0.5


def test_same_seed_gives_the_same_match_with_a_stranger(folder):
    spec = f"hardbot:portfolio={folder}"
    first, second = (play_match(spec, "rulebot", 60, seed=4, block=60) for _ in range(2))
    assert first.pair_chips.tolist() == second.pair_chips.tolist()


def test_work_on_a_stranger_must_be_a_sensible_multiple():
    with pytest.raises(BotError, match="study of more than 0"):
        HardBot(study=0.0)


def test_preparing_leaves_nothing_behind(folder):
    bot = HardBot(portfolio=str(folder))
    bot.prepare()
    assert bot.watches == {}
