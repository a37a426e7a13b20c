"""The record of a plan: what will be run, what is assumed, how it will be analysed and what counts as success.

A record is plain data. Its fingerprint is the SHA-256 of its canonical JSON, so that whoever has deposited the fingerprint
can show later that nothing was changed. It holds no date: that is for the place where it is deposited to say.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from designstudio.core.fingerprint import hash_json
from designstudio.errors import StudioError
from designstudio.evaluate.fingerprint import identify_actor, list_software
from designstudio.evaluate.goals import resolve_exclusion
from designstudio.evaluate.group_questions import describe_group_rule, find_margin
from designstudio.evaluate.model_recovery import pair_study
from designstudio.evaluate.results import Evaluation
from designstudio.evaluate.status import RULES
from designstudio.fitting.reading.copies import IS_COPY
from designstudio.fitting.reading.load import MIN_TRIALS
from designstudio.fitting.reading.rows import NOT_POSITIVE
from designstudio.fitting.reading.where import parse_filters
from designstudio.inference.settings import FitSettings
from designstudio.lab.labels import check_labels
from designstudio.lab.record_power import NOT_WANTED, describe_power
from designstudio.metrics.intervals import KIND
from designstudio.metrics.power import ALPHA
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.lapses import NO_LAPSES
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.scale import Scale
from designstudio.study import Analysis, Goal, Known, Study
from designstudio.study.design import Design
from designstudio.study.design.description import record_design
from designstudio.study.factor import Factor
from designstudio.study.goals import EXCLUDES, GROUPS_DIFFER
from designstudio.study.groups import BAYES_FACTOR, HIERARCHICAL, T_TEST
from designstudio.study.schema.priors import format_prior
from designstudio.study.schema.sections import TRUTH
from designstudio.study.study import AMORTIZED, EXACT
from designstudio.study.units import check_name, choose_unit

# The part of a record that is a result.
POWER = "power"
# The part about the groups of a study; records of studies without groups have none.
GROUPS = "groups"
GROUP_POOLING = "pooling_of_groups"
SHARED, PER_CONDITION, KNOWN = "shared", "per condition", "known"
CONVERGENCE = ("max_rhat", "min_ess", "min_ess_tail", "max_khat", "max_divergent", "min_ebfmi")
FAILED_FITS = (
    "A fit that does not meet these criteria is repeated with more care, at last by NUTS. What still fails is counted and "
    "reported with its reason; no comparison and no goal uses it."
)
GOALS_ON_DATA = (
    "On the data, a goal about participants is reported by the number and share of participants who meet it, with an "
    "equal-tailed interval of the share (Jeffreys) of the same probability; the group reaches it if that interval lies "
    "above its rate of false positives, the nominal or the recorded one, whichever is larger; where none is recorded, "
    "participants are only counted. Those without a usable fit are counted apart."
)
STUDY_GOALS_ON_DATA = (
    "A goal about groups is reached if its interval on the data lies beyond the value without an effect by more than the "
    "margin: the interval of the middle of the groups in the hierarchical analysis, each group analysed by itself, or that "
    "of a t test on posterior means, as the goal says; where a Bayes factor decides, if it is large enough. Participants "
    "without a usable fit, or without trials in a condition, are left out and counted."
)
COMPARISON = (
    "Costs are compared by the expected log predictive density of left-out trials (PSIS-LOO), summed over the participants "
    "to whom every cost could be fitted; the error of a difference is over participants, and the others are counted."
)


@dataclasses.dataclass(frozen=True)
class RecordOptions:
    """What a study file does not say.

    Attributes:
        num_participants: by default the design's.
        min_trials: participants with fewer usable trials are left out.
        where: which rows of the data are kept; see `designstudio.fitting.reading.where`.
        unit: what stimuli and responses are measured in; by default the study's unit.
        rules: further rules in the researcher's own words.
    """

    num_participants: int | None = None
    min_trials: int = MIN_TRIALS
    where: tuple[str, ...] = ()
    unit: str | None = None
    rules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("num_participants", "min_trials"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise StudioError(f"{name} must be 1 or more, but {number} was given.")
        parse_filters(self.where)
        check_name(self.unit)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**dataclasses.asdict(self), "where": list(self.where), "rules": list(self.rules)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "RecordOptions":
        """The options that `as_dict` has written."""
        return cls(**{**given, "where": tuple(given["where"]), "rules": tuple(given["rules"])})


@dataclasses.dataclass(frozen=True)
class Record:
    """A plan as plain data, without a number that JSON does not know."""

    content: Mapping[str, Any]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the content."""
        return hash_json(self.content)


