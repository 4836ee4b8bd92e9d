"""Exact features against the natural way with eval7 and numpy, and batch evaluation, one core, in one run.

The natural way ranks the 1,176 hands of every run-out with eval7 and compares all pairs with numpy; it is timed on a
sample of run-outs and scaled to all 1,176. Ours counts everything. Figures are the best of several rounds.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np

from hardbot.commands.output import print_table
from hardbot.game.cards import CARD_TEXT, HOLE_CARDS, compatible_holes, parse_board, parse_hole
from hardbot.game.evaluator import rank_batch
from hardbot.game.features import Outlook, all_hands, equity_moments, hand_features
from hardbot.game.isomorphism import canonical_boards

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its range parser uses deprecated names of pyparsing
    import eval7

DECK = [eval7.Card(text) for text in CARD_TEXT]
FLOP, HOLE = parse_board("Jh4c3h"), parse_hole("AdQc")
SAMPLE = 8  # run-outs of the natural way that are timed, of 1,176
N_BATCH = 4_000_000


def best(run: Callable[[], object], rounds: int) -> float:
    """Shortest of several runs, in seconds."""
    run()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def natural_board(n_run_outs: int = SAMPLE) -> np.ndarray:
    """HP of all hands against all over some run-outs: eval7 for the ranks, numpy for the pairs."""
    holes = HOLE_CARDS[compatible_holes(FLOP)].tolist()
    now = np.array([eval7.evaluate([DECK[c] for c in (*hole, *FLOP)]) for hole in holes])
    side_now = np.sign(now[:, None] - now[None, :])
    hp = np.zeros((len(holes), 3, 3), dtype=np.int64)
    live = [card for card in range(52) if card not in FLOP]
    for run_out in list(combinations(live, 2))[:n_run_outs]:
        ranks = np.array([eval7.evaluate([DECK[c] for c in (*hole, *FLOP, *run_out)]) for hole in holes])
        side = np.sign(ranks[:, None] - ranks[None, :])
        for before in range(3):
            for after in range(3):
                hp[:, before, after] += ((side_now == 1 - before) & (side == 1 - after)).sum(axis=1)
    return hp


def natural_hand() -> float:
    """Equity of one hand on the flop by a loop over run-outs and opponents."""
    live = [card for card in range(52) if card not in (*HOLE, *FLOP)]
    board = [DECK[c] for c in FLOP]
    own_cards = [DECK[c] for c in HOLE]
    won = total = 0.0
    for t, r in list(combinations(live, 2))[:60]:
        cards = [*board, DECK[t], DECK[r]]
        own = eval7.evaluate([*own_cards, *cards])
        for a, b in combinations([card for card in live if card not in (t, r)], 2):
            other = eval7.evaluate([DECK[a], DECK[b], *cards])
            won += 1.0 if own > other else 0.5 if own == other else 0.0
            total += 1.0
    return won / total


def features_rows() -> list[list[str]]:
    """Whole flop and one hand."""
    natural = best(natural_board, 1) * 1176 / SAMPLE
    ours = best(lambda: all_hands(FLOP), 10)
    one = best(natural_hand, 1) * 1081 / 60
    mine = best(lambda: Outlook(HOLE, FLOP), 20)
    light = best(lambda: Outlook(HOLE, FLOP, moments=False), 20)
    assert hand_features(HOLE, FLOP).ahead == 628
    return [
        ["all hands of a flop, eval7 + numpy (scaled)", f"{1e3 * natural:,.0f} ms", "1x"],
        ["all hands of a flop, all nine cells, ours", f"{1e3 * ours:,.1f} ms", f"{natural / ours:,.0f}x"],
        ["one hand, eval7 loop (scaled)", f"{1e3 * one:,.0f} ms", "1x"],
        ["one hand, every feature, ours", f"{1e3 * mine:,.2f} ms", f"{one / mine:,.0f}x"],
        ["one hand without E2, ours", f"{1e3 * light:,.2f} ms", f"{one / light:,.0f}x"],
    ]


def evaluator_rows() -> list[list[str]]:
    """Seven-card ranks a second."""
    rng = np.random.default_rng(1)
    cards = np.argsort(rng.random((N_BATCH // 16, 52), dtype=np.float32), axis=1)[:, :7].astype(np.int8)
    cards = np.tile(cards, (16, 1))
    hands = [[DECK[c] for c in row] for row in cards[:50_000].tolist()]
    theirs = len(hands) / best(lambda: [eval7.evaluate(hand) for hand in hands], 3)
    ours = len(cards) / best(lambda: rank_batch(cards), 5)
    return [
        ["eval7.evaluate in a loop", f"{theirs:,.0f}", "1x"],
        ["our batch", f"{ours:,.0f}", f"{ours / theirs:,.0f}x"],
    ]


def moments_rows() -> list[list[str]]:
    """E and E2 of every hand on every canonical board, in threads."""
    rows, total = [], 0.0
    for size, name in ((3, "flop"), (4, "turn"), (5, "river")):
        boards = [tuple(row) for row in canonical_boards(size)[0].tolist()]
        equity_moments(boards[0])
        start = time.perf_counter()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            n_hands = sum(pool.map(lambda board: int(np.isfinite(equity_moments(board)[:, 0]).sum()), boards))
        seconds = time.perf_counter() - start
        total += seconds
        rows.append([f"{name}: {len(boards):,} boards, {n_hands:,} hands", f"{seconds:.1f} s", ""])
    rows.append(["all streets", f"{total:.1f} s", ""])
    return rows


def table_rows() -> list[list[str]]:
    """Both tables from nothing, into a folder of their own."""
    from hardbot.game import feature_tables

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        kept = os.environ.get("HARDBOT_CACHE")
        os.environ["HARDBOT_CACHE"] = folder
        try:
            for street, name in feature_tables.STREETS.items():
                start = time.perf_counter()
                table = feature_tables.build_table(street)
                rows.append([f"{name} table, {len(table):,} rows", f"{time.perf_counter() - start:.1f} s", ""])
        finally:
            os.environ.pop("HARDBOT_CACHE")
            if kept is not None:
                os.environ["HARDBOT_CACHE"] = kept
            feature_tables.forget_tables()
    return rows


def main() -> None:
    """Print all tables."""
    print_table("features on the flop Jh4c3h", ["way", "time", "ratio"], features_rows())
    print_table("seven-card ranks", ["way", "hands/s", "ratio"], evaluator_rows())
    print_table("E and E2 of every hand, all cores", ["street", "time", ""], moments_rows())
    print_table("feature tables, all cores", ["table", "time", ""], table_rows())


if __name__ == "__main__":
    main()
