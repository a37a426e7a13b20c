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
from designstudio.evaluate.group_analyses import PLAIN, FittedGroup, GroupAnalysis, SampleName, analyse_groups
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.model.simulate import label_participants
from designstudio.study import Group, Study
from designstudio.study.design import Design
from designstudio.study.groups import EVERYBODY

# People of one study are numbered from a multiple of this on.
STRIDE = 10_000
# Groups are as independent of each other as another seed makes them.
SEED_OF_GROUP = 2_000_003
# Studies that are simulated together.
BLOCK = 50
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

    def minus(self, other: "Sample") -> "Sample":
        """The same people's difference from another number of theirs, by the same analysis."""
        return Sample(self.truth - other.truth, self.mean - other.mean, self.middle - other.middle, self.is_good)

    @classmethod
    def join(cls, samples: list["Sample"]) -> "Sample":
        """Samples of other studies as one."""
        fields = (field.name for field in dataclasses.fields(cls))
        return cls(*(np.concatenate([getattr(sample, name) for sample in samples]) for name in fields))


# Of a group at each size, by the names of all that is scored.
Samples = dict[int, dict[SampleName, Sample]]


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
        analyses: hierarchical ones that decisions need.
    """

    study: Study
    group: Group
    change: Change | None = None
    words: str = ""
    analyses: tuple[GroupAnalysis, ...] = (PLAIN,)

    def count(self, design: Design) -> int:
        """How many take part."""
        return self.group.num_participants or design.num_participants


def find_members(study: Study, group: Group, place: int) -> Members:
    """A group of the study; `place` tells the random numbers of groups apart."""
    population = study.population.replace(priors={**study.population.priors, **group.priors})
    return Members(study.replace(population=population, seed=study.seed + place * SEED_OF_GROUP), group)


def find_everybody(study: Study) -> list[Members]:
    """All groups of a study; everybody is one, if it has none."""
    return [find_members(study, group, place) for place, group in enumerate(study.groups or (EVERYBODY,))]


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
        parts.append({size: _read_samples(kept, members, size, wanted) for size in sizes})
        report(start - first + wanted)
    return join_samples(parts)


def _identify(members: Members, design: Design, sizes: Sequence[int], block_size: int) -> str:
    """All that the result depends on, as one short text."""
    group = members.group
    analyses = [analysis.name for analysis in members.analyses]
    people = [members.count(design), group.dropout, sorted(group.factors.items()), analyses, list(sizes)]
    return fingerprint([describe(members.study, design, members.study.fidelity), people, members.words, block_size])


def _read_samples(kept: xr.Dataset, members: Members, size: int, num: int) -> dict[SampleName, Sample]:
    """Everything that is scored, by every analysis; by the plain one even if nobody has asked for it."""
    of_size = kept.sel(size=size).isel(study=slice(num), person=slice(size))
    samples = {}
    for analysis in dict.fromkeys((PLAIN, *members.analyses)):
        for name in map(str, kept["quantity"].values):
            mine = of_size.sel(quantity=name)
            middle, is_good = np.zeros((num, 0), np.float32), np.zeros(num, bool)
            if analysis in members.analyses:
                found = mine.sel(analysis=analysis.name)
                middle, is_good = found["middle"].values, found["is_good"].values
            samples[analysis.name_sample(name)] = Sample(mine["truth"].values, mine["mean"].values, middle, is_good)
    return samples


def fit_group(members: Members, design: Design, studies: np.ndarray, size: int) -> tuple[Experiment, FittedGroup]:
    """Simulate a group in these studies, and fit everybody.

    Args:
        members: the group. design: what everybody does.
        studies: their numbers.
        size: how many people there are.
    """
    study = members.study
    takes_part = np.array([stay_in(members, number, size) for number in studies])
    experiment = prepare_group(members, design, studies, size)
    trials = simulate_experiment(study, design, experiment)
    settings = FIT_SETTINGS["information" if study.fidelity == "information" else "importance"]
    model, fixed = experiment.fitted, experiment.fixed
    posterior = fit_datasets(model, trials, fixed=fixed, settings=settings, seed=study.seed)
    scale, pooling = experiment.scale, experiment.pooling
    return experiment, FittedGroup(model, fixed, trials, takes_part, posterior, scale, pooling)


def _simulate_block(members: Members, design: Design, studies: np.ndarray, sizes: Sequence[int]) -> xr.Dataset:
    study = members.study
    experiment, fitted = fit_group(members, design, studies, max(sizes))
    takes_part, places = fitted.takes_part, fitted.places
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
    found = analyse_groups(fitted, entries, quantities, studies, sizes, members.analyses, seed=study.seed)
    # Without an analysis there are no draws.
    draws_of = [of.draws for of in found.values()] or [np.zeros((len(sizes), len(names), len(studies), 0), np.float32)]
    trusted = [of.is_good for of in found.values()] or [np.zeros((len(sizes), len(studies)), bool)]
    return xr.Dataset(
        {
            "truth": (("quantity", "study", "person"), truths),
            "mean": (("quantity", "study", "person"), np.where(is_known, np.stack(means), np.nan)),
            "middle": (("analysis", "size", "quantity", "study", "draw"), np.stack(draws_of)),
            "is_good": (("analysis", "size", "study"), np.stack(trusted)),
        },
        coords={
            "quantity": names,
            "study": studies,
            "size": list(sizes),
            "analysis": [analysis.name for analysis in members.analyses] or [PLAIN.name],
        },
    )


def stay_in(members: Members, number: int, size: int) -> np.ndarray:
    """Who of the first people of a study does not drop out; a larger study begins like a smaller one."""
    uniform = make_generator(members.study.seed, "dropout", int(number)).uniform(size=size)
    return np.asarray(uniform >= members.group.dropout)


def prepare_group(members: Members, design: Design, studies: np.ndarray, size: int) -> Experiment:
    """The people of a group in these studies, one study after the other, with what is multiplied and what is changed."""
    return prepare_people(members, design, (studies[:, None] * STRIDE + np.arange(size)).ravel())


def prepare_people(members: Members, design: Design, numbers: np.ndarray) -> Experiment:
    """People of a group by their numbers; those of the first study are counted from 0."""
    study = members.study
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
