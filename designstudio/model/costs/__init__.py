"""Costs: how bad a response is. One cost a file; `base` teaches how to add one."""

from designstudio.model.costs.base import AbstractCost
from designstudio.model.costs.function import FunctionCost
from designstudio.model.costs.registry import (
    PAPER_COST_NAMES,
    available_costs,
    get_cost,
    load_cost_file,
    register_cost,
)

__all__ = [
    "PAPER_COST_NAMES",
    "AbstractCost",
    "FunctionCost",
    "available_costs",
    "get_cost",
    "load_cost_file",
    "register_cost",
]
