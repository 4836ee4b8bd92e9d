"""A series of duplicate matches, block by block on worker processes, that can be killed and taken up again.

A fixture is one match: two bots, many blocks. Blocks are played as in `hardbot match` (match.play_block): fresh bots
without memory, names drawn anew for every block, no saved memory. A finished block is one line of the fixture's state
file: the last position of every hand, from which together with the deals everything else follows. A line cut short
by a kill is dropped and its block played again, so that the result does not depend on interruptions.

Every pair of hands counts with the luck of the board cards taken off (chance.py); the interval is over pairs, or over
blocks if a bot learns. A fixture ends after its pairs; or, with `half_width`, when the 95% interval is that narrow
(Chow and Robbins, Annals of Mathematical Statistics 36, 1965: the coverage stays as stated in the limit); or, with
`sequential`, when the confidence sequence (statistics.anytime_half_width) leaves out 0. Both are looked at after every
block in order, from MIN_BLOCKS on; blocks played beyond by a second process are not counted.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hardbot.arena.blocks import DEFAULT_BLOCK, block_sizes, run_blocks
from hardbot.arena.chance import chance_generator, deal_equities, street_luck
from hardbot.arena.deals import deal_block
from hardbot.arena.entrants import spec_labels
from hardbot.arena.heads_up import seat0_chips
from hardbot.arena.match import MatchPlan, plan_match, play_block
from hardbot.arena.statistics import Estimate, anytime_half_width, estimate_blocks, estimate_mean
from hardbot.arena.style import Style, count_style
from hardbot.errors import ArenaError, ModelError
from hardbot.game.rules import HEADS_UP
from hardbot.model.artifact import MANIFEST, default_model_path

MIN_BLOCKS = 3  # before an early end is thought of
_NAME_STREAM = 1_000_007
_STATE_SCHEMA = 1

Floats = NDArray[np.float64]
Verdict = Literal["won", "lost", "open"]


@dataclass(frozen=True)
class Fixture:
    """One match: `hero` and `opponent` are what tables call them, `specs` what is played."""

    hero: str
    opponent: str
    specs: tuple[str, str]
    model: str = ""  # hash of the model the hero plays with, if it has one


@dataclass(frozen=True)
class SeriesSettings:
    """What all fixtures of a series share."""

    pairs: int
    seed: int
    block: int = DEFAULT_BLOCK
    half_width: float | None = None
    sequential: bool = False

    def check(self) -> None:
        """Raise ArenaError for settings no match can be played with."""
        block_sizes(self.pairs, self.block)
        if self.half_width is not None and not self.half_width > 0.0:
            raise ArenaError(f"expected an interval's half-width above 0, got {self.half_width}")


@dataclass(frozen=True)
class BlockScore:
    """One block of a fixture: what happened and what it was worth to the hero."""

    index: int
    ends: NDArray[np.int32]  # (2, deals)
    raw_sb: Floats  # (deals,) mean of a pair's two hands
    luck_sb: Floats  # (deals,) the cards' share in it
    styles: tuple[Style, Style]
    seconds: float  # of processor time, bots' set-up included
    act_seconds: tuple[float, float]
    decisions: tuple[int, int]


@dataclass
class Standing:
    """A fixture as far as it is played; blocks are taken in order."""

    fixture: Fixture
    settings: SeriesSettings
    learns: bool
    blocks: list[BlockScore] = field(default_factory=list)
    waiting: dict[int, BlockScore] = field(default_factory=dict)
    ended_by: str = ""

    @property
    def n_blocks(self) -> int:
        """Blocks of the whole fixture."""
        return len(block_sizes(self.settings.pairs, self.settings.block))

    def take(self, score: BlockScore) -> None:
        """Add a block, and any that waited for it; ends the fixture where the rule says so."""
        self.waiting[score.index] = score
        while not self.ended_by and len(self.blocks) in self.waiting:
            self.blocks.append(self.waiting.pop(len(self.blocks)))
            self.ended_by = self._end_rule()

    def _end_rule(self) -> str:
        if len(self.blocks) == self.n_blocks:
            return "pairs"
        if len(self.blocks) < MIN_BLOCKS:
            return ""
        if self.settings.half_width is not None and self.estimate().half_width <= self.settings.half_width:
            return "ci"
        if self.settings.sequential and abs(self.estimate().mean) > self.anytime_half_width():
            return "sequential"
        return ""

    @property
    def pairs(self) -> int:
        """Pairs counted so far."""
        return sum(len(score.raw_sb) for score in self.blocks)

    def pair_values(self, *, corrected: bool = True) -> list[Floats]:
        """The hero's sb a hand in each pair, block by block."""
        return [score.raw_sb - score.luck_sb if corrected else score.raw_sb for score in self.blocks]

    def estimate(self, *, corrected: bool = True) -> Estimate:
        """Mean and interval over pairs, or over blocks if a bot learns."""
        values = self.pair_values(corrected=corrected)
        if not values:
            return Estimate(math.nan, math.nan, math.nan, 0)
        if self.learns:
            return estimate_blocks([v.mean() for v in values], [len(v) for v in values])
        return estimate_mean(np.concatenate(values))

    def anytime_half_width(self) -> float:
        """Half-width of the confidence sequence; a short last block is a unit like the others."""
        values = self.pair_values()
        units = np.array([v.mean() for v in values]) if self.learns else np.concatenate(values or [np.zeros(0)])
        planned = self.n_blocks if self.learns else self.settings.pairs
        return anytime_half_width(estimate_mean(units).sd, len(units), planned)

    @property
    def verdict(self) -> Verdict:
        """What the interval (sequential: the confidence sequence) says; two blocks of a learner say nothing."""
        estimate = self.estimate()
        if self.learns and len(self.blocks) < MIN_BLOCKS:
            return "open"
        half = self.anytime_half_width() if self.settings.sequential else estimate.half_width
        if math.isnan(half) or abs(estimate.mean) <= half:
            return "open"
        return "won" if estimate.mean > 0 else "lost"

    def styles(self) -> tuple[Style, Style]:
        """Styles of hero and opponent in this fixture."""
        hero, opponent = Style(), Style()
        for score in self.blocks:
            hero, opponent = hero + score.styles[0], opponent + score.styles[1]
        return hero, opponent


