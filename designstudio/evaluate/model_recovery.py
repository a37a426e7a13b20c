"""Model recovery: simulate each candidate cost, fit all of them, and see which wins."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from designstudio.core.cache import BlockCache
from designstudio.core.memory import check_memory
from designstudio.core.progress import Counter, ProgressCallback
from designstudio.evaluate.experiment import prepare_experiment, simulate_experiment
from designstudio.evaluate.fidelities import FIT_SETTINGS
from designstudio.evaluate.fingerprint import fingerprint_design
from designstudio.evaluate.limits import ADVICE, estimate_bytes
from designstudio.inference.run import fit_datasets
from designstudio.metrics.comparison import ModelRecovery, leave_one_out, score_model_recovery
from designstudio.model.costs import get_cost
from designstudio.study import Study
from designstudio.study.design import Design

COMPARISON = "comparison"
# One pair of costs is kept when it is finished.
BLOCK = 0


def recover_models(
    study: Study,
    design: Design,
    *,
    num_datasets: int | None = None,
    cache: BlockCache | None = None,
    progress: ProgressCallback | None = None,
) -> ModelRecovery:
    """Confusion and inversion between the study's candidates.

    Args:
        study: the question; population and analysis are used as far as they apply to each cost.
        design: one design.
        num_datasets: for each simulated cost; by default the study's.
        cache: where finished work is kept; by default in the user's cache folder.
        progress: called after every pair of costs.
    """
    num_datasets = study.num_datasets if num_datasets is None else num_datasets
    cache = BlockCache.default() if cache is None else cache
    model = study.analysis.build_model(study.load_actor(study.cost), design)
    most = max(condition.num_trials for condition in design.conditions)
    check_memory(
        estimate_bytes(model, num_datasets, most, FIT_SETTINGS[COMPARISON]),
        f"Model recovery with {design.num_trials:,} trials for {num_datasets:,} data sets",
        ADVICE,
    )
    pairs = [(simulated, fitted) for simulated in study.candidates for fitted in study.candidates]
    elpd, counter = {}, Counter(progress, len(pairs) * num_datasets)
    for place, (simulated, fitted) in enumerate(pairs):
        elpd[simulated, fitted] = _compute_elpd(pair_study(study, simulated, fitted), design, num_datasets, cache)
        counter.report((place + 1) * num_datasets, f"{design.name}, {simulated} fitted by {fitted}")
    table = [[elpd[simulated, fitted] for fitted in study.candidates] for simulated in study.candidates]
    coords = {"simulated": list(study.candidates), "fitted": list(study.candidates)}
    return score_model_recovery(xr.DataArray(np.array(table), dims=("simulated", "fitted", "dataset"), coords=coords))


def pair_study(study: Study, simulated: str, fitted: str) -> Study:
    """The study in which participants minimise one cost and the analysis assumes another."""
    of_simulated, of_fitted = (
        {parameter.name for parameter in get_cost(cost).all_parameters} for cost in (simulated, fitted)
    )
    population = study.population.replace(cost=simulated, priors=_keep(study.population.priors, of_simulated))
    analysis = dataclasses.replace(
        study.analysis,
        priors=_keep(study.analysis.priors, of_fitted),
        # A cost's own parameter is known only as far as participants have it.
        known=_keep(study.analysis.known, of_fitted & of_simulated),
        per_condition=tuple(name for name in study.analysis.per_condition if name in of_fitted),
        shared=tuple(name for name in study.analysis.shared if name in of_fitted),
    )
    return study.replace(cost=fitted, population=population, analysis=analysis, goals=(), quantities=())


def _compute_elpd(study: Study, design: Design, num_datasets: int, cache: BlockCache) -> np.ndarray:
    """Predictive density of every data set; NaN where the fit failed."""
    key = fingerprint_design(study, design, COMPARISON)
    found = cache.load(key, BLOCK)
    if found is None or found.sizes["dataset"] < num_datasets:
        experiment = prepare_experiment(study, design, first=0, num_datasets=num_datasets)
        trials = simulate_experiment(study, design, experiment)
        posterior = fit_datasets(
            experiment.fitted, trials, fixed=experiment.fixed, settings=FIT_SETTINGS[COMPARISON], seed=study.seed
        )
        loo = leave_one_out(posterior["log_likelihood"].to_dataset()["response"].values)
        is_good = posterior["diagnostics"].to_dataset()["is_good"].values
        found = xr.Dataset({"elpd": ("dataset", np.where(is_good, loo.elpd, np.nan)), "khat": ("dataset", loo.khat)})
        cache.save(key, BLOCK, found)
    return found["elpd"].values[:num_datasets]


def _keep(values: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}
