"""The subjects of a group, whatever conditions each of them has."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Array, Bool, Key

from designstudio.inference.hierarchical.entries import Entry
from designstudio.inference.hierarchical.marginal import Bank
from designstudio.inference.hierarchical.offers import Part, make_offers, make_part
from designstudio.inference.hierarchical.pilot import name_keys
from designstudio.inference.mixture import Mixture
from designstudio.inference.portions import share_out
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

    def fill_bank(self, learnt: list[Mixture], num_draws: int, key: Key[Array, ""]) -> Bank:
        """Places for all subjects."""
        points = np.zeros((len(self.has), num_draws, self.has.shape[1]), np.float32)
        log_weight = np.zeros(points.shape[:2], np.float32)
        for part, mixture in zip(self.parts, learnt, strict=True):
            own, weights = make_offers(part, mixture, name_keys(key, part.places), num_draws)
            log_weight[part.places] = weights
            for k, place in enumerate(part.places):
                points[place][:, part.targets[k]] = own[k]
        return Bank(points, log_weight, self.has)


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
        chosen: places of those who belong to the group.
    """
    packed = pack_trials(trials, model, fixed)
    known = {name: xr.DataArray(values[chosen], dims=FIXED_DIMS) for name, values in packed.fixed.items()}
    mine = trials.isel(dataset=chosen)
    portions = share_out(np.asarray(packed.moments.count)[chosen])
    parts = [make_part(model, portion, mine, known, entries) for portion in portions]
    has = np.zeros((len(chosen), len(entries)), bool)
    for part in parts:
        has[part.places[:, None], part.targets] = True
    return Members(parts, has)
