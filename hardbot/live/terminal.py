"""The table in a terminal: colours and a heat map on a screen, plain lines for scripts.

`play_table` runs a session against any `Screen` and any source of answers. The plain screen writes one line an event,
so that its output can be read by a program or a screen reader; the rich one redraws the table at every turn. With
study on, both show the person's range as the bot sees it (his own hand marked), and after the hand the bot's cards.
Amounts are small bets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hardbot.errors import ArenaError
from hardbot.game.cards import CARD_TEXT, CLASS_TEXT, RANKS, hole_class
from hardbot.game.hand import Hole
from hardbot.game.rules import ACTION_NAMES, CALL, FOLD, RAISE, STREET_NAMES
from hardbot.live.session import PERSON, Event, HandRecord, Snapshot, TableSession, TableView, legal_names

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

Read = Callable[[str], str | None]  # prompt -> line, None at the end of input
SMALL_BET_CHIPS = 10
HELP = "f fold, c check or call, r bet or raise, s study on or off, q leave"
_WORDS = {
    "f": FOLD,
    "fold": FOLD,
    "c": CALL,
    "call": CALL,
    "k": CALL,
    "check": CALL,
    "r": RAISE,
    "raise": RAISE,
    "b": RAISE,
    "bet": RAISE,
}
_SUIT_SIGNS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
_SUIT_STYLES = {"c": "green", "d": "dodger_blue1", "h": "red", "s": "default"}
_RANK_ORDER = RANKS[::-1]


class Screen(ABC):
    """Where a table is shown."""

    pauses_between_hands = False

    @abstractmethod
    def show_event(self, table: TableSession, event: Event) -> None:
        """Something happened."""

    @abstractmethod
    def show_turn(self, table: TableSession, snapshot: Snapshot | None) -> None:
        """It is the person's turn; `snapshot` is there while studying."""

    @abstractmethod
    def show_result(self, table: TableSession, record: HandRecord, snapshots: Sequence[Snapshot]) -> None:
        """The hand is over; `snapshots` are empty unless studying."""

    @abstractmethod
    def show_message(self, text: str) -> None:
        """Anything else to say."""


def play_table(table: TableSession, screen: Screen, read: Read, *, study: bool = False) -> bool:
    """Play until the session's hands are over or the person leaves; whether all hands were played.

    A hand that is left in the middle is not scored and not kept.
    """
    player = _Player(table, screen, read, study)
    while not table.is_finished:
        if not player.play_hand():
            return False
    return True


class _Player:
    """One person at one table."""

    def __init__(self, table: TableSession, screen: Screen, read: Read, study: bool) -> None:
        self.table, self.screen, self.read, self.study = table, screen, read, study

    def play_hand(self) -> bool:
        """One hand; False if the person leaves."""
        table = self.table
        try:
            self._show(table.start_hand())
            while not table.is_between_hands:
                if not table.is_persons_turn:
                    self._show(table.step())
                    continue
                action = self._ask()
                if action is None:
                    return False
                self._show(table.submit(action))
        except ArenaError as error:
            self.screen.show_message(f"the hand is void: {error}")
            return self._goes_on()
        record = table.records[-1]
        snapshots = table.snapshots(record.hand_number) if self.study else ()
        self.screen.show_result(table, record, snapshots)
        return self._goes_on()

    def _goes_on(self) -> bool:
        if not self.screen.pauses_between_hands or self.table.is_finished:
            return True
        line = self.read("Enter for the next hand, q to leave: ")
        return line is not None and line.strip().lower() not in ("q", "quit")

    def _show(self, events: Sequence[Event]) -> None:
        for event in events:
            self.screen.show_event(self.table, event)

    def _ask(self) -> int | None:
        """A legal action, None to leave."""
        self._show_turn()
        while True:
            legal = self.table.view().legal
            line = self.read(f"{prompt_of(self.table.view())}: ")
            word = "q" if line is None else line.strip().lower()
            if word in ("q", "quit"):
                return None
            if word in ("s", "study"):
                self.study = not self.study
                self._show_turn()
            elif word in ("", "h", "help", "?"):
                self.screen.show_message(HELP)
            elif _WORDS.get(word) in legal:
                return _WORDS[word]
            else:
                self.screen.show_message(f"expected {legal_names(legal)}, got {word[:20]!r} ({HELP})")

    def _show_turn(self) -> None:
        snapshots = self.table.snapshots() if self.study else ()
        self.screen.show_turn(self.table, snapshots[-1] if snapshots else None)


# Words


def prompt_of(view: TableView) -> str:
    """`0.5 to call (f, c, r)`."""
    keys = ", ".join("fcr"[action] for action in view.legal)
    cost = f"{sb(view.to_call_chips)} to call" if view.to_call_chips else "nothing to call"
    return f"{cost} ({keys})"


def sb(chips: float) -> str:
    """Chips as small bets, without idle zeros."""
    return f"{chips / SMALL_BET_CHIPS:g}"


