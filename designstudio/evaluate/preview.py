"""A design at a glance, within a fraction of a second: the fidelity `information`, and one simulated participant."""

import dataclasses
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float
from scipy import special

from designstudio.core.arrays import put
from designstudio.evaluate.entries import find_support
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.experiment import Experiment, prepare_experiment, show_band, simulate_experiment
from designstudio.evaluate.results import Evaluation
from designstudio.evaluate.verdict import find_verdict
from designstudio.metrics.information import predict_responses
from designstudio.model.likelihood.model import BehaviorModel, Values
from designstudio.study import Study
from designstudio.study.design import Design

NUM_DATASETS = 100
NUM_STIMULI = 40
NUM_CORNERS = 73
# Steps of the bisection for quantiles of a mixture.
NUM_HALVINGS = 30


class Preview(NamedTuple):
    """What a design would show.

    Attributes:
        evaluation: scores at fidelity `information`.
        trials: of one simulated participant.
        band: low, median and high of that participant's responses, over (condition, stimulus).
        verdict: plain sentences.
    """

    evaluation: Evaluation
    trials: xr.Dataset
    band: xr.Dataset
    verdict: tuple[str, ...]


def preview_design(study: Study, design: Design, *, num_datasets: int = NUM_DATASETS) -> Preview:
    """Scores and one simulated participant."""
    # Whole studies take seconds, for which no slider waits.
    quick = dataclasses.replace(study, goals=tuple(goal for goal in study.goals if not goal.is_of_studies))
    evaluation = evaluate_design(quick, design, fidelity="information", num_datasets=num_datasets)
    experiment = prepare_experiment(study, design, first=0, num_datasets=1)
    trials = simulate_experiment(study, design, experiment)
    band = show_band(_predict_band(experiment, trials, study.interval, study.population.lapse_rate), experiment.scale)
    return Preview(evaluation, experiment.scale.undo(trials), band, tuple(find_verdict([evaluation])))


def outline_pair(evaluation: Evaluation, pair: tuple[str, str], prob: float) -> Float[np.ndarray, "corner 2"] | None:
    """Outline of the region in which a typical posterior of two parameters has this probability.

    The region is an ellipse of the parameters' logarithms, around the average truth and with the average covariance of all
    good fits, and ends where the analysis prior ends. None if a parameter is not estimated, or no fit is good.
    """
    summaries = evaluation.summaries
    names = summaries["parameter"].values.tolist()
    is_good = summaries["is_good"].values
    if not set(pair) <= set(names) or not is_good.any():
        return None
    places = [names.index(name) for name in pair]
    covariance = summaries["log_covariance"].values[is_good].mean(axis=0)[np.ix_(places, places)]
    columns = [summaries["quantity"].values.tolist().index(name) for name in pair]
    centre = np.log(summaries["truth"].values[is_good][:, columns]).mean(axis=0)
    angles = np.linspace(0, 2 * np.pi, NUM_CORNERS)
    radius = np.sqrt(special.chdtri(2, 1 - prob))
    circle = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    # A covariance that is nearly a line still has an outline.
    values, vectors = np.linalg.eigh(covariance)
    corners = np.exp(centre + circle * np.sqrt(np.maximum(values, 0)) @ vectors.T)
    study = evaluation.study
    model = study.build_model(evaluation.design)
    bases = [str(summaries["base"].sel(quantity=name).item()) for name in pair]
    supports = [find_support(base, model, study.conversion) for base in bases]
    return np.clip(corners, [s.low for s in supports], [s.high for s in supports])


def _predict_band(experiment: Experiment, trials: xr.Dataset, interval: float, lapse_rate: float) -> xr.Dataset:
    """Quantiles of the participant's responses, lapses among them, over the range of the stimuli."""
    shown = trials["stimulus"].values[trials["is_present"].values]
    grid = np.geomspace(shown.min(), shown.max(), NUM_STIMULI)
    model, people = experiment.generative, experiment.participants.isel(dataset=0)
    values: Values = {name: put(people[name].values) for name in model.free}
    mean, log_variance = (
        np.asarray(part, float) for part in _predict(model, values, put(model.family.perception.encode(grid)))
    )
    response, dims = model.family.response, ("condition", "stimulus")
    ends = response.encode(np.array([shown.min(), shown.max()]))
    quantiles = {
        name: (dims, response.decode(_find_quantile(probability, mean, np.exp(log_variance / 2), lapse_rate, ends)))
        for name, probability in (("low", (1 - interval) / 2), ("median", 0.5), ("high", (1 + interval) / 2))
    }
    return xr.Dataset(
        quantiles,
        coords={"condition": trials["condition"].values, "stimulus": grid},
    )


def _find_quantile(
    probability: float, mean: np.ndarray, sd: np.ndarray, lapse_rate: float, ends: np.ndarray
) -> Float[np.ndarray, "condition stimulus"]:
    """Quantile of normal responses, of which some are lapses: spread evenly between two ends."""
    usual = mean + sd * special.ndtri(probability)
    if not lapse_rate:
        return np.asarray(usual)
    # It lies between that of the one and that of the others.
    lapsed = np.full_like(mean, ends[0] + probability * (ends[1] - ends[0]))
    low, high = np.minimum(usual, lapsed), np.maximum(usual, lapsed)
    for _ in range(NUM_HALVINGS):
        middle = (low + high) / 2
        of_lapses = np.clip((middle - ends[0]) / max(ends[1] - ends[0], 1e-9), 0, 1)
        is_low = (1 - lapse_rate) * special.ndtr((middle - mean) / sd) + lapse_rate * of_lapses < probability
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return np.asarray(low + high) / 2


@eqx.filter_jit
def _predict(
    model: BehaviorModel, values: Values, stimulus: Float[Array, " stimulus"]
) -> tuple[Float[Array, "condition stimulus"], Float[Array, "condition stimulus"]]:
    stimuli = jnp.broadcast_to(stimulus, (model.num_conditions, stimulus.size))
    return predict_responses(model, values, {}, stimuli)
