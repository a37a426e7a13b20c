"""Which coordinates a model has: what is fixed, shared or per condition decides."""

from designstudio.model.actors.belief import AbstractBeliefActor
from designstudio.model.costs.base import AbstractBentCost
from designstudio.model.likelihood.model import BehaviorModel

SHARED, PER_CONDITION, FIXED = "shared", "per condition", "fixed"


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
