"""The goals of a study, for one design: the chance that they are reached, with their effect and without it."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import xarray as xr

from designstudio.errors import StudioError
from designstudio.evaluate.entries import find_support
from designstudio.evaluate.experiment import move_participants, prepare_experiment
from designstudio.evaluate.moving import describe_move
from designstudio.metrics.failed import Bounds, bound_share
from designstudio.metrics.monte_carlo import UNDEFINED, Score
from designstudio.metrics.power import (
    ALPHA,
    AbstractCriterion,
    Exclusion,
    GroupDifference,
    Narrowness,
    Power,
    PowerScore,
)
from designstudio.metrics.samples import find_quantities, keep_good, sample_quantity
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.priors import Constant
from designstudio.model.scale import OWN_UNIT, Scale, suffix_unit
from designstudio.study import Goal, Study
from designstudio.study.design import Design
from designstudio.study.goals import EXCLUDES, GROUPS_DIFFER, NARROWER
from designstudio.study.study import refuse_set_by_design

# A second group is as independent of the first as another seed makes it.
SEED_OF_GROUP = 1_000_003


def score_goals(study: Study, design: Design, summarize: Callable[[Study, Design], xr.Dataset]) -> dict[str, PowerScore]:
    """Chances to reach each goal that fits of single participants reach, with its effect and without.

    Args:
        study: the question.
        design: one of its designs.
        summarize: gives the summaries of a population, for a design.
    """
    scores = {}
    for goal in study.goals:
        if goal.is_of_studies:
            continue
        refuse_set_by_design(f"the second group of the goal {goal.label!r}", goal.group, design)
        absence, rule = remove_effect(study, design, goal), describe_rule(study, goal, design)
        everybody = [
            [summarize(*population) for population in list_populations(study, design, goal, is_absent=is_absent)]
            for is_absent in (False, True)
        ]
        present, absent = ([keep_good(summaries) for summaries in populations] for populations in everybody)
        num_datasets = sum(summaries.sizes["dataset"] for summaries in everybody[0])
        num_failed = [sum(int((~summaries["is_good"]).sum()) for summaries in populations) for populations in everybody]
        for name, label in label_goal(goal, find_quantities(present[0], goal.quantity)).items():
            # What nobody can tell from chance is no power.
            is_known = bool(absent) or goal.kind != EXCLUDES
            score = score_criterion(study, goal, design, name, *present) if is_known else UNDEFINED
            without = score_criterion(study, goal, design, name, *absent) if absent else None
            nominal = goal.nominal_level(study.interval)
            scores[label] = PowerScore(
                *score, without, absence.words, nominal, goal.kind, rule, num_datasets, num_failed[0], num_failed[1]
            )
    return scores


def bound_power(score: PowerScore) -> tuple[Bounds | None, Bounds | None]:
    """The chance, and that without the effect, with failed fits counted as misses and as hits; None where few failed.

    Power of a test between groups is no share of data sets, and has no such bounds.
    """
    if score.kind == GROUPS_DIFFER and not score.num_studies:
        return None, None
    without = math.nan if score.when_absent is None else score.when_absent.value
    return (
        bound_share(score.value, score.num_failed, score.num_datasets),
        bound_share(without, score.num_failed_absent, score.num_datasets),
    )


def label_goal(goal: Goal, names: Sequence[str]) -> dict[str, str]:
    """What tables call a goal, for each name that its quantity has: one, or one for each condition."""
    return {names[0]: goal.label} if len(names) == 1 else {name: goal.label_of(name) for name in names}


def find_power(goal: Goal, summaries: xr.Dataset, power: Mapping[str, PowerScore]) -> PowerScore:
    """The power of a goal among that of all goals; of the first condition, if its quantity has a value for each."""
    return power[next(iter(label_goal(goal, find_quantities(summaries, goal.quantity)).values()))]


def list_populations(study: Study, design: Design, goal: Goal, *, is_absent: bool) -> list[tuple[Study, Design]]:
    """Whom a goal is about: participants with its effect or without, and, if it compares groups, those of the second.

    Empty if the effect cannot be absent.
    """
    absence = remove_effect(study, design, goal)
    if is_absent and absence.study is None:
        return []
    if goal.kind == GROUPS_DIFFER:
        return [(study, design), (second_group(study, None if is_absent else goal), design)]
    return [(absence.study, absence.design)] if is_absent and absence.study is not None else [(study, design)]


def score_criterion(
    study: Study, goal: Goal, design: Design, name: str, good: xr.Dataset, second: xr.Dataset | None = None
) -> Score:
    """The chance to reach a goal: of participants with good fits, and of a second group for a goal that compares groups."""
    return Power().score(sample_quantity(good, name), build_criterion(study, goal, design, name, second))


class Absence(NamedTuple):
    """A question from which the effect of a goal was taken away.

    Attributes:
        study: with other participants; None if there is no effect that could be absent.
        design: with other values, where it sets the quantity itself.
        words: how the effect was taken away, or why it cannot be.
    """

    study: Study | None
    design: Design
    words: str


def remove_effect(study: Study, design: Design, goal: Goal) -> Absence:
    """The same participants, stimuli and noise without what the goal wants to show."""
    if goal.kind == NARROWER:
        return Absence(None, design, "a narrow interval is no effect that could be absent")
    if goal.kind == GROUPS_DIFFER:
        return Absence(second_group(study), design, "the second group comes from the first group's population")
    parameters = {p.name: p for p in study.list_parameters(study.population.cost)}
    name = goal.quantity
    if name in [quantity.name for quantity in study.quantities]:
        return _hold_quantity(study, design, goal)
    if name not in parameters:
        neutral = next((p.neutral for p in study.list_parameters() if p.name == name), None)
        if neutral is not None and goal.value in (None, neutral):
            return Absence(study, design, f"the simulated participants have no {name}: there is no effect to find")
        return Absence(None, design, f"the simulated participants have no {name}")
    model = study.build_model(design)
    value, margin = resolve_exclusion(goal, model, study.conversion)
    box = parameters[name].box
    # Beyond the box a cost may have no meaning (linex at 0) and no actor is trained: the nearest end has the least effect.
    nearest = min(max(value, box.low), box.high)
    everybody = {name: Constant(nearest)}
    conditions = tuple(
        dataclasses.replace(
            condition,
            levels={**condition.levels, **({name: nearest} if name in condition.levels else {})},
            population={**condition.population, **(everybody if name in condition.population else {})},
        )
        for condition in design.conditions
    )
    population = study.population.replace(priors={**study.population.priors, **everybody})
    without = study.replace(population=population), dataclasses.replace(design, conditions=conditions)
    words = describe_nearest(name, nearest, value, name_goal_unit(study, goal))
    # Both sentences explain why power and rate are what they are, whatever the design.
    words += ", as it is in the study: there is no effect to find" if without == (study, design) else ""
    return Absence(*without, f"{words}{note_prior(name, value, margin, model, study.conversion)}")


def _hold_quantity(study: Study, design: Design, goal: Goal) -> Absence:
    """Participants who were moved the least way to where a quantity has the goal's value."""
    value, _ = resolve_exclusion(goal, study.build_model(design), study.conversion)
    held = study.replace(population=study.population.replace(held=(goal.quantity, value)))
    # Whether there is a way is seen from participants.
    usual = prepare_experiment(study, design, first=0, num_datasets=study.num_datasets)
    moved = move_participants(held, design, usual.participants, usual.generative, usual.fitted)
    if moved is None:
        return Absence(None, design, f"nothing of the simulated participants changes {goal.quantity}")
    quantity = next(quantity for quantity in study.quantities if quantity.name == goal.quantity)
    return Absence(held, design, describe_move(moved, quantity, value))


