"""Summaries with known numbers in them, and exact posteriors of Gaussian models."""

import numpy as np
import xarray as xr

from designstudio.metrics.quantity.rmse import RootMeanSquaredError
from designstudio.metrics.samples import sample_quantity
from designstudio.metrics.summaries import label_summaries, summarize_draws

LOG_NOISE = 0.6


def make_summaries(truth, mean, *, sd=1.0, low=-1.0, high=1.0, prior_sd=1.0, is_good=True, numbers=None, name="mu_0"):
    """Summaries of one quantity; scalars stand for all data sets."""
    shape = np.shape(mean)
    arrays = {"truth": truth, "mean": mean, "sd": sd, "low": low, "high": high}
    columns = {key: np.broadcast_to(np.asarray(value, float), shape)[:, None] for key, value in arrays.items()}
    summaries = label_summaries([name], [], **columns)
    summaries["is_good"] = ("dataset", np.broadcast_to(is_good, shape))
    summaries["prior_sd"] = ("quantity", [prior_sd])
    return summaries.assign_coords(dataset=np.arange(shape[0]) if numbers is None else numbers)


def score_rmse(error):
    """The root mean squared error of estimates that are off by this much."""
    summaries = make_summaries(np.zeros_like(error), error)
    return RootMeanSquaredError().score(sample_quantity(summaries, "mu_0"))


def join_quantities(*summaries):
    """Summaries of several quantities from those of each."""
    return xr.concat(summaries, "quantity", data_vars="minimal", coords="minimal", compat="override", join="outer")


def make_covariances(names, covariances, prior, *, is_good=True):
    """Summaries that hold shapes of posteriors only."""
    dims = ("parameter", "parameter_other")
    variables = {
        "log_covariance": (("dataset", *dims), np.asarray(covariances, float)),
        "prior_log_covariance": (dims, np.asarray(prior, float)),
        "is_good": ("dataset", np.broadcast_to(is_good, len(covariances))),
    }
    return xr.Dataset(variables, coords={dim: list(names) for dim in dims})


def draw_exact_posteriors(rng, num_datasets, *, num_draws=250, scale=1.0, interval=0.95):
    """Summaries when log truth and log data are normal, and draws come from the exact posterior but for its scale."""
    log_truth = rng.normal(size=num_datasets)
    log_data = log_truth + LOG_NOISE * rng.normal(size=num_datasets)
    precision = 1 + LOG_NOISE**-2
    noise = rng.normal(size=(num_datasets, 4, num_draws)) / np.sqrt(precision)
    log_draws = (log_data / LOG_NOISE**2 / precision)[:, None, None] + scale * noise
    summaries = summarize_draws({"mu_0": np.exp(log_draws)}, {"mu_0": np.exp(log_truth)}, ["mu_0"], interval)
    summaries["is_good"] = ("dataset", np.ones(num_datasets, bool))
    # Of a log-normal variable.
    summaries["prior_sd"] = ("quantity", [np.sqrt((np.e - 1) * np.e)])
    return summaries
