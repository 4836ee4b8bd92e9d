"""Files of a rule player: why it acted, what each game brought, whom it met.

After the thesis's chapter on logs (R. Follek, SoarBot, Pace University 2003, section 2.2.10), which asks in its last
chapter for what it misses, a record of the rules that fired:
- `decisions-N.jsonl`, one decision a line: the facts, the rules that fired and that hold, all operators and the choice;
- `results.csv`, one game a line, growing over time, for a spreadsheet;
- `players-N.json`, the history of every opponent and operator, rewritten after every hand.

N numbers the instances that write into one folder; game numbers `N-hand` join the three.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hardbot.bots.soar.engine import Operator
from hardbot.bots.soar.history import History
from hardbot.bots.soar.language import Value
from hardbot.game.cards import format_cards
from hardbot.game.hand import HandResult, View

RESULT_COLUMNS = ("game", "player", "seats", "seat", "hole", "board", "betting", "showdown", "net_sb", "opponents")


@dataclass(frozen=True, slots=True)
class Decision:
    """One choice and its reasons. `fired` and `retracted` are the changes since the decision before."""

    hand_number: int
    betting: str
    hole: str
    board: str
    action: str
    operator: str
    operators: tuple[Operator, ...]
    fired: tuple[str, ...]
    retracted: tuple[str, ...]
    holding: tuple[str, ...]
    inputs: Mapping[str, Value]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


class SoarLog:
    """The files of one instance; the folder is made at the first write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.number = 0

    def open(self) -> None:
        """Take the first free number."""
        self.folder.mkdir(parents=True, exist_ok=True)
        while self.number == 0 or not self._take():
            self.number += 1

    def _take(self) -> bool:
        try:
            self.decisions.open("x").close()
        except FileExistsError:
            return False
        return True

    @property
    def decisions(self) -> Path:
        """File of this instance's decisions."""
        return self.folder / f"decisions-{self.number}.jsonl"

    @property
    def players(self) -> Path:
        """File of this instance's history."""
        return self.folder / f"players-{self.number}.json"

    @property
    def results(self) -> Path:
        """File of all games of all instances."""
        return self.folder / "results.csv"

    def write_decision(self, decision: Decision) -> None:
        """Append one decision."""
        if not self.number:
            self.open()
        game = {"game": f"{self.number}-{decision.hand_number}"}
        with self.decisions.open("a", encoding="utf-8") as file:
            file.write(json.dumps(game | decision.to_json()) + "\n")

    def write_result(self, view: View, result: HandResult, history: History) -> None:
        """Append one game and rewrite the history."""
        if not self.number:
            self.open()
        others = " ".join(name for seat, name in enumerate(result.players) if seat != view.seat)
        row = (
            f"{self.number}-{result.hand_number}",
            result.players[view.seat],
            str(view.rules.n_seats),
            str(view.seat),
            format_cards(view.hole),
            format_cards(result.board),
            result.betting.text,
            "yes" if result.betting.is_showdown and result.betting.live[view.seat] else "no",
            f"{view.rules.to_sb(result.net_chips[view.seat]):g}",
            others,
        )
        with self.results.open("a", encoding="utf-8") as file:
            if file.tell() == 0:
                file.write(",".join(RESULT_COLUMNS) + "\n")
            file.write(",".join(_quoted(cell) for cell in row) + "\n")
        history.save(self.players)


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if "," in cell or '"' in cell else cell
