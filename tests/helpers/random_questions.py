"""Random questions to the studio, sensible and odd ones, and what is wrong with its answers.

Numbers of data sets and of trials stay in one bucket, and what programs depend on (cost, number of levels, what is known)
has few values, so that hundreds of questions share some dozen programs.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from designstudio.core.cache import BlockCache
from designstudio.errors import StudioError
from designstudio.evaluate.evaluate_study import StudyResult, evaluate_study
from designstudio.evaluate.status import RULES, TOLD_APART
from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.model.parameters import Parameter
from designstudio.model.priors import AbstractPrior, Constant, LogNormal, Uniform
from designstudio.study import Analysis, Goal, Known, Population, Quantity, Study
from designstudio.study.design import Condition, Design, Stimuli

NUM_DATASETS = 10
MOST_LEVELS = 4
FORMULAS = ("sigma_0 / sigma[0]", "log(mu_0)", "mu_0 * sigma_r", "sigma_0 ** 2 + sigma_r ** 2")
# Of which nothing can be learned.
ODD_FORMULAS = ("mu_0 / 0", "2", "mu_0 - mu_0")
KNOWN = (("sigma",), ("sigma",), (), ("sigma", "sigma_r"))
# What no sentence, cell or key may hold.
NO_NUMBER = re.compile(r"\b(nan|inf|None)\b", re.IGNORECASE)


class Answer(NamedTuple):
    """What the studio said to a question.

    Attributes:
        status: of each design; empty if the question was refused.
        refusal: the sentence with which it was refused, or nothing.
        faults: what is wrong with the answer.
    """

    status: tuple[str, ...]
    refusal: str
    faults: tuple[str, ...]


def make_question(seed: int, *, cost: str | None = None, num_levels: int | None = None, knows_sigma: bool = False) -> Study:
    """One of very many questions.

    Args:
        seed: of the question.
        cost: by default any of the paper's.
        num_levels: of uncertainty, by default 1 to 4.
        knows_sigma: whether the fit knows sigma and nothing else; by default something.
    """
    rng = np.random.default_rng(seed)
    drawn_cost, drawn_levels, known = _pick(rng, PAPER_COST_NAMES), int(rng.integers(1, MOST_LEVELS + 1)), _pick(rng, KNOWN)
    fitted = get_cost(cost or drawn_cost)
    known = ("sigma",) if knows_sigma else known
    num_levels = num_levels or drawn_levels
    # Every other question is one that somebody might ask.
    is_odd = bool(rng.random() < 0.5)
    formulas = (*FORMULAS, *ODD_FORMULAS) if is_odd else FORMULAS
    quantities = tuple(Quantity.from_formula(f"quantity {k}", _pick(rng, formulas)) for k in range(rng.integers(3)))
    free = [parameter for parameter in fitted.all_parameters if parameter.name not in known]
    return Study(
        fitted.name,
        tuple(_make_design(rng, f"design {k}", num_levels, is_odd=is_odd) for k in range(rng.integers(1, 3))),
        population=Population(
            {p.name: _make_prior(rng, p) for p in fitted.all_parameters if is_odd and rng.random() < 0.6},
            follows_analysis=bool(rng.random() < 0.3),
        ),
        analysis=Analysis(known={name: Known() for name in known}),
        quantities=quantities,
        goals=_drop_repeated(_make_goal(rng, free, quantities) for _ in range(rng.integers(3))),
        fidelity="information",
        num_datasets=NUM_DATASETS,
        interval=float(rng.choice([0.8, 0.94])),
        seed=int(rng.integers(2**31 - 1)),
    )


def answer_question(study: Study) -> Answer:
    """Ask, and look for what an answer must not be. Errors that are no sentence for a user are raised."""
    try:
        result = evaluate_study(study, cache=BlockCache(None))
    except StudioError as error:
        return Answer((), str(error), tuple(_find_no_numbers([str(error)])))
    sentences = [*result.verdict, *(evaluation.status.sentence for evaluation in result.evaluations)]
    cells = [f"{row[0]}: {cell}" for row in result.overview().rows for cell in row[1:]]
    faults = [*_find_no_numbers([*sentences, *cells]), *_find_overconfident(result)]
    # JSON has no NaN: this would raise.
    json.dumps(result.as_dict(), allow_nan=False)
    return Answer(tuple(evaluation.status.name for evaluation in result.evaluations), "", tuple(faults))


def _find_no_numbers(texts: list[str]) -> list[str]:
    return [text for text in texts if NO_NUMBER.search(text)]


def _find_overconfident(result: StudyResult) -> list[str]:
    """Designs that are said to tell prior and cost apart, although the cost's parameter was not learned."""
    own = {parameter.name for parameter in get_cost(result.study.cost).parameters}
    faults = []
    for evaluation in result.evaluations:
        summaries = evaluation.summaries.isel(dataset=evaluation.summaries["is_good"].values)
        # As the metric defines it, computed here by itself.
        contraction = 1 - (summaries["sd"] ** 2).mean("dataset") / summaries["prior_sd"] ** 2
        for name in own & set(summaries["parameter"].values.tolist()):
            value = float(contraction.sel(quantity=name))
            if evaluation.status.name == TOLD_APART and not value >= RULES.min_contraction:
                faults.append(f"{evaluation.design.name} is {TOLD_APART}, but the contraction of {name} is {value:.2f}")
    return faults


