"""Searches and sweeps as tables: finalists for people, one row a number for programs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from designstudio.evaluate.power_words import format_chance
from designstudio.metrics.power import Power
from designstudio.search.ranking import read_power
from designstudio.study.design.description import DesignCells, describe_design, format_cells

if TYPE_CHECKING:
    import pandas as pd

    from designstudio.search.search_result import SearchResult
    from designstudio.search.sweep import SweepResult

IN_SEARCH, FRESH = "search", "fresh"


def tabulate_finalists(result: "SearchResult") -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Heads and rows: the finalists and the study's own designs, from best to worst on fresh data, with their objectives.

    Before finalists were verified, these are the best candidates so far.
    """
    labels = {objective.label: objective for objective in result.objectives}
    # Power means nothing without its false-positive rate.
    powers = [objective for objective in result.objectives if objective.score == Power.name]
    heads = [*(f"{label}\n{when}" for label in labels for when in ("in the search", "fresh"))]
    columns = ("", *DesignCells._fields, *heads, *(f"{power.label},\neffect absent" for power in powers))
    if result.verification is None:
        return columns, tuple(
            _row(
                f"candidate {record.number}",
                record.design,
                [
                    *((aim.format_score(record.scores[label]), "-") for label, aim in labels.items()),
                    *(("-",) for _ in powers),
                ],
            )
            for record in result.best
        )
    found, rows = result.verification, []
    for contender in found.ranked:
        seen = {} if contender.candidate is None else contender.candidate.scores
        scores: list[tuple[str, ...]] = [
            (aim.format_score(seen[label]) if label in seen else "", aim.format_score(contender.fresh[label]))
            for label, aim in labels.items()
        ]
        found_powers = (read_power(power, result.question, contender.evaluation) for power in powers)
        scores += [(format_chance(power and power.when_absent),) for power in found_powers]
        name = f"winner: {contender.name}" if contender is found.winner else contender.name
        rows.append(_row(name, describe_design(contender.design), scores))
    return columns, tuple(rows)


def frame_search(result: "SearchResult") -> "pd.DataFrame":
    """Every score of every candidate: columns candidate, state, the variables, num_datasets, metric, value, mcse, stage.

    `stage` is `search` for scores on the data sets that chose among candidates, and `fresh` for those of finalists, and of
    the study's own designs, on data sets that had no part in choosing. These have their name in the column `design`.
    """
    import pandas as pd  # noqa: PLC0415  (only tables need it)

    rows: list[dict[str, Any]] = []
    for record in result.records:
        about = {"candidate": record.number, "state": record.state, **record.parameters}
        about["num_datasets"] = record.num_datasets
        for label, score in record.scores.items():
            rows.append({**about, "metric": label, **score._asdict(), "stage": IN_SEARCH})
    for contender in () if result.verification is None else result.verification.ranked:
        own, about = contender.candidate, {}
        if own is not None:
            about = {"candidate": own.number, "state": own.state, **own.parameters}
        about |= {"num_datasets": contender.evaluation.num_datasets, "design": contender.name}
        for label, score in contender.fresh.items():
            rows.append({**about, "metric": label, **score._asdict(), "stage": FRESH})
    return pd.DataFrame(rows)


def frame_sweep(result: "SweepResult") -> "pd.DataFrame":
    """Every score of a quantity and every power, at every point: columns of the variables, quantity, metric, value, mcse."""
    import pandas as pd  # noqa: PLC0415

    rows = []
    for values, evaluation in result.points:
        for quantity, scores in evaluation["recovery"].items():
            rows += [{**values, "quantity": quantity, "metric": metric, **score} for metric, score in scores.items()]
        for goal, score in evaluation["power"].items():
            pair = {"power": score, "when_absent": score.get("when_absent")}
            rows += [
                {**values, "quantity": goal, "metric": metric, "value": one["value"], "mcse": one["mcse"]}
                for metric, one in pair.items()
                if one is not None
            ]
    return pd.DataFrame(rows)


def _row(name: str, design: dict[str, Any], scores: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return (name, *format_cells(design), *(cell for pair in scores for cell in pair))
