"""Scores of a model on hands it has not seen.

`action_nats`: mean -log P(action | bucket of the actor's cards, context), only on sources that show all cards: shown
hands never folded, so on censored ones this would reward P(fold) = 0. `public_nats`: -log P(all public actions, shown
cards | board) per action, hidden cards summed over all pairs of hands without a common card; shown cards cost their
prior (row `cards`, the same for every model), and a street's row is what its actions add, given the shown cards. Both
come with two baselines: `uniform` over legal actions, and `context` frequencies without cards.

`range_bits`: mean log2 of the posterior probability of the true hole cards over their prior, uniform over hands that
avoid the board and the observer's cards, after the last action (overall) and after the last action of each street.
The peer is Poki's re-weighting (Davidson 2002): weight *= clip((v - mu + s) / (2 s), .01, 1) with v the hand's EHS
(before the flop: the share of hands it beats in equity), mu(raise) = 1 - F(raise), mu(call) = mu(raise) - F(call),
s = .4 (1 - mu), F the published default frequencies (`poki`) or those of the model's corpus by street and bet to call
(`poki_observed`).

Calibration: hands are ranked by posterior; the mass in front of the true hand is uniform on 0..1 if the posterior is
right, so each tenth should hold a tenth of the true hands (a hand within a tie is spread over its span).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.game.cards import HOLE_CLASS
from hardbot.game.rules import STREET_NAMES
from hardbot.model.artifact import TrainedModel
from hardbot.model.context import street_contexts
from hardbot.model.likelihood import StreetLikelihood, nearest_centroids, standardise, uniform_legal
from pipeline.dataset import Corpus, load_corpus
from pipeline.range_score import OVERALL, Mean, RangeScorer

Floats = NDArray[np.float64]
Progress = Callable[[str, int, int], None]
MAX_RANGE_HANDS = 20_000
STORE_SUFFIX = ".duckdb"
_SLOTS_AT_ONCE = 512  # probability tables held in memory


def taken_probabilities(
    likelihood: StreetLikelihood, slots: NDArray[np.int32], buckets: NDArray[np.int16], actions: NDArray[np.int8]
) -> Floats:
    """P(action | bucket) of decisions (n,) on one street."""
    found = np.empty(len(slots))
    order = np.argsort(slots, kind="stable")
    ordered = slots[order]
    distinct, starts = np.unique(ordered, return_index=True)
    ends = np.append(starts[1:], len(ordered))
    for chunk in range(0, len(distinct), _SLOTS_AT_ONCE):
        part = slice(chunk, chunk + _SLOTS_AT_ONCE)
        rows = order[starts[part][0] : ends[part][-1]]
        p = likelihood.probabilities(distinct[part])
        found[rows] = p[np.searchsorted(distinct[part], slots[rows]), buckets[rows], actions[rows]]
    return found


class Likelihoods:
    """A model's probabilities on all streets, for whole arrays of decisions."""

    def __init__(self, model: TrainedModel) -> None:
        self.model = model
        self.streets = [StreetLikelihood(part, model.floor) for part in model.streets]

    def buckets(self, street: int, corpus: Corpus, rows: NDArray[np.int64]) -> NDArray[np.int16]:
        """Buckets of decisions whose cards are known."""
        if street == 0:
            return HOLE_CLASS[corpus.hole[rows]]
        part = self.model.streets[street]
        return nearest_centroids(standardise(corpus.features[rows], part.columns, part.mean, part.std), part.centroids)

    def of_actions(self, street: int, corpus: Corpus, rows: NDArray[np.int64]) -> Floats:
        """P(action taken | cards) of decisions whose cards are known."""
        own = self.buckets(street, corpus, rows)
        return taken_probabilities(self.streets[street], corpus.slot[rows], own, corpus.action[rows])

    def blind(self, street: int, corpus: Corpus, rows: NDArray[np.int64]) -> Floats:
        """P(action taken | context)."""
        p = self.streets[street].blind_probabilities(corpus.slot[rows])
        found: Floats = p[np.arange(len(rows)), corpus.action[rows]]
        return found


