"""Where to start: many designs through `information`, which takes milliseconds, and the best of them first."""

from collections.abc import Callable

import numpy as np

from designstudio.errors import StudioError
from designstudio.evaluate.fidelities import summarize_datasets
from designstudio.search.designs import Parameters, identify_design
from designstudio.search.estimates import estimate_objective, list_objectives
from designstudio.search.evaluate_steps import list_group_goals
from designstudio.search.feasible import draw_feasible, find_design
from designstudio.search.job import get_plan
from designstudio.search.sampling import NUM_STARTS
from designstudio.study import Study

# Set apart from the numbers of candidates, which have their own.
SEED = 1_000_000_007


def screen_designs(question: Study, progress: Callable[[int, int], None] = lambda done, all_: None) -> list[Parameters]:
    """The best of many random designs, by what the expected information predicts.

    Returns nothing where it cannot predict: participants do not follow the fitted model, or the aim is to tell groups apart.
    """
    plan, objectives = get_plan(question), list_objectives(question)
    aims = [objective for objective in objectives if not objective.is_of_design]
    if plan.num_screened == 0 or list_group_goals(question, aims):
        return []
    candidates = draw_feasible(plan, np.random.default_rng((question.seed, SEED)), plan.num_screened)
    values, kept, seen = [], [], set()
    for place, parameters in enumerate(candidates):
        design = find_design(plan, parameters)
        if design is None or identify_design(design) in seen:
            continue
        seen.add(identify_design(design))
        try:
            summaries = summarize_datasets(question, design, "information", first=0, num_datasets=plan.num_datasets)
        except StudioError:
            return []
        estimates = {objective: estimate_objective(objective, question, design, summaries) for objective in objectives}
        values.append(
            [o.orient(e.score.value) if o.is_of_design else float(np.nanmean(e.pseudo_values)) for o, e in estimates.items()]
        )
        kept.append(parameters)
        progress(place + 1, len(candidates))
    order = rank_designs(np.array(values).reshape(len(kept), len(objectives)))
    return [kept[place] for place in order[:NUM_STARTS]]


def rank_designs(values: np.ndarray) -> list[int]:
    """From best to worst, smaller is better; with several aims, those first that fewest others beat in all of them."""
    if values.shape[1] == 1:
        return [int(place) for place in np.argsort(np.where(np.isnan(values[:, 0]), np.inf, values[:, 0]), kind="stable")]
    worse = (values[:, None, :] >= values[None, :, :]).all(-1) & (values[:, None, :] > values[None, :, :]).any(-1)
    return [int(place) for place in np.argsort(worse.sum(1), kind="stable")]
