"""Scores of designs in words, tiles and tables."""

import html as escaping
import math
from collections.abc import Mapping, Sequence

import pandas as pd

from designstudio.core.numbers import format_fixed, format_significant
from designstudio.evaluate.results import Evaluation
from designstudio.evaluate.status import NO_ANSWER, PARTLY, TOLD_APART
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.registry import list_quantity_metrics
from designstudio.viz.theme import label_quantities

# How a status looks; all others are bad.
MOODS = {TOLD_APART: "good", PARTLY: "partly"}


def write_tiles(evaluation: Evaluation) -> str:
    """What matters most, as a row of tiles."""
    design, found = evaluation.design, evaluation.identifiability
    tiles = [
        (f"{design.num_trials}", "trials a participant"),
        (f"{design.minutes:.1f} min", f"session of one of {design.num_participants} participants"),
    ]
    status = evaluation.status.name
    tiles.append(
        (f'<span class="{MOODS.get(status, "bad")}" style="font-size:20px;opacity:1">{status}</span>', "prior and cost")
    )
    if found.prior_cost and status != NO_ANSWER:
        correlation, confounding = (found.prior_cost[name].value for name in ("correlation", "confounding"))
        tiles.append((format_fixed(correlation, 2), "correlation of prior and cost"))
        tiles.append((f"{format_fixed(confounding, 1)} ×", "less certain about the cost than with a known prior"))
    for goal, power in list(evaluation.power.items())[:1]:
        absent = power.when_absent
        without = "" if absent is None else f" (without the effect: {_short(absent, percent=True)})"
        tiles.append((_short(power.present, percent=True), f"power: {escaping.escape(goal)}{without}"))
    cells = "".join(f'<div class="tile"><b>{value}</b><span>{label}</span></div>' for value, label in tiles)
    return f'<div class="tiles">{cells}</div>'


def write_verdict(sentences: Sequence[str]) -> str:
    """Sentences as a list."""
    items = "".join(f"<li>{escaping.escape(sentence)}</li>" for sentence in sentences)
    return f'<ul class="verdict">{items}</ul>'


def tabulate_recovery(evaluations: Mapping[str, Evaluation]) -> pd.DataFrame:
    """One row for each design and parameter, with plain numbers."""
    rows = []
    for label, evaluation in evaluations.items():
        truth = evaluation.summaries["truth"].mean("dataset")
        for name, words in label_quantities(evaluation.summaries).items():
            scores = evaluation.recovery[name]
            confounding = evaluation.identifiability.confounding.get(name)
            rows.append(
                {
                    "design": label,
                    "parameter": name,
                    "symbol": words.symbol,
                    "unit": words.unit,
                    "mean truth": float(truth.sel(quantity=name)),
                    **_list_columns(scores),
                    "confounding": math.nan if confounding is None else confounding.value,
                    "confounding error": math.nan if confounding is None else confounding.mcse,
                    "fidelity": evaluation.fidelity,
                    "data sets": evaluation.num_datasets,
                    "failed": evaluation.convergence.failed,
                }
            )
    return pd.DataFrame(rows)


def _list_columns(scores: Mapping[str, Score]) -> dict[str, float]:
    """Metrics of a quantity that an overview shows, each with its error."""
    shown = [name for name, metric in list_quantity_metrics().items() if metric.in_overview != "no"]
    return {
        column: number
        for name in shown
        for column, number in ((name, scores[name].value), (f"{name} error", scores[name].mcse))
    }


def write_recovery(evaluations: Mapping[str, Evaluation]) -> str:
    """Parameters down, designs across; each cell is the typical error."""
    first = next(iter(evaluations.values()))
    words = label_quantities(first.summaries)
    truth = first.summaries["truth"].mean("dataset")
    several = len(evaluations) > 1
    head = "".join(f"<th>{escaping.escape(label)}<br>error (RMSE)</th>" for label in evaluations)
    extra = (
        ""
        if several
        else "<th>relative to<br>the truth</th><th>learnt from<br>the data</th><th>confounded<br>by a factor of</th>"
    )
    rows = []
    for name, label in words.items():
        value = float(truth.sel(quantity=name))
        cells = "".join(f"<td>{e.recovery[name]['rmse'] if name in e.recovery else '-'}</td>" for e in evaluations.values())
        if not several:
            rmse, contraction = first.recovery[name]["rmse"], first.recovery[name]["contraction"]
            confounding = first.identifiability.confounding.get(name)
            relative = rmse.value / abs(value)
            cells += (
                f"<td>{'-' if math.isnan(relative) else f'{relative:.0%}'}</td><td>{_short(contraction, percent=True)}</td>"
            )
            cells += f"<td>{'-' if confounding is None else _short(confounding)}</td>"
        rows.append(
            f"<tr><td>{label.axis}</td><td>{'-' if math.isnan(value) else format_significant(value)}</td>{cells}</tr>"
        )
    failed = [
        f"{escaping.escape(label)}: {e.convergence.failed} of {e.num_datasets} fits failed"
        for label, e in evaluations.items()
        if e.convergence.failed
    ]
    fidelities = "; ".join(
        f"{escaping.escape(label)}: {e.num_datasets} data sets by {e.fidelity}" for label, e in evaluations.items()
    )
    note = f'<p class="muted">± is the Monte Carlo error. {fidelities}. {"; ".join(failed)}</p>'
    return (
        f'<div class="scroll"><table class="ds"><thead><tr><th>parameter</th><th>truth</th>{head}{extra}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def _short(score: Score, *, percent: bool = False) -> str:
    if math.isnan(score.value):
        return "-"
    return f"{score.percent} {score.percent_error}" if percent else str(score)
