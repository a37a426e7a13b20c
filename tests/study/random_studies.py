"""Random studies that a study file can hold: everything that can be said, in all combinations."""

import math

import numpy as np

from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.model.priors import Constant, HalfNormal, Interval, LogNormal, Uniform
from designstudio.study import (
    Analysis,
    Choice,
    Constraint,
    Goal,
    Known,
    Objective,
    Population,
    Quantity,
    Range,
    SearchPlan,
    Space,
    Study,
)
from designstudio.study.design import PRESETS, Condition, Design, Stimuli
from designstudio.study.search_plan import SAMPLERS

TEXTS = ("plain", 'with "quotes"', "back\\slash", "µ₀ = 3 # no comment", "[brackets]", "it's 10 % {x}", "日本 🙂", " ' ")
FORMULAS = ("sigma_0 / sigma[0]", "log(mu_0) - 2 * sigma_r ** 2", "sqrt(mu_0)")
OF_QUANTITIES = ("rmse", "mse", "bias", "width", "pearson", "concordance", "coverage", "contraction")
OF_DESIGN = ("minutes", "hours", "trials", "participants", "smallest_level")
FIDELITIES = ("information", "importance", "nuts", "paper")


def make_random_study(seed):
    """One of very many studies."""
    rng = np.random.default_rng(seed)
    fitted, other = (get_cost(str(name)) for name in rng.choice(PAPER_COST_NAMES, 2, replace=False))
    has_other = rng.random() < 0.3
    simulated = other if has_other else fitted
    quantities = tuple(
        Quantity.from_formula(f"{choose(rng, TEXTS)} {k}", choose(rng, FORMULAS)) for k in range(rng.integers(3))
    )
    names = [parameter.name for parameter in fitted.all_parameters]
    known = {name: make_known(rng) for name in some(rng, names[:3])}
    free = [name for name in names if name not in known]
    scored = [*free, *(quantity.name for quantity in quantities)]
    goals = tuple({g.label: g for g in (make_goal(rng, scored, simulated) for _ in range(rng.integers(4)))}.values())
    per_condition = tuple(some(rng, free))
    return Study(
        fitted.name,
        tuple(make_design(rng, k, simulated) for k in range(rng.integers(1, 4))),
        title=choose(rng, ("", *TEXTS)),
        actor=choose(rng, ("amortized", "exact")),
        population=Population(
            {p.name: make_prior(rng, p, has_constants=True) for p in some(rng, simulated.all_parameters)},
            cost=other.name if has_other else None,
            follows_analysis=bool(rng.random() < 0.3),
            lapse_rate=choose(rng, (0.0, float(rng.random()))),
            outlier_rate=choose(rng, (0.0, float(rng.random()))),
            outlier_scale=choose(rng, (1.0, float(rng.random() + 0.1))),
        ),
        analysis=Analysis(
            priors={p.name: make_prior(rng, p) for p in some(rng, fitted.all_parameters)},
            known=known,
            per_condition=per_condition,
            shared=tuple(name for name in some(rng, names) if name not in per_condition),
        ),
        quantities=quantities,
        goals=goals,
        candidates=() if len(compared := some(rng, PAPER_COST_NAMES)) == 1 else tuple(compared),
        fidelity=choose(rng, FIDELITIES),
        num_datasets=int(rng.integers(10, 1000)),
        interval=float(rng.uniform(0.5, 0.99)),
        seed=int(rng.integers(2**31 - 1)),
        search=make_search(rng, simulated, scored, [goal.label for goal in goals]) if rng.random() < 0.7 else None,
    )


def choose(rng, options):
    return options[int(rng.integers(len(options)))]


def some(rng, options):
    return [option for option in options if rng.random() < 0.4]


def between(rng, interval):
    """A number of many digits, sometimes a short one."""
    number = float(rng.uniform(interval.low, interval.high))
    return choose(rng, (number, float(f"{number:.2g}"))) if interval.low > 0.01 else number


def make_prior(rng, parameter, *, has_constants=False):
    box = parameter.box
    low, high = sorted((between(rng, box), between(rng, box)))
    low, high = (low, high) if high > low * 1.01 else (box.low, box.high)
    families = [
        Uniform(low, high),
        HalfNormal(high).within(Interval(low, high)),
        LogNormal(math.sqrt(low * high), float(rng.uniform(0.01, 0.5))).within(Interval(low, high)),
        *([LogNormal(low, 0.2), HalfNormal(high)] if math.isinf(parameter.support.high) else []),
        *([Constant(low)] if has_constants else []),
    ]
    return choose(rng, families)


def make_known(rng):
    # A value that every one of the first three parameters may have.
    return choose(rng, (Known(), Known(value=float(rng.uniform(0.1, 0.5))), Known(factor=float(rng.uniform(0.5, 2)))))


def make_goal(rng, names, simulated):
    quantity = choose(rng, names)
    kind = choose(rng, ("excludes", "narrower", "groups-differ"))
    if kind == "excludes":
        return Goal(kind, quantity, value=float(rng.normal()), margin=choose(rng, (None, 0.0, float(rng.random()))))
    if kind == "narrower":
        return Goal(kind, quantity, width=float(rng.random() + 0.01), name=choose(rng, ("", "a precise estimate")))
    priors = {p.name: make_prior(rng, p, has_constants=True) for p in some(rng, simulated.all_parameters)}
    return Goal(kind, quantity, group=priors or {"mu_0": Constant(1.0)})


