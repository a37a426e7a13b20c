"""The numbers that a group is about: each free parameter, or each condition's entry of it, with its scale and prior."""

import dataclasses
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from designstudio.inference.hierarchical.pooling_settings import PoolingSettings
from designstudio.inference.scales import Scale
from designstudio.model.likelihood.model import BehaviorModel, Values
from designstudio.model.parameter_entries import ParameterEntry, list_parameter_entries
from designstudio.model.priors import AbstractPrior

# On the host while a group is prepared, on a device while it is sampled.
AnyArray = Any


class Group(NamedTuple):
    """Mean and standard deviation of the subjects, on the scale of the group; the mean may depend on predictors."""

    location: Float[AnyArray, "*chain coefficient"]
    spread: Float[AnyArray, "*chain entry"]


class Hyperprior(NamedTuple):
    """Location is Normal(centre, scale²), spread is HalfNormal(spread)."""

    centre: Float[AnyArray, " coefficient"]
    scale: Float[AnyArray, " coefficient"]
    spread: Float[AnyArray, " entry"]


@dataclasses.dataclass(frozen=True)
class Entry:
    """One number of each subject.

    Attributes:
        name: of the parameter.
        condition: which of its entries; None if the parameter is shared by all conditions.
        prior: of the separate fits, from which the group's scale and hyperpriors come.
    """

    name: str
    condition: int | None
    prior: AbstractPrior

    @property
    def scale(self) -> Scale:
        """The scale on which the group is normal."""
        return Scale(self.prior.support)

    def pick(self, posterior: xr.Dataset) -> Float[np.ndarray, "subject draw"]:
        """All draws of this number."""
        array = ParameterEntry(self.name, self.condition).pick(posterior[self.name])
        return array.transpose("dataset", "chain", "draw").values.reshape(array.sizes["dataset"], -1)


def list_entries(model: BehaviorModel) -> tuple[Entry, ...]:
    """All entries of a model, in its order."""
    return tuple(Entry(*entry, model.priors[entry.name]) for entry in list_parameter_entries(model))


def stretch(entries: tuple[Entry, ...], values: Values) -> tuple[Float[Array, " entry"], Float[Array, ""]]:
    """A subject's point on the scale of the group, and the log volume of points per volume of parameters."""
    parts = [
        entry.scale.stretch(values[entry.name] if entry.condition is None else values[entry.name][entry.condition])
        for entry in entries
    ]
    points, log_slopes = zip(*parts, strict=True)
    return jnp.stack(points), jnp.sum(jnp.stack(log_slopes))


def choose_hyperprior(entries: tuple[Entry, ...], settings: PoolingSettings) -> Hyperprior:
    """The group's location is where the analysis prior is; its spread is some of the analysis prior's."""
    centre, scale = np.transpose([entry.scale.moments(entry.prior) for entry in entries]).astype(np.float32)
    share = np.array([settings.find_share(entry.name) for entry in entries], np.float32)
    return Hyperprior(centre, scale, share * scale)


def lay_out_draws(entries: tuple[Entry, ...], posterior: xr.Dataset) -> Float[np.ndarray, "entry subject draw"]:
    """Draws of all subjects on the scale of the group."""
    return np.stack([entry.scale.forward(entry.pick(posterior)) for entry in entries])
