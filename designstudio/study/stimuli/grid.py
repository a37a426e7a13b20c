"""Equally spaced stimuli."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from designstudio.study.stimuli.base import HIGH, LOW, NUM_VALUES, AbstractValues

if TYPE_CHECKING:
    from designstudio.study.stimuli.stimuli import Stimuli

GRID = "grid"


class Grid(AbstractValues):
    """So many equally spaced values, `num_values`, from `low` to `high`."""

    name: ClassVar[str] = GRID
    settings: ClassVar[tuple[str, ...]] = (LOW, HIGH, NUM_VALUES)

    @property
    def label(self) -> str:
        return "equally spaced values"

    def list_values(self, stimuli: "Stimuli") -> tuple[float, ...]:
        return tuple(float(value) for value in np.linspace(*stimuli.support, int(stimuli.num_values or 0)))

    def describe(self, stimuli: "Stimuli") -> str:
        return f"{stimuli.num_values} values from {stimuli.low:g} to {stimuli.high:g}"
