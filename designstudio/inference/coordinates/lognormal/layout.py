"""Which coordinates a model has, and the bounds of each: what is fixed, shared or per condition decides.

Bounds are kept finite: derivatives of infinite bounds are not numbers.
"""

from typing import cast

import jax
import jax.numpy as jnp
import numpy as np

from designstudio.model.actors.belief import AbstractBeliefActor
from designstudio.model.costs.base import AbstractBentCost
from designstudio.model.likelihood.model import BehaviorModel

SHARED, PER_CONDITION, FIXED = "shared", "per condition", "fixed"
# Where an unbounded prior ends.
NEGLIGIBLE_MASS = 1e-5
FARTHEST_LOG = 20.0


def state_of(model: BehaviorModel, name: str) -> str:
    if name in model.fixed:
        return FIXED
    return PER_CONDITION if name in model.per_condition else SHARED


def num_ratios(model: BehaviorModel) -> int:
    """How many coordinates are ratios of sigma_0 to sigma."""
    free = [name for name in ("sigma_0", "sigma") if name in model.free]
    return max((model.num_entries(name) for name in free), default=0)


def num_scales(model: BehaviorModel) -> int:
    """How many coordinates are scales of sigma_0 and sigma."""
    if "sigma_0" in model.fixed or "sigma" in model.fixed:
        return 0
    return min(model.num_entries("sigma_0"), model.num_entries("sigma"))


def trades_noise(model: BehaviorModel) -> bool:
    """Whether one residual variance is shared between perception and movement."""
    return num_scales(model) == 1 and "sigma_r" in model.free and model.num_entries("sigma_r") == 1


def bends_at_unit(model: BehaviorModel) -> bool:
    """Whether log saturation and level take the place of the cost's parameter and mu_0."""
    cost = model.actor.cost
    if not (isinstance(cost, AbstractBentCost) and isinstance(model.actor, AbstractBeliefActor)):
        return False
    names = ("mu_0", cost.parameters[0].name)
    return all(name in model.free and model.num_entries(name) == 1 for name in names)


def shape_of(model: BehaviorModel, name: str) -> tuple[int, ...]:
    return (model.num_conditions,) if name in model.per_condition else ()


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
    """Logarithms of a prior's bounds, kept finite."""
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
