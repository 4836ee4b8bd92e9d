"""All hole hands of one board against all others at once: exact counts now, after the next card, at the river.

For every run-out the hands enter from weak to strong in the order of their final ranks. What has entered is kept
as bit sets in the order of today's ranks: one over all hands (with running counts per 64-bit word) and one per
card over the hands that hold it. Hands that are ahead of h neither then nor now are a prefix of these sets: a
count in the first less two counts in those of h's own two cards, which removes hands that overlap with h. So a
hand costs a few popcounts per run-out, whatever the number of opponents.

Run-outs that a renaming of suits maps onto each other (while keeping the board) are walked once and the sums
averaged over those renamings, which is exact because the sums are whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from hardbot.game.evaluator import rank_key5, rank_key6, rank_key7
from hardbot.game.isomorphism import SUIT_ORDERS
from hardbot.game.jit import njit
from hardbot.game.rank_tables import CARD_KEY, FLUSH_RANK

RANK_WORDS = 117  # 64-bit words for the 7,463 ranks
_ORDERS = np.array(SUIT_ORDERS, dtype=np.int64)  # (24, 4)
_FIELD_BITS = 21  # three sums share a 64-bit word; each stays below 1,176 * 1,081
_FIELD = (1 << _FIELD_BITS) - 1
# Columns of a hand's record: its two live cards (as positions), its place in the order of today's ranks and the
# first and one past the last place of its equals, then such a triple among the hands with either card.
_CARD_A, _CARD_B = 0, 1
_PLACE, _LOW, _HIGH = 2, 3, 4
_PLACE_A, _LOW_A, _HIGH_A = 5, 6, 7
_PLACE_B, _LOW_B, _HIGH_B = 8, 9, 10
_RECORD = 16  # padded: half a cache line

Ints = NDArray[np.int64]
Shorts = NDArray[np.uint16]
Bytes = NDArray[np.uint8]


def _popcount(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


popcount = cast(Callable[[int], int], intrinsic(_popcount))


@njit
def suit_counts(board: Bytes, counts: Ints) -> int:
    """Fill counts (4,) of the board's suits; returns the suit of three cards or more, -1 if none."""
    counts[:] = 0
    for card in board:
        counts[card & 3] += 1
    for suit in range(4):
        if counts[suit] >= 3:
            return suit
    return -1


@njit
def pair_ranks(board: Bytes, ranks: Shorts) -> None:
    """Fill ranks (169,) by 13 * rank + rank of the hole cards, flushes aside; 0 where no such hand is left."""
    held = np.zeros(13, dtype=np.int64)
    key = 0
    for card in board:
        held[card >> 2] += 1
        key += CARD_KEY[card]
    n_cards = board.shape[0] + 2
    for high in range(13):
        for low in range(high + 1):
            rank = 0
            if held[high] + 1 + (high == low) <= 4 and held[low] < 4:
                hand = key + CARD_KEY[4 * high] + CARD_KEY[4 * low]
                if n_cards == 7:
                    rank = rank_key7(hand)
                elif n_cards == 6:
                    rank = rank_key6(hand)
                else:
                    rank = rank_key5(hand)
            ranks[13 * high + low] = rank
            ranks[13 * low + high] = rank


@njit
def suit_mask(board: Bytes, suit: int) -> int:
    """Ranks of the board's cards of one suit, as bits."""
    mask = 0
    for card in board:
        if card & 3 == suit:
            mask |= 1 << (card >> 2)
    return mask


@njit
def live_cards(board: Bytes, live: Bytes) -> int:
    """Fill in the cards off the board, increasing; returns how many."""
    dead = 0
    for card in board:
        dead |= 1 << card
    n_live = 0
    for card in range(52):
        if not dead >> card & 1:
            live[n_live] = card
            n_live += 1
    return n_live


