"""All files of a search: its candidates as JSON and CSV, the winner as a study file, figures as PNG and SVG."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import holoviews as hv

from designstudio.core.files import write_json
from designstudio.core.tables import write_csv
from designstudio.search.finalists import Verification
from designstudio.search.results import SearchResult
from designstudio.search.verdict import describe_search
from designstudio.study import Study, StudyFileError, write_study
from designstudio.study.design import Design
from designstudio.viz.designs import draw_designs
from designstudio.viz.files import write_figures
from designstudio.viz.front import draw_front
from designstudio.viz.history import draw_history
from designstudio.viz.runs import AGAIN, STUDY, add_cost_file, keep_run
from designstudio.viz.variables import draw_importance, draw_parallel

WINNER, FINALISTS = "winner", "finalists"


def write_search(
    result: SearchResult, folder: Path, *, cost_file: Path | None = None, sentences: Sequence[str] = ()
) -> list[str]:
    """Write everything about a search into a folder; returns the names of what was written.

    Args:
        result: the search.
        folder: is made if needed.
        cost_file: the user's file of costs, which a rerun needs.
        sentences: what it has found; see `designstudio.search.verdict`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    record = {**result.as_dict(), "verdict": describe_search(result)}
    write_json(folder / "result.json", record)
    names = ["result.json"]
    if result.records:
        write_csv(folder / "candidates.csv", list_candidates(result))
        names.append("candidates.csv")
    names += _write_best(result, folder)
    names += write_figures(draw_search(result), folder)
    command = ["designstudio", "search", STUDY, "--candidates", str(max(1, len(result.finished))), "--out", AGAIN]
    command = add_cost_file(command, cost_file, folder)
    return [*names, *keep_run(folder, command, study=result.question, sentences=sentences)]


def add_best(result: SearchResult) -> Study | None:
    """The study of a search with what was found as further designs; None if nothing was.

    One objective has one design, `winner`; several have all finalists. The section [search] stays: whoever searches on has
    to beat them.
    """
    if result.verification is None or not result.verification.finalists:
        return None
    finalists, question = result.verification.finalists, result.question
    if len(result.objectives) == 1:
        found = [dataclasses.replace(finalists[result.verification.winner].design, name=WINNER)]
    else:
        found = [finalist.design for finalist in finalists]
    designs = list(question.designs)
    for design in found:
        designs.append(dataclasses.replace(design, name=_find_name(design.name, designs)))
    return dataclasses.replace(question, designs=tuple(designs))


def _find_name(name: str, designs: list[Design]) -> str:
    """A name that no other design has: a search may have begun from the winner of another."""
    taken, number, free = {design.name for design in designs}, 2, name
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free


def _write_best(result: SearchResult, folder: Path) -> list[str]:
    """A study file with what was found, where there is something and files have words for the study."""
    study = add_best(result)
    name = f"{WINNER if len(result.objectives) == 1 else FINALISTS}.toml"
    if study is None:
        return []
    note = f"The study of the search '{result.name}' with what it found as its last {_count(study, result)}."
    try:
        write_study(study, folder / name, notes=[note], overwrite=True)
    except StudyFileError:
        # A question asked from Python may hold more than a file can; its results must not be lost for that.
        return []
    return [name]


def _count(study: Study, result: SearchResult) -> str:
    num = len(study.designs) - len(result.question.designs)
    return "design" if num == 1 else f"{num} designs"


def draw_search(result: SearchResult) -> dict[str, hv.Layout]:
    """Figures of a search, by name."""
    figures = {"history": draw_history(result)}
    if len(result.objectives) > 1:
        figures["front"] = draw_front(result)
    figures |= {"importance": draw_importance(result), "parallel": draw_parallel(result)}
    if result.verification is not None and result.verification.finalists:
        designs = _name_finalists(result.verification, len(result.objectives))
        designs |= {evaluation.design.name: evaluation.design for evaluation in result.verification.references}
        figures["designs"] = draw_designs(designs, title=result.question.title)
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


def _name_finalists(verification: Verification, num_objectives: int) -> dict[str, Design]:
    """The designs of the finalists, by what they are and which candidate they were; several objectives have no winner."""
    names = {}
    for place, finalist in enumerate(verification.finalists):
        kind = "winner" if num_objectives == 1 and place == verification.winner else "finalist"
        names[f"{kind}, candidate {finalist.candidate.number}"] = finalist.design
    return names
