"""Evaluations as tables: designs side by side for people, one row a number for programs."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from designstudio.core.numbers import format_percent
from designstudio.evaluate.power_words import format_chance
from designstudio.metrics import AbstractPosteriorMetric, AbstractQuantityMetric
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.registry import list_design_metrics, list_posterior_metrics, list_quantity_metrics
from designstudio.model.parameters import NO_UNIT

if TYPE_CHECKING:
    import pandas as pd

    from designstudio.evaluate.results import Evaluation

NOTHING = "-"
ERRORS = "± is the Monte Carlo error; RMSE is that of the posterior mean."


class Row(NamedTuple):
    """One line of a table: its name, and a cell for each design."""

    name: str
    cells: tuple[str, ...]


def tabulate_designs(evaluations: Sequence["Evaluation"]) -> list[Row]:
    """The numbers that matter most, with a column for each design."""
    rows = [
        _row("status", (e.status.name for e in evaluations)),
        _row("trials", (str(e.design.num_trials) for e in evaluations)),
        _row("minutes", (f"{e.design.minutes:.1f}" for e in evaluations)),
    ]
    for of_quantity in list_quantity_metrics().values():
        rows += _tabulate_quantities(of_quantity, evaluations)
    for of_posterior in list_posterior_metrics().values():
        rows += _tabulate_parts(of_posterior, evaluations)
    for goal in dict.fromkeys(goal for e in evaluations for goal in e.power):
        powers = [e.power.get(goal) for e in evaluations]
        rows.append(_row(f"P({goal})", (format_chance(power and power.present) for power in powers)))
        if any(power is not None and power.when_absent is not None for power in powers):
            rows.append(_row("↳ effect absent", (format_chance(power and power.when_absent) for power in powers)))
        if any(power is not None and power.type_s is not None for power in powers):
            rows.append(_row("↳ wrong sign when found", (format_chance(power and power.type_s) for power in powers)))
            rows.append(_row("↳ times too large when found", (_cell(power and power.type_m) for power in powers)))
    counts = (e.convergence for e in evaluations)
    rows.append(_row("good / refitted / failed", (f"{c.converged} / {c.refitted} / {c.failed}" for c in counts)))
    rows += _tabulate_bounds(evaluations)
    seconds = (f"{e.seconds:.1f}{' (cached)' if e.is_cached else ''}" for e in evaluations)
    return [*rows, _row("seconds", seconds)]


def _tabulate_bounds(evaluations: Sequence["Evaluation"]) -> list[Row]:
    """Shares with failed fits counted as misses and as hits, if some design has so many that it matters."""
    found = [e.bounds for e in evaluations]
    rows = []
    if any("coverage" in bounds for bounds in found):
        ranges = [list(bounds.get("coverage", {}).values()) for bounds in found]
        ends = [(min(b.low for b in r), max(b.high for b in r)) if r else () for r in ranges]
        cells = (" to ".join(map(format_percent, pair)) or NOTHING for pair in ends)
        rows.append(_row("coverage, failed counted", cells))
    for goal in dict.fromkeys(goal for e in evaluations for goal in e.power):
        for kind, name in (("power", f"P({goal})"), ("when_absent", f"P({goal}), effect absent")):
            shares = [bounds.get(kind, {}).get(goal) for bounds in found]
            if any(shares):
                rows.append(_row(f"{name}, failed counted", (str(share or NOTHING) for share in shares)))
    return rows


def _tabulate_quantities(metric: AbstractQuantityMetric, evaluations: Sequence["Evaluation"]) -> list[Row]:
    """A metric of each quantity, or its range over them, if it is shown at all."""
    if metric.in_overview == "range":
        interval = f" ({evaluations[0].study.interval:.0%})" if metric.is_of_interval else ""
        return [_row(f"{metric.label}{interval}", (_range(e, metric) for e in evaluations))]
    shown = _list_quantities(evaluations) if metric.in_overview == "each" else {}
    return [
        _row(f"{metric.label} of {symbol}", (_cell(e.recovery.get(name, {}).get(metric.name)) for e in evaluations))
        for name, symbol in shown.items()
    ]


def _tabulate_parts(metric: AbstractPosteriorMetric, evaluations: Sequence["Evaluation"]) -> list[Row]:
    """A metric of the parts of all parameters that it is shown of, if some design has them."""
    unit = "" if metric.unit == NO_UNIT else f" ({metric.unit})"
    found = [e.identifiability.scores[metric.name] for e in evaluations]
    return [
        _row(f"{name}{unit}", (_cell(scores.get(part)) for scores in found))
        for part, name in metric.row_names().items()
        if any(part in scores for scores in found)
    ]


def frame_evaluations(evaluations: Sequence["Evaluation"]) -> "pd.DataFrame":
    """Every score of every design: columns design, quantity, metric, value, mcse, status.

    `quantity` is what the metric is of: a parameter or quantity, a pair of parameters (`mu_0, beta`), `prior_cost` or `all`
    parameters, a goal, or nothing for the design itself. Studies that name their unit have a column unit, too.
    """
    import pandas as pd  # noqa: PLC0415  (only tables need it)

    rows = [
        (evaluation.design.name, quantity, metric, *score, evaluation.status.name)
        for evaluation in evaluations
        for quantity, metric, score in _list_scores(evaluation)
    ]
    frame = pd.DataFrame(rows, columns=["design", "quantity", "metric", "value", "mcse", "status"])
    if evaluations and evaluations[0].study.unit:
        units = {evaluation.design.name: _list_units(evaluation) for evaluation in evaluations}
        frame["unit"] = [_name_unit(row.metric, units[row.design].get(row.quantity, NO_UNIT)) for row in frame.itertuples()]
    return frame


def _list_units(evaluation: "Evaluation") -> dict[str, str]:
    quantities = evaluation.summaries["quantity"]
    return dict(zip(quantities.values.tolist(), quantities["unit"].values.tolist(), strict=True))


def _name_unit(metric: str, unit: str) -> str:
    known = list_quantity_metrics().get(metric) or list_posterior_metrics().get(metric) or list_design_metrics().get(metric)
    return NO_UNIT if known is None else known.unit_of(unit)


def _list_scores(evaluation: "Evaluation") -> Iterator[tuple[str, str, Score]]:
    design, found = evaluation.design, evaluation.identifiability
    for name, metric in list_design_metrics().items():
        yield "", name, Score(metric.value(design.facts), 0.0)
    for quantity, scores in evaluation.recovery.items():
        yield from ((quantity, metric, score) for metric, score in scores.items())
    yield from ((", ".join(pair), "correlation", score) for pair, score in found.correlation.items())
    yield from ((name, "confounding", score) for name, score in found.confounding.items())
    for name, parts in found.scores.items():
        yield from ((part, name, score) for part, score in parts.items())
    for goal, power in evaluation.power.items():
        yield goal, "power", power.present
        if power.when_absent is not None:
            yield goal, "when_absent", power.when_absent
        yield from ((goal, name, score) for name in ("type_s", "type_m") if (score := getattr(power, name)) is not None)


def describe_run(evaluations: Sequence["Evaluation"]) -> str:
    """What was done, in one line."""
    first = evaluations[0]
    unit = f" Parameters with the unit of the stimuli are in {first.study.unit}." if first.study.unit else ""
    return f"{first.num_datasets} data sets each, fidelity {first.fidelity}, seed {first.study.seed}.{unit}"


def _row(name: str, cells: Iterator[str]) -> Row:
    return Row(name, tuple(cells))


def _list_quantities(evaluations: Sequence["Evaluation"]) -> dict[str, str]:
    """All quantities of all designs, in order, with their symbols."""
    symbols: dict[str, str] = {}
    for evaluation in evaluations:
        quantities = evaluation.summaries["quantity"]
        symbols |= dict(zip(quantities.values.tolist(), quantities["symbol"].values.tolist(), strict=True))
    return symbols


def _cell(score: Score | None) -> str:
    return NOTHING if score is None else str(score)


def _range(evaluation: "Evaluation", metric: AbstractQuantityMetric) -> str:
    """Smallest and largest over the quantities."""
    values = [scores[metric.name].value for scores in evaluation.recovery.values()]
    ends = [value for value in values if not math.isnan(value)]
    return " to ".join(metric.format_number(end) for end in (min(ends), max(ends))) if ends else NOTHING
