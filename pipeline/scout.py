"""What the store knows about one player: how it acts with which strength, where the corpus differs, and since when.

Decisions are gathered in cells: street, facing a bet or not, and a fifth of strength (all hands of the board by E). A
decision with known cards counts in its own fifth; a hidden one is spread over the fifths by the player's range at the
end of the hand under the corpus model, so that folded hands are not left out. Beside the player's counts stands what
the corpus model would have done with the same hands in the very same positions.

Credible intervals: the player's action probabilities in a cell have a Dirichlet prior of two observations shaped like
the corpus; each action's share is then a Beta, and the interval its central 95%, by 4,000 draws.

A leak is an action whose interval leaves out what the corpus does. Its *surprise* is the log-likelihood ratio
n * KL(player | corpus) of the cell in nats; its *stake* is how much of the pot, in small bets a hand, is played
otherwise: |share - corpus's share| * times a hand * mean pot. Leaks are ranked by their stake.

Folds to bets are set against the price: a bet b into a pot p that wins whenever the player folds gains
f p - (1 - f) b, whatever is held; above zero at the low end of the interval, betting anything pays.

Drift: the hands in equal parts, and for every cell without cards (street, facing) the log Bayes factor of "each half
has its own frequencies" over "one set for both" (Dirichlet-multinomial, uniform prior; Good 1967).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.arena.statistics import estimate_mean
from hardbot.game.betting import Betting
from hardbot.game.cards import N_HOLES, hole_index
from hardbot.game.rules import ACTION_NAMES, CALL, FOLD, RAISE, STREET_NAMES
from hardbot.model.likelihood import ActionModel
from hardbot.model.opponent import N_DECILES
from hardbot.model.tracker import HandTracker
from pipeline.histories import History, StoredHand, read_history
from pipeline.store import Store

N_FIFTHS = 5
N_PRIOR = 2.0  # observations the prior of a cell is worth
N_DRAWS = 4_000
N_PARTS = 4  # of the hands, for drift
LEAST = 10.0  # decisions in a cell before it is called a leak
STRENGTHS = ("weakest", "weak", "middle", "strong", "strongest")
Floats = NDArray[np.float64]
Progress = Callable[[str, int, int], None]


@dataclass
class Cells:
    """Counts by street, facing a bet and fifth of strength."""

    player: Floats = field(default_factory=lambda: np.zeros((4, 2, N_FIFTHS, 3)))
    corpus: Floats = field(default_factory=lambda: np.zeros((4, 2, N_FIFTHS, 3)))  # what the model expects there
    pot_sb: Floats = field(default_factory=lambda: np.zeros((4, 2, N_FIFTHS)))  # summed over decisions


@dataclass
class _Fold:
    """Bets the player faced on one street."""

    folds: int = 0
    n: int = 0
    gain_sb: list[tuple[float, float]] = field(default_factory=list)  # pot before the bet, price of the bet


@dataclass
class _Part:
    """One stretch of hands, for drift."""

    hands: int = 0
    entered: int = 0
    raised: int = 0
    bets: int = 0
    calls: int = 0
    nats: float = 0.0
    actions: int = 0
    net_sb: float = 0.0
    invested_sb: float = 0.0
    counts: Floats = field(default_factory=lambda: np.zeros((4, 2, 3)))

    def to_json(self) -> dict[str, Any]:
        """Figures a hand or an action."""
        return {
            "hands": self.hands,
            "voluntary_entry": self.entered / self.hands,
            "preflop_raise": self.raised / self.hands,
            "aggression": self.bets / self.calls if self.calls else None,
            "invests_sb": self.invested_sb / self.hands,
            "sb_per_hand": self.net_sb / self.hands,
            "nats": self.nats / self.actions if self.actions else None,
        }


def scout(
    store: Store | Path | str,
    player: str,
    model: ActionModel,
    max_hands: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Everything `hardbot scout` prints, as plain data."""
    return scout_history(read_history(store, player, max_hands), player, model, progress)


