"""From the store to a portfolio: how single players play, in the solver's buckets, and the best answer to each.

Counts come from decisions with known cards of heads-up hands with the competition's blinds. A rival's folder holds its
habits and the answer as two strategies (hardbot/solver/strategy.py); the portfolio's manifest adds what every answer
wins against every rival's habits, played out in compiled duplicate matches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardbot.arena.match import play_match
from hardbot.bots.portfolio import MANIFEST, SCHEMA
from hardbot.bots.registry import create_bot
from hardbot.errors import StoreError, StrategyError
from hardbot.game.cards import HOLE_CARDS, N_CARDS
from hardbot.game.rules import BOARD_SIZES, HEADS_UP, N_STREETS
from hardbot.game.storage import write_whole
from hardbot.game.tree import betting_tree
from hardbot.solver.abstraction import Abstraction, bucket_function, bucket_tables
from hardbot.solver.rivals import Counts, calling_strategy, empty_counts, exact_habits, fit_habits, respond
from hardbot.solver.strategy import Strategy, load_strategy, save_strategy
from pipeline.store import Store

Progress = Callable[[str, int, int], None]
_BATCH = 200_000
EQUILIBRIUM = "sparbot"
ADAPTIVE_PENALTY_SB = 0.5  # a hand; measured losses of fixed answers to vexbot are larger
_DECISIONS = """
SELECT d.street, d.node, d.action, d.hole, h.board
FROM decisions d JOIN hands h USING (hand_id)
WHERE h.rules = ? AND (d.player = ? OR starts_with(d.player, ? || '.'))
  AND d.hole IS NOT NULL AND d.node >= 0 AND NOT d.clipped
"""


def player_counts(store: Store, player: str, abstraction: Abstraction) -> tuple[Counts, int]:
    """Decisions of a player by (decision point, bucket, action) on each street, and how many there are.

    A bot played with options (`loki.simulate=no` in a log) counts as the bot.
    """
    rows = store.query(_DECISIONS, [HEADS_UP.name, player, player])
    if not rows.height:
        raise StoreError(f"expected decisions of {player!r} with known cards in {store.path}, got none")
    counts = empty_counts(abstraction)
    buckets_of = bucket_function(bucket_tables(abstraction))
    first = betting_tree(HEADS_UP).first_of_street
    for start in range(0, rows.height, _BATCH):
        part = rows.slice(start, _BATCH)
        street = part["street"].to_numpy().astype(np.int64)
        holes = HOLE_CARDS[part["hole"].to_numpy().astype(np.int64)]
        buckets = buckets_of(holes, _whole_boards(holes, part["board"]))[np.arange(len(street)), street]
        node, action = part["node"].to_numpy().astype(np.int64), part["action"].to_numpy().astype(np.int64)
        for s in range(N_STREETS):
            here = street == s
            np.add.at(counts[s], (node[here] - first[s], buckets[here], action[here]), 1.0)
    return counts, rows.height


def _whole_boards(holes: NDArray[np.int8], boards: pl.Series) -> NDArray[np.int8]:
    """Boards (n, 5); cards that were never dealt are filled up with unused ones, which no bucket of interest sees."""
    lengths = boards.list.len().to_numpy()
    whole = np.full((len(holes), BOARD_SIZES[-1]), -1, dtype=np.int8)
    columns = np.arange(BOARD_SIZES[-1])
    whole[columns < lengths[:, None]] = boards.explode().drop_nulls().to_numpy()
    used = np.zeros((len(holes), N_CARDS), dtype=bool)
    at = np.arange(len(holes))[:, None]
    used[at, holes] = True
    for column in columns:
        dealt = whole[:, column] >= 0
        used[at[dealt, 0], whole[dealt, column]] = True
    for column in columns:
        missing = np.flatnonzero(whole[:, column] < 0)
        whole[missing, column] = np.argmin(used[missing], axis=1)
        used[missing, whole[missing, column]] = True
    return whole


def build_portfolio(
    folder: Path,
    base: Strategy,
    players: Sequence[str],
    types: Sequence[str] = (),
    adaptive: Sequence[str] = (),
    store: Store | None = None,
    n_boards: int = 3_000,
    value_pairs: int = 20_000,
    seed: int = 1,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Fit, answer and save every rival, then play the table of values; returns the manifest.

    `players` are names in the store, `types` bots that look at no cards and need no hands, `adaptive` those of the
    players who learn fast: any fixed answer would lose to them soon, so they are only recognised, and met with the
    equilibrium. A rival whose folder is complete already is kept: an interrupted build goes on where it was.
    """
    tables = bucket_tables(base.abstraction)
    save_strategy(base, folder / EQUILIBRIUM)
    decisions: dict[str, int] = {}
    for name in (*types, *players):
        last_part = "habits" if name in adaptive else "answer"
        done = _read_note(folder / name / last_part)
        if done is None:
            habits, n = _habits(name, name in types, base, store)
            elsewhere = calling_strategy(base) if name in types else base  # a type never leaves its lines
            save_strategy(habits, folder / name / "habits", {"decisions": n})
            if name not in adaptive:
                answer = respond(habits, elsewhere, tables, n_boards, seed, progress)
                save_strategy(answer, folder / name / "answer", {"boards": n_boards, "decisions": n})
            done = n
        decisions[name] = done
    names = [EQUILIBRIUM, *types, *players]
    values = value_table(folder, names, value_pairs, seed, progress)
    for column, name in enumerate(names):
        if name in adaptive:  # what a fixed answer wins from its habits of yesterday means nothing
            for row in range(1, len(names)):
                values[row][column] = min(values[row][column], values[0][column]) - ADAPTIVE_PENALTY_SB
    manifest = {
        "schema": SCHEMA,
        "rivals": names,
        "decisions": decisions,
        "boards": n_boards,
        "value_pairs": value_pairs,
        "seed": seed,
        "adaptive": list(adaptive),
        "values": values,
    }
    write_whole(folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
    return manifest


def _read_note(folder: Path) -> int | None:
    """Decisions behind a part of a rival that was finished before."""
    try:
        return int(load_strategy(folder).manifest["decisions"])
    except (StrategyError, KeyError):
        return None


def _habits(name: str, is_type: bool, base: Strategy, store: Store | None) -> tuple[Strategy, int]:
    if is_type:
        policy = create_bot(name).table_policy()
        if policy is None:
            raise StrategyError(f"expected a bot that looks at no cards as a type, got {name!r}")
        return exact_habits(policy, base), 0
    if store is None:
        raise StoreError(f"expected a store with hands of {name!r}, got none")
    counts, n = player_counts(store, name, base.abstraction)
    return fit_habits(counts, base), n


def value_table(
    folder: Path, names: Sequence[str], pairs: int, seed: int, progress: Progress | None = None
) -> list[list[float]]:
    """Winnings in sb/hand of every answer (rows) against every rival's habits (columns)."""
    answers = [folder / names[0], *(folder / name / "answer" for name in names[1:])]
    answers = [answer if answer.is_dir() else folder / names[0] for answer in answers]
    rivals = [folder / names[0], *(folder / name / "habits" for name in names[1:])]
    rows = []
    for number, own in enumerate(answers):
        rows.append(
            [
                play_match(f"sparbot:strategy={own}", f"sparbot:strategy={rival}", pairs, seed).sb_per_hand
                for rival in rivals
            ]
        )
        if progress is not None:
            progress("values", number + 1, len(answers))
    return rows
