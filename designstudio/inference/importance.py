"""Importance sampling in observable coordinates: no warm-up, no trees, one batch.

A proposal from the regression alone is nearly the posterior of a confounded design, and covers that of any other. A few
rounds improve it where the data say more: draw, weight by the exact posterior, temper the weights until enough draws count,
refit the mixture. Only the last round's draws are used, with their exact weights, so the rounds cost efficiency, never
correctness.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from designstudio.inference.coordinates import Start, find_start
from designstudio.inference.mixture import (
    Mixture,
    Noise,
    PreparedMixture,
    Weights,
    draw_from_mixture,
    draw_noise,
    mixture_log_density,
    place_components,
    prepare_mixture,
    refit_mixture,
    shape_noise,
    start_mixture,
)
from designstudio.inference.settings import ImportanceSettings
from designstudio.inference.target import evaluate_posterior
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations

# Log density of coordinates, and whatever else is found there.
Evaluated = tuple[Float[Array, ""], Any]


class Proposal(NamedTuple):
    """What the last draws came from: a mixture in units of the start."""

    expected: Start
    mixture: Mixture

    def draw(self, num_draws: int, *, key: Key[Array, ""]) -> Float[Array, "draw coordinate"]:
        """Independent draws, in coordinates."""
        return self._place(draw_from_mixture(self.mixture, self.expected.is_unidentified, num_draws, key=key))

    def shape(self, noise: Noise) -> Float[Array, "draw coordinate"]:
        """The same from random numbers that were drawn before."""
        return self._place(shape_noise(self.mixture, self.expected.is_unidentified, noise))

    def log_density(self, z: Float[Array, "draw coordinate"]) -> Weights:
        """Log density of coordinates."""
        return self.prepare().log_density(z)

    def _place(self, points: Float[Array, "draw coordinate"]) -> Float[Array, "draw coordinate"]:
        return self.expected.centre + self.expected.scale * points

    def prepare(self) -> "PreparedProposal":
        """For whoever wants the density of one point after the other."""
        return PreparedProposal(self.expected, prepare_mixture(self.mixture))


class PreparedProposal(NamedTuple):
    """A proposal whose density can be evaluated without solving anything."""

    expected: Start
    mixture: PreparedMixture

    def log_density(self, z: Float[Array, "draw coordinate"]) -> Weights:
        """Log density of coordinates."""
        points = (z - self.expected.centre) / self.expected.scale
        density = mixture_log_density(self.mixture, self.expected.is_unidentified, points)
        return density - jnp.sum(jnp.log(self.expected.scale))


class Found(NamedTuple):
    """What is found at coordinates: the parameters, the coordinates without bounds, and the log density of these.

    Only chains want to know the last two; see `ImportanceSettings.starts_chains`.
    """

    values: dict[str, Float[Array, "..."]]
    y: Float[Array, "*set coordinate"]
    log_density: Float[Array, "*set"]


class WeightedDraws(NamedTuple):
    """Draws of one data set, or of many along leading axes.

    Attributes:
        z: coordinates.
        found: what is there, by default a `Found`.
        log_weight: log posterior minus log proposal density, not normalised.
    """

    z: Float[Array, "*set block draw coordinate"]
    found: Any
    log_weight: Float[Array, "*set block draw"]


def draw_weighted(
    model: BehaviorModel,
    observations: Observations,
    settings: ImportanceSettings,
    state: Mixture | None = None,
    *,
    key: Key[Array, ""],
    evaluate: Callable[[Float[Array, " coordinate"]], Evaluated] | None = None,
) -> tuple[WeightedDraws, Proposal]:
    """Importance sampling of one data set's posterior.

    Args:
        model: the behaviour model.
        observations: one data set.
        settings: how many draws, and how often the proposal is refitted.
        state: proposal state of an earlier run, to go on from; without a share for any t component, start afresh.
        key: random key of this data set.
        evaluate: log density of coordinates, and what is found there; by default their posterior, and `Found`.

    Returns:
        Draws with leading axis block, and the proposal they came from.
    """
    place_key, draw_key = jax.random.split(key)
    expected = find_start(model, observations)

    def posterior(z: Float[Array, " coordinate"]) -> Evaluated:
        density, constrained = evaluate_posterior(model, z, observations, expected)
        return density, Found(constrained.values, constrained.y, density + constrained.log_slope)

    def weigh(mixture: Mixture, noise: Noise) -> WeightedDraws:
        proposal = Proposal(expected, mixture)
        z = proposal.shape(noise)
        density, found = jax.vmap(evaluate or posterior)(z)
        return WeightedDraws(z, found, density - proposal.log_density(z))

    def learn(mixture: Mixture, draws: WeightedDraws) -> Mixture:
        points = (draws.z - expected.centre) / expected.scale
        weights = temper(draws.log_weight, settings.block_size // 8)
        placed = place_components(mixture, points, weights, key=place_key)
        is_fresh = mixture.log_share[1] == -jnp.inf
        mixture = jax.tree.map(lambda new, old: jnp.where(is_fresh, new, old), placed, mixture)
        return jax.lax.fori_loop(
            0, settings.num_refits, lambda _, old: refit_mixture(old, expected.is_unidentified, points, weights), mixture
        )

    # One loop for draws to learn from and draws to keep: the posterior, most of the program, is compiled once.
    def step(mixture: Mixture, given: tuple[Array, Noise]) -> tuple[Mixture, WeightedDraws]:
        index, noise = given
        draws = weigh(mixture, noise)
        return jax.lax.cond(index < settings.num_rounds, learn, lambda mixture, _: mixture, mixture, draws), draws

    if state is None:
        state = jax.tree.map(jnp.asarray, start_mixture(expected.centre.shape[0], settings.num_components))
    steps = jnp.arange(settings.num_rounds + settings.num_blocks)
    keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(draw_key, steps)
    noise = jax.vmap(lambda key: draw_noise(settings.block_size, expected.centre.shape[0], key=key))(keys)
    mixture, draws = jax.lax.scan(step, state, (steps, noise))
    return jax.tree.map(lambda array: array[settings.num_rounds :], draws), Proposal(expected, mixture)


def temper(log_weights: Weights, num_effective: int) -> Weights:
    """Normalised weights to the largest power, at most 1, that leaves this many effective draws."""

    def effective(power: Array) -> Array:
        return effective_draws(power * log_weights)

    def halve(_: int, interval: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = interval
        middle = (low + high) / 2
        is_enough = effective(middle) >= num_effective
        return jnp.where(is_enough, middle, low), jnp.where(is_enough, high, middle)

    log_weights = jnp.where(jnp.any(jnp.isfinite(log_weights)), log_weights, 0.0)
    low, _ = jax.lax.fori_loop(0, 12, halve, (jnp.asarray(0.0), jnp.asarray(1.0)))
    power = jnp.where(effective(jnp.asarray(1.0)) >= num_effective, 1.0, low)
    # A power of 0 would give weight to what is impossible.
    return jax.nn.softmax(jnp.where(jnp.isfinite(log_weights), jnp.maximum(power, 1e-4) * log_weights, -jnp.inf))


def effective_draws(log_weights: Weights) -> Array:
    """Kish's effective number of draws."""
    normalised = jax.nn.softmax(log_weights)
    return 1 / jnp.sum(normalised**2)
