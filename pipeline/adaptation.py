"""How fast the opponent term learns one player: nats an action over a stream of that player's hands.

Every action of the player is predicted before it is looked at, by the corpus model and by the same model with the
opponent term (hardbot/model/opponent.py); cards that are hidden are summed over the range, so the prediction is
P(a) = sum over hands of p(h) P(a | h). Only afterwards does the term learn from it, and at the end of the hand from
cards that were shown. The mean of -log P(a) over the first n hands is therefore a held-out score for every n (Dawid
1984: the prequential view), and a decay can be chosen by it.

Whoever watches knows its own cards where the source does (dealer logs); of people's hands (IRC) it is an onlooker.
Where the player's cards are known to the source, `range_bits` = log2(posterior / prior) of the true hand after the
player's last action on each street it acted on; the models themselves see those cards at a showdown only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardbot.arena.entrants import table_names
from hardbot.arena.match import play_match
from hardbot.errors import ModelError
from hardbot.game.cards import compatible_holes, hole_index
from hardbot.game.rules import STREET_NAMES
from hardbot.model.likelihood import ActionModel
from hardbot.model.opponent import DEFAULT_DECAY, OpponentModel
from hardbot.model.tracker import HandTracker
from pipeline.histories import History, StoredHand, read_history, store_of

CORPUS = "corpus"
MILESTONES = (100, 1_000, 10_000)
GRID_DECAY = (0.99, 0.997, 0.999, 0.9997, 1.0)
N_CURVE = 16  # points of a curve
Progress = Callable[[str, int, int], None]
Floats = NDArray[np.float64]


@dataclass
class Bits:
    """Range quality of one model on one street."""

    total: float = 0.0
    n: int = 0

    def add(self, bits: float) -> None:
        """One more true hand."""
        self.total += bits
        self.n += 1


@dataclass
class _Watcher:
    """One way of predicting the player: the corpus model (no opponent model) or an adjusted one."""

    name: str
    opponent: OpponentModel | None
    nats: list[float] = field(default_factory=list)  # by hand, summed over its actions
    bits: dict[str, Bits] = field(default_factory=lambda: {name: Bits() for name in (*STREET_NAMES, "overall")})


@dataclass(frozen=True)
class Adaptation:
    """What came of one stream; arrays are by hand."""

    player: str
    n_left_out: int
    actions: NDArray[np.int64]  # (hands,)
    nats: dict[str, Floats]  # (hands,) of each model
    bits: dict[str, dict[str, Bits]]
    invests_sb: float | None

    @property
    def n_hands(self) -> int:
        """Hands of the stream."""
        return len(self.actions)

    def mean_nats(self, model: str, first: int, last: int) -> float | None:
        """Nats an action over hands first to last (exclusive)."""
        n = int(self.actions[first:last].sum())
        return float(self.nats[model][first:last].sum()) / n if n else None

    def gain(self, model: str, last: int) -> tuple[float, float] | None:
        """Nats an action better than the corpus model over the first hands, and the 95% half-width over hands."""
        n, saved = self.actions[:last], (self.nats[CORPUS] - self.nats[model])[:last]
        if len(n) < 2 or not n.sum():
            return None
        mean = float(saved.sum() / n.sum())
        spread = float((saved - mean * n).std(ddof=1))
        return mean, 1.96 * spread * math.sqrt(len(n)) / float(n.sum())

    def to_json(self, model: str) -> dict[str, Any]:
        """The rows of the table, a curve and range_bits, as plain data."""
        reached = [n for n in MILESTONES if n <= self.n_hands]
        marks = reached if self.n_hands in reached else [*reached, self.n_hands]
        rows = []
        for last in marks:
            gain = self.gain(model, last)
            rows.append(
                {
                    "hands": last,
                    "actions": int(self.actions[:last].sum()),
                    "corpus": self.mean_nats(CORPUS, 0, last),
                    "adjusted": self.mean_nats(model, 0, last),
                    "gain": None if gain is None else gain[0],
                    "ci95": None if gain is None else gain[1],
                }
            )
        return {
            "player": self.player,
            "hands": self.n_hands,
            "left_out": self.n_left_out,
            "invests_sb": self.invests_sb,
            "first": rows,
            "curve": self.curve(model),
            "range_bits": {
                street: {
                    "corpus": _mean(self.bits[CORPUS][street]),
                    "adjusted": _mean(self.bits[model][street]),
                    "n": self.bits[model][street].n,
                }
                for street in (*STREET_NAMES, "overall")
            },
        }

    def curve(self, model: str) -> list[dict[str, Any]]:
        """Nats an action of both models over stretches of hands that grow geometrically."""
        edges = np.unique(np.geomspace(20, max(self.n_hands, 21), N_CURVE).astype(int))
        edges = np.concatenate([[0], edges[edges < self.n_hands], [self.n_hands]])
        return [
            {
                "hands": int(last),
                "corpus": self.mean_nats(CORPUS, int(first), int(last)),
                "adjusted": self.mean_nats(model, int(first), int(last)),
            }
            for first, last in zip(edges[:-1], edges[1:], strict=True)
            if last > first
        ]


def _mean(bits: Bits) -> float | None:
    return bits.total / bits.n if bits.n else None


def adapted(decay: float) -> str:
    """Name of the adjusted model with this decay."""
    return f"decay {decay:g}"


def watch_player(
    history: History,
    player: str,
    model: ActionModel,
    decays: Sequence[float] = (DEFAULT_DECAY,),
    progress: Progress | None = None,
) -> Adaptation:
    """Follow all hands of a player with the corpus model and an opponent model for each decay."""
    if not decays or not all(0.0 < decay <= 1.0 for decay in decays):
        raise ModelError(f"expected decays above 0 and up to 1, got {list(decays)}")
    watchers = [_Watcher(CORPUS, None)] + [_Watcher(adapted(decay), OpponentModel(decay)) for decay in decays]
    actions: list[int] = []
    for number, hand in enumerate(history.hands):
        actions.append(_watch_hand(hand, hand.seat_of(player), model, watchers))
        if progress is not None and number % 100 == 0:
            progress(player, number, len(history.hands))
    last = watchers[-1].opponent
    return Adaptation(
        player=player,
        n_left_out=history.n_left_out,
        actions=np.array(actions, dtype=np.int64),
        nats={watcher.name: np.array(watcher.nats) for watcher in watchers},
        bits={watcher.name: watcher.bits for watcher in watchers},
        invests_sb=last.invests_sb if last is not None else None,
    )


def _watch_hand(hand: StoredHand, seat: int, model: ActionModel, watchers: Sequence[_Watcher]) -> int:
    """Let every watcher predict and then learn one hand; returns the player's number of actions."""
    known, own = hand.holes[1 - seat], hand.holes[seat]
    trackers = [HandTracker(model, 1 - seat, known or (), watcher.opponent) for watcher in watchers]
    steps = [(before, action) for before, action in hand.actions if before.seat == seat]
    for watcher, tracker in zip(watchers, trackers, strict=True):
        nats = 0.0
        for place, (before, action) in enumerate(steps):
            tracker.see_board(hand.board_at(before.street))
            tracker.observe(before, action)
            nats -= math.log(float(tracker.steps[-1].p_adjusted[action]))
            if own is not None and (place + 1 == len(steps) or steps[place + 1][0].street != before.street):
                bits = range_bits(tracker, own)
                watcher.bits[STREET_NAMES[before.street]].add(bits)
                if place + 1 == len(steps):
                    watcher.bits["overall"].add(bits)
        watcher.nats.append(nats)
        tracker.see_board(hand.board)
        tracker.end(hand.shown(seat))
    return len(steps)


