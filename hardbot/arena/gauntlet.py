"""The gauntlet (one hero against many) and the cross-table (everybody against everybody).

Both are series of duplicate matches (series.py). Opponents sit under names drawn anew for each block and nobody
loads what an earlier match has taught. An `unseen` gauntlet gives the hero, against each opponent, a model whose
corpus holds no hand of that opponent: a folder `unseen-OPPONENT` among the user's models or in the project's data.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from hardbot.arena.series import Fixture, Floats, SeriesSettings, Standing, code_hash, play_series
from hardbot.arena.statistics import estimate_mean
from hardbot.arena.style import Style
from hardbot.bots.registry import BOTS, FACTORIES, bot_class, split_spec
from hardbot.errors import ArenaError, HardBotError
from hardbot.game.storage import shipped_folder
from hardbot.model.artifact import MANIFEST, default_model_path, user_models

HERO = "hardbot"
OPPONENTS = ("poki", "sparbot", "vexbot", "rulebot", "always_call", "always_raise")
NIGHTLY_PAIRS = 500
SCHEMA = 1
_CURVE_POINTS = 10
_PATH_POINTS = 160


def chosen_bots(text: str, everybody: Sequence[str]) -> list[str]:
    """Bots of `A,B,...`, or those of `everybody` that exist for `all`.

    A comma also separates a bot's options: a part with `=` and no `:` belongs to the bot before it.
    """
    if text == "all":
        return [name for name in everybody if name in BOTS]
    found: list[str] = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        if "=" in part and ":" not in part and found:
            found[-1] += f",{part}"
        else:
            found.append(part)
    twice = [bot for i, bot in enumerate(found) if bot in found[:i]]
    if not found or twice:
        raise ArenaError(f"expected different bots such as poki,rulebot or all, got {text!r}")
    return found


def gauntlet_fixtures(hero: str, opponents: Iterable[str], *, unseen: bool = False) -> list[Fixture]:
    """The hero against each opponent; the hero itself is left out of `opponents`."""
    fixtures = []
    for opponent in opponents:
        if opponent == hero:
            continue
        spec = unseen_spec(hero, split_spec(opponent)[0]) if unseen else hero
        fixtures.append(Fixture(hero, opponent, (spec, opponent), model_hash(spec)))
    if not fixtures:
        raise ArenaError(f"expected opponents other than {hero}, got none")
    return fixtures


def unseen_spec(hero: str, opponent: str) -> str:
    """The hero with nothing in it that was learned from this opponent.

    A hero with an option `unseen` is told the opponent's name; one that plays from a model gets the one without the
    opponent's hands. A hero that plays a portfolio of strategies looks at its model only to explain itself: there the
    model is changed if there is another, but need not be.
    """
    defaults = bot_defaults(hero)
    if "model" not in defaults:
        raise ArenaError(f"expected a hero with an option model for matches without the opponent's hands, got {hero}")
    options = split_spec(hero)[1]
    portfolio = "unseen" in defaults and options.get("chooser", defaults.get("chooser")) == "portfolio"
    spec = hero
    if "unseen" in defaults:
        spec = with_option(spec, "unseen", "+".join(filter(None, (options.get("unseen", ""), opponent))))
    try:
        return with_model(spec, unseen_model(opponent))
    except ArenaError:
        if portfolio:
            return spec
        raise


def cross_fixtures(bots: Sequence[str]) -> list[Fixture]:
    """Every bot against every later one."""
    if len(bots) < 2:
        raise ArenaError(f"expected at least two bots for a cross-table, got {', '.join(bots) or 'none'}")
    return [Fixture(a, b, (a, b), model_hash(a)) for i, a in enumerate(bots) for b in bots[i + 1 :]]


def bot_defaults(spec: str) -> dict[str, Any]:
    """Options of a registered bot and their defaults; none for bots that are made otherwise."""
    name = split_spec(spec)[0]
    if spec.partition(":")[0] in FACTORIES or name not in BOTS:
        return {}
    return {
        key: p.default for key, p in inspect.signature(bot_class(name).__init__).parameters.items() if key != "self"
    }


def with_option(spec: str, key: str, value: str) -> str:
    """The same bot with another value of an option."""
    if "," in value:
        raise ArenaError(f"expected a value without a comma for {key} of {spec}, got {value}")
    name, options = split_spec(spec)
    options[key] = value
    return f"{name}:" + ",".join(f"{k}={v}" for k, v in options.items())


def with_model(spec: str, folder: Path) -> str:
    """The same bot with another model."""
    return with_option(spec, "model", str(folder))


def unseen_model(opponent: str) -> Path:
    """Folder of the model trained without this opponent; ArenaError says how to make it."""
    name = f"unseen-{opponent}"
    own = user_models() / name
    for place in (own, shipped_folder(name)):
        if (place / MANIFEST).is_file():
            return place
    raise ArenaError(
        f"expected a model {name} in {own.parent} or the project's data folder, found none; "
        f"make it with: hardbot train --without-player {opponent} --out {own}"
    )


def model_hash(spec: str) -> str:
    """Short hash of what a bot was trained to: its model and its portfolio, joined by +; empty if it has neither."""
    defaults, options = bot_defaults(spec), split_spec(spec)[1]
    parts = []
    if "model" in defaults:
        parts.append(_manifest_hash(options.get("model", ""), default_model_path))
    if "portfolio" in defaults:
        from hardbot.bots.portfolio import default_portfolio

        parts.append(_manifest_hash(options.get("portfolio", ""), default_portfolio))
    return "+".join(filter(None, parts))


def _manifest_hash(folder: str, default: Callable[[], Path]) -> str:
    try:
        text = ((Path(folder) if folder else default()) / MANIFEST).read_bytes()
    except (HardBotError, OSError):
        return ""
    try:
        known = json.loads(text).get("model_id", "")
    except (ValueError, AttributeError):
        known = ""
    return str(known) or hashlib.sha256(text).hexdigest()[:12]


def git_commit() -> str:
    """Commit of the project's folder, `+` where files differ from it; empty outside of a checkout."""
    folder = Path(__file__).resolve().parent
    try:
        head = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"], cwd=folder, capture_output=True, text=True, check=True
        ).stdout.strip()
        changed = subprocess.run(["git", "diff", "--quiet", "HEAD"], cwd=folder, capture_output=True, check=False)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head + ("+" if changed.returncode else "")


