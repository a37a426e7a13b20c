"""From a record to the fit that it plans: how data are read, what is fitted to them, and what the data do not allow.

Everything that decides about results comes from the record: costs, priors, known values, conditions, lapses, exclusions,
intervals, settings and seed. Only what nobody could know beforehand is given with the data: names of columns, values that
were measured for parameters that the record takes as measured, and files of actors.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from designstudio.errors import DataError, StudioError
from designstudio.evaluate.fingerprint import identify_actor, list_software
from designstudio.fitting.models import find_actor
from designstudio.fitting.planned import RECORD, PlannedAnalysis, PlannedGoal
from designstudio.fitting.reading import LoadedData, read_data
from designstudio.fitting.reading.cells import is_missing, parse_number
from designstudio.fitting.reading.columns import GROUP
from designstudio.fitting.request import FitRequest, FixedValue
from designstudio.inference.hierarchical.pooling_settings import PoolingSettings
from designstudio.inference.settings import FitSettings
from designstudio.lab.compare_data import compare_data, compare_schedule
from designstudio.lab.labels import label_condition
from designstudio.lab.record import CONVERGENCE, GROUP_POOLING, GROUPS, PER_CONDITION, POWER, Record, RecordOptions
from designstudio.metrics.intervals import KIND
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.lapses import LAPSE_RATE, NO_LAPSES
from designstudio.model.parameters import NO_UNIT, STIMULUS_UNIT, Parameter
from designstudio.model.scale import Scale
from designstudio.model.trials.schema import ONLY_CONDITION
from designstudio.study.goals import GROUPS_DIFFER, NARROWER
from designstudio.study.schema.priors import parse_prior
from designstudio.study.schema.sections import TRUTH
from designstudio.study.study import AMORTIZED, EXACT

MEASURED = "measured beforehand, and a record cannot hold what was measured"


@dataclasses.dataclass(frozen=True)
class PlannedFit:
    """A fit that a record plans, with its data.

    Attributes:
        loaded: the data, read as planned, with the planned conditions in their order.
        request: what is fitted.
        scale: of the record, whose numbers are in the unit of the data.
        analysis: goals, and what deviates from the plan.
    """

    loaded: LoadedData
    request: FitRequest
    scale: Scale
    analysis: PlannedAnalysis


def plan_fit(
    record: Record,
    data: Path,
    *,
    source: str = RECORD,
    fixed: Mapping[str, FixedValue] | None = None,
    actors: Mapping[str, Path] | None = None,
    columns: Mapping[str, str] | None = None,
    unit: str | None = None,
) -> PlannedFit:
    """What a record plans for these data.

    Args:
        record: unchanged since it was made.
        data: a table, or a Psych-DS or BIDS folder.
        source: `record`, or `study` if the record was made of one just now.
        fixed: what was measured, by parameter.
        actors: files, by cost.
        columns: the data's own names of columns, by role.
        unit: of stimulus and response, if the data do not say it.

    Raises:
        StudioError: if the data cannot be analysed as planned; nothing has been fitted then.
    """
    content = record.content
    request = plan_request(content, fixed=fixed or {}, actors=actors or {})
    factor = find_factor(content)
    loaded, unplanned = _read_as_planned(content, data, columns or {}, unit)
    deviations = [difference.sentence for difference in compare_schedule(content, data)] if data.is_dir() else []
    deviations += [difference.sentence for difference in compare_data(content, loaded)]
    deviations += [
        f"The data have a condition {label!r} that was not planned: its {num} trials were left out."
        for label, num in unplanned
    ]
    deviations += _compare_actor(content, request)
    analysis = PlannedAnalysis(
        source=source,
        fingerprint=record.fingerprint,
        design=str(content["design"]["name"]),
        cost=str(content["model"]["cost"]),
        goals=tuple(plan_goals(content)),
        quantities=dict(content["quantities"]),
        power=dict(content.get(POWER) or {}),
        rules=tuple(content["exclusions"]["further_rules"]),
        deviations=tuple(dict.fromkeys(deviations)),
        notes=(*_note_candidates(content, request), *_compare_versions(content)),
        groups=find_groups(loaded.table) if _needs_groups(content) else {},
    )
    arranged = _arrange_conditions(content, loaded)
    return PlannedFit(arranged, request, Scale(factor, arranged.report.unit), analysis)


def find_factor(content: Mapping[str, Any]) -> float:
    """How many of a record's unit one unit of the actor is; records of studies without a unit are in the actor's."""
    return float(content["model"].get("scale", 1.0))


def plan_request(content: Mapping[str, Any], *, fixed: Mapping[str, FixedValue], actors: Mapping[str, Path]) -> FitRequest:
    """The request of a record.

    Raises:
        StudioError: if what was measured is missing, or the record says something else about what was given.
    """
    cost, analysis, fits = str(content["model"]["cost"]), content["analysis"], content["fits"]
    costs = list(analysis["costs_compared"])
    costs = costs if cost in costs else [cost, *costs]
    priors = {cost: analysis["priors"], **analysis.get("priors_of_candidates", {})}
    scale = Scale(find_factor(content))
    parsed = {name: _parse_priors(name, priors[name], fixed, scale) for name in costs if name in priors}
    names = [entry["name"] for entry in content["model"]["parameters"]]
    own = [entry["name"] for entry in content["model"]["parameters"] if entry["treatment"] == PER_CONDITION]
    # What another cost has and the design changes.
    for condition in content["design"]["conditions"]:
        changed = (*condition["levels"], *condition["drawn_anew"], *condition.get("factors", ()))
        own += [name for name in changed if name not in (*names, *own)]
    settings = {name: fits["criteria"][name] for name in CONVERGENCE if name in fits["criteria"]}
    settings |= {"method": fits["method"], "num_chains": fits["chains"], "num_draws": fits["draws_of_each_chain"]}
    actor = str(content["model"]["actor"])
    if actor not in (AMORTIZED, EXACT) and cost not in actors:
        raise StudioError(f"The record's actor for {cost} is the {actor}: give it with --actor.")
    interval = content["decision"]["interval"]
    if interval["kind"] != KIND:
        raise StudioError(f"The record plans {interval['kind']} intervals, but this version knows {KIND} ones only.")
    return FitRequest(
        costs=tuple(costs),
        fixed=_settle_known(analysis["known"], fixed, scale, get_cost(cost).all_parameters),
        per_condition=tuple(own),
        settings=FitSettings(**settings),
        seed=int(content["evaluation"]["seed"]),
        lapses=analysis.get("lapses", NO_LAPSES),
        pools="pooling" in analysis,
        pooling=_plan_pooling(analysis.get("pooling", analysis.get(GROUP_POOLING))),
        interval=float(interval["probability"]),
        actors=dict(actors),
        own_priors=parsed,
        is_exact=actor == EXACT,
    )


def _plan_pooling(pooling: Mapping[str, Any] | None) -> PoolingSettings:
    if pooling is None:
        return PoolingSettings()
    return PoolingSettings(spread_share=float(pooling["group_spread"]), spread_shares=dict(pooling["group_spreads"]))


def list_measured(content: Mapping[str, Any]) -> list[str]:
    """Parameters that the record takes as measured, whose values have to be given with the data."""
    return [name for name, known in content["analysis"]["known"].items() if isinstance(known, str)]


def plan_goals(content: Mapping[str, Any]) -> list[PlannedGoal]:
    """The goals of a record."""
    rate = round(1 - float(content["decision"]["interval"]["probability"]), 12)
    return [
        PlannedGoal(
            name=str(goal["name"]),
            kind=str(goal["kind"]),
            quantity=str(goal["quantity"]),
            value=goal.get("value"),
            margin=float(goal.get("margin") or 0.0),
            width=goal.get("width"),
            alpha=goal.get("alpha"),
            nominal=_find_nominal(goal, rate),
            least_factor=goal.get("least_factor"),
            decision=str(goal.get("decision", "")),
            groups=tuple(goal.get("groups", ())),
            conditions=tuple(goal.get("conditions", ())),
        )
        for goal in _goals(content)
    ]


def _find_nominal(goal: Mapping[str, Any], rate: float) -> float | None:
    """How often a goal may be reached without its effect."""
    if goal["kind"] == NARROWER:
        return None
    factor = goal.get("least_factor")
    return float(goal.get("alpha", rate)) if factor is None else 1 / float(factor)


def find_groups(table: pd.DataFrame) -> dict[str, str]:
    """The group of each subject; nothing if the data do not say it.

    Raises:
        DataError: if a subject is in two groups.
    """
    if GROUP not in table:
        return {}
    groups: dict[str, str] = {}
    for subject, rows in table.groupby("subject", sort=False):
        labels = [label for label in dict.fromkeys(rows[GROUP]) if isinstance(label, str) and not is_missing(label)]
        if len(labels) > 1:
            raise DataError(f"Subject {subject!r} is in the groups {labels[0]!r} and {labels[1]!r}: give each subject one.")
        groups |= {str(subject): labels[0]} if labels else {}
    return groups


def _needs_groups(content: Mapping[str, Any]) -> bool:
    return bool(content.get(GROUPS)) or any(goal["kind"] == GROUPS_DIFFER for goal in _goals(content))


def _goals(content: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    goals: Sequence[Mapping[str, Any]] = content["decision"]["goals"]
    return goals


def _parse_priors(cost: str, texts: Mapping[str, str], fixed: Mapping[str, FixedValue], scale: Scale) -> dict[str, Any]:
    """Priors of one cost, in the actor's unit; of a parameter that was measured there is none."""
    parameters = {parameter.name: parameter for parameter in (*get_cost(cost).all_parameters, LAPSE_RATE)}
    for name in texts:
        if name not in parameters:
            raise StudioError(f"The record has a prior for {name!r}, which the {cost} cost of this version does not have.")
    return {
        name: scale.shrink(parse_prior(text, scale.restate(parameters[name])), parameters[name])
        for name, text in texts.items()
        if name not in fixed
    }


