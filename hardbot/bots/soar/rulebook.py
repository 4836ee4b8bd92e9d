"""The rules by group, as they stand in `rules/*.rules`, compiled once for each way to play before the flop.

Groups follow the files of the thesis (R. Follek, SoarBot, Pace University 2003, section 2.2): analysis, the two
preflop schemes (a switch), flop, turn, river, defaults; opponents and results are what its last chapter asks for.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from hardbot.bots.soar.analysis import CARD_FACTS, HOLE_FACTS
from hardbot.bots.soar.engine import RuleSet
from hardbot.bots.soar.history import OPPONENT_FACTS
from hardbot.bots.soar.language import Rule, parse_rules
from hardbot.bots.soar.situation import SITUATION_FACTS
from hardbot.errors import BotError

FOLDER = Path(__file__).resolve().parent / "rules"
STAGE_OF_GROUP = {
    "analysis": None,
    "preflop_loose": "preflop",
    "preflop_hutchison": "preflop",
    "flop": "flop",
    "turn": "turn",
    "river": "river",
    "defaults": None,
    "opponents": None,
    "results": None,
}
PREFLOP_SCHEMES = ("loose", "hutchison")
INPUTS = CARD_FACTS | HOLE_FACTS | SITUATION_FACTS | OPPONENT_FACTS
RECORD_FACTS = frozenset({"action", "uses", "facing-bet", "mean-sb", "lower-sb", "upper-sb"})


@lru_cache(maxsize=len(STAGE_OF_GROUP))
def load_group(group: str) -> tuple[Rule, ...]:
    """Rules of one group; BotError if the file is missing or wrong."""
    path = FOLDER / f"{group}.rules"
    if group not in STAGE_OF_GROUP or not path.is_file():
        raise BotError(f"expected a rule group of {', '.join(STAGE_OF_GROUP)}, got {group!r} ({path})")
    rules = parse_rules(group, path.read_text(encoding="utf-8"), STAGE_OF_GROUP[group])
    for rule in rules:
        unknown = {name for c in rule.conditions for name in c.attributes} - RECORD_FACTS
        if rule.adjustment is not None and unknown:
            raise BotError(
                f"expected facts of {', '.join(sorted(RECORD_FACTS))} in {rule.text!r}, got {min(unknown)!r}"
            )
    return rules


def all_rules() -> tuple[Rule, ...]:
    """Every rule of every group, both preflop schemes included."""
    return tuple(rule for group in STAGE_OF_GROUP for rule in load_group(group))


@lru_cache(maxsize=8)
def rule_set(preflop: str = "loose", opponents: bool = True, results: bool = True) -> RuleSet:
    """The compiled rules of one way to play."""
    if preflop not in PREFLOP_SCHEMES:
        raise BotError(f"expected a preflop scheme of {' or '.join(PREFLOP_SCHEMES)}, got {preflop!r}")
    groups = ["analysis", "preflop_loose", "flop", "turn", "river", "defaults"]
    if preflop == "hutchison":
        groups[1] = "preflop_hutchison"
    groups += ["opponents"] if opponents else []
    groups += ["results"] if results else []
    derived = {fact.attribute for rule in all_rules() for fact in rule.facts}  # of the scheme not in use
    return RuleSet((rule for group in groups for rule in load_group(group)), INPUTS | derived)
