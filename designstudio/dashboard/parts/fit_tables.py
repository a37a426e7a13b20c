"""Fits of people as tables: which cost predicts best, what failed, and what the parameters are."""

import html as escaping

import numpy as np
import pandas as pd
import xarray as xr

from designstudio.core.numbers import format_significant
from designstudio.fitting.comparison import LARGEST_KHAT
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.fit_overview import format_number
from designstudio.fitting.reading.load_report import count
from designstudio.metrics.monte_carlo import Score
from designstudio.model.parameter_entries import split_label
from designstudio.model.scale import name_unit, suffix_unit
from designstudio.viz.families import name_cost
from designstudio.viz.theme import make_series


def write_comparison(fit: EmpiricalFit) -> str:
    """The totals of all costs, the best first."""
    if fit.comparison is None:
        (cost,) = fit.posteriors
        return f"<p>Only the {escaping.escape(name_cost(cost))} cost was fitted: choose several to compare them.</p>"
    total = fit.comparison.total
    num_failed = {cost: sum(failure.cost == cost for failure in fit.failures) for cost in fit.posteriors}
    rows = []
    for cost in map(str, total["cost"].values[np.argsort(-np.nan_to_num(total["elpd"].values, nan=-np.inf), kind="stable")]):
        row = total.sel(cost=cost)
        difference = float(row["difference"])
        behind = (
            "-" if np.isnan(difference) else "best" if not difference else _pair(difference, float(row["difference_se"]))
        )
        share = str(Score(float(row["share_won"]), float(row["share_won_se"])))
        cells = (
            format_number(float(row["elpd"]), 1),
            behind,
            format_number(float(row["weight"]), 2),
            share,
            str(num_failed[cost]),
        )
        rows.append([name_cost(cost), *cells])
    num_decided = len(fit.subjects) - fit.comparison.num_undecided
    note = (
        f"Sums over the {num_decided} of {len(fit.subjects)} subjects that every cost could be fitted to. elpd: log "
        "predictive density of left-out trials; behind: how far below the best cost, ± its error over subjects; weight: by "
        "stacking; won: share of subjects."
    )
    return write_table(["cost", "elpd", "behind", "weight", "won", "failed fits"], rows, note)


def write_warnings(fit: EmpiricalFit) -> str:
    """What to be careful about: trials that leave-one-out cannot judge, and every fit that failed, by name."""
    parts = []
    if fit.comparison is not None:
        for cost, posterior in fit.posteriors.items():
            bad = (posterior["loo"].to_dataset()["khat"] > LARGEST_KHAT).sum("trial").values
            if bad.any():
                parts.append(
                    f"{escaping.escape(name_cost(cost))}: {count(int(bad.sum()), 'trial')} of "
                    f"{count(int((bad > 0).sum()), 'subject')} with Pareto k above {LARGEST_KHAT:g}, whose elpd is a guess."
                )
    parts += [
        f"Failed: {escaping.escape(subject)} under {escaping.escape(name_cost(cost))}: {escaping.escape(reason)}"
        for subject, cost, reason in fit.failures
    ]
    num_fits = len(fit.subjects) * len(fit.posteriors)
    summary = f"{num_fits - len(fit.failures)} of {num_fits} fits converged."
    notes = "".join(f"<li>{escaping.escape(note)}</li>" for note in (*fit.describe_plan(), *fit.verdict, *fit.notes))
    warnings = "".join(f"<li>{part}</li>" for part in parts)
    shown = f'<div class="failed"><ul class="verdict">{warnings}</ul></div>' if warnings else ""
    return f'{shown}<ul class="verdict"><li>{summary}</li>{notes}</ul>'


