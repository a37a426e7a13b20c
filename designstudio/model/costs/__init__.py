"""Costs: how bad a response is. One cost a file; `base` teaches how to add one."""

from designstudio.model.costs.base import AbstractCost
from designstudio.model.costs.function import FunctionCost
from designstudio.model.costs.registry import (
    COSTS,
    PAPER_COST_NAMES,
    add_cost,
    available_costs,
    find_family,
    get_cost,
    load_cost_file,
    register_cost,
)

__all__ = [
    "COSTS",
    "PAPER_COST_NAMES",
    "AbstractCost",
    "FunctionCost",
    "add_cost",
    "available_costs",
    "find_family",
    "get_cost",
    "load_cost_file",
    "register_cost",
]
