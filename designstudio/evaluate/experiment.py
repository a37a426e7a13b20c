"""A design as a simulated experiment: participants, their trials, and the model that would be fitted to them.

Here a study leaves its unit: everything in an `Experiment` is in the actor's. What is made of it is brought back where it is
summarised (`designstudio.evaluate.fidelities`) or shown (`show_participants`, `show_band`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from designstudio.core.configuration import configure_once
from designstudio.core.randomness import make_key
from designstudio.errors import StudioError
from designstudio.evaluate.moving import Moved, move_people
from designstudio.inference.hierarchical.pooling_settings import PoolingSettings
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameters import Parameter
from designstudio.model.priors import Constant
from designstudio.model.scale import Scale
from designstudio.model.simulate import (
    Contamination,
    draw_participants,
    draw_scores,
    draw_uniform,
    label_participants,
    simulate_trials,
)
from designstudio.study import Study
from designstudio.study.design import Design

# What random numbers are for: the same for every design of a study.
PARTICIPANTS, STIMULI, RESPONSES, FACTORS = "participants", "stimuli", "responses", "factors"


class Experiment(NamedTuple):
    """Some data sets of one design, simulated but for the responses.

    Attributes:
        generative: the model that participants follow.
        fitted: the model that is fitted.
        participants: true parameters.
        stimuli: what they see; padded where conditions have different numbers of trials.
        is_present: which trials there are.
        fixed: what the fit takes as known.
        scale: between the study's unit and the actor's.
        pooling: what is assumed of the group, where people are pooled.
    """

    generative: BehaviorModel
    fitted: BehaviorModel
    participants: xr.Dataset
    stimuli: Float[np.ndarray, "dataset condition trial"]
    is_present: Bool[np.ndarray, "condition trial"]
    fixed: dict[str, xr.DataArray]
    scale: Scale
    pooling: PoolingSettings


def prepare_experiment(
    study: Study, design: Design, *, first: int, num_datasets: int, numbers: np.ndarray | None = None
) -> Experiment:
    """Participants and stimuli of the data sets numbered from `first` on, or with numbers of their own."""
    numbers = np.arange(first, first + num_datasets) if numbers is None else numbers
    configure_once()
    simulated = study.load_actor(study.population.cost or study.cost)
    changed = (*design.levels, *design.own_parameters)
    generative = BehaviorModel(simulated, num_conditions=len(design.conditions), per_condition=changed)
    fitted, scale = study.build_model(design), study.conversion
    parameters = {parameter.name: parameter for parameter in simulated.parameters}
    population = dict(study.population.resolve_for_actor(simulated.cost, scale))
    if study.population.follows_analysis:
        population |= {n: p for n, p in fitted.priors.items() if n in population and n not in study.population.priors}
    by_condition = {
        name: tuple(
            scale.shrink(Constant(condition.levels[name]), parameters[name])
            if name in condition.levels
            else scale.shrink(condition.drawn[name], parameters[name])
            if name in condition.drawn
            else population[name]
            for condition in design.conditions
        )
        for name in changed
    }
    participants = draw_participants(
        generative,
        num_datasets,
        key=make_key(study.seed, PARTICIPANTS),
        population={**population, **by_condition},
        numbers=numbers,
    )
    participants = _keep_own_values(study, design, participants, generative.parameters)
    moved = move_participants(study, design, participants, generative, fitted)
    participants = (
        participants if moved is None else restate_participants(moved.people, generative.parameters, scale, undo=True)
    )
    stimuli, is_present = place_stimuli(study, design, numbers)
    fixed = study.analysis.fix_values(participants, scale, fitted.parameters)
    pooling = study.analysis.pooling
    return Experiment(generative, fitted, participants, stimuli / scale.factor, is_present, fixed, scale, pooling)


def _keep_own_values(study: Study, design: Design, participants: xr.Dataset, parameters: Sequence[Parameter]) -> xr.Dataset:
    """People have their own value wherever nothing is set or drawn anew, times the condition's factor."""
    numbers, changed = participants["dataset"].values, {}
    for name in design.own_parameters:
        own = [k for k, condition in enumerate(design.conditions) if name not in condition.drawn]
        values = participants[name].values.copy()
        values[:, own] = values[:, own[:1]]
        for k in own:
            factor = design.conditions[k].factors.get(name)
            if factor is None:
                continue
            spread = np.zeros(len(numbers))
            if factor.spread:
                key = make_key(study.seed, f"{FACTORS} {design.conditions[k].name}")
                spread = factor.spread * draw_scores([name], numbers, 1, key=key)[:, 0, 0]
            values[:, k] *= factor.factor * np.exp(spread)
            _check_factor(name, values[:, k], design.conditions[k].name, parameters)
        changed[name] = values
    if not changed:
        return participants
    everything = {str(name): changed.get(str(name), array.values) for name, array in participants.items()}
    return label_participants(parameters, everything, numbers)


