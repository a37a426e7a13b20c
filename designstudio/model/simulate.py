"""Simulated experiments: participants who respond to stimuli, as trials.

Random numbers are common to all experiments with the same key. Each is drawn for its own data set, condition and trial (or,
for participants, parameter), so that data set 7 has the same quantiles of the population, the same places of its stimuli and
the same noise in every design: designs differ by what they are, not by luck, and adding data sets, conditions or trials
leaves the earlier ones unchanged.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Bool, Float, Int, Key
from numpyro.handlers import substitute

from designstudio.core.arrays import map_batches
from designstudio.core.randomness import hash_name
from designstudio.errors import StudioError
from designstudio.model.likelihood.generative import behave
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations, bucket_size, observe
from designstudio.model.parameters import Parameter, check_within
from designstudio.model.priors import AbstractPrior
from designstudio.model.trials import make_trials

Participants = xr.Dataset
# Simulating is quick and compiling is not: all smaller numbers of trials share one program.
SMALLEST_BUCKET = 128


class Contamination(NamedTuple):
    """What no fit of the model expects in its data.

    Attributes:
        lapse_rate: share of trials in which the response has nothing to do with the stimulus: it is spread evenly, on
            the scale of responses, over the range of the stimuli.
        outlier_rate: share of trials whose response is off.
        outlier_scale: standard deviation of that error, on the scale of responses.
    """

    lapse_rate: float = 0.0
    outlier_rate: float = 0.0
    outlier_scale: float = 1.0

    def check(self) -> None:
        """Refuse impossible rates and scales."""
        for name in ("lapse_rate", "outlier_rate"):
            if not 0 <= getattr(self, name) <= 1:
                raise StudioError(f"{name} must be from 0 to 1, but {getattr(self, name):g} was given.")
        if not self.outlier_scale > 0:
            raise StudioError(f"outlier_scale must be positive, but {self.outlier_scale:g} was given.")


NO_CONTAMINATION = Contamination()


def draw_participants(
    model: BehaviorModel,
    num_datasets: int,
    *,
    key: Key[Array, ""],
    population: Mapping[str, AbstractPrior | Sequence[AbstractPrior]] | None = None,
    first: int = 0,
    numbers: Int[np.ndarray, " dataset"] | None = None,
) -> Participants:
    """Random participants, one for each data set.

    Args:
        model: which parameters there are, and which differ between conditions.
        num_datasets: how many.
        key: random key.
        population: where parameters come from, or where they come from in each condition; by default the free ones come
            from the fit's own prior, the fixed ones from the parameters' population priors.
        first: number of the first data set.
        numbers: of all data sets, if they do not follow each other.

    Returns:
        One variable for each parameter, over dataset, or over dataset and condition.
    """
    priors: dict[str, AbstractPrior | Sequence[AbstractPrior]] = {p.name: p.population for p in model.parameters}
    priors.update(model.priors if population is None else population)
    numbers = np.arange(first, first + num_datasets) if numbers is None else numbers
    # By name, so that a parameter has the same numbers whatever other parameters there are.
    streams = np.array([hash_name(parameter.name) for parameter in model.parameters])
    uniforms = _clip(map_batches(lambda numbers: _draw_streams(key, streams, numbers, model.num_conditions), numbers))
    values = {}
    for parameter, uniform in zip(model.parameters, np.moveaxis(uniforms, 1, 0), strict=True):
        num_entries = model.num_conditions if parameter.name in model.per_condition else 1
        prior = priors[parameter.name]
        by_condition = [prior] * num_entries if isinstance(prior, AbstractPrior) else prior
        drawn = np.stack([by_condition[k].quantile(uniform[:, k]) for k in range(num_entries)], axis=1)
        values[parameter.name] = drawn if parameter.name in model.per_condition else drawn[:, 0]
    return label_participants(model.parameters, values, numbers)


def draw_scores(
    names: Sequence[str], numbers: Int[np.ndarray, " dataset"], num_conditions: int, *, key: Key[Array, ""]
) -> Float[np.ndarray, "dataset name condition"]:
    """A standard normal number of each data set, for each name and condition; none depends on which others there are."""
    streams = np.array([hash_name(name) for name in names])
    uniforms = map_batches(lambda numbers: _draw_streams(key, streams, numbers, num_conditions), numbers)
    return np.asarray(jax.scipy.special.ndtri(_clip(uniforms)), float)


def label_participants(
    parameters: Sequence[Parameter], values: Mapping[str, np.ndarray], numbers: Int[np.ndarray, " dataset"] | None = None
) -> Participants:
    """Participants as a Dataset: arrays over (dataset,) or (dataset, condition), with their numbers if these are given.

    Raises:
        StudioError: if a parameter is missing or impossible.
    """
    check_participants(parameters, values)
    variables = {}
    for parameter in parameters:
        value = np.asarray(values[parameter.name], float)
        attrs = {"long_name": parameter.meaning, "units": parameter.unit, "symbol": parameter.symbol}
        variables[parameter.name] = (("dataset", "condition")[: value.ndim], value, attrs)
    return xr.Dataset(variables, coords={} if numbers is None else {"dataset": numbers})


def check_participants(parameters: Sequence[Parameter], values: Mapping[str, np.ndarray]) -> None:
    """Refuse participants of whom a parameter is missing or impossible."""
    for parameter in parameters:
        if parameter.name not in values:
            raise StudioError(f"Parameter {parameter.name!r} ({parameter.meaning}) of the participants is missing.")
        check_within(parameter.name, np.asarray(values[parameter.name], float), parameter.support, excludes_zero=True)


def simulate_trials(
    model: BehaviorModel,
    participants: Participants,
    stimuli: Float[np.ndarray, "dataset condition trial"],
    *,
    key: Key[Array, ""],
    is_present: Bool[np.ndarray, "condition trial"] | None = None,
    conditions: Sequence[str] | None = None,
    contamination: Contamination = NO_CONTAMINATION,
) -> xr.Dataset:
    """Responses of each participant to their stimuli.

    Args:
        model: the actor behind the behaviour.
        participants: as made by `draw_participants`; numbered from 0 if they have no numbers.
        stimuli: for each data set and condition.
        key: random key.
        is_present: which trials each condition has, if they differ; the stimuli of others are ignored.
        conditions: labels.
        contamination: lapses and outliers.
    """
    contamination.check()
    num_datasets, num_conditions, num_trials = stimuli.shape
    check_participants(model.parameters, {str(name): array.values for name, array in participants.items()})
    for name, array in participants.items():
        if "condition" in array.dims and str(name) not in (*model.per_condition, *model.fixed):
            raise StudioError(
                f"The participants have one {name!r} for each condition, but the model shares it between conditions: "
                f"build the model with per_condition=[{str(name)!r}]."
            )
    values = {
        str(name): np.broadcast_to(array.values.reshape(num_datasets, -1), (num_datasets, num_conditions))
        for name, array in participants.items()
    }
    numbers = participants["dataset"].values
    is_present = np.ones(stimuli.shape[1:], bool) if is_present is None else is_present
    everywhere = np.broadcast_to(is_present, stimuli.shape)
    # Every parameter is "fixed" to the participant's: the model then only has its noises left to draw.
    perception, response = model.family.perception, model.family.response
    observations = observe(perception.encode(stimuli), np.zeros(stimuli.shape), everywhere, values, SMALLEST_BUCKET)
    found = map_batches(lambda numbers, data: _respond(model, data, numbers, key), numbers, observations)
    responses = found.astype(float)[..., :num_trials]
    responses = _contaminate(responses, response.encode(stimuli), everywhere, contamination, numbers, key)
    index = np.broadcast_to(np.repeat(np.arange(num_conditions), num_trials), (num_datasets, num_conditions * num_trials))
    # Laid out without the gaps that conditions with fewer trials have.
    kept = np.flatnonzero(is_present.ravel())
    return make_trials(
        stimuli.reshape(num_datasets, -1)[:, kept],
        response.decode(responses).reshape(num_datasets, -1)[:, kept],
        condition_index=index[:, kept],
        conditions=conditions,
        subjects=[str(number) for number in numbers],
        numbers=numbers,
    )


@eqx.filter_jit
def _respond(
    model: BehaviorModel, observations: Observations, numbers: Int[np.ndarray, " dataset"], key: Key[Array, ""]
) -> Array:
    """Responses of all data sets from the generative model, on their scale."""

    def one(number: Array, data: Observations) -> Array:
        given = {name: value if name in model.per_condition else value[0] for name, value in data.fixed.items()}
        data = eqx.tree_at(lambda d: d.fixed, data, {name: data.fixed[name] for name in model.fixed})
        noises = {
            name: _draw_by_condition(jax.random.normal, jax.random.fold_in(key, k), number, *data.stimulus.shape)
            for k, name in enumerate(("noise", "motor_noise"))
        }
        return substitute(behave, data={**given, **noises})(model, data, likelihood="latent", is_observed=False)

    return jax.vmap(one)(jnp.asarray(numbers), observations)


def _contaminate(
    response: np.ndarray,
    stimulus: np.ndarray,
    is_present: np.ndarray,
    contamination: Contamination,
    numbers: Int[np.ndarray, " dataset"],
    key: Key[Array, ""],
) -> np.ndarray:
    """Replace some responses by lapses, and move others; stimuli are on the scale of the responses."""
    if not (contamination.lapse_rate or contamination.outlier_rate):
        return response
    num_conditions, num_trials = response.shape[1:]
    which, place, is_outlier, size = (
        draw_uniform(numbers, num_conditions, num_trials, key=jax.random.fold_in(key, k)) for k in range(2, 6)
    )
    low, high = stimulus[is_present].min(), stimulus[is_present].max()
    lapsed = np.where(which < contamination.lapse_rate, low + (high - low) * place, response)
    factor = np.asarray(jax.scipy.special.ndtri(np.clip(size, 1e-6, 1 - 1e-6))) * contamination.outlier_scale
    return np.where(is_outlier < contamination.outlier_rate, lapsed + factor, lapsed)


def draw_stimuli(
    num_datasets: int, num_conditions: int, num_trials: int, *, low: float, high: float, key: Key[Array, ""]
) -> Float[np.ndarray, "dataset condition trial"]:
    """Stimuli spread uniformly from low to high."""
    return low + (high - low) * draw_uniform(np.arange(num_datasets), num_conditions, num_trials, key=key)


def draw_uniform(
    numbers: Int[np.ndarray, " dataset"], num_conditions: int, num_trials: int, *, key: Key[Array, ""]
) -> Float[np.ndarray, "dataset condition trial"]:
    """Random numbers between 0 and 1 for the data sets of these numbers."""
    # As many as fill a bucket, so that numbers of trials share programs; a longer row begins like a shorter one.
    num = bucket_size(num_trials, SMALLEST_BUCKET)
    return _clip(map_batches(lambda numbers: _draw_uniform(key, numbers, num_conditions, num), numbers))[..., :num_trials]


def _clip(uniform: np.ndarray) -> np.ndarray:
    # Quantiles of 0 are the edge of a support, where densities may be infinite.
    return np.clip(uniform.astype(float), 1e-7, 1 - 1e-7)


@eqx.filter_jit
def _draw_streams(
    key: Key[Array, ""], streams: Int[np.ndarray, " parameter"], numbers: Int[np.ndarray, " dataset"], num_conditions: int
) -> Float[Array, "dataset parameter condition"]:
    """One random number for every data set, parameter and condition."""

    def one(stream: Any) -> Array:
        return _draw_uniform(jax.random.fold_in(key, stream), numbers, num_conditions, 1)[..., 0]

    return jax.vmap(one, out_axes=1)(streams)


@eqx.filter_jit
def _draw_uniform(key: Key[Array, ""], numbers: Int[np.ndarray, " dataset"], num_conditions: int, num_trials: int) -> Array:
    return jax.vmap(lambda number: _draw_by_condition(jax.random.uniform, key, number, num_conditions, num_trials))(numbers)


def _draw_by_condition(
    sampler: Callable[..., Array], key: Key[Array, ""], number: Array, num_conditions: int, num_trials: int
) -> Float[Array, "condition trial"]:
    """Random numbers of one data set. Drawn as vectors, of which a longer one begins like a shorter one."""
    keys = jax.vmap(lambda k: jax.random.fold_in(jax.random.fold_in(key, number), k))(jnp.arange(num_conditions))
    return jax.vmap(lambda k: sampler(k, (num_trials,)))(keys)
