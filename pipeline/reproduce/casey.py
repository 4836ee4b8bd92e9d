"""Casey's experiment: one learner among RuleBots at tables of 4, 6 and 8 players (Sandven and Tessem, 2006, section 4).

50,000 hands in five phases, an empty case base at the start of every session, five bets a round. The paper's curves are
only described: 4-handed even in the second phase and winning from the third on, 6-handed losing but almost even from
the fourth on, 8-handed losing throughout, less in every phase. Its digits are shares of hands: played (37%, 37%, 31%),
by position 8-handed (13% first to act, 35% on the button), won of the flops seen (40%) and of the showdowns (85%, with
the same wins as numerator, so wins without a showdown are in it). Blinds were played more than by any opponent.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hardbot.arena.sessions import SessionResult, batch_estimate, fluctuation, play_session
from hardbot.arena.statistics import Estimate, estimate_mean
from hardbot.bots.casey import Casey
from hardbot.game.rules import ring
from pipeline.reproduce.report import COLOURS, GRID, MUTED, Reproduction, Row, Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TABLES = (4, 6, 8)
N_PHASES = 5
FULL_HANDS, QUICK_HANDS = 50_000, 10_000
FULL_SESSIONS, QUICK_SESSIONS = 3, 1
PLAYED = {4: 37.0, 6: 37.0, 8: 31.0}
DIRECTION = {
    4: ("losing", "even", "winning", "winning", "winning less"),
    6: ("losing", "losing less", "losing less", "almost even", "almost even"),
    8: ("losing", "losing", "losing less", "losing less", "losing less"),
}


@dataclass(frozen=True)
class Learner:
    """Sessions of one table size."""

    n_seats: int
    sessions: Sequence[SessionResult]

    def phase(self, phase: int) -> slice:
        """Hands of a phase."""
        n = self.sessions[0].hands
        return slice(phase * n // N_PHASES, (phase + 1) * n // N_PHASES)

    def estimate(self, cut: slice) -> Estimate:
        """Casey's mean over part of the hands: over sessions, or over batches if there is only one."""
        if len(self.sessions) == 1:
            return batch_estimate(self.sessions[0].sb[cut, 0])
        return estimate_mean([float(session.sb[cut, 0].mean()) for session in self.sessions])

    def fluctuation(self, cut: slice) -> Estimate:
        """Highest less lowest total within part of the hands."""
        return estimate_mean([fluctuation(session.sb[cut, 0]) for session in self.sessions])

    def flags(self, name: str, entrants: slice = slice(0, 1)) -> NDArray[np.bool_]:
        """One of the sessions' flags, all sessions one after the other (hands, entrants)."""
        return np.concatenate([getattr(session, name)[:, entrants] for session in self.sessions])

    def novelty(self) -> list[float]:
        """Share of decisions in new situations, phase by phase."""
        marks = []
        for session in self.sessions:
            bot = session.players[0]
            assert isinstance(bot, Casey)
            marks.append(np.array(bot.tally_.by_hand))
        pairs = np.concatenate(marks)  # hands from 1, new
        cuts = [self.phase(phase) for phase in range(N_PHASES)]
        return [float(pairs[(pairs[:, 0] > cut.start) & (pairs[:, 0] <= cut.stop), 1].mean()) for cut in cuts]


def run(settings: Settings) -> Reproduction:
    """Play all tables."""
    start = time.perf_counter()
    hands = QUICK_HANDS if settings.quick else FULL_HANDS
    n_sessions = QUICK_SESSIONS if settings.quick else FULL_SESSIONS
    learners = [_learn(n_seats, hands, n_sessions, settings) for n_seats in TABLES]
    rows = [row for learner in learners for row in _rows(learner)]
    over = "over sessions" if n_sessions > 1 else "over batches of 100 hands of one session"
    notes = [
        f"{n_sessions} session(s) of {hands:,} hands a table, empty case base at the start, five bets a round; "
        f"intervals of winnings {over}, of shares binomial.",
        "Published figures are one session a table; its curves are described in words only.",
        "RuleBot is our stand-in for the Meerkat library's player.",
    ]
    for learner in learners:
        shares = ", ".join(f"{100 * share:.0f}%" for share in learner.novelty())
        notes.append(f"{learner.n_seats} players: decisions in new situations by phase {shares}.")
    return Reproduction(
        "casey",
        "Casey among RuleBots",
        rows,
        notes,
        time.perf_counter() - start,
        lambda figure: _draw(figure, learners),
    )


