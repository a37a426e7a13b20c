"""Fits to real data as plain data, for JSON files."""

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from designstudio.core.files import replace_nonfinite
from designstudio.fitting.comparison import LARGEST_KHAT, Comparison
from designstudio.fitting.fit_verdict import list_lapses
from designstudio.fitting.posterior_summaries import STATISTICS
from designstudio.metrics.intervals import KIND

if TYPE_CHECKING:
    from designstudio.fitting.empirical_fit import EmpiricalFit


def record_fit(fit: "EmpiricalFit") -> dict[str, Any]:
    """All results of fits to real data, without a number that JSON does not know."""
    record: dict[str, Any] = {
        "name": fit.name,
        "unit": fit.scale.unit,
        "interval": {"probability": fit.request.interval, "kind": KIND},
        "subjects": _record_subjects(fit),
        "comparison": None if fit.comparison is None else _record_comparison(fit.comparison),
        "verdict": list(fit.verdict),
        "predictive": {str(cost): _record_rows(fit.predictive.sel(cost=cost), "check") for cost in fit.posteriors},
        "lapses": {cost: [lapse._asdict() for lapse in list_lapses(fit, cost)] for cost in fit.posteriors},
    }
    if fit.plan is not None:
        record["plan"] = fit.plan.as_dict()
        record["goals"] = [outcome.as_dict() for outcome in fit.goals]
    if fit.pooled:
        record["group"] = {cost: fit.summarize_group(cost) for cost, pooled in fit.pooled.items()}
    first = next(iter(fit.posteriors.values()))
    record |= {
        "exclusions": fit.report.as_dict(),
        "scale": {
            "factor": fit.scale.factor,
            "unit": fit.scale.unit,
            "actor_unit": fit.scale.actor_unit,
            "note": fit.scale.note,
        },
        "convergence": {cost: _record_convergence(fit, cost) for cost in fit.posteriors},
        "notes": list(fit.notes),
        "seconds": round(fit.seconds, 2),
        "settings": {
            **fit.request.settings.as_dict(),
            "costs": list(fit.request.costs),
            "fixed": sorted(fit.request.fixed),
            "per_condition": list(fit.request.per_condition),
            "priors": {cost: json.loads(tree.attrs["priors"]) for cost, tree in fit.posteriors.items()},
            "pools": fit.request.pools,
            "pooling": fit.request.pooling.as_dict() if fit.request.pools else None,
            "lapses": fit.request.lapses,
            "seed": fit.request.seed,
        },
        "versions": json.loads(first.attrs["versions"]),
    }
    return replace_nonfinite(record)


def _record_subjects(fit: "EmpiricalFit") -> dict[str, Any]:
    summary = fit.summarize()
    numbers = np.stack([summary[name].values for name in STATISTICS], axis=-1)
    labels = [str(label) for label in summary["parameter"].values]
    records: dict[str, Any] = {subject: {} for subject in fit.subjects}
    for j, (cost, posterior) in enumerate(fit.posteriors.items()):
        verdicts = _describe_fits(posterior)
        for i, subject in enumerate(fit.subjects):
            rows = zip(labels, numbers[i, j].tolist(), strict=True)
            parameters = {label: dict(zip(STATISTICS, row, strict=True)) for label, row in rows if not math.isnan(row[0])}
            records[subject][cost] = {"parameters": parameters, **verdicts[i]}
    return records


def _describe_fits(posterior: xr.DataTree) -> list[dict[str, Any]]:
    """For each subject, how well left-out trials are predicted, and whether the fit can be used."""
    diagnostics, loo = posterior["diagnostics"].to_dataset(), posterior["loo"].to_dataset()
    elpd, num_trials = loo["elpd"].sum("trial").values, loo["elpd"].notnull().sum("trial").values
    spread = loo["elpd"].std("trial", ddof=1).values
    num_bad = (loo["khat"] > LARGEST_KHAT).sum("trial").values
    verdicts = []
    for i, is_good in enumerate(diagnostics["is_good"].values.tolist()):
        is_weighted = str(diagnostics["stage"].values[i]).startswith("importance")
        verdicts.append(
            {
                "elpd_loo": float(elpd[i]) if is_good else None,
                "elpd_se": float(np.sqrt(num_trials[i]) * spread[i]) if is_good else None,
                "pareto_k_bad": int(num_bad[i]),
                # One of the two: of chains, or of importance weights.
                "rhat_max": None if is_weighted else float(diagnostics["rhat"].values[i]),
                "khat": float(diagnostics["khat"].values[i]) if is_weighted else None,
                "ess_min": float(diagnostics["ess"].values[i]),
                "is_good": is_good,
                "reason": str(diagnostics["reason"].values[i]),
            }
        )
    return verdicts


def _record_comparison(comparison: Comparison) -> dict[str, Any]:
    table = comparison.table
    return {
        "table": {str(subject): _record_rows(table.sel(subject=subject), "cost") for subject in table["subject"].values},
        "totals": _record_rows(comparison.total, "cost"),
        "families": _record_rows(comparison.families, "family"),
        "num_undecided": comparison.num_undecided,
        "num_close": comparison.num_close,
    }


def _record_rows(table: xr.Dataset, dim: str) -> dict[str, dict[str, Any]]:
    names = [str(name) for name in table.data_vars]
    columns = {name: table[name].values.tolist() for name in names}
    return {str(label): {name: columns[name][i] for name in names} for i, label in enumerate(table[dim].values)}


def _record_convergence(fit: "EmpiricalFit", cost: str) -> dict[str, Any]:
    failed = {failure.subject: failure.reason for failure in fit.failures if failure.cost == cost}
    return {"good": len(fit.subjects) - len(failed), "failed": len(failed), "failed_subjects": failed}