def cards(numbers: Sequence[int]) -> str:
    """`Ah Kd`."""
    return " ".join(CARD_TEXT[number] for number in numbers)


def describe(table: TableSession, event: Event) -> str:
    """An event in words."""
    if event.kind == "deal":
        view = table.view()
        button = next(chair.name for chair in view.chairs if chair.has_button)
        return f"hand {event.hand_number + 1}: you have {cards(event.cards)}, button {button}"
    if event.kind == "board":
        return f"{STREET_NAMES[event.betting.count('/')]}: {cards(event.cards)}, pot {sb(event.pot_chips)}"
    if event.kind == "action":
        return f"you {_verb(event, '')}" if event.chair == PERSON else f"{table.names[event.chair]} {_verb(event, 's')}"
    return "the hand is void" if event.kind == "void" else f"end of hand, pot {sb(event.pot_chips)}"


def _verb(event: Event, ending: str) -> str:
    if event.action == FOLD:
        return f"fold{ending}"
    if event.action == CALL:
        return f"call{ending} {sb(event.paid_chips)}" if event.paid_chips else f"check{ending}"
    streets = event.betting.rstrip("/").split("/")
    is_bet = len(streets) > 1 and streets[-1].count("r") == 1
    return f"{'bet' if is_bet else 'raise'}{ending}, {sb(event.paid_chips)} in"


def outcome(table: TableSession, record: HandRecord, *, reveal: bool) -> list[str]:
    """The end of a hand in words; `reveal` tells the bots' cards even if they were not shown."""
    lines = []
    for seat, name in enumerate(record.result.players):
        shown = record.result.holes[seat]
        if seat != record.seat and (shown is not None or reveal):
            note = "" if shown is not None else " (not shown)"
            lines.append(f"{name} had {cards(record.deal.holes[seat])}{note}")
    winners = [name for name, chips in zip(record.result.players, record.result.net_chips, strict=True) if chips > 0]
    lines.append(f"{' and '.join(winners) or 'nobody'} won; your result {record.net_sb:+g}")
    return lines


def score_line(table: TableSession) -> str:
    """The running result."""
    score = table.score.to_json()
    hands = f"{score['hands']} hand{'s' * (score['hands'] != 1)}"
    text = f"after {hands}: {score['net_sb']:+g} sb, without the luck of the cards {score['adjusted_sb']:+.2f}"
    if score["ci95"] is not None:
        per_hand = f"{score['adjusted_sb_per_hand']:+.2f} ± {score['adjusted_ci95']:.2f}"
        text += f" ({per_hand} a hand)"
    return text


def figure_lines(snapshot: Snapshot) -> list[str]:
    """Figures, triple and rule of a snapshot, as far as there are any."""
    beliefs, lines = snapshot.beliefs, []
    if beliefs.figures:
        lines.append(", ".join(f"{name} {value:.3g}" for name, value in beliefs.figures.items()))
    if beliefs.triple is not None:
        shares = zip(ACTION_NAMES, beliefs.triple, strict=True)
        lines.append(
            "decided " + ", ".join(f"{name} {p:.0%}" for name, p in shares) + f" by {beliefs.rule or 'no rule'}"
        )
    return lines


def heat_lines(snapshot: Snapshot, own: Hole) -> list[str]:
    """The 13x13 map in digits 0 to 9 (`.` for nothing), suited hands above the diagonal, own hand in brackets."""
    heat = snapshot.beliefs.heat()
    if heat is None:
        return []
    mark = hole_class(*own)
    lines = ["   " + "  ".join(_RANK_ORDER)]
    for row in range(13):
        cells = []
        for column in range(13):
            level = round(9 * float(heat[row, column]))
            digit = "." if heat[row, column] <= 0 else str(level)
            cells.append(f"[{digit}]" if 13 * row + column == mark else f" {digit} ")
        lines.append(f"{_RANK_ORDER[row]} {''.join(cells)}".rstrip())
    return lines


