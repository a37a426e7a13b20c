"""What `designstudio fit` prints: tables and sentences about a fit."""

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from designstudio.cli.wide_tables import TableColumn, print_wide
from designstudio.core.numbers import format_significant
from designstudio.fitting.comparison import Comparison
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.estimates import tabulate_estimates
from designstudio.fitting.fit_overview import describe_costs, describe_failures, format_number, tabulate_costs
from designstudio.fitting.fit_verdict import find_best
from designstudio.metrics.monte_carlo import Score
from designstudio.model.costs import find_family


def print_fit(fit: EmpiricalFit) -> None:
    """Print which cost won, estimates, the group, every fit that failed, and the verdict."""
    console = Console(highlight=False)
    console.print(_table_of_costs(fit))
    if fit.comparison is not None:
        console.print(_table_of_families(fit.comparison))
    best = find_best(fit)
    if best is not None:
        _print_estimates(fit, best, console)
    for cost in fit.pooled:
        console.print(_table_of_group(fit, cost))
    for sentence in fit.notes:
        typer.echo(sentence)
    for sentence in describe_failures(fit):
        typer.echo(sentence)
    planned = fit.describe_plan()
    if planned:
        typer.echo("\nAs planned")
        for sentence in planned:
            typer.echo(f"• {sentence}")
    typer.echo("\nVerdict")
    for sentence in fit.verdict:
        typer.echo(f"• {sentence}")


def _make_table(title: str, caption: str = "") -> Table:
    return Table(title=title, caption=caption or None, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)


def _table_of_costs(fit: EmpiricalFit) -> Table:
    columns, rows = tabulate_costs(fit)
    table = _make_table(escape(fit.name) or "Costs", describe_costs(fit))
    for name in columns:
        table.add_column(name, justify="left" if name == "cost" else "right", no_wrap=fit.comparison is not None)
    for row in rows:
        table.add_row(*row)
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
        table.add_row(str(family), share, format_number(float(row["weight"]), 2), members)
    return table


def _print_estimates(fit: EmpiricalFit, cost: str, console: Console) -> None:
    """Print estimates in as many tables below each other as the terminal needs: no number is broken."""
    found = tabulate_estimates(fit, cost)
    columns = [
        TableColumn(head, [row[place] for row in found.rows], is_text=place == 0) for place, head in enumerate(found.columns)
    ]
    print_wide(console, f"Estimates under the {cost} cost", columns, note=found.note)


def _table_of_group(fit: EmpiricalFit, cost: str) -> Table:
    caption = f"Pooled. Median subject in the unit of the data ({escape(fit.scale.unit)}); spread on the scale of the group."
    table = _make_table(f"Group under the {cost} cost", caption)
    for name in ("parameter", "median subject", f"{fit.request.interval:.0%} interval", "spread"):
        table.add_column(name, justify="left" if name == "parameter" else "right")
    for label, entry in fit.summarize_group(cost).items():
        median, spread = entry["median"], entry["spread"]
        interval = f"{format_significant(median['low'])} to {format_significant(median['high'])}"
        table.add_row(
            escape(label), format_significant(median["mean"]), interval, f"{spread['mean']:.2g} ± {spread['sd']:.1g}"
        )
    return table
