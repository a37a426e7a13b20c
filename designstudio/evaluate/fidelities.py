"""Fidelities: four ways from a design to the same result, summaries of every data set's posterior, cheap to thorough.

All simulate the same participants and responses, and differ in how they fit them:

* `information`: importance sampling with few draws, which sees the information in the data only: regressions in place of
  trials. For power-law costs these tell all that the trials do; for other costs responses are taken to be Gaussian.
* `importance`: importance sampling that sees every trial.
* `nuts`: NUTS, with trees, step sizes and mass matrices as usual; where a direction stays open its chains jump, too.
* `paper`: the same with the paper's number of draws and threshold of R-hat.
"""

import numpy as np
import xarray as xr

from designstudio.core.progress import ProgressCallback
from designstudio.evaluate.edges import find_edges
from designstudio.evaluate.entries import (
    compute_entries,
    compute_truth,
    list_entries,
    restore_values,
    split_draws,
    summarize_prior,
)
from designstudio.evaluate.experiment import prepare_experiment, show_participants, simulate_experiment
from designstudio.evaluate.information_gain import PARTS, compute_gains
from designstudio.inference.fit_datasets import Fits, sample_datasets
from designstudio.inference.settings import FitSettings
from designstudio.metrics.posterior.information_gain import InformationGain
from designstudio.metrics.summaries import summarize_draws
from designstudio.model.likelihood.packing import pack_trials
from designstudio.study import Study
from designstudio.study.design import Design

# What importance sampling cannot fit it repeats with a better proposal, and then reports.
FIT_SETTINGS = {
    # A slider waits for these: just enough draws for the interval of one data set, in rounds just large enough to learn.
    "information": FitSettings(
        method="importance",
        num_draws=128,
        min_ess=50.0,
        min_ess_tail=0.0,
        min_block_size=128,
        num_draws_a_round=64,
        num_components=2,
        num_refits=1,
        num_patient_repeats=4,
        sees_ranges=True,
        keeps_log_likelihood=False,
    ),
    # Scores are averages over data sets: a few hundred effective draws of each are plenty, wherever they are.
    "importance": FitSettings(
        method="importance", num_draws=500, min_ess=200.0, min_ess_tail=0.0, keeps_log_likelihood=False
    ),
    "nuts": FitSettings(method="nuts", num_draws=500, keeps_log_likelihood=False),
    # 20,000 draws in 4 chains, and the threshold of R-hat, as in the paper.
    "paper": FitSettings(method="nuts", num_draws=5000, max_rhat=1.05, keeps_log_likelihood=False),
    # For leave-one-out, which takes its time for every draw of every trial: the same fits with their log likelihood.
    "comparison": FitSettings(method="importance", num_draws=500, min_ess=200.0, min_ess_tail=0.0),
}
FIRST_STAGES = ("importance", "nuts")
# What is told about chains, beside how well they mixed.
CHAIN_FACTS = ("mean_steps", "mean_step_size", "num_divergent", "num_saturated", "ebfmi", "has_jumps", "jump_rate")


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
    fitted, scale = experiment.fitted, experiment.scale
    entries = list_entries(fitted, design, study.quantities, scale)
    truth = compute_truth(entries, show_participants(experiment), study.quantities)
    prior = summarize_prior(fitted, entries, study.quantities, experiment.fixed, scale)
    # What takes milliseconds is not worth counting.
    reported = None if fidelity == "information" else progress
    settings = FIT_SETTINGS[fidelity]
    trials = simulate_experiment(study, design, experiment)
    observations = pack_trials(trials, fitted, experiment.fixed)
    fits = sample_datasets(fitted, trials, observations, settings=settings, seed=study.seed, progress=reported)
    values = split_draws(fits.draws, experiment.fixed)
    draws = compute_entries(entries, restore_values(values, fitted, scale), study.quantities)
    free = [entry for entry in entries if entry.is_parameter]
    parameters, of_actor = [entry.name for entry in free], compute_truth(free, experiment.participants, ())
    logs = np.log(np.stack([of_actor[name] for name in parameters], axis=1))
    log_evidence = fits.diagnostics["log_evidence"]
    gains = compute_gains(study, experiment, observations, logs, prior["prior_log_covariance"], log_evidence, settings)
    conditions = [condition.name for condition in design.conditions]
    # Put together at once: sliders wait for it, and every step with labels takes its time.
    edges = find_edges(experiment, entries, of_actor, values, conditions)
    drawn = summarize_draws(draws, truth, parameters, study.interval)
    return xr.Dataset(
        {
            **drawn.variables,
            **_describe_fits(fits, settings),
            "prior_sd": ("quantity", prior["prior_sd"]),
            "prior_log_covariance": (("parameter", "parameter_other"), prior["prior_log_covariance"]),
            InformationGain.name: (("dataset", "part"), gains),
            **edges,
        },
        coords={
            "part": list(PARTS),
            "dataset": experiment.participants["dataset"].values,
            "symbol": ("quantity", [entry.symbol for entry in entries]),
            "unit": ("quantity", [entry.unit for entry in entries]),
            "base": ("quantity", [entry.base for entry in entries]),
        },
    )


def _describe_fits(fits: Fits, settings: FitSettings) -> dict[str, tuple[str, np.ndarray]]:
    """The verdict on each fit."""
    diagnostics = fits.diagnostics
    # Weights have a k-hat, chains an R-hat. That of the proposal from which chains start says nothing about the chains.
    is_weighted = settings.method == "importance"
    nothing = np.full(len(diagnostics["is_good"]), np.nan)
    chains = {} if is_weighted else {name: diagnostics[name].astype(float) for name in CHAIN_FACTS}
    verdicts = {
        "is_good": diagnostics["is_good"],
        "is_refitted": ~np.isin(diagnostics["stage"], FIRST_STAGES),
        "rhat": nothing if is_weighted else diagnostics["rhat"],
        "khat": diagnostics["khat"] if is_weighted else nothing,
        "ess": diagnostics["importance_ess" if is_weighted else "ess"],
        "reason": diagnostics["reason"].astype(str),
        **chains,
    }
    return {name: ("dataset", values) for name, values in verdicts.items()}
