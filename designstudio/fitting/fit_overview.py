"""Fits of real data as tables: costs side by side for people, one row a number for programs."""

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from designstudio.metrics.monte_carlo import Score

if TYPE_CHECKING:
    import pandas as pd

    from designstudio.fitting.empirical_fit import EmpiricalFit

Table = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


def tabulate_costs(fit: "EmpiricalFit") -> Table:
    """Heads and rows: which cost predicts best, if several were fitted, and how many fits failed."""
    num_failed = {cost: sum(failure.cost == cost for failure in fit.failures) for cost in fit.posteriors}
    if fit.comparison is None:
        rows = tuple((cost, str(len(fit.subjects)), str(num)) for cost, num in num_failed.items())
        return ("cost", "subjects", "failed fits"), rows
    total = fit.comparison.total
    best_first = total["cost"].values[np.argsort(-np.nan_to_num(total["elpd"].values), kind="stable")]
    return ("cost", "elpd", "behind", "weight", "won", "failed fits"), tuple(
        (
            str(cost),
            format_number(float(row["elpd"]), 1),
            _format_difference(float(row["difference"]), float(row["difference_se"])),
            _format_weight(row),
            str(Score(float(row["share_won"]), float(row["share_won_se"]))),
            str(num_failed[str(cost)]),
        )
        for cost, row in ((cost, total.sel(cost=cost)) for cost in best_first)
    )


def describe_costs(fit: "EmpiricalFit") -> str:
    """What the columns of a comparison mean; nothing if one cost was fitted."""
    if fit.comparison is None:
        return ""
    num_decided = len(fit.subjects) - fit.comparison.num_undecided
    return (
        f"Sums over the {num_decided} of {len(fit.subjects)} subjects that every cost could be fitted to. elpd: log "
        "predictive density of left-out trials; behind: how far below the best cost, ± its error over subjects; weight: by "
        "stacking, with its 94% interval; won: share of subjects in whom it is ahead beyond the draws' error."
    )


def describe_failures(fit: "EmpiricalFit") -> list[str]:
    """How many fits can be used, and each that cannot."""
    num_fits, failures = len(fit.subjects) * len(fit.posteriors), fit.failures
    counted = f"{num_fits - len(failures)} of {num_fits} fits converged; all took {fit.seconds:.0f} s."
    return [counted, *(f"Failed: {failure.subject} under {failure.cost}: {failure.reason}" for failure in failures)]


def frame_fit(fit: "EmpiricalFit") -> "pd.DataFrame":
    """Every estimate: columns subject, cost, parameter, value, mcse, sd, low, high, is_good.

    `value` is the posterior mean, in the unit of the data; `mcse` its Monte Carlo error, from the effective draws that the
    fit is known to have at least.
    """
    frame = fit.summarize().rename(mean="value").to_dataframe().dropna(subset="value").reset_index()
    verdicts = {cost: posterior["diagnostics"].to_dataset() for cost, posterior in fit.posteriors.items()}
    for name in ("ess", "is_good"):
        known = {cost: dict(zip(fit.subjects, one[name].values, strict=True)) for cost, one in verdicts.items()}
        frame[name] = [known[cost][subject] for subject, cost in zip(frame["subject"], frame["cost"], strict=True)]
    frame["mcse"] = frame["sd"] / np.sqrt(frame["ess"])
    return frame[["subject", "cost", "parameter", "value", "mcse", "sd", "low", "high", "is_good"]]


def format_number(value: float, num_digits: int) -> str:
    """A number, or a dash where there is none."""
    return "-" if np.isnan(value) else f"{value:.{num_digits}f}"


def _format_weight(row: xr.Dataset) -> str:
    weight, low, high = (float(row[name]) for name in ("weight", "weight_low", "weight_high"))
    return "-" if np.isnan(weight) else f"{weight:.2f} ({low:.2f} to {high:.2f})"


def _format_difference(value: float, error: float) -> str:
    return "-" if np.isnan(value) else f"{value:.1f} ± {error:.1f}" if value else "0"
