"""Card analysis outside the rules: what a hand is, what it can become, what the board threatens.

SoarBot's author regrets having written hand analysis as rules (R. Follek, SoarBot, Pace University 2003, sections
2.2.4 and 5.1): straights could not be told from straights on the board, tie-breakers not at all, and he names
outs and implied odds as the next step. Here the evaluator says what the hand is and how it stands among all
hands of its kind; rules only put names and values to it.

Facts of one hand on one board:
- `made`, `board-made`: kind of our best five cards, and of the board alone; `hole-plays`: how many hole cards make
  that kind (0: everybody has it);
- `pair-above`: board ranks above the pair made with a hole card; `overcards`, `kicker`, `top-hole`;
- `flush-cards`, `flush-holes`, `straight-ends`: draws with a hole card in them;
- `board-suited`, `board-run`, `board-ends`: cards of one suit, within five ranks, ranks that make a straight;
- `last-pairs`, `last-suited`, `last-run`: what the newest board card does;
- `hand-share`: hands beaten (ties half) of all hands; `tie-break`: of those of our kind; `nuts`: beaten by none;
- `outs`: next cards that lift us from below OUT_SHARE to it; `draw-odds`: odds against hitting one, to 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hardbot.bots.soar.language import YES, Value
from hardbot.game.evaluator import evaluate, rank_cards5, rank_cards6, rank_cards7
from hardbot.game.hand import Hole
from hardbot.game.jit import njit
from hardbot.game.rank_tables import CATEGORY_OF_RANK, STRAIGHT_TOP

KINDS = ("high-card", "pair", "two-pair", "trips", "straight", "flush", "full-house", "quads", "straight-flush")
OUT_SHARE = 0.80  # beats four hands of five: a hand to show down
OUT_GAIN = 0.10  # an out has to improve the hand by as much
ACE = 12
_OUR_CARDS = {"made", "hole-plays", "pocket-pair", "pair-above", "overcards", "kicker", "top-hole"}
_DRAWS = {"flush-cards", "flush-holes", "straight-ends", "outs", "draw-odds"}
_BOARD = {"board-made", "board-suited", "board-run", "board-ends", "last-pairs", "last-suited", "last-run"}
CARD_FACTS = frozenset(_OUR_CARDS | _DRAWS | _BOARD | {"hand-share", "tie-break", "nuts"})
HOLE_FACTS = frozenset({"high-card", "low-card", "suited", "pocket-pair", "gap", "hutchison-num"})
_STRAIGHTS = tuple(int(top) for top in STRAIGHT_TOP)
_WINDOWS = (0x100F, *(0b11111 << low for low in range(9)))  # ranks of each straight, the wheel first
_HUTCHISON = (2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 16)

Facts = dict[str, Value]


def hutchison_number(hole: Hole) -> int:
    """Edward Hutchison's points: card values, pair +10, suited +4, connected +3, one gap +2, two gaps +1."""
    high, low = max(hole) >> 2, min(hole) >> 2
    points = _HUTCHISON[high] + _HUTCHISON[low]
    if high == low:
        points += 10
    elif rank_gap(high, low) <= 3:
        points += 4 - rank_gap(high, low)
    return points + (4 if hole[0] & 3 == hole[1] & 3 else 0)


def rank_gap(high: int, low: int) -> int:
    """Distance of two different ranks; the ace stands at either end."""
    return min(high - low, low + 1) if high == ACE else high - low


def hole_facts(hole: Hole) -> Facts:
    """The two cards before the flop; ranks as 2..14."""
    high, low = max(hole) >> 2, min(hole) >> 2
    facts: Facts = {"high-card": high + 2, "low-card": low + 2, "hutchison-num": hutchison_number(hole)}
    if high == low:
        facts["pocket-pair"] = YES
    else:
        facts["gap"] = rank_gap(high, low)
        if hole[0] & 3 == hole[1] & 3:
            facts["suited"] = YES
    return facts


