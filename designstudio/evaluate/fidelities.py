"""Fidelities: four ways from a design to the same result, summaries of every data set's posterior, cheap to thorough.

All simulate the same participants and responses, and differ in how they fit them:

* `information`: importance sampling with few draws, which sees the information in the data only: regressions in place of
  trials. For power-law costs these tell all that the trials do; for other costs responses are taken to be Gaussian.
* `importance`: importance sampling that sees every trial.
* `nuts`: NUTS, with trees, step sizes and mass matrices as usual; where a direction stays open its chains jump, too.
* `paper`: the same with the paper's number of draws and threshold of R-hat.
"""

from typing import Any

import numpy as np
import xarray as xr

from designstudio.core.progress import ProgressCallback
from designstudio.evaluate.edges import find_edges
from designstudio.evaluate.entries import (
    compute_entries,
    compute_truth,
    list_entries,
    split_draws,
    summarize_prior,
)
from designstudio.evaluate.experiment import Experiment, prepare_experiment, simulate_experiment
from designstudio.evaluate.information_gain import PARTS, compute_gains
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.settings import FitSettings
from designstudio.metrics.posterior.information_gain import InformationGain
from designstudio.metrics.summaries import summarize_draws
from designstudio.study import Study
from designstudio.study.design import Design

# What importance sampling cannot fit it repeats with a better proposal, and then reports.
FIT_SETTINGS = {
    # A slider waits for these: just enough draws for the interval of one data set, in rounds just large enough to learn.
    "information": FitSettings(
        method="importance",
        num_draws=128,
        min_ess=50.0,
        min_block_size=128,
        num_draws_a_round=64,
        num_components=2,
        num_refits=1,
        sees_ranges=True,
        keeps_log_likelihood=False,
    ),
    # Scores are averages over data sets: a few hundred effective draws of each are plenty.
    "importance": FitSettings(method="importance", num_draws=500, min_ess=200.0, keeps_log_likelihood=False),
    "nuts": FitSettings(method="nuts", num_draws=500, keeps_log_likelihood=False),
    # 20,000 draws in 4 chains, and the threshold of R-hat, as in the paper.
    "paper": FitSettings(method="nuts", num_draws=5000, max_rhat=1.05, keeps_log_likelihood=False),
    # For leave-one-out, which takes its time for every draw of every trial: the same fits with their log likelihood.
    "comparison": FitSettings(method="importance", num_draws=500, min_ess=200.0),
}
FIRST_STAGES = ("importance", "nuts")
# What is told about chains, beside how well they mixed.
CHAIN_FACTS = ("mean_steps", "mean_step_size", "num_divergent", "num_saturated", "ebfmi", "has_jumps", "jump_rate")

Verdicts = dict[str, tuple[str, np.ndarray]]


def summarize_datasets(
    study: Study,
    design: Design,
    fidelity: str,
    *,
    first: int,
    num_datasets: int,
    progress: ProgressCallback | None = None,
) -> xr.Dataset:
    """Summaries of the data sets numbered from `first` on; see `designstudio.metrics.summaries`."""
    experiment = prepare_experiment(study, design, first=first, num_datasets=num_datasets)
    entries = list_entries(experiment.fitted, design, study.quantities)
    truth = compute_truth(entries, experiment.participants, study.quantities)
    prior = summarize_prior(experiment.fitted, entries, study.quantities, experiment.fixed)
    # What takes milliseconds is not worth counting.
    reported = None if fidelity == "information" else progress
    settings = FIT_SETTINGS[fidelity]
    trials = simulate_experiment(study, design, experiment)
    values, verdicts, log_evidence = _fit(study, trials, experiment, settings, reported)
    draws = compute_entries(entries, values, study.quantities)
    parameters = [entry.name for entry in entries if entry.is_parameter]
    logs = np.log(np.stack([truth[name] for name in parameters], axis=1))
    gains = compute_gains(study, experiment, trials, logs, prior["prior_log_covariance"], log_evidence, settings)
    summaries = summarize_draws(draws, truth, parameters, study.interval).assign(verdicts)
    summaries["prior_sd"] = ("quantity", prior["prior_sd"])
    summaries["prior_log_covariance"] = (("parameter", "parameter_other"), prior["prior_log_covariance"])
    summaries = summaries.assign({InformationGain.name: (("dataset", "part"), gains)}).assign_coords(part=list(PARTS))
    conditions = [condition.name for condition in design.conditions]
    summaries = summaries.assign(find_edges(experiment, entries, truth, values, conditions).variables)
    return summaries.assign_coords(
        dataset=experiment.participants["dataset"].values,
        symbol=("quantity", [entry.symbol for entry in entries]),
        unit=("quantity", [entry.unit for entry in entries]),
        base=("quantity", [entry.base for entry in entries]),
    )


def _fit(
    study: Study, trials: xr.Dataset, experiment: Experiment, settings: FitSettings, progress: ProgressCallback | None
) -> tuple[dict[str, Any], Verdicts, np.ndarray]:
    """Draws from fits to simulated responses, the verdict on each fit, and the log evidence."""
    posterior = fit_datasets(
        experiment.fitted, trials, fixed=experiment.fixed, settings=settings, seed=study.seed, progress=progress
    )
    draws, diagnostics = posterior["posterior"].to_dataset(), posterior["diagnostics"].to_dataset()
    chains = {name: ("dataset", diagnostics[name].values.astype(float)) for name in CHAIN_FACTS}
    # Weights have a k-hat, chains an R-hat. That of the proposal from which chains start says nothing about the chains.
    is_weighted = settings.method == "importance"
    nothing = np.full(diagnostics.sizes["dataset"], np.nan)
    verdicts: Verdicts = {
        "is_good": ("dataset", diagnostics["is_good"].values),
        "is_refitted": ("dataset", ~np.isin(diagnostics["stage"].values, FIRST_STAGES)),
        "rhat": ("dataset", nothing if is_weighted else diagnostics["rhat"].values),
        "khat": ("dataset", diagnostics["khat"].values if is_weighted else nothing),
        "ess": ("dataset", diagnostics["importance_ess" if is_weighted else "ess"].values),
        "reason": ("dataset", diagnostics["reason"].values.astype(str)),
        **({} if is_weighted else chains),
    }
    return split_draws(draws, experiment.fixed), verdicts, diagnostics["log_evidence"].values