def scout_history(
    history: History, player: str, model: ActionModel, progress: Progress | None = None
) -> dict[str, Any]:
    """The same from hands in order of play."""
    cells, folds = Cells(), [_Fold() for _ in range(4)]
    parts = [_Part() for _ in range(min(N_PARTS, len(history.hands)))]
    nets = []
    for number, hand in enumerate(history.hands):
        seat = hand.seat_of(player)
        part = parts[number * len(parts) // len(history.hands)]
        nets.append(hand.net_sb[seat])
        part.nats += _add_hand(hand, seat, model, cells)
        _add_public(hand, seat, part, folds)
        if progress is not None and number % 100 == 0:
            progress("hands", number, len(history.hands))
    net = estimate_mean(np.array(nets))
    n_hands = len(history.hands)
    rows = cell_rows(cells, n_hands)
    return {
        "player": player,
        "hands": n_hands,
        "left_out": history.n_left_out,
        "cards_known": sum(hand.holes[hand.seat_of(player)] is not None for hand in history.hands),
        "sb_per_hand": net.mean,
        "ci95": net.half_width if math.isfinite(net.half_width) else None,
        "model_id": model.model.model_id,
        "cells": rows,
        "leaks": leaks(rows),
        "folds_to_bets": fold_rows(folds),
        "drift": drift(parts),
    }


def _add_hand(hand: StoredHand, seat: int, model: ActionModel, cells: Cells) -> float:
    """Count a hand's decisions by strength; returns the corpus model's nats of them."""
    tracker = HandTracker(model, 1 - seat, hand.holes[1 - seat] or (), None)
    steps = [(before, action) for before, action in hand.actions if before.seat == seat]
    nats = 0.0
    for before, action in steps:
        tracker.see_board(hand.board_at(before.street))
        tracker.observe(before, action)
        nats -= math.log(float(tracker.steps[-1].p_corpus[action]))
    own = hand.holes[seat]
    final = tracker.theirs.weights
    if own is not None:
        final = np.zeros(N_HOLES)
        final[hole_index(*own)] = 1.0
    for before, action in steps:
        board = hand.board_at(before.street)
        deciles = tracker.deciles(board)
        known = (deciles >= 0) & (final > 0.0)
        fifth = deciles[known].astype(np.int64) * N_FIFTHS // N_DECILES
        weights = final[known] / final[known].sum()
        share = np.bincount(fifth, weights=weights, minlength=N_FIFTHS)
        expected = model.action_probabilities(before, board)[known] * weights[:, None]
        place = before.street, int(before.to_call > 0)
        cells.player[place][:, action] += share
        np.add.at(cells.corpus[place], fifth, expected)
        cells.pot_sb[place] += share * before.rules.to_sb(before.pot)
    return nats


def _add_public(hand: StoredHand, seat: int, part: _Part, folds: Sequence[_Fold]) -> None:
    """Count what everybody saw."""
    entered = raised = False
    for before, action in hand.actions:
        if before.seat != seat:
            continue
        part.actions += 1
        part.counts[before.street, int(before.to_call > 0), action] += 1.0
        paid = action == CALL and before.to_call > 0
        if before.street == 0:
            entered |= action == RAISE or paid
            raised |= action == RAISE
        else:
            part.bets += action == RAISE
            part.calls += paid
        if before.raises > 0:
            price = _price_sb(before)
            folds[before.street].n += 1
            folds[before.street].folds += action == FOLD
            folds[before.street].gain_sb.append((before.rules.to_sb(before.pot) - price, price))
    part.hands += 1
    part.entered += entered
    part.raised += raised
    part.net_sb += hand.net_sb[seat]
    part.invested_sb += hand.end.rules.to_sb(hand.end.contributions[seat])


def _price_sb(facing: Betting) -> float:
    """What the bet or raise faced had cost the one who made it."""
    before = facing.parent
    assert before is not None
    return facing.rules.to_sb(facing.pot - before.pot)


def shares(counts: Floats, prior: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean and central 95% of each action's share (3,), from counts (3,) and a prior (3,) of N_PRIOR observations."""
    alpha = counts + N_PRIOR * prior
    total = alpha.sum()
    mean, low, high = alpha / total, np.zeros(3), np.zeros(3)
    for action in np.flatnonzero(prior > 0.0):
        draws = np.random.default_rng(int(action)).beta(alpha[action], total - alpha[action], N_DRAWS)
        low[action], high[action] = np.quantile(draws, (0.025, 0.975))
    return mean, low, high


def cell_rows(cells: Cells, n_hands: int) -> list[dict[str, Any]]:
    """A row for every cell with decisions: the player's shares with intervals beside the corpus's."""
    rows = []
    for street, facing, fifth in np.ndindex(4, 2, N_FIFTHS):
        counts, n = cells.player[street, facing, fifth], float(cells.player[street, facing, fifth].sum())
        if n < 0.5:
            continue
        corpus = cells.corpus[street, facing, fifth] / n
        corpus = corpus / corpus.sum()
        mean, low, high = shares(counts, corpus)
        used = counts > 0.0
        rows.append(
            {
                "street": STREET_NAMES[street],
                "facing_bet": bool(facing),
                "strength": STRENGTHS[fifth],
                "n": n,
                "pot_sb": float(cells.pot_sb[street, facing, fifth]) / n,
                "per_hand": n / n_hands,
                "corpus": corpus.tolist(),
                "share": mean.tolist(),
                "low": low.tolist(),
                "high": high.tolist(),
                "surprise": max(0.0, float((counts[used] * np.log(counts[used] / n / corpus[used])).sum())),
            }
        )
    return rows


def leaks(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Actions whose interval leaves out the corpus's share, the largest stake first; one a cell."""
    found = []
    for row in rows:
        if row["n"] < LEAST:
            continue
        outside = [
            action for action in range(3) if not row["low"][action] <= row["corpus"][action] <= row["high"][action]
        ]
        if not outside:
            continue
        action = max(outside, key=lambda a: abs(row["share"][a] - row["corpus"][a]))
        gap = row["share"][action] - row["corpus"][action]
        found.append(
            {key: row[key] for key in ("street", "facing_bet", "strength", "n", "surprise")}
            | {
                "action": _action_name(action, facing=row["facing_bet"]),
                "tendency": "too often" if gap > 0 else "too seldom",
                "share": row["share"][action],
                "low": row["low"][action],
                "high": row["high"][action],
                "corpus": row["corpus"][action],
                "stake_sb": abs(gap) * row["per_hand"] * row["pot_sb"],
            }
        )
    return sorted(found, key=lambda leak: -leak["stake_sb"])


def _action_name(action: int, *, facing: bool) -> str:
    return ACTION_NAMES[action] if facing else ("fold", "check", "bet")[action]


def fold_rows(folds: Sequence[_Fold]) -> list[dict[str, Any]]:
    """How often bets and raises are folded to on each street, and what a bet with nothing gains."""
    rows = []
    for street, fold in enumerate(folds):
        if not fold.n:
            continue
        pot, price = np.array(fold.gain_sb).mean(axis=0)
        counts = np.array([fold.folds, fold.n - fold.folds, 0.0])
        mean, low, high = shares(counts, np.array([0.5, 0.5, 0.0]))
        gains = [float(f * pot - (1.0 - f) * price) for f in (mean[0], low[0], high[0])]
        rows.append(
            {
                "street": STREET_NAMES[street],
                "n": fold.n,
                "share": float(mean[0]),
                "low": float(low[0]),
                "high": float(high[0]),
                "break_even": float(price / (pot + price)),
                "bluff_gain_sb": gains[0],
                "bluff_gain_low": gains[1],
                "bluff_gain_high": gains[2],
                "exploitable": gains[1] > 0.0,
            }
        )
    return rows


def drift(parts: Sequence[_Part]) -> dict[str, Any]:
    """Figures of each part of the hands, and the evidence that the halves were played by different frequencies."""
    half = len(parts) // 2
    cells = []
    if half:
        early = sum((part.counts for part in parts[:half]), np.zeros((4, 2, 3)))
        late = sum((part.counts for part in parts[half:]), np.zeros((4, 2, 3)))
        for street, facing in np.ndindex(4, 2):
            legal = np.array([bool(facing), True, True])
            before, after = early[street, facing], late[street, facing]
            if before.sum() and after.sum():
                cells.append(
                    {
                        "street": STREET_NAMES[street],
                        "facing_bet": bool(facing),
                        "early": (before / before.sum()).tolist(),
                        "late": (after / after.sum()).tolist(),
                        "log_bayes_factor": log_bayes_factor(before[legal], after[legal]),
                    }
                )
    cells.sort(key=lambda cell: -cell["log_bayes_factor"])
    return {
        "parts": [part.to_json() for part in parts],
        "cells": cells,
        "log_bayes_factor": sum(cell["log_bayes_factor"] for cell in cells),
    }


def log_bayes_factor(first: Floats, second: Floats) -> float:
    """Log odds that two samples of counts come from two distributions rather than one, even chances beforehand."""
    return _log_evidence(first) + _log_evidence(second) - _log_evidence(first + second)


def _log_evidence(counts: Floats) -> float:
    """Log probability of a sequence with these counts, the distribution uniform a priori."""
    k = len(counts)
    return math.lgamma(k) - math.lgamma(float(counts.sum()) + k) + sum(math.lgamma(float(n) + 1.0) for n in counts)