def describe_nearest(name: str, nearest: float, value: float, unit: str = "") -> str:
    """That everybody has a value, or the nearest to it that actors know."""
    beyond = "" if nearest == value else f", the nearest to {value:g} that actors know"
    return f"{name} is {nearest:g}{unit} for everybody{beyond}"


def note_prior(name: str, value: float, margin: float, model: BehaviorModel, scale: Scale) -> str:
    """That the analysis prior alone keeps every interval away from a value; empty if it does not."""
    if name not in model.free:
        return ""
    support = find_support(name, model, scale)
    low, high = support.low, support.high
    if low - margin <= value <= high + margin:
        return ""
    return f"; the analysis prior, {low:g} to {high:g}, excludes {value:g} whatever the data are"


def second_group(study: Study, goal: Goal | None = None) -> Study:
    """The same study with participants of a goal's second group, or with other participants of the first group's kind."""
    population = study.population
    changed = {**population.priors, **({} if goal is None else goal.group)}
    return study.replace(population=population.replace(priors=changed), seed=study.seed + SEED_OF_GROUP)


def build_criterion(study: Study, goal: Goal, design: Design, name: str, second: xr.Dataset | None) -> AbstractCriterion:
    """What a goal asks of the posteriors.

    Args:
        study: the question.
        goal: one of its goals.
        design: which one is evaluated.
        name: the goal's quantity, as summaries call it.
        second: good summaries of the second group, for a goal that compares groups.
    """
    if goal.kind == EXCLUDES:
        return Exclusion(*resolve_exclusion(goal, study.build_model(design), study.conversion))
    if goal.kind == NARROWER:
        return Narrowness(goal.width or 0.0)
    assert second is not None  # noqa: S101  (whoever asks for the power of such a goal simulates both groups)
    return GroupDifference(sample_quantity(second, name).mean, design.num_participants)


