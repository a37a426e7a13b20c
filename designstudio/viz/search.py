"""All figures of a search, and its candidates as rows of a table."""

from typing import Any

import holoviews as hv

from designstudio.search.finalists import Verification
from designstudio.search.search_result import SearchResult
from designstudio.study.design import Design
from designstudio.viz.designs import draw_designs
from designstudio.viz.front import draw_front
from designstudio.viz.history import draw_history
from designstudio.viz.variables import draw_importance, draw_parallel


def draw_search(result: SearchResult) -> dict[str, hv.Layout]:
    """Figures of a search, by name."""
    figures = {"history": draw_history(result)}
    if len(result.objectives) > 1:
        figures["front"] = draw_front(result)
    figures |= {"importance": draw_importance(result), "parallel": draw_parallel(result)}
    if result.verification is not None and result.verification.ranked:
        figures["designs"] = draw_designs(
            _name_designs(result.verification), title=result.question.title, unit=result.question.conversion.unit
        )
    return figures


def list_candidates(result: SearchResult) -> list[dict[str, Any]]:
    """One row a candidate: what was chosen, what it has shown, and what it took."""
    parameters = list(dict.fromkeys(name for record in result.records for name in record.parameters))
    rows = []
    for record in result.records:
        row: dict[str, Any] = {"number": record.number, "state": record.state}
        row |= {name: record.parameters.get(name, "") for name in parameters}
        for objective in result.objectives:
            score = record.scores.get(objective.label)
            row[f"{objective.label} value"] = f"{score.value:.6g}" if score else ""
            row[f"{objective.label} mcse"] = f"{score.mcse:.2g}" if score else ""
        row["num_datasets"] = record.num_datasets
        row["is_feasible"] = record.is_feasible if record.scores else ""
        rows.append({**row, "seconds": f"{record.seconds:.3f}"})
    return rows


def _name_designs(verification: Verification) -> dict[str, Design]:
    """Designs from best to worst, by what they are, and finalists by which candidate they were."""
    names = {}
    for contender in verification.ranked:
        own = contender.candidate
        kind = "winner" if contender is verification.winner else "finalist" if own is not None else ""
        which = contender.name if own is None else f"candidate {own.number}"
        names[f"{kind}, {which}" if kind else which] = contender.design
    return names