def results_folder() -> Path:
    """Folder of published results, beside the user's models."""
    return user_models().parent / "results"


def state_folder() -> Path:
    """Folder of unfinished and finished blocks, beside the user's models."""
    return user_models().parent / "gauntlet"


def row_of(standing: Standing) -> dict[str, Any]:
    """One match as plain data; null where there is no interval yet."""
    estimate, raw = standing.estimate(), standing.estimate(corrected=False)
    corrected, plain = (np.concatenate(standing.pair_values(corrected=c) or [np.zeros(0)]) for c in (True, False))
    seconds = sum(score.seconds for score in standing.blocks)
    many = len(corrected) > 1
    row: dict[str, Any] = {
        "hero": standing.fixture.hero,
        "opponent": standing.fixture.opponent,
        "hands": 2 * standing.pairs,
        "pairs": standing.pairs,
        "sb_per_hand": estimate.mean,
        "ci95": estimate.half_width,
        "anytime95": standing.anytime_half_width(),
        "verdict": standing.verdict,
        "ended_by": standing.ended_by or "unfinished",
        "interval": "blocks" if standing.learns else "pairs",
        "raw_sb_per_hand": raw.mean,
        "raw_ci95": raw.half_width,
        "sd_pair": float(corrected.std(ddof=1)) if many else math.nan,
        "raw_sd_pair": float(plain.std(ddof=1)) if many else math.nan,
        "variance_factor": _factor(plain, corrected),
        "seed": standing.settings.seed,
        "block": standing.settings.block,
        "blocks": len(standing.blocks),
        "model": standing.fixture.model,
        "specs": list(standing.fixture.specs),
        "cpu_seconds": seconds,
        "hands_per_cpu_second": 2 * standing.pairs / seconds if seconds else math.nan,
        "decision_ms": _decision_ms(standing),
    }
    return {key: _plain(value) for key, value in row.items()}


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _factor(plain: Floats, corrected: Floats) -> float:
    """How many times smaller the variance of a pair is for the correction."""
    spread = float(corrected.var()) if len(corrected) else 0.0
    return float(plain.var()) / spread if spread else math.nan