def choose_participants(design: Design, options: RecordOptions) -> Design:
    """The design with as many participants as the options say."""
    num = options.num_participants
    return design if num is None else dataclasses.replace(design, num_participants=num)


def make_record(
    study: Study,
    design: Design,
    options: RecordOptions | None = None,
    *,
    evaluation: Evaluation | None = None,
    why_not: str = NOT_WANTED,
) -> Record:
    """Record the plan to run one design of a study.

    Args:
        study: the question.
        design: one of its designs.
        options: what a study file does not say.
        evaluation: of the design, `choose_participants` having had its say, for what the record says about power.
        why_not: why there is none.

    Raises:
        StudioError: if the study cannot be analysed as it says, is in another unit than the options say, or a table of its
            trials could not be read.
    """
    options = RecordOptions() if options is None else options
    options = dataclasses.replace(options, unit=choose_unit(study.unit, options.unit))
    check_labels(design)
    model = study.build_model(design)
    each_group = choose_participants(design, options).num_participants
    has_second = any(goal.kind == GROUPS_DIFFER for goal in study.goals)
    return Record(
        {
            "title": study.title,
            "design": record_design(design),
            "participants": {"each_group": each_group, "groups": len(study.groups) or (2 if has_second else 1)},
            **({GROUPS: _describe_groups(study, each_group)} if study.groups else {}),
            "model": _describe_model(study, model),
            "analysis": _describe_analysis(study, design, model),
            "population": _describe_population(study, design, model),
            "quantities": {quantity.name: quantity.text for quantity in study.quantities},
            "decision": _describe_decision(study, design, model),
            "fits": _describe_fits(),
            "exclusions": _describe_exclusions(options),
            "evaluation": {"fidelity": study.fidelity, "datasets": study.num_datasets, "seed": study.seed},
            POWER: describe_power(evaluation, why_not),
            "options": options.as_dict(),
            "versions": list_software(),
        }
    )


def _describe_model(study: Study, model: BehaviorModel) -> dict[str, Any]:
    cost = model.actor.cost
    return {
        "cost": cost.name,
        "formula": cost.formula,
        "actor": study.actor if study.actor in (AMORTIZED, EXACT) else f"file {Path(study.actor).name}",
        "actor_fingerprint": identify_actor(model.actor),
        # Records of studies in the actor's own unit have no such entry.
        **({"scale": study.scale} if study.unit else {}),
        "parameters": [
            {"name": p.name, "meaning": p.meaning, "unit": p.unit, "treatment": _treat(model, p.name)}
            for p in map(study.conversion.restate, model.parameters)
        ],
    }


def _treat(model: BehaviorModel, name: str) -> str:
    if name in model.fixed:
        return KNOWN
    return PER_CONDITION if name in model.per_condition else SHARED


def _describe_analysis(study: Study, design: Design, model: BehaviorModel) -> dict[str, Any]:
    return {
        "priors": _describe_priors(study, model),
        "known": {name: _describe_known(known) for name, known in study.analysis.known.items()},
        "costs_compared": list(study.candidates or (study.cost,)),
        **_describe_candidates(study, design),
        # Records of before have no such entry, and knew no lapses.
        **({} if study.analysis.lapses == NO_LAPSES else {"lapses": study.analysis.lapses}),
        **({"pooling": _describe_pooling(study.analysis)} if study.analysis.pools else {}),
        # What hierarchical goals assume of a group, whether or not its people are pooled in the fit.
        **({GROUP_POOLING: _describe_pooling(study.analysis)} if _has_hierarchical_goals(study) else {}),
    }


def _has_hierarchical_goals(study: Study) -> bool:
    return any(goal.is_of_studies and goal.decision == HIERARCHICAL for goal in study.goals)


def _describe_pooling(analysis: Analysis) -> dict[str, Any]:
    return {"group_spread": float(analysis.group_spread), "group_spreads": dict(analysis.group_spreads)}


def _describe_priors(study: Study, model: BehaviorModel) -> dict[str, str]:
    """Priors of a fit in the study's unit."""
    free = [parameter for parameter in model.parameters if parameter.name in model.free]
    return {p.name: format_prior(study.conversion.stretch(model.priors[p.name], p)) for p in free}


def _describe_candidates(study: Study, design: Design) -> dict[str, Any]:
    """Priors under the other costs that are compared, if there are any."""
    simulated, priors = study.population.cost or study.cost, {}
    for cost in study.candidates:
        if cost != study.cost:
            priors[cost] = _describe_priors(study, pair_study(study, simulated, cost).build_model(design))
    return {"priors_of_candidates": priors} if priors else {}


