"""The free numbers of a model, one after the other: its parameters, and each condition's value of those that differ.

Tables, files and messages call a value of one condition by its place, `sigma[0]`, or by the condition's name, `sigma[low]`.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import xarray as xr

from designstudio.model.likelihood.model import BehaviorModel


class ParameterEntry(NamedTuple):
    """One free number of a model.

    Attributes:
        name: of the parameter.
        condition: place of the condition; None if the conditions share the parameter.
    """

    name: str
    condition: int | None = None

    def label(self, conditions: Sequence[str] | None = None) -> str:
        """What it is called: by the place of its condition, or by its name if the names of the conditions are given."""
        if self.condition is None:
            return self.name
        return f"{self.name}[{self.condition if conditions is None else conditions[self.condition]}]"

    def pick(self, array: xr.DataArray) -> xr.DataArray:
        """Its part of the parameter's values."""
        return array if self.condition is None else array.isel(condition=self.condition)


def list_parameter_entries(model: BehaviorModel) -> tuple[ParameterEntry, ...]:
    """All free numbers of a model, in its order."""
    return _list_entries(model.free, model.per_condition, model.num_conditions)


def list_array_entries(arrays: xr.Dataset) -> tuple[ParameterEntry, ...]:
    """All numbers of a Dataset of parameters, some of them with the dimension `condition`."""
    own = [str(name) for name, array in arrays.items() if "condition" in array.dims]
    return _list_entries(map(str, arrays.data_vars), own, arrays.sizes.get("condition", 1))


def split_label(label: str) -> tuple[str, str]:
    """The parameter and the condition that a label such as `sigma[low]` names; the condition is empty if they share it."""
    name, _, condition = label.removesuffix("]").partition("[")
    return name, condition


def _list_entries(names: Iterable[str], own: Sequence[str], num_conditions: int) -> tuple[ParameterEntry, ...]:
    return tuple(
        ParameterEntry(name, condition)
        for name in names
        for condition in (range(num_conditions) if name in own else (None,))
    )
