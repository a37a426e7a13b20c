"""The paper's question, small: shapes repeat between tests, so that each is compiled once."""

from designstudio.model.priors import Constant
from designstudio.study import Analysis, Known, Population, Study
from designstudio.study.design import Condition, Design, Stimuli

STIMULI = Stimuli(low=0.25, high=5.0)
ONE_LEVEL = Design("one-level", (Condition("all trials", 90, {"sigma": 0.2}),), STIMULI)
TWO_LEVELS = Design("two-levels", (Condition("low", 45, {"sigma": 0.1}), Condition("high", 45, {"sigma": 0.2})), STIMULI)
TRUTH = {"mu_0": 1.5, "sigma_0": 0.2, "sigma_r": 0.15, "beta": 0.9}
EVERYONE_THE_SAME = Population({name: Constant(value) for name, value in TRUTH.items()})


def make_study(**changes):
    """Quadratic effort with known sigma, as in the paper's figure."""
    defaults = {
        "cost": "quadratic_effort",
        "designs": (ONE_LEVEL, TWO_LEVELS),
        "population": EVERYONE_THE_SAME,
        "analysis": Analysis(known={"sigma": Known()}),
        "num_datasets": 100,
    }
    return Study(**{**defaults, **changes})
