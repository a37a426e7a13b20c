"""How much data tell about a participant: log p(data | parameters) - log p(data), in nats.

Averaged over participants from the analysis prior this is the expected information gain (mutual information of parameters
and data); over other participants it is what these may expect. p(data) is the evidence that importance sampling finds. For
prior and cost alone, the other parameters (noises) are integrated out: log p(data | prior, cost) - log p(data).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int, Key

from designstudio.core.arrays import put
from designstudio.core.randomness import make_key
from designstudio.evaluate.experiment import Experiment
from designstudio.inference.mixture import Mixture, draw_from_mixture, mixture_log_density, prepare_mixture
from designstudio.inference.settings import FitSettings
from designstudio.inference.task import Task
from designstudio.metrics.base import ALL, PRIOR_COST
from designstudio.metrics.information import expected_information, unpack
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations, bucket_size
from designstudio.model.likelihood.packing import pack_trials
from designstudio.model.simulate import SMALLEST_BUCKET
from designstudio.study import Study

PARTS = (ALL, PRIOR_COST)
# Draws of the noises over which a data set's likelihood is averaged. They come from around the truth, half as wide again as
# the information says, and some from far around.
NUM_DRAWS = 128
INFLATION, FAR_SHARE = 1.5, 0.1
# Data sets that are worked on at once.
CHUNK_SIZE = 10


def compute_gains(
    study: Study,
    experiment: Experiment,
    trials: xr.Dataset,
    logs: Float[np.ndarray, "dataset parameter"],
    prior_log_covariance: Float[np.ndarray, "parameter parameter_other"],
    log_evidence: Float[np.ndarray, " dataset"],
    settings: FitSettings,
) -> Float[np.ndarray, "dataset part"]:
    """Gains of every data set, about all parameters and about prior and cost; NaN where they are not defined.

    They are not for an analysis with lapses: without any, the share of them has no logarithm.

    Args:
        study: the question.
        experiment: participants and stimuli.
        trials: their responses.
        logs: logarithms of the true free parameters, in the model's order; NaN where there are none.
        prior_log_covariance: of the analysis prior.
        log_evidence: of every data set.
        settings: of the fits that found it.
    """
    model, numbers = experiment.fitted, trials["dataset"].values
    if model.has_lapses or np.isnan(logs).any() or not follows_analysis_model(study):
        return np.full((len(numbers), len(PARTS)), np.nan)
    task = Task.prepare(model, pack_trials(trials, model, experiment.fixed), numbers, settings, study.seed)
    exact = task.sampled if task.is_exact else task.observations
    places = _list_nuisance(model)
    root = _find_roots(experiment, logs, np.diag(prior_log_covariance), places)
    given = (put(logs), put(root), task.sampled, exact, put(numbers, np.int32))
    key = make_key(study.seed, "noises")
    at_truth, average = (np.asarray(array, float) for array in _average_likelihood(task.model, places, given, key))
    # Both are minus infinity where no parameters that the fit allows could have made the responses.
    with np.errstate(invalid="ignore"):
        gains = np.stack([at_truth, at_truth + average], axis=1) - log_evidence[:, None]
    return np.where(np.isfinite(gains), gains, np.nan)


def follows_analysis_model(study: Study) -> bool:
    """Whether participants do what the analysis assumes, so that the likelihood of their parameters means something."""
    population, known = study.population, study.analysis.known.values()
    is_spoilt = bool(population.lapse_rate or population.outlier_rate)
    is_misled = any(one.value is not None or one.factor != 1 for one in known)
    return population.cost in (None, study.cost) and not is_spoilt and not is_misled


def _list_nuisance(model: BehaviorModel) -> tuple[int, ...]:
    """Places of the free numbers that belong neither to the participant's prior nor to the cost."""
    wanted = {parameter.name for parameter in model.parameters if parameter.role.is_prior}
    wanted |= {parameter.name for parameter in model.actor.cost.parameters}
    names = [name for name in model.free for _ in range(model.num_entries(name))]
    return tuple(place for place, name in enumerate(names) if name not in wanted)