@njit
def rank_classes(board: Bytes, live: Bytes, n_live: int, t: int, r: int, order: Shorts, starts: Shorts) -> int:
    """Order the hands without live cards t and r (-1: none) by rank on this board; returns the number of classes.

    The hand of live cards i > j is i * (i - 1) / 2 + j. Hands of class c, weak to strong, are
    order[starts[c]:starts[c + 1]]; a class may be empty.
    """
    by_pair = np.empty(169, dtype=np.uint16)
    class_of_pair = np.empty(169, dtype=np.uint16)
    suits = np.empty(4, dtype=np.int64)
    present = np.zeros(RANK_WORDS, dtype=np.int64)
    before = np.empty(RANK_WORDS, dtype=np.int64)
    class_of = np.empty(1176, dtype=np.uint16)
    pair_ranks(board, by_pair)
    suit = suit_counts(board, suits)
    for pair in range(169):
        present[by_pair[pair] >> 6] |= 1 << (by_pair[pair] & 63)
    mask, needed = 0, 9
    if suit >= 0:
        mask, needed = suit_mask(board, suit), 5 - suits[suit]
        for i in range(n_live):
            a_suited = live[i] & 3 == suit
            if i == t or i == r or (needed == 2 and not a_suited):
                continue
            for j in range(i):
                b_suited = live[j] & 3 == suit
                if a_suited + b_suited >= needed and j != t and j != r:
                    rank = int(FLUSH_RANK[mask | (a_suited << (live[i] >> 2)) | (b_suited << (live[j] >> 2))])
                    present[rank >> 6] |= 1 << (rank & 63)
    n_classes = 0
    for word in range(RANK_WORDS):
        before[word] = n_classes
        n_classes += popcount(present[word])
    for pair in range(169):
        word, bit = by_pair[pair] >> 6, by_pair[pair] & 63
        class_of_pair[pair] = before[word] + popcount(present[word] & ((1 << bit) - 1))
    starts[: n_classes + 1] = 0
    hand = 0
    for i in range(n_live):
        if i == t or i == r:
            hand += i
            continue
        a_suited = live[i] & 3 == suit
        row = 13 * (live[i] >> 2)
        for j in range(i):
            if j != t and j != r:
                class_ = int(class_of_pair[row + (live[j] >> 2)])
                b_suited = live[j] & 3 == suit
                if a_suited + b_suited >= needed:
                    rank = int(FLUSH_RANK[mask | (a_suited << (live[i] >> 2)) | (b_suited << (live[j] >> 2))])
                    class_ = before[rank >> 6] + popcount(present[rank >> 6] & ((1 << (rank & 63)) - 1))
                class_of[hand] = class_
                starts[class_] += 1
            hand += 1
    stop = 0
    for class_ in range(n_classes):  # each start stands at the end of its class and moves down as hands come in
        stop += starts[class_]
        starts[class_] = stop
    starts[n_classes] = stop
    hand = 0
    for i in range(n_live):
        if i == t or i == r:
            hand += i
            continue
        for j in range(i):
            if j != t and j != r:
                place = starts[class_of[hand]] - 1
                starts[class_of[hand]] = place
                order[place] = hand
            hand += 1
    return n_classes


@njit
def order_now(board: Bytes, live: Bytes, n_live: int, records: Shorts, now: Ints) -> None:
    """Fill records (n, 16) and now (n, 3): opponents the hand is ahead of, tied with and behind, overlaps removed."""
    n_hands = n_live * (n_live - 1) // 2
    order = np.empty(n_hands, dtype=np.uint16)
    starts = np.empty(7464, dtype=np.uint16)
    n_classes = rank_classes(board, live, n_live, -1, -1, order, starts)
    hand = 0
    for i in range(n_live):
        for j in range(i):
            records[hand, _CARD_A], records[hand, _CARD_B] = i, j
            hand += 1
    entered = np.zeros(n_live, dtype=np.int64)  # hands with each card that are in order before here
    for class_ in range(n_classes):
        start, stop = int(starts[class_]), int(starts[class_ + 1])
        for place in range(start, stop):
            record = records[order[place]]
            record[_PLACE], record[_LOW], record[_HIGH] = place, start, stop
            record[_LOW_A], record[_LOW_B] = entered[record[_CARD_A]], entered[record[_CARD_B]]
        for place in range(start, stop):
            record = records[order[place]]
            record[_PLACE_A], record[_PLACE_B] = entered[record[_CARD_A]], entered[record[_CARD_B]]
            entered[record[_CARD_A]] += 1
            entered[record[_CARD_B]] += 1
        for place in range(start, stop):
            hand = order[place]
            record = records[hand]
            record[_HIGH_A], record[_HIGH_B] = entered[record[_CARD_A]], entered[record[_CARD_B]]
            below = start - int(record[_LOW_A]) - int(record[_LOW_B])
            up_to = stop - int(record[_HIGH_A]) - int(record[_HIGH_B]) + 1  # the hand itself was taken out twice
            now[hand, 0], now[hand, 1] = below, up_to - below
            now[hand, 2] = (n_live - 2) * (n_live - 3) // 2 - up_to