def _settle_known(
    known: Mapping[str, float | str], given: Mapping[str, FixedValue], scale: Scale, parameters: Sequence[Parameter]
) -> dict[str, FixedValue]:
    """Values that the fit takes as known, in the unit of the data: numbers of the record, and what was measured."""
    measured = [name for name, value in known.items() if isinstance(value, str)]
    for name in given:
        if name not in measured:
            says = f"takes it as {known[name]!r}" if name in known else "estimates it"
            raise StudioError(f"--fixed gives {name}, but the record {says}: leave it out.")
    missing = [name for name in measured if name not in given]
    if missing:
        name, how = missing[0], known[missing[0]]
        factor = "" if how == TRUTH else f" (simulated as {how})"
        raise StudioError(
            f"The record takes {name} as {MEASURED}{factor}: give it with --fixed {name}=FILE.csv, a table with columns "
            f"subject, condition or both, and {name}."
        )
    by_name = {parameter.name: parameter for parameter in parameters}

    def restore(name: str, value: float) -> float:
        # A share whose odds have a unit is recorded in the actor's, but given to a fit in that of the data.
        has_odds = by_name[name].odds_unit != NO_UNIT
        return float(scale.restore(value, by_name[name])) if has_odds else float(value)

    return {name: given[name] if isinstance(value, str) else restore(name, value) for name, value in known.items()}


