"""Printing results: JSON for programs, tables for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(value, allow_nan=False))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A small table; the first column is text, the rest are right-aligned."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for position, column in enumerate(columns):
        table.add_column(column, justify="left" if position == 0 else "right")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def format_cell(value: Any, no: str = "no", pattern: str = ".4f") -> str:
    """A value of a JSON document as text for a table."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else no
    if isinstance(value, int):
        return f"{value:,}"
    return format(value, pattern) if isinstance(value, float) else str(value)


@contextmanager
def step_progress(wanted: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar a step on a terminal, called with step, done and total; None where nobody would see it."""
    from rich.console import Console

    console = Console(stderr=True)
    if not (wanted and console.is_terminal):
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        tasks: dict[str, Any] = {}

        def update(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=total)
            bar.update(tasks[step], completed=done, total=total)

        yield update
