"""The ends of each parameter's prior, kept finite: derivatives of infinite bounds are not numbers."""

from typing import cast

import jax
import jax.numpy as jnp
import numpy as np

from designstudio.model.costs.base import AbstractBentCost
from designstudio.model.likelihood.model import BehaviorModel

# Where an unbounded prior ends.
NEGLIGIBLE_MASS = 1e-5
FARTHEST_LOG = 20.0


def is_logarithmic(model: BehaviorModel, name: str) -> bool:
    return model.priors[name].is_logarithmic


def coordinate_bounds(model: BehaviorModel, name: str) -> tuple[float, float]:
    """Bounds of a cost parameter's coordinate; an unbounded prior ends where it has hardly any mass left."""
    prior = model.priors[name]
    low, high = prior.support.low, prior.support.high
    if not (np.isfinite(high) and (low > 0 or not is_logarithmic(model, name))):
        with jax.ensure_compile_time_eval():
            ends = np.asarray(prior.distribution().icdf(jnp.array([NEGLIGIBLE_MASS, 1 - NEGLIGIBLE_MASS])), float)
        low, high = max(low, ends[0]), min(high, ends[1])
    return (float(np.log(low)), float(np.log(high))) if is_logarithmic(model, name) else (low, high)


def log_bounds(model: BehaviorModel, name: str) -> tuple[float, float]:
    """Logarithms of a prior's bounds, kept finite: derivatives of infinite bounds are not numbers."""
    support = model.priors[name].support
    with np.errstate(divide="ignore"):
        low, high = np.clip(np.log([support.low, support.high]), -FARTHEST_LOG, FARTHEST_LOG)
    return float(low), float(high)


def unit_bounds(model: BehaviorModel) -> tuple[float, float]:
    """Logarithms of the least and the greatest unit, kept finite."""
    cost = cast(AbstractBentCost, model.actor.cost)
    name = cost.parameters[0].name
    support = model.priors[name].support
    with jax.ensure_compile_time_eval():
        ends = np.sort([float(cost.log_unit({name: jnp.asarray(end)})) for end in (support.low, support.high)])
    low, high = np.clip(ends, -FARTHEST_LOG / 2, FARTHEST_LOG / 2)
    return float(low), float(high)
