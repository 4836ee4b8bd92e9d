"""A gauntlet or cross-table as one HTML file: tables and drawings inside, nothing loaded from anywhere."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1c2330; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid #d9dee7; }
td { font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
.won { color: #14733b; font-weight: 600; } .lost { color: #b3261e; font-weight: 600; } .open { color: #6b7280; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; } figcaption { color: #4b5563; }
small { color: #6b7280; } @media (prefers-color-scheme: dark) {
body { background: #14181f; color: #e5e9f0; } th, td { border-color: #333b48; } figure { background: #fff; } }
"""
_COLUMNS = ("", "hands", "sb/hand", "± 95%", "verdict", "uncorrected", "variance ÷", "interval over", "ms a decision")
_FIGURES = {
    "voluntary_entry": "voluntary entry",
    "preflop_raise": "preflop raise",
    "aggression": "aggression",
    "went_to_showdown": "went to showdown",
    "won_at_showdown": "won at showdown",
}


def gauntlet_page(document: Mapping[str, Any]) -> str:
    """The whole page of a document of hardbot.arena.gauntlet.document_of."""
    cross = document["kind"] == "crosstable"
    title = "Cross-table" if cross else f"Gauntlet of {document['rows'][0]['hero']}"
    parts = [f"<h1>{html.escape(title)}</h1>", _facts(document)]
    parts.append(_cross_table(document) if cross else _results_table(document))
    parts += ["<h2>Styles</h2>", _style_table(document["styles"])]
    parts += ["<h2>Cumulative winnings</h2>", _figure(_draw_cumulative, document["curves"], _CUMULATIVE)]
    learners = [curve for curve in document["curves"] if curve["learns"] and curve["learning"]]
    if learners:
        parts += ["<h2>Learning curves</h2>", _figure(_draw_learning, learners, _LEARNING)]
    body = "\n".join(parts)
    head = f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style>'
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"{head}</head>\n<body>\n{body}\n</body></html>\n"
    )


_CUMULATIVE = "sb won over the match, luck of the board taken off; band: 95% sampling error of the sum so far."
_LEARNING = "sb a hand by position within a block (memories start empty with each) where a bot learns, with 95% bars."


def _facts(document: Mapping[str, Any]) -> str:
    facts = [
        f"{document['played_at']}",
        f"commit {document['commit'] or 'unknown'}",
        f"seed {document['seed']}",
        f"at most {document['pairs']:,} pairs in blocks of {document['block']:,}",
    ]
    models = sorted({row["model"] for row in document["rows"] if row["model"]})
    if models:
        facts.append(f"model {', '.join(models)}")
    if document["unseen"]:
        facts.append("models without the opponent's hands")
    if document["half_width"] is not None:
        facts.append(f"until ±{document['half_width']}")
    if document["sequential"]:
        facts.append("until decided (confidence sequence)")
    return f"<p><small>{html.escape(' · '.join(facts))}</small></p>"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>"


def _results_table(document: Mapping[str, Any]) -> str:
    rows = []
    for row in document["rows"]:
        milliseconds = row["decision_ms"]
        rows.append(
            [
                html.escape(row["opponent"]),
                f"{row['hands']:,}",
                _number(row["sb_per_hand"], "+.3f"),
                _number(row["ci95"], ".3f"),
                f'<span class="{row["verdict"]}">{row["verdict"]}</span>',
                f"{_number(row['raw_sb_per_hand'], '+.3f')} ± {_number(row['raw_ci95'], '.3f')}",
                _number(row["variance_factor"], ".2f"),
                row["interval"],
                "table" if milliseconds is None else " / ".join(f"{ms:.2f}" for ms in milliseconds),
            ]
        )
    return _table(_COLUMNS, rows)


def _cross_table(document: Mapping[str, Any]) -> str:
    bots = list(document["styles"])
    cells: dict[tuple[str, str], str] = {}
    totals: dict[str, list[float]] = {bot: [] for bot in bots}
    for row in document["rows"]:
        half = _number(row["ci95"], ".3f")
        for sign, a, b in ((1, row["hero"], row["opponent"]), (-1, row["opponent"], row["hero"])):
            mean = sign * row["sb_per_hand"] + 0.0  # no -0.000
            verdict = row["verdict"] if sign > 0 else {"won": "lost", "lost": "won"}.get(row["verdict"], "open")
            cells[a, b] = f'<span class="{verdict}">{mean:+.3f}</span><br><small>±{half}</small>'
            totals[a].append(mean)
    rows = []
    for bot in sorted(bots, key=lambda name: -sum(totals[name])):
        means = totals[bot]
        row_cells = [cells.get((bot, other), "") for other in bots]
        rows.append([html.escape(bot), *row_cells, f"{sum(means) / max(len(means), 1):+.3f}"])
    return "<p>Winnings of the row's bot, sb/hand.</p>" + _table(["", *bots, "mean"], rows)


def _style_table(styles: Mapping[str, Mapping[str, float | None]]) -> str:
    rows = []
    for bot, style in styles.items():
        cells = [_number(style[key], ".2f" if key == "aggression" else ".1%") for key in _FIGURES]
        rows.append([html.escape(bot), f"{int(style['hands'] or 0):,}", *cells])
    return _table(["", "hands", *_FIGURES.values()], rows)


def _number(value: float | None, pattern: str) -> str:
    return "–" if value is None or not math.isfinite(value) else format(value, pattern)


def _figure(draw: Callable[[Any, Sequence[Mapping[str, Any]]], None], curves: Sequence[Any], caption: str) -> str:
    """A drawing as inline SVG; text stays text and ids are fixed, so equal data give equal files."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "hardbot"}):
        figure = Figure(figsize=(10, 4.6), layout="constrained")
        draw(figure.add_subplot(), curves)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    return f"<figure>{svg[svg.index('<svg') :]}<figcaption>{html.escape(caption)}</figcaption></figure>"


def _label(curve: Mapping[str, Any], curves: Sequence[Mapping[str, Any]]) -> str:
    one_hero = len({other["hero"] for other in curves}) == 1
    return str(curve["opponent"]) if one_hero else f"{curve['hero']} – {curve['opponent']}"


def _draw_cumulative(axes: Any, curves: Sequence[Mapping[str, Any]]) -> None:
    for curve in curves:
        hands = [point["hands"] for point in curve["cumulative"]]
        won = [point["sb"] for point in curve["cumulative"]]
        band = [point["band_sb"] or 0.0 for point in curve["cumulative"]]
        (line,) = axes.plot(hands, won, label=_label(curve, curves), linewidth=1.4)
        low, high = ([w + sign * b for w, b in zip(won, band, strict=True)] for sign in (-1, 1))
        axes.fill_between(hands, low, high, color=line.get_color(), alpha=0.12, linewidth=0)
    axes.axhline(0, color="#888", linewidth=0.8)
    axes.set(xlabel="hands", ylabel="sb won")
    axes.legend(fontsize="small")


def _draw_learning(axes: Any, curves: Sequence[Mapping[str, Any]]) -> None:
    for curve in curves:
        points = curve["learning"]
        means = [point["sb_per_hand"] for point in points]
        bars = [point["ci95"] or 0.0 for point in points]
        hands = [point["hand"] for point in points]
        axes.errorbar(hands, means, yerr=bars, label=_label(curve, curves), linewidth=1.2, elinewidth=0.6, capsize=2)
    axes.axhline(0, color="#888", linewidth=0.8)
    axes.set(xlabel="hand of the block", ylabel="sb/hand")
    axes.legend(fontsize="small")
