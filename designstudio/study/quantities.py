"""Quantities of interest: functions of the parameters that are scored like parameters.

From Python a quantity is any function of a dict of parameters that works on JAX arrays. In a study file it is a formula such
as "sigma_0 / sigma[0]". Formulas are read by a small parser of our own, never executed as Python: they know numbers,
parameters, + - * / **, parentheses, and the functions log, exp and sqrt. A parameter that differs between conditions is
written with the number of the condition, counted from 0; one that is shared may be.
"""

import ast
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp

from designstudio.errors import StudioError, UnknownNameError

LONGEST_FORMULA = 300

QuantityFunction = Callable[[Mapping[str, Any]], Any]

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {"log": jnp.log, "exp": jnp.exp, "sqrt": jnp.sqrt}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}


class PerCondition(tuple[Any, ...]):
    """Values of a parameter that differs between conditions, in their order."""


@dataclasses.dataclass(frozen=True)
class Quantity:
    """A function of the parameters.

    Attributes:
        name: how tables and figures call it.
        function: takes a dict from parameter names to arrays (`PerCondition` where they differ) and returns an array.
        text: what identifies the function: its formula, or a name with a version. Results are cached by it.
        unit: what it is measured in.
    """

    name: str
    function: QuantityFunction = dataclasses.field(compare=False)
    text: str
    unit: str = "no unit"

    @classmethod
    def from_formula(cls, name: str, formula: str, unit: str = "no unit") -> "Quantity":
        """A quantity from a formula.

        Raises:
            StudioError: if the formula cannot be read.
        """
        tree = _parse(formula)
        return cls(name, lambda values: _compute(tree, values, formula), formula, unit)


def _parse(formula: str) -> ast.expr:
    if len(formula) > LONGEST_FORMULA:
        raise StudioError(f"A formula may have {LONGEST_FORMULA} characters, but one of {len(formula)} was given.")
    try:
        tree = ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise StudioError(f"The formula {formula!r} cannot be read: write it like 'sigma_0 / sigma'.") from None
    _check(tree, formula)
    return tree


def _check(node: ast.expr, formula: str) -> None:
    """Refuse all but the few things a formula may contain."""
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float()) | ast.Name():
            return
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _check(left, formula)
            _check(right, formula)
            return
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand, formula)
            return
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
            _check(argument, formula)
            return
        case ast.Subscript(value=ast.Name(), slice=ast.Constant(value=int(index))) if not isinstance(index, bool):
            return
    raise StudioError(
        f"The formula {formula!r} contains {ast.unparse(node)!r}, but only numbers, parameters such as mu_0 or sigma[0], "
        f"+ - * / **, parentheses, {', '.join(_FUNCTIONS)} are allowed."
    )


def _compute(node: ast.expr, values: Mapping[str, Any], formula: str) -> Any:
    match node:
        case ast.Constant(value=int() | float() as value):
            # As an array: powers of whole numbers would take for ever, and 1 / 0 would be an error of Python's.
            return jnp.asarray(float(value))
        case ast.Name(id=name):
            return _look_up(name, None, values, formula)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(index))):
            return _look_up(name, index, values, formula)
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_compute(left, values, formula), _compute(right, values, formula))
        case ast.UnaryOp(operand=operand):
            return -_compute(operand, values, formula)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return _FUNCTIONS[name](_compute(argument, values, formula))
    raise AssertionError("_check has let through what _compute does not know.")


def _look_up(name: str, index: int | None, values: Mapping[str, Any], formula: str) -> Any:
    if name not in values:
        raise UnknownNameError(f"parameter in the formula {formula!r}", name, values)
    value = values[name]
    if not isinstance(value, PerCondition):
        return value
    if index is None:
        raise StudioError(f"{name!r} differs between conditions: write {name}[0] or another condition in {formula!r}.")
    if index >= len(value):
        raise StudioError(f"The formula {formula!r} asks for condition {index}, but there are {len(value)}, counted from 0.")
    return value[index]