def write_subject(fit: EmpiricalFit, summary: xr.Dataset, cost: str, subject: str) -> str:
    """The estimates of one subject."""
    chosen = summary.sel(cost=cost, subject=subject)
    units = {p.name: suffix_unit(name_unit(p, fit.scale.unit)).strip() for p in fit.models[cost].parameters}
    rows = []
    for label in chosen["parameter"].values:
        mean, sd, low, high = (float(chosen[name].sel(parameter=label)) for name in ("mean", "sd", "low", "high"))
        if not np.isnan(mean):
            between = f"{format_significant(low)} to {format_significant(high)}"
            unit = units[split_label(str(label))[0]]
            rows.append(
                [f"{label} ({unit})" if unit else str(label), format_significant(mean), format_significant(sd, 2), between]
            )
    failed = "".join(
        f'<p class="failed">This fit cannot be used: {escaping.escape(failure.reason)}</p>'
        for failure in fit.failures
        if (failure.subject, failure.cost) == (subject, cost)
    )
    note = f"In the unit of the data ({fit.scale.unit})."
    return failed + write_table(["parameter", "mean", "sd", f"{fit.request.interval:.0%} interval"], rows, note)


def write_group(fit: EmpiricalFit, cost: str) -> str:
    """The group that pooling has found; empty if nobody was pooled."""
    if cost not in fit.pooled:
        return ""
    rows = []
    for label, entry in fit.summarize_group(cost).items():
        median, spread = entry["median"], entry["spread"]
        interval = f"{format_significant(median['low'])} to {format_significant(median['high'])}"
        spread_words = f"{spread['mean']:.2g} ± {spread['sd']:.1g}"
        rows.append([label, format_significant(median["mean"]), interval, spread_words])
    note = f"Pooled. Median subject in the unit of the data ({fit.scale.unit}); spread on the scale of the group."
    return write_table(["parameter", "median subject", f"{fit.request.interval:.0%} interval", "spread"], rows, note)


def write_conditions(fit: EmpiricalFit) -> str:
    """The colours of conditions: Bokeh's legend knows only those of one panel."""
    looks = make_series(fit.conditions).items()
    marks = (f'<span style="color:{look.color}">●</span> {escaping.escape(name)}' for name, look in looks)
    return f"<p>Conditions: {', '.join(marks)}</p>"


def write_precision(precision: xr.Dataset) -> str:
    """Planned and achieved precision, side by side."""
    rows = []
    for k in range(precision.sizes["quantity"]):
        row = precision.isel(quantity=k)
        pairs = (("predicted_sd", "predicted_mcse"), ("achieved_sd", "achieved_se"), ("ratio", "ratio_se"))
        cells = [str(Score(float(row[value]), float(row[error]))) for value, error in pairs]
        rows.append([f"{row['symbol'].item()} ({row['unit'].item()})", *cells])
    note = (
        f"Mean posterior sd: of {precision.attrs['num_simulated']} simulated participants, with its Monte Carlo error, and "
        f"of {precision.attrs['num_subjects']} subjects, with its standard error. Above 1: the pilot was less precise."
    )
    return write_table(["parameter", "planned", "achieved", "achieved / planned"], rows, note)


def tabulate_comparison(fit: EmpiricalFit) -> pd.DataFrame:
    """The totals as plain numbers; without a comparison, the costs alone."""
    if fit.comparison is None:
        return pd.DataFrame({"cost": list(fit.posteriors)})
    return fit.comparison.total.to_dataframe().reset_index()


def tabulate_subjects(fit: EmpiricalFit) -> pd.DataFrame:
    """Every subject under every cost, and why a fit cannot be used."""
    reasons = {(failure.subject, failure.cost): failure.reason for failure in fit.failures}
    keys = [(subject, cost) for subject in fit.subjects for cost in fit.posteriors]
    table = pd.DataFrame(
        {"subject": [key[0] for key in keys], "cost": [key[1] for key in keys], "failed": [reasons.get(k, "") for k in keys]}
    )
    if fit.comparison is None:
        return table
    return table.merge(fit.comparison.table.to_dataframe().reset_index(), on=["subject", "cost"])


def tabulate_estimates(summary: xr.Dataset) -> pd.DataFrame:
    """All estimates as plain numbers, in the unit of the data."""
    return summary.to_dataframe().reset_index().dropna(subset=["mean"])


def write_table(head: list[str], rows: list[list[str]], note: str) -> str:
    """A table of texts, which are escaped here."""
    top = "".join(f"<th>{escaping.escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{escaping.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table class="ds"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
        f'<p class="muted">{escaping.escape(note)}</p>'
    )


def _pair(value: float, error: float) -> str:
    return f"{value:.1f} ± {error:.1f}"
