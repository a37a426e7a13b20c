"""Who is simulated, what a fit assumes, and what is asked, in a study file."""

import ast
import dataclasses
from collections.abc import Mapping
from typing import Any

from designstudio.errors import StudioError
from designstudio.model.costs import available_costs, get_cost
from designstudio.model.likelihood.lapses import FREE_LAPSES, NO_LAPSES
from designstudio.model.parameters import Parameter
from designstudio.study.analysis import Analysis, Known
from designstudio.study.factor import Change
from designstudio.study.goals import KINDS, WITH_VALUE, Goal
from designstudio.study.groups import DECISIONS, FEWEST_MEMBERS, HIERARCHICAL, LEAST_FACTOR, Group
from designstudio.study.population import Population
from designstudio.study.quantities import LONGEST_FORMULA, Quantity
from designstudio.study.schema.context import Context, Parameters
from designstudio.study.schema.entry import Entry
from designstudio.study.schema.kinds import (
    NUMBER,
    POSITIVE,
    SECTION,
    TEXT,
    TRUTH_VALUE,
    Field,
    Kind,
    list_of,
    number,
    one_of,
    table,
    whole,
)  # fmt: skip
from designstudio.study.schema.priors import (
    FIT_NEEDS_A_RANGE,
    change_kind,
    parameter_fields,
    parameter_value,
    prior,
    value_or_prior,
)

TRUTH = "truth"


def cost_kind() -> Kind:
    """A cost by its name."""
    return one_of("cost", available_costs())


def population_kind(context: Context) -> Kind:
    """Who is simulated."""

    def build(cost: str | None = None, **given: Any) -> Population:
        priors = {name: given.pop(name) for name in list(given) if name in context.simulated}
        population = Population(priors, cost, **given)
        if cost is not None:
            population.resolve(get_cost(cost))
        return population

    hidden = {
        "follows_analysis": (
            TRUTH_VALUE,
            "Whether parameters that are estimated vary as the analysis assumes, unless they are set here.",
        ),
        "lapse_rate": (number(0, 1), "Share of trials in which the response has nothing to do with the stimulus."),
        "outlier_rate": (number(0, 1), "Share of trials whose response is off by a factor."),
        "outlier_scale": (POSITIVE, "Standard deviation of the logarithm of that factor."),
    }
    fields = (
        *parameter_fields(context.simulated.values(), value_or_prior, lambda population, name: population.priors.get(name)),
        Field("cost", cost_kind(), "The cost that participants minimise; by default the one that is fitted."),
        *(Field(key, kind, doc, hides_default=True) for key, (kind, doc) in hidden.items()),
    )
    return table(Population, fields, build, words="a section of parameters")


def analysis_kind(context: Context) -> Kind:
    """What the fit assumes."""
    fitted = context.fitted.values()
    names = list_of(one_of("parameter", context.fitted), 'names in "quotes"')
    priors = parameter_fields(fitted, lambda parameter: prior(parameter, FIT_NEEDS_A_RANGE), Mapping.get)
    known = parameter_fields(fitted, lambda parameter: known_kind(parameter, context.simulated), Mapping.get)
    # Shares have no unit, unlike their parameters.
    shares = [dataclasses.replace(field, unit="") for field in parameter_fields(fitted, lambda _: POSITIVE, Mapping.get)]
    spread_doc = (
        "How much a group's people may differ: scale of the prior of their standard deviation, as a share of that of the "
        "analysis prior."
    )
    priors_doc = "Priors of the fit, where they should differ from the paper's; never just a number."
    known_doc = "Parameters that are not estimated, because they were measured beforehand."
    fields = (
        Field("per_condition", names, "Parameters of which the fit estimates one value for each condition, too."),
        Field("shared", names, "Parameters of which the fit estimates one value, although the design changes them."),
        Field("lapses", lapses_kind(), "Room for responses that have nothing to do with their stimulus; by default none."),
        Field("pools", TRUTH_VALUE, "Whether fits of data also pool the participants partially.", hides_default=True),
        Field("group_spread", POSITIVE, spread_doc, hides_default=True),
        Field("group_spreads", table(dict, tuple(shares)), "The same for single parameters.", hides_default=True),
        Field("priors", table(dict, priors), priors_doc, layout=SECTION, comment="Priors of the fit."),
        Field("known", table(dict, known), known_doc, layout=SECTION, comment="What the fit takes as known."),
    )
    return table(Analysis, fields)


def lapses_kind() -> Kind:
    """What the fit does about lapses."""
    words, share = '"free" (their share is estimated), "off", or a share such as 0.02', number(0, 1, excludes_low=True)

    def read(entry: Entry) -> str | float:
        if entry.value in (FREE_LAPSES, NO_LAPSES):
            return str(entry.value)
        if isinstance(entry.value, str) or not 0 < share.read(entry) < 1:
            raise entry.refuse(words)
        return float(entry.value)

    schema = {
        "anyOf": [{"enum": [FREE_LAPSES, NO_LAPSES]}, {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}]
    }
    return Kind(words, read, schema)


