"""Subjects who do not have the same conditions.

A fit takes all data sets to have the same conditions. Subjects who lack some are taken in condition groups: subjects with
equally many conditions, each with their own side by side.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np
import xarray as xr

from designstudio.model.likelihood.model import BehaviorModel


@dataclasses.dataclass(frozen=True)
class ConditionGroup:
    """Subjects that are fitted together.

    Attributes:
        datasets: where they stand among all data sets.
        conditions: which conditions each of them has, over (dataset, condition of their own).
    """

    datasets: np.ndarray
    conditions: np.ndarray

    def take_trials(self, trials: xr.Dataset) -> xr.Dataset:
        """Their trials, with conditions numbered for each subject, and without the padding that only others need."""
        taken = trials.isel(dataset=self.datasets)
        length = int(np.flatnonzero(taken["is_present"].values.any(axis=0))[-1]) + 1
        taken = taken.isel(trial=slice(length), condition=np.arange(self.conditions.shape[1]))
        new_number = np.zeros((len(self.datasets), trials.sizes["condition"]), int)
        np.put_along_axis(new_number, self.conditions, np.arange(self.conditions.shape[1])[None], axis=1)
        index = taken["condition_index"]
        numbers = np.take_along_axis(new_number, index.values, axis=1)
        taken["condition_index"] = index.copy(data=np.where(taken["is_present"], numbers, 0))
        return taken.assign_coords(condition=[name_own(k) for k in range(self.conditions.shape[1])])

    def take_fixed(self, fixed: Mapping[str, xr.DataArray]) -> dict[str, xr.DataArray]:
        """Their fixed values, for their own conditions."""
        taken = {name: np.take_along_axis(array.values[self.datasets], self.conditions, 1) for name, array in fixed.items()}
        return {name: xr.DataArray(values, dims=("dataset", "condition")) for name, values in taken.items()}

    def narrow(self, model: BehaviorModel) -> BehaviorModel:
        """The same model for as many conditions as these subjects have."""
        return model.change(num_conditions=self.conditions.shape[1])


def group_by_conditions(counts: np.ndarray) -> list[ConditionGroup]:
    """Groups of subjects with equally many conditions.

    Args:
        counts: trials of each subject and condition.
    """
    num_conditions = (counts > 0).sum(axis=1)
    groups = []
    for num in np.unique(num_conditions):
        datasets = np.flatnonzero(num_conditions == num)
        # Those with trials first, in their order.
        groups.append(ConditionGroup(datasets, np.argsort(counts[datasets] == 0, axis=1, kind="stable")[:, :num]))
    return groups


def name_own(number: int) -> str:
    """What a condition of a subject's own is called while it is fitted."""
    return f"#{number}"
