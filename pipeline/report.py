"""What people read after a run: rows and pages made from the plain data of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

METRICS = ("action_nats", "public_nats", "range_bits")


def score_rows(scores: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row per metric and street of what `hardbot score` prints."""
    rows = []
    for metric in METRICS:
        for street, values in (scores[metric] or {}).items():
            row: dict[str, Any] = {"metric": metric, "street": street}
            for name, value in values.items():
                row[name] = round(value, 5) if isinstance(value, float) else value
            rows.append(row)
    return rows


def markdown_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows of plain data as a table; columns are the keys of all rows, in order of appearance."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(str(row.get(column, "")) for column in columns) + " |" for row in rows]
    return "\n".join(lines)


def curve_markdown(choice: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Settings of a model, and the held-out curve if there was a search."""
    streets = [dict(part) for part in choice["settings"]["streets"]]
    page = [
        f"# Model {report['model_id']}",
        f"{'Promoted' if report['promoted'] else 'Kept'}: {report['reason']}. {report['n_hands']:,} hands counted.",
        markdown_table(streets),
    ]
    points = [row for row in choice["curve"] if row["varied"] in {"k, width", "k"}]
    if points:
        columns = ("street", "k", "width", "nats")
        page += ["## Held-out nats by k and width", markdown_table([{c: row[c] for c in columns} for row in points])]
    return "\n\n".join(page)


def nightly_markdown(
    files: Sequence[Mapping[str, Any]], training: Mapping[str, Any] | None, gauntlet: Mapping[str, Any] | None
) -> str:
    """What a night brought."""
    page = ["# Nightly run", f"{len(files)} new files."]
    if files:
        columns = ("path", "format", "n_hands", "n_duplicates", "n_rejects")
        page.append(markdown_table([{column: file[column] for column in columns} for file in files]))
    if training is None:
        page.append("Nothing to train.")
    else:
        verdict = "promoted" if training["promoted"] else "kept"
        page.append(
            f"Model `{training['model_id']}` from {training['n_hands']:,} hands: {verdict} ({training['reason']})."
        )
    if gauntlet is not None:
        page += ["## Gauntlet", markdown_table([dict(row) for row in gauntlet.get("rows", [])] or [dict(gauntlet)])]
    return "\n\n".join(page) + "\n"
