"""Formulas: arithmetic and nothing else."""

import math

import jax
import jax.numpy as jnp
import pytest

from designstudio.errors import StudioError, UnknownNameError
from designstudio.study.quantities import PerCondition, Quantity

VALUES = {
    "mu_0": jnp.array(1.5),
    "sigma_0": jnp.array(0.2),
    "sigma": PerCondition((jnp.array(0.1), jnp.array(0.4))),
    "beta": jnp.array(0.9),
}


def compute(formula, values=VALUES):
    return float(Quantity.from_formula("quantity", formula).function(values))


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("sigma_0 / sigma[0]", 2.0),
        ("sigma[1] / sigma[0]", 4.0),
        ("mu_0 * (1 - beta) + 2", 2.15),
        ("-mu_0 ** 2", -2.25),
        ("2 ** 3 ** 2 / mu_0", 512 / 1.5),
        ("1 - 2 - mu_0", -2.5),
        ("sqrt(sigma_0 ** 2 + sigma[1] ** 2)", math.hypot(0.2, 0.4)),
        ("log(mu_0) + exp(-beta)", math.log(1.5) + math.exp(-0.9)),
        ("  1e-1 * mu_0 ", 0.15),
        # A shared parameter is the same in every condition.
        ("mu_0[1]", 1.5),
    ],
)
def test_formulas_agree_with_hand_computed_values(formula, value):
    assert compute(formula) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(
    "formula",
    [
        "mu_0.real",
        "mu_0.__class__",
        "().__class__",
        "__import__('os')",
        "open('file')",
        "eval(mu_0)",
        "abs(mu_0)",
        "log(mu_0, 2)",
        "log(x=mu_0)",
        "log(*mu_0)",
        "(lambda: 1)()",
        "lambda x: x",
        "'text'",
        "f'{mu_0}'",
        "b'bytes'",
        "[x for x in sigma]",
        "sum(x for x in sigma)",
        "[1, 2]",
        "(1, 2)",
        "{1: 2}",
        "sigma[0:1]",
        "sigma[beta]",
        "sigma['0']",
        "sigma[0][0]",
        "log(mu_0)[0]",
        "mu_0 if beta else 1",
        "mu_0 < 1",
        "mu_0 and beta",
        "not mu_0",
        "~mu_0",
        "mu_0 // 2",
        "mu_0 % 2",
        "mu_0 @ beta",
        "mu_0 | 1",
        "(x := mu_0)",
        "True",
        "None",
        "1j",
        "...",
        "await mu_0",
        "1 + (mu_0.real)",
    ],
)
def test_anything_but_arithmetic_is_refused(formula):
    with pytest.raises(StudioError, match=r"^The formula .* (contains|cannot be read)"):
        Quantity.from_formula("quantity", formula)


@pytest.mark.parametrize("formula", ["", "  ", "sigma /", "a b", "import os", "x = 1", "1; 2", "(" * 200, "\0"])
def test_what_is_no_formula_is_refused_with_an_example(formula):
    with pytest.raises(StudioError, match="cannot be read: write it like 'sigma_0 / sigma'"):
        Quantity.from_formula("quantity", formula)


@pytest.mark.parametrize("name", ["sgma", "__builtins__", "log", "__class__"])
def test_a_name_is_a_parameter_or_nothing(name):
    with pytest.raises(UnknownNameError, match=rf"Unknown parameter in the formula '{name}' '{name}'\. Available: mu_0"):
        compute(name)


def test_a_parameter_that_differs_between_conditions_needs_the_number_of_one():
    with pytest.raises(StudioError, match=r"'sigma' differs between conditions: write sigma\[0\]"):
        compute("sigma_0 / sigma")
    with pytest.raises(StudioError, match="asks for condition 2, but there are 2, counted from 0"):
        compute("sigma[2]")


def test_gradients_go_through_a_formula():
    ratio = Quantity.from_formula("ratio", "sigma_0 / sigma[0] + log(mu_0)")

    def function(sigma_0, sigma, mu_0):
        return ratio.function({"sigma_0": sigma_0, "sigma": PerCondition((sigma, 1.0)), "mu_0": mu_0})

    gradient = jax.jit(jax.grad(function, argnums=(0, 1, 2)))(0.2, 0.1, 1.5)
    assert [float(slope) for slope in gradient] == pytest.approx([10.0, -20.0, 1 / 1.5], rel=1e-5)


def test_formulas_work_on_many_draws_at_once():
    values = {"mu_0": jnp.array([[1.0, 2.0]]), "beta": jnp.array([[0.5, 0.5]])}
    assert Quantity.from_formula("product", "mu_0 * beta").function(values).tolist() == [[0.5, 1.0]]


def test_quantities_are_the_same_if_their_formulas_are():
    assert Quantity.from_formula("a", "mu_0") == Quantity.from_formula("a", "mu_0")
    assert Quantity.from_formula("a", "mu_0") != Quantity.from_formula("a", "beta")


def test_a_formula_that_no_one_could_read_is_refused():
    with pytest.raises(StudioError, match="A formula may have 300 characters, but one of 5000"):
        Quantity.from_formula("long", "1" * 5000)


def test_huge_powers_and_divisions_by_zero_are_numbers_not_accidents():
    assert math.isinf(Quantity.from_formula("power", "9**9**9 * mu_0").function({"mu_0": 1.0}))
    assert math.isinf(Quantity.from_formula("ratio", "1 / 0 + mu_0").function({"mu_0": 1.0}))
