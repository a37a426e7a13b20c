"""Measures of a design, read off the summaries of its data sets, in a form in which designs can race.

Every measure is a statistic of data sets with a weight for each, so its error, and the error of the difference between two
designs on the same data sets, come from leaving out one data set at a time: `Reading.parts` are the jackknife's
pseudo-values, whose mean is the measure and whose differences between two designs are paired by data set.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.evaluate.goals import resolve_exclusion
from designstudio.metrics.identifiability import PRIOR_PARAMETERS, confound, find_weakest, gain_information
from designstudio.metrics.monte_carlo import Score, Weights, score_jackknife, score_share, weighted_mean
from designstudio.metrics.power import weigh_group_difference
from designstudio.metrics.recovery import weigh_concordance, weigh_pearson
from designstudio.search.feasible import measure_design
from designstudio.study import Measure, Study
from designstudio.study.design import Design
from designstudio.study.goals import EXCLUDES, NARROWER
from designstudio.study.measures import ALL, CONFOUNDING, FAILED, INFORMATION, POWER, PRIOR_COST, REMAINING

# Sizes are compared, and averaged over quantities, by their logarithms.
SIZES = ("rmse", "mse", "width")
FEWEST = 3

Statistic = Callable[[Weights], Float[np.ndarray, " repeat"]]


class Reading(NamedTuple):
    """One measure of one design.

    Attributes:
        score: its value, with its error.
        parts: one for each data set, smaller is better; NaN where the fit failed. Their mean ranks designs.
    """

    score: Score
    parts: Float[np.ndarray, " dataset"]


def list_objectives(study: Study) -> tuple[Measure, ...]:
    """What the study's search is for; by default information on prior and cost, or on everything if one of them is known."""
    if study.search is not None and study.search.objectives:
        return study.search.objectives
    cost = study.load_actor(study.cost).cost
    known = study.analysis.known
    has_both = any(p.name not in known for p in cost.parameters) and any(name not in known for name in PRIOR_PARAMETERS)
    return (Measure(INFORMATION, (PRIOR_COST if has_both else ALL,)),)


def read_measure(
    measure: Measure, study: Study, design: Design, summaries: xr.Dataset, second: xr.Dataset | None = None
) -> Reading:
    """The value of a measure.

    Args:
        measure: what.
        study: the question.
        design: of which.
        summaries: of its data sets.
        second: summaries of a goal's second group, for the power to tell groups apart.
    """
    is_good = summaries["is_good"].values
    if measure.is_of_design:
        return Reading(Score(measure_design(measure, design), 0.0), np.full(is_good.size, np.nan))
    if measure.score == FAILED:
        return Reading(score_share(~is_good), np.where(is_good, 0.0, 1.0))
    good = summaries.isel(dataset=np.flatnonzero(is_good))
    parts = np.full(is_good.size, np.nan)
    num = good.sizes["dataset"]
    if num < FEWEST:
        return Reading(Score(math.nan, math.nan), parts)
    if second is not None:
        both = is_good & second["is_good"].values
        good, second = summaries.isel(dataset=np.flatnonzero(both)), second.isel(dataset=np.flatnonzero(both))
        is_good, num = both, int(both.sum())
    statistic = _weigh(measure, study, design, good, second)
    whole, error = score_jackknife(statistic, num)
    left_out = statistic(np.ones((num, num)) - np.eye(num))
    pseudo = num * whole - (num - 1) * left_out
    parts[is_good] = -pseudo if measure.is_larger_better else pseudo
    if measure.score in SIZES:
        return Reading(Score(math.exp(whole), math.exp(whole) * error), parts)
    return Reading(Score(whole, error), parts)


