"""The heads-up part of the store as arrays, and its division into training and held-out hands.

Cards are known of every seat in competition logs and self-made corpora, and only of shown hands in human ones; a
decision whose cards are hidden has hole -1 and NaN features. Decisions of old records beyond the cap are brought under
it; a raise the cap forbids has no counterpart in the contexts and is left out, its number kept in `n_dropped`.

Held-out hands are chosen by whole matches where there are many, else by blocks of neighbouring hands of a match. The
choice hashes names and block numbers only, so a hand stays on its side when the corpus grows. Both hands of a duplicate
pair carry neighbouring numbers in one match and always fall into the same block.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardbot.errors import ModelError
from hardbot.game.betting import first_betting
from hardbot.game.feature_tables import FEATURE_COLUMNS
from hardbot.game.rules import ACTION_CHARS, preset
from hardbot.model.context import MODEL_RULES, context_slot, slots_of, street_contexts
from pipeline.features import STORED_COLUMNS, decision_features
from pipeline.store import HEADS_UP_RULES, Store, opened

TRAIN, VALIDATION, TEST = 0, 1, 2
MANY_MATCHES = 20  # from here on whole matches are held out
BLOCK_PAIRS = 100
SHARES = (0.8, 0.1, 0.1)  # train, validation, test


@dataclass(frozen=True)
class Corpus:
    """n hands and their m decisions, hand after hand; `first[i]:first[i + 1]` are the decisions of hand i."""

    hand_id: NDArray[np.int64]  # (n,)
    order: NDArray[np.int8]  # (n,) blind order: index in MODEL_RULES
    match: NDArray[np.int32]  # (n,) index in match_names
    match_names: tuple[str, ...]
    pair: NDArray[np.int64]  # (n,) number of the duplicate pair within the match, or half the hand's place in it
    board: NDArray[np.int8]  # (n, 5), -1 for cards not dealt
    holes: NDArray[np.int16]  # (n, 2) hole index by seat, -1 hidden
    complete: NDArray[np.bool_]  # (n,) from a file that shows all cards of all its hands, folded ones too
    first: NDArray[np.int64]  # (n + 1,)
    hand: NDArray[np.int32]  # (m,) index of the hand
    street: NDArray[np.int8]  # (m,)
    slot: NDArray[np.int32]  # (m,) within the street, see hardbot.model.context
    seat: NDArray[np.int8]  # (m,)
    action: NDArray[np.int8]  # (m,)
    features: NDArray[np.float32]  # (m, 7) FEATURE_COLUMNS; NaN preflop and for hidden cards
    n_dropped: int  # decisions beyond the cap
    corpus_hash: str

    @property
    def n_hands(self) -> int:
        """Number of hands."""
        return len(self.hand_id)

    @property
    def n_decisions(self) -> int:
        """Number of decisions."""
        return len(self.action)

    @property
    def hole(self) -> NDArray[np.int16]:
        """Hole index of each decision's actor, -1 when hidden (m,)."""
        found: NDArray[np.int16] = self.holes[self.hand, self.seat]
        return found

    @property
    def is_complete(self) -> bool:
        """Every card is known, folded hands too; otherwise cards are known because they were shown (censored)."""
        return bool(self.complete.all())

    def select(self, hands: NDArray[np.bool_]) -> Corpus:
        """The hands of a mask (n,)."""
        keep = hands[self.hand]
        lengths = np.diff(self.first)[hands]
        numbers = np.cumsum(hands) - 1
        return Corpus(
            hand_id=self.hand_id[hands],
            order=self.order[hands],
            match=self.match[hands],
            match_names=self.match_names,
            pair=self.pair[hands],
            board=self.board[hands],
            holes=self.holes[hands],
            complete=self.complete[hands],
            first=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            hand=numbers[self.hand[keep]].astype(np.int32),
            street=self.street[keep],
            slot=self.slot[keep],
            seat=self.seat[keep],
            action=self.action[keep],
            features=self.features[keep],
            n_dropped=self.n_dropped,
            corpus_hash=self.corpus_hash,
        )

    def hide_folded(self) -> Corpus:
        """The same hands as an onlooker sees them: cards only of hands that went to a showdown."""
        shown = self.reached_showdown()
        holes = np.where(shown[:, None], self.holes, np.int16(-1)).astype(np.int16)
        features = self.features.copy()
        features[~shown[self.hand]] = np.nan
        return replace(self, holes=holes, features=features, complete=np.zeros_like(self.complete))

    def reached_showdown(self) -> NDArray[np.bool_]:
        """Hands that no fold ended (n,)."""
        folded = np.zeros(self.n_hands, dtype=bool)
        folded[self.hand[self.action == 0]] = True
        return ~folded


