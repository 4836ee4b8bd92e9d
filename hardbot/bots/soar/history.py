"""What the player remembers of each opponent, and of its own operators.

SoarBot kept a history of every opponent and never looked at it (R. Follek, SoarBot, Pace University 2003, sections
2.2.10 and 5.2). Its author's list of what to know is kept here and put into working memory: the starting cards an
opponent plays, by position; how often he bluffs; how often he check-raises; whether he wins. We add how often he folds
to a bet after the flop and how often he bets or raises. A bluff is a last bet on the river that is shown down
with a hand below half of all hands.

Operators have results: what the hand brought from the decision on, so that folding is worth 0. Section 5.3 asks
for rules that learn from them; `results.rules` are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from hardbot.bots.soar.analysis import Facts, hutchison_number, survey_hand
from hardbot.bots.soar.situation import bet_timing
from hardbot.errors import BotError
from hardbot.game.betting import NOBODY, Betting
from hardbot.game.hand import HandResult, View
from hardbot.game.rules import CALL, FOLD, RAISE
from hardbot.game.storage import write_whole

TIMINGS = ("early", "middle", "late")
SCHEMA = 1
_SHARES = {"opp-plays", "opp-folds", "opp-aggression", "opp-bluffs", "opp-check-raises"}
_HERE = {"opp-hands-here", "opp-plays-here"}  # in the position he is in now
OPPONENT_FACTS = frozenset(_SHARES | _HERE | {"opp-hands", "opp-faced", "opp-shown-bets", "opp-starts", "opp-wins"})


@dataclass(slots=True)
class PlayerRecord:
    """Counts of one opponent; positions are early, middle, late."""

    hands: list[int] = field(default_factory=lambda: [0, 0, 0])
    played: list[int] = field(default_factory=lambda: [0, 0, 0])  # put chips in of his own will before the flop
    starts: list[int] = field(default_factory=lambda: [0, 0, 0])  # hands shown down
    start_points: list[int] = field(default_factory=lambda: [0, 0, 0])  # Hutchison points of those
    faced: int = 0  # bets and raises faced after the flop
    folds: int = 0
    acts: int = 0  # checks, calls, bets and raises after the flop
    bets: int = 0
    check_raises: int = 0
    shown_bets: int = 0
    bluffs: int = 0
    net_sb: float = 0.0

    @property
    def n_hands(self) -> int:
        """Hands with him."""
        return sum(self.hands)

    def facts(self, timing: str) -> Facts:
        """Facts for working memory when he sits early, middle or late; shares of nothing are left out."""
        n, here = self.n_hands, TIMINGS.index(timing)
        facts: Facts = {"opp-hands": n, "opp-faced": self.faced, "opp-shown-bets": self.shown_bets}
        facts["opp-hands-here"] = self.hands[here]
        for name, part, whole in (
            ("opp-plays", sum(self.played), n),
            ("opp-plays-here", self.played[here], self.hands[here]),
            ("opp-wins", self.net_sb, n),
            ("opp-folds", self.folds, self.faced),
            ("opp-aggression", self.bets, self.acts),
            ("opp-check-raises", self.check_raises, n),
            ("opp-bluffs", self.bluffs, self.shown_bets),
            ("opp-starts", sum(self.start_points), sum(self.starts)),
        ):
            if whole:
                facts[name] = part / whole
        return facts


@dataclass(slots=True)
class OperatorRecord:
    """What followed the choices of one operator, in small bets."""

    uses: int = 0
    facing: int = 0  # of them with a bet to call
    total_sb: float = 0.0
    squares: float = 0.0

    def add(self, profit_sb: float, facing_bet: bool) -> None:
        """One more use."""
        self.uses += 1
        self.facing += facing_bet
        self.total_sb += profit_sb
        self.squares += profit_sb * profit_sb

    def facts(self) -> dict[str, float]:
        """Facts for the rules about results."""
        mean = self.total_sb / self.uses
        spread = math.sqrt(max(self.squares / self.uses - mean * mean, 0.0))
        half = 1.96 * spread / math.sqrt(self.uses)
        shares = {"uses": float(self.uses), "facing-bet": self.facing / self.uses}
        return shares | {"mean-sb": mean, "lower-sb": mean - half, "upper-sb": mean + half}


Record = TypeVar("Record", PlayerRecord, OperatorRecord)


class History:
    """Records of all opponents by name and of all operators by rule."""

    def __init__(self) -> None:
        self.players: dict[str, PlayerRecord] = {}
        self.operators: dict[str, OperatorRecord] = {}
        self._played: set[int] = set()  # seats that came in of their own will
        self._checked: set[tuple[int, int]] = set()  # (street, seat)

    def begin(self) -> None:
        """A new hand."""
        self._played.clear()
        self._checked.clear()

    def observe(self, view: View, before: Betting, action: int) -> None:
        """Count one action of an opponent."""
        seat = before.seat
        if seat == view.seat:
            return
        if before.street == 0:
            if action != FOLD and (before.to_call or action == RAISE):
                self._played.add(seat)
            return
        record = self.player(view.players[seat])
        if before.to_call:
            record.faced += 1
            record.folds += action == FOLD
        if action != FOLD:
            record.acts += 1
            record.bets += action == RAISE
        if action == CALL and not before.to_call:
            self._checked.add((before.street, seat))
        elif action == RAISE and (before.street, seat) in self._checked:
            record.check_raises += 1

    def end(self, view: View, result: HandResult) -> None:
        """Count the hand's outcome for every opponent."""
        rules, betting = view.rules, result.betting
        for seat, name in enumerate(result.players):
            if seat == view.seat:
                continue
            record = self.player(name)
            timing = TIMINGS.index(bet_timing(rules, seat))
            record.hands[timing] += 1
            record.played[timing] += seat in self._played
            record.net_sb += rules.to_sb(result.net_chips[seat])
            hole = result.holes[seat]
            if hole is not None:
                record.starts[timing] += 1
                record.start_points[timing] += hutchison_number(hole)
                if betting.aggressor == seat and "r" in betting.street_text:
                    ahead, tied, behind, *_ = survey_hand(hole, result.board)
                    record.shown_bets += 1
                    record.bluffs += ahead + tied / 2 < 0.5 * (ahead + tied + behind)

    def player(self, name: str) -> PlayerRecord:
        """The record of a name, new if there is none."""
        record = self.players.get(name)
        if record is None:
            record = self.players[name] = PlayerRecord()
        return record

    def operator(self, name: str) -> OperatorRecord:
        """The record of a rule that proposes."""
        record = self.operators.get(name)
        if record is None:
            record = self.operators[name] = OperatorRecord()
        return record

    def opponent_facts(self, view: View) -> Facts:
        """What is known of the opponent that matters most: the last to bet, or the only one left."""
        betting = view.betting
        seat = betting.aggressor
        if seat in (view.seat, NOBODY) or not betting.live[seat]:
            if betting.n_live != 2:
                return {}
            seat = next(s for s, live in enumerate(betting.live) if live and s != view.seat)
        record = self.players.get(view.players[seat])
        return record.facts(bet_timing(view.rules, seat)) if record is not None else {}

    def to_json(self) -> dict[str, Any]:
        """All records as plain data."""
        return {
            "schema": SCHEMA,
            "players": {name: asdict(record) for name, record in sorted(self.players.items())},
            "operators": {name: asdict(record) for name, record in sorted(self.operators.items())},
        }

    def save(self, path: Path) -> None:
        """Write all records as JSON."""
        write_whole(path, json.dumps(self.to_json(), indent=1).encode())

    def load(self, path: Path) -> None:
        """Replace all records by those of a file."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(data, dict) or data.get("schema") != SCHEMA:
                raise BotError(f"expected a history of schema {SCHEMA} in {path}")
            self.players = {str(name): _record(PlayerRecord, entry) for name, entry in data["players"].items()}
            self.operators = {str(name): _record(OperatorRecord, entry) for name, entry in data["operators"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BotError(f"expected a history as written by soarbot in {path}, got {error!r}") from error


def _record(cls: type[Record], entry: Mapping[str, Any]) -> Record:
    known = {f.name for f in fields(cls)}
    if set(entry) != known:
        raise KeyError(f"fields {sorted(set(entry) ^ known)}")
    return cls(**entry)
