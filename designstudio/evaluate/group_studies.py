"""Whole simulated studies: groups of participants, everybody fitted, groups analysed, and decisions counted.

Participants of a study are numbered by study and place, so that the first 20 of 40 people are the study with 20, and more
studies leave the earlier ones as they were. Groups without an effect have the same people with the same noise in their
stimuli and responses; only the effect is taken away.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.core.cache import BlockCache
from designstudio.core.fingerprint import fingerprint
from designstudio.core.randomness import make_generator
from designstudio.evaluate.entries import (
    Entry,
    compute_entries,
    compute_truth,
    list_entries,
    restore_values,
    split_draws,
    take_draws,
)
from designstudio.evaluate.experiment import Experiment, prepare_experiment, show_participants, simulate_experiment
from designstudio.evaluate.fidelities import FIT_SETTINGS
from designstudio.evaluate.fingerprint import describe
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.hierarchical.group_model import choose_hyperprior
from designstudio.inference.hierarchical.group_model import list_entries as list_group_entries
from designstudio.inference.hierarchical.many_groups import ManyGroups, sample_many_groups
from designstudio.inference.hierarchical.pool_many import make_particles
from designstudio.inference.hierarchical.pooling_settings import PoolingSettings
from designstudio.inference.scales import Scale
from designstudio.model.simulate import label_participants
from designstudio.study import Group, Study
from designstudio.study.design import Design
from designstudio.study.quantities import PerCondition

# People of one study are numbered from a multiple of this on.
STRIDE = 10_000
# Groups are as independent of each other as another seed makes them.
SEED_OF_GROUP = 2_000_003
# Studies that are simulated together.
BLOCK = 50
# Effective particles of every person that a group needs.
FEWEST_SUPPORTING = 5.0
# What takes away the effect of a goal: a function of the simulated participants.
Change = Callable[[xr.Dataset], xr.Dataset]


@dataclasses.dataclass(frozen=True)
class Sample:
    """One group in each of many simulated studies: what the studies estimate.

    Attributes:
        truth: of everybody who takes part, over (study, person); NaN for those who dropped out.
        mean: posterior mean of each person; NaN without a good fit.
        middle: draws of the value of the group's median person by the hierarchical analysis.
        is_good: whether the hierarchical analysis can be trusted.
    """

    truth: Float[np.ndarray, "study person"]
    mean: Float[np.ndarray, "study person"]
    middle: Float[np.ndarray, "study draw"]
    is_good: np.ndarray

    @classmethod
    def join(cls, samples: list["Sample"]) -> "Sample":
        """Samples of other studies as one."""
        fields = (field.name for field in dataclasses.fields(cls))
        return cls(*(np.concatenate([getattr(sample, name) for sample in samples]) for name in fields))


class Members(NamedTuple):
    """A group as it is simulated.

    Attributes:
        study: with the population that the group is drawn from, and a seed of its own.
        group: with its size, dropout and factors.
        change: what is done to the people before they take part; None for nothing.
        words: what that is.
    """

    study: Study
    group: Group
    change: Change | None = None
    words: str = ""


def find_members(study: Study, group: Group, place: int) -> Members:
    """A group of the study; `place` tells the random numbers of groups apart."""
    population = study.population.replace(priors={**study.population.priors, **group.priors})
    return Members(study.replace(population=population, seed=study.seed + place * SEED_OF_GROUP), group)


def simulate_group(
    members: Members,
    design: Design,
    *,
    num_studies: int,
    cache: BlockCache,
    report: Callable[[int], None] = lambda done: None,
) -> dict[str, Sample]:
    """A group in many simulated studies, by the names of all that is scored.

    Args:
        members: the group.
        design: what everybody does.
        num_studies: how many studies.
        cache: where finished blocks of studies are kept.
        report: called with the number of studies that are done.
    """
    blocks: list[dict[str, Sample]] = []
    # As many studies in each block, so that nothing compiles twice.
    size = min(BLOCK, num_studies)
    key = "" if cache.folder is None else _identify(members, design, size)
    for block, first in enumerate(range(0, num_studies, size)):
        kept = cache.load(key, block)
        if kept is None:
            kept = _simulate_block(members, design, np.arange(first, first + size))
            cache.save(key, block, kept)
        wanted = min(size, num_studies - first)
        blocks.append({str(name): _read_sample(kept, name, wanted) for name in kept["quantity"].values})
        report(first + wanted)
    return {name: Sample.join([block[name] for block in blocks]) for name in blocks[0]}


def _identify(members: Members, design: Design, size: int) -> str:
    """All that the result depends on, as one short text."""
    group = members.group
    people = [group.num_participants or design.num_participants, group.dropout, sorted(group.factors.items())]
    return fingerprint([describe(members.study, design, members.study.fidelity), people, members.words, size])


def _read_sample(kept: xr.Dataset, name: Any, num: int) -> Sample:
    mine = kept.sel(quantity=name).isel(study=slice(num))
    return Sample(*(mine[field.name].values for field in dataclasses.fields(Sample)))


class FittedGroup(NamedTuple):
    """A group in some studies: people, separate fits, and the hierarchical analysis.

    Attributes:
        experiment: everybody, one study after the other.
        takes_part: who does not drop out, over (study, person).
        posterior: separate fits of everybody.
        analysis: of the group in each study.
    """

    experiment: Experiment
    takes_part: np.ndarray
    posterior: xr.DataTree
    analysis: ManyGroups

    @property
    def places(self) -> np.ndarray:
        """Where everybody stands among all; -1 for who has dropped out."""
        return np.where(self.takes_part, np.arange(self.takes_part.size).reshape(self.takes_part.shape), -1)

    @property
    def is_trusted(self) -> np.ndarray:
        """Whether the analysis of a study can be."""
        return self.analysis.is_good & (self.analysis.support.min(axis=1) >= FEWEST_SUPPORTING)


def fit_group(members: Members, design: Design, studies: np.ndarray, size: int) -> FittedGroup:
    """Simulate a group in these studies, fit everybody, and analyse each group.

    Args:
        members: the group. design: what everybody does.
        studies: their numbers. size: people of each.
    """
    study, group = members.study, members.group
    takes_part = np.array([_stay(study.seed, number, size) >= group.dropout for number in studies])
    experiment = prepare_group(members, design, studies, size)
    trials = simulate_experiment(study, design, experiment)
    settings = FIT_SETTINGS["information" if study.fidelity == "information" else "importance"]
    posterior = fit_datasets(experiment.fitted, trials, fixed=experiment.fixed, settings=settings, seed=study.seed)
    places = np.where(takes_part, np.arange(takes_part.size).reshape(takes_part.shape), -1)
    analysis = analyse_groups(experiment, trials, posterior, places, studies, seed=study.seed)
    return FittedGroup(experiment, takes_part, posterior, analysis)


def _simulate_block(members: Members, design: Design, studies: np.ndarray) -> xr.Dataset:
    study, size = members.study, members.group.num_participants or design.num_participants
    fitted = fit_group(members, design, studies, size)
    experiment, takes_part, places = fitted.experiment, fitted.takes_part, fitted.places
    is_good: Any = fitted.posterior["diagnostics"]["is_good"].values
    entries = list_entries(experiment.fitted, design, study.quantities, experiment.scale)
    quantities = study.quantities
    truth = compute_truth(entries, show_participants(experiment), quantities)
    values = split_draws(take_draws(fitted.posterior["posterior"].to_dataset()), experiment.fixed)
    draws = compute_entries(entries, restore_values(values, experiment.fitted, experiment.scale), quantities)
    middle = _find_middle(entries, experiment, fitted.analysis, quantities, places)
    is_known = takes_part & is_good[np.maximum(places, 0)]
    names = [entry.name for entry in entries]
    truths = np.stack([np.where(takes_part, truth[name].reshape(places.shape), np.nan) for name in names])
    means = [draws[name].mean(axis=(1, 2)).reshape(places.shape) for name in names]
    return xr.Dataset(
        {
            "truth": (("quantity", "study", "person"), truths),
            "mean": (("quantity", "study", "person"), np.where(is_known, np.stack(means), np.nan)),
            "middle": (("quantity", "study", "draw"), np.stack([middle[name] for name in names]).astype(np.float32)),
            "is_good": ("study", fitted.is_trusted),
        },
        coords={"quantity": names, "study": studies},
    )


def _stay(seed: int, number: int, size: int) -> np.ndarray:
    """A number of each person: those with small ones drop out; a larger study begins like a smaller one."""
    return make_generator(seed, "dropout", int(number)).uniform(size=size)


def prepare_group(members: Members, design: Design, studies: np.ndarray, size: int) -> Experiment:
    """The people of a group in these studies, one study after the other, with what is multiplied and what is changed."""
    study, numbers = members.study, (studies[:, None] * STRIDE + np.arange(size)).ravel()
    experiment = prepare_experiment(study, design, first=0, num_datasets=len(numbers), numbers=numbers)
    people = experiment.participants
    for name, factor in members.group.factors.items():
        people = people.assign({name: people[name] * factor})
    if members.change is not None:
        people = members.change(people)
    # Refuses what a factor has made impossible.
    label_participants(experiment.generative.parameters, {str(name): array.values for name, array in people.items()})
    return experiment._replace(
        participants=people, fixed=study.analysis.fix_values(people, experiment.scale, experiment.fitted.parameters)
    )


def analyse_groups(
    experiment: Experiment,
    trials: xr.Dataset,
    posterior: xr.DataTree,
    places: np.ndarray,
    studies: np.ndarray,
    *,
    seed: int,
) -> ManyGroups:
    """The hierarchical analysis of every group: the same model as `fit --pool`."""
    model = experiment.fitted
    hyperprior = choose_hyperprior(list_group_entries(model), PoolingSettings())
    particles = make_particles(model, trials, experiment.fixed, posterior, places, hyperprior, seed=seed)
    return sample_many_groups(particles, hyperprior, studies, seed=seed)


def _find_middle(
    entries: list[Entry], experiment: Experiment, analysis: ManyGroups, quantities: Any, places: np.ndarray
) -> dict[str, np.ndarray]:
    """Draws of what the median person of every group has: of each parameter, and of quantities computed from these."""
    model = experiment.fitted
    values: dict[str, Any] = {}
    for k, entry in enumerate(list_group_entries(model)):
        draws = Scale(model.priors[entry.name].support).backward(analysis.group.location[..., k])
        if entry.condition is None:
            values[entry.name] = draws
        else:
            values[entry.name] = PerCondition((*values.get(entry.name, ()), draws))
    # What is known is known of each person; the middle of the group has their median.
    at = np.maximum(places, 0)
    for name, value in experiment.fixed.items():
        numbers = np.median(value.values[at], axis=1)
        is_split = "condition" in value.dims
        values[name] = PerCondition(n[:, None] for n in numbers.T) if is_split else numbers[:, None]
    shape = analysis.group.location.shape[:2]
    computed = compute_entries(entries, restore_values(values, model, experiment.scale), quantities)
    return {name: np.broadcast_to(np.asarray(array, float), shape) for name, array in computed.items()}
