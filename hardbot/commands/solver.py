"""`hardbot solve` and `hardbot exploit`: near-equilibrium strategies, and what a best response wins from them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardbot.commands.options import Json
from hardbot.commands.output import print_json, print_table, step_progress

if TYPE_CHECKING:
    from hardbot.solver.response import Rival
    from hardbot.solver.solve import Solver
    from hardbot.solver.strategy import Strategy


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("solve", epilog="Example: hardbot solve --buckets 100 --minutes 5 --out my-strategy")(solve)
    app.command("exploit", epilog="Example: hardbot exploit sparbot --flops 50 --jobs 2 --json")(exploit)


def solve(
    out: Annotated[Path, typer.Option("--out", help="Folder of the strategy; a run found there goes on.")],
    buckets: Annotated[
        str, typer.Option("--buckets", help="Buckets on flop, turn and river: one number or three, as 100,200,200.")
    ] = "200",
    minutes: Annotated[float, typer.Option("--minutes", help="Time to run; Ctrl-C saves and stops.")] = 25.0,
    every: Annotated[float, typer.Option("--every", help="Minutes between checkpoints.")] = 5.0,
    seed: Annotated[int, typer.Option("--seed", help="Buckets and boards follow from it.")] = 1,
    check: Annotated[
        int, typer.Option("--check", help="Boards to learn a response inside the abstraction from; 0: do not.")
    ] = 400,
    as_json: Json = False,
) -> None:
    """Find an approximate equilibrium by counterfactual regret minimisation.

    Prints at every checkpoint what a response learned within the same buckets wins from the average strategy: a lower
    bound of its exploitability there, the sharper the more boards it learns from.
    """
    from hardbot.solver.inside import learned_response
    from hardbot.solver.solve import CHECKPOINT, load_solver
    from hardbot.solver.solve import solve as run

    solver = load_solver(out) if (out / CHECKPOINT).is_file() else _new_solver(buckets, seed)
    curve: list[dict[str, Any]] = []

    def report(state: Solver) -> None:
        row: dict[str, Any] = {"boards": state.n_boards, "seconds": round(state.seconds, 1)}
        if check:
            found = learned_response(state.strategy(), state.tables, check, seed)
            row |= {"response_sb": round(found.value, 4), "standard_error": round(found.standard_error, 4)}
        curve.append(row)
        print("  ".join(f"{key} {value:,}" for key, value in row.items()), file=sys.stderr, flush=True)

    strategy = run(solver, 60.0 * minutes, out, 60.0 * every, report)
    report(solver)
    document = solver.notes() | {
        "strategy": str(out),
        "strategy_id": strategy.strategy_id,
        "buckets": list(solver.abstraction.sizes),
        "curve": curve,
    }
    if as_json:
        print_json(document)
        return
    rows = [[key, str(value)] for key, value in document.items() if key != "curve"]
    print_table("solved", ["", "value"], rows)


def _new_solver(buckets: str, seed: int) -> Solver:
    from hardbot.errors import StrategyError
    from hardbot.solver.abstraction import bucket_tables, make_abstraction
    from hardbot.solver.solve import Solver

    parts = buckets.split(",")
    if len(parts) not in (1, 3) or not all(part.strip().isdecimal() for part in parts):
        raise StrategyError(f"expected one number of buckets or three, as 100,200,200, got {buckets!r}")
    sizes = [int(part) for part in (parts * 3 if len(parts) == 1 else parts)]
    abstraction = make_abstraction(sizes[0], sizes[1], sizes[2])
    return Solver(abstraction, bucket_tables(abstraction), seed=seed)


def exploit(
    strategy: Annotated[
        str, typer.Argument(help="A bot that is a table (sparbot, always_call) or a folder of `hardbot solve`.")
    ],
    flops: Annotated[int, typer.Option("--flops", help="Flops to draw (even; two from each stratum).")] = 50,
    seed: Annotated[int, typer.Option("--seed", help="Which flops are drawn.")] = 1,
    jobs: Annotated[int, typer.Option("--jobs", help="Flops walked at the same time (threads).")] = 2,
    exact: Annotated[
        bool, typer.Option("--exact", help="All boards instead of a sample; only for bots that ignore their cards.")
    ] = False,
    finished: Annotated[
        bool, typer.Option("--finished", help="Walk nothing: what the finished flops of a stopped run say.")
    ] = False,
    inside: Annotated[
        int,
        typer.Option("--inside", min=0, help="Boards to learn a response within the strategy's buckets from instead."),
    ] = 0,
    as_json: Json = False,
) -> None:
    """What a best response wins from a strategy in the full game, sb a hand.

    Exact below each sampled flop. Before the flop the response is the best one for the sample: the value is a little
    too high, the cross-validated one rather too low. Finished flops are remembered, so a stopped run goes on.

    With --inside the response is learned within the strategy's own buckets and paid on fresh boards: a lower bound.
    """
    if exact:
        _print_exact(strategy, as_json)
    elif inside:
        _print_inside(strategy, inside, seed, as_json)
    else:
        _print_sampled(strategy, flops, seed, jobs, finished, as_json)


def _print_sampled(strategy: str, flops: int, seed: int, jobs: int, finished: bool, as_json: bool) -> None:
    from hardbot.solver.exploit import exploitability, finished_exploitability

    def progress(done: int, total: int) -> None:
        print(f"{done} of {total} flops", file=sys.stderr, flush=True)

    rival = _rival(strategy)
    if finished:
        found = finished_exploitability(rival, flops, seed)
    else:
        found = exploitability(rival, flops, seed, jobs, None if as_json else progress)
    if as_json:
        print_json({"strategy": strategy, "seed": seed} | found.to_json())
        return
    rows = [
        ["best response, sb/hand", f"{found.value:+.4f} ± {1.96 * found.standard_error:.4f}"],
        ["cross-validated", f"{found.cross_validated:+.4f}"],
        ["in the big blind", f"{found.by_seat[0]:+.4f}"],
        ["on the button", f"{found.by_seat[1]:+.4f}"],
    ]
    print_table(f"{strategy}: {found.n_flops} flops", ["", "value"], rows)


def _saved(name: str) -> Strategy | None:
    """The strategy of a folder or of sparbot; None for other bots."""
    from hardbot.bots.registry import create_bot
    from hardbot.bots.sparbot import Sparbot
    from hardbot.solver.strategy import MANIFEST, load_strategy

    if (Path(name) / MANIFEST).is_file():
        return load_strategy(Path(name))
    bot = create_bot(name)
    return load_strategy(bot.folder) if isinstance(bot, Sparbot) else None


def _rival(name: str) -> Rival:
    """The strategy of a bot or of a folder."""
    from hardbot.bots.registry import create_bot
    from hardbot.errors import StrategyError
    from hardbot.solver.exploit import rival_of_policy, rival_of_strategy

    saved = _saved(name)
    if saved is not None:
        return rival_of_strategy(saved)
    policy = create_bot(name).table_policy()
    if policy is None:
        raise StrategyError(f"expected a bot that is a table, such as sparbot or always_call, got {name}")
    return rival_of_policy(policy)


def _bucketed(name: str) -> Strategy:
    """The strategy over buckets of a folder or of a bot; over the shipped ones if the bot ignores its cards."""
    from hardbot.bots.registry import create_bot
    from hardbot.bots.sparbot import default_folder
    from hardbot.errors import StrategyError
    from hardbot.solver.rivals import exact_habits
    from hardbot.solver.strategy import load_strategy

    saved = _saved(name)
    if saved is not None:
        return saved
    policy = create_bot(name).table_policy()
    if policy is None or len(policy.probabilities) != len(policy.offsets):
        raise StrategyError(
            f"expected a strategy over buckets or a bot that ignores its cards for --inside, got {name}"
        )
    return exact_habits(policy, load_strategy(default_folder()))


def _print_inside(name: str, n_boards: int, seed: int, as_json: bool) -> None:
    from hardbot.solver.abstraction import bucket_tables
    from hardbot.solver.inside import learned_response

    strategy = _bucketed(name)
    tables = bucket_tables(strategy.abstraction)
    with step_progress(not as_json) as progress:
        found = learned_response(strategy, tables, n_boards, seed, progress)
    if as_json:
        print_json({"strategy": name, "seed": seed} | found.to_json())
        return
    rows = [
        ["learned response, sb/hand", f"{found.value:+.4f} ± {1.96 * found.standard_error:.4f}"],
        ["fresh boards it was paid on", f"{found.n_paid:,}"],
        ["the better start for it", found.start],
    ]
    print_table(f"{name}: inside its buckets, learned from {n_boards:,} boards", ["", "value"], rows)


def _print_exact(name: str, as_json: bool) -> None:
    from hardbot.bots.registry import create_bot
    from hardbot.errors import StrategyError
    from hardbot.solver.cardless import exact_response

    policy = create_bot(name).table_policy()
    if policy is None or len(policy.probabilities) != len(policy.offsets):
        raise StrategyError(f"expected a bot that ignores its cards, such as always_call, for --exact, got {name}")
    found = exact_response(policy)
    if as_json:
        print_json({"strategy": name} | found.to_json())
        return
    rows = [["best response, sb/hand", f"{found.value:+.6f}"]]
    rows += [["in the big blind", f"{found.by_seat[0]:+.6f}"], ["on the button", f"{found.by_seat[1]:+.6f}"]]
    print_table(f"{name}: all boards", ["", "value"], rows)