def uniform_probabilities(street: int, corpus: Corpus, rows: NDArray[np.int64]) -> Floats:
    """1 / number of legal actions."""
    p = uniform_legal(street_contexts(street).legal[corpus.slot[rows]])
    found: Floats = p[np.arange(len(rows)), corpus.action[rows]]
    return found


def action_nats(likelihoods: Likelihoods, corpus: Corpus) -> dict[str, dict[str, float | int | None]]:
    """Model and baselines per street and overall, over hands of sources that show all cards."""
    sums = {name: {key: Mean() for key in ("model", "context", "uniform")} for name in (*STREET_NAMES, OVERALL)}
    for street, name in enumerate(STREET_NAMES):
        rows = np.flatnonzero((corpus.street == street) & corpus.complete[corpus.hand])
        if not len(rows):
            continue
        taken = {
            "model": likelihoods.of_actions(street, corpus, rows),
            "uniform": uniform_probabilities(street, corpus, rows),
            "context": likelihoods.blind(street, corpus, rows),
        }
        for key, p in taken.items():
            nats = float(-np.log(p).sum())
            sums[name][key].add(nats, len(rows))
            sums[OVERALL][key].add(nats, len(rows))
    return {name: {key: mean.value for key, mean in row.items()} | {"n": row["model"].n} for name, row in sums.items()}


def range_scores(
    model: TrainedModel, corpus: Corpus, max_hands: int = MAX_RANGE_HANDS, progress: Progress | None = None
) -> dict[str, Any]:
    """range_bits, public_nats and calibration over at most `max_hands` hands, evenly spaced."""
    scorer = RangeScorer(model)
    chosen = np.linspace(0, corpus.n_hands - 1, min(max_hands, corpus.n_hands)).astype(int)
    for done, i in enumerate(chosen):
        scorer.add(corpus, int(i))
        if progress is not None and done % 200 == 0:
            progress("scoring", done, len(chosen))
    return scorer.scores.report() | {"range_hands": len(chosen)}


def score_model(
    model: TrainedModel, corpus: Corpus, max_hands: int = MAX_RANGE_HANDS, progress: Progress | None = None
) -> dict[str, Any]:
    """Everything `hardbot score` prints, as plain data; `action_nats` is None without a source that shows all cards."""
    complete = int(corpus.complete.sum())
    report: dict[str, Any] = {
        "model_id": model.model_id,
        "corpus_hash": corpus.corpus_hash,
        "hands": corpus.n_hands,
        "hands_all_cards": complete,
        "decisions": corpus.n_decisions,
        "decisions_beyond_cap": corpus.n_dropped,
        "action_nats": action_nats(Likelihoods(model), corpus) if complete else None,
    }
    return report | range_scores(model, corpus, max_hands, progress)


def corpus_of_paths(paths: Sequence[Path]) -> Corpus:
    """Heads-up hands of hand-history files (read into a store that lives as long as this call) or of one store."""
    if len(paths) == 1 and paths[0].suffix == STORE_SUFFIX:
        return load_corpus(paths[0], all_features=True)
    from pipeline.ingest import ingest

    with TemporaryDirectory(prefix="hardbot-score-") as folder:
        store = Path(folder) / f"score{STORE_SUFFIX}"
        ingest(paths, store)
        return load_corpus(store, all_features=True)


def held_out_nats(model: TrainedModel, corpus: Corpus, max_hands: int = MAX_RANGE_HANDS) -> float:
    """The one figure models are compared by: action_nats where all cards are known, else public_nats."""
    if corpus.is_complete:
        value = action_nats(Likelihoods(model), corpus)[OVERALL]["model"]
    else:
        value = range_scores(model, corpus, max_hands)["public_nats"][OVERALL]["model"]
    assert value is not None, "an empty corpus cannot be scored"
    return float(value)


__all__ = [
    "MAX_RANGE_HANDS",
    "Likelihoods",
    "Mean",
    "action_nats",
    "corpus_of_paths",
    "held_out_nats",
    "range_scores",
    "score_model",
    "taken_probabilities",
    "uniform_probabilities",
]
