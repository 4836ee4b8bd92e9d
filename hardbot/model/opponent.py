"""A model of this very opponent, on top of the corpus model.

Three corrections, each of which is nothing at all before the first observation:

1. *Naive Bayes* (the paper): features x_f of the situation given the action. Its Laplace smoothing is
   generalised: six pseudo-observations lie in the very situation asked about and are shaped like the
   corpus model's own prediction p(a). With class counts n(a) and feature counts n_f(x_f, a),
       P(a | opponent) ~ (n(a) + 6 p(a)) * prod_f [(n_f(x_f, a) + 6 p(a)) / (n(a) + 6 p(a))]^w.
   The paper has w = 1. Features of one situation say much the same thing, and w = 1 takes it for six proofs: over the
   first hundred hands of people that predicts worse than no opponent term. w = 1/6 takes their geometric mean.
2. *Exact situations*: naive Bayes takes its features for independent, which they are not; where this
   opponent has been seen often in one situation, its frequencies there count, with the naive Bayes
   prediction as six pseudo-observations.
   Both give P(a | opponent); the likelihood of every hand is then the paper's
       P(a | b, opponent) ~ P(a | b, corpus) * P(a | opponent) / P(a | corpus).
3. *Hands seen*: counts by street, bets to call and strength decile, one for every past action of this
   opponent. A hand that was shown counts in its own decile; one that was not is spread over the
   deciles by its final range, so that folded hands are not left out (an online form of EM).

All counts fade by `decay` a hand, so that recent behaviour weighs more. Beside them, the money put in per hand is
kept as one figure of how loose the opponent is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import ModelError
from hardbot.game.betting import NOBODY, Betting

SCHEMA = 1
N_PSEUDO = 6.0  # the paper's six observations
N_PSEUDO_STRENGTH = 12.0  # weight of the adjusted corpus model against hands seen, per decile
N_DECILES = 10
DEFAULT_DECAY = 0.997  # a hand; chosen by held-out score (`hardbot adapt --grid`), see docs/RESULTS.md

Situation = tuple[str, ...]
N_FEATURES = 6
DEFAULT_FEATURE_WEIGHT = 1.0 / N_FEATURES  # by held-out score, see docs/RESULTS.md; the paper's form is 1


def situation_features(betting: Betting) -> Situation:
    """What the naive Bayes model looks at, for the seat to act."""
    street_text = betting.street_text
    position = "last" if betting.seat == betting.rules.button else "first"
    aggressor = "none" if betting.aggressor == NOBODY else "self" if betting.aggressor == betting.seat else "other"
    facing = "bet" if betting.to_call else "free"
    return (
        f"{facing}:street {betting.street}",
        f"{facing}:to call {min(betting.bets_to_call, 2)}",
        f"{facing}:raises {betting.raises}",
        f"{facing}:{position}",
        f"{facing}:last {street_text[-2:]}",
        f"{facing}:aggressor {aggressor}",
    )


def exact_situation(betting: Betting) -> str:
    """Street, blind order and this street's actions: where frequencies are counted directly."""
    return f"{betting.rules.name}:{betting.street}:{betting.street_text}:{int(betting.aggressor == betting.seat)}"


def strength_cell(betting: Betting) -> int:
    """Street and bets to call, for the counts by strength decile."""
    return 3 * betting.street + min(betting.bets_to_call, 2)


N_CELLS = 12


@dataclass(slots=True)
class _Record:
    """One action of the hand in play, kept until the hand is over."""

    betting: Betting
    action: int
    deciles: NDArray[np.int8]


