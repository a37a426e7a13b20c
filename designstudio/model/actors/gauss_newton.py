"""Training on the expected cost by its Newton steps: seconds instead of hours.

For each example the expected cost has a slope and a curvature at the network's action, and slope / curvature, the Newton
step, says how far the action is from optimal: near the optimum it *is* the relative error. No solution is ever computed;
the decision problem's own expected cost is all that is used. Making the squared Newton steps small is a nonlinear
least-squares problem in about a thousand weights, and for that size the Levenberg-Marquardt method beats stochastic
gradients by far: every update solves the linearised problem, with a damping that grows after a failure.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from designstudio.model.actors.accuracy import Decisions, draw_decisions
from designstudio.model.actors.base import AbstractActor
from designstudio.model.actors.belief import PERCEPTION, RESPONSE
from designstudio.model.costs.base import AbstractCost, total_noise
from designstudio.model.parameters import spread_evenly
from designstudio.model.perception.base import Participant, Scalar
from designstudio.model.priors import PriorSet

FIRST_DAMPING = 1e-2
SMALLEST_DAMPING = 1e-5
# Weights with hardly any influence are damped as if they had this share of the average influence.
LEAST_INFLUENCE = 1e-3
# How many standard deviations measurements scatter at most among the examples at the ends of the box.
REACH = 3.2


class GaussNewtonState(eqx.Module):
    """Actor and damping."""

    actor: AbstractActor
    damping: Scalar

    @classmethod
    def start(cls, actor: AbstractActor) -> "GaussNewtonState":
        return cls(actor, jnp.asarray(FIRST_DAMPING, float))


def advance(
    state: GaussNewtonState, first_step: Array, num_steps: int, *, batch_size: int, key: Key[Array, ""]
) -> GaussNewtonState:
    """Several updates, each on fresh examples. Step i always sees the same examples, so training can be resumed."""
    dynamic, static = eqx.partition(state, eqx.is_array)

    def body(dynamic: GaussNewtonState, step: Array) -> tuple[GaussNewtonState, None]:
        decisions = draw_examples(state.actor, batch_size, key=jax.random.fold_in(key, step))
        updated = _update(eqx.combine(dynamic, static), decisions)
        return eqx.filter(updated, eqx.is_array), None

    dynamic, _ = jax.lax.scan(body, dynamic, first_step + jnp.arange(num_steps))
    return eqx.combine(dynamic, static)


def draw_examples(actor: AbstractActor, num_examples: int, *, key: Key[Array, ""]) -> Decisions:
    """Half from the training priors, most others spread evenly, an eighth at the ends: corners are learnt, too."""
    typical_key, wide_key, end_key = jax.random.split(key, 3)
    priors, num_wide, num_ends = actor.training_priors, 3 * num_examples // 8, num_examples // 8
    evenly = PriorSet({name: spread_evenly(prior.support) for name, prior in priors.items()})
    parts = [
        draw_decisions(actor.cost, num_examples - num_wide - num_ends, priors=priors, key=typical_key),
        draw_decisions(actor.cost, num_wide, priors=evenly, key=wide_key),
        _draw_at_ends(evenly, num_ends, key=end_key),
    ]
    return jax.tree.map(lambda *arrays: jnp.concatenate(arrays), *parts)


def _draw_at_ends(evenly: PriorSet, num_decisions: int, *, key: Key[Array, ""]) -> Decisions:
    """Decisions with the density of Chebyshev's nodes, which are dense at the ends of every range.

    Prior and perception are equally uncertain, because only then is the belief as uncertain as it can be.
    """
    names = [*evenly, "scatter"]
    keys = dict(zip(names, jax.random.split(key, len(names)), strict=True))
    places = {name: (1 - jnp.cos(jnp.pi * jax.random.uniform(keys[name], (num_decisions,)))) / 2 for name in names}
    participants = {name: prior.distribution().icdf(places[name]) for name, prior in evenly.items()}
    participants["sigma_0"] = participants["sigma"]
    scatter = REACH * participants["sigma"] * (2 * places["scatter"] - 1)
    return Decisions(participants, jnp.log(participants["mu_0"]) + scatter)


def newton_step(cost: AbstractCost, participant: Participant, log_measurement: Scalar, log_action: Scalar) -> Scalar:
    """How far log_action is from the optimum, judged by slope and curvature of the expected cost."""
    belief = PERCEPTION.believe(log_measurement, participant)
    sigma_r = RESPONSE.noise_scale(participant)
    cost_parameters = {parameter.name: participant[parameter.name] for parameter in cost.parameters}
    slope, curvature = jax.jvp(
        lambda x: cost.slope(x, belief, sigma_r, cost_parameters), (log_action,), (jnp.ones_like(log_action),)
    )
    # Where the cost is not convex the Newton step would climb, so only the curvature's size is used; and far away, where
    # the curvature vanishes, one step of the size of the noise is enough.
    noise = total_noise(belief, sigma_r)
    return jnp.clip(slope / jnp.maximum(jnp.abs(curvature), 1e-12), -noise, noise)


def _update(state: GaussNewtonState, decisions: Decisions) -> GaussNewtonState:
    trainable, fixed = eqx.partition(state.actor, eqx.is_inexact_array)
    weights, unravel = ravel_pytree(trainable)
    cost = state.actor.cost

    def act(weights: Float[Array, " weight"], participant: Participant, log_measurement: Scalar) -> Scalar:
        return eqx.combine(unravel(weights), fixed).policy(participant)(log_measurement)

    def residual(weights: Float[Array, " weight"], participant: Participant, log_measurement: Scalar) -> Scalar:
        return newton_step(cost, participant, log_measurement, act(weights, participant, log_measurement))

    examples = (decisions.participants, decisions.log_measurements)
    residuals = jax.vmap(residual, (None, 0, 0))(weights, *examples)
    # A Newton step changes one for one with the action, so the actions' Jacobian is the residuals'.
    jacobian = jax.vmap(jax.grad(act), (None, 0, 0))(weights, *examples)
    normal = jacobian.T @ jacobian
    influence = jnp.diag(normal) + LEAST_INFLUENCE * jnp.mean(jnp.diag(normal))
    damped = normal + state.damping * jnp.diag(influence)
    change = jax.scipy.linalg.solve(damped, jacobian.T @ residuals, assume_a="pos")
    before = jnp.mean(residuals**2)
    after = jnp.mean(jax.vmap(residual, (None, 0, 0))(weights - change, *examples) ** 2)
    is_better = after < before  # False for NaN: a failed solve is only damped more
    return GaussNewtonState(
        actor=eqx.combine(unravel(jnp.where(is_better, weights - change, weights)), fixed),
        damping=jnp.where(is_better, jnp.maximum(state.damping / 3, SMALLEST_DAMPING), state.damping * 4),
    )
