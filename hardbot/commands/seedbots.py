"""`hardbot rules` and `hardbot pokabayes-tables`: what the rule player and the Bayesian player are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardbot.commands.options import Json
from hardbot.commands.output import print_json, print_table


def register(app: typer.Typer) -> None:
    """Add this area's commands."""
    app.command("rules", epilog="Example: hardbot rules soarbot --group river --json")(rules)
    app.command("pokabayes-tables", epilog="Example: hardbot pokabayes-tables --deals 1000000 --out data/pokabayes")(
        pokabayes_tables
    )


def rules(
    bot: Annotated[str, typer.Argument(help="A bot that plays by readable rules: soarbot.", metavar="BOT")] = "soarbot",
    group: Annotated[str | None, typer.Option("--group", help="Only this group, such as river.")] = None,
    as_json: Json = False,
) -> None:
    """The rules of a rule player, by group, as they are written."""
    from hardbot.bots.soar.rulebook import all_rules, load_group
    from hardbot.errors import BotError

    if bot != "soarbot":
        raise BotError(f"expected a bot with rules (soarbot), got {bot!r}")
    listed = load_group(group) if group else all_rules()
    if as_json:
        print_json([{"name": r.name, "group": r.group, "kind": r.kind, "text": r.text} for r in listed])
        return
    counts: dict[tuple[str, str], int] = {}
    for rule in listed:
        counts[rule.group, rule.kind] = counts.get((rule.group, rule.kind), 0) + 1
    for name in dict.fromkeys(rule.group for rule in listed):
        print(f"[{name}]")
        for rule in listed:
            if rule.group == name:
                print(f"  {rule.text}")
    rows = [[name, kind, str(n)] for (name, kind), n in counts.items()]
    print_table(f"{len(listed)} rules of {bot}", ["group", "kind", "rules"], rows)


def pokabayes_tables(
    deals: Annotated[int, typer.Option("--deals", help="Deals to simulate.", min=1)] = 8_000_000,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same tables.", min=0)] = 1,
    out: Annotated[Path, typer.Option("--out", help="Folder to write tables.npz and manifest.json into.")] = Path(
        "data/pokabayes"
    ),
    as_json: Json = False,
) -> None:
    """Simulate the probability tables of pokabayes's decision network."""
    from hardbot.bots.bayes.tables import ARRAYS, save_tables, simulate_tables

    manifest = save_tables(simulate_tables(deals, seed), out, {"deals": deals, "seed": seed})
    n_bytes = (out / ARRAYS).stat().st_size
    if as_json:
        print_json(manifest | {"folder": str(out), "bytes": n_bytes})
        return
    rows = [["deals", f"{deals:,}"], ["seed", str(seed)], ["bytes", f"{n_bytes:,}"], ["sha256", manifest["sha256"]]]
    print_table(f"tables of pokabayes in {out}", ["", "value"], rows)
