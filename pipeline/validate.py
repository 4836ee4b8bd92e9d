"""Is a recorded hand possible? Betting, cards and money are checked against the rules and the evaluator.

The betting must replay to an end, the board must fit the last street, no card may stand twice, nets
must sum to zero, and everybody's net must follow: without a showdown from the betting alone; with all
live hands known from their ranks (a pot that does not divide evenly may be off by less than a chip of
ours per winner, because rooms differ in where odd chips go); with hidden live hands, folded players
must have lost what they put in and nobody more than that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hardbot.game.cards import CARD_TEXT, HOLE_CARDS, N_CARDS
from hardbot.game.evaluator import rank_batch
from hardbot.game.jit import njit
from hardbot.game.rules import BOARD_SIZES
from pipeline.replay import ReplayTable, replay_table
from pipeline.sources.records import HandGroup, Reject

_EXACT_CHIPS = 0.01


@dataclass(frozen=True)
class CheckedGroup:
    """Hands that are possible, and the replays their betting codes point into."""

    hands: HandGroup
    replays: ReplayTable


def check_group(group: HandGroup) -> tuple[CheckedGroup, list[Reject]]:
    """Split a group into possible hands and rejects."""
    replays = replay_table(group.rules, group.uncapped, group.bettings)
    code = group.betting
    is_good = replays.is_good[code]
    sizes = np.array(BOARD_SIZES)[replays.street[code]]
    has_board = (group.board >= 0).sum(axis=1) == sizes
    twice = np.empty(group.n_hands, dtype=np.int8)
    _find_twice(group.holes, group.board, HOLE_CARDS, twice)
    in_balance = _has_right_totals(group, replays)
    verdicts = (
        (is_good, "bad_betting"),
        (has_board & (twice < 0), "bad_cards"),
        (in_balance, "bad_totals"),
    )
    good = np.ones(group.n_hands, dtype=np.bool_)
    rejects = []
    for passed, reject_code in verdicts:
        for row in np.flatnonzero(good & ~passed).tolist():
            reason = _reason(group, replays, row, reject_code, int(sizes[row]), int(twice[row]))
            rejects.append(Reject(int(group.line[row]), reject_code, reason, group.raw[row]))
        good &= passed
    hands = group if good.all() else group.take(np.flatnonzero(good))
    return CheckedGroup(hands, replays), rejects


def _reason(group: HandGroup, replays: ReplayTable, row: int, code: str, n_board: int, twice: int) -> str:
    if code == "bad_betting":
        return replays.errors[int(group.betting[row])]
    if code == "bad_cards":
        if twice >= 0:
            return f"expected different cards, got {CARD_TEXT[twice]} twice"
        return f"expected {n_board} board cards for this betting, got {int((group.board[row] >= 0).sum())}"
    nets = "|".join(f"{chips:g}" for chips in group.net_chips[row])
    put_in = "|".join(f"{chips:g}" for chips in replays.contributions[group.betting[row]])
    return f"expected nets that follow from cards and bets {put_in}, got {nets}"


@njit
def _find_twice(
    holes: NDArray[np.int16], board: NDArray[np.int8], hole_cards: NDArray[np.int8], twice: NDArray[np.int8]
) -> None:
    for i in range(holes.shape[0]):
        seen = np.int64(0)
        twice[i] = -1
        for seat in range(holes.shape[1]):
            if holes[i, seat] >= 0:
                for k in range(2):
                    card = hole_cards[holes[i, seat], k]
                    if seen >> card & 1:
                        twice[i] = card
                    seen |= np.int64(1) << card
        for k in range(5):
            card = board[i, k]
            if card >= 0:
                if seen >> card & 1:
                    twice[i] = card
                seen |= np.int64(1) << card


def showdown_ranks(group: HandGroup) -> NDArray[np.int16]:
    """Ranks (n, seats) of known hole hands on complete boards, 0 elsewhere."""
    ranks = np.zeros(group.holes.shape, dtype=np.int16)
    known = (group.holes >= 0) & (group.board[:, 4] >= 0)[:, None]
    rows, seats = np.nonzero(known)
    cards = np.concatenate([HOLE_CARDS[group.holes[rows, seats]], group.board[rows]], axis=1)
    ranks[rows, seats] = rank_batch(cards)
    return ranks


def _has_right_totals(group: HandGroup, replays: ReplayTable) -> NDArray[np.bool_]:
    passed = np.empty(group.n_hands, dtype=np.bool_)
    _check_totals(
        group.betting,
        group.net_chips,
        showdown_ranks(group),
        replays.is_good,
        replays.is_showdown,
        replays.contributions,
        replays.live,
        passed,
    )
    return passed


@njit
def _check_totals(
    betting: NDArray[np.int32],
    net: NDArray[np.float64],
    ranks: NDArray[np.int16],
    is_good: NDArray[np.bool_],
    is_showdown: NDArray[np.bool_],
    contributions: NDArray[np.float64],
    live: NDArray[np.bool_],
    passed: NDArray[np.bool_],
) -> None:
    n, n_seats = net.shape
    for i in range(n):
        code = betting[i]
        passed[i] = True
        if not is_good[code]:
            continue
        best, n_winners, all_known, pot = 0, 0, True, 0.0
        for seat in range(n_seats):
            pot += contributions[code, seat]
            if not live[code, seat]:
                continue
            rank = ranks[i, seat] if is_showdown[code] else 1
            if rank == 0:
                all_known = False
            if rank > best:
                best, n_winners = rank, 1
            elif rank == best:
                n_winners += 1
        total, good = 0.0, True
        share = pot / max(n_winners, 1)
        odd_chips = 0.0 if share == np.floor(share) else 1.0
        for seat in range(n_seats):
            total += net[i, seat]
            lost = -contributions[code, seat]
            if not live[code, seat]:
                good = good and abs(net[i, seat] - lost) < _EXACT_CHIPS
            elif not all_known:
                good = good and net[i, seat] > lost - _EXACT_CHIPS and net[i, seat] < pot + lost + _EXACT_CHIPS
            else:
                rank = ranks[i, seat] if is_showdown[code] else 1
                wanted = lost + share if rank == best else lost
                slack = odd_chips if rank == best else 0.0
                good = good and abs(net[i, seat] - wanted) < slack + _EXACT_CHIPS
        passed[i] = good and abs(total) < odd_chips * n_winners + _EXACT_CHIPS


def decision_frame(checked: CheckedGroup, hand_id: NDArray[np.int64]) -> pl.DataFrame:
    """One row per voluntary action of the hands, which get these ids."""
    hands, replays = checked.hands, checked.replays
    length = replays.length[hands.betting]
    n_rows = int(length.sum())
    of_hand = np.repeat(np.arange(hands.n_hands), length)
    step = np.arange(n_rows) - np.repeat(np.cumsum(length) - length, length)
    at = replays.first[hands.betting][of_hand] + step
    rows = replays.rows[at]
    seat = rows[:, 0].astype(np.int8)
    hole = hands.holes[of_hand, seat]
    names = pl.Series(hands.names, dtype=pl.String)
    return pl.DataFrame(
        {
            "hand_id": hand_id[of_hand],
            "step": step.astype(np.int16),
            "seat": seat,
            "player": names.gather(pl.Series(hands.players[of_hand, seat], dtype=pl.UInt32)),
            "street": rows[:, 1].astype(np.int8),
            "node": rows[:, 2].astype(np.int32),
            "action": rows[:, 3].astype(np.int8),
            "bets_to_call": rows[:, 4].astype(np.int8),
            "raises": rows[:, 5].astype(np.int8),
            "pot_sb": rows[:, 6],
            "hole": pl.Series(hole).set(pl.Series(hole < 0), None),
            "clipped": rows[:, 7] > 0,
        }
    )


def hand_frame(checked: CheckedGroup) -> pl.DataFrame:
    """One row per hand: the columns of the table `hands`, without ids, and `identity_text`."""
    hands, replays = checked.hands, checked.replays
    n_seats = hands.rules.n_seats
    names = pl.Series(hands.names, dtype=pl.String)
    by_seat = [names.gather(pl.Series(hands.players[:, s], dtype=pl.UInt32)).alias(f"p{s}") for s in range(n_seats)]
    bettings = pl.Series(hands.bettings, dtype=pl.String)
    hidden = (hands.holes < 0).sum(axis=1)
    frame = pl.DataFrame(
        {
            "line": hands.line,
            "source_hand": hands.source_hand,
            "match": hands.match,
            "played_at": hands.played_at.cast(pl.Datetime("us")),
            "rules": pl.repeat(hands.rules.name, hands.n_hands, eager=True),
            "n_seats": np.full(hands.n_hands, n_seats, dtype=np.int8),
            "betting": bettings.gather(pl.Series(hands.betting, dtype=pl.UInt32)),
            "board": _lists(hands.board, hands.board >= 0),
            "holes": _nullable_lists(hands.holes),
            "net_sb": _lists(hands.net_chips.astype(np.float32) / hands.rules.bet_sizes[0], None),
            "cards_known": pl.Series(np.where(hidden == 0, 0, np.where(hidden == n_seats, 2, 1)), dtype=pl.UInt32),
            "salt": pl.select(pl.when(pl.Series(hidden > 0)).then(hands.salt).otherwise(pl.lit(""))).to_series(),
            "cards": _card_text(hands),
            "showdown": replays.is_showdown[hands.betting],
        }
    )
    known = pl.Series(["all", "showdown", "none"]).gather(frame["cards_known"])
    identity = pl.concat_str(["rules", "source_hand", *by_seat, "betting", "cards", "salt"], separator="|")
    return frame.with_columns(identity_text=identity, players=pl.concat_list(by_seat), cards_known=known).drop(
        "salt", "cards", "showdown"
    )


def _card_text(hands: HandGroup) -> pl.Series:
    """Hole indices and board cards of each hand as fixed-width text: what identity hashes."""
    holes = hands.holes.astype("<u2").view(np.uint8).reshape(hands.n_hands, -1)
    packed = np.ascontiguousarray(np.concatenate([holes, hands.board.view(np.uint8)], axis=1))
    return pl.Series(packed.view(f"V{packed.shape[1]}").ravel().tolist(), dtype=pl.Binary).bin.encode("hex")


def _lists(values: NDArray[np.generic], keep: NDArray[np.bool_] | None) -> pl.Series:
    if keep is None:
        return pl.Series(values).arr.to_list()
    offsets = np.concatenate([[0], keep.sum(axis=1).cumsum()])
    return _ragged(values[keep], offsets)


def _nullable_lists(holes: NDArray[np.int16]) -> pl.Series:
    flat = pl.Series(holes.ravel())
    flat = flat.set(pl.Series(holes.ravel() < 0), None)
    return flat.reshape(holes.shape).arr.to_list()


def _ragged(values: NDArray[np.generic], offsets: NDArray[np.int64]) -> pl.Series:
    import pyarrow as pa

    array = pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), pa.array(values))
    return pl.Series(array)


assert N_CARDS <= 63, "a set of cards has to fit into one machine word"
