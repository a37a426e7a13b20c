"""The subjects of a group, whatever conditions each of them has."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Array, Bool, Key

from designstudio.inference.condition_groups import group_by_conditions
from designstudio.inference.hierarchical.group_model import Entry
from designstudio.inference.hierarchical.marginal import Particles
from designstudio.inference.hierarchical.proposals import Part, draw_particles, make_part, name_keys
from designstudio.inference.mixture import Mixture
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.packing import FIXED_DIMS, FixedValue, pack_trials


class Members(NamedTuple):
    """The subjects of a group.

    Attributes:
        parts: those with equally many conditions together.
        has: which entries each of them has.
    """

    parts: list[Part]
    has: Bool[np.ndarray, "subject entry"]

    def draw_particles(self, state: list[Mixture], num_draws: int, key: Key[Array, ""]) -> Particles:
        """Particles of all subjects."""
        points = np.zeros((len(self.has), num_draws, self.has.shape[1]), np.float32)
        log_weight = np.zeros(points.shape[:2], np.float32)
        for part, mixture in zip(self.parts, state, strict=True):
            own, weights = draw_particles(part, mixture, name_keys(key, part.positions), num_draws)
            log_weight[part.positions] = weights
            for k, position in enumerate(part.positions):
                points[position][:, part.targets[k]] = own[k]
        return Particles(points, log_weight, self.has, np.ones((len(self.has), 1), np.float32))


def gather_members(
    model: BehaviorModel,
    trials: xr.Dataset,
    fixed: Mapping[str, FixedValue],
    entries: tuple[Entry, ...],
    chosen: np.ndarray,
) -> Members:
    """Some of the subjects, in this order.

    Args:
        model: for all conditions. trials: of all subjects. fixed: values of the model's fixed parameters.
        entries: of the group.
        chosen: positions of those who belong to the group.
    """
    packed = pack_trials(trials, model, fixed)
    known = {name: xr.DataArray(values[chosen], dims=FIXED_DIMS) for name, values in packed.fixed.items()}
    mine = trials.isel(dataset=chosen)
    alike = group_by_conditions(np.asarray(packed.moments.count)[chosen])
    parts = [make_part(model, subjects, mine, known, entries) for subjects in alike]
    has = np.zeros((len(chosen), len(entries)), bool)
    for part in parts:
        has[part.positions[:, None], part.targets] = True
    return Members(parts, has)
