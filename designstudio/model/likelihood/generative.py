"""The one numpyro model of behaviour: it simulates when no responses are given and conditions on them when they are.

`likelihood="marginal"` integrates the measurements out, as every fit of the studio does. `likelihood="latent"` keeps one
latent measurement for each trial, as in the paper; it is the cross-check, and what the benchmark compares with.
"""

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jaxtyping import Array, Float

from designstudio.errors import UnknownNameError
from designstudio.model.likelihood.model import BehaviorModel, Values
from designstudio.model.likelihood.observations import Observations

LIKELIHOODS = ("marginal", "latent")


def behave(
    model: BehaviorModel,
    observations: Observations,
    *,
    likelihood: str = "marginal",
    is_observed: bool = True,
) -> Float[Array, "condition trial"]:
    """A numpyro model of one data set.

    Args:
        model: actor, priors, and which parameters are free.
        observations: stimuli, and responses if they are observed.
        likelihood: `marginal` or `latent`.
        is_observed: whether to condition on the responses; if not, they are simulated (site `response`).

    Returns:
        Responses, on their scale.
    """
    if likelihood not in LIKELIHOODS:
        raise UnknownNameError("likelihood", likelihood, LIKELIHOODS)
    values: Values = {}
    for name, prior in model.priors.items():
        shape = (model.num_conditions,) if name in model.per_condition else ()
        values[name] = numpyro.sample(name, prior.distribution().expand(shape).to_event(len(shape)))
    if is_observed and likelihood == "marginal":
        numpyro.factor("responses", model.log_likelihood(values, observations))
        return observations.response
    participants = model.broadcast_to_conditions(values, observations.fixed)
    # One standard normal for each trial, scaled afterwards: the sampler then sees measurements on a common scale.
    noise = numpyro.sample("noise", dist.Normal(0, 1).expand(observations.stimulus.shape).to_event(2))
    action = jax.vmap(_act, in_axes=(None, 0, 0, 0))(model, participants, observations.stimulus, noise)
    respond, of_response = model.family.response.respond, {name: value[:, None] for name, value in participants.items()}
    if not is_observed:
        # Motor noise has a site of its own, so that a simulation can give two designs the same noise.
        motor_noise = numpyro.sample("motor_noise", dist.Normal(0, 1).expand(action.shape).to_event(2))
        return numpyro.deterministic("response", respond(action, of_response, motor_noise))
    scale = jnp.broadcast_to(model.family.response.noise_scale(of_response), action.shape)
    responses = dist.Normal(action, scale).mask(observations.is_present).to_event(2)
    return numpyro.sample("response", responses, obs=observations.response)


def _act(
    model: BehaviorModel, participant: Values, stimulus: Float[Array, " trial"], noise: Float[Array, " trial"]
) -> Float[Array, " trial"]:
    """Actions in one condition."""
    return jax.vmap(model.actor.policy(participant))(model.family.perception.measure(stimulus, participant, noise))
