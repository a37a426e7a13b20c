"""Pilots whose truth is known: simulated from a population, fitted, and laid out as fits of real data."""

import numpy as np

from designstudio.evaluate.experiment import prepare_experiment, simulate_experiment
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.reading import LoadReport
from designstudio.fitting.request import FitRequest
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.settings import FitSettings
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.priors import Interval, LogNormal
from designstudio.model.scale import Scale
from designstudio.study import Analysis, Known, Population, Study
from designstudio.study.design import Condition, Design, Stimuli

NUM_SUBJECTS, NUM_TRIALS = 20, 40
LEVELS = (0.1, 0.25)
TRUTH = {
    "mu_0": LogNormal(1.5, 0.15),
    "sigma_0": LogNormal(0.2, 0.2),
    "sigma_r": LogNormal(0.12, 0.15),
    "beta": LogNormal(0.85, 0.08, Interval(0.5, 1.0)),
}
SETTINGS = FitSettings(method="importance", num_draws=500, min_ess=200.0)
CLEAR, BLURRED = "clear", "blurred"


def make_design(stimuli=None):
    conditions = tuple(
        Condition(name, NUM_TRIALS, {"sigma": level}) for name, level in zip((CLEAR, BLURRED), LEVELS, strict=True)
    )
    return Design("truth", conditions, stimuli or Stimuli(low=0.5, high=3.0), 5.0, NUM_SUBJECTS)


def make_truth(seed=1, *, is_known=True, stimuli=None, cost="quadratic_effort", population=None):
    """The study from which a pilot comes."""
    return Study(
        cost,
        (make_design(stimuli),),
        population=Population(TRUTH if population is None else population),
        analysis=Analysis(known={"sigma": Known()} if is_known else {}),
        seed=seed,
    )


def make_pilot(truth, *, num_subjects=NUM_SUBJECTS, factor=1.0, unit="m"):
    """A fit of simulated subjects; their data are in `unit`, of which `factor` make the actor's."""
    design = truth.designs[0]
    experiment = prepare_experiment(truth, design, first=0, num_datasets=num_subjects)
    trials = simulate_experiment(truth, design, experiment)
    model = experiment.fitted
    posterior = fit_datasets(model, trials, fixed=experiment.fixed, settings=SETTINGS, seed=truth.seed)
    return lay_out(truth.cost, model, trials, posterior, experiment.fixed, factor=factor, unit=unit)


def lay_out(cost, model: BehaviorModel, trials, posterior, fixed, *, factor=1.0, unit="m"):
    """One fit as all fits to one set of data."""
    measured = trials.copy()
    for name in ("stimulus", "response"):
        measured[name] = (trials[name] * factor).assign_attrs({**trials[name].attrs, "units": unit})
    num = trials.sizes["dataset"]
    report = LoadReport((), 0, {}, (), (), (), (), unit, num, 2, int(np.sum(trials["is_present"].values)))
    known = {name: values.isel(dataset=0) for name, values in fixed.items()}
    # Not the seed of the truth: plans from its own random numbers would agree with it by more than they should.
    request = FitRequest((cost,), known, model.per_condition, settings=SETTINGS, seed=12345)
    scale = Scale(factor, unit)
    return EmpiricalFit("a pilot", measured, report, scale, request, {cost: model}, {cost: posterior}, {}, None, 1.0)


def find_moments(prior):
    """Mean and sd of the logarithm."""
    logs = np.log(prior.quantile((np.arange(2000) + 0.5) / 2000))
    return logs.mean(), logs.std()