def _read_as_planned(
    content: Mapping[str, Any], data: Path, columns: Mapping[str, str], unit: str | None
) -> tuple[LoadedData, list[tuple[str, int]]]:
    """The data in the unit of the plan, with the record's exclusions; and conditions that were not planned, with trials."""
    options = RecordOptions.from_dict(content["options"])
    planned = None if options.unit == STIMULUS_UNIT else options.unit
    if unit is not None and planned is not None and unit != planned:
        raise StudioError(f"The plan is in {planned!r}, but --unit {unit!r} was given: convert the data to {planned!r}.")

    def read(where: tuple[str, ...], unit: str | None) -> LoadedData:
        return read_data(data, columns=columns, where=where, unit=unit, min_trials=options.min_trials)

    loaded = read(options.where, unit)
    if planned is not None and loaded.report.unit == STIMULUS_UNIT:
        loaded = read(options.where, planned)
    if planned is not None and loaded.report.unit != planned:
        raise StudioError(
            f"The plan is in {planned!r}, but the data are in {loaded.report.unit!r}: convert them, or name the right unit "
            f"with --unit {planned} if only their description is wrong."
        )
    labels = [label_condition(condition["name"]) for condition in content["design"]["conditions"]]
    counts = loaded.table["condition"].value_counts()
    if len(labels) == 1 and set(counts.index) == {ONLY_CONDITION}:
        return loaded, []
    unplanned = sorted(set(counts.index) - set(labels))
    if not unplanned:
        return loaded, []
    if not set(counts.index) & set(labels):
        found, wanted = ", ".join(map(repr, unplanned)), ", ".join(map(repr, labels))
        raise StudioError(
            f"None of the planned conditions {wanted} is in the data, which have {found}: name the column with --column "
            "condition=NAME, or rename them."
        )
    wanted = ", ".join(label if parse_number(label) is not None else f'"{label}"' for label in labels)
    kept = read((*options.where, f"condition in {wanted}"), loaded.report.unit)
    return kept, [(label, int(counts[label])) for label in unplanned]