def _check_factor(name: str, values: np.ndarray, condition: str, parameters: Sequence[Parameter]) -> None:
    """Refuse a factor that makes somebody's value impossible."""
    support = next(parameter.support for parameter in parameters if parameter.name == name)
    is_possible = (values > 0) & (values >= support.low) & (values <= support.high)
    if not is_possible.all():
        raise StudioError(
            f"The factor of {name} in condition {condition!r} makes {values[~is_possible][0]:g} of it for somebody, but "
            f"{name} can only be from {support.low:g} to {support.high:g}: choose another factor, or other participants."
        )


def place_stimuli(
    study: Study, design: Design, numbers: np.ndarray
) -> tuple[Float[np.ndarray, "dataset condition trial"], Bool[np.ndarray, "condition trial"]]:
    """What the data sets with these numbers see, in the study's unit, and which trials there are."""
    counts = np.array([condition.num_trials for condition in design.conditions])
    uniform = draw_uniform(numbers, len(counts), int(counts.max()), key=make_key(study.seed, STIMULI))
    stimuli = np.ones_like(uniform)
    for k, condition in enumerate(design.conditions):
        shown = slice(condition.num_trials)
        stimuli[:, k, shown] = design.stimuli_of(condition).place(uniform[:, k, shown])
    return stimuli, np.arange(counts.max()) < counts[:, None]


def move_participants(
    study: Study, design: Design, participants: xr.Dataset, generative: BehaviorModel, fitted: BehaviorModel
) -> Moved | None:
    """Participants with the value of a quantity that the population is held at; None if there is none, or no way there."""
    if study.population.held is None:
        return None
    name, value = study.population.held
    return move_people(
        restate_participants(participants, generative.parameters, study.conversion),
        next(quantity for quantity in study.quantities if quantity.name == name),
        value,
        parameters=generative.parameters,
        fitted=fitted,
        scale=study.conversion,
        given=tuple(design.levels),
    )


def show_participants(experiment: Experiment) -> xr.Dataset:
    """The participants of an experiment in the study's unit."""
    return restate_participants(experiment.participants, experiment.generative.parameters, experiment.scale)


def restate_participants(
    participants: xr.Dataset, parameters: Sequence[Parameter], scale: Scale, *, undo: bool = False
) -> xr.Dataset:
    """Participants in the study's unit, from those in the actor's; or the other way round."""
    sizes = {p.name: scale.size_of(p) for p in parameters}
    sizes = {name: 1 / size if undo else size for name, size in sizes.items() if size != 1}
    return participants.assign({name: participants[name] * size for name, size in sizes.items()})


def show_band(band: xr.Dataset, scale: Scale) -> xr.Dataset:
    """Predicted responses over a grid of stimuli, both in the study's unit, from those in the actor's."""
    if scale.factor == 1:
        return band
    return (band * scale.factor).assign_coords(stimulus=band["stimulus"].values * scale.factor)


def simulate_experiment(study: Study, design: Design, experiment: Experiment) -> xr.Dataset:
    """The trials of an experiment, in the actor's unit."""
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
