"""What can be chosen about a model: buckets, kernel width and shrinkage of each street.

The defaults were picked by held-out likelihood on self-made play (docs/model.md has the curves); `hardbot train --grid`
chooses them anew for a corpus.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from hardbot.errors import ModelError
from hardbot.game.cards import N_CLASSES
from hardbot.game.rules import N_STREETS
from hardbot.model.context import N_LEVELS
from pipeline.buckets import VECTOR_COLUMNS

GRID_K = (3, 7, 15, 30, 60, 100, 200, 300)
GRID_WIDTH = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
GRID_TAU = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
GRID_FLOOR = (0.0003, 0.001, 0.003, 0.01)


@dataclass(frozen=True)
class StreetSettings:
    """k buckets (preflop always the 169 classes), kernel width in standard deviations, pseudo-counts per level."""

    k: int
    width: float
    taus: tuple[float, ...] = (10.0, 10.0, 10.0, 10.0)
    tau_class: float = 10.0

    def check(self) -> None:
        """Raise ModelError on values that give no distribution."""
        if self.k < 1 or self.k > 32_000 or self.width < 0:
            raise ModelError(f"expected 1 <= k <= 32000 and a width of 0 or more, got {self.k} and {self.width}")
        if len(self.taus) != N_LEVELS or min(self.taus) <= 0 or self.tau_class <= 0:
            raise ModelError(f"expected {N_LEVELS} pseudo-counts above 0, got {self.taus} and {self.tau_class}")


@dataclass(frozen=True)
class ModelSettings:
    """Everything a fit depends on besides the corpus."""

    streets: tuple[StreetSettings, ...] = (
        StreetSettings(N_CLASSES, 0.05, (100.0, 100.0, 10.0, 10.0)),
        StreetSettings(200, 0.2, (3.0, 30.0, 10.0, 1.0)),
        StreetSettings(100, 0.2, (3.0, 10.0, 10.0, 1.0)),
        StreetSettings(60, 0.1, (3.0, 10.0, 10.0, 1.0)),
    )
    floor: float = 0.0005
    columns: tuple[str, ...] = VECTOR_COLUMNS
    seed: int = 0
    em_iterations: int = 30
    em_tolerance: float = 1e-4  # nats an action; EM stops when an iteration gains less

    def check(self) -> None:
        """Raise ModelError unless the settings make a model."""
        if len(self.streets) != N_STREETS or self.streets[0].k != N_CLASSES:
            raise ModelError(f"expected {N_STREETS} streets, the first with {N_CLASSES} classes, got {self.streets}")
        if not 0 < self.floor < 1:
            raise ModelError(f"expected a floor between 0 and 1, got {self.floor}")
        for street in self.streets:
            street.check()

    def with_street(self, street: int, **changes: Any) -> ModelSettings:
        """The same with some values of one street changed."""
        streets = list(self.streets)
        streets[street] = replace(streets[street], **changes)
        return replace(self, streets=tuple(streets))

    def to_json(self) -> dict[str, Any]:
        """Plain data for a manifest."""
        return asdict(self)


def settings_from_json(data: Mapping[str, Any]) -> ModelSettings:
    """Settings of a manifest."""
    try:
        streets = tuple(
            StreetSettings(
                int(part["k"]), float(part["width"]), tuple(map(float, part["taus"])), float(part["tau_class"])
            )
            for part in data["streets"]
        )
        settings = ModelSettings(
            streets=streets,
            floor=float(data["floor"]),
            columns=tuple(map(str, data["columns"])),
            seed=int(data["seed"]),
            em_iterations=int(data["em_iterations"]),
            em_tolerance=float(data["em_tolerance"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"expected the settings of a model, got {type(error).__name__}: {error}") from error
    settings.check()
    return settings
