"""Whole simulated studies: groups of participants, everybody fitted, groups analysed, and decisions counted.

Participants of a study are numbered by study and place, so that the first 20 of 40 people are the study with 20, and more
studies leave the earlier ones as they were. Groups without an effect have the same people with the same noise in their
stimuli and responses; only the effect is taken away.
"""

import dataclasses
from collections.abc import Callable, Sequence
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
from designstudio.inference.hierarchical.pool_many import focus_particles, make_kernels
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
        middle: draws of the value of the group's median person by the hierarchical analysis; none if nobody asked for it.
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


# Of a group at each size, by the names of all that is scored.
Samples = dict[int, dict[str, Sample]]


def join_samples(parts: list[Samples]) -> Samples:
    """Samples of other studies as one, at the sizes that all have."""
    return {size: {name: Sample.join([part[size][name] for part in parts]) for name in parts[0][size]} for size in parts[0]}


class Members(NamedTuple):
    """A group as it is simulated.

    Attributes:
        study: with the population that the group is drawn from, and a seed of its own.
        group: with its size, dropout and factors.
        change: what is done to the people before they take part; None for nothing.
        words: what that is.
        is_analysed: whether any decision needs the hierarchical analysis.
    """

    study: Study
    group: Group
    change: Change | None = None
    words: str = ""
    is_analysed: bool = True

    def count(self, design: Design) -> int:
        """How many take part."""
        return self.group.num_participants or design.num_participants


def find_members(study: Study, group: Group, place: int) -> Members:
    """A group of the study; `place` tells the random numbers of groups apart."""
    population = study.population.replace(priors={**study.population.priors, **group.priors})
    return Members(study.replace(population=population, seed=study.seed + place * SEED_OF_GROUP), group)


def simulate_group(
    members: Members,
    design: Design,
    *,
    num_studies: int,
    first: int = 0,
    sizes: Sequence[int] | None = None,
    cache: BlockCache,
    report: Callable[[int], None] = lambda done: None,
) -> Samples:
    """A group in many simulated studies.

    Args:
        members: the group.
        design: what everybody does.
        num_studies: how many studies. first: number of the first, a multiple of the size of blocks.
        sizes: at which the first people of each study are analysed as if there were no others; by default all of them.
        cache: where finished blocks of studies are kept.
        report: called with the number of studies that are done.
    """
    sizes = [members.count(design)] if sizes is None else sorted(sizes)
    # As many studies in each block, so that nothing compiles twice.
    block_size = min(BLOCK, num_studies)
    key = "" if cache.folder is None else _identify(members, design, sizes, block_size)
    parts: list[Samples] = []
    for start in range(first, first + num_studies, block_size):
        block = start // block_size
        kept = cache.load(key, block)
        if kept is None:
            kept = _simulate_block(members, design, np.arange(start, start + block_size), sizes)
            cache.save(key, block, kept)
        wanted = min(block_size, first + num_studies - start)
        parts.append(
            {size: {str(n): _read_sample(kept, n, size, wanted) for n in kept["quantity"].values} for size in sizes}
        )
        report(start - first + wanted)
    return join_samples(parts)


def _identify(members: Members, design: Design, sizes: Sequence[int], block_size: int) -> str:
    """All that the result depends on, as one short text."""
    group = members.group
    people = [members.count(design), group.dropout, sorted(group.factors.items()), members.is_analysed, list(sizes)]
    return fingerprint([describe(members.study, design, members.study.fidelity), people, members.words, block_size])


def _read_sample(kept: xr.Dataset, name: Any, size: int, num: int) -> Sample:
    mine = kept.sel(quantity=name, size=size).isel(study=slice(num), person=slice(size))
    return Sample(*(mine[field.name].values for field in dataclasses.fields(Sample)))


class FittedGroup(NamedTuple):
    """A group in some studies: people, separate fits, and hierarchical analyses.

    Attributes:
        experiment: everybody, one study after the other.
        takes_part: who does not drop out, over (study, person).
        posterior: separate fits of everybody.
        analyses: of the group in each study, at each size; empty if nobody asked for them.
    """

    experiment: Experiment
    takes_part: np.ndarray
    posterior: xr.DataTree
    analyses: dict[int, ManyGroups]

    @property
    def places(self) -> np.ndarray:
        """Where everybody stands among all; -1 for who has dropped out."""
        return np.where(self.takes_part, np.arange(self.takes_part.size).reshape(self.takes_part.shape), -1)


