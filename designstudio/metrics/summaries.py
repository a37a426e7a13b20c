"""What is kept of every posterior: the one form in which all fidelities hand their results to the scores.

A Dataset with the dims `dataset`, `quantity` (free parameters and the study's quantities) and `parameter`, `parameter_other`
(free parameters):

| variable | dims | meaning |
|---|---|---|
| truth | dataset, quantity | the simulated participant's; NaN where there is none |
| mean, sd, low, high | dataset, quantity | of the posterior; low and high end the equal-tailed interval |
| rank | dataset, quantity | fractional rank of the truth among (nearly independent) draws |
| prior_sd | quantity | of the analysis prior |
| log_covariance | dataset, parameter, parameter_other | of the logarithms of the parameters |
| prior_log_covariance | parameter, parameter_other | the same of the analysis prior |
| information_gain | dataset, part | log p(data given parameters) - log p(data), of all of them, and of prior and cost |
| is_good, is_refitted, reason | dataset | the verdict on each fit |
| rhat | dataset | of chains; NaN where there are none |
| khat | dataset | of importance weights; NaN where there are none |
| ess | dataset | effective draws; NaN where nothing was sampled |
| mean_steps, mean_step_size | dataset | of trajectories, if there are chains |
| num_divergent, num_saturated, ebfmi | dataset | trajectories that broke down, or were as long as allowed; E-BFMI |
| has_jumps, jump_rate | dataset | whether chains may jump, and the share of draws that did |
| is_outside_prior, is_in_tail | dataset, parameter | where the truth lies in the analysis prior |
| mass_at_end | dataset, parameter, end | mass of the posterior at each end of the prior; NaN where nothing lies beyond it |
| prior_mass_at_end, prior_end | parameter, end | the prior's own mass there, and where the end is |
| is_outside_box | dataset, simulated | whether a simulated participant's parameter is outside of the actor's training box |
| is_belief_outside | dataset | whether beliefs of the simulated or of the fitted participant do |

Coordinates `symbol`, `unit` and `base` (the parameter's name without its condition) go along `quantity`.
"""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.metrics.calibration import fractional_ranks
from designstudio.metrics.intervals import compute_interval

NUM_RANKED = 200


def summarize_draws(
    draws: Mapping[str, Float[np.ndarray, "dataset chain draw"]],
    truth: Mapping[str, Float[np.ndarray, " dataset"]],
    parameters: list[str],
    interval: float,
) -> xr.Dataset:
    """The posterior part of the summaries, from draws.

    Args:
        draws: of all quantities.
        truth: of all quantities.
        parameters: which of them are free parameters.
        interval: probability of the intervals.
    """
    stacked = np.stack([np.asarray(values, np.float32) for values in draws.values()], axis=1)
    num_datasets, num_quantities, num_chains, num_draws = stacked.shape
    true = np.stack([np.asarray(truth[name], float) for name in draws], axis=1)
    flat = stacked.reshape(num_datasets, num_quantities, -1)
    mean = flat.mean(-1, dtype=np.float64)
    sd = flat.std(-1, dtype=np.float64, ddof=1)
    low, high = compute_interval(flat, interval)
    # Thinned along every chain: neighbours in a chain are not independent.
    thinned = stacked[..., :: max(1, num_chains * num_draws // NUM_RANKED)].reshape(num_datasets, num_quantities, -1)
    rank = fractional_ranks(thinned, true, rng=np.random.default_rng(0))
    by_name = {name: place for place, name in enumerate(draws)}
    logs = np.log(flat[:, [by_name[name] for name in parameters]].astype(np.float64))
    centred = logs - logs.mean(-1, keepdims=True)
    covariance = centred @ np.swapaxes(centred, 1, 2) / (logs.shape[-1] - 1)
    return label_summaries(
        list(draws), parameters, truth=true, mean=mean, sd=sd, low=low, high=high, rank=rank, log_covariance=covariance
    )


def label_summaries(quantities: list[str], parameters: list[str], **arrays: np.ndarray) -> xr.Dataset:
    """Arrays over (dataset, quantity), and `log_covariance`, as a Dataset."""
    dims = ("dataset", "quantity")
    variables = {
        name: (("dataset", "parameter", "parameter_other") if name == "log_covariance" else dims, values)
        for name, values in arrays.items()
    }
    return xr.Dataset(variables, coords={"quantity": quantities, "parameter": parameters, "parameter_other": parameters})