def _learn(n_seats: int, hands: int, n_sessions: int, settings: Settings) -> Learner:
    sessions = []
    for number in range(n_sessions):
        settings.progress(f"casey: {n_seats} players, session {number + 1} of {n_sessions}")
        specs = ["casey"] + ["rulebot"] * (n_seats - 1)
        sessions.append(play_session(specs, hands, settings.seed + number, rules=ring(n_seats, five_bets=True)))
    return Learner(n_seats, sessions)


def _rows(learner: Learner) -> list[Row]:
    n, group = learner.n_seats, f"{learner.n_seats} players"
    rows = []
    for phase in range(N_PHASES):
        cut, text = learner.phase(phase), DIRECTION[n][phase]
        found = learner.estimate(cut)
        n_hands = (cut.stop - cut.start) * len(learner.sessions)
        rows.append(Row(group, f"phase {phase + 1}: result", found.mean, found.half_width, text, hands=n_hands))
    for phase in range(N_PHASES):
        cut = learner.phase(phase)
        found = learner.fluctuation(cut)
        n_hands = (cut.stop - cut.start) * len(learner.sessions)
        what = f"phase {phase + 1}: fluctuation"
        rows.append(Row(group, what, found.mean, found.half_width, unit="sb", hands=n_hands))
    return rows + _share_rows(learner, group)


def _share_rows(learner: Learner, group: str) -> list[Row]:
    """Play by position, flops, showdowns, blinds."""
    n = learner.n_seats
    entered, seats = learner.flags("entered"), learner.flags("seats")
    asked, won, flops, shown = (learner.flags(name) for name in ("asked", "won", "saw_flop", "shown"))
    everyone = slice(1, None)
    rows = [_share(group, "hands played", entered, asked, PLAYED[n])]
    first, button = (13.0, 35.0) if n == 8 else (None, None)
    for seat in range(n):
        place = {0: "small blind", 1: "big blind", 2: "first to act", n - 1: "button"}.get(seat, f"position {seat}")
        published = first if seat == 2 else button if seat == n - 1 else None
        rows.append(_share(group, f"hands played, {place}", entered, asked & (seats == seat), published))
    rows.append(_share(group, "hands won of flops seen", won, flops, 40.0 if n == 8 else None))
    rows.append(_share(group, "showdowns won or split", won, shown))
    per_showdown = 100.0 * float((won & flops).sum()) / max(int(shown.sum()), 1)
    published = 85.0 if n == 8 else None
    what = "wins after the flop per showdown"
    rows.append(Row(group, what, per_showdown, math.nan, published, unit="%", hands=int(shown.sum())))
    rows.append(
        _share(group, "raised blinds defended", learner.flags("defended"), learner.flags("raised_blind"), "most")
    )
    theirs, raised = learner.flags("defended", everyone), learner.flags("raised_blind", everyone)
    rows.append(_share(group, "raised blinds defended by rulebots", theirs, raised))
    return rows


def _share(
    group: str, what: str, hits: NDArray[np.bool_], among: NDArray[np.bool_], published: float | str | None = None
) -> Row:
    n = int(among.sum())
    p = float((hits & among).sum()) / n if n else math.nan
    half = 1.96 * math.sqrt(p * (1.0 - p) / n) if n else math.nan
    return Row(group, what, 100.0 * p, 100.0 * half, published, unit="%", hands=n)


def _draw(figure: Figure, learners: Sequence[Learner]) -> None:
    """Results, winnings and fluctuation by phase, share played by position."""
    panels = figure.subplots(2, 2)
    _draw_totals(panels[0, 0], learners)
    _draw_phases(panels[0, 1], learners)
    _draw_fluctuations(panels[1, 0], learners)
    _draw_positions(panels[1, 1], learners)


