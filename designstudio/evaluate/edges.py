"""What lies at the edges, counted for every data set and kept with its summaries; `designstudio.metrics.edges` scores it.

* Whether the truth of each free parameter lies outside of its analysis prior, or in its far tail.
* How much of the posterior lies at an end of the prior, and how much of the prior does. Ends that the mathematics demands (a
  share is at most 1) do not count: nothing lies beyond them.
* Whether a simulated participant's parameters lie outside of the box in which the actor was trained, and whether beliefs
  about the smallest and the largest stimulus do, of the simulated or of the fitted participant.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import numpy as np
import xarray as xr
from jaxtyping import Array, Bool, Float, Int

from designstudio.core.arrays import put
from designstudio.evaluate.entries import Entry, compute_truth, list_entries, spread_evenly
from designstudio.evaluate.experiment import Experiment, prepare_experiment
from designstudio.metrics.edges import ENDS, score_edges
from designstudio.model.actors import AbstractActor
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameter_entries import list_array_entries
from designstudio.model.parameters import Role
from designstudio.model.priors import AbstractPrior, Interval
from designstudio.study import Study
from designstudio.study.design import Design

# Where a truth lies in the analysis prior.
NOWHERE_SPECIAL, IN_TAIL, OUTSIDE = range(3)
# Part of the prior's range, in logarithms, that counts as its end.
END_ZONE = 0.02
# Beyond this probability a prior has its far tail, if its density is so much smaller there than in its middle.
TAIL_PROBABILITY, TAIL_DENSITY = 0.001, 0.05


def find_edges(
    experiment: Experiment,
    entries: Sequence[Entry],
    truth: Mapping[str, Float[np.ndarray, " dataset"]],
    values: Mapping[str, Any] | None,
    conditions: Sequence[str],
) -> dict[str, tuple[str | tuple[str, ...], Any]]:
    """What summaries keep about edges, and the labels of its dims: variables of a Dataset.

    Args:
        experiment: participants, and the model that is fitted.
        entries: what is scored.
        truth: of all free parameters, in the actor's unit.
        values: draws of the free parameters and values of the known ones, as `split_draws` gives them; None if nothing was
            fitted: then only participants are looked at.
        conditions: their names.
    """
    model = experiment.fitted
    free = [entry for entry in entries if entry.is_parameter]
    priors = [model.priors[entry.base] for entry in free]
    ends = [measure_ends(model, entry.base, _pick_draws(entry, values, len(truth[entry.name]))) for entry in free]
    parameters = {parameter.name: parameter for parameter in model.parameters}
    sizes = [experiment.scale.size_of(parameters[entry.base]) for entry in free]
    # The only numbers here that have a unit.
    shown = [[p.support.low * size, p.support.high * size] for p, size in zip(priors, sizes, strict=True)]
    places = [_place_truth(prior, truth[entry.name]) for prior, entry in zip(priors, free, strict=True)]
    true = {str(name): array.values.reshape(array.sizes["dataset"], -1) for name, array in experiment.participants.items()}
    is_belief_outside = _is_belief_outside(experiment, experiment.generative, true)
    if values is not None:
        means = {name: np.stack([v.mean(axis=(1, 2)) for v in _list(array)], axis=1) for name, array in values.items()}
        is_belief_outside |= _is_belief_outside(experiment, model, means)
    by_parameter = ("dataset", "parameter")
    simulated, is_outside_box = _find_outside_box(experiment, conditions)
    return {
        "is_outside_prior": (by_parameter, np.stack([place == OUTSIDE for place in places], axis=1)),
        "is_in_tail": (by_parameter, np.stack([place == IN_TAIL for place in places], axis=1)),
        "mass_at_end": ((*by_parameter, "end"), np.stack([one[0] for one in ends], axis=1)),
        "prior_mass_at_end": (("parameter", "end"), np.stack([one[1] for one in ends])),
        "prior_end": (("parameter", "end"), np.array(shown)),
        "is_outside_box": (("dataset", "simulated"), is_outside_box),
        "is_belief_outside": ("dataset", is_belief_outside),
        "parameter": ("parameter", [entry.name for entry in free]),
        "end": ("end", list(ENDS)),
        "simulated": ("simulated", simulated),
    }


def foresee_edges(study: Study, design: Design, *, num_datasets: int) -> list[str]:
    """Sentences about participants whom the fit or the actor cannot represent, before anything is simulated."""
    experiment = prepare_experiment(study, design, first=0, num_datasets=num_datasets)
    entries = list_entries(experiment.fitted, design, ())
    truth = compute_truth(entries, experiment.participants, ())
    found = find_edges(experiment, entries, truth, None, [condition.name for condition in design.conditions])
    edges = score_edges(xr.Dataset({**found, "is_good": ("dataset", np.zeros(num_datasets, bool))}))
    return [] if edges is None else edges.list_warnings()


def _pick_draws(entry: Entry, values: Mapping[str, Any] | None, num_datasets: int) -> Float[np.ndarray, "dataset ..."]:
    if values is None:
        return np.full((num_datasets, 1), np.nan)
    draws: np.ndarray = values[entry.base] if entry.condition is None else values[entry.base][entry.condition]
    return draws


def measure_ends(
    model: BehaviorModel, name: str, draws: Float[np.ndarray, "dataset ..."]
) -> tuple[Float[np.ndarray, "dataset 2"], Float[np.ndarray, "2"]]:
    """Mass of posteriors and of the prior at the prior's ends; NaN at an end beyond which nothing is possible."""
    prior = model.priors[name]
    possible = next(parameter.support for parameter in model.parameters if parameter.name == name)
    is_end = [prior.support.low > max(possible.low, 0.0), prior.support.high < possible.high]
    low, high, masses = _find_ends(prior)
    flat = draws.reshape(len(draws), -1)
    found = np.stack([(flat < low).mean(axis=1), (flat > high).mean(axis=1)], axis=1)
    return np.where(is_end, found, np.nan), np.where(is_end, masses, np.nan)