def range_bits(tracker: HandTracker, true: tuple[int, int]) -> float:
    """log2 of the posterior of the true hand over its prior, uniform over the hands the watcher holds possible."""
    n_possible = int(compatible_holes((*tracker.hole, *tracker.board)).sum())
    return math.log2(float(tracker.theirs.weights[hole_index(*true)]) * n_possible)


def played_history(player: str, against: str, n_hands: int, seed: int) -> History:
    """Hands of a bot in a match on the spot, one instance from the first to the last."""
    with TemporaryDirectory(prefix="hardbot-adapt-") as folder:
        log = Path(folder) / "match.log"
        play_match(player, against, n_hands, seed, block=n_hands, duplicate=False, log=log)
        name = table_names((player, against), None)[0]
        with store_of([log]) as store:
            return read_history(store, name)


def choose_decay(streams: Sequence[Adaptation], decays: Sequence[float]) -> tuple[float, dict[float, float]]:
    """The decay with the fewest nats an action, every stream counting alike; and the mean of each."""
    means = {
        decay: float(np.mean([stream.mean_nats(adapted(decay), 0, stream.n_hands) or 0.0 for stream in streams]))
        for decay in decays
    }
    return min(means, key=lambda decay: means[decay]), means


def plot_adaptation(documents: Sequence[dict[str, Any]], path: Path) -> None:
    """Curves of both models for every stream; the format follows from the file's name."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    columns = min(3, len(documents))
    rows = -(-len(documents) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4.2 * columns, 2.9 * rows), squeeze=False)
    for axis, document in zip(axes.flat, documents, strict=False):
        hands = [point["hands"] for point in document["curve"]]
        axis.plot(hands, [point["corpus"] for point in document["curve"]], color="0.55", label="corpus model")
        adjusted = [point["adjusted"] for point in document["curve"]]
        axis.plot(hands, adjusted, color="tab:blue", label="with the opponent term")
        axis.set(xscale="log", title=document["player"], ylim=(0, None))
        axis.grid(alpha=0.3)
    for axis in axes.flat[len(documents) :]:
        axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel("nats an action")
    for axis in axes[-1]:
        axis.set_xlabel("hands seen")
    axes.flat[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
