"""How real data are to be fitted."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import xarray as xr

from designstudio.inference.hierarchical.settings import PoolingSettings
from designstudio.inference.settings import FitSettings
from designstudio.model.costs import PAPER_COST_NAMES
from designstudio.model.priors import AbstractPrior

FixedValue = float | xr.DataArray


@dataclasses.dataclass(frozen=True)
class FitRequest:
    """What is fitted to every subject.

    Attributes:
        costs: names of the costs; each is fitted to every subject.
        fixed: parameters that are not estimated, in the unit of the data: one number, or a DataArray along `subject`,
            `condition` or both, labelled as the data are.
        per_condition: parameters with one value for each condition; all others are shared by the conditions.
        priors: of the analysis, where they differ from the paper's; a cost without such a parameter ignores it.
        on_data_scale: whether `priors` are in the unit of the data (else in that of the actor).
        pools: whether subjects are also pooled partially.
        settings: how carefully. pooling: how carefully subjects are pooled.
        seed: of all random numbers.
        actors: files of trained actors, for costs whose actor does not come with the package.
    """

    costs: tuple[str, ...] = PAPER_COST_NAMES
    fixed: Mapping[str, FixedValue] = dataclasses.field(default_factory=dict)
    per_condition: tuple[str, ...] = ()
    priors: Mapping[str, AbstractPrior] = dataclasses.field(default_factory=dict)
    on_data_scale: bool = False
    pools: bool = False
    settings: FitSettings = dataclasses.field(default_factory=FitSettings)
    pooling: PoolingSettings = dataclasses.field(default_factory=PoolingSettings)
    seed: int = 1
    actors: Mapping[str, Path] = dataclasses.field(default_factory=dict)