@functools.cache
def _find_ends(prior: AbstractPrior) -> tuple[float, float, tuple[float, float]]:
    """Up to where and from where on it is a prior's end, and the prior's mass at both."""
    ends = np.log(prior.ends)
    zone = END_ZONE * (ends[1] - ends[0])
    low, high = float(np.exp(ends[0] + zone)), float(np.exp(ends[1] - zone))
    values = spread_evenly(prior)
    return low, high, (float(np.mean(values < low)), float(np.mean(values > high)))


def _place_truth(prior: AbstractPrior, truth: Float[np.ndarray, " dataset"]) -> Int[np.ndarray, " dataset"]:
    """Where truths lie in a prior; those that do not exist lie nowhere special."""
    low, high = _find_tails(prior)
    place = np.where((truth < low) | (truth > high), IN_TAIL, NOWHERE_SPECIAL)
    return np.where(np.isnan(truth) | _is_within(truth, prior.support), place, OUTSIDE)


@functools.cache
def _find_tails(prior: AbstractPrior) -> tuple[float, float]:
    """Where the far tails begin; infinite on a side on which the prior ends while its density is still high."""
    scale = np.log if prior.is_logarithmic else np.asarray
    middle = np.diff(scale(prior.quantile(np.linspace(0.05, 0.95, 19)))).min() / 0.05
    steps = np.array([0.5, 1.0, 1.5]) * TAIL_PROBABILITY
    lower, upper = prior.quantile(steps), prior.quantile(1 - steps)
    # A step in probability over the step in value that it takes is the density.
    is_tail = [middle * TAIL_PROBABILITY < TAIL_DENSITY * abs(np.ptp(scale(side))) for side in (lower, upper)]
    return float(lower[1]) if is_tail[0] else -math.inf, float(upper[1]) if is_tail[1] else math.inf


def _find_outside_box(
    experiment: Experiment, conditions: Sequence[str]
) -> tuple[list[str], Bool[np.ndarray, "dataset simulated"]]:
    """Names of the simulated participants' parameters, and which of them lie outside of the actor's training box."""
    actor, participants = experiment.generative.actor, experiment.participants
    boxes = actor.parameter_boxes
    entries = list_array_entries(participants)
    columns = []
    for entry in entries:
        values = entry.pick(participants[entry.name]).values
        columns.append(~_is_within(values, boxes[entry.name]) if entry.name in boxes else np.zeros(values.shape, bool))
    return [entry.label(conditions) for entry in entries], np.stack(columns, axis=1)


def _is_within(values: np.ndarray, interval: Interval) -> Bool[np.ndarray, " dataset"]:
    """Whether values lie in an interval, with room for rounding at its ends."""
    room = 1e-5 * np.abs(values)
    return (values >= interval.low - room) & (values <= interval.high + room)


def _is_belief_outside(
    experiment: Experiment, model: BehaviorModel, values: Mapping[str, Float[np.ndarray, "dataset _"]]
) -> Bool[np.ndarray, " dataset"]:
    """Whether beliefs about the smallest or the largest stimulus of a condition lie outside of the actor's box."""
    num_datasets, num_conditions, _ = experiment.stimuli.shape
    if not model.actor.box:
        return np.zeros(num_datasets, bool)
    smallest, largest = (
        reduce(np.where(experiment.is_present, experiment.stimuli, filler), axis=-1)
        for reduce, filler in ((np.min, np.inf), (np.max, -np.inf))
    )
    ends = np.stack([smallest, largest], axis=-1)
    boxes = model.actor.parameter_boxes
    location = model.family.find(Role.PRIOR_LOCATION)
    # What lies between a prior and a stimulus that are both inside is inside, too: quickly seen, and nearly always so.
    is_near = location is not None and _is_within(ends, boxes[location.name]).all()
    if is_near and all(_is_within(values[name], box).all() for name, box in boxes.items()):
        return np.zeros(num_datasets, bool)
    shape = (num_datasets, num_conditions)
    people = {name: put(np.broadcast_to(values[name], shape)) for name in boxes}
    shown = put(model.family.perception.encode(ends))
    # A fit that failed may have no draws, and so no beliefs.
    is_known = np.all([np.isfinite(values[name]).all(axis=1) for name in boxes], axis=0)
    return is_known & np.any(~np.asarray(_are_inside(model.actor, people, shown)), axis=(1, 2))


@eqx.filter_jit
def _are_inside(
    actor: AbstractActor, people: dict[str, Float[Array, "dataset condition"]], shown: Float[Array, "dataset condition 2"]
) -> Bool[Array, "dataset condition 2"]:
    of_condition = jax.vmap(actor.is_inside, in_axes=(None, 0))
    return jax.vmap(jax.vmap(of_condition))(people, shown)


def _list(values: Any) -> Sequence[np.ndarray]:
    return values if isinstance(values, tuple) else (values,)
