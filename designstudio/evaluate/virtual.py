"""Virtual posteriors: the likelihood that the expected information predicts, times the analysis prior as it is.

Around the truth the log likelihood is taken as a parabola of the parameters' logarithms. Draws come from its product with a
Gaussian stand-in for the prior, and are resampled by how prior and stand-in differ: a bounded slab stays a bounded slab.
"""

from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float
from scipy import stats

from designstudio.core.randomness import make_key
from designstudio.evaluate.experiment import Experiment
from designstudio.metrics.information import expected_information, predict_posterior, unpack
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import bucket_size
from designstudio.model.simulate import SMALLEST_BUCKET, draw_uniform

NUM_DRAWS = 512


def draw_virtual(
    experiment: Experiment,
    truth: Float[np.ndarray, "dataset parameter"],
    prior: Mapping[str, np.ndarray],
    *,
    seed: int,
) -> xr.Dataset:
    """Draws of the free parameters, in the form of a posterior.

    Args:
        experiment: participants and stimuli.
        truth: of every free parameter.
        prior: as made by `summarize_prior`.
        seed: of the random score of each data set.
    """
    model = experiment.fitted
    numbers = experiment.participants["dataset"].values
    key = make_key(seed, "virtual posteriors")
    noise = stats.norm.ppf(draw_uniform(numbers, truth.shape[1], 1, key=key)[..., 0])
    mean, covariance = prior["prior_log_mean"], prior["prior_log_covariance"]
    information = compute_information(experiment, truth)
    posterior = predict_posterior(information, np.log(truth), mean, covariance, noise)
    standard = np.random.default_rng(0).normal(size=(NUM_DRAWS, truth.shape[1]))
    root = np.linalg.cholesky(posterior.covariance)
    logs = (posterior.mean[:, None] + standard @ np.swapaxes(root, 1, 2)).astype(np.float32)
    sd = np.sqrt(np.diag(covariance))
    log_ratio = np.asarray(_compare_priors(model, *(jnp.asarray(a, jnp.float32) for a in (logs, mean, sd))), float)
    chosen = _resample(log_ratio)
    drawn = np.exp(np.take_along_axis(logs, chosen[..., None], axis=1))
    variables, start = {}, 0
    for name in model.free:
        num = model.num_entries(name)
        part = drawn[:, None, :, start : start + num]
        is_own = name in model.per_condition
        variables[name] = (
            ("dataset", "chain", "draw", "condition") if is_own else ("dataset", "chain", "draw"),
            part if is_own else part[..., 0],
        )
        start += num
    return xr.Dataset(variables)


def compute_information(
    experiment: Experiment, truth: Float[np.ndarray, "dataset parameter"]
) -> Float[np.ndarray, "dataset parameter parameter"]:
    """Expected information about the logarithms of the free parameters, padded to shapes that repeat."""
    num_datasets, num_conditions, num_trials = experiment.stimuli.shape
    missing = bucket_size(num_trials, SMALLEST_BUCKET) - num_trials
    fixed = {
        name: np.broadcast_to(experiment.fixed[name].values.reshape(num_datasets, -1), (num_datasets, num_conditions))
        for name in experiment.fitted.fixed
    }
    stimuli = experiment.fitted.family.perception.encode(experiment.stimuli)
    information = expected_information(
        experiment.fitted,
        jnp.asarray(np.log(truth), jnp.float32),
        {name: jnp.asarray(values, jnp.float32) for name, values in fixed.items()},
        jnp.asarray(np.pad(stimuli, ((0, 0), (0, 0), (0, missing))), jnp.float32),
        jnp.asarray(np.pad(experiment.is_present, ((0, 0), (0, missing)))),
    )
    return np.asarray(information, float)


@eqx.filter_jit
def _compare_priors(
    model: BehaviorModel,
    logs: Float[Array, "dataset draw parameter"],
    mean: Float[Array, " parameter"],
    sd: Float[Array, " parameter"],
) -> Float[Array, "dataset draw"]:
    """Log ratio of the prior of the parameters' logarithms and its Gaussian stand-in."""

    def one(z: Array) -> Array:
        ratio = model.log_prior(unpack(model, z)) + jnp.sum(z) + jnp.sum(((z - mean) / sd) ** 2) / 2
        return jnp.where(jnp.isnan(ratio) | ~_is_inside(model, z), -jnp.inf, ratio)

    return jax.vmap(jax.vmap(one))(logs)


def _is_inside(model: BehaviorModel, z: Float[Array, " parameter"]) -> Array:
    """Whether the priors allow these logarithms: densities say nothing reliable outside their support."""
    values = unpack(model, z)
    supports = {name: prior.support for name, prior in model.priors.items()}
    inside = [jnp.all((values[name] >= s.low) & (values[name] <= s.high)) for name, s in supports.items()]
    return jnp.all(jnp.stack(inside))


def _resample(log_ratio: Float[np.ndarray, "dataset draw"]) -> np.ndarray:
    """Systematic resampling; where no draw is allowed, all draws stay."""
    largest = log_ratio.max(axis=1, keepdims=True)
    weights = np.where(np.isfinite(largest), np.exp(log_ratio - np.where(np.isfinite(largest), largest, 0.0)), 1.0)
    ends = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    points = (np.arange(log_ratio.shape[1]) + 0.5) / log_ratio.shape[1]
    return np.stack([np.minimum(np.searchsorted(row, points), len(row) - 1) for row in ends])
