"""The proposal of importance sampling: a mixture that learns from its own weighted draws.

One component comes from the regression and stays as it is: Student's t along what the data determine, uniform along
unidentified directions. It keeps the tails heavy. The others are multivariate t's, refitted by weighted
expectation-maximisation (population Monte Carlo). Everything is for one data set, in *standard units*: the start's centre
is 0 and its scale (for an unidentified direction, half of the allowed range) is 1.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln
from jaxtyping import Array, Float, Key

DEGREES = 4
# The regression's component is wider than the regression's error, and always keeps a share of the draws.
REGRESSION_INFLATION = 1.5
SMALLEST_REGRESSION_SHARE = 0.1
# How many draws the overall covariance counts for in that of a component, beyond one for each coordinate.
PRIOR_DRAWS = 2

# On the host before anything is learnt, on a device after that.
AnyArray = Any
Points = Float[Array, "draw coordinate"]
Weights = Float[Array, " draw"]
IsUnidentified = tuple[bool, ...]


class Mixture(NamedTuple):
    """A proposal.

    Attributes:
        log_share: log share of each component, the regression's first.
        mean: centres of the t components.
        factor: lower triangular factors of their scale matrices.
    """

    log_share: Float[AnyArray, " component"]
    mean: Float[AnyArray, "t coordinate"]
    factor: Float[AnyArray, "t coordinate coordinate"]


class Noise(NamedTuple):
    """Random numbers of draws: of their coordinates, and of their component and how far out they lie."""

    normal: Float[Array, "draw coordinate"]
    uniform: Float[Array, "draw number"]


class PreparedMixture(NamedTuple):
    """The same, ready to be evaluated again and again.

    Attributes:
        log_share: log share of each component; of t components minus the log determinant of their factor.
        mean: centres of the t components.
        inverse: of their factors.
    """

    log_share: Float[Array, " component"]
    mean: Float[Array, "t coordinate"]
    inverse: Float[Array, "t coordinate coordinate"]


def prepare_mixture(mixture: Mixture) -> PreparedMixture:
    """What does not depend on where the density is wanted."""
    identity = jnp.broadcast_to(jnp.eye(mixture.mean.shape[-1]), mixture.factor.shape)
    inverse = jax.scipy.linalg.solve_triangular(mixture.factor, identity, lower=True)
    log_det = jnp.sum(jnp.log(jnp.diagonal(mixture.factor, axis1=-2, axis2=-1)), axis=-1)
    return PreparedMixture(mixture.log_share - jnp.concatenate([jnp.zeros(1), log_det]), mixture.mean, inverse)


def start_mixture(num_coordinates: int, num_components: int) -> Mixture:
    """Only the regression's component has a share; the others wait for `place_components`."""
    # On the host: on a device every line would be compiled for itself.
    share = np.full(num_components + 1, -np.inf, np.float32)
    share[0] = 0.0
    factor = np.broadcast_to(np.eye(num_coordinates, dtype=np.float32), (num_components, num_coordinates, num_coordinates))
    return Mixture(share, np.zeros((num_components, num_coordinates), np.float32), factor)


def draw_from_mixture(mixture: Mixture, is_unidentified: IsUnidentified, num_draws: int, *, key: Key[Array, ""]) -> Points:
    """Independent draws."""
    return shape_noise(mixture, is_unidentified, draw_noise(num_draws, mixture.mean.shape[-1], key=key))


