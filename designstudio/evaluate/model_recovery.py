"""Model recovery: simulate each candidate cost, fit all of them, and see which wins, if any does."""

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
from designstudio.inference.fit_datasets import fit_datasets
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
    model = study.build_model(design)
    most = max(condition.num_trials for condition in design.conditions)
    check_memory(
        estimate_bytes(model, num_datasets, most, FIT_SETTINGS[COMPARISON]),
        f"Model recovery with {design.num_trials:,} trials for {num_datasets:,} data sets",
        ADVICE,
    )
    pairs = [(simulated, fitted) for simulated in study.candidates for fitted in study.candidates]
    found, counter = [], Counter(progress, len(pairs) * num_datasets)
    for place, (simulated, fitted) in enumerate(pairs):
        pair = pair_study(study, simulated, fitted)
        found.append(compare_pair(pair, design, num_datasets=num_datasets, cache=cache))
        counter.report((place + 1) * num_datasets, f"{design.name}, {simulated} fitted by {fitted}")
    costs = list(study.candidates)
    arrays = {
        name: (
            ("simulated", "fitted", "dataset"),
            np.reshape([loo[name].values for loo in found], (len(costs), len(costs), -1)),
        )
        for name in ("elpd", "mcse", "khat")
    }
    return score_model_recovery(xr.Dataset(arrays, {"simulated": costs, "fitted": costs}))


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
        group_spreads=_keep(study.analysis.group_spreads, of_fitted),
    )
    # A search may be for goals, and these may be about parameters of another cost.
    return dataclasses.replace(
        study, cost=fitted, population=population, analysis=analysis, goals=(), quantities=(), search=None
    )


def compare_pair(
    study: Study, design: Design, *, num_datasets: int, cache: BlockCache, fit_seed: int | None = None
) -> xr.Dataset:
    """Leave-one-out of every data set: `elpd` (NaN where the fit failed), its Monte Carlo error `mcse`, the largest `khat`.

    Args:
        study: of one pair of costs; see `pair_study`.
        design: one design.
        num_datasets: how many.
        cache: where finished work is kept.
        fit_seed: of the fits' random numbers; by default the study's.
    """
    key = fingerprint_design(study, design, COMPARISON if fit_seed is None else f"{COMPARISON}, seed {fit_seed}")
    found = cache.load(key, BLOCK)
    if found is None or found.sizes["dataset"] < num_datasets:
        experiment = prepare_experiment(study, design, first=0, num_datasets=num_datasets)
        trials = simulate_experiment(study, design, experiment)
        posterior = fit_datasets(
            experiment.fitted,
            trials,
            fixed=experiment.fixed,
            settings=FIT_SETTINGS[COMPARISON],
            seed=study.seed if fit_seed is None else fit_seed,
        )
        diagnostics = posterior["diagnostics"].to_dataset()
        is_good = diagnostics["is_good"].values
        effective = np.maximum(diagnostics["ess"].values, 1.0)
        loo = leave_one_out(posterior["log_likelihood"].to_dataset()["response"].values, effective)
        found = xr.Dataset(
            {
                "elpd": ("dataset", np.where(is_good, loo.elpd, np.nan)),
                "mcse": ("dataset", loo.mcse),
                "khat": ("dataset", loo.khat),
            }
        )
        cache.save(key, BLOCK, found)
    return found.isel(dataset=slice(num_datasets))


def _keep(values: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}
