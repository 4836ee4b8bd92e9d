"""Counting with hidden cards: expectation-maximisation over the hands nobody saw.

Human corpora show cards only at showdown. Counting shown hands alone is biased: they never folded, so P(fold) comes
out as 0, and strong hands are over-represented in every call. Treat a hidden hand as missing data instead (Dempster,
Laird & Rubin 1977). E-step: the posterior of the hidden hand given all public actions, the board and shown cards,
jointly over both seats with exact card removal (ranges.py). M-step: expected kernel counts, each hidden decision spread
over buckets by that posterior; shrinkage to coarser contexts makes it a smoothed EM (Silverman et al. 1990).

Known hands are counted exactly, with the kernel at their own vector; hidden ones with the mean kernel weight of
their bucket's members (kernel.py). Where no card is hidden nothing is left to expect and the fit is plain counting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import ModelError
from hardbot.game.cards import HOLE_CARDS, HOLE_CLASS, N_CLASSES, N_HOLES
from hardbot.game.feature_tables import features_on_board
from hardbot.game.rules import BOARD_SIZES, N_STREETS
from hardbot.model.artifact import StreetModel, TrainedModel
from hardbot.model.context import N_ACTIONS, street_contexts
from hardbot.model.likelihood import StreetLikelihood
from pipeline.buckets import SAMPLE_SIZE, Buckets
from pipeline.dataset import Corpus
from pipeline.features import CLASS_MOMENTS, decision_features
from pipeline.kernel import context_counts, kernel_counts, mean_kernel
from pipeline.ranges import N_PAIRS, classes, expect_hands
from pipeline.settings import ModelSettings, StreetSettings

Progress = Callable[[str, int, int], None]
Counts = NDArray[np.float64]
_SAMPLE_SEED = 17
LEAST_COUNT = 1e-3
_OTHER = {1326 * 1225: 1225, 1176 * 1081: 1081, 1128 * 1035: 1035, 1081 * 990: 990}  # hands left beside a known one


@dataclass(frozen=True)
class Fit:
    """A fitted model; `trace` has the nats an action (prior of shown cards left out) before each M-step of EM."""

    model: TrainedModel
    n_known: int  # decisions counted with their cards
    n_hidden: int  # decisions counted by expectation
    trace: tuple[float, ...]


@dataclass(frozen=True)
class StreetKernel:
    """What turns a decision of one street into counts."""

    settings: StreetSettings
    centroids: NDArray[np.float32]
    mean: NDArray[np.float32]
    std: NDArray[np.float32]
    columns: tuple[str, ...]
    weights: NDArray[np.float32]  # (k, k) mean_kernel; its diagonal is the unit of the counts

    @property
    def norm(self) -> NDArray[np.float32]:
        """Mean weight of a bucket's own members (k,)."""
        diagonal: NDArray[np.float32] = np.ascontiguousarray(np.diagonal(self.weights))
        return diagonal


def bucket_sample(corpus: Corpus, street: int, seed: int) -> NDArray[np.float32]:
    """Rows of FEATURE_COLUMNS that say where hands lie on a street: known ones, and for each hidden one a random hand.

    Buckets made from shown hands alone would have no place for what people fold.
    """
    at_street = corpus.street == street
    hole = corpus.hole
    known: NDArray[np.float32] = corpus.features[at_street & (hole >= 0)]
    hidden = np.flatnonzero(at_street & (hole < 0))
    if not len(hidden):
        return known
    rng = np.random.default_rng([seed, street, _SAMPLE_SEED])
    if len(hidden) > SAMPLE_SIZE:
        hidden = np.sort(rng.choice(hidden, SAMPLE_SIZE, replace=False))
    boards = corpus.board[corpus.hand[hidden]]
    drawn = rng.integers(0, N_HOLES, len(hidden)).astype(np.int16)
    seen = boards[:, : BOARD_SIZES[street]]
    while True:
        cards = HOLE_CARDS[drawn]
        blocked = np.flatnonzero((cards[:, :, None] == seen[:, None, :]).any(axis=(1, 2)))
        if not len(blocked):
            break
        drawn[blocked] = rng.integers(0, N_HOLES, len(blocked))
    return np.concatenate([known, decision_features(street, drawn, boards)])


