"""Evaluations as tables: designs side by side for people, one row a number for programs."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from designstudio.metrics.monte_carlo import Score

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
        _row("trials", (str(e.design.num_trials) for e in evaluations)),
        _row("minutes", (f"{e.design.minutes:.1f}" for e in evaluations)),
    ]
    for name, symbol in _list_quantities(evaluations).items():
        rows.append(_row(f"RMSE of {symbol}", (_cell(e.recovery.get(name, {}).get("rmse")) for e in evaluations)))
    rows.append(_row(f"coverage ({evaluations[0].study.interval:.0%})", (_range(e, "coverage") for e in evaluations)))
    rows.append(_row("contraction", (_range(e, "contraction") for e in evaluations)))
    found = [e.identifiability for e in evaluations]
    if any(part.prior_cost for part in found):
        rows += [
            _row("prior-cost correlation", (_cell(part.prior_cost.get("correlation")) for part in found)),
            _row("confounding factor", (_cell(part.prior_cost.get("confounding")) for part in found)),
            _row("prior-cost gain (nats)", (_cell(part.information_gain.get("prior_cost")) for part in found)),
        ]
    rows.append(_row("information gain (nats)", (_cell(part.information_gain["all"]) for part in found)))
    rows += [_row(f"P({goal})", (_cell(e.power.get(goal)) for e in evaluations)) for goal in evaluations[0].power]
    counts = (e.convergence for e in evaluations)
    rows.append(_row("good / refitted / failed", (f"{c.converged} / {c.refitted} / {c.failed}" for c in counts)))
    seconds = (f"{e.seconds:.1f}{' (cached)' if e.is_cached else ''}" for e in evaluations)
    return [*rows, _row("seconds", seconds)]


def frame_evaluations(evaluations: Sequence["Evaluation"]) -> "pd.DataFrame":
    """Every score of every design: columns design, quantity, metric, value, mcse.

    `quantity` is what the metric is of: a parameter or quantity, a pair of parameters (`mu_0, beta`), `prior_cost` or `all`
    parameters, a goal, or nothing for the design itself.
    """
    import pandas as pd  # noqa: PLC0415  (only tables need it)

    rows = [
        (evaluation.design.name, quantity, metric, *score)
        for evaluation in evaluations
        for quantity, metric, score in _list_scores(evaluation)
    ]
    return pd.DataFrame(rows, columns=["design", "quantity", "metric", "value", "mcse"])


def _list_scores(evaluation: "Evaluation") -> Iterator[tuple[str, str, Score]]:
    design, found = evaluation.design, evaluation.identifiability
    yield "", "trials", Score(float(design.num_trials), 0.0)
    yield "", "minutes", Score(design.minutes, 0.0)
    for quantity, scores in evaluation.recovery.items():
        yield from ((quantity, metric, score) for metric, score in scores.items())
    yield from ((", ".join(pair), "correlation", score) for pair, score in found.correlation.items())
    yield from ((name, "confounding", score) for name, score in found.confounding.items())
    yield from (("prior_cost", metric, score) for metric, score in found.prior_cost.items())
    yield from ((part, "information_gain", score) for part, score in found.information_gain.items())
    yield "all", "remaining", found.remaining
    yield from ((goal, "power", score) for goal, score in evaluation.power.items())


def describe_run(evaluations: Sequence["Evaluation"]) -> str:
    """What was done, in one line."""
    first = evaluations[0]
    return f"{first.num_datasets} data sets each, fidelity {first.fidelity}, seed {first.study.seed}."


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


def _range(evaluation: "Evaluation", metric: str) -> str:
    """Smallest and largest over the quantities."""
    values = [score.value for score in (named[metric] for named in evaluation.recovery.values())]
    values = [value for value in values if not math.isnan(value)]
    return f"{min(values):.0%} to {max(values):.0%}" if values else NOTHING