def load_corpus(
    store: Store | Path | str,
    *,
    matches: Sequence[str] | None = None,
    without_matches: Sequence[str] = (),
    without_players: Sequence[str] = (),
    all_features: bool = False,
) -> Corpus:
    """Heads-up hands of a store as arrays, with the features kept there.

    Patterns are SQL GLOBs on match names. Rows not yet in the store's `features` are computed here; `all_features`
    computes every column of FEATURE_COLUMNS, not only the four of the model's vectors.
    """
    where, parameters = _hand_filter(matches, without_matches, without_players)
    with opened(store) as reader:
        hands = reader.query(_HANDS.format(where=where), parameters)
        decisions = reader.query(_DECISIONS.format(where=where), parameters)
        clipped = reader.query(_CLIPPED.format(where=where), parameters)
    if not hands.height:
        raise ModelError(f"expected heads-up hands in {_name(store)}, got none that fit the selection")
    corpus = _corpus_arrays(hands, _bring_under_cap(decisions, clipped))
    _complete_features(corpus, all_features)
    return corpus


_HANDS = (
    "SELECT h.hand_id, h.rules, h.match, h.source_hand, h.identity::VARCHAR AS identity, "
    + ", ".join(f"coalesce(h.board[{i}], -1)::TINYINT AS b{i}" for i in range(1, 6))
    + ", coalesce(h.holes[1], -1)::SMALLINT AS hole0, coalesce(h.holes[2], -1)::SMALLINT AS hole1, s.complete"
    + " FROM hands h JOIN (SELECT file_id, bool_and(cards_known = 'all') AS complete FROM hands GROUP BY file_id) s"
    + " USING (file_id) WHERE {where} ORDER BY h.hand_id"
)
_DECISIONS = (
    "SELECT d.hand_id, d.step, d.street, d.node, d.seat, d.action, f.e, f.e2, f.ppot, f.npot "
    "FROM decisions d JOIN hands h USING (hand_id) "
    "LEFT JOIN features f ON d.hand_id = f.hand_id AND d.step = f.step WHERE {where} ORDER BY d.hand_id, d.step"
)
_CLIPPED = (
    "SELECT d.hand_id, d.step, h.rules, h.betting "
    "FROM decisions d JOIN hands h USING (hand_id) WHERE d.clipped AND {where} ORDER BY d.hand_id, d.step"
)


def corpus_fingerprint(
    store: Store | Path | str,
    *,
    matches: Sequence[str] | None = None,
    without_matches: Sequence[str] = (),
    without_players: Sequence[str] = (),
) -> str:
    """Short hash of the hands a selection holds, without loading them; ingestion order does not matter."""
    where, parameters = _hand_filter(matches, without_matches, without_players)
    sql = f"SELECT count(*) || '-' || coalesce(bit_xor(hash(h.identity)), 0) FROM hands h WHERE {where}"
    with opened(store) as reader:
        return str(reader.value(sql, parameters))


def _name(store: Store | Path | str) -> str:
    return str(store.path if isinstance(store, Store) else store)


def _hand_filter(
    matches: Sequence[str] | None, without_matches: Sequence[str], without_players: Sequence[str]
) -> tuple[str, list[object]]:
    clauses = ["list_contains(?, h.rules)"]
    parameters: list[object] = [list(HEADS_UP_RULES)]
    if matches is not None:
        clauses.append("(" + " OR ".join(["h.match GLOB ?"] * len(matches) or ["false"]) + ")")
        parameters.extend(matches)
    for pattern in without_matches:
        clauses.append("NOT h.match GLOB ?")
        parameters.append(pattern)
    if without_players:
        clauses.append("NOT list_has_any(h.players, ?)")
        parameters.append(list(without_players))
    return " AND ".join(clauses), parameters


def _corpus_arrays(hands: pl.DataFrame, decisions: pl.DataFrame) -> Corpus:
    order_of = {rules.name: index for index, rules in enumerate(MODEL_RULES)}
    order = hands["rules"].replace_strict(order_of, return_dtype=pl.Int8).to_numpy()
    names = hands["match"].unique().sort()
    match = hands["match"].replace_strict(names, pl.Series(range(len(names))), return_dtype=pl.Int32).to_numpy()
    hand = np.searchsorted(hands["hand_id"].to_numpy(), decisions["hand_id"].to_numpy()).astype(np.int32)
    street, action = decisions["street"].to_numpy(), decisions["action"].to_numpy()
    slot = slots_of(order[hand], decisions["node"].to_numpy(), street)
    keep = _legal_decisions(street, slot, action)
    features = np.full((int(keep.sum()), len(FEATURE_COLUMNS)), np.nan, dtype=np.float32)
    for name in STORED_COLUMNS:
        column = decisions[name].cast(pl.Float32).fill_null(float("nan")).to_numpy()
        features[:, FEATURE_COLUMNS.index(name)] = column[keep]
    hand = hand[keep]
    return Corpus(
        hand_id=hands["hand_id"].to_numpy(),
        order=order,
        match=match,
        match_names=tuple(names),
        pair=_pairs(hands),
        board=hands.select("b1", "b2", "b3", "b4", "b5").to_numpy().astype(np.int8),
        holes=hands.select("hole0", "hole1").to_numpy().astype(np.int16),
        complete=hands["complete"].to_numpy(),
        first=np.concatenate([[0], np.cumsum(np.bincount(hand, minlength=hands.height))]).astype(np.int64),
        hand=hand,
        street=street[keep],
        slot=slot[keep],
        seat=decisions["seat"].to_numpy()[keep],
        action=action[keep],
        features=features,
        n_dropped=int((~keep).sum()),
        corpus_hash=_hash_identities(hands["identity"]),
    )