@njit
def keeping_orders(board: Bytes, orders: Ints) -> int:
    """Fill in the renamings of suits (rows of 4) that map the board onto itself; returns how many."""
    masks = np.zeros(4, dtype=np.int64)
    for card in board:
        masks[card & 3] |= 1 << (card >> 2)
    n_orders = 0
    for row in range(24):
        keeps = True
        for suit in range(4):
            keeps &= masks[_ORDERS[row, suit]] == masks[suit]
        if keeps:
            orders[n_orders] = _ORDERS[row]
            n_orders += 1
    return n_orders


@njit
def _orbit(t: int, r: int, orders: Ints, n_orders: int) -> int:
    """Number of run-outs the renamings make of cards {t, r}, 0 if it is not the least of them; r = t: one card."""
    own = max(t, r) * 64 + min(t, r)
    fixed = 0
    for row in range(n_orders):
        t_new, r_new = (t & 60) + orders[row, t & 3], (r & 60) + orders[row, r & 3]
        image = max(t_new, r_new) * 64 + min(t_new, r_new)
        if image < own:
            return 0
        fixed += image == own
    return n_orders // fixed


@njit
def _counts(record: Shorts, entered: Ints, running: Ints, with_card: Ints, n_entered: int) -> tuple[int, int, int]:
    """Of the hands entered that do not overlap with this one: those behind it now, those not ahead of it, all."""
    in_a, in_b = with_card[record[_CARD_A]], with_card[record[_CARD_B]]
    low, high = int(record[_LOW]), int(record[_HIGH])
    behind = running[low >> 6] + popcount(entered[low >> 6] & ((1 << (low & 63)) - 1))
    behind -= popcount(in_a & ((1 << record[_LOW_A]) - 1)) + popcount(in_b & ((1 << record[_LOW_B]) - 1))
    level = running[high >> 6] + popcount(entered[high >> 6] & ((1 << (high & 63)) - 1))
    level -= popcount(in_a & ((1 << record[_HIGH_A]) - 1)) + popcount(in_b & ((1 << record[_HIGH_B]) - 1))
    return behind, level, n_entered - popcount(in_a) - popcount(in_b)


@njit
def _walk(
    n_classes: int,
    order: Shorts,
    starts: Shorts,
    records: Shorts,
    weight: int,
    weaker: Ints,
    not_stronger: Ints,
    points: NDArray[np.int32],
) -> None:
    """Let the hands of one run-out enter from weak to strong and add up, `weight` times, what each one finds.

    weaker, not_stronger (n,): opponents weaker (or equal) at the end: those behind now, those not ahead now, and
    all, packed into one number. points (n,): two a win, one a tie.
    """
    entered = np.zeros(20, dtype=np.int64)
    running = np.zeros(20, dtype=np.int64)  # hands in the words before this one
    with_card = np.zeros(52, dtype=np.int64)
    n_entered = 0
    for class_ in range(n_classes):
        start, stop = np.uint64(starts[class_]), np.uint64(starts[class_ + 1])
        for i in range(start, stop):
            hand = order[i]
            behind, level, total = _counts(records[hand], entered, running, with_card, n_entered)
            weaker[hand] += weight * (behind + (level << _FIELD_BITS) + (total << 2 * _FIELD_BITS))
            points[hand] = total
        for i in range(start, stop):
            record = records[order[i]]
            place = int(record[_PLACE])
            entered[place >> 6] |= 1 << (place & 63)
            with_card[record[_CARD_A]] |= 1 << record[_PLACE_A]
            with_card[record[_CARD_B]] |= 1 << record[_PLACE_B]
        n_entered += int(stop - start)
        in_words = 0
        for word in range(20):
            running[word] = in_words
            in_words += popcount(entered[word])
        for i in range(start, stop):
            hand = order[i]
            behind, level, total = _counts(records[hand], entered, running, with_card, n_entered)
            level, total = level + 1, total + 1  # the hand itself was counted once and taken out twice
            not_stronger[hand] += weight * (behind + (level << _FIELD_BITS) + (total << 2 * _FIELD_BITS))
            points[hand] += total


