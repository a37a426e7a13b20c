"""What `designstudio fit` prints: tables and sentences about a fit."""

from collections.abc import Sequence

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from designstudio.core.numbers import format_significant
from designstudio.fitting.comparison import Comparison
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.estimates import tabulate_estimates
from designstudio.fitting.fit_overview import describe_costs, describe_failures, format_number, tabulate_costs
from designstudio.fitting.fit_verdict import find_best
from designstudio.metrics.monte_carlo import Score
from designstudio.model.costs import find_family

# Letters that no table needs: it is measured as if there were so many.
WIDEST = 1000


def print_fit(fit: EmpiricalFit) -> None:
    """Print which cost won, estimates, the group, every fit that failed, and the verdict."""
    console = Console(highlight=False)
    console.print(_table_of_costs(fit))
    if fit.comparison is not None:
        console.print(_table_of_families(fit.comparison))
    best = find_best(fit)
    if best is not None:
        for table in _tables_of_estimates(fit, best, console):
            console.print(table)
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


def _tables_of_estimates(fit: EmpiricalFit, cost: str, console: Console) -> list[Table]:
    """Estimates in as many tables below each other as the terminal needs: no number is broken."""
    found = tabulate_estimates(fit, cost)

    def make(places: Sequence[int], *, is_first: bool = True, is_last: bool = False) -> Table:
        title = f"Estimates under the {cost} cost" + ("" if is_first else " (continued)")
        table = _make_table(title, escape(found.note) if is_last else "")
        for place in (0, *places):
            table.add_column(escape(found.columns[place]), justify="right" if place else "left", no_wrap=True)
        for row in found.rows:
            table.add_row(*(escape(row[place]) for place in (0, *places)))
        return table

    widest = console.options.update(max_width=WIDEST)
    blocks: list[list[int]] = [[]]
    for place in range(1, len(found.columns)):
        wider = [*blocks[-1], place]
        if blocks[-1] and console.measure(make(wider), options=widest).maximum > console.width:
            blocks.append([place])
        else:
            blocks[-1] = wider
    return [make(block, is_first=k == 0, is_last=k == len(blocks) - 1) for k, block in enumerate(blocks)]


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