def class_vectors() -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Standardised (E, E2) of the 169 classes, weighted by their number of hands, with mean and standard deviation."""
    hands = np.bincount(HOLE_CLASS, minlength=N_CLASSES) / N_HOLES
    mean = (hands[:, None] * CLASS_MOMENTS).sum(axis=0)
    std = np.sqrt((hands[:, None] * (CLASS_MOMENTS - mean) ** 2).sum(axis=0))
    return ((CLASS_MOMENTS - mean) / std).astype(np.float32), mean.astype(np.float32), std.astype(np.float32)


def street_kernel(street: int, corpus: Corpus, buckets: Buckets | None, settings: ModelSettings) -> StreetKernel:
    """Kernel of a street over the corpus's own vectors; preflop the classes count for themselves."""
    own = settings.streets[street]
    if buckets is None:
        vectors, mean, std = class_vectors()
        return StreetKernel(own, vectors, mean, std, ("e", "e2"), np.eye(N_CLASSES, dtype=np.float32))
    sample = bucket_sample(corpus, street, settings.seed)
    sample = sample[:: max(1, len(sample) // SAMPLE_SIZE)]
    vectors = buckets.vectors(sample)
    weights = mean_kernel(vectors, buckets.assign(sample), buckets.centroids, own.width)
    return StreetKernel(own, buckets.centroids, buckets.mean, buckets.std, buckets.columns, weights)


def known_counts(corpus: Corpus, street: int, kernel: StreetKernel, buckets: Buckets | None) -> Counts:
    """C (slots, k, 3) of the decisions whose cards are known."""
    rows = np.flatnonzero((corpus.street == street) & (corpus.hole >= 0))
    slots, actions = corpus.slot[rows], corpus.action[rows]
    n_slots = street_contexts(street).n_slots
    if buckets is None:
        own = HOLE_CLASS[corpus.hole[rows]]
        vectors, width = kernel.centroids[own], 0.0
    else:
        vectors, width = buckets.vectors(corpus.features[rows]), kernel.settings.width
        own = buckets.assign(corpus.features[rows])
    return kernel_counts(vectors, own, slots, actions, kernel.centroids, width, kernel.norm, n_slots)


def street_model(street: int, kernel: StreetKernel, counts: Counts, contexts: NDArray[np.float32]) -> StreetModel:
    """One street of a model from its counts."""
    return StreetModel(
        street=street,
        columns=kernel.columns,
        width=kernel.settings.width,
        taus=kernel.settings.taus,
        tau_class=kernel.settings.tau_class,
        centroids=kernel.centroids,
        mean=kernel.mean,
        std=kernel.std,
        kernel_norm=kernel.norm,
        counts=rounded(counts),
        context_counts=contexts,
    )


def rounded(counts: Counts) -> NDArray[np.float32]:
    """Counts to 12 binary digits, below a thousandth 0: a third of the file, and no difference to a probability."""
    bits = np.where(counts < LEAST_COUNT, 0.0, counts).astype(np.float32).view(np.uint32)
    return ((bits + np.uint32(0x800)) & np.uint32(0xFFFFF000)).view(np.float32)


def fit_model(
    corpus: Corpus,
    buckets: tuple[Buckets | None, ...],
    settings: ModelSettings,
    *,
    use_hidden: bool = True,
    expectation: Expectation | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Counts of all streets; `use_hidden=False` counts shown hands alone (the biased way, for comparison).

    An `expectation` over the same corpus and buckets saves looking up the buckets of hidden hands again.
    """
    settings.check()
    if len(buckets) != N_STREETS or buckets[0] is not None:
        raise ModelError(f"expected buckets of {N_STREETS} streets, None preflop, got {len(buckets)}")
    kernels = [street_kernel(street, corpus, buckets[street], settings) for street in range(N_STREETS)]
    known = [known_counts(corpus, street, kernels[street], buckets[street]) for street in range(N_STREETS)]
    contexts = []
    for street in range(N_STREETS):
        rows = corpus.street == street
        contexts.append(context_counts(corpus.slot[rows], corpus.action[rows], street_contexts(street).n_slots))
    hidden_decisions = corpus.hole < 0
    n_hidden = int(hidden_decisions.sum()) if use_hidden else 0
    n_known = int((~hidden_decisions).sum())

    def assemble(counts: list[Counts]) -> TrainedModel:
        parts = (street_model(s, kernels[s], counts[s], contexts[s]) for s in range(N_STREETS))
        return TrainedModel(tuple(parts), settings.floor)

    if not n_hidden:
        return Fit(assemble(known), n_known, 0, ())
    expectation = expectation or Expectation(corpus, buckets, progress)
    model, trace = _iterate(expectation, assemble, known, kernels, settings, progress)
    return Fit(model, n_known, n_hidden, trace)


def _iterate(
    expectation: Expectation,
    assemble: Callable[[list[Counts]], TrainedModel],
    known: list[Counts],
    kernels: list[StreetKernel],
    settings: ModelSettings,
    progress: Progress | None,
) -> tuple[TrainedModel, tuple[float, ...]]:
    """EM from probabilities that ignore the cards until an iteration gains less than the tolerance."""
    trace: list[float] = []
    model = assemble(known)
    probabilities = [_blind(part, settings.floor) for part in model.streets]
    for iteration in range(settings.em_iterations):
        expected, nats = expectation.run(probabilities)
        trace.append(nats)
        counts = [k + _spread_kernel(e, kernel) for k, e, kernel in zip(known, expected, kernels, strict=True)]
        model = assemble(counts)
        if progress is not None:
            progress("expectation-maximisation", iteration + 1, settings.em_iterations)
        if len(trace) > 1 and trace[-2] - trace[-1] < settings.em_tolerance:
            break
        probabilities = [_given_bucket(part, settings.floor) for part in model.streets]
    return model, tuple(trace)


def _blind(part: StreetModel, floor: float) -> NDArray[np.float32]:
    likelihood = StreetLikelihood(part, floor)
    p = likelihood.blind_probabilities(np.arange(likelihood.contexts.n_slots))
    return np.ascontiguousarray(np.broadcast_to(p[:, None, :], part.counts.shape), dtype=np.float32)


def public_nats(model: TrainedModel, expectation: Expectation) -> float:
    """Mean nats an action of a corpus, hidden cards summed over; of known cards, the plain action_nats."""
    return expectation.run([_given_bucket(part, model.floor) for part in model.streets])[1]


def _given_bucket(part: StreetModel, floor: float) -> NDArray[np.float32]:
    likelihood = StreetLikelihood(part, floor)
    return likelihood.probabilities(np.arange(likelihood.contexts.n_slots)).astype(np.float32)


def _spread_kernel(expected: Counts, kernel: StreetKernel) -> Counts:
    """Kernel counts (slots, k, 3) of expected decisions (slots, 3, k)."""
    seen = np.flatnonzero(expected.any(axis=(1, 2)))
    counts = np.zeros((len(expected), expected.shape[2], N_ACTIONS))
    counts[seen] = (expected[seen] @ (kernel.weights / kernel.norm)).transpose(0, 2, 1)
    return counts


class Expectation:
    """E-step over a corpus: expected decisions of hidden seats by bucket, and the likelihood of everything seen."""

    def __init__(self, corpus: Corpus, buckets: tuple[Buckets | None, ...], progress: Progress | None = None) -> None:
        hidden = np.zeros(corpus.n_hands, dtype=bool)
        hidden[corpus.hand[corpus.hole < 0]] = True
        self.hidden = corpus.select(hidden)
        self.n_decisions = corpus.n_decisions
        self.buckets = hand_buckets(self.hidden, buckets, progress)
        self.k = [N_CLASSES if part is None else part.k for part in buckets]
        self.known = [_known_rows(corpus.select(~hidden), street, buckets[street]) for street in range(N_STREETS)]
        pairs = [N_PAIRS[int(n)] for n in (self.hidden.board >= 0).sum(axis=1)]
        shown = (self.hidden.holes >= 0).any(axis=1)  # one hand shown: its prior is no part of the likelihood
        self.log_pairs = float(np.log(np.where(shown, [_OTHER[n] for n in pairs], pairs)).sum())

    def run(self, probabilities: list[NDArray[np.float32]]) -> tuple[list[Counts], float]:
        """Expected decisions (slots, 3, k) by street, and the mean nats an action."""
        c = self.hidden
        expected = [np.zeros((street_contexts(s).n_slots, N_ACTIONS, self.k[s])) for s in range(N_STREETS)]
        logs = np.zeros(c.n_hands)
        public = (c.board, c.holes, c.first, c.street, c.slot, c.seat, c.action)
        p0, p1, p2, p3 = probabilities
        r0, r1, r2, r3 = expected
        expect_hands(*public, self.buckets, classes(), HOLE_CARDS, p0, p1, p2, p3, r0, r1, r2, r3, logs)
        total = logs.sum() - self.log_pairs
        for p, (slots, own, actions) in zip(probabilities, self.known, strict=True):
            total += np.log(p[slots, own, actions]).sum(dtype=np.float64)
        return expected, float(-total / self.n_decisions)


def _known_rows(
    corpus: Corpus, street: int, buckets: Buckets | None
) -> tuple[NDArray[np.int32], NDArray[np.int16], NDArray[np.int8]]:
    """Slots, buckets and actions of a street's decisions in a corpus without hidden ones."""
    rows = np.flatnonzero(corpus.street == street)
    own = HOLE_CLASS[corpus.hole[rows]] if buckets is None else buckets.assign(corpus.features[rows])
    return corpus.slot[rows], own, corpus.action[rows]


def hand_buckets(
    corpus: Corpus, buckets: tuple[Buckets | None, ...], progress: Progress | None = None
) -> NDArray[np.int16]:
    """Buckets of all hole hands on flop, turn and river of every hand (n, 3, 1326), -1 where there are none."""
    found = np.full((corpus.n_hands, N_STREETS - 1, N_HOLES), -1, dtype=np.int16)
    dealt = (corpus.board >= 0).sum(axis=1)
    for i in range(corpus.n_hands):
        for street in range(1, N_STREETS):
            part = buckets[street]
            if part is not None and dealt[i] >= BOARD_SIZES[street]:
                board = tuple(int(card) for card in corpus.board[i, : BOARD_SIZES[street]])
                found[i, street - 1] = part.assign(features_on_board(board))
        if progress is not None and i % 1000 == 0:
            progress("buckets of hidden hands", i, corpus.n_hands)
    return found