def _bring_under_cap(decisions: pl.DataFrame, clipped: pl.DataFrame) -> pl.DataFrame:
    """Give decisions made beyond the cap the node of their nearest position under it (context.clip_to_cap)."""
    if not clipped.height:
        return decisions
    nodes = [
        _capped_node(rules, betting, step) for rules, betting, step in clipped.select("rules", "betting", "step").rows()
    ]
    moved = clipped.select("hand_id", "step").with_columns(capped=pl.Series(nodes, dtype=pl.Int32))
    joined = decisions.join(moved, on=["hand_id", "step"], how="left", maintain_order="left")
    return joined.with_columns(node=pl.coalesce("capped", "node")).drop("capped")


@lru_cache(maxsize=100_000)
def _capped_node(rules: str, betting: str, step: int) -> int:
    position = first_betting(preset(rules).uncapped())
    for char in betting.replace("/", "")[:step]:
        position = position.after(ACTION_CHARS.index(char))
    slot, contexts = context_slot(position), street_contexts(position.street)
    return slot % contexts.n_nodes + contexts.first_node


def _legal_decisions(street: NDArray[np.int8], slot: NDArray[np.int32], action: NDArray[np.int8]) -> NDArray[np.bool_]:
    keep = np.zeros(len(street), dtype=bool)
    for number in range(4):
        rows = np.flatnonzero(street == number)
        contexts = street_contexts(number)
        inside = (slot[rows] >= 0) & (slot[rows] < contexts.n_slots)
        rows = rows[inside]
        keep[rows] = contexts.legal[slot[rows], action[rows]]
    return keep


def _pairs(hands: pl.DataFrame) -> NDArray[np.int64]:
    """Number of the duplicate pair: hands 2i and 2i + 1 of a dealer log, neighbours in time elsewhere."""
    place = pl.int_range(pl.len()).over("match")
    number = pl.col("source_hand").cast(pl.Int64, strict=False)
    is_log = (pl.col("rules") == MODEL_RULES[0].name) & number.is_not_null()
    pairs = hands.select(pl.when(is_log).then(number).otherwise(place) // 2)
    return pairs.to_series().cast(pl.Int64).to_numpy()


def _hash_identities(identities: pl.Series) -> str:
    """Order of ingestion does not matter."""
    digest = hashlib.sha256()
    for text in identities.sort():
        digest.update(text.encode())
    return digest.hexdigest()


def _complete_features(corpus: Corpus, all_features: bool) -> None:
    hole = corpus.hole
    e = corpus.features[:, FEATURE_COLUMNS.index("e")]
    for street in (1, 2, 3):
        rows = np.flatnonzero((corpus.street == street) & (hole >= 0) & (np.isnan(e) | all_features))
        if len(rows):
            corpus.features[rows] = decision_features(street, hole[rows], corpus.board[corpus.hand[rows]])


def split(corpus: Corpus) -> NDArray[np.int8]:
    """TRAIN, VALIDATION or TEST for every hand (n,), by match or by blocks of neighbouring hands."""
    whole_matches = len(np.unique(corpus.match)) >= MANY_MATCHES
    block = np.zeros(corpus.n_hands, dtype=np.int64) if whole_matches else corpus.pair // BLOCK_PAIRS
    units, where = np.unique(np.stack([corpus.match, block], axis=1), axis=0, return_inverse=True)
    chance = np.array([_hash_unit(corpus.match_names[match], int(number)) for match, number in units])
    side = np.digitize(chance, np.cumsum(SHARES)[:-1]).astype(np.int8)
    sides: NDArray[np.int8] = side[where.reshape(-1)]
    if len(np.unique(sides)) == len(SHARES):
        return sides
    return _split_by_place(corpus)


def _hash_unit(name: str, block: int) -> float:
    digest = hashlib.sha256(f"{name}\n{block}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2.0**64


def _split_by_place(corpus: Corpus) -> NDArray[np.int8]:
    """A corpus of a few blocks: the last tenths of its pairs, in order."""
    keys = np.stack([corpus.match, corpus.pair], axis=1)
    pairs, where = np.unique(keys, axis=0, return_inverse=True)
    if len(pairs) < 10:
        raise ModelError(f"expected at least 20 heads-up hands to hold some out, got {corpus.n_hands}")
    place = (where.reshape(-1) + 0.5) / len(pairs)
    return np.digitize(place, np.cumsum(SHARES)[:-1]).astype(np.int8)