@njit
def _average(
    live: Bytes, n_live: int, orders: Ints, n_orders: int, sums: Ints, points_after: NDArray[np.int32]
) -> tuple[Ints, NDArray[np.int32]]:
    """Average sums (n, 6) and points (n_live, n) over the renamings that keep the board."""
    n_hands = n_live * (n_live - 1) // 2
    new_sums = np.zeros_like(sums)
    new_points = np.zeros_like(points_after)
    position = np.empty(52, dtype=np.int64)
    card_image = np.empty(n_live, dtype=np.int64)
    hand_image = np.empty(n_hands, dtype=np.int64)
    for i in range(n_live):
        position[live[i]] = i
    for row in range(n_orders):
        for i in range(n_live):
            card_image[i] = position[(live[i] & 60) + orders[row, live[i] & 3]]
        hand = 0
        for i in range(n_live):
            for j in range(i):
                a, b = max(card_image[i], card_image[j]), min(card_image[i], card_image[j])
                hand_image[hand] = a * (a - 1) // 2 + b
                new_sums[hand] += sums[hand_image[hand]]
                hand += 1
        for t in range(n_live):
            source = points_after[card_image[t]]
            for hand in range(n_hands):
                new_points[t, hand] += source[hand_image[hand]]
    for hand in range(n_hands):  # loops, not array division: that would widen the type
        for part in range(6):
            new_sums[hand, part] //= n_orders
    for t in range(n_live):
        for hand in range(n_hands):
            new_points[t, hand] //= n_orders
    return new_sums, new_points


@njit
def walk_runouts(
    board: Bytes, n_more: int, live: Bytes, n_live: int, records: Shorts
) -> tuple[Ints, NDArray[np.int32]]:
    """Sums over all run-outs of one or two more cards, and points by next card.

    sums (n, 6): opponents behind now, not ahead now, all; first those weaker at the end, then those not stronger.
    points (n_live, n): two for each opponent and rest of the run-out that is won after this next card, one if tied.
    """
    n_hands = n_live * (n_live - 1) // 2
    orders = np.empty((24, 4), dtype=np.int64)
    n_orders = keeping_orders(board, orders)
    n_board = board.shape[0]
    final_board = np.empty(n_board + n_more, dtype=np.uint8)
    final_board[:n_board] = board
    order = np.empty(n_hands, dtype=np.uint16)
    starts = np.empty(7464, dtype=np.uint16)
    weaker = np.zeros(n_hands, dtype=np.int64)
    not_stronger = np.zeros(n_hands, dtype=np.int64)
    points = np.empty(n_hands, dtype=np.int32)
    points_after = np.zeros((n_live, n_hands), dtype=np.int32)
    for t in range(n_live):
        for r in range(0 if n_more == 2 else t, t if n_more == 2 else t + 1):
            weight = _orbit(live[t], live[r], orders, n_orders)
            if weight == 0:
                continue
            final_board[n_board] = live[t]
            final_board[n_board + n_more - 1] = live[r]
            n_classes = rank_classes(final_board, live, n_live, t, r, order, starts)
            points[:] = 0
            _walk(n_classes, order, starts, records, weight, weaker, not_stronger, points)
            for hand in range(n_hands):
                points_after[t, hand] += weight * points[hand]
            if r != t:
                for hand in range(n_hands):
                    points_after[r, hand] += weight * points[hand]
    sums = np.empty((n_hands, 6), dtype=np.int64)
    for hand in range(n_hands):
        for part in range(3):
            sums[hand, part] = weaker[hand] >> part * _FIELD_BITS & _FIELD
            sums[hand, 3 + part] = not_stronger[hand] >> part * _FIELD_BITS & _FIELD
    if n_orders > 1:
        return _average(live, n_live, orders, n_orders, sums, points_after)
    return sums, points_after


@njit
def _cells(now: Ints, sums: Ints, n_runouts: int, cells: Ints) -> None:
    """Turn walked sums into HP (n, 9): ahead, tied, behind now (rows) by ahead, tied, behind then (columns)."""
    for hand in range(now.shape[0]):
        win_below = tie_below = 0
        for row in range(3):
            win = sums[hand, row] - win_below
            tie = sums[hand, 3 + row] - sums[hand, row] - tie_below
            win_below, tie_below = win_below + win, tie_below + tie
            cells[hand, 3 * row], cells[hand, 3 * row + 1] = win, tie
            cells[hand, 3 * row + 2] = now[hand, row] * n_runouts - win - tie


