"""Studies on held-out hands: what each feature adds, what more hands add, what hidden cards cost.

All of them fit on the training hands and judge on the test hands of dataset.split.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import ModelError
from pipeline.buckets import FEATURE_SETS
from pipeline.dataset import TEST, Corpus, split
from pipeline.em import Expectation, fit_model, public_nats
from pipeline.score import Likelihoods, action_nats
from pipeline.selection import fit_all_buckets
from pipeline.settings import ModelSettings

Progress = Callable[[str, int, int], None]
CORPUS_SIZES = (10_000, 100_000, 1_000_000)


def _judge(train: Corpus, test: Corpus, settings: ModelSettings, *, use_hidden: bool = True) -> dict[str, Any]:
    """Held-out nats of one fit: per street where all cards are known, else over whole hands."""
    buckets = fit_all_buckets(train, settings)
    model = fit_model(train, buckets, settings, use_hidden=use_hidden).model
    if test.is_complete:
        rows = action_nats(Likelihoods(model), test)
        return {street: row["model"] for street, row in rows.items()}
    return {"overall": public_nats(model, Expectation(test, buckets))}


def study_features(corpus: Corpus, settings: ModelSettings, progress: Progress | None = None) -> list[dict[str, Any]]:
    """Held-out nats by feature set: E; with E2; with the potentials; with one-card outs.

    The corpus must be loaded with `all_features`.
    """
    sides = split(corpus)
    train, test = corpus.select(sides != TEST), corpus.select(sides == TEST)
    rows = []
    for done, (name, columns) in enumerate(FEATURE_SETS.items()):
        rows.append({"features": name} | _judge(train, test, replace(settings, columns=columns)))
        if progress is not None:
            progress("feature sets", done + 1, len(FEATURE_SETS))
    return rows


def study_size(
    corpus: Corpus,
    settings: ModelSettings,
    sizes: Sequence[int] = CORPUS_SIZES,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Held-out nats by number of training hands, evenly spaced; the last row has them all."""
    sides = split(corpus)
    train, test = corpus.select(sides != TEST), corpus.select(sides == TEST)
    wanted = [size for size in sizes if size < train.n_hands] + [train.n_hands]
    rows = []
    for done, size in enumerate(wanted):
        rows.append({"hands": size} | _judge(train.select(_spaced(train.n_hands, size)), test, settings))
        if progress is not None:
            progress("corpus sizes", done + 1, len(wanted))
    return rows


def _spaced(n: int, wanted: int) -> NDArray[np.bool_]:
    mask = np.zeros(n, dtype=bool)
    mask[np.linspace(0, n - 1, wanted).astype(int)] = True
    return mask


def study_censoring(corpus: Corpus, settings: ModelSettings, progress: Progress | None = None) -> dict[str, Any]:
    """How much of the gap between naive and full-information fitting EM wins back, in held-out action nats.

    The training hands that did not reach a showdown lose their cards; all three fits have the same buckets' recipe and
    settings, and are judged on test hands with all cards.
    """
    if not corpus.is_complete:
        raise ModelError("expected a corpus that shows all cards, to hide some, got a censored one")
    sides = split(corpus)
    train, test = corpus.select(sides != TEST), corpus.select(sides == TEST)
    censored = train.hide_folded()
    fits: dict[str, tuple[Corpus, bool]] = {"full": (train, True), "naive": (censored, False), "em": (censored, True)}
    nats: dict[str, float] = {}
    for done, (name, (hands, use_hidden)) in enumerate(fits.items()):
        nats[name] = float(_judge(hands, test, settings, use_hidden=use_hidden)["overall"])
        if progress is not None:
            progress("censoring", done + 1, len(fits))
    gap = nats["naive"] - nats["full"]
    return {
        "train_hands": train.n_hands,
        "hidden_hands": int((~train.reached_showdown()).sum()),
        "test_decisions": test.n_decisions,
        "action_nats": nats,
        "won_back": (nats["naive"] - nats["em"]) / gap if gap > 0 else None,
    }
