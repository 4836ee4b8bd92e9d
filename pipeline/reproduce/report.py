"""What a reproduced experiment says, and how it is written: rows with intervals beside published values, one figure."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NONE_PUBLISHED = "none"
# Blue, orange, aqua: neighbours of this palette stay apart for colour-blind readers.
COLOURS = ("#2a78d6", "#eb6834", "#1baf7a", "#8a5cd0", "#b8860b")
INK, MUTED, GRID = "#222222", "#666666", "#dddddd"


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run: `quick` stays under two minutes; `jobs` never changes a result."""

    seed: int = 1
    quick: bool = False
    jobs: int = 1
    progress: Callable[[str], None] = lambda text: None


@dataclass(frozen=True, slots=True)
class Row:
    """One number: measured with the half-width of its 95% interval (nan if it has none), and published."""

    group: str
    what: str
    measured: float
    ci95: float
    published: float | str | None = None
    published_ci95: float | None = None
    unit: str = "sb/hand"
    hands: int = 0

    def to_json(self) -> dict[str, Any]:
        """Null where there is no interval or nothing was published."""
        return {
            "group": self.group,
            "what": self.what,
            "measured": None if math.isnan(self.measured) else self.measured,
            "ci95": None if math.isnan(self.ci95) else self.ci95,
            "published": self.published,
            "published_ci95": self.published_ci95,
            "unit": self.unit,
            "hands": self.hands,
        }

    def cells(self) -> list[str]:
        """Texts of a printed table's line."""
        return [self.group, self.what, self._measured_text(), self._published_text(), self.unit, f"{self.hands:,}"]

    def _measured_text(self) -> str:
        value = _number(self.measured, self.unit)
        return value if math.isnan(self.ci95) else f"{value} ± {_number(self.ci95, self.unit).lstrip('+')}"

    def _published_text(self) -> str:
        if self.published is None:
            return NONE_PUBLISHED
        if isinstance(self.published, str):
            return self.published
        value = _number(self.published, self.unit)
        if self.published_ci95 is None:
            return value
        return f"{value} ± {_number(self.published_ci95, self.unit).lstrip('+')}"


COLUMN_NAMES = ("", "what", "measured", "published", "unit", "hands")


def _number(value: float, unit: str) -> str:
    if unit == "%":
        return f"{value:.1f}"
    return f"{value:+.3f}" if unit.startswith("sb/hand") else f"{value:,.0f}"


@dataclass(frozen=True)
class Reproduction:
    """An experiment's outcome. `draw` fills an empty figure."""

    name: str
    title: str
    rows: Sequence[Row]
    notes: Sequence[str]
    seconds: float
    draw: Callable[[Figure], None]
    size: tuple[float, float] = (10.0, 7.0)  # of the figure in inches

    def to_json(self, settings: Settings) -> dict[str, Any]:
        """The command line's document."""
        return {
            "experiment": self.name,
            "title": self.title,
            "seed": settings.seed,
            "quick": settings.quick,
            "rows": [row.to_json() for row in self.rows],
            "notes": list(self.notes),
            "seconds": self.seconds,
        }

    def table(self) -> str:
        """The rows as Markdown."""
        lines = ["| " + " | ".join(COLUMN_NAMES) + " |", "|---|---|---:|---:|---|---:|"]
        lines += ["| " + " | ".join(row.cells()) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"


def write_report(result: Reproduction, settings: Settings, folder: Path) -> dict[str, str]:
    """Write NAME.png, NAME.svg, NAME.md and NAME.json; returns their paths by kind."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {kind: folder / f"{result.name}.{kind}" for kind in ("png", "svg", "md", "json")}
    document = result.to_json(settings)
    paths["json"].write_text(json.dumps(document, indent=1) + "\n")
    command = f"hardbot reproduce {result.name}{' --quick' if settings.quick else ''} --seed {settings.seed}"
    notes = "\n".join(f"- {note}" for note in result.notes)
    paths["md"].write_text(f"# {result.title}\n\n`{command}`\n\n{result.table()}\n{notes}\n")
    save_figure(result.draw, result.size, [paths["png"], paths["svg"]])
    return {kind: str(path) for kind, path in paths.items()}


def save_figure(draw: Callable[[Figure], None], size: tuple[float, float], paths: Sequence[Path]) -> None:
    """Draw once and save in every format; no display is needed."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style: Any = {
        "axes.edgecolor": MUTED,
        "axes.labelcolor": INK,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlelocation": "left",
        "axes.titlesize": 11,
        "font.size": 9,
        "svg.hashsalt": "hardbot",
        "xtick.color": MUTED,
        "ytick.color": MUTED,
    }
    with rc_context(style):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        draw(figure)
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else {}
            figure.savefig(path, dpi=120, metadata=metadata)


def draw_rows(figure: Figure, rows: Sequence[Row], title: str) -> None:
    """Measured values with intervals, published ones as open squares, a line each; rows from top to bottom."""
    axes: Axes = figure.subplots()
    places = list(range(len(rows)))[::-1]
    axes.axvline(0.0, color=MUTED, linewidth=0.8)
    for place, row in zip(places, rows, strict=True):
        half = 0.0 if math.isnan(row.ci95) else row.ci95
        axes.errorbar(row.measured, place + 0.12, xerr=half, fmt="o", color=COLOURS[0], capsize=3, markersize=5)
        axes.annotate(
            f"{row.measured:+.3f}",
            (row.measured, place + 0.12),
            (0, 6),
            textcoords="offset points",
            ha="center",
            size=8,
        )
        if isinstance(row.published, float | int):
            spread = row.published_ci95 or 0.0
            axes.errorbar(
                row.published,
                place - 0.18,
                xerr=spread,
                fmt="s",
                color=COLOURS[1],
                capsize=3,
                mfc="white",
                markersize=5,
            )
    axes.errorbar([], [], xerr=[], fmt="o", color=COLOURS[0], label="measured, 95% interval")
    if any(isinstance(row.published, float | int) for row in rows):
        axes.errorbar([], [], xerr=[], fmt="s", color=COLOURS[1], mfc="white", label="published")
    axes.set_yticks(places, [f"{row.group}: {row.what}" for row in rows])
    axes.set_ylim(-0.8, len(rows) - 0.2)
    axes.set_xlabel("small bets a hand")
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    figure.legend(frameon=False, loc="outside lower right", ncols=2)
    axes.set_title(title)


def rows_size(rows: Sequence[Row]) -> tuple[float, float]:
    """Size of a figure with a line for each row."""
    return 10.0, 1.6 + 0.6 * len(rows)
