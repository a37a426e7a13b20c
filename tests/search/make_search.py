"""A small search for the paper's question: two levels, so that one shape is compiled for all tests."""

import dataclasses

from designstudio.search import search_job
from designstudio.search.designs import identify_design
from designstudio.study import Range, SearchPlan, Space
from tests.evaluate.make_study import TWO_LEVELS, make_study

SPACE = Space(
    {"levels": 2, "low_share": Range(0.2, 0.8), "trials": 90, "stimuli.low": 0.25, "stimuli.high": 5.0},
    parameter="sigma",
    level=Range(0.05, 0.35),
)
PLAN = SearchPlan(SPACE, num_datasets=32, num_screened=0, num_finalists=2, verify_fidelity="importance", num_fresh=20)
TEXT = """
title = "small"
cost = "quadratic_effort"
[population]
mu_0 = 1.5
sigma_0 = 0.2
sigma_r = 0.15
beta = 0.9
[analysis.known]
sigma = "truth"
[search]
datasets = 32
screen = 0
finalists = 2
verify_fidelity = "importance"
fresh_datasets = 20
[search.space]
levels = 2
sigma = { range = [0.05, 0.35] }
low_share = { range = [0.2, 0.8] }
trials = 90
stimuli = { low = 0.25, high = 5.0 }
"""


def make_question(space=SPACE, **changes):
    """A study with a search; changes are the plan's."""
    return make_study(designs=(TWO_LEVELS,), search=dataclasses.replace(PLAN, space=space, **changes))


def remember_evaluations(patch):
    """Evaluate each design of a question once; what is written, and when, stays as it is. Gives what really evaluates."""
    evaluate, seen = search_job.evaluate_steps, {}

    def look_up(study, design, fidelity, *, block_size, num_datasets, goes_on):
        key = repr((study, fidelity, block_size, num_datasets)), identify_design(design)
        if key not in seen:
            steps = seen[key] = []
            options = {"block_size": block_size, "num_datasets": num_datasets}
            evaluate(study, design, fidelity, **options, goes_on=lambda step: steps.append(step) is None)
        for step in seen[key]:
            if not goes_on(step):
                break
        return step

    patch.setattr(search_job, "evaluate_steps", look_up)
    return evaluate
