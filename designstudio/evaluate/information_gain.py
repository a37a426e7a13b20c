"""How much data tell about a participant: log p(data | parameters) - log p(data), in nats.

Averaged over participants from the analysis prior this is the expected information gain (mutual information of parameters
and data); over other participants it is what these may expect. p(data) is the evidence that importance sampling finds. For
prior and cost alone, the other parameters (noises) are integrated out: log p(data | prior, cost) - log p(data).

Where the analysis has room for lapses, their rate is one of those others, and its truth that of the population. A rate that
is known has to be the true one. Where lapses may lie the analysis takes from the responses, as it does with measured ones.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from designstudio.core.arrays import map_batches, put
from designstudio.core.randomness import make_key
from designstudio.evaluate.experiment import Experiment
from designstudio.inference.mixture import Mixture, draw_from_mixture, mixture_log_density, prepare_mixture
from designstudio.inference.settings import FitSettings
from designstudio.inference.task import Task
from designstudio.metrics.base import ALL, PRIOR_COST
from designstudio.metrics.information import expected_information, unpack
from designstudio.model.likelihood.lapses import FREE_LAPSES, LAPSE_RATE
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations, bucket_size
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
    observations: Observations,
    logs: Float[np.ndarray, "dataset parameter"],
    prior_log_covariance: Float[np.ndarray, "parameter parameter_other"],
    log_evidence: Float[np.ndarray, " dataset"],
    settings: FitSettings,
) -> Float[np.ndarray, "dataset part"]:
    """Gains of every data set, about all parameters and about prior and cost; NaN where they are not defined.

    Args:
        study: the question.
        experiment: participants and stimuli.
        observations: their trials.
        logs: logarithms of the true free parameters but for the lapse rate, in the model's order; NaN where there are none.
        prior_log_covariance: of the analysis prior.
        log_evidence: of every data set.
        settings: of the fits that found it.
    """
    model, numbers = experiment.fitted, experiment.participants["dataset"].values
    if np.isnan(logs).any() or not follows_analysis_model(study):
        return np.full((len(numbers), len(PARTS)), np.nan)
    task = Task.prepare(model, observations, numbers, settings, study.seed)
    exact = None if task.is_exact else task.observations
    places = _list_nuisance(model)
    if LAPSE_RATE.name in model.free:
        # The last of all parameters. Without lapses their rate has no logarithm; this one is never looked at.
        logs = np.pad(logs, ((0, 0), (0, 1)))
    root = _find_roots(experiment, logs, np.diag(prior_log_covariance), places)
    given = (logs.astype(np.float32), root.astype(np.float32), task.sampled, exact, numbers.astype(np.int32))
    key = make_key(study.seed, "noises")
    rate = put(study.population.lapse_rate)
    found = map_batches(lambda *batch: _average_likelihood(task.model, places, batch, rate, key), *given)
    at_truth, average = (array.astype(float) for array in found)
    # Both are minus infinity where no parameters that the fit allows could have made the responses.
    with np.errstate(invalid="ignore"):
        gains = np.stack([at_truth, at_truth + average], axis=1) - log_evidence[:, None]
    return np.where(np.isfinite(gains), gains, np.nan)


def follows_analysis_model(study: Study) -> bool:
    """Whether participants do what the analysis assumes, so that the likelihood of their parameters means something."""
    population, known = study.population, study.analysis.known.values()
    rate = 0.0 if study.analysis.known_lapse_rate is None else study.analysis.known_lapse_rate
    may_lapse = study.analysis.lapses == FREE_LAPSES
    is_spoilt = bool(population.outlier_rate) or (population.lapse_rate != rate and not may_lapse)
    is_misled = any(one.value is not None or one.factor != 1 for one in known)
    return population.cost in (None, study.cost) and not is_spoilt and not is_misled


def _list_nuisance(model: BehaviorModel) -> tuple[int, ...]:
    """Places of the free numbers that belong neither to the participant's prior nor to the cost, nor are the lapse rate."""
    wanted = {LAPSE_RATE.name}
    wanted |= {parameter.name for parameter in model.parameters if parameter.role.is_prior}
    wanted |= {parameter.name for parameter in model.actor.cost.parameters}
    return tuple(place for place, name in enumerate(model.free_entries) if name not in wanted)


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
    is_present = put(np.pad(experiment.is_present, ((0, 0), (0, missing))), bool)
    information = map_batches(
        lambda logs, fixed, x: expected_information(experiment.fitted, logs, fixed, x, is_present),
        logs.astype(np.float32),
        {name: values.astype(np.float32) for name, values in fixed.items()},
        np.pad(stimuli, ((0, 0), (0, 0), (0, missing))).astype(np.float32),
    )
    chosen = np.nan_to_num(information.astype(float)[:, places][:, :, places])
    # The prior's own precision keeps this away from singular matrices, whatever the data tell.
    values, vectors = np.linalg.eigh(chosen + np.diag(1 / prior_variance[list(places)]))
    covariance = (vectors / np.maximum(values, 1e-6)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    return INFLATION * np.linalg.cholesky(covariance + 1e-8 * np.eye(len(places)))


@eqx.filter_jit
def _average_likelihood(
    model: BehaviorModel,
    places: tuple[int, ...],
    given: tuple[Array, Array, Observations, Observations | None, Int[Array, " dataset"]],
    lapse_rate: Float[Array, ""],
    key: Key[Array, ""],
) -> tuple[Float[Array, " dataset"], Float[Array, " dataset"]]:
    """Log likelihood of the true parameters, and by how much that of true prior and cost differs, noises integrated out.

    The fast likelihood stands once in the program, for the truth and for noises around it; where it is exact, no other does.
    """

    def one(dataset: tuple[Array, Array, Observations, Observations | None, Int[Array, ""]]) -> tuple[Array, Array]:
        logs, root, fast, exact, number = dataset
        values = _set_rate(model, unpack(model, logs), lapse_rate)
        may_lapse = LAPSE_RATE.name in model.free
        if not places and not may_lapse:
            return model.log_likelihood(values, fast if exact is None else exact, is_fast=exact is None), jnp.zeros(())
        share = jnp.log(jnp.array([FAR_SHARE, 1 - FAR_SHARE]))
        mixture = Mixture(share, jnp.zeros((1, len(places))), root[None])
        is_unidentified = (False,) * len(places)
        own_key = jax.random.fold_in(key, number)
        offsets = draw_from_mixture(mixture, is_unidentified, NUM_DRAWS, key=own_key)
        num_trials = jnp.sum((fast if exact is None else exact).moments.count)
        rates, log_density = _draw_rates(lapse_rate, num_trials, key=jax.random.fold_in(own_key, 2))
        place = np.array(places, int)

        def weigh(offset: Array, rate: Array) -> tuple[Array, Array]:
            moved = _set_rate(model, unpack(model, logs.at[place].add(offset)), rate)
            names = {model.free_entries[at] for at in places} | ({LAPSE_RATE.name} if may_lapse else set())
            log_slope = jnp.sum(logs[place] + offset)
            return model.log_likelihood(moved, fast, is_fast=True), _noise_log_prior(model, moved, names) + log_slope

        # The truth comes first.
        moves, tried = jnp.pad(offsets, ((1, 0), (0, 0))), jnp.concatenate([lapse_rate[None], rates])
        log_likelihood, log_prior = jax.vmap(weigh)(moves, tried)
        log_weight = log_likelihood[1:] + log_prior[1:]
        log_weight -= mixture_log_density(prepare_mixture(mixture), is_unidentified, offsets)
        log_weight -= log_density if may_lapse else 0.0
        log_weight = jnp.where(jnp.isnan(log_weight), -jnp.inf, log_weight)
        average = jax.nn.logsumexp(log_weight) - jnp.log(NUM_DRAWS)
        fast_at_truth = log_likelihood[0]
        at_truth = fast_at_truth if exact is None else model.log_likelihood(values, exact)
        return at_truth, average - fast_at_truth

    return jax.lax.map(one, given, batch_size=CHUNK_SIZE)


def _set_rate(model: BehaviorModel, values: dict[str, Array], rate: Array) -> dict[str, Array]:
    """The same parameters with this rate of lapses, if it is free."""
    return {**values, LAPSE_RATE.name: rate} if LAPSE_RATE.name in model.free else values


def _draw_rates(
    truth: Float[Array, ""], num_trials: Float[Array, ""], *, key: Key[Array, ""]
) -> tuple[Float[Array, " draw"], Float[Array, " draw"]]:
    """Lapse rates from around what this many trials leave open, and their log density: of an exponential distribution."""
    mean = truth + 2 / num_trials
    rates = mean * jax.random.exponential(key, (NUM_DRAWS,))
    return rates, -rates / mean - jnp.log(mean)


def _noise_log_prior(model: BehaviorModel, values: dict[str, Array], names: set[str]) -> Array:
    """Log prior density of the noises; minus infinity outside their support, where densities say nothing reliable."""
    total = jnp.zeros(())
    for name in sorted(names):
        prior, value = model.priors[name], values[name]
        is_inside = (value >= prior.support.low) & (value <= prior.support.high)
        total += jnp.sum(jnp.where(is_inside, prior.distribution().log_prob(value), -jnp.inf))
    return total