def draw_noise(num_draws: int, num_coordinates: int, *, key: Key[Array, ""]) -> Noise:
    """The random numbers of so many draws, whatever the mixture: on a CPU many at once take half the time."""
    normal_key, uniform_key = jax.random.split(key)
    normal = jax.random.normal(normal_key, (num_draws, num_coordinates))
    return Noise(normal, jax.random.uniform(uniform_key, (num_draws, 1 + DEGREES // 2)))


def shape_noise(mixture: Mixture, is_unidentified: IsUnidentified, noise: Noise) -> Points:
    """Draws of a mixture from random numbers."""
    normal, uniforms = noise
    # A chi-square of four degrees is twice the sum of two exponentials: cheaper than a gamma sampler, and exact.
    stretch = jnp.sqrt(DEGREES / -2 / jnp.sum(jnp.log1p(-uniforms[:, 1:]), axis=1))[:, None]
    from_t = mixture.mean + jnp.einsum("tij,nj->nti", mixture.factor, normal) * stretch[:, None]
    uniform = jax.scipy.special.erf(normal / np.sqrt(2))
    from_regression = jnp.where(np.array(is_unidentified), uniform, REGRESSION_INFLATION * normal * stretch)
    ends = jnp.cumsum(jnp.exp(mixture.log_share))
    component = jnp.sum(uniforms[:, :1] > ends[:-1], axis=1)
    candidates = jnp.concatenate([from_regression[:, None], from_t], axis=1)
    return jnp.take_along_axis(candidates, component[:, None, None], axis=1)[:, 0]


def mixture_log_density(mixture: PreparedMixture, is_unidentified: IsUnidentified, points: Points) -> Weights:
    """Log density of the mixture."""
    return jax.nn.logsumexp(_component_terms(mixture, is_unidentified, points)[0], axis=1)


def place_components(mixture: Mixture, points: Points, weights: Weights, *, key: Key[Array, ""]) -> Mixture:
    """Put the t components on draws, each as wide as all draws together."""
    num_components, num = mixture.mean.shape
    factor = jnp.linalg.cholesky(_guard(weighted_moments(points, weights)[1]))
    ends = jnp.cumsum(weights)
    chosen = jnp.searchsorted(ends, jax.random.uniform(key, (num_components,)) * ends[-1])
    share = jnp.concatenate([jnp.array([0.2]), jnp.full(num_components, 0.8 / num_components)])
    return Mixture(jnp.log(share), points[chosen], jnp.broadcast_to(factor, (num_components, num, num)))


def refit_mixture(mixture: Mixture, is_unidentified: IsUnidentified, points: Points, weights: Weights) -> Mixture:
    """One step of expectation-maximisation on weighted draws.

    Each component's scale is drawn towards that of all draws by as much as a few draws would: a component that few draws
    support cannot collapse.
    """
    num_draws_effective = 1 / jnp.sum(weights**2)
    num = points.shape[1]
    log_terms, squares = _component_terms(prepare_mixture(mixture), is_unidentified, points)
    responsibility = jax.nn.softmax(log_terms, axis=1) * weights[:, None]
    share = jnp.sum(responsibility, axis=0)
    pull = responsibility[:, 1:] * (DEGREES + num) / (DEGREES + squares)
    pull_sum = jnp.sum(pull, axis=0)[:, None]
    overall_mean, overall = weighted_moments(points, weights)
    centred = points - overall_mean
    mean = (pull.T @ centred) / (pull_sum + 1e-12)
    scatter = jax.vmap(lambda p: (centred * p[:, None]).T @ centred, in_axes=1)(pull)
    scatter -= pull_sum[:, :, None] * mean[:, :, None] * mean[:, None, :]
    count = share[1:] * num_draws_effective
    prior_count = num + PRIOR_DRAWS
    scale = (scatter * num_draws_effective + prior_count * 0.5 * overall) / (count + prior_count)[:, None, None]
    # A component without support goes back to the middle.
    mean = overall_mean + (count / (count + 1.0))[:, None] * mean
    regression_share = jnp.clip(share[0], SMALLEST_REGRESSION_SHARE, 0.9)
    t_share = jnp.maximum(share[1:], 1e-3)
    t_share = t_share / jnp.sum(t_share) * (1 - regression_share)
    log_share = jnp.log(jnp.concatenate([regression_share[None], t_share]))
    return Mixture(log_share, mean, jnp.linalg.cholesky(jax.vmap(_guard)(scale)))


def weighted_moments(points: Points, weights: Weights) -> tuple[Float[Array, " i"], Float[Array, "i j"]]:
    """Mean and covariance."""
    mean = weights @ points
    centred = points - mean
    return mean, (centred * weights[:, None]).T @ centred


def _component_terms(
    mixture: PreparedMixture, is_unidentified: IsUnidentified, points: Points
) -> tuple[Float[Array, "n m"], Float[Array, "n t"]]:
    """Log density of every component, shares included, and squared distances to the t components."""
    num = points.shape[-1]

    def one(mean: Float[Array, " i"], inverse: Float[Array, "i j"]) -> Weights:
        return jnp.sum(((points - mean) @ inverse.T) ** 2, axis=1)

    squares = jax.vmap(one, out_axes=1)(mixture.mean, mixture.inverse)
    log_densities = _t_log_density(squares, num)
    unidentified = np.flatnonzero(is_unidentified)
    determined = np.flatnonzero(~np.array(is_unidentified))
    regression = _t_log_density(jnp.sum((points[:, determined] / REGRESSION_INFLATION) ** 2, axis=1), determined.size)
    regression -= determined.size * np.log(REGRESSION_INFLATION) + unidentified.size * np.log(2)
    regression = jnp.where(jnp.all(jnp.abs(points[:, unidentified]) <= 1, axis=1), regression, -jnp.inf)
    return jnp.concatenate([regression[:, None], log_densities], axis=1) + mixture.log_share, squares


def _t_log_density(squares: Weights, num: int) -> Weights:
    """Log density of a standard multivariate t."""
    constant = gammaln((DEGREES + num) / 2) - gammaln(DEGREES / 2) - num / 2 * np.log(DEGREES * np.pi)
    return constant - (DEGREES + num) / 2 * jnp.log1p(squares / DEGREES)


def _guard(covariance: Float[Array, "i j"]) -> Float[Array, "i j"]:
    """Keep a scale matrix away from singularity."""
    return covariance + jnp.diag(1e-4 + 1e-3 * jnp.diagonal(covariance))
