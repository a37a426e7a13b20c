"""The log-normal perception: Weber's law, and a belief in closed form.

The measurement of a stimulus s is log-normal around it, log m ~ Normal(log s, sigma). With the participant's log-normal
prior (mu_0, sigma_0) the belief about s is again log-normal, with median `exp(log_mu)` and log standard deviation `sigma`.
Everything stays in logarithms, so the belief is positive whatever a sampler proposes.

Units: `mu_0` shares the stimulus unit, every `sigma` is in log units (about a Weber fraction). Priors of
analysis and population are those of the paper (appendix D).
"""

import dataclasses
import functools
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from designstudio.model.parameters import STIMULUS_UNIT, Parameter, Role, noise_parameter, spread_evenly
from designstudio.model.perception.base import AbstractPerception, Participant, Scalar, TradeOff
from designstudio.model.priors import Interval, Uniform

MU_0_BOX = Interval(0.02, 20.0)
MU_0 = Parameter(
    "mu_0",
    "μ₀",
    "prior mean",
    STIMULUS_UNIT,
    support=Interval(0.0, math.inf),
    box=MU_0_BOX,
    training=spread_evenly(MU_0_BOX),
    analysis=Uniform(0.1, 5.0),
    population=Uniform(2.0, 5.0),
    role=Role.PRIOR_LOCATION,
    explanation="mean of the participant's prior belief about stimuli",
)
SIGMA_0 = noise_parameter("sigma_0", "σ₀", "prior uncertainty", "uncertainty of that belief", Role.PRIOR_SPREAD)
SIGMA = noise_parameter(
    "sigma", "σ", "perceptual uncertainty", "uncertainty of perceiving a stimulus", Role.PERCEPTUAL_NOISE
)


class Belief(eqx.Module):
    """A log-normal belief about the stimulus: log s ~ Normal(log_mu, sigma)."""

    log_mu: Float[Array, "..."]
    sigma: Float[Array, "..."]


def measure(stimuli: Float[Array, "..."], sigma: Float[Array, "..."], *, key: Key[Array, ""]) -> Float[Array, "..."]:
    """Draw one noisy measurement for each stimulus."""
    return stimuli * jnp.exp(sigma * jax.random.normal(key, jnp.shape(stimuli)))


@dataclasses.dataclass(frozen=True)
class LogNormalPerception(AbstractPerception):
    """Measurement, prior and belief are log-normal."""

    name = "log-normal"
    parameters = (MU_0, SIGMA_0, SIGMA)

    def encode(self, stimuli: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        return np.log(stimuli)

    def noise_scale(self, participant: Participant) -> Scalar:
        return participant["sigma"]

    def believe(self, measurement: Scalar, participant: Participant) -> Belief:
        """The belief after a measurement, given as its logarithm."""
        weight = self.measurement_weight(participant)
        log_mu = weight * measurement + (1 - weight) * self.log_prior_median(participant)
        return Belief(log_mu, self.belief_sigma(participant))

    def list_trade_offs(self, free: Collection[str], cost: Sequence[Parameter]) -> tuple[TradeOff, ...]:
        """The ratio that sets the slope of responses, and the product that sets their level."""
        trade_offs = []
        if "sigma_0" in free or "sigma" in free:
            trade_offs.append(TradeOff("sigma_0 / sigma", "σ₀ / σ", lambda values: values["sigma_0"] / values["sigma"]))
        own = next((parameter for parameter in cost if parameter.name in free), None)
        if own is not None and "mu_0" in free:
            name, symbol = f"log mu_0 (1 - w_m) + log {own.name}", f"(1-w) log μ₀ + log {own.symbol}"
            trade_offs.append(TradeOff(name, symbol, functools.partial(_trade_level, own.name)))
        return tuple(trade_offs)

    def log_prior_median(self, participant: Participant) -> Scalar:
        """Where the prior is, on the internal scale."""
        return jnp.log(participant["mu_0"])

    def belief_sigma(self, participant: Participant) -> Scalar:
        """Uncertainty of the belief: sigma_0 and sigma combined by their precisions."""
        sigma_0, sigma = participant["sigma_0"], participant["sigma"]
        return sigma_0 * sigma / jnp.hypot(sigma_0, sigma)

    def measurement_weight(self, participant: Participant) -> Scalar:
        """How much the measurement counts against the prior, w_m between 0 and 1."""
        sigma_0, sigma = participant["sigma_0"], participant["sigma"]
        return sigma_0**2 / (sigma_0**2 + sigma**2)


def _trade_level(name: str, values: Mapping[str, Any]) -> Any:
    """What the level of responses says of the prior's median and a cost parameter together."""
    ratio = values["sigma_0"] / values["sigma"]
    return np.log(values["mu_0"]) / (1 + ratio**2) + np.log(values[name])
