"""Simulated experiments: participants who respond to stimuli, as trials.

Participants are drawn from the fit's own prior (for calibration) or given. Each data set has its own random key, folded in
by its index, so adding data sets leaves the earlier ones unchanged.
"""

from collections.abc import Mapping, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Key
from numpyro.handlers import seed, substitute

from designstudio.behavior.generative import behave
from designstudio.behavior.model import BehaviorModel
from designstudio.behavior.observations import Observations, observe
from designstudio.errors import StudioError
from designstudio.parameters import Parameter, check_within
from designstudio.priors import PriorSet
from designstudio.trials import make_trials

Participants = xr.Dataset


def draw_participants(
    model: BehaviorModel, num_datasets: int, *, key: Key[Array, ""], population: PriorSet | None = None
) -> Participants:
    """Random participants, one for each data set.

    Args:
        model: which parameters there are, and which differ between conditions.
        num_datasets: how many.
        key: random key.
        population: where all parameters come from; by default the free ones come from the fit's own prior, the fixed ones
            from the parameters' population priors.

    Returns:
        One variable for each parameter, over dataset, or over dataset and condition.
    """
    priors = {parameter.name: parameter.population for parameter in model.parameters}
    priors.update(model.priors if population is None else population)

    def one(index: Array) -> dict[str, Array]:
        keys = jax.random.split(jax.random.fold_in(key, index), len(model.parameters))
        return {
            p.name: priors[p.name].distribution().sample(k, (model.num_conditions,) if p.name in model.per_condition else ())
            for k, p in zip(keys, model.parameters, strict=True)
        }

    values = jax.jit(jax.vmap(one))(jnp.arange(num_datasets))
    return label_participants(model.parameters, {name: np.asarray(value) for name, value in values.items()})


def label_participants(parameters: Sequence[Parameter], values: Mapping[str, np.ndarray]) -> Participants:
    """Participants as a Dataset: arrays over (dataset,) or (dataset, condition).

    Raises:
        StudioError: if a parameter is missing or impossible.
    """
    variables = {}
    for parameter in parameters:
        if parameter.name not in values:
            raise StudioError(f"Parameter {parameter.name!r} ({parameter.meaning}) of the participants is missing.")
        value = np.asarray(values[parameter.name], float)
        check_within(parameter.name, value, parameter.support, excludes_zero=True)
        attrs = {"long_name": parameter.meaning, "units": parameter.unit, "symbol": parameter.symbol}
        variables[parameter.name] = (("dataset", "condition")[: value.ndim], value, attrs)
    return xr.Dataset(variables)


def simulate_trials(
    model: BehaviorModel,
    participants: Participants,
    stimuli: Float[np.ndarray, "dataset condition trial"],
    *,
    key: Key[Array, ""],
    conditions: Sequence[str] | None = None,
) -> xr.Dataset:
    """Responses of each participant to their stimuli.

    Args:
        model: the actor behind the behaviour.
        participants: as made by `draw_participants`.
        stimuli: for each data set and condition.
        key: random key.
        conditions: labels.
    """
    num_datasets, num_conditions, num_trials = stimuli.shape
    label_participants(model.parameters, {str(name): array.values for name, array in participants.items()})
    for name, array in participants.items():
        if "condition" in array.dims and str(name) not in (*model.per_condition, *model.fixed):
            raise StudioError(
                f"The participants have one {name!r} for each condition, but the model shares it between conditions: "
                f"build the model with per_condition=[{str(name)!r}]."
            )
    values = {
        name: np.broadcast_to(array.values.reshape(num_datasets, -1), (num_datasets, num_conditions)).astype(np.float32)
        for name, array in participants.items()
    }
    is_present = np.ones(stimuli.shape, bool)
    # Every parameter is "fixed" to the participant's: the model then only has its noises left to draw.
    observations = observe(np.log(stimuli), np.zeros(stimuli.shape), is_present, {str(k): v for k, v in values.items()})
    responses = np.exp(np.asarray(_respond(model, observations, key), float)[..., :num_trials])
    index = np.broadcast_to(np.repeat(np.arange(num_conditions), num_trials), (num_datasets, num_conditions * num_trials))
    return make_trials(
        stimuli.reshape(num_datasets, -1),
        responses.reshape(num_datasets, -1),
        condition_index=index,
        conditions=conditions,
    )


@eqx.filter_jit
def _respond(model: BehaviorModel, observations: Observations, key: Key[Array, ""]) -> Array:
    """Log responses of all data sets from the generative model."""

    def one(index: Array, data: Observations) -> Array:
        given = {name: value if name in model.per_condition else value[0] for name, value in data.fixed.items()}
        data = eqx.tree_at(lambda d: d.fixed, data, {name: data.fixed[name] for name in model.fixed})
        subkey = jax.random.fold_in(key, index)
        return substitute(seed(behave, subkey), data=given)(model, data, likelihood="latent", is_observed=False)

    num_datasets = observations.log_stimulus.shape[0]
    return jax.vmap(one)(jnp.arange(num_datasets), observations)


def draw_stimuli(
    num_datasets: int, num_conditions: int, num_trials: int, *, low: float, high: float, key: Key[Array, ""]
) -> Float[np.ndarray, "dataset condition trial"]:
    """Stimuli spread uniformly from low to high."""
    keys = jax.vmap(lambda index: jax.random.fold_in(key, index))(jnp.arange(num_datasets))
    draw = jax.vmap(lambda k: jax.random.uniform(k, (num_conditions, num_trials), minval=low, maxval=high))
    return np.asarray(draw(keys), float)
