"""Options that many commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]
Seed = Annotated[int, typer.Option("--seed", help="Deals and bots' randomness follow from it.")]
Jobs = Annotated[int, typer.Option("--jobs", help="Worker processes; the result does not depend on it.")]