def _decision_ms(standing: Standing) -> list[float] | None:
    counts = [sum(score.decisions[i] for score in standing.blocks) for i in range(2)]
    if not all(counts):
        return None
    return [1e3 * sum(score.act_seconds[i] for score in standing.blocks) / counts[i] for i in range(2)]


def curve_of(standing: Standing) -> dict[str, Any]:
    """Learning curve (hands of a block in tenths, mean over blocks) and cumulative winnings, as plain data."""
    size = standing.settings.block
    whole = [values for values in standing.pair_values() if len(values) == size]
    curve = []
    for part in np.array_split(np.arange(size), min(_CURVE_POINTS, size)) if whole else []:
        means = np.array([values[part].mean() for values in whole])
        every = np.concatenate([values[part] for values in whole])
        half = estimate_mean(means if standing.learns else every).half_width
        curve.append({"hand": int(part[-1]) + 1, "sb_per_hand": float(every.mean()), "ci95": _plain(half)})
    values = np.concatenate(standing.pair_values() or [np.zeros(0)])
    raw = np.concatenate(standing.pair_values(corrected=False) or [np.zeros(0)])
    steps: list[int] = np.unique(np.linspace(1, len(values), _PATH_POINTS).astype(int)).tolist() if len(values) else []
    sd = float(values.std(ddof=1)) if len(values) > 1 else math.nan
    path = [
        {
            "hands": 2 * n,
            "sb": 2 * float(values[:n].sum()),
            "raw_sb": 2 * float(raw[:n].sum()),
            "band_sb": _plain(2 * 1.96 * sd * math.sqrt(n)),
        }
        for n in steps
    ]
    return {"learning": curve, "cumulative": path}


def document_of(
    kind: str, standings: Sequence[Standing], settings: SeriesSettings, *, unseen: bool = False
) -> dict[str, Any]:
    """Everything a page or a table needs, as plain data."""
    styles: dict[str, Style] = {}
    for standing in standings:
        for bot, style in zip((standing.fixture.hero, standing.fixture.opponent), standing.styles(), strict=True):
            styles[bot] = styles.get(bot, Style()) + style
    return {
        "schema": SCHEMA,
        "kind": kind,
        "played_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": git_commit(),
        "code": code_hash(),
        "seed": settings.seed,
        "pairs": settings.pairs,
        "block": settings.block,
        "half_width": settings.half_width,
        "sequential": settings.sequential,
        "unseen": unseen,
        "rows": [row_of(standing) for standing in standings],
        "styles": {bot: style.to_json() for bot, style in styles.items()},
        "curves": [
            {"hero": s.fixture.hero, "opponent": s.fixture.opponent, "learns": s.learns} | curve_of(s)
            for s in standings
        ],
    }


def after_training(model: Path) -> dict[str, Any]:
    """A short gauntlet of a newly promoted model, for the nightly flow; $HARDBOT_GAUNTLET_PAIRS sets its length."""
    text = os.environ.get("HARDBOT_GAUNTLET_PAIRS") or str(NIGHTLY_PAIRS)
    if not text.isdecimal():
        raise ArenaError(f"expected a number of pairs in HARDBOT_GAUNTLET_PAIRS, got {text!r}")
    pairs = int(text)
    settings = SeriesSettings(pairs, seed=1, block=min(max(pairs // 2, 1), 250))  # two blocks: intervals for learners
    opponents = chosen_bots("all", OPPONENTS)
    fixtures = [replace(f, hero=HERO) for f in gauntlet_fixtures(with_model(HERO, model), opponents)]
    standings = play_series(fixtures, settings, jobs=1)
    return document_of("gauntlet", standings, settings)
