"""A small corpus with known play: two noisy players whose actions follow from hand strength, on a few boards.

Few boards, so that features cost little where the tables have not been built.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hardbot.game.betting import first_betting
from hardbot.game.cards import HOLE_CARDS, hole_index
from hardbot.game.feature_tables import FEATURE_COLUMNS, features_on_board
from hardbot.game.hand import Deal, Hand
from hardbot.game.notation import LogHand, format_log_hand
from hardbot.game.rules import BOARD_SIZES, FOLD, HEADS_UP, RAISE

N_BOARDS = 12
N_LOGS, HANDS_PER_LOG = 3, 800


def play_probabilities(strength: float, facing: bool, may_raise: bool, looseness: float) -> np.ndarray:
    """P(fold, call, raise) of the corpus's players: logistic in strength."""
    scores = np.array([4 * (0.45 - strength - looseness), 1.0, 6 * (strength - 0.6)])
    if not facing:
        scores[FOLD] = -np.inf
    if not may_raise:
        scores[RAISE] = -np.inf
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def _preflop_strength(hole: int) -> float:
    high, low = sorted((int(card) // 4 for card in HOLE_CARDS[hole]), reverse=True)
    return min(1.0, (high + 0.7 * low + (8 if high == low else 0)) / 26)


def write_log(path: Path, n_hands: int, seed: int, boards: list[tuple[int, ...]]) -> Path:
    """A dealer log of hands 0..n-1 between `tight` and `loose`, seats swapping."""
    rng = np.random.default_rng(seed)
    looseness = {"tight": -0.08, "loose": 0.12}
    lines = [f"# name/game/hands/seed {path.stem} holdem.limit.2p.reverse_blinds.game {n_hands} {seed}"]
    for number in range(n_hands):
        board = boards[int(rng.integers(len(boards)))]
        deck = rng.permutation([card for card in range(52) if card not in board])
        holes = ((int(deck[0]), int(deck[1])), (int(deck[2]), int(deck[3])))
        players = ("tight", "loose") if number % 2 == 0 else ("loose", "tight")
        hand = Hand(HEADS_UP, Deal(holes, board), number, players)
        while not hand.betting.is_over:
            betting = hand.betting
            hole = hole_index(*holes[betting.seat])
            if betting.street == 0:
                strength = _preflop_strength(hole)
            else:
                row = features_on_board(board[: BOARD_SIZES[betting.street]])[hole]
                strength = float(row[FEATURE_COLUMNS.index("e")])
            strength -= 0.1 * betting.raises
            p = play_probabilities(
                strength, FOLD in betting.legal, RAISE in betting.legal, looseness[players[betting.seat]]
            )
            hand.apply(int(rng.choice(3, p=p)))
        net = tuple(float(chips) for chips in hand.net_chips())
        lines.append(format_log_hand(LogHand(number, hand.betting, holes, hand.board, net, players)))
    path.write_text("\n".join(lines) + "\nSCORE:0|0:tight|loose\n")
    return path


@pytest.fixture(scope="session")
def training_boards() -> list[tuple[int, ...]]:
    rng = np.random.default_rng(5)
    return [tuple(int(card) for card in rng.choice(52, 5, replace=False)) for _ in range(N_BOARDS)]


@pytest.fixture(scope="session")
def training_logs(tmp_path_factory, training_boards) -> list[Path]:
    folder = tmp_path_factory.mktemp("logs")
    assert first_betting(HEADS_UP).seat == 1
    return [write_log(folder / f"match{i}.log", HANDS_PER_LOG, 100 + i, training_boards) for i in range(N_LOGS)]


@pytest.fixture(scope="session")
def training_store(tmp_path_factory, training_logs) -> Path:
    """A store of the logs with features; tests must not write to it."""
    from pipeline.ingest import ingest
    from pipeline.train import prepare

    store = tmp_path_factory.mktemp("store") / "hands.duckdb"
    ingest(training_logs, store)
    prepare(store)
    return store


@pytest.fixture(scope="session")
def training_corpus(training_store):
    from pipeline.dataset import load_corpus

    return load_corpus(training_store)