def _pick(rng: np.random.Generator, options: Sequence[Any]) -> Any:
    return options[int(rng.integers(len(options)))]


def _make_prior(rng: np.random.Generator, parameter: Parameter) -> AbstractPrior:
    """A constant, some range, or one that lies where no actor was trained."""
    box = parameter.box
    low, high = sorted(rng.uniform(box.low, box.high, 2))
    middle = float(np.sqrt(low * high))
    is_open = parameter.support.high == np.inf
    far = [Constant(min(3 * box.high, 4.9)), Constant(box.low / 10), LogNormal(middle, 0.3)] if is_open else []
    return _pick(rng, [Constant(middle), Constant(box.high), Uniform(low, high + 1e-3 * (box.high - low)), *far])


def _make_design(rng: np.random.Generator, name: str, num_levels: int, *, is_odd: bool) -> Design:
    levels = np.sort(rng.permutation(np.geomspace(0.02, 0.45, 12))[:num_levels])
    conditions = tuple(
        Condition(
            f"level {k}", int(_pick(rng, (1, 2, 5, 20, 45, 90, 120) if is_odd else (45, 120))), {"sigma": float(level)}
        )
        for k, level in enumerate(levels)
    )
    stimuli = _make_stimuli(rng) if is_odd else Stimuli(low=0.25, high=5.0)
    return Design(name, conditions, stimuli, num_participants=int(_pick(rng, (1, 2, 20))))


def _make_stimuli(rng: np.random.Generator) -> Stimuli:
    low = float(rng.uniform(0.05, 2))
    high = low * float(rng.uniform(1.01, 10))
    kind = _pick(rng, ("uniform", "log-uniform", "grid", "list"))
    if kind == "list":
        return Stimuli(kind, values=tuple(float(value) for value in rng.uniform(low, high, rng.integers(1, 4))))
    return Stimuli(kind, low, high, int(rng.integers(2, 9)) if kind == "grid" else None)


def _drop_repeated(goals: Iterable[Goal]) -> tuple[Goal, ...]:
    """Studies refuse goals of the same name."""
    return tuple({goal.label: goal for goal in goals}.values())


def _make_goal(rng: np.random.Generator, free: list[Parameter], quantities: tuple[Quantity, ...]) -> Goal:
    parameter = _pick(rng, free)
    name = _pick(rng, [parameter.name, *(quantity.name for quantity in quantities)])
    kind = _pick(rng, ("excludes", "narrower", "groups-differ"))
    if kind == "excludes":
        return Goal(kind, name, value=float(rng.uniform(parameter.box.low, parameter.box.high)))
    if kind == "narrower":
        return Goal(kind, name, width=float(rng.uniform(0.01, 1)))
    return Goal(kind, name, group={parameter.name: _make_prior(rng, parameter)})
