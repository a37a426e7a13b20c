"""Hierarchical analyses of simulated and real groups: the model of `fit --pool`, plain or about a change within people."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from designstudio.evaluate.entries import Entry, compute_entries, restore_values
from designstudio.inference.hierarchical.group_model import choose_hyperprior
from designstudio.inference.hierarchical.group_model import list_entries as list_group_entries
from designstudio.inference.hierarchical.many_groups import GroupsSettings, ManyGroups, sample_many_groups
from designstudio.inference.hierarchical.pairs import Pair
from designstudio.inference.hierarchical.pool_many import focus_particles, make_kernels
from designstudio.inference.hierarchical.pooling_settings import PoolingSettings
from designstudio.inference.scales import Scale
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.scale import Scale as UnitScale
from designstudio.study.quantities import PerCondition

# Effective particles of every person that a group needs.
FEWEST_SUPPORTING = 5.0
# One number of each person, and the analysis.
SampleName = tuple[str, str]


class GroupAnalysis(NamedTuple):
    """What is assumed of the people of a group.

    Attributes:
        quantity: a parameter whose change between two conditions has a spread of its own; "" for none.
        conditions: places of the two.
    """

    quantity: str = ""
    conditions: tuple[int, int] = (0, 0)

    @property
    def name(self) -> str:
        """The same in a few words; nothing for an analysis in which all numbers of a person are independent."""
        return f"{self.quantity} from {self.conditions[0]} to {self.conditions[1]}" if self.quantity else ""

    def find_pair(self, model: BehaviorModel) -> Pair | None:
        """The entries of the group that change."""
        if not self.quantity:
            return None
        entries = [(entry.name, entry.condition) for entry in list_group_entries(model)]
        first, second = (entries.index((self.quantity, condition)) for condition in self.conditions)
        return Pair(first, second)

    def name_sample(self, entry: str) -> SampleName:
        """What a sample of one number of each person is called, by this analysis."""
        return entry, self.name


PLAIN = GroupAnalysis()


class FittedGroup(NamedTuple):
    """A group in some studies: people, and separate fits.

    Attributes:
        model: that was fitted. fixed: what it takes as known of everybody.
        trials: of everybody, one study after the other, in the actor's unit.
        takes_part: who is of the group and has data, over (study, person).
        posterior: separate fits of everybody.
        scale: between the unit in which numbers are scored and the actor's.
        pooling: what is assumed of the group.
    """

    model: BehaviorModel
    fixed: Mapping[str, xr.DataArray]
    trials: xr.Dataset
    takes_part: np.ndarray
    posterior: xr.DataTree
    scale: UnitScale
    pooling: PoolingSettings

    @property
    def places(self) -> np.ndarray:
        """Where everybody stands among all; -1 for who has dropped out."""
        return np.where(self.takes_part, np.arange(self.takes_part.size).reshape(self.takes_part.shape), -1)


class Middles(NamedTuple):
    """What analyses say of the median person of every group.

    Attributes:
        draws: of everything that is scored, over (size, entry, study, draw).
        is_good: whether an analysis can be trusted, over (size, study).
    """

    draws: np.ndarray
    is_good: np.ndarray


def analyse_groups(
    fitted: FittedGroup,
    entries: list[Entry],
    quantities: Any,
    studies: np.ndarray,
    sizes: Sequence[int],
    analyses: Sequence[GroupAnalysis],
    *,
    settings: GroupsSettings | None = None,
    seed: int,
) -> dict[GroupAnalysis, Middles]:
    """Every analysis of every group at each size.

    Args:
        fitted: the group. entries, quantities: what is scored.
        studies: their numbers. sizes: the first people of each study that are analysed as if there were no others.
        analyses: which.
        settings: how carefully; by default as hundreds of simulated groups are.
        seed: of all random numbers.
    """
    if not analyses:
        return {}
    model, fixed = fitted.model, fitted.fixed
    hyperprior = choose_hyperprior(list_group_entries(model), fitted.pooling)
    # Once for all sizes and analyses: particles that know the largest group know the smaller ones.
    focused = focus_particles(model, fitted.trials, fixed, fitted.posterior, fitted.places, hyperprior, seed=seed)
    found = {}
    for analysis in analyses:
        pair = analysis.find_pair(model)
        of_pair = focused if pair is None else focused._replace(points=pair.turn(focused.points))
        prior = hyperprior if pair is None else pair.turn_hyperprior(hyperprior)
        draws, is_good = [], []
        for size in sizes:
            groups = sample_many_groups(
                make_kernels(of_pair.first(size), prior, seed=seed), prior, studies, settings=settings, seed=seed
            )
            location = groups.group.location if pair is None else pair.turn_back(groups.group.location)
            middle = _find_middle(entries, fitted, location, quantities, fitted.places[:, :size])
            draws.append([middle[entry.name] for entry in entries])
            is_good.append(_is_trusted(groups))
        found[analysis] = Middles(np.array(draws, np.float32), np.array(is_good))
    return found


def _is_trusted(analysis: ManyGroups) -> np.ndarray:
    """Whether the analysis of a study can be."""
    return analysis.is_good & (analysis.support.min(axis=1) >= FEWEST_SUPPORTING)


def _find_middle(
    entries: list[Entry], fitted: FittedGroup, location: np.ndarray, quantities: Any, places: np.ndarray
) -> dict[str, np.ndarray]:
    """Draws of what the median person of every group has: of each parameter, and of quantities computed from these."""
    model = fitted.model
    values: dict[str, Any] = {}
    for k, entry in enumerate(list_group_entries(model)):
        draws = Scale(model.priors[entry.name].support).backward(location[..., k])
        if entry.condition is None:
            values[entry.name] = draws
        else:
            values[entry.name] = PerCondition((*values.get(entry.name, ()), draws))
    # What is known is known of each person; the middle of the group has their median.
    at = np.maximum(places, 0)
    for name, value in fitted.fixed.items():
        numbers = np.median(value.values[at], axis=1)
        is_split = "condition" in value.dims
        values[name] = PerCondition(n[:, None] for n in numbers.T) if is_split else numbers[:, None]
    shape = location.shape[:2]
    computed = compute_entries(entries, restore_values(values, model, fitted.scale), quantities)
    return {name: np.broadcast_to(np.asarray(array, float), shape) for name, array in computed.items()}
