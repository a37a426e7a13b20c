"""The goals of a study, for one design: which numbers they are about, and the chance that they are reached."""

from collections.abc import Callable

import xarray as xr

from designstudio.errors import StudioError
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import AbstractCriterion, Exclusion, GroupDifference, Narrowness, Power
from designstudio.metrics.samples import find_quantities, keep_good, sample_quantity
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.study import Goal, Study
from designstudio.study.design import Design
from designstudio.study.goals import EXCLUDES, GROUPS_DIFFER, NARROWER

# Where the value to exclude is an end of the prior, an interval must stay away from it by this share of the prior's range.
MARGIN_AT_END = 0.05
# A second group is as independent of the first as another seed makes it.
SEED_OF_GROUP = 1_000_003


def score_goals(
    study: Study, design: Design, summaries: xr.Dataset, summarize: Callable[[Study], xr.Dataset]
) -> dict[str, Score]:
    """Chances to reach each goal.

    Args:
        study: the question.
        design: one of its designs.
        summaries: of the design's data sets.
        summarize: gives the summaries of another population, for goals that compare groups.
    """
    good, scores = keep_good(summaries), {}
    for goal in study.goals:
        names = find_quantities(good, goal.quantity)
        second = keep_good(summarize(second_group(study, goal))) if goal.kind == GROUPS_DIFFER else None
        for name in names:
            label = goal.label if len(names) == 1 else goal.label.replace(goal.quantity, name, 1)
            criterion = build_criterion(study, goal, design, name, second)
            scores[label] = Power().score(sample_quantity(good, name), criterion)
    return scores


def second_group(study: Study, goal: Goal) -> Study:
    """The same study with participants of a goal's second group."""
    population = study.population
    changed = {**population.priors, **goal.group}
    return study.replace(population=population.replace(priors=changed), seed=study.seed + SEED_OF_GROUP, goals=())


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
        return Exclusion(*resolve_exclusion(goal, study.analysis.build_model(study.load_actor(study.cost), design)))
    if goal.kind == NARROWER:
        return Narrowness(goal.width or 0.0)
    assert second is not None  # noqa: S101  (whoever asks for the power of such a goal simulates both groups)
    return GroupDifference(sample_quantity(second, name).mean, design.num_participants)


def resolve_exclusion(goal: Goal, model: BehaviorModel) -> tuple[float, float]:
    """Which value an interval must exclude, and by how much.

    Raises:
        StudioError: if the goal gives no value and there is no neutral one.
    """
    parameter = next((p for p in model.parameters if p.name == goal.quantity), None)
    neutral = None if parameter is None else parameter.neutral
    value = neutral if goal.value is None else goal.value
    if value is None:
        raise StudioError(f"The goal that {goal} needs a value: {goal.quantity!r} has no neutral one.")
    if goal.margin is not None:
        return value, goal.margin
    if parameter is not None and parameter.name in model.free:
        support = model.priors[parameter.name].support
        if value <= support.low or value >= support.high:
            return value, MARGIN_AT_END * (support.high - support.low)
    return value, 0.0
