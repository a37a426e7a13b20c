"""A small search for the paper's question: two levels, so that one shape is compiled for all tests."""

import dataclasses

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