def describe_rule(study: Study, goal: Goal, design: Design) -> str:
    """What a goal asks of the posteriors, with its numbers."""
    unit = name_goal_unit(study, goal)
    if goal.kind == NARROWER:
        return f"a participant's {study.interval:.0%} interval of {goal.quantity} is narrower than {goal.width:g}{unit}"
    if goal.kind == GROUPS_DIFFER:
        return f"a two-sided t test on posterior means of {goal.quantity} is significant at {ALPHA:.0%}"
    value, margin = resolve_exclusion(goal, study.build_model(design), study.conversion)
    beyond = f" by more than {margin:g}{unit}" if margin else ""
    why = (
        f", {goal.margin_at_end:.0%} of the prior's range, because the prior ends there"
        if margin and goal.margin is None
        else ""
    )
    return f"a participant's {study.interval:.0%} interval of {goal.quantity} stays away from {value:g}{unit}{beyond}{why}"


def name_goal_unit(study: Study, goal: Goal) -> str:
    """The unit of a goal's numbers, after a space; empty in studies that name none, and where there is none."""
    quantity = next((quantity for quantity in study.quantities if quantity.name == goal.quantity), None)
    if quantity is not None:
        return suffix_unit(quantity.unit)
    parameter = next((parameter for parameter in study.list_parameters() if parameter.name == goal.quantity), None)
    return "" if parameter is None else study.conversion.unit_suffix(parameter)


def resolve_exclusion(goal: Goal, model: BehaviorModel, scale: Scale = OWN_UNIT) -> tuple[float, float]:
    """Which value an interval must exclude, and by how much, in the study's unit.

    Args:
        goal: that excludes a value.
        model: that is fitted, in the actor's unit.
        scale: between both units.

    Raises:
        StudioError: if the goal gives no value and there is no neutral one.
    """
    parameter = next((scale.restate(p) for p in model.parameters if p.name == goal.quantity), None)
    neutral = None if parameter is None else parameter.neutral
    value = neutral if goal.value is None else goal.value
    if value is None:
        raise StudioError(f"The goal that {goal} needs a value: {goal.quantity!r} has no neutral one.")
    if goal.margin is not None:
        return value, goal.margin
    if parameter is not None and parameter.name in model.free:
        support = find_support(parameter.name, model, scale)
        if value <= support.low or value >= support.high:
            return value, goal.margin_at_end * (support.high - support.low)
    return value, 0.0