def _weigh(measure: Measure, study: Study, design: Design, good: xr.Dataset, second: xr.Dataset | None) -> Statistic:
    """The measure as a function of weights on the data sets; the logarithm of a size."""
    if measure.score == POWER:
        return _weigh_power(measure, study, design, good, second)
    if measure.score in (INFORMATION, CONFOUNDING, REMAINING):
        values = _read_shape(measure, study, good)
        return lambda weights: weighted_mean(weights, values)
    parts = [_weigh_recovery(measure.score, good.sel(quantity=name)) for name in _list_quantities(measure, good)]
    return lambda weights: np.mean([part(weights) for part in parts], axis=0)


def _list_quantities(measure: Measure, good: xr.Dataset) -> list[str]:
    bases = good["base"].values.astype(str)
    return [str(name) for name, base in zip(good["quantity"].values, bases, strict=True) if base in measure.of]


def _weigh_recovery(score: str, summary: xr.Dataset) -> Statistic:
    truth, mean, sd, low, high = (summary[name].values.astype(float) for name in ("truth", "mean", "sd", "low", "high"))
    error = mean - truth
    is_inside = ((low <= truth) & (truth <= high)).astype(float)
    contraction = 1 - sd**2 / float(summary["prior_sd"]) ** 2
    statistics: dict[str, Statistic] = {
        "rmse": lambda weights: np.log(weighted_mean(weights, error**2)) / 2,
        "mse": lambda weights: np.log(weighted_mean(weights, error**2)),
        "width": lambda weights: np.log(weighted_mean(weights, high - low)),
        "bias": lambda weights: np.abs(weighted_mean(weights, error)),
        "coverage": lambda weights: weighted_mean(weights, is_inside),
        "contraction": lambda weights: weighted_mean(weights, contraction),
        "pearson": lambda weights: weigh_pearson(weights, truth, mean),
        "concordance": lambda weights: weigh_concordance(weights, truth, mean),
    }
    return statistics[score]


def _read_shape(measure: Measure, study: Study, good: xr.Dataset) -> Float[np.ndarray, " dataset"]:
    """Something about the shape of every posterior."""
    names = [str(name).partition("[")[0] for name in good["parameter"].values]
    covariance, prior = good["log_covariance"].values.astype(float), good["prior_log_covariance"].values.astype(float)
    if measure.score == REMAINING:
        return find_weakest(covariance, prior)[0]
    cost = [parameter.name for parameter in study.load_actor(study.cost).cost.parameters]
    of_prior = [i for i, name in enumerate(names) if name in PRIOR_PARAMETERS]
    of_cost = [i for i, name in enumerate(names) if name in cost]
    chosen = [*of_prior, *of_cost] if measure.of == (PRIOR_COST,) else list(range(len(names)))
    inner = np.ix_(chosen, chosen)
    covariance = covariance[:, inner[0], inner[1]]
    if measure.score == INFORMATION:
        return gain_information(covariance, prior[inner])
    # Of all: how much wider the cost's parameters are because anything else is unknown.
    return confound(covariance, [chosen.index(i) for i in of_cost] or list(range(len(chosen))))


def _weigh_power(measure: Measure, study: Study, design: Design, good: xr.Dataset, second: xr.Dataset | None) -> Statistic:
    goal = study.goals[int(measure.of[0]) - 1]
    bases = good["base"].values.astype(str).tolist()
    name = str(good["quantity"].values[bases.index(goal.quantity)])
    low, high = (good[end].sel(quantity=name).values.astype(float) for end in ("low", "high"))
    if goal.kind == EXCLUDES:
        value, margin = resolve_exclusion(goal, study.analysis.build_model(study.load_actor(study.cost), design))
        reached = ((low > value + margin) | (high < value - margin)).astype(float)
    elif goal.kind == NARROWER:
        reached = ((high - low) < (goal.width or 0.0)).astype(float)
    else:
        assert second is not None  # noqa: S101  (whoever reads the power of such a goal simulates both groups)
        means = [group["mean"].sel(quantity=name).values.astype(float) for group in (good, second)]
        return lambda weights: weigh_group_difference(weights, means[0], means[1], design.num_participants)
    return lambda weights: weighted_mean(weights, reached)
