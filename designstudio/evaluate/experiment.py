"""A design as a simulated experiment: participants, their trials, and the model that would be fitted to them."""

from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from designstudio.core.configuration import configure_once
from designstudio.core.randomness import make_key
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.priors import Constant
from designstudio.model.simulate import Contamination, draw_participants, draw_uniform, simulate_trials
from designstudio.study import Study
from designstudio.study.design import Design

# What random numbers are for: the same for every design of a study.
PARTICIPANTS, STIMULI, RESPONSES = "participants", "stimuli", "responses"


class Experiment(NamedTuple):
    """Some data sets of one design, simulated but for the responses.

    Attributes:
        generative: the model that participants follow.
        fitted: the model that is fitted.
        participants: true parameters.
        stimuli: what they see; padded where conditions have different numbers of trials.
        is_present: which trials there are.
        fixed: what the fit takes as known.
    """

    generative: BehaviorModel
    fitted: BehaviorModel
    participants: xr.Dataset
    stimuli: Float[np.ndarray, "dataset condition trial"]
    is_present: Bool[np.ndarray, "condition trial"]
    fixed: dict[str, xr.DataArray]


def prepare_experiment(study: Study, design: Design, *, first: int, num_datasets: int) -> Experiment:
    """Participants and stimuli of the data sets numbered from `first` on."""
    configure_once()
    simulated = study.load_actor(study.population.cost or study.cost)
    changed = (*design.levels, *design.own_parameters)
    generative = BehaviorModel(simulated, num_conditions=len(design.conditions), per_condition=changed)
    fitted = study.analysis.build_model(study.load_actor(study.cost), design)
    population = dict(study.population.resolve(simulated.cost))
    if study.population.follows_analysis:
        population |= {n: p for n, p in fitted.priors.items() if n in population and n not in study.population.priors}
    by_condition = {
        name: tuple(
            Constant(condition.levels[name])
            if name in condition.levels
            else condition.population.get(name, population[name])
            for condition in design.conditions
        )
        for name in changed
    }
    participants = draw_participants(
        generative,
        num_datasets,
        key=make_key(study.seed, PARTICIPANTS),
        population={**population, **by_condition},
        first=first,
    )
    stimuli, is_present = place_stimuli(study, design, first=first, num_datasets=num_datasets)
    return Experiment(generative, fitted, participants, stimuli, is_present, study.analysis.fix_values(participants))


def place_stimuli(
    study: Study, design: Design, *, first: int, num_datasets: int
) -> tuple[Float[np.ndarray, "dataset condition trial"], Bool[np.ndarray, "condition trial"]]:
    """What the data sets numbered from `first` on see, and which trials there are."""
    counts = np.array([condition.num_trials for condition in design.conditions])
    numbers = np.arange(first, first + num_datasets)
    uniform = draw_uniform(numbers, len(counts), int(counts.max()), key=make_key(study.seed, STIMULI))
    stimuli = np.ones_like(uniform)
    for k, condition in enumerate(design.conditions):
        shown = slice(condition.num_trials)
        stimuli[:, k, shown] = design.stimuli_of(condition).place(uniform[:, k, shown])
    return stimuli, np.arange(counts.max()) < counts[:, None]


def simulate_experiment(study: Study, design: Design, experiment: Experiment) -> xr.Dataset:
    """The trials of an experiment."""
    population = study.population
    return simulate_trials(
        experiment.generative,
        experiment.participants,
        experiment.stimuli,
        key=make_key(study.seed, RESPONSES),
        is_present=experiment.is_present,
        conditions=[condition.name for condition in design.conditions],
        contamination=Contamination(population.lapse_rate, population.outlier_rate, population.outlier_scale),
    )
