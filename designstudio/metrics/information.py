"""Expected information: what a design would tell, without simulating a single response.

Around a participant's policy log r is close to Gaussian, with mean h(log s) and variance (h'(log s) sigma)^2 + sigma_r^2;
for power-law costs this is exact. The expected (Fisher) information about the logarithms of the parameters is then a sum
over trials of two outer products.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from designstudio.model.likelihood.model import BehaviorModel, Values


@eqx.filter_jit
def expected_information(
    model: BehaviorModel,
    log_values: Float[Array, "dataset parameter"],
    fixed: dict[str, Float[Array, "dataset condition"]],
    log_stimulus: Float[Array, "dataset condition trial"],
    is_present: Bool[Array, "condition trial"],
) -> Float[Array, "dataset parameter parameter"]:
    """Information of each data set about the logarithms of the free parameters.

    Args:
        model: what is fitted.
        log_values: logarithms of the free parameters in the model's order, conditions after each other.
        fixed: values of the known parameters.
        log_stimulus: of every trial.
        is_present: which trials there are.
    """

    def one(z: Array, fixed: Values, x: Array) -> Array:
        def moments(z: Array) -> tuple[tuple[Array, Array], Array]:
            mean, log_variance = predict_responses(model, unpack(model, z), fixed, x)
            return (mean, log_variance), log_variance

        (by_mean, by_variance), log_variance = jax.jacfwd(moments, has_aux=True)(z)
        weight = jnp.where(is_present, jnp.exp(-log_variance), 0.0)
        of_mean = jnp.einsum("kti,ktj,kt->ij", by_mean, by_mean, weight)
        return of_mean + jnp.einsum("kti,ktj,kt->ij", by_variance, by_variance, jnp.where(is_present, 0.5, 0.0))

    return jax.vmap(one)(log_values, fixed, log_stimulus)


def unpack(model: BehaviorModel, z: Float[Array, " parameter"]) -> Values:
    """Parameters from the vector of their logarithms."""
    values, start = {}, 0
    for name in model.free:
        num = model.num_entries(name)
        part = jnp.exp(z[start : start + num])
        values[name] = part if name in model.per_condition else part[0]
        start += num
    return values


def predict_responses(
    model: BehaviorModel, values: Values, fixed: Values, log_stimulus: Float[Array, "condition trial"]
) -> tuple[Float[Array, "condition trial"], Float[Array, "condition trial"]]:
    """Mean and log variance of the log response to each stimulus."""

    def one_condition(participant: Values, x: Float[Array, " trial"]) -> tuple[Array, Array]:
        policy = model.actor.policy(participant)
        mean, slope = jax.vmap(lambda s: jax.jvp(policy, (s,), (jnp.ones_like(s),)))(x)
        perception, response = model.family.perception, model.family.response
        variance = (slope * perception.noise_scale(participant)) ** 2 + response.noise_scale(participant) ** 2
        return mean, jnp.log(variance)

    return jax.vmap(one_condition)(model.broadcast_to_conditions(values, fixed), log_stimulus)
