"""P(action | bucket, betting context) at the table, derived from the counts of a trained model.

The kernel estimate of the 2010 model, P(a | b, history) = sum_i [a_i = a] K(b, v_i) / sum_i K(b, v_i), is the ratio of
the stored counts. Each level of context (context.py) is shrunk towards the next coarser one with tau pseudo-counts
(a Dirichlet prior centred there, as in hierarchical language models: MacKay & Peto 1995):

    P_l(a | b) = (C_l(b, a) + tau_l P_{l+1}(a | b)) / (sum_a C_l(b, a) + tau_l),    P_4 uniform over the legal actions

Preflop the counts of a class are first pooled with those of its neighbours in strength (kernel over class vectors), and
the class's own plain counts are then shrunk towards that pooled estimate with `tau_class`. Last, a share `floor` of the
uniform distribution is mixed in, so that no legal action is ever impossible: P >= floor / legal actions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardbot.errors import ModelError
from hardbot.game.betting import Betting
from hardbot.game.cards import HOLE_CLASS
from hardbot.game.feature_tables import FEATURE_COLUMNS, features_on_board
from hardbot.game.jit import njit
from hardbot.game.preflop import HOLE_EQUITY
from hardbot.game.rules import BOARD_SIZES, N_STREETS
from hardbot.model.artifact import StreetModel, TrainedModel, load_model
from hardbot.model.context import N_ACTIONS, N_LEVELS, StreetContexts, coarse_context, context_slot, street_contexts

Floats = NDArray[np.float64]
_MAX_BOARDS = 4096  # buckets of this many boards are remembered


@njit
def nearest_centroids(vectors: NDArray[np.float32], centroids: NDArray[np.float32]) -> NDArray[np.int16]:
    """Number of the nearest centroid of each vector (n, d), the lowest on ties; -1 for vectors with a NaN."""
    n, d = vectors.shape
    k = len(centroids)
    found = np.full(n, -1, dtype=np.int16)
    for i in range(n):
        best = np.float32(np.inf)
        for b in range(k):
            distance = np.float32(0.0)
            for j in range(d):
                gap = vectors[i, j] - centroids[b, j]
                distance += gap * gap
            if distance < best:  # never true for NaN
                best = distance
                found[i] = b
    return found


@njit
def sum_contexts(counts: NDArray[np.float32] | Floats, ids: NDArray[np.int32], n_contexts: int) -> Floats:
    """Counts (n, k, 3) added up by context id (n,)."""
    n, k, actions = counts.shape
    sums = np.zeros((n_contexts, k, actions))
    for i in range(n):
        for b in range(k):
            for a in range(actions):
                sums[ids[i], b, a] += counts[i, b, a]
    return sums


def standardise(
    features: NDArray[np.float32], columns: tuple[str, ...], mean: NDArray[np.float32], std: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Vectors of the model from rows of FEATURE_COLUMNS."""
    picked = features[:, [FEATURE_COLUMNS.index(name) for name in columns]]
    return np.ascontiguousarray((picked - mean) / std, dtype=np.float32)


def class_kernel(vectors: NDArray[np.float32], width: float) -> Floats:
    """Weights (169, 169) with which preflop classes count for each other; width 0: each for itself."""
    if width == 0:
        return np.eye(len(vectors))
    distance = np.sqrt(((vectors[:, None, :] - vectors[None, :, :]).astype(np.float64) ** 2).sum(axis=2))
    kernel: Floats = np.exp(-distance / width)
    return kernel


def shrink(counts: NDArray[np.float32] | Floats, prior: Floats, tau: float) -> Floats:
    """Mean of the Dirichlet posterior: counts (n, k, 3), prior (n, k, 3) worth `tau` observations."""
    total = counts.sum(axis=2, keepdims=True, dtype=np.float64)
    shrunk: Floats = (counts + tau * prior) / (total + tau)
    return shrunk


def uniform_legal(legal: NDArray[np.bool_]) -> Floats:
    """Equal probabilities over the legal actions, rows as in `legal`."""
    uniform: Floats = legal / legal.sum(axis=-1, keepdims=True)
    return uniform


def coarse_levels(
    counts: NDArray[np.float32] | Floats, contexts: StreetContexts, taus: tuple[float, ...]
) -> tuple[Floats, Floats, Floats]:
    """P(action | bucket) of the contexts of levels 1, 2 and 3 from the counts (slots, k, 3)."""
    sums = [sum_contexts(counts, contexts.level[1], contexts.sizes[1])]
    for level in (1, 2):
        sums.append(sum_contexts(sums[-1], contexts.parent(level), contexts.sizes[level + 1]))
    third = shrink(sums[2], uniform_legal(contexts.to_call_legal)[:, None, :], taus[3])
    second = shrink(sums[1], third[contexts.parent(2)], taus[2])
    first = shrink(sums[0], second[contexts.parent(1)], taus[1])
    return first, second, third