def card_facts(hole: Hole, board: tuple[int, ...]) -> Facts:
    """All facts of a hand on a board of 3 to 5 cards."""
    rank = evaluate((*hole, *board))
    kind = KINDS[CATEGORY_OF_RANK[rank]]
    facts: Facts = {
        "made": kind,
        "board-made": board_kind(board),
        "hole-plays": hole_cards_in_play(hole, board, kind, rank),
        "top-hole": (max(hole) >> 2) + 2,
    }
    _add_pairs(facts, hole, board)
    _add_draws(facts, hole, board)
    _add_dangers(facts, board)
    _add_standing(facts, hole, board)
    return facts


def board_kind(board: tuple[int, ...]) -> str:
    """Kind of the board's own cards; three or four of them hold pairs, trips or quads at most."""
    if len(board) == 5:
        return KINDS[CATEGORY_OF_RANK[evaluate(board)]]
    counts = sorted((_ranks(board).count(rank) for rank in set(_ranks(board))), reverse=True)
    if counts[0] >= 3:
        return "quads" if counts[0] == 4 else "trips"
    if counts[0] == 2:
        return "two-pair" if counts[1] == 2 else "pair"
    return "high-card"


def hole_cards_in_play(hole: Hole, board: tuple[int, ...], kind: str, rank: int) -> int:
    """How many hole cards the kind of hand needs (kickers do not count)."""
    if kind in ("straight", "flush", "straight-flush"):
        if len(board) == 5 and evaluate(board) == rank:
            return 0
        if len(board) >= 4 and any(evaluate((card, *board)) == rank for card in hole):
            return 1
        return 2
    ranks = _ranks((*hole, *board))
    counts = {r: ranks.count(r) for r in set(ranks)}
    return sum(1 for card in hole if card >> 2 in _key_ranks(counts, kind))


def _key_ranks(counts: dict[int, int], kind: str) -> set[int]:
    """Ranks that make a pair, two pair, trips, full house or quads."""
    by_size = sorted(counts, key=lambda r: (min(counts[r], 4), r), reverse=True)
    if kind == "full-house":
        trips = next(r for r in by_size if counts[r] == 3)
        return {trips, max(r for r in counts if counts[r] >= 2 and r != trips)}
    if kind == "two-pair":
        return set(sorted((r for r in counts if counts[r] == 2), reverse=True)[:2])
    return set() if kind == "high-card" else {by_size[0]}


def _ranks(cards: tuple[int, ...]) -> list[int]:
    return [card >> 2 for card in cards]


def _mask(cards: tuple[int, ...]) -> int:
    mask = 0
    for card in cards:
        mask |= 1 << (card >> 2)
    return mask


def _add_pairs(facts: Facts, hole: Hole, board: tuple[int, ...]) -> None:
    high, low = max(hole) >> 2, min(hole) >> 2
    on_board = _ranks(board)
    top = max(on_board)
    facts["overcards"] = (high > top) + (low > top and low != high)
    if high == low:
        facts["pocket-pair"] = YES
        if on_board.count(high) == 0:
            facts["pair-above"] = len({r for r in on_board if r > high})
        return
    paired = [r for r in (high, low) if on_board.count(r) == 1]
    if paired:
        facts["pair-above"] = len({r for r in on_board if r > paired[0]})
        if len(paired) == 1:
            facts["kicker"] = (low if paired[0] == high else high) + 2


def _add_draws(facts: Facts, hole: Hole, board: tuple[int, ...]) -> None:
    """Draws that a hole card takes part in."""
    suits = [card & 3 for card in (*hole, *board)]
    cards, holes = max((suits.count(card & 3), suits[:2].count(card & 3)) for card in hole)
    facts["flush-cards"], facts["flush-holes"] = cards, holes
    mask, shared = _mask((*hole, *board)), _mask(board)
    if len(board) < 5 and _STRAIGHTS[mask] == 0:
        bits = (1 << r for r in range(13))
        facts["straight-ends"] = sum(1 for bit in bits if _STRAIGHTS[mask | bit] > _STRAIGHTS[shared | bit])


