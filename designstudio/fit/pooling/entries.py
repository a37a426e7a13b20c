"""The numbers that a group is about: each free parameter, or each condition's entry of it, with its scale and prior."""

import dataclasses

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.behavior.model import BehaviorModel
from designstudio.fit.pooling.gibbs import ROW, Hyperprior, Subjects
from designstudio.fit.pooling.scales import Scale
from designstudio.priors import AbstractPrior, PriorSet

# What the spread's half-normal prior has of the standard deviation of the analysis prior. An analysis prior covers whoever
# might come, in whatever experiment; the people of one group differ less than that. With a half the subjects of a group may
# still, now and then, differ as much as the analysis prior allows (two sd), while a few subjects cannot make the group wider
# than the prior; like every half-normal it has its highest density at no spread at all, so it does not invent differences.
SPREAD_SHARE = 0.5


@dataclasses.dataclass(frozen=True)
class Entry:
    """One number of each subject.

    Attributes:
        name: of the parameter.
        condition: which of its entries; None if the parameter is shared by all conditions.
        fitted: the prior of the separate fits.
        assumed: the prior from which the group's scale and hyperpriors come.
    """

    name: str
    condition: int | None
    fitted: AbstractPrior
    assumed: AbstractPrior

    @property
    def scale(self) -> Scale:
        """The scale on which the group is normal."""
        return Scale(self.assumed.support)

    def pick(self, posterior: xr.Dataset) -> Float[np.ndarray, "subject draw"]:
        """All draws of this number."""
        array = posterior[self.name]
        array = array if self.condition is None else array.isel(condition=self.condition)
        return array.transpose("dataset", "chain", "draw").values.reshape(array.sizes["dataset"], -1)

    def label(self, suffix: str) -> str:
        """Name of a quantity of this entry."""
        return f"{self.name}_{suffix}" + ("" if self.condition is None else f"[{self.condition}]")


def list_entries(model: BehaviorModel, assumed: PriorSet) -> list[Entry]:
    """All entries of a model, in its order."""
    entries = []
    for name, prior in model.priors.items():
        conditions = range(model.num_conditions) if name in model.per_condition else (None,)
        entries += [Entry(name, condition, prior, assumed[name]) for condition in conditions]
    return entries


def choose_hyperprior(entries: list[Entry]) -> Hyperprior:
    """The group's location is where the analysis prior is; its spread is some of the analysis prior's."""
    centre, scale = np.transpose([entry.scale.moments(entry.assumed) for entry in entries]).astype(np.float32)
    return Hyperprior(centre, scale, SPREAD_SHARE * scale)


def lay_out_subjects(entries: list[Entry], posterior: xr.Dataset) -> Subjects:
    """Draws of all subjects on the scale of the group, with the analysis prior divided out."""
    values = [entry.pick(posterior) for entry in entries]
    points = np.stack([entry.scale.forward(value) for entry, value in zip(entries, values, strict=True)])
    log_weight = -sum(entry.scale.log_density(p, entry.fitted) for entry, p in zip(entries, points, strict=True))
    num_copies = np.stack([_count_copies(rows) for rows in np.stack(values, axis=-1)])
    missing = -points.shape[-1] % ROW
    return Subjects(
        np.pad(points, [(0, 0), (0, 0), (0, missing)]).astype(np.float32),
        np.pad(log_weight, [(0, 0), (0, missing)], constant_values=-np.inf).astype(np.float32),
        np.pad(num_copies, [(0, 0), (0, missing)], constant_values=1).astype(np.float32),
    )


def _count_copies(rows: Float[np.ndarray, "draw parameter"]) -> np.ndarray:
    """How often each row is there."""
    _, inverse, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return counts[inverse.ravel()]
