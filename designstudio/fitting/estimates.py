"""Estimates as tables: of every subject, and of the group, in the unit of the data."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from designstudio.core.numbers import format_significant
from designstudio.metrics.intervals import KIND
from designstudio.model.parameter_entries import split_label
from designstudio.model.parameters import NO_UNIT
from designstudio.model.scale import name_unit

if TYPE_CHECKING:
    from designstudio.fitting.empirical_fit import EmpiricalFit

# In a table for people; all are in the file.
MOST_SUBJECTS = 12


class EstimateTable(NamedTuple):
    """Heads and rows for people: the group's mean first, then subjects."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str


def list_estimates(fit: "EmpiricalFit") -> list[dict[str, Any]]:
    """One row for each subject, cost and parameter: mean, sd and the ends of the interval, with its probability and unit."""
    summary = fit.summarize()
    rows = []
    for j, (cost, posterior) in enumerate(fit.posteriors.items()):
        is_good = posterior["diagnostics"].to_dataset()["is_good"].values
        units = {parameter.name: name_unit(parameter, fit.scale.unit) for parameter in fit.models[cost].parameters}
        for i, subject in enumerate(fit.subjects):
            for k, label in enumerate(summary["parameter"].values.tolist()):
                mean, sd, low, high = (float(summary[name].values[i, j, k]) for name in summary.data_vars)
                if np.isnan(mean):
                    continue
                name, condition = split_label(label)
                rows.append(
                    {
                        "subject": subject,
                        "cost": cost,
                        "parameter": name,
                        "condition": condition,
                        "mean": f"{mean:.6g}",
                        "sd": f"{sd:.6g}",
                        "interval_low": f"{low:.6g}",
                        "interval_high": f"{high:.6g}",
                        "interval": f"{fit.request.interval:g} {KIND}",
                        "unit": units[name],
                        "is_good": str(bool(is_good[i])).lower(),
                    }
                )
    return rows


def tabulate_estimates(fit: "EmpiricalFit", cost: str) -> EstimateTable:
    """Estimates under one cost: mean and interval of each subject, and the mean over subjects with its standard error."""
    summary = fit.summarize().sel(cost=cost).dropna("parameter", how="all")
    labels = [str(label) for label in summary["parameter"].values]
    is_good = fit.posteriors[cost]["diagnostics"].to_dataset()["is_good"].values
    mean, low, high = (summary[name].values for name in ("mean", "low", "high"))
    rows = []
    if is_good.sum() > 1:
        used = mean[is_good]
        error = np.nanstd(used, axis=0, ddof=1) / np.sqrt(np.maximum(np.isfinite(used).sum(axis=0), 1))
        pairs = zip(np.nanmean(used, axis=0), error, strict=True)
        rows.append(("mean of subjects", *(f"{format_significant(m)}\n± {format_significant(e, 2)}" for m, e in pairs)))
    for i, subject in enumerate(fit.subjects[:MOST_SUBJECTS]):
        numbers = zip(mean[i], low[i], high[i], strict=True)
        cells = [
            "-" if np.isnan(m) else f"{format_significant(m)}\n{format_significant(a)} to {format_significant(b)}"
            for m, a, b in numbers
        ]
        rows.append((subject if is_good[i] else f"{subject} (failed)", *cells))
    units = {parameter.name: name_unit(parameter, fit.scale.unit) for parameter in fit.models[cost].parameters}
    heads = [label + (f"\n({unit})" if (unit := units[split_label(label)[0]]) != NO_UNIT else "") for label in labels]
    hidden = len(fit.subjects) - MOST_SUBJECTS
    more = f" {hidden} further subjects are in estimates.csv (--out)." if hidden > 0 else ""
    note = (
        f"Posterior mean and {fit.request.interval:.0%} equal-tailed interval; ± is the standard error over subjects.{more}"
    )
    return EstimateTable(("subject", *heads), tuple(rows), note)