def _add_dangers(facts: Facts, board: tuple[int, ...]) -> None:
    suits = [card & 3 for card in board]
    mask, last = _mask(board), board[-1]
    facts["board-suited"] = max(suits.count(suit) for suit in set(suits))
    facts["board-run"] = max((mask & window).bit_count() for window in _WINDOWS)
    facts["board-ends"] = sum(1 for r in range(13) if _STRAIGHTS[mask | 1 << r] > 0 and not mask >> r & 1)
    if last >> 2 in _ranks(board[:-1]):
        facts["last-pairs"] = YES
    facts["last-suited"] = suits.count(last & 3)
    bit = 1 << (last >> 2)
    facts["last-run"] = max((mask & window).bit_count() for window in _WINDOWS if window & bit)


def _add_standing(facts: Facts, hole: Hole, board: tuple[int, ...]) -> None:
    ahead, tied, behind, kind_ahead, kind_behind, outs, unseen = survey_hand(hole, board)
    facts["hand-share"] = (ahead + tied / 2) / (ahead + tied + behind)
    facts["tie-break"] = (kind_ahead + tied / 2) / max(kind_ahead + tied + kind_behind, 1)
    if behind == 0:
        facts["nuts"] = YES
    facts["outs"] = outs
    if outs:
        facts["draw-odds"] = (unseen - outs) / outs


def survey_hand(hole: Hole, board: tuple[int, ...]) -> tuple[int, int, int, int, int, int, int]:
    """Hands we beat, tie and lose to; those of our kind we beat and lose to; outs; unseen cards."""
    found = np.zeros(6, dtype=np.int64)
    _survey(np.array((*hole, *board), dtype=np.int64), found)
    ahead, tied, behind, kind_ahead, kind_behind, outs = found.tolist()
    return ahead, tied, behind, kind_ahead, kind_behind, outs, 50 - len(board)


@njit
def _rank(c: NDArray[np.int64], n: int) -> int:
    if n == 7:
        return rank_cards7(c[0], c[1], c[2], c[3], c[4], c[5], c[6])
    if n == 6:
        return rank_cards6(c[0], c[1], c[2], c[3], c[4], c[5])
    return rank_cards5(c[0], c[1], c[2], c[3], c[4])


@njit
def _compare(cards: NDArray[np.int64], live: NDArray[np.int64], n_live: int, found: NDArray[np.int64]) -> None:
    """Fill found (5,): hands beaten, tied, lost to; of our kind beaten, lost to. `live` are the cards they may hold."""
    n = cards.shape[0]
    own = _rank(cards, n)
    theirs = cards.copy()
    found[:5] = 0
    for i in range(n_live):
        theirs[0] = live[i]
        for j in range(i):
            theirs[1] = live[j]
            rank = _rank(theirs, n)
            same = CATEGORY_OF_RANK[rank] == CATEGORY_OF_RANK[own]
            if rank < own:
                found[0] += 1
                found[3] += same
            elif rank > own:
                found[2] += 1
                found[4] += same
            else:
                found[1] += 1


@njit
def _survey(cards: NDArray[np.int64], found: NDArray[np.int64]) -> None:
    """Fill found (6,): as `_compare`, then the number of outs."""
    n = cards.shape[0]
    live = np.empty(52, dtype=np.int64)
    n_live = 0
    for card in range(52):
        if not (cards == card).any():
            live[n_live] = card
            n_live += 1
    _compare(cards, live, n_live, found)
    share = (found[0] + 0.5 * found[1]) / (found[0] + found[1] + found[2])
    found[5] = 0
    if n == 7 or share >= OUT_SHARE:
        return
    longer = np.empty(n + 1, dtype=np.int64)
    longer[:n] = cards
    rest = np.empty(52, dtype=np.int64)
    then = np.zeros(5, dtype=np.int64)
    for k in range(n_live):
        longer[n] = live[k]
        rest[:k] = live[:k]
        rest[k : n_live - 1] = live[k + 1 : n_live]
        _compare(longer, rest, n_live - 1, then)
        after = (then[0] + 0.5 * then[1]) / (then[0] + then[1] + then[2])
        if after >= OUT_SHARE and after >= share + OUT_GAIN:
            found[5] += 1
