"""Small designs and what can be said about a list of trials."""

import itertools

from hypothesis import strategies as st

from designstudio.study.design import Condition, Design, Stimuli
from tests.evaluate.make_study import STIMULI, TWO_LEVELS, make_study

GRID = Stimuli("grid", low=1.0, high=3.0, num_values=5)


def make_design(nums, stimuli=STIMULI, name="design"):
    """A design with so many trials in each condition, at levels 0.1, 0.15, ..."""
    conditions = tuple(Condition(f"level {k}", num, {"sigma": 0.1 + 0.05 * k}) for k, num in enumerate(nums))
    return Design(name, conditions, stimuli)


def make_question(*designs, **changes):
    return make_study(designs=designs or (TWO_LEVELS,), **changes)


designs = st.builds(
    make_design,
    st.lists(st.integers(1, 12), min_size=1, max_size=4),
    st.sampled_from([STIMULI, GRID, Stimuli("list", values=(0.5, 2.0, 2.5))]),
)


def find_longest_run(labels):
    """Most equal labels in a row."""
    return max((len(list(group)) for _, group in itertools.groupby(labels)), default=0)
