"""What `designstudio fit` prints: tables and sentences about a fit."""

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from designstudio.fitting.comparison import find_family
from designstudio.fitting.results import Comparison, EmpiricalFit
from designstudio.fitting.summaries import summarize_group
from designstudio.metrics.monte_carlo import Score


def print_fit(fit: EmpiricalFit) -> None:
    """Print which cost won, the group, and every fit that failed."""
    console = Console(highlight=False)
    console.print(_table_of_costs(fit))
    if fit.comparison is not None:
        console.print(_table_of_families(fit.comparison))
    for cost in fit.pooled:
        console.print(_table_of_group(fit, cost))
    for sentence in fit.notes:
        typer.echo(sentence)
    num_fits = len(fit.subjects) * len(fit.posteriors)
    failures = fit.failures
    typer.echo(f"{num_fits - len(failures)} of {num_fits} fits converged; all took {fit.seconds:.0f} s.")
    for failure in failures:
        typer.echo(f"Failed: {failure.subject} under {failure.cost}: {failure.reason}")


def _make_table(title: str, caption: str = "") -> Table:
    return Table(title=title, caption=caption or None, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)


def _table_of_costs(fit: EmpiricalFit) -> Table:
    num_failed = {cost: sum(failure.cost == cost for failure in fit.failures) for cost in fit.posteriors}
    title = escape(fit.name) or "Costs"
    if fit.comparison is None:
        table = _make_table(title)
        for name in ("cost", "subjects", "failed fits"):
            table.add_column(name, justify="left" if name == "cost" else "right")
        for cost, num in num_failed.items():
            table.add_row(cost, str(len(fit.subjects)), str(num))
        return table
    comparison, total = fit.comparison, fit.comparison.total
    num_decided = len(fit.subjects) - comparison.num_undecided
    caption = (
        f"Sums over the {num_decided} of {len(fit.subjects)} subjects that every cost could be fitted to. elpd: log "
        "predictive density of left-out trials; behind: how far below the best cost, ± its error over subjects; weight: by "
        "stacking; won: share of subjects."
    )
    table = _make_table(title, caption)
    for name in ("cost", "elpd", "behind", "weight", "won", "failed fits"):
        table.add_column(name, justify="left" if name == "cost" else "right", no_wrap=True)
    for cost in total["cost"].values[np.argsort(-np.nan_to_num(total["elpd"].values), kind="stable")]:
        row = total.sel(cost=cost)
        table.add_row(
            str(cost),
            _number(float(row["elpd"]), 1),
            _pair(float(row["difference"]), float(row["difference_se"])),
            _number(float(row["weight"]), 2),
            str(Score(float(row["share_won"]), float(row["share_won_se"]))),
            str(num_failed[str(cost)]),
        )
    return table


def _table_of_families(comparison: Comparison) -> Table:
    costs = [str(cost) for cost in comparison.total["cost"].values]
    table = _make_table("Families of costs")
    for name in ("family", "won", "weight", "costs"):
        table.add_column(name, justify="right" if name in ("won", "weight") else "left")
    for family in comparison.families["family"].values:
        row = comparison.families.sel(family=family)
        share = str(Score(float(row["share_won"]), float(row["share_won_se"])))
        members = ", ".join(cost for cost in costs if find_family(cost) == family)
        table.add_row(str(family), share, _number(float(row["weight"]), 2), members)
    return table


def _table_of_group(fit: EmpiricalFit, cost: str) -> Table:
    caption = f"Pooled. Median subject in the unit of the data ({escape(fit.scale.unit)}); spread on the scale of the group."
    table = _make_table(f"Group under the {cost} cost", caption)
    for name in ("parameter", "median subject", "94% interval", "spread"):
        table.add_column(name, justify="left" if name == "parameter" else "right")
    for label, entry in summarize_group(fit.pooled[cost], fit.models[cost], fit.conditions, fit.scale).items():
        median, spread = entry["median"], entry["spread"]
        interval = f"{median['hdi_low']:.3g} to {median['hdi_high']:.3g}"
        table.add_row(escape(label), f"{median['mean']:.3g}", interval, f"{spread['mean']:.2g} ± {spread['sd']:.1g}")
    return table


def _pair(value: float, error: float) -> str:
    return "-" if np.isnan(value) else f"{value:.1f} ± {error:.1f}" if value else "0"


def _number(value: float, num_digits: int) -> str:
    return "-" if np.isnan(value) else f"{value:.{num_digits}f}"
