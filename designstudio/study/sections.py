"""Who is simulated, what a fit assumes, and what is asked, in a study file."""

import ast
from collections.abc import Collection, Mapping
from typing import Any

from designstudio.model.costs import AbstractCost, available_costs, get_cost
from designstudio.model.parameters import Parameter
from designstudio.study.analysis import Analysis, Known
from designstudio.study.entry import Entry
from designstudio.study.goals import EXCLUDES, KINDS, Goal
from designstudio.study.population import Population
from designstudio.study.prior_entries import parameters_by_name, read_names, read_priors, read_range, read_value
from designstudio.study.quantities import Quantity

TRUTH = "truth"
# A formula is walked by functions that call themselves, once for each operation.
LONGEST_FORMULA = 300
_POPULATION_KEYS = ("cost", "follows_analysis", "lapse_rate", "outlier_rate", "outlier_scale")
_ANALYSIS_KEYS = ("priors", "known", "per_condition", "shared")
_GOAL_KEYS = ("kind", "quantity", "value", "margin", "width", "group")


def read_cost(entry: Entry) -> AbstractCost:
    """A cost by its name."""
    return get_cost(entry.choose("cost", available_costs()))


def read_population(entry: Entry, fitted: AbstractCost) -> Population:
    """Who is simulated; the cost is the fitted one unless the section names another."""
    has_cost = isinstance(entry.value, dict) and "cost" in entry.value
    cost = read_cost(entry.child("cost")) if has_cost else fitted
    parameters = parameters_by_name(cost)
    table = entry.table((*parameters, *_POPULATION_KEYS), like="a section of parameters")
    given: dict[str, Any] = {"cost": cost.name} if has_cost else {}
    for key in ("lapse_rate", "outlier_rate"):
        if key in table:
            given[key] = table[key].number(0, 1)
    if "follows_analysis" in table:
        given["follows_analysis"] = table["follows_analysis"].truth_value()
    if "outlier_scale" in table:
        given["outlier_scale"] = table["outlier_scale"].positive()
    with entry.explain():
        population = Population(priors=read_priors(table, parameters), **given)
        population.resolve(cost)
    return population


def read_analysis(entry: Entry, fitted: AbstractCost, simulated: AbstractCost) -> Analysis:
    """What the fit assumes."""
    parameters = parameters_by_name(fitted)
    table = entry.table(_ANALYSIS_KEYS)
    given: dict[str, Any] = {key: read_names(table[key], parameters) for key in ("per_condition", "shared") if key in table}
    if "priors" in table:
        priors = table["priors"].table(parameters)
        for item in priors.values():
            if not isinstance(item.value, dict):
                raise item.error(
                    "A fit needs a range here, such as { uniform = [0.1, 0.5] }; what is not estimated belongs in "
                    "[analysis.known]."
                )
        given["priors"] = {name: read_range(item, parameters[name]) for name, item in priors.items()}
    if "known" in table:
        true = parameters_by_name(simulated)
        known = table["known"].table(parameters)
        given["known"] = {name: _read_known(item, parameters[name], true) for name, item in known.items()}
    with entry.explain():
        return Analysis(**given)


def _read_known(entry: Entry, parameter: Parameter, true: Collection[str]) -> Known:
    if not isinstance(entry.value, dict) and entry.value != TRUTH:
        if isinstance(entry.value, str | list):
            raise entry.refuse('"truth", a number, or { factor = 1.5 }')
        with entry.explain():
            return Known(value=read_value(entry, parameter))
    if parameter.name not in true:
        raise entry.error(
            f"Simulated participants have no {parameter.name}, because they minimise another cost: give a number here."
        )
    if entry.value == TRUTH:
        return Known()
    table = entry.table(["factor"], required=["factor"])
    return Known(factor=table["factor"].positive())


def read_quantities(entry: Entry, fitted: AbstractCost) -> tuple[Quantity, ...]:
    """Formulas, by the names they are given."""
    parameters = parameters_by_name(fitted)
    if not isinstance(entry.value, dict):
        raise entry.refuse('a section of formulas, such as ratio = "sigma_0 / sigma[0]"')
    return tuple(_read_quantity(entry.child(name), name, parameters) for name in entry.value)


def _read_quantity(entry: Entry, name: str, parameters: Collection[str]) -> Quantity:
    if name in parameters:
        raise entry.error(f"{name!r} is a parameter already: give the quantity another name.")
    if not (name.strip() and name.isprintable()):
        raise entry.error("A quantity needs a name of one line.")
    formula = entry.text()
    if len(formula) > LONGEST_FORMULA:
        raise entry.error(f"A formula takes up to {LONGEST_FORMULA} characters, but this has {len(formula)}.")
    with entry.explain():
        quantity = Quantity.from_formula(name, formula)
    # Formulas are computed much later; a misspelt parameter should not wait until then.
    tree = ast.parse(formula.strip(), mode="eval")
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    for used in sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - called):
        Entry(used, entry.path, entry.origin).choose("parameter", parameters)
    return quantity


def read_goals(
    entry: Entry, fitted: AbstractCost, simulated: AbstractCost, quantities: Collection[Quantity]
) -> tuple[Goal, ...]:
    """What the study should achieve."""
    names = [*parameters_by_name(fitted), *(quantity.name for quantity in quantities)]
    return tuple(
        _read_goal(section, names, parameters_by_name(fitted), parameters_by_name(simulated)) for section in entry.sections()
    )


def _read_goal(
    entry: Entry, names: Collection[str], fitted: Mapping[str, Parameter], simulated: Mapping[str, Parameter]
) -> Goal:
    table = entry.table(_GOAL_KEYS, required=["kind", "quantity"])
    given: dict[str, Any] = {
        "kind": table["kind"].choose("kind of goal", KINDS),
        "quantity": table["quantity"].choose("quantity", names),
    }
    if "value" in table:
        given["value"] = table["value"].number()
    if "margin" in table:
        given["margin"] = table["margin"].number(0)
    if "width" in table:
        given["width"] = table["width"].positive()
    if "group" in table:
        given["group"] = read_priors(table["group"].table(simulated, like="a table such as { beta = 0.7 }"), simulated)
    with entry.explain():
        goal = Goal(**given)
    parameter = fitted.get(goal.quantity)
    if goal.kind == EXCLUDES and goal.value is None and (parameter is None or parameter.neutral is None):
        raise entry.error(f"{goal.quantity} has no neutral value to exclude: add value = ... to this goal.")
    return goal