def _describe_known(known: Known) -> float | str:
    if known.value is not None:
        return float(known.value)
    return TRUTH if known.factor == 1 else f"{TRUTH} times {known.factor!r}"


def _describe_population(study: Study, design: Design, model: BehaviorModel) -> dict[str, Any]:
    population = study.population
    cost = get_cost(population.cost or study.cost)
    priors = dict(population.resolve(cost, study.conversion))
    if population.follows_analysis:
        followed = {p.name: p for p in model.parameters if p.name in model.free and p.name in priors}
        priors |= {
            name: study.conversion.stretch(model.priors[name], parameter)
            for name, parameter in followed.items()
            if name not in population.priors
        }
    return {
        "cost": cost.name,
        "parameters": {name: format_prior(prior) for name, prior in priors.items() if name not in design.levels},
        "lapse_rate": float(population.lapse_rate),
        "outlier_rate": float(population.outlier_rate),
        "outlier_scale": float(population.outlier_scale),
    }


def _describe_groups(study: Study, each_group: int) -> dict[str, Any]:
    return {
        group.name: {
            "participants": group.num_participants or each_group,
            "dropout": float(group.dropout),
            "differs": {
                name: f"times {change.factor!r}" if isinstance(change, Factor) else format_prior(change)
                for name, change in group.differs.items()
            },
        }
        for group in study.groups
    }


def _describe_decision(study: Study, design: Design, model: BehaviorModel) -> dict[str, Any]:
    return {
        "interval": {"probability": study.interval, "kind": KIND},
        "goals": [
            _describe_study_goal(study, design, goal)
            if goal.is_of_studies
            else _describe_goal(goal, model, study.conversion)
            for goal in study.goals
        ],
        **({"goals_on_data": GOALS_ON_DATA} if any(not goal.is_of_studies for goal in study.goals) else {}),
        **({"study_goals_on_data": STUDY_GOALS_ON_DATA} if any(goal.is_of_studies for goal in study.goals) else {}),
        "comparison_of_costs": COMPARISON if study.candidates else "none",
        "status_limits": {name: float(limit) for name, limit in dataclasses.asdict(RULES).items()},
    }


def _describe_goal(goal: Goal, model: BehaviorModel, scale: Scale) -> dict[str, Any]:
    described: dict[str, Any] = {"name": goal.label, "kind": goal.kind, "quantity": goal.quantity}
    if goal.kind == EXCLUDES:
        value, margin = resolve_exclusion(goal, model, scale)
        return {**described, "value": float(value), "margin": float(margin)}
    if goal.kind == GROUPS_DIFFER:
        group = {name: format_prior(prior) for name, prior in goal.group.items()}
        return {**described, "test": "two-sided t test on posterior means", "alpha": ALPHA, "second_group": group}
    return {**described, "width": float(goal.width or 0.0)}


def _describe_study_goal(study: Study, design: Design, goal: Goal) -> dict[str, Any]:
    value, margin = find_margin(study, design, goal)
    conditions = study.choose_conditions(goal, design)
    return {
        "name": goal.label,
        "kind": goal.kind,
        "quantity": goal.quantity,
        "decision": goal.decision,
        "groups": [group.name for group in study.choose_groups(goal)] if study.groups else [],
        "conditions": [design.conditions[place].name for place in conditions or ()],
        "value": float(value),
        "margin": float(margin),
        **({"alpha": ALPHA} if goal.decision == T_TEST else {}),
        **({"least_factor": float(goal.least_factor)} if goal.decision == BAYES_FACTOR else {}),
        "rule": describe_group_rule(study, design, goal, value, margin),
    }


def _describe_fits() -> dict[str, Any]:
    settings = FitSettings().as_dict()
    return {
        "method": settings["method"],
        "chains": settings["num_chains"],
        "draws_of_each_chain": settings["num_draws"],
        "criteria": {name: float(settings[name]) for name in CONVERGENCE},
        "failed_fits": FAILED_FITS,
    }


def _describe_exclusions(options: RecordOptions) -> dict[str, Any]:
    return {
        "rows": [
            *(f"Rows are kept only where {text}." for text in options.where),
            "Rows without subject, condition, stimulus or response are left out.",
            f"Rows are left out if {NOT_POSITIVE}.",
            f"Rows are left out if {IS_COPY}.",
        ],
        "participants": [
            f"Participants with fewer than {options.min_trials} usable trials are left out.",
            "Participants who saw one stimulus only are left out.",
        ],
        "further_rules": list(options.rules),
    }