def known_kind(parameter: Parameter, simulated: Parameters) -> Kind:
    """What a fit takes a parameter to be."""
    words, value = '"truth", a number, or { factor = 1.5 }', parameter_value(parameter)
    factor = table(Known, (Field("factor", POSITIVE, "Measured, but off by this factor.", is_required=True),))

    def read(entry: Entry) -> Known:
        if not isinstance(entry.value, dict) and entry.value != TRUTH:
            if isinstance(entry.value, str | list):
                raise entry.refuse(words)
            with entry.explain():
                return Known(value=value.read(entry))
        if parameter.name not in simulated:
            raise entry.error(
                f"Simulated participants have no {parameter.name}, because they minimise another cost: give a number here."
            )
        known: Known = Known() if entry.value == TRUTH else factor.read(entry)
        return known

    def write(known: Known) -> Any:
        if known.value is not None:
            return float(known.value)
        return TRUTH if known.factor == 1 else {"factor": float(known.factor)}

    return Kind(words, read, {"anyOf": [{"const": TRUTH}, value.schema, factor.schema]}, write)


def formulas_kind(context: Context) -> Kind:
    """Formulas by the names they are given."""
    words, fitted = 'a section of formulas, such as ratio = "sigma_0 / sigma[0]"', context.fitted

    def read_one(entry: Entry, name: str) -> Quantity:
        if name in fitted:
            raise entry.error(f"{name!r} is a parameter already: give the quantity another name.")
        if not (name.strip() and name.isprintable()):
            raise entry.error("A quantity needs a name of one line.")
        formula = TEXT.read(entry)
        if len(formula) > LONGEST_FORMULA:
            raise entry.error(f"A formula takes up to {LONGEST_FORMULA} characters, but this has {len(formula)}.")
        with entry.explain():
            quantity = Quantity.from_formula(name, formula)
        # Formulas are computed much later; a misspelt parameter should not wait until then.
        tree = ast.parse(formula.strip(), mode="eval")
        called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        for used in sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - called):
            if used not in fitted:
                raise entry.unknown("parameter", used, fitted)
        return quantity

    def read(entry: Entry) -> tuple[Quantity, ...]:
        if not isinstance(entry.value, dict):
            raise entry.refuse(words)
        return tuple(read_one(entry.child(name), name) for name in entry.value)

    schema = {"type": "object", "additionalProperties": {"type": "string", "maxLength": LONGEST_FORMULA}}
    return Kind(words, read, schema, lambda quantities: {quantity.name: quantity.text for quantity in quantities})


def goal_kind(context: Context) -> Kind:
    """What the study should achieve."""

    def build(**given: Any) -> Goal:
        goal = Goal(**given)
        parameter = context.fitted.get(goal.quantity)
        if goal.kind in WITH_VALUE and goal.value is None and (parameter is None or parameter.neutral is None):
            raise StudioError(f"{goal.quantity} has no neutral value to exclude: add value = ... to this goal.")
        return goal

    others = parameter_fields(context.simulated.values(), value_or_prior, Mapping.get)
    group = table(dict, others, words="a table such as { beta = 0.7 }")
    scored = one_of("quantity", context.scored)
    fields = (
        Field("name", TEXT, "How tables and searches call it; by default its kind and quantity.", hides_default=True),
        Field("kind", one_of("kind of goal", KINDS), "What is to be reached.", is_required=True),
        Field("quantity", scored, "A parameter or a quantity of the study.", is_required=True),
        Field("value", NUMBER, "For excludes and group-mean: the value that must be excluded; by default the neutral one."),
        Field(
            "margin",
            number(0),
            "By how much the interval must stay away from the value or from no difference.",
        ),
        Field(
            "margin_at_end",
            number(0, 1),
            "This share of the prior's range, where the value is an end of the prior and no margin is given.",
            hides_default=True,
        ),
        Field("width", POSITIVE, "For narrower: the interval must be narrower than this."),
        Field(
            "group", group, "For groups-differ without [[groups]]: the second group, where it differs from the population."
        ),
        Field(
            "groups",
            list_of(TEXT, "names"),
            "Which of the [[groups]]: two for groups-differ, else one.",
        ),
        Field("conditions", list_of(TEXT, "names"), "For changes: from which to which; by default the first two."),
        Field(
            "decision",
            one_of("decision", DECISIONS),
            "Of a whole study with groups.",
            default=HIERARCHICAL,
            hides_default=True,
        ),
        Field(
            "least_factor",
            POSITIVE,
            "For the decision bayes-factor: how large it must be at least.",
            default=LEAST_FACTOR,
            hides_default=True,
        ),
    )
    return table(Goal, fields, build)


def group_kind(context: Context) -> Kind:
    """Participants of one kind."""

    def build(name: str, num_participants: int | None = None, dropout: float = 0.0, **differs: Change) -> Group:
        return Group(name, num_participants, dropout, differs)

    differs = parameter_fields(context.simulated.values(), change_kind, lambda group, name: group.differs.get(name))
    fields = (
        Field("name", TEXT, "What tables and goals call it.", is_required=True),
        Field(
            "participants", whole(1, least=FEWEST_MEMBERS), "How many take part; by default as many as the design says.",
            "num_participants",
        ),
        Field("dropout", number(0, 1), "Share of them whose data are lost.", hides_default=True),
        *differs,
    )  # fmt: skip
    return table(Group, fields, build)