class PlainScreen(Screen):
    """One line an event, for pipes and screen readers."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self.write = write

    def show_event(self, table: TableSession, event: Event) -> None:
        """One line."""
        if event.kind != "end":
            self.write(describe(table, event))

    def show_turn(self, table: TableSession, snapshot: Snapshot | None) -> None:
        """The cards once more, and the map while studying."""
        view = table.view()
        hole = view.chairs[PERSON].hole
        assert hole is not None
        board = f" on {cards(view.board)}" if view.board else ""
        if snapshot is not None:
            self._study(table, snapshot, hole)
        self.write(f"your turn with {cards(hole)}{board}, pot {sb(view.pot_chips)}, {prompt_of(view)}")

    def show_result(self, table: TableSession, record: HandRecord, snapshots: Sequence[Snapshot]) -> None:
        """Who had what, who won, and the score."""
        if snapshots:
            self._study(table, snapshots[-1], record.hole)
        for line in outcome(table, record, reveal=bool(snapshots)):
            self.write(line)
        self.write(score_line(table))

    def show_message(self, text: str) -> None:
        """One line."""
        self.write(text)

    def _study(self, table: TableSession, snapshot: Snapshot, hole: Hole) -> None:
        self.write(f"your range as {table.names[snapshot.chair]} sees it:")
        for line in heat_lines(snapshot, hole) + figure_lines(snapshot):
            self.write(line)


class RichScreen(Screen):
    """The table drawn anew at every turn, with colours."""

    pauses_between_hands = True

    def __init__(self, console: Console) -> None:
        self.console = console
        self._lines: list[str] = []

    def show_event(self, table: TableSession, event: Event) -> None:
        """Keep the hand's story; it is drawn with the table."""
        if event.kind == "deal":
            self._lines = []
        if event.kind != "end":
            self._lines.append(describe(table, event))

    def show_turn(self, table: TableSession, snapshot: Snapshot | None) -> None:
        """Draw the table."""
        hole = table.view().chairs[PERSON].hole
        assert hole is not None
        self._draw(table, snapshot, hole, [])

    def show_result(self, table: TableSession, record: HandRecord, snapshots: Sequence[Snapshot]) -> None:
        """Draw the table once more with the outcome."""
        snapshot = snapshots[-1] if snapshots else None
        self._draw(table, snapshot, record.hole, outcome(table, record, reveal=bool(snapshots)))

    def show_message(self, text: str) -> None:
        """A line under the table."""
        self.console.print(text, style="yellow", markup=False, highlight=False)

    def _draw(self, table: TableSession, snapshot: Snapshot | None, hole: Hole, end: Sequence[str]) -> None:
        from rich.columns import Columns
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        story = Text("\n".join([*self._lines[-14:], *end]))
        left: RenderableType = Group(_seats(table), Text(), _board(table.view()), Text(), story)
        parts = [Panel(left, title=f"hardbot · hand {table.view().hand_number + 1}", expand=False)]
        if snapshot is not None:
            title = f"your range as {table.names[snapshot.chair]} sees it"
            notes = Text("\n".join(figure_lines(snapshot)))
            parts.append(Panel(Group(_heat(snapshot, hole), notes), title=title, expand=False, width=58))
        self.console.clear()
        self.console.print(Columns(parts))
        if table.records:
            self.console.print(score_line(table), style="bold", highlight=False)


def _seats(table: TableSession) -> Any:
    """Names, cards, chips."""
    from rich.table import Table
    from rich.text import Text

    view = table.view()
    grid = Table(box=None, pad_edge=False)
    for column, justify in (("", "left"), ("player", "left"), ("cards", "left"), ("in", "right"), ("total", "right")):
        grid.add_column(column, justify=justify)  # type: ignore[arg-type]
    for chair in view.chairs:
        style = "bold" if chair.chair == view.to_act else "dim" if not chair.is_live else ""
        shown = pretty_cards(chair.hole) if chair.hole is not None else Text("▒▒ ▒▒" if chair.is_live else "")
        grid.add_row(
            "●" if chair.has_button else "",
            Text(chair.name, style=style),
            shown,
            sb(chair.paid_chips),
            f"{chair.total_chips / SMALL_BET_CHIPS:+g}",
        )
    return grid


def _board(view: TableView) -> Text:
    from rich.text import Text

    line = Text(f"{STREET_NAMES[view.street]}  ")
    line.append_text(pretty_cards(view.board))
    line.append(f"  pot {sb(view.pot_chips)}", style="bold")
    return line


def pretty_cards(numbers: Sequence[int]) -> Text:
    """Cards with coloured suits."""
    from rich.text import Text

    text = Text()
    for number in numbers:
        rank, suit = CARD_TEXT[number][0], CARD_TEXT[number][1]
        text.append(f"{rank}{_SUIT_SIGNS[suit]} ", style=f"bold {_SUIT_STYLES[suit]}")
    return text


def _heat(snapshot: Snapshot, own: Hole) -> Text:
    """The 13x13 map: darker to brighter, the person's own hand in reverse."""
    from rich.text import Text

    heat, mark, text = snapshot.beliefs.heat(), hole_class(*own), Text()
    if heat is None:
        return text
    for row in range(13):
        for column in range(13):
            cell = 13 * row + column
            style = heat_style(float(heat[row, column]))
            text.append(f"{CLASS_TEXT[cell]:<4}", style="bold #000000 on #f5e04b" if cell == mark else style)
        text.append("\n")
    return text


def heat_style(level: float) -> str:
    """Colours of a cell: dark blue for nothing to orange for the likeliest hands."""
    low, high = (24, 28, 44), (232, 106, 32)
    red, green, blue = (round(a + (b - a) * level**0.45) for a, b in zip(low, high, strict=True))
    ink = "#000000" if level > 0.45 else "grey74"
    return f"{ink} on #{red:02x}{green:02x}{blue:02x}"
