"""A design at a glance, within a fraction of a second: the fidelity `information`, and one simulated participant."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float
from scipy import stats

from designstudio.core.arrays import put
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.experiment import Experiment, prepare_experiment, simulate_experiment
from designstudio.evaluate.results import Evaluation
from designstudio.evaluate.verdict import find_verdict
from designstudio.metrics.information import predict_responses
from designstudio.model.likelihood.model import BehaviorModel, Values
from designstudio.study import Study
from designstudio.study.design import Design

NUM_DATASETS = 100
NUM_STIMULI = 40
NUM_CORNERS = 73


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
    evaluation = evaluate_design(study, design, fidelity="information", num_datasets=num_datasets)
    experiment = prepare_experiment(study, design, first=0, num_datasets=1)
    trials = simulate_experiment(study, design, experiment)
    return Preview(evaluation, trials, _predict_band(experiment, trials, study.interval), tuple(find_verdict([evaluation])))


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
    radius = np.sqrt(stats.chi2.ppf(prob, 2))
    circle = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    # A covariance that is nearly a line still has an outline.
    values, vectors = np.linalg.eigh(covariance)
    corners = np.exp(centre + circle * np.sqrt(np.maximum(values, 0)) @ vectors.T)
    model = evaluation.study.analysis.build_model(evaluation.study.load_actor(evaluation.study.cost), evaluation.design)
    bases = [str(summaries["base"].sel(quantity=name).item()) for name in pair]
    supports = [model.priors[base].support for base in bases]
    return np.clip(corners, [s.low for s in supports], [s.high for s in supports])


def _predict_band(experiment: Experiment, trials: xr.Dataset, interval: float) -> xr.Dataset:
    """Quantiles of the participant's responses, over the range of the stimuli."""
    shown = trials["stimulus"].values[trials["is_present"].values]
    grid = np.geomspace(shown.min(), shown.max(), NUM_STIMULI)
    model, people = experiment.generative, experiment.participants.isel(dataset=0)
    values: Values = {name: put(people[name].values) for name in model.free}
    mean, log_variance = (
        np.asarray(part, float) for part in _predict(model, values, put(model.family.perception.encode(grid)))
    )
    decode = model.family.response.decode
    reach = stats.norm.ppf((1 + interval) / 2) * np.exp(log_variance / 2)
    dims = ("condition", "stimulus")
    return xr.Dataset(
        {"low": (dims, decode(mean - reach)), "median": (dims, decode(mean)), "high": (dims, decode(mean + reach))},
        coords={"condition": trials["condition"].values, "stimulus": grid},
    )


@eqx.filter_jit
def _predict(
    model: BehaviorModel, values: Values, stimulus: Float[Array, " stimulus"]
) -> tuple[Float[Array, "condition stimulus"], Float[Array, "condition stimulus"]]:
    stimuli = jnp.broadcast_to(stimulus, (model.num_conditions, stimulus.size))
    return predict_responses(model, values, {}, stimuli)