@njit
def board_counts(board: Bytes, now: Ints, cells: Ints, cells_next: Ints, points: Ints) -> None:
    """Count one board of 3, 4 or 5 cards: all hands against all.

    now (n, 3), cells (n, 9) to the river, cells_next (n, 9) to the next card, points (n, 2): the sum over next cards
    of points and of their squares. On the river only `now` is filled, the rest is zero.
    """
    live = np.empty(52, dtype=np.uint8)
    n_live = live_cards(board, live)
    n_hands = n_live * (n_live - 1) // 2
    records = np.zeros((n_hands, _RECORD), dtype=np.uint16)
    order_now(board, live, n_live, records, now)
    if board.shape[0] == 5:
        cells[:] = 0
        cells_next[:] = 0
        points[:] = 0
        return
    n_left = n_live - 4  # cards neither on the board nor in either hand
    sums, after = walk_runouts(board, 5 - board.shape[0], live, n_live, records)
    _cells(now, sums, n_left if board.shape[0] == 4 else n_left * (n_left - 1) // 2, cells)
    points[:] = 0
    for t in range(n_live):
        for hand in range(n_hands):
            value = int(after[t, hand])
            points[hand, 0] += value
            points[hand, 1] += value * value
    if board.shape[0] == 4:
        cells_next[:] = cells
        return
    sums, after = walk_runouts(board, 1, live, n_live, records)
    _cells(now, sums, n_left, cells_next)


@njit
def _score_run_out(n_classes: int, order: Shorts, starts: Shorts, cards: Shorts, points: NDArray[np.int32]) -> None:
    """Points (n,) of every hand on one final board: two for each opponent it beats, one for each it ties."""
    weaker = np.zeros(52, dtype=np.int32)
    n_weaker = 0
    for class_ in range(n_classes):
        start, stop = int(starts[class_]), int(starts[class_ + 1])
        for i in range(start, stop):
            hand = order[i]
            points[hand] = n_weaker - weaker[cards[hand, 0]] - weaker[cards[hand, 1]]
        for i in range(start, stop):
            hand = order[i]
            weaker[cards[hand, 0]] += 1
            weaker[cards[hand, 1]] += 1
        n_weaker += stop - start
        for i in range(start, stop):  # the hand itself was counted once and taken out twice
            hand = order[i]
            points[hand] += n_weaker - weaker[cards[hand, 0]] - weaker[cards[hand, 1]] + 1


@njit
def board_moments(board: Bytes, points: Ints) -> None:
    """Sums (n, 2) over next cards of points and of their squares, as `board_counts` has them, and nothing else.

    On the river the first column holds the points of the board itself.
    """
    live = np.empty(52, dtype=np.uint8)
    n_live = live_cards(board, live)
    n_hands = n_live * (n_live - 1) // 2
    n_board = board.shape[0]
    cards = np.empty((n_hands, 2), dtype=np.uint16)
    hand = 0
    for i in range(n_live):
        for j in range(i):
            cards[hand, 0], cards[hand, 1] = i, j
            hand += 1
    order, starts = np.empty(n_hands, dtype=np.uint16), np.empty(7464, dtype=np.uint16)
    found = np.zeros(n_hands, dtype=np.int32)
    points[:] = 0
    if n_board == 5:
        _score_run_out(rank_classes(board, live, n_live, -1, -1, order, starts), order, starts, cards, found)
        for hand in range(n_hands):
            points[hand, 0] = found[hand]
        return
    orders = np.empty((24, 4), dtype=np.int64)
    n_orders = keeping_orders(board, orders)
    final_board = np.empty(5, dtype=np.uint8)
    final_board[:n_board] = board
    after = np.zeros((n_live, n_hands), dtype=np.int32)
    for t in range(n_live):
        for r in range(0 if n_board == 3 else t, t if n_board == 3 else t + 1):
            weight = _orbit(live[t], live[r], orders, n_orders)
            if weight == 0:
                continue
            final_board[n_board] = live[t]
            final_board[4] = live[r]
            found[:] = 0
            n_classes = rank_classes(final_board, live, n_live, t, r, order, starts)
            _score_run_out(n_classes, order, starts, cards, found)
            for hand in range(n_hands):
                after[t, hand] += weight * found[hand]
            if r != t:
                for hand in range(n_hands):
                    after[r, hand] += weight * found[hand]
    if n_orders > 1:
        none = np.zeros((n_hands, 6), dtype=np.int64)
        _, after = _average(live, n_live, orders, n_orders, none, after)
    for t in range(n_live):
        for hand in range(n_hands):
            value = int(after[t, hand])
            points[hand, 0] += value
            points[hand, 1] += value * value
