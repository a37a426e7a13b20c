"""The paper's way of training: stochastic gradients of the cost, averaged over sampled beliefs and responses.

RMSProp with learning rate 1e-4, 256 examples a step, 128 beliefs x 128 responses for each (section 3.1.1 of the paper).
Kept so that the two ways can be compared; any actor can be trained by either.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Key

from designstudio.model.actors.accuracy import draw_decisions
from designstudio.model.actors.base import AbstractActor
from designstudio.model.actors.belief import PERCEPTION, RESPONSE
from designstudio.model.costs.linex import TRUNCATION, Linex
from designstudio.model.perception.base import Participant, Scalar

NUM_SAMPLES = 128
OPTIMIZER = optax.rmsprop(1e-4)


class MonteCarloState(eqx.Module):
    """Actor and optimizer state."""

    actor: AbstractActor
    optimizer_state: optax.OptState

    @classmethod
    def start(cls, actor: AbstractActor) -> "MonteCarloState":
        return cls(actor, OPTIMIZER.init(eqx.filter(actor, eqx.is_inexact_array)))


def advance(
    state: MonteCarloState, first_step: Array, num_steps: int, *, batch_size: int, key: Key[Array, ""]
) -> MonteCarloState:
    """Several gradient steps, each on fresh examples. Step i always sees the same examples."""
    dynamic, static = eqx.partition(state, eqx.is_array)

    def body(dynamic: MonteCarloState, step: Array) -> tuple[MonteCarloState, None]:
        state = eqx.combine(dynamic, static)
        trainable, fixed = eqx.partition(state.actor, eqx.is_inexact_array)
        decision_key, noise_key = jax.random.split(jax.random.fold_in(key, step))
        decisions = draw_decisions(state.actor.cost, batch_size, priors=state.actor.training_priors, key=decision_key)
        noise_keys = jax.random.split(noise_key, batch_size)

        def loss(trainable: AbstractActor) -> Scalar:
            actor = eqx.combine(trainable, fixed)
            costs = jax.vmap(lambda *example: sampled_cost(actor, *example))
            return jnp.mean(costs(decisions.participants, decisions.log_measurements, noise_keys))

        updates, optimizer_state = OPTIMIZER.update(jax.grad(loss)(trainable), state.optimizer_state)
        actor = eqx.combine(eqx.apply_updates(trainable, updates), fixed)
        return eqx.filter(MonteCarloState(actor, optimizer_state), eqx.is_array), None

    dynamic, _ = jax.lax.scan(body, dynamic, first_step + jnp.arange(num_steps))
    return eqx.combine(dynamic, static)


def sampled_cost(actor: AbstractActor, participant: Participant, log_measurement: Scalar, key: Key[Array, ""]) -> Scalar:
    """Mean cost over sampled beliefs and responses; differentiable in the action."""
    log_action = actor.policy(participant)(log_measurement)
    belief = PERCEPTION.believe(log_measurement, participant)
    belief_key, response_key = jax.random.split(key)
    is_linex = isinstance(actor.cost, Linex)
    draw = _draw_truncated if is_linex else _draw_normal
    stimuli = jnp.exp(belief.log_mu + belief.sigma * draw(belief_key))
    responses = jnp.exp(log_action + RESPONSE.noise_scale(participant) * draw(response_key))
    cost_parameters = {parameter.name: participant[parameter.name] for parameter in actor.cost.parameters}
    if is_linex:
        return _log_mean_linex(cost_parameters["alpha"] * (responses - stimuli[:, None]))
    return jnp.mean(actor.cost(responses, stimuli[:, None], cost_parameters))


def _draw_normal(key: Key[Array, ""]) -> Float[Array, " sample"]:
    return jax.random.normal(key, (NUM_SAMPLES,))


def _draw_truncated(key: Key[Array, ""]) -> Float[Array, " sample"]:
    return jax.random.truncated_normal(key, -TRUNCATION, TRUNCATION, (NUM_SAMPLES,))


def _log_mean_linex(scaled: Float[Array, "stimulus response"]) -> Scalar:
    """Logarithm of the mean of exp(x) - x - 1: the same minimum, where the mean itself overflows 32-bit floats."""
    is_small = jnp.abs(scaled) < 1e-2
    near = jnp.where(is_small, scaled, 1e-2)
    log_near = jnp.log(jnp.maximum(near**2 / 2 * (1 + near / 3), 1e-30))
    far = jnp.where(is_small, 1.0, scaled)
    largest = jnp.maximum(far, 0.0)
    log_far = largest + jnp.log(jnp.exp(far - largest) - (far + 1) * jnp.exp(-largest))
    return jax.nn.logsumexp(jnp.where(is_small, log_near, log_far))