@dataclass(frozen=True)
class _SeriesPlan:
    matches: tuple[MatchPlan, ...]


OnBlock = Callable[[Sequence[Standing]], None]


def play_series(
    fixtures: Sequence[Fixture],
    settings: SeriesSettings,
    *,
    jobs: int = 1,
    state: Path | None = None,
    on_block: OnBlock | None = None,
) -> list[Standing]:
    """Play all fixtures, their blocks in turn; `state` is the folder of the state files."""
    settings.check()
    if not fixtures:
        raise ArenaError("expected at least one match, got none")
    plan = _SeriesPlan(tuple(_plan(fixture, settings) for fixture in fixtures))
    standings = [Standing(f, settings, match.learns) for f, match in zip(fixtures, plan.matches, strict=True)]
    books = [_StateFile(state, fixture, settings) for fixture in fixtures] if state is not None else []
    for book, standing, match in zip(books, standings, plan.matches, strict=False):
        for score in book.load(match):
            standing.take(score)
    if on_block is not None:
        on_block(standings)
    for which, score in run_blocks(_play_task, plan, _tasks(standings), jobs):
        if books:
            books[which].append(score)
        standings[which].take(score)
        if on_block is not None:
            on_block(standings)
    return standings


def _plan(fixture: Fixture, settings: SeriesSettings) -> MatchPlan:
    sizes = block_sizes(settings.pairs, settings.block)
    plan = plan_match(fixture.specs, sizes, settings.seed, block=settings.block)
    return replace(plan, timed=not plan.compiled)


def _tasks(standings: Sequence[Standing]) -> Iterator[int]:
    """Blocks still to play, those of all fixtures in turn; asked for one by one, as fixtures may end early."""
    n = len(standings)
    for block in range(max(standing.n_blocks for standing in standings)):
        for which, standing in enumerate(standings):
            known = block < len(standing.blocks) or block in standing.waiting
            if not standing.ended_by and not known and block < standing.n_blocks:
                yield block * n + which


def _play_task(plan: _SeriesPlan, task: int) -> tuple[int, BlockScore]:
    index, which = divmod(task, len(plan.matches))
    match = replace(plan.matches[which], names=random_names(plan.matches[which].seed, index))
    start = time.process_time()
    try:
        outcome = play_block(match, index)
    except ArenaError as error:
        who = ", ".join(f"{name} is {bot}" for name, bot in zip(match.names, spec_labels(match.specs), strict=True))
        raise ArenaError(f"{error} ({who})") from error
    seconds = time.process_time() - start
    return which, score_block(match, index, outcome.ends, seconds, outcome.seconds, outcome.decisions)


def random_names(seed: int, block: int) -> tuple[str, str]:
    """Two names nobody has met before."""
    words = np.random.SeedSequence([seed, block, _NAME_STREAM]).generate_state(2, np.uint64)
    return f"a{int(words[0]):016x}", f"b{int(words[1]):016x}"