def _arrange_conditions(content: Mapping[str, Any], loaded: LoadedData) -> LoadedData:
    """The data with all planned conditions in the order of the plan, those without trials included."""
    labels = [label_condition(condition["name"]) for condition in content["design"]["conditions"]]
    trials = loaded.trials
    found = [str(label) for label in trials["condition"].values]
    if len(labels) == 1 and found == [ONLY_CONDITION]:
        found = labels
    place = np.array([labels.index(label) for label in found])
    index = trials["condition_index"]
    present = trials["is_present"].values
    moved = index.copy(data=np.where(present, place[np.where(present, index.values, 0)], 0))
    arranged = trials.drop_vars(["condition_index", "condition"])
    arranged["condition_index"] = moved
    return dataclasses.replace(loaded, trials=arranged.assign_coords(condition=np.array(labels)))


def _compare_actor(content: Mapping[str, Any], request: FitRequest) -> list[str]:
    recorded = content["model"]["actor_fingerprint"]
    cost = str(content["model"]["cost"])
    if identify_actor(find_actor(cost, request)) == recorded:
        return []
    return [f"The actor of the {cost} cost is not the recorded one: it was trained again, or its cost has changed."]


def _compare_versions(content: Mapping[str, Any]) -> list[str]:
    before, now = content.get("versions", {}), list_software()
    return [f"{name} was {before[name]} and is now {now[name]}." for name in now if before.get(name, now[name]) != now[name]]


def _note_candidates(content: Mapping[str, Any], request: FitRequest) -> list[str]:
    """What the record does not say about the costs that it compares."""
    cost, compared = str(content["model"]["cost"]), content["analysis"]["costs_compared"]
    notes = []
    if cost not in compared:
        notes.append(f"The {cost} cost, under which goals are judged, was not among those to compare; here it is.")
    without = [name for name in request.costs if name not in request.own_priors]
    if without:
        notes.append(f"The record holds no priors for {', '.join(without)}: the package's own were used.")
    return notes
