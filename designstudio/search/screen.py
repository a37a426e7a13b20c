"""Where to start: many designs through `information`, which takes milliseconds, and the best of them first."""

from collections.abc import Callable

import numpy as np

from designstudio.metrics.power import FalsePositives
from designstudio.search.designs import Parameters, identify_design
from designstudio.search.estimates import estimate_objective, list_objectives
from designstudio.search.evaluate_steps import Populations
from designstudio.search.feasible import draw_feasible, find_design
from designstudio.search.job import get_plan
from designstudio.search.sampling import NUM_STARTS
from designstudio.study import Study
from designstudio.study.goals import GROUPS_DIFFER

# Set apart from the numbers of candidates, which have their own.
SEED = 1_000_000_007


def screen_designs(question: Study, progress: Callable[[int, int], None] = lambda done, all_: None) -> list[Parameters]:
    """The best of many random designs, by what quick fits find; none where the aim is to tell groups apart."""
    plan, objectives = get_plan(question), list_objectives(question)
    aims = [objective for objective in objectives if not objective.is_of_design]
    compares_groups = any(aim.is_of_goal and question.find_goal(aim).kind == GROUPS_DIFFER for aim in aims)
    if plan.num_screened == 0 or compares_groups:
        return []
    # Power that comes from the prior would put the worst designs first.
    limits = [constraint for constraint in plan.constraints if isinstance(constraint.objective.metric, FalsePositives)]
    candidates = draw_feasible(plan, np.random.default_rng((question.seed, SEED)), plan.num_screened)
    values, is_broken, kept, seen = [], [], [], set()
    for place, parameters in enumerate(candidates):
        design = find_design(plan, parameters)
        if design is None or identify_design(design) in seen:
            continue
        seen.add(identify_design(design))
        asked = [*objectives, *(limit.objective for limit in limits)]
        populations = Populations(question, design, asked)
        populations.add_block("information", 0, plan.num_datasets)
        found = {aim: estimate_objective(aim, question, design, *populations.join(aim)) for aim in asked}
        estimates = {objective: found[objective] for objective in objectives}
        is_broken.append(any(limit.exceed(*found[limit.objective].score) > 0 for limit in limits))
        values.append(
            [o.orient(e.score.value) if o.is_of_design else _average(e.pseudo_values) for o, e in estimates.items()]
        )
        kept.append(parameters)
        progress(place + 1, len(candidates))
    order = sorted(rank_designs(np.array(values).reshape(len(kept), len(objectives))), key=lambda place: is_broken[place])
    return [kept[place] for place in order[:NUM_STARTS]]


def _average(pseudo_values: np.ndarray) -> float:
    """The mean over good fits; NaN, which comes last, if there are none."""
    return float(np.nanmean(pseudo_values)) if np.isfinite(pseudo_values).any() else float("nan")


def rank_designs(values: np.ndarray) -> list[int]:
    """From best to worst, smaller is better; with several aims, those first that fewest others beat in all of them."""
    if values.shape[1] == 1:
        return [int(place) for place in np.argsort(np.where(np.isnan(values[:, 0]), np.inf, values[:, 0]), kind="stable")]
    worse = (values[:, None, :] >= values[None, :, :]).all(-1) & (values[:, None, :] > values[None, :, :]).any(-1)
    return [int(place) for place in np.argsort(worse.sum(1), kind="stable")]
