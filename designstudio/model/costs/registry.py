"""All costs by name: the seven of the paper, and those that a user registers."""

from collections.abc import Callable
from pathlib import Path

from designstudio.core.registry import Registry
from designstudio.errors import CostDefinitionError
from designstudio.model.costs.absolute import Absolute
from designstudio.model.costs.absolute_effort import AbsoluteEffort
from designstudio.model.costs.asymmetric_quadratic import AsymmetricQuadratic
from designstudio.model.costs.base import FAMILIES, OTHER, AbstractCost
from designstudio.model.costs.function import CostFunction, FunctionCost, check_cost, load_module
from designstudio.model.costs.inverted_gaussian import InvertedGaussian
from designstudio.model.costs.linex import Linex
from designstudio.model.costs.quadratic import Quadratic
from designstudio.model.costs.quadratic_effort import QuadraticEffort
from designstudio.model.parameters import Parameter

# In the order of the paper's table: symmetric, symmetric with effort, asymmetric.
COSTS: Registry[AbstractCost] = Registry(
    "cost",
    {
        cost.name: cost
        for cost in (
            Absolute(),
            Quadratic(),
            InvertedGaussian(),
            AbsoluteEffort(),
            QuadraticEffort(),
            AsymmetricQuadratic(),
            Linex(),
        )
    },
)

PAPER_COST_NAMES = tuple(COSTS)


def get_cost(name: str) -> AbstractCost:
    """The cost called `name`.

    Raises:
        UnknownNameError: if there is none; the message lists those there are.
    """
    return COSTS.find(name)


def available_costs() -> dict[str, AbstractCost]:
    """Every cost by name, user-written ones last."""
    return dict(COSTS)


def find_family(name: str) -> str:
    """The family that a cost belongs to; one that is not registered any more, or names none of the families, is `other`."""
    kind = COSTS[name].kind if name in COSTS else OTHER
    return kind if kind in FAMILIES else OTHER


def add_cost(cost: AbstractCost) -> None:
    """Register a cost of a class of its own; `designstudio.model.costs.base` teaches how to write one.

    Raises:
        CostDefinitionError: if the name is taken by one of the package's costs, or the cost cannot work.
    """
    if cost.name in PAPER_COST_NAMES:
        raise CostDefinitionError(f"The name {cost.name!r} belongs to a cost of the package; choose another.")
    check_cost(cost)
    COSTS.register(cost.name, cost)


def register_cost(
    *parameters: Parameter, name: str | None = None, formula: str = "user-written", meaning: str = ""
) -> Callable[[CostFunction], FunctionCost]:
    """Decorate a function of (response, stimulus, parameters) to make it a cost; see `designstudio.model.costs.function`.

    Raises:
        CostDefinitionError: if the name is taken by one of the package's costs, or the function cannot work.
    """

    def register(function: CostFunction) -> FunctionCost:
        cost = FunctionCost(name or function.__name__, function, parameters, formula, meaning)
        add_cost(cost)
        return cost

    return register


def load_cost_file(path: str | Path) -> list[AbstractCost]:
    """Run a user's Python file and return the costs that it registered.

    Raises:
        CostDefinitionError: if the file is missing, fails, or registers no cost.
    """
    before = available_costs()
    load_module(Path(path))
    registered = [cost for name, cost in COSTS.items() if before.get(name) is not cost]
    if not registered:
        raise CostDefinitionError(
            f"The cost file {Path(path).name!r} registers no cost: decorate a function with @register_cost()."
        )
    return registered
