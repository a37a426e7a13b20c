"""One simulated participant in detail: trials, posterior, and what the fit would predict. For figures."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float
from scipy import special

from designstudio.core.arrays import put
from designstudio.core.randomness import make_generator
from designstudio.evaluate.entries import (
    compute_entries,
    compute_truth,
    list_entries,
    restore_values,
    split_draws,
    take_draws,
)
from designstudio.evaluate.experiment import (
    Experiment,
    prepare_experiment,
    show_band,
    show_participants,
    simulate_experiment,
)
from designstudio.evaluate.fidelities import FIT_SETTINGS
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.metrics.information import predict_responses
from designstudio.model.likelihood.lapses import LAPSE_RATE, find_lapse_range
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.study import Study
from designstudio.study.design import Design

NUM_STIMULI = 40
NUM_PREDICTED = 1000


class Example(NamedTuple):
    """One data set of a design.

    Attributes:
        trials: what was simulated.
        draws: posterior draws of every quantity; None if the fit failed.
        truth: of every quantity.
        band: low, median and high of predicted responses over (condition, stimulus).
    """

    trials: xr.Dataset
    draws: dict[str, Float[np.ndarray, " draw"]] | None
    truth: dict[str, float]
    band: xr.Dataset


def fit_example(study: Study, design: Design, *, number: int = 0) -> Example:
    """Simulate and fit the data set of this number, by importance sampling."""
    experiment, trials, posterior = simulate_and_fit(study, design, number=number)
    model = experiment.fitted
    scale, drawn = experiment.scale, split_draws(take_draws(posterior["posterior"].to_dataset()), experiment.fixed)
    entries = list_entries(model, design, study.quantities, scale)
    values = compute_entries(entries, restore_values(drawn, model, scale), study.quantities)
    truth = compute_truth(entries, show_participants(experiment), study.quantities)
    fixed = {
        name: np.broadcast_to(array.values.reshape(-1), (model.num_conditions,)) for name, array in experiment.fixed.items()
    }
    band = _predict_band(model, posterior["posterior"].to_dataset(), fixed, trials, study.interval, study.seed)
    is_good = bool(posterior["diagnostics"].to_dataset()["is_good"].values[0])
    return Example(
        scale.undo(trials),
        {name: value.ravel() for name, value in values.items()} if is_good else None,
        {name: float(value[0]) for name, value in truth.items()},
        show_band(band, scale),
    )


def simulate_and_fit(study: Study, design: Design, *, number: int = 0) -> tuple[Experiment, xr.Dataset, xr.DataTree]:
    """One simulated participant, the trials, and the posterior by importance sampling, in the actor's unit."""
    experiment = prepare_experiment(study, design, first=number, num_datasets=1)
    trials = simulate_experiment(study, design, experiment)
    settings = FIT_SETTINGS["importance"]
    return (
        experiment,
        trials,
        fit_datasets(experiment.fitted, trials, fixed=experiment.fixed, settings=settings, seed=study.seed),
    )


def _predict_band(
    model: BehaviorModel,
    posterior: xr.Dataset,
    fixed: dict[str, np.ndarray],
    trials: xr.Dataset,
    interval: float,
    seed: int,
) -> xr.Dataset:
    """Quantiles of responses that the posterior predicts, over the range of the stimuli."""
    shown = trials["stimulus"].values
    grid = np.geomspace(np.nanmin(shown), np.nanmax(shown), NUM_STIMULI)
    flat = posterior.isel(dataset=0).stack(sample=("chain", "draw")).transpose("sample", ...)
    step = max(1, flat.sizes["sample"] // NUM_PREDICTED)
    values = {str(name): put(array.values[::step]) for name, array in flat.items()}
    known = {name: put(value) for name, value in fixed.items()}
    mean, log_variance = (
        np.asarray(part) for part in _predict(model, values, known, put(model.family.perception.encode(grid)))
    )
    # One noise for each draw, at all stimuli: the band is then as smooth as the predictions are.
    noise = make_generator(seed, "predicted responses").permutation(special.ndtri((np.arange(len(mean)) + 0.5) / len(mean)))[
        :, None, None
    ]
    predicted = mean + noise * np.exp(log_variance / 2)
    response = model.family.response
    if model.has_lapses:
        # A draw that lapses does so at all stimuli.
        rng = make_generator(seed, "predicted lapses")
        given = response.encode(trials["response"].values)
        least, width = find_lapse_range(given, np.isfinite(given))
        rate = np.asarray(values.get(LAPSE_RATE.name, known.get(LAPSE_RATE.name, 0.0)), float).reshape(-1)[:, None, None]
        has_lapsed, where = rng.random((2, len(mean), 1, 1))
        predicted = np.where(has_lapsed < rate[: len(mean)], least + width * where, predicted)
    responses = response.decode(predicted)
    low, median, high = np.quantile(responses, [(1 - interval) / 2, 0.5, (1 + interval) / 2], axis=0)
    dims = ("condition", "stimulus")
    return xr.Dataset(
        {"low": (dims, low), "median": (dims, median), "high": (dims, high)},
        coords={"condition": trials["condition"].values, "stimulus": grid},
    )


@eqx.filter_jit
def _predict(
    model: BehaviorModel, values: dict[str, Array], fixed: dict[str, Array], stimulus: Float[Array, " stimulus"]
) -> tuple[Array, Array]:
    """Mean and log variance of log responses for every draw, condition and stimulus."""
    stimuli = jnp.broadcast_to(stimulus, (model.num_conditions, stimulus.size))
    return jax.vmap(lambda draw: predict_responses(model, draw, fixed, stimuli))(values)