class StreetLikelihood:
    """Probabilities of one street; coarse levels are computed once, decision points when asked for."""

    def __init__(self, part: StreetModel, floor: float) -> None:
        if len(part.taus) != N_LEVELS or min(part.taus) <= 0:
            raise ModelError(f"expected {N_LEVELS} pseudo-counts above 0 on street {part.street}, got {part.taus}")
        self.part = part
        self.floor = floor
        self.contexts = street_contexts(part.street)
        self._pool = class_kernel(part.centroids, part.width) if part.street == 0 else None
        pooled = part.counts if self._pool is None else np.einsum("bc,sca->sba", self._pool, part.counts)
        self._pooled = pooled
        self.levels = coarse_levels(pooled, self.contexts, part.taus)
        self._blind = coarse_levels(part.context_counts[:, None, :], self.contexts, part.taus)

    def probabilities(self, slots: NDArray[np.int32] | NDArray[np.int64]) -> Floats:
        """P(action | bucket) at decision points: (n, k, 3)."""
        p = shrink(self._pooled[slots], self.levels[0][self.contexts.level[1][slots]], self.part.taus[0])
        if self._pool is not None:
            p = shrink(self.part.counts[slots], p, self.part.tau_class)
        return self._with_floor(p, self.contexts.legal[slots])

    def blind_probabilities(self, slots: NDArray[np.int32] | NDArray[np.int64]) -> Floats:
        """P(action | context) whatever the cards: (n, 3), the second baseline."""
        counts, prior = self.part.context_counts[slots, None, :], self._blind[0][self.contexts.level[1][slots]]
        return self._with_floor(shrink(counts, prior, self.part.taus[0]), self.contexts.legal[slots])[:, 0, :]

    def table(self, slot: int) -> Floats:
        """(k + 1, 3): a row per bucket, and last (index -1: blocked hands) the context's mean."""
        slots = np.array([slot])
        rows: Floats = np.concatenate([self.probabilities(slots)[0], self.blind_probabilities(slots)])
        return rows

    def coarse_table(self, context: int) -> Floats:
        """The same for a context of level 3."""
        rows = np.concatenate([self.levels[2][context], self._blind[2][context]])
        table: Floats = self._with_floor(rows[None], self.contexts.to_call_legal[[context]])[0]
        return table

    def _with_floor(self, p: Floats, legal: NDArray[np.bool_]) -> Floats:
        mixed: Floats = (1 - self.floor) * p + self.floor * uniform_legal(legal)[:, None, :]
        return mixed


class ActionModel:
    """How the corpus acts: probabilities of fold, call and raise for every hole hand at a position."""

    def __init__(self, model: TrainedModel | None = None) -> None:
        self.model = model if model is not None else load_model()
        self._streets: list[StreetLikelihood | None] = [None] * N_STREETS
        self._tables: dict[Betting, Floats] = {}
        self._coarse: dict[tuple[int, int], Floats] = {}
        self._buckets: dict[tuple[int, ...], NDArray[np.int16]] = {(): HOLE_CLASS}

    def street(self, street: int) -> StreetLikelihood:
        """Probabilities of one street, made on first use."""
        found = self._streets[street]
        if found is None:
            found = self._streets[street] = StreetLikelihood(self.model.streets[street], self.model.floor)
        return found

    def buckets(self, board: tuple[int, ...]) -> NDArray[np.int16]:
        """Bucket of every hole hand on this board (1326,), -1 for hands that share a card with it; do not write."""
        found = self._buckets.get(board)
        if found is None:
            part = self.model.streets[_street_of(board)]
            vectors = standardise(features_on_board(board), part.columns, part.mean, part.std)
            found = nearest_centroids(vectors, part.centroids)
            if len(self._buckets) >= _MAX_BOARDS:
                self._buckets = {(): HOLE_CLASS}
            self._buckets[board] = found
        return found

    def equities(self, board: tuple[int, ...]) -> NDArray[np.float32]:
        """E of every hole hand on this board (1326,), NaN for hands that share a card with it; do not write."""
        if not board:
            return HOLE_EQUITY.astype(np.float32)
        found: NDArray[np.float32] = features_on_board(board)[:, FEATURE_COLUMNS.index("e")]
        return found

    def bucket_probabilities(self, betting: Betting) -> Floats:
        """P(action | bucket) at this position (k, 3); do not write."""
        return self._table(betting)[:-1]

    def context_probabilities(self, betting: Betting) -> Floats:
        """P(action) at this position whatever the cards (3,); do not write."""
        row: Floats = self._table(betting)[-1]
        return row

    def action_probabilities(self, betting: Betting, board: tuple[int, ...]) -> Floats:
        """P(action | hand) at this position for all hole hands (1326, 3).

        Rows sum to 1 over the legal actions; hands that share a card with the board get the context's mean.
        """
        if len(board) != BOARD_SIZES[betting.street]:
            raise ModelError(f"expected {BOARD_SIZES[betting.street]} board cards at {betting}, got {len(board)}")
        table = self._table(betting)
        found: Floats = table[self.buckets(board)]
        return found

    def _table(self, betting: Betting) -> Floats:
        found = self._tables.get(betting)
        if found is not None:
            return found
        if betting.rules.n_seats != 2:
            return self._coarse_table(betting)  # ring positions are not shared objects: remembered by context
        slot = context_slot(betting)
        street = self.street(betting.street)
        legal = np.zeros(N_ACTIONS, dtype=bool)
        legal[list(betting.legal)] = True
        same = bool((street.contexts.legal[slot] == legal).all())
        found = self._tables[betting] = street.table(slot) if same else self._coarse_table(betting)
        return found

    def _coarse_table(self, betting: Betting) -> Floats:
        key = coarse_context(betting)
        found = self._coarse.get(key)
        if found is None:
            found = self._coarse[key] = self.street(key[0]).coarse_table(key[1])
        missing = [action for action in range(N_ACTIONS) if found[0, action] > 0 and action not in betting.legal]
        if not missing:
            return found
        masked = found.copy()
        masked[:, missing] = 0.0
        renormalised: Floats = masked / masked.sum(axis=1, keepdims=True)
        return renormalised


def _street_of(board: tuple[int, ...]) -> int:
    if len(board) not in BOARD_SIZES:
        raise ModelError(f"expected a board of 0, 3, 4 or 5 cards, got {len(board)}")
    return BOARD_SIZES.index(len(board))