def _draw_totals(axes: Axes, learners: Sequence[Learner]) -> None:
    axes.axhline(0.0, color=MUTED, linewidth=0.8)
    for learner, colour in zip(learners, COLOURS, strict=False):
        totals = [np.cumsum(session.sb[:, 0]) for session in learner.sessions]
        hands = np.arange(1, len(totals[0]) + 1)
        step = max(len(hands) // 500, 1)
        if len(totals) > 1:
            for total in totals:
                axes.plot(hands[::step], total[::step], color=colour, alpha=0.25, linewidth=0.8)
        mean = np.mean(totals, axis=0)
        axes.plot(hands[::step], mean[::step], color=colour, linewidth=2, label=f"{learner.n_seats} players")
    axes.set_title("Result so far (thin: single sessions)" if len(learners[0].sessions) > 1 else "Result so far")
    axes.set_xlabel("hands")
    axes.set_ylabel("small bets")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.legend(frameon=False)


def _draw_phases(axes: Axes, learners: Sequence[Learner]) -> None:
    axes.axhline(0.0, color=MUTED, linewidth=0.8)
    for offset, (learner, colour) in enumerate(zip(learners, COLOURS, strict=False)):
        found = [learner.estimate(learner.phase(phase)) for phase in range(N_PHASES)]
        places = np.arange(1, N_PHASES + 1) + 0.12 * (offset - 1)
        means, halves = [e.mean for e in found], np.nan_to_num([e.half_width for e in found])
        axes.errorbar(
            places, means, yerr=halves, color=colour, marker="o", capsize=3, label=f"{learner.n_seats} players"
        )
    axes.set_title("Winnings by phase, 95% intervals")
    _phase_axis(axes, learners, "small bets a hand")
    axes.legend(frameon=False, loc="lower right")


def _draw_fluctuations(axes: Axes, learners: Sequence[Learner]) -> None:
    width = 0.26
    for offset, (learner, colour) in enumerate(zip(learners, COLOURS, strict=False)):
        found = [learner.fluctuation(learner.phase(phase)) for phase in range(N_PHASES)]
        places = np.arange(1, N_PHASES + 1) + (width + 0.02) * (offset - 1)
        halves = np.nan_to_num([e.half_width for e in found])
        lows = np.minimum(halves, [e.mean for e in found])
        axes.bar(places, [e.mean for e in found], width, color=colour, label=f"{learner.n_seats} players")
        if halves.any():
            axes.errorbar(places, [e.mean for e in found], yerr=(lows, halves), fmt="none", color=MUTED, capsize=2)
    axes.set_title("Fluctuation within a phase (highest less lowest total)")
    _phase_axis(axes, learners, "small bets")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(frameon=False)


def _phase_axis(axes: Axes, learners: Sequence[Learner], label: str) -> None:
    length = learners[0].sessions[0].hands // N_PHASES
    axes.set_xticks(range(1, N_PHASES + 1))
    axes.set_xlabel(f"phase of {length:,} hands")
    axes.set_ylabel(label)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)


def _draw_positions(axes: Axes, learners: Sequence[Learner]) -> None:
    for learner, colour in zip(learners, COLOURS, strict=False):
        n = learner.n_seats
        last = learner.phase(N_PHASES - 1)
        entered = np.concatenate([session.entered[last, 0] for session in learner.sessions])
        asked = np.concatenate([session.asked[last, 0] for session in learner.sessions])
        seats = np.concatenate([session.seats[last, 0] for session in learner.sessions])
        shares = [100.0 * entered[asked & (seats == seat)].mean() for seat in range(n)]
        axes.plot(np.arange(n) / (n - 1), shares, color=colour, marker="o", label=f"{n} players")
    axes.set_title("Hands played by position, last phase")
    axes.set_xticks([0.0, 1.0], ["small blind", "button"])
    axes.set_ylabel("% of hands")
    axes.set_ylim(bottom=0.0)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.legend(frameon=False)
