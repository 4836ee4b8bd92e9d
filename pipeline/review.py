"""A history hand by hand: what could be believed of both players after every action.

Each player's range is followed as the other sees it: the other's cards (where the source knows them) and the board
removed, then Bayes' rule with the corpus model, or with what has been learned of this player in the hands before it
(`adapt`). Where the true hand is known, `bits` = log2(posterior / prior) says how much of it had become known.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hardbot.errors import SourceError
from hardbot.game.cards import format_cards, format_hole
from hardbot.game.rules import ACTION_NAMES, STREET_NAMES
from hardbot.model.likelihood import ActionModel
from hardbot.model.opponent import OpponentModel
from hardbot.model.tracker import HandTracker
from pipeline.adaptation import range_bits
from pipeline.histories import StoredHand, read_history, store_of

N_TOP = 5
DEFAULT_LIMIT = 20


def review(
    paths: Sequence[Path],
    model: ActionModel,
    *,
    hand: str | None = None,
    limit: int | None = DEFAULT_LIMIT,
    adapt: bool = False,
    n_top: int = N_TOP,
) -> list[dict[str, Any]]:
    """Hands of history files (or a store) with the ranges after every action; one hand by its number if asked."""
    with store_of(paths) as store:
        hands = read_history(store).hands
    if hand is not None and not any(one.number == hand for one in hands):
        raise SourceError(f"expected a hand with number {hand!r} in {paths[0]}, got {len(hands)} others")
    known: dict[str, OpponentModel] | None = {} if adapt else None
    found: list[dict[str, Any]] = []
    for one in hands:
        wanted = hand is None or one.number == hand
        if wanted or adapt:
            document = review_hand(one, model, known, n_top)
            if wanted:
                found.append(document)
        if limit is not None and len(found) >= limit:
            break
    return found


def review_hand(
    hand: StoredHand, model: ActionModel, known: dict[str, OpponentModel] | None = None, n_top: int = N_TOP
) -> dict[str, Any]:
    """One hand; `known` are models of the players, which learn from it."""
    trackers = [_watcher(hand, seat, model, known) for seat in (0, 1)]  # of seat 0 and of seat 1
    rows = []
    for before, action in hand.actions:
        seat, tracker = before.seat, trackers[before.seat]
        tracker.see_board(hand.board_at(before.street))
        tracker.observe(before, action)
        weights, own = tracker.theirs.weights, hand.holes[seat]
        rows.append(
            {
                "street": STREET_NAMES[before.street],
                "seat": seat,
                "player": hand.players[seat],
                "betting": before.text,
                "action": ACTION_NAMES[action],
                "expected": [float(p) for p in tracker.steps[-1].p_adjusted],
                "top": [[format_hole(int(h)), float(weights[h])] for h in np.argsort(-weights, kind="stable")[:n_top]],
                "bits": None if own is None else range_bits(tracker, own),
            }
        )
    for seat, tracker in enumerate(trackers):
        tracker.see_board(hand.board)
        tracker.end(hand.shown(seat))
    return {
        "hand": hand.number,
        "match": hand.match,
        "players": list(hand.players),
        "holes": [None if hole is None else format_cards(hole) for hole in hand.holes],
        "board": format_cards(hand.board),
        "betting": hand.end.text,
        "net_sb": list(hand.net_sb),
        "actions": rows,
    }


def _watcher(hand: StoredHand, seat: int, model: ActionModel, known: dict[str, OpponentModel] | None) -> HandTracker:
    opponent = None if known is None else known.setdefault(hand.players[seat], OpponentModel())
    return HandTracker(model, 1 - seat, hand.holes[1 - seat] or (), opponent)
