"""Bots by name, with options: `rulebot`, `loki:simulate=no,trials=100`.

Modules are imported only when a bot is asked for, so that listing names stays fast. An option's
type is the annotation of the bot's `__init__` parameter.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from hardbot.bots.base import Bot
from hardbot.errors import BotError


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a bot lives and what it is, in one line."""

    location: str  # module:Class
    summary: str


BOTS: dict[str, Entry] = {
    "always_call": Entry("hardbot.bots.simple:AlwaysCall", "checks and calls"),
    "always_raise": Entry("hardbot.bots.simple:AlwaysRaise", "bets and raises while it may, else calls"),
    "always_fold": Entry("hardbot.bots.simple:AlwaysFold", "checks when free, else folds"),
    "random": Entry("hardbot.bots.simple:Random", "any legal action, equally likely"),
    "hardbot": Entry("hardbot.bots.hardbot:HardBot", "Bayesian range from a corpus model, corrected for this opponent"),
    "rulebot": Entry("hardbot.bots.rulebot:RuleBot", "plain rules on hand strength and potential"),
    "casey": Entry("hardbot.bots.casey:Casey", "plays by what happened in similar situations before"),
    "poki": Entry("hardbot.bots.poki:Poki", "hand strength and potential against weight tables, opponent modelling"),
    "loki": Entry("hardbot.bots.loki:Loki", "probability triples and a simulation at every decision"),
    "pokabayes": Entry("hardbot.bots.pokabayes:PokaBayes", "Bayesian decision network on 44 hand types; heads-up only"),
    "soarbot": Entry("hardbot.bots.soarbot:SoarBot", "expert system of readable rules with opponent facts; learns"),
    "best_response": Entry("hardbot.bots.best_response:BestResponse", "wins the most possible from always_call"),
    "sparbot": Entry("hardbot.bots.sparbot:Sparbot", "approximate equilibrium from a table; heads-up only"),
    "vexbot": Entry(
        "hardbot.bots.vexbot:VexBot", "searches the betting with observed frequencies and showdowns; learns"
    ),
}

FACTORIES: dict[str, Callable[[str], Bot]] = {}  # prefix of a spec -> maker of a bot from the whole spec
# Makers that live above this package are named, not imported; worker processes find them the same way.
PLUGINS: dict[str, str] = {
    "openspiel": "hardbot.live.openspiel:make_arena_bot",
    "tcp": "hardbot.live.foreign:make_foreign_bot",
}


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Name and options of `name:key=value,key=value`."""
    name, _, tail = spec.partition(":")
    options: dict[str, str] = {}
    for part in filter(None, tail.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key:
            raise BotError(f"expected options as key=value in bot {spec!r}, got {part!r}")
        if key in options:
            raise BotError(f"expected each option once in bot {spec!r}, got {key!r} twice")
        options[key] = value
    return name, options


def bot_class(name: str) -> type[Bot]:
    """Class of a registered bot."""
    entry = BOTS.get(name)
    if entry is None:
        raise BotError(f"expected a bot of {', '.join(sorted(BOTS))}, got {name!r}")
    module, _, attribute = entry.location.partition(":")
    found: type[Bot] = getattr(import_module(module), attribute)
    return found


def _factory(spec: str) -> Callable[[str], Bot] | None:
    prefix, colon, _ = spec.partition(":")
    if colon and prefix in PLUGINS and prefix not in FACTORIES:
        module, _, attribute = PLUGINS[prefix].partition(":")
        FACTORIES[prefix] = getattr(import_module(module), attribute)
    return FACTORIES.get(prefix)


def create_bot(spec: str) -> Bot:
    """A fresh bot without memory."""
    factory = _factory(spec)
    if factory is not None:
        return factory(spec)
    name, texts = split_spec(spec)
    cls = bot_class(name)
    parameters = inspect.signature(cls.__init__, eval_str=True).parameters
    known = {
        key: p
        for key, p in parameters.items()
        if key != "self" and p.kind is not p.VAR_KEYWORD and p.kind is not p.VAR_POSITIONAL
    }
    options: dict[str, Any] = {}
    for key, text in texts.items():
        if key not in known:
            offered = ", ".join(known) or "none"
            raise BotError(f"expected an option of {name} ({offered}), got {key!r} in {spec!r}")
        options[key] = _convert(text, known[key].annotation, f"{key} of {name}")
    missing = [key for key, p in known.items() if p.default is p.empty and key not in options]
    if missing:
        raise BotError(f"expected options {', '.join(missing)} of {name} (as {name}:key=value), got {spec!r}")
    return cls(**options)


def _convert(text: str, annotation: Any, where: str) -> Any:
    kinds = str(annotation)
    try:
        if annotation is bool or "bool" in kinds:
            return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[text.lower()]
        if annotation is int or kinds.startswith("int"):
            return int(text)
        if annotation is float or kinds.startswith("float"):
            return float(text)
    except (KeyError, ValueError) as error:
        kind = annotation.__name__ if isinstance(annotation, type) else kinds
        raise BotError(f"expected {kind} for {where}, got {text!r}") from error
    return text


def check_table_size(spec: str, n_seats: int) -> None:
    """Raise BotError if the bot does not play at tables of this size."""
    if _factory(spec) is not None:
        return
    sizes = bot_class(split_spec(spec)[0]).table_sizes
    if n_seats not in sizes:
        raise BotError(f"expected {sizes.start} to {sizes.stop - 1} seats for {spec}, got {n_seats}")