def make_stimuli(rng):
    low = float(rng.uniform(0.1, 1))
    high = low + float(rng.uniform(0.1, 4))
    kind = choose(rng, ("uniform", "log-uniform", "grid", "list"))
    if kind == "list":
        return Stimuli(kind, values=tuple(float(value) for value in rng.uniform(low, high, rng.integers(1, 6))))
    return Stimuli(kind, low, high, int(rng.integers(2, 9)) if kind == "grid" else None)


def make_design(rng, number, simulated):
    name = f"{choose(rng, TEXTS)} {number}"
    if rng.random() < 0.2:
        preset = choose(rng, list(PRESETS.values()))
        return Design(name, preset.conditions, preset.stimuli, preset.seconds_per_trial, int(rng.integers(1, 9)))
    parameters = simulated.all_parameters
    levels = some(rng, parameters[:3])
    own = [parameter for parameter in some(rng, parameters) if parameter not in levels]
    conditions = tuple(
        Condition(
            f"{choose(rng, TEXTS)} {k}",
            int(rng.integers(1, 99)),
            {p.name: between(rng, p.box) for p in levels},
            {p.name: make_prior(rng, p) for p in some(rng, own)},
            choose(rng, (None, make_stimuli(rng))),
        )
        for k in range(rng.integers(1, 4))
    )
    return Design(name, conditions, make_stimuli(rng), float(rng.uniform(1, 9)), int(rng.integers(1, 50)))


def make_variable(rng, low, high, *, is_whole=False):
    """A value, a range with or without steps, or a choice."""
    if is_whole:
        options = (low, Range(low, high), Range(low, high, 2), Choice((low, high)))
    else:
        low, high = float(rng.uniform(low, (low + high) / 2)), float(high)
        options = (low, Range(low, high), Range(low, high, (high - low) / 8), Choice((low, high)))
    return choose(rng, options)


def make_space(rng, simulated):
    kinds = choose(rng, ("uniform", "log-uniform", "grid", Choice(("uniform", "grid")), Choice(("uniform", "log-uniform"))))
    variables = {
        "stimuli.distribution": kinds,
        "stimuli.low": make_variable(rng, 0.1, 0.9),
        "stimuli.high": make_variable(rng, 1.5, 5),
        # Something is left to be searched, whatever the others are.
        "low_share": Range(float(rng.uniform(0.1, 0.4)), 0.75),
    }
    if kinds == "grid" or (isinstance(kinds, Choice) and "grid" in kinds.options):
        variables["stimuli.num_values"] = make_variable(rng, 2, 8, is_whole=True)
    length = choose(rng, ("trials", "minutes"))
    variables[length] = make_variable(rng, 30, 90, is_whole=length == "trials")
    if rng.random() < 0.5:
        variables["participants"] = make_variable(rng, 1, 20, is_whole=True)
    seconds = float(rng.uniform(1, 9))
    if rng.random() < 0.3:
        return Space(variables, seconds_per_trial=seconds)
    parameter = choose(rng, simulated.all_parameters)
    low, high = sorted((between(rng, parameter.box), between(rng, parameter.box)))
    level = choose(rng, (Range(low, high), Choice((low, high)))) if high > low else Range(low, low * 1.01)
    variables["levels"] = make_variable(rng, 1, 4, is_whole=True)
    variables["spacing"] = choose(rng, ("log", "linear", "free", Choice(("log", "free"))))
    return Space(variables, parameter.name, level, seconds)


def make_objective(rng, names, goals):
    kind = choose(rng, ("recovery", "information", "whole", "design", *(["power"] if goals else [])))
    if kind == "recovery":
        return Objective(choose(rng, OF_QUANTITIES), tuple(some(rng, names)) or (names[0],))
    if kind == "information":
        return Objective(choose(rng, ("information_gain", "confounding")), choose(rng, (("prior_cost",), ("all",), ())))
    if kind == "power":
        number = str(int(rng.integers(1, len(goals) + 1)))
        return Objective("power", choose(rng, ((), (number,), (choose(rng, goals),)))).name_goal(goals)
    return Objective(choose(rng, ("remaining", "failed") if kind == "whole" else OF_DESIGN))


def make_search(rng, simulated, names, goals):
    objectives = tuple(dict.fromkeys(make_objective(rng, names, goals) for _ in range(rng.integers(3))))
    if objectives and all(objective.is_of_design for objective in objectives):
        objectives = ()
    ends = ({"at_most": float(rng.random())}, {"at_least": float(rng.random())}, {"at_most": 3, "at_least": 1.5})
    return SearchPlan(
        make_space(rng, simulated),
        objectives,
        tuple(Constraint(make_objective(rng, names, goals), **choose(rng, ends)) for _ in range(rng.integers(3))),
        sampler=choose(rng, SAMPLERS),
        fidelity=choose(rng, FIDELITIES),
        num_datasets=int(rng.integers(16, 200)),
        races=bool(rng.random() < 0.5),
        num_screened=int(rng.integers(300)),
        num_finalists=int(rng.integers(1, 5)),
        verify_fidelity=choose(rng, FIDELITIES),
        num_fresh=int(rng.integers(10, 400)),
    )
