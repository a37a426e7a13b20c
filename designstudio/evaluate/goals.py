"""The goals of a study, for one design: which numbers they are about, and the chance that they are reached."""

from collections.abc import Callable

import xarray as xr

from designstudio.errors import StudioError
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import score_exclusion, score_group_difference, score_narrowness
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.study import Goal, Study
from designstudio.study.design import Design
from designstudio.study.goals import EXCLUDES, NARROWER

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
    model = study.analysis.build_model(study.load_actor(study.cost), design)
    scores = {}
    for goal in study.goals:
        names = [
            str(name)
            for name in summaries["quantity"].values
            if str(summaries["base"].sel(quantity=name).item()) == goal.quantity
        ]
        for name in names:
            label = goal.label if len(names) == 1 else goal.label.replace(goal.quantity, name, 1)
            scores[label] = _score(study, goal, model, name, design, summaries, summarize)
    return scores


def second_group(study: Study, goal: Goal) -> Study:
    """The same study with participants of a goal's second group."""
    population = study.population
    changed = {**population.priors, **goal.group}
    return study.replace(population=population.replace(priors=changed), seed=study.seed + SEED_OF_GROUP, goals=())


def _score(
    study: Study,
    goal: Goal,
    model: BehaviorModel,
    name: str,
    design: Design,
    summaries: xr.Dataset,
    summarize: Callable[[Study], xr.Dataset],
) -> Score:
    if goal.kind == EXCLUDES:
        value, margin = resolve_exclusion(goal, model)
        return score_exclusion(summaries, name, value, margin)
    if goal.kind == NARROWER:
        return score_narrowness(summaries, name, goal.width or 0.0)
    return score_group_difference(summaries, summarize(second_group(study, goal)), name, design.num_participants)


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