def _find_roots(
    experiment: Experiment, logs: np.ndarray, prior_variance: np.ndarray, places: tuple[int, ...]
) -> Float[np.ndarray, "dataset noise noise_other"]:
    """Factors of what the information leaves open about the noises if prior and cost are known."""
    num_datasets, num_conditions, num_trials = experiment.stimuli.shape
    missing = bucket_size(num_trials, SMALLEST_BUCKET) - num_trials
    fixed = {
        name: np.broadcast_to(experiment.fixed[name].values.reshape(num_datasets, -1), (num_datasets, num_conditions))
        for name in experiment.fitted.fixed
    }
    stimuli = experiment.fitted.family.perception.encode(experiment.stimuli)
    information = expected_information(
        experiment.fitted,
        put(logs),
        {name: put(values) for name, values in fixed.items()},
        put(np.pad(stimuli, ((0, 0), (0, 0), (0, missing)))),
        put(np.pad(experiment.is_present, ((0, 0), (0, missing))), bool),
    )
    chosen = np.nan_to_num(np.asarray(information, float)[:, places][:, :, places])
    # The prior's own precision keeps this away from singular matrices, whatever the data tell.
    values, vectors = np.linalg.eigh(chosen + np.diag(1 / prior_variance[list(places)]))
    covariance = (vectors / np.maximum(values, 1e-6)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    return INFLATION * np.linalg.cholesky(covariance + 1e-8 * np.eye(len(places)))


@eqx.filter_jit
def _average_likelihood(
    model: BehaviorModel,
    places: tuple[int, ...],
    given: tuple[Array, Array, Observations, Observations, Int[Array, " dataset"]],
    key: Key[Array, ""],
) -> tuple[Float[Array, " dataset"], Float[Array, " dataset"]]:
    """Log likelihood of the true parameters, and by how much that of true prior and cost differs, noises integrated out."""

    def one(dataset: tuple[Array, Array, Observations, Observations, Int[Array, ""]]) -> tuple[Array, Array]:
        logs, root, fast, exact, number = dataset
        values = unpack(model, logs)
        at_truth = model.log_likelihood(values, exact)
        if not places:
            return at_truth, jnp.zeros(())
        share = jnp.log(jnp.array([FAR_SHARE, 1 - FAR_SHARE]))
        mixture = Mixture(share, jnp.zeros((1, len(places))), root[None])
        is_unidentified = (False,) * len(places)
        offsets = draw_from_mixture(mixture, is_unidentified, NUM_DRAWS, key=jax.random.fold_in(key, number))

        def weigh(offset: Array) -> Array:
            moved = unpack(model, logs.at[jnp.array(places)].add(offset))
            log_slope = jnp.sum(logs[jnp.array(places)] + offset)
            return model.log_likelihood(moved, fast, is_fast=True) + _noise_log_prior(model, moved, places) + log_slope

        log_weight = jax.vmap(weigh)(offsets) - mixture_log_density(prepare_mixture(mixture), is_unidentified, offsets)
        log_weight = jnp.where(jnp.isnan(log_weight), -jnp.inf, log_weight)
        average = jax.nn.logsumexp(log_weight) - jnp.log(NUM_DRAWS)
        return at_truth, average - model.log_likelihood(values, fast, is_fast=True)

    return jax.lax.map(one, given, batch_size=CHUNK_SIZE)


def _noise_log_prior(model: BehaviorModel, values: dict[str, Array], places: tuple[int, ...]) -> Array:
    """Log prior density of the noises; minus infinity outside their support, where densities say nothing reliable."""
    names = [name for name in model.free for _ in range(model.num_entries(name))]
    total = jnp.zeros(())
    for name in {names[place] for place in places}:
        prior, value = model.priors[name], values[name]
        is_inside = (value >= prior.support.low) & (value <= prior.support.high)
        total += jnp.sum(jnp.where(is_inside, prior.distribution().log_prob(value), -jnp.inf))
    return total