def score_block(
    match: MatchPlan,
    index: int,
    ends: NDArray[np.int32],
    seconds: float,
    act_seconds: tuple[float, float],
    decisions: tuple[int, int],
) -> BlockScore:
    """Worth of a block from its hands' last positions."""
    n_deals = ends.shape[1]
    deals = deal_block(2, n_deals, match.seed, index)
    equities = deal_equities(deals, chance_generator(match.seed, index))
    raw, luck = np.zeros(n_deals), np.zeros(n_deals)
    hero, opponent = Style(), Style()
    for side in range(2):
        seats = (np.arange(n_deals) + side) % 2  # the hero's
        sign = np.where(seats == 0, 0.5, -0.5)
        raw += sign * seat0_chips(match.rules, ends[side], deals) / match.rules.bet_sizes[0]
        luck += sign * street_luck(match.rules, ends[side], equities).sum(axis=1)
        hero += count_style(match.rules, ends[side], seats, deals.signs)
        opponent += count_style(match.rules, ends[side], 1 - seats, deals.signs)
    return BlockScore(index, ends, raw, luck, (hero, opponent), seconds, act_seconds, decisions)


class _StateFile:
    """Finished blocks of one fixture, a JSON line each after a first line that says what they are blocks of."""

    def __init__(self, folder: Path, fixture: Fixture, settings: SeriesSettings) -> None:
        self._head = {
            "schema": _STATE_SCHEMA,
            "specs": list(fixture.specs),
            "model": fixture.model,
            "seed": settings.seed,
            "block": settings.block,
            "rules": HEADS_UP.name,
            "code": code_hash(),
        }
        key = hashlib.sha256(json.dumps(self._head, sort_keys=True).encode()).hexdigest()[:12]
        slug = "-".join("".join(c if c.isalnum() or c == "_" else "." for c in bot)[:24] for bot in fixture.specs)
        self.path = folder / f"{slug}-{settings.seed}-{key}.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not self.path.exists():
                self._write(self._head)
        except OSError as error:
            raise ArenaError(f"expected a folder for the state of matches, got {folder}: {error.strerror}") from error

    def _write(self, line: Mapping[str, Any]) -> None:
        with self.path.open("a", encoding="ascii") as file:
            file.write(json.dumps(line) + "\n")

    def append(self, score: BlockScore) -> None:
        """Keep a finished block."""
        ends = b64encode(zlib.compress(score.ends.astype("<u2").tobytes())).decode()
        self._write(
            {
                "block": score.index,
                "deals": score.ends.shape[1],
                "ends": ends,
                "crc": zlib.crc32(score.ends.astype("<u2").tobytes()),
                "seconds": score.seconds,
                "act_seconds": score.act_seconds,
                "decisions": score.decisions,
            }
        )

    def load(self, match: MatchPlan) -> Iterator[BlockScore]:
        """Blocks of this match that are complete; a damaged line, or a block of another size, is left out."""
        text = self.path.read_text(encoding="ascii", errors="replace")
        if text and not text.endswith("\n"):
            with self.path.open("a", encoding="ascii") as file:
                file.write("\n")  # the cut line stays alone on its line
        seen: set[int] = set()
        for line in text.splitlines()[1:]:
            entry = _read_line(line)
            if entry is None or entry["block"] in seen or not 0 <= entry["block"] < len(match.sizes):
                continue
            if entry["ends"].shape[1] == match.sizes[entry["block"]]:
                seen.add(entry["block"])
                seconds, counts = entry["act_seconds"], entry["decisions"]
                yield score_block(match, entry["block"], entry["ends"], entry["seconds"], seconds, counts)


def _read_line(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
        data = zlib.decompress(b64decode(entry["ends"], validate=True))
        if zlib.crc32(data) != entry["crc"]:
            return None
        ends = np.frombuffer(data, dtype="<u2").astype(np.int32).reshape(2, int(entry["deals"]))
        return {
            "block": int(entry["block"]),
            "ends": ends,
            "seconds": float(entry["seconds"]),
            "act_seconds": tuple(float(x) for x in entry["act_seconds"]),
            "decisions": tuple(int(x) for x in entry["decisions"]),
        }
    except (ValueError, KeyError, TypeError, zlib.error):
        return None


@lru_cache(maxsize=1)
def code_hash() -> str:
    """Short hash of the runtime's source and of all shipped tables and the default model's manifest.

    Blocks of other code or data are not mixed with these.
    """
    package = Path(__file__).resolve().parent.parent
    files = [path for part in ("game", "model", "bots", "solver", "arena") for path in (package / part).rglob("*.py")]
    for folder in (package / "bots", package / "data", package.parent / "data"):
        files += [*folder.rglob("*.npz"), *folder.rglob(MANIFEST)]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.relative_to(package.parent).as_posix().encode())
        digest.update(path.read_bytes())
    try:
        digest.update((default_model_path() / MANIFEST).read_bytes())
    except (ModelError, OSError):
        digest.update(b"no model")
    return digest.hexdigest()[:12]
