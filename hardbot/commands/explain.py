"""`hardbot explain`: what the bot believes at a match state, and why it would act as it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardbot.commands.output import print_json, print_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hardbot.bots.hardbot import HardBot, Reasons
    from hardbot.model.tracker import Step

N_TOP = 12


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("explain", epilog="Example: hardbot explain 'MATCHSTATE:0:0:r:AhKd|' --json")(explain)


def explain(
    state: Annotated[str, typer.Argument(help="What one player sees, in the competition's notation; its turn to act.")],
    model: Annotated[str, typer.Option("--model", help="Model folder; default the current or the shipped one.")] = "",
    chooser: Annotated[
        str, typer.Option("--chooser", help="How the bot decides, as in hardbot:chooser=expert.")
    ] = "portfolio",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """The opponent's range, buckets before and after each action, figures, the triple and the rule behind it."""
    from hardbot.bots.hardbot import HardBot, follow
    from hardbot.errors import NotationError
    from hardbot.game.notation import parse_match_state
    from hardbot.game.rules import HEADS_UP

    parsed = parse_match_state(state, HEADS_UP)
    if parsed.betting.seat != parsed.seat:
        raise NotationError(f"expected a match state where seat {parsed.seat} is to act, got {state!r}")
    bot = HardBot(model=model, chooser=chooser)
    bot.keeps_reasons = True
    view = follow(bot, parsed)
    bot.decide(view)
    reasons = bot.explain()
    if reasons is None or reasons.triple is None or bot.tracker is None:
        raise NotationError(f"expected a decision at {state!r}, got none")
    if as_json:
        print_json(_document(bot, reasons))
        return
    _print_range(reasons.weights)
    _print_steps(bot, bot.tracker.steps)
    figures = [[name, f"{value:.4f}"] for name, value in reasons.figures.items()]
    print_table("figures against the range", ["figure", "value"], figures)
    rows = [[rule, f"{share:.3f}"] for rule, share in reasons.shares]
    triple = " / ".join(f"{p:.3f}" for p in reasons.triple)
    print_table(f"fold / call / raise: {triple}   rule: {reasons.rule}", ["rule", "share"], rows)


def _document(bot: HardBot, reasons: Reasons) -> dict[str, Any]:
    from hardbot.game.cards import N_HOLES, format_hole

    figures = reasons.figures
    weights = reasons.weights
    steps = bot.tracker.steps if bot.tracker is not None else []
    return {
        "actions": list(reasons.triple or ()),
        "rule": reasons.rule,
        **{name: figures[name] for name in ("hs", "ppot", "npot", "ehs", "pot_odds")},
        "range": {format_hole(hole): float(weights[hole]) for hole in range(N_HOLES) if weights[hole] > 0.0},
        "buckets": [
            {
                "betting": step.betting.text,
                "action": "fcr"[step.action],
                "before": [p for _, p in _masses(bot, step, step.range_before)],
                "after": [p for _, p in _masses(bot, step, step.range_after)],
            }
            for step in steps
            if step.is_opponent
        ],
        "figures": dict(figures),
        "shares": [[rule, share] for rule, share in reasons.shares],
    }


def _masses(bot: HardBot, step: Step, weights: NDArray[np.float64]) -> tuple[tuple[str, float], ...]:
    from hardbot.game.rules import BOARD_SIZES

    board = bot.tracker.board if bot.tracker is not None else ()
    return bot.bucket_masses(board[: BOARD_SIZES[step.betting.street]], weights)


def _print_range(weights: NDArray[np.float64]) -> None:
    import numpy as np
    from rich.console import Console
    from rich.text import Text

    from hardbot.game.cards import CLASS_TEXT, HOLE_CLASS, N_CLASSES, format_hole

    masses = np.bincount(HOLE_CLASS, weights=weights, minlength=N_CLASSES)
    combos = np.bincount(HOLE_CLASS, weights=weights > 0.0, minlength=N_CLASSES)
    heat = np.divide(masses, combos, out=np.zeros(N_CLASSES), where=combos > 0)
    heat = heat / heat.max()
    console = Console()
    console.print("the opponent's range (shade: probability of a single hand of the class)")
    for row in range(13):
        line = Text()
        for column in range(13):
            cell = 13 * row + column
            level = round(255 * float(heat[cell]))
            ink = "black" if level > 110 else "white"
            line.append(f"{CLASS_TEXT[cell]:^5}", style=f"{ink} on rgb({level},{int(level * 0.75)},{40 + level // 4})")
        console.print(line)
    top = np.argsort(-weights)[:N_TOP]
    print_table("likeliest hands", ["hand", "probability"], [[format_hole(int(h)), f"{weights[h]:.4f}"] for h in top])


def _print_steps(bot: HardBot, steps: list[Step]) -> None:
    rows = []
    for step in steps:
        if not step.is_opponent:
            continue
        before, after = (_masses(bot, step, weights) for weights in (step.range_before, step.range_after))
        moved = sorted(zip(before, after, strict=True), key=lambda pair: -abs(pair[1][1] - pair[0][1]))[:3]
        told = ", ".join(f"{new[0]}: {old[1]:.3f} to {new[1]:.3f}" for old, new in moved)
        p = " / ".join(f"{x:.2f}" for x in step.p_adjusted)
        rows.append([f"{step.betting.text or 'start'} {('folds', 'calls', 'raises')[step.action]}", p, told])
    if rows:
        print_table("the opponent's actions", ["action", "expected f/c/r", "buckets that moved most"], rows)