def is_trusted(analysis: ManyGroups) -> np.ndarray:
    """Whether the analysis of a study can be."""
    return analysis.is_good & (analysis.support.min(axis=1) >= FEWEST_SUPPORTING)


def fit_group(members: Members, design: Design, studies: np.ndarray, sizes: Sequence[int]) -> FittedGroup:
    """Simulate a group in these studies, fit everybody, and analyse each group.

    Args:
        members: the group. design: what everybody does.
        studies: their numbers.
        sizes: at which groups are analysed; the largest is how many people there are.
    """
    study, group = members.study, members.group
    takes_part = np.array([_stay(study.seed, number, max(sizes)) >= group.dropout for number in studies])
    experiment = prepare_group(members, design, studies, max(sizes))
    trials = simulate_experiment(study, design, experiment)
    settings = FIT_SETTINGS["information" if study.fidelity == "information" else "importance"]
    posterior = fit_datasets(experiment.fitted, trials, fixed=experiment.fixed, settings=settings, seed=study.seed)
    fitted = FittedGroup(experiment, takes_part, posterior, {})
    if not members.is_analysed:
        return fitted
    return fitted._replace(analyses=analyse_groups(fitted, trials, studies, sizes, seed=study.seed))


def _simulate_block(members: Members, design: Design, studies: np.ndarray, sizes: Sequence[int]) -> xr.Dataset:
    study = members.study
    fitted = fit_group(members, design, studies, sizes)
    experiment, takes_part, places = fitted.experiment, fitted.takes_part, fitted.places
    is_good: Any = fitted.posterior["diagnostics"]["is_good"].values
    entries = list_entries(experiment.fitted, design, study.quantities, experiment.scale)
    quantities = study.quantities
    truth = compute_truth(entries, show_participants(experiment), quantities)
    values = split_draws(take_draws(fitted.posterior["posterior"].to_dataset()), experiment.fixed)
    draws = compute_entries(entries, restore_values(values, experiment.fitted, experiment.scale), quantities)
    is_known = takes_part & is_good[np.maximum(places, 0)]
    names = [entry.name for entry in entries]
    truths = np.stack([np.where(takes_part, truth[name].reshape(places.shape), np.nan) for name in names])
    means = [draws[name].mean(axis=(1, 2)).reshape(places.shape) for name in names]
    middles = np.zeros((len(sizes), len(names), len(studies), 0), np.float32)
    trusted = np.zeros((len(sizes), len(studies)), bool)
    if fitted.analyses:
        found = [_find_middle(entries, experiment, fitted.analyses[size], quantities, places[:, :size]) for size in sizes]
        middles = np.stack([[of_size[name] for name in names] for of_size in found]).astype(np.float32)
        trusted = np.stack([is_trusted(fitted.analyses[size]) for size in sizes])
    return xr.Dataset(
        {
            "truth": (("quantity", "study", "person"), truths),
            "mean": (("quantity", "study", "person"), np.where(is_known, np.stack(means), np.nan)),
            "middle": (("size", "quantity", "study", "draw"), middles),
            "is_good": (("size", "study"), trusted),
        },
        coords={"quantity": names, "study": studies, "size": list(sizes)},
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
    fitted: FittedGroup, trials: xr.Dataset, studies: np.ndarray, sizes: Sequence[int], *, seed: int
) -> dict[int, ManyGroups]:
    """The hierarchical analysis of every group at each size: the same model as `fit --pool`."""
    model, fixed = fitted.experiment.fitted, fitted.experiment.fixed
    hyperprior = choose_hyperprior(list_group_entries(model), fitted.experiment.pooling)
    # Once for all sizes: particles that know the largest group know the smaller ones.
    focused = focus_particles(model, trials, fixed, fitted.posterior, fitted.places, hyperprior, seed=seed)
    kernels = {size: make_kernels(focused.first(size), hyperprior, seed=seed) for size in sizes}
    return {size: sample_many_groups(kernels[size], hyperprior, studies, seed=seed) for size in sizes}


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
