"""Who is simulated, what a fit assumes, and what is asked, in a study file."""

import ast
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from designstudio.errors import StudioError
from designstudio.model.costs import available_costs, get_cost
from designstudio.model.parameters import Parameter
from designstudio.study.analysis import Analysis, Known
from designstudio.study.goals import EXCLUDES, KINDS, Goal
from designstudio.study.population import Population
from designstudio.study.quantities import LONGEST_FORMULA, Quantity
from designstudio.study.schema.context import Context, Parameters
from designstudio.study.schema.entry import Entry
from designstudio.study.schema.kinds import POSITIVE, SECTION, Field, JsonSchema, Kind, ListOf, Name, Number, Text, Truth
from designstudio.study.schema.priors import FIT_NEEDS_A_RANGE, Prior, Value, ValueOrPrior, parameter_fields
from designstudio.study.schema.record import Record

TRUTH = "truth"


def cost_kind() -> Name:
    """A cost by its name."""
    return Name("cost", available_costs())


def population_record(context: Context) -> Record:
    """Who is simulated."""

    def build(cost: str | None = None, **given: Any) -> Population:
        priors = {name: given.pop(name) for name in list(given) if name in context.simulated}
        population = Population(priors, cost, **given)
        if cost is not None:
            population.resolve(get_cost(cost))
        return population

    rates = {
        "lapse_rate": (Number(0, 1), "Share of trials in which the response has nothing to do with the stimulus."),
        "outlier_rate": (Number(0, 1), "Share of trials whose response is off by a factor."),
        "outlier_scale": (POSITIVE, "Standard deviation of the logarithm of that factor."),
    }
    fields = (
        *parameter_fields(context.simulated.values(), ValueOrPrior, lambda population, name: population.priors.get(name)),
        Field("cost", cost_kind(), "The cost that participants minimise; by default the one that is fitted."),
        Field(
            "follows_analysis",
            Truth(),
            "Whether parameters that are estimated vary as the analysis assumes, unless they are set here.",
            hides_default=True,
        ),
        *(Field(key, kind, doc, hides_default=True) for key, (kind, doc) in rates.items()),
    )
    return Record(Population, fields, build, "a section of parameters")


def analysis_record(context: Context) -> Record:
    """What the fit assumes."""
    fitted = context.fitted.values()
    names = ListOf(Name("parameter", context.fitted), 'names in "quotes"')
    priors = parameter_fields(fitted, lambda parameter: Prior(parameter, FIT_NEEDS_A_RANGE), Mapping.get)
    known = parameter_fields(fitted, lambda parameter: KnownValue(parameter, context.simulated), Mapping.get)
    return Record(
        Analysis,
        (
            Field("per_condition", names, "Parameters of which the fit estimates one value for each condition, too."),
            Field("shared", names, "Parameters of which the fit estimates one value, although the design changes them."),
            Field(
                "priors",
                Record(dict, priors),
                "Priors of the fit, where they should differ from the paper's; never just a number.",
                layout=SECTION,
                comment="Priors of the fit.",
            ),
            Field(
                "known",
                Record(dict, known),
                "Parameters that are not estimated, because they were measured beforehand.",
                layout=SECTION,
                comment="What the fit takes as known.",
            ),
        ),
    )


@dataclasses.dataclass(frozen=True)
class KnownValue(Kind):
    """What a fit takes a parameter to be."""

    parameter: Parameter
    simulated: Parameters

    @property
    def words(self) -> str:
        return '"truth", a number, or { factor = 1.5 }'

    def read(self, entry: Entry) -> Known:
        if not isinstance(entry.value, dict) and entry.value != TRUTH:
            if isinstance(entry.value, str | list):
                raise entry.refuse(self.words)
            with entry.explain():
                return Known(value=Value(self.parameter).read(entry))
        if self.parameter.name not in self.simulated:
            raise entry.error(
                f"Simulated participants have no {self.parameter.name}, because they minimise another cost: give a number "
                "here."
            )
        return Known() if entry.value == TRUTH else _FACTOR.read(entry)

    def write(self, value: Known) -> Any:
        if value.value is not None:
            return float(value.value)
        return TRUTH if value.factor == 1 else {"factor": float(value.factor)}

    def schema(self) -> JsonSchema:
        return {"anyOf": [{"const": TRUTH}, Value(self.parameter).schema(), _FACTOR.schema()]}


_FACTOR = Record(Known, (Field("factor", POSITIVE, "Measured, but off by this factor.", is_required=True),))


@dataclasses.dataclass(frozen=True)
class Formulas(Kind):
    """Formulas by the names they are given."""

    fitted: Parameters

    @property
    def words(self) -> str:
        return 'a section of formulas, such as ratio = "sigma_0 / sigma[0]"'

    def read(self, entry: Entry) -> tuple[Quantity, ...]:
        if not isinstance(entry.value, dict):
            raise entry.refuse(self.words)
        return tuple(self._read_one(entry.child(name), name) for name in entry.value)

    def write(self, value: Sequence[Quantity]) -> dict[str, str]:
        return {quantity.name: quantity.text for quantity in value}

    def schema(self) -> JsonSchema:
        return {"type": "object", "additionalProperties": {"type": "string", "maxLength": LONGEST_FORMULA}}

    def _read_one(self, entry: Entry, name: str) -> Quantity:
        if name in self.fitted:
            raise entry.error(f"{name!r} is a parameter already: give the quantity another name.")
        if not (name.strip() and name.isprintable()):
            raise entry.error("A quantity needs a name of one line.")
        formula = Text().read(entry)
        if len(formula) > LONGEST_FORMULA:
            raise entry.error(f"A formula takes up to {LONGEST_FORMULA} characters, but this has {len(formula)}.")
        with entry.explain():
            quantity = Quantity.from_formula(name, formula)
        # Formulas are computed much later; a misspelt parameter should not wait until then.
        tree = ast.parse(formula.strip(), mode="eval")
        called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        for used in sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - called):
            if used not in self.fitted:
                raise entry.unknown("parameter", used, self.fitted)
        return quantity


def goal_record(context: Context) -> Record:
    """What the study should achieve."""

    def build(**given: Any) -> Goal:
        goal = Goal(**given)
        parameter = context.fitted.get(goal.quantity)
        if goal.kind == EXCLUDES and goal.value is None and (parameter is None or parameter.neutral is None):
            raise StudioError(f"{goal.quantity} has no neutral value to exclude: add value = ... to this goal.")
        return goal

    group = parameter_fields(context.simulated.values(), ValueOrPrior, Mapping.get)
    return Record(
        Goal,
        (
            Field("kind", Name("kind of goal", KINDS), "What is to be reached.", is_required=True),
            Field("quantity", Name("quantity", context.scored), "A parameter or a quantity of the study.", is_required=True),
            Field("value", Number(), "For excludes: the value that the interval must exclude; by default the neutral one."),
            Field("margin", Number(0), "For excludes: by how much the interval must stay away from the value."),
            Field("width", POSITIVE, "For narrower: the interval must be narrower than this."),
            Field(
                "group",
                Record(dict, group, words="a table such as { beta = 0.7 }"),
                "For groups-differ: parameters of the second group, where it differs from the population.",
            ),
        ),
        build,
    )