@dataclass
class OpponentModel:
    """Everything remembered about one opponent. Counts only; probabilities are derived."""

    decay: float = DEFAULT_DECAY
    feature_weight: float = DEFAULT_FEATURE_WEIGHT
    use_naive_bayes: bool = True
    use_situations: bool = True
    use_hands: bool = True
    n_hands: float = 0.0
    _feature_counts: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    _situation_counts: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    _strength_counts: NDArray[np.float64] = field(
        default_factory=lambda: np.zeros((N_CELLS, N_DECILES, 3))
    )  # (cells, deciles, actions)
    _invested: NDArray[np.float64] = field(default_factory=lambda: np.zeros(2))  # small bets, hands it acted in
    _scale: float = 1.0  # what a new observation weighs: grows instead of fading everything
    _records: list[_Record] = field(default_factory=list)

    @property
    def invests_sb(self) -> float | None:
        """Small bets it puts into a pot in the mean of the hands it acted in: its looseness. None before the first."""
        return float(self._invested[0] / self._invested[1]) if self._invested[1] > 0.0 else None

    def predict(self, betting: Betting, p_corpus: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(action | this opponent) (3,) where the corpus model says `p_corpus`."""
        p = p_corpus
        if self.use_naive_bayes:
            p = self._naive_bayes(situation_features(betting), p)
        if self.use_situations:
            counts = self._situation_counts.get(exact_situation(betting))
            if counts is not None:
                p = (counts / self._scale + N_PSEUDO * p) / (counts.sum() / self._scale + N_PSEUDO)
        return p

    def _naive_bayes(self, features: Situation, p_corpus: NDArray[np.float64]) -> NDArray[np.float64]:
        facing = features[0].split(":", 1)[0]
        totals = self._feature_counts.get(facing)
        if totals is None:
            return p_corpus
        pseudo = N_PSEUDO * p_corpus
        classes = totals / self._scale + pseudo
        with np.errstate(divide="ignore", invalid="ignore"):
            log_p = np.log(classes)
            for feature in features:
                counts = self._feature_counts.get(feature)
                seen = pseudo if counts is None else counts / self._scale + pseudo
                log_p = log_p + self.feature_weight * (np.log(seen) - np.log(classes))
        log_p[p_corpus <= 0.0] = -np.inf
        likelihood: NDArray[np.float64] = np.exp(log_p - log_p.max())
        p: NDArray[np.float64] = likelihood / likelihood.sum()
        return p

    def adjust(
        self,
        betting: Betting,
        likelihoods: NDArray[np.float64],
        p_corpus: NDArray[np.float64],
        deciles: NDArray[np.int8],
    ) -> NDArray[np.float64]:
        """P(action | hand, this opponent) (1326, 3) from the corpus model's `likelihoods`.

        `p_corpus` is the corpus model's prediction for the range, `deciles` (1326,) the strength of
        every hand on this board (-1: impossible).
        """
        adjusted = likelihoods
        if self.n_hands > 0.0 and (self.use_naive_bayes or self.use_situations):
            p_opponent = self.predict(betting, p_corpus)
            ratio = np.divide(p_opponent, p_corpus, out=np.ones(3), where=p_corpus > 0.0)
            adjusted = likelihoods * ratio
            adjusted = adjusted / adjusted.sum(axis=1, keepdims=True)
        if self.n_hands > 0.0 and self.use_hands:
            seen = self._strength_counts[strength_cell(betting)] / self._scale  # (deciles, 3)
            seen = seen * (p_corpus > 0.0)
            by_hand = seen[deciles]  # (1326, 3); -1 picks the last row, impossible hands do not matter
            adjusted = (by_hand + N_PSEUDO_STRENGTH * adjusted) / (
                by_hand.sum(axis=1, keepdims=True) + N_PSEUDO_STRENGTH
            )
        return adjusted

    def observe(self, betting: Betting, action: int, deciles: NDArray[np.int8]) -> None:
        """This opponent took `action` at `betting`."""
        features = situation_features(betting)
        facing = features[0].split(":", 1)[0]
        for key in (facing, *features):
            self._feature_counts.setdefault(key, np.zeros(3))[action] += self._scale
        self._situation_counts.setdefault(exact_situation(betting), np.zeros(3))[action] += self._scale
        self._records.append(_Record(betting, action, deciles))
        if self.n_hands == 0.0:
            self.n_hands = 1e-9  # something is known from now on

    def end_hand(self, final_range: NDArray[np.float64]) -> None:
        """The hand is over; `final_range` (1326,) is certain if the cards were shown."""
        for record in self._records:
            known = record.deciles >= 0
            share = np.bincount(record.deciles[known], weights=final_range[known], minlength=N_DECILES)
            total = share.sum()
            if total > 0.0:
                cell = strength_cell(record.betting)
                self._strength_counts[cell, :, record.action] += share * (self._scale / total)
        if self._records:
            last = self._records[-1]
            chips = last.betting.after(last.action).contributions[last.betting.seat]
            self._invested += self._scale * np.array([last.betting.rules.to_sb(chips), 1.0])
        self._records.clear()
        self.n_hands += 1.0
        self._scale /= self.decay
        if self._scale > 1e12:
            self._rescale()

    def _rescale(self) -> None:
        for counts in (*self._feature_counts.values(), *self._situation_counts.values()):
            counts /= self._scale
        self._strength_counts /= self._scale
        self._invested /= self._scale
        self._scale = 1.0

    def to_json(self) -> dict[str, Any]:
        """Everything remembered, for a file."""
        self._rescale()
        return {
            "schema": SCHEMA,
            "decay": self.decay,
            "n_hands": self.n_hands,
            "invested": self._invested.tolist(),
            "invests_sb": self.invests_sb,
            "features": {key: counts.tolist() for key, counts in self._feature_counts.items()},
            "situations": {key: counts.tolist() for key, counts in self._situation_counts.items()},
            "strength": self._strength_counts.tolist(),
        }

    @classmethod
    def from_json(cls, document: dict[str, Any], where: str) -> OpponentModel:
        """Memory of one opponent; ModelError names `where` if it is not of this form."""
        if document.get("schema") != SCHEMA:
            raise ModelError(f"expected opponent memory of schema {SCHEMA}, got {document.get('schema')!r} in {where}")
        try:
            model = cls(decay=float(document["decay"]), n_hands=float(document["n_hands"]))
            model._feature_counts = _triples(document["features"])
            model._situation_counts = _triples(document["situations"])
            strength = np.array(document["strength"], dtype=np.float64)
            total, hands = document.get("invested", (0.0, 0.0))  # files of the first version have none
            model._invested = np.array([float(total), float(hands)])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"expected opponent memory, got a damaged one in {where}: {error}") from error
        if strength.shape != (N_CELLS, N_DECILES, 3):
            raise ModelError(f"expected strength counts {(N_CELLS, N_DECILES, 3)}, got {strength.shape} in {where}")
        model._strength_counts = strength
        return model


def _triples(rows: dict[str, list[float]]) -> dict[str, NDArray[np.float64]]:
    tables = {key: np.array(row, dtype=np.float64) for key, row in rows.items()}
    for key, row in tables.items():
        if row.shape != (3,):
            raise ValueError(f"row {key!r} has shape {row.shape}, not (3,)")
    return tables


def save_memory(path: Path, models: dict[str, OpponentModel]) -> None:
    """Write the memory of all opponents aside, then rename: never a half-written file."""
    document = {"schema": SCHEMA, "opponents": {name: model.to_json() for name, model in models.items()}}
    aside = path.with_name(path.name + ".tmp")
    aside.write_text(json.dumps(document), encoding="utf-8")
    aside.replace(path)


def load_memory(path: Path) -> dict[str, OpponentModel]:
    """Memory of all opponents by name."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        opponents = document["opponents"].items()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"expected a file of opponent memory at {path}: {error}") from error
    return {name: OpponentModel.from_json(entry, f"{path} ({name})") for name, entry in opponents}
