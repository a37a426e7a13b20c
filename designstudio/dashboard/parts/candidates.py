"""Candidates of a search in tables and small pictures."""

import html as escaping
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from designstudio.metrics.design.minutes import Minutes
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import Power
from designstudio.search.records import PRUNED, CandidateRecord
from designstudio.search.resolution import describe_resolution
from designstudio.search.search_result import SearchResult, list_contenders
from designstudio.study import Objective
from designstudio.study.design import Design
from designstudio.study.design.description import DesignCells, describe_design, format_cells
from designstudio.viz.designs import Row, compute_rows
from designstudio.viz.theme import BLUE

# Of a picture, in pixels: all of it, and the room on the left and right for texts.
WIDTH, HEIGHT, LEFT, RIGHT, FOOT = 250, 120, 46, 62, 22
MOST_STROKES = 30
ABOUT = DesignCells._fields


def write_best(records: Sequence[CandidateRecord], objectives: Sequence[Objective]) -> str:
    """The best candidates, one a row."""
    # Minutes have a column anyway.
    shown = [objective for objective in objectives if objective.score != Minutes.name]
    heads = ["candidate", *(escaping.escape(objective.label) for objective in shown), *ABOUT, "data sets"]
    rows = [
        [str(r.number), *(str(r.scores[m.label]) for m in shown), *_write_cells(r.design), str(r.num_datasets)]
        for r in records
    ]
    return write_table(heads, rows)


def write_finalists(record: Mapping[str, Any], designs: Sequence[Design]) -> str:
    """Finalists of a result.json and the study's own designs, with what the search has seen beside what fresh data say.

    Args:
        record: what the file holds.
        designs: the study's own, which were scored on the same fresh data.
    """
    labels = _list_labels(record)
    shown = [label for label in labels if label != Minutes.symbol]
    heads = [""]
    for label in shown:
        heads += [f"{escaping.escape(label)}, in the search", "on fresh data"]
        heads += ["without the effect"] if _names_power(label) else []
    rows = []
    about = {design.name: describe_design(design) for design in designs}
    for contender in list_contenders(record) if labels else []:
        entry, number = contender.entry, contender.number
        name = escaping.escape(contender.name) if number is None else f"candidate {number}"
        cells = [f"{'winner, ' if contender.is_winner else ''}{name}"]
        for label in shown:
            seen = "" if number is None else str(Score.from_dict(entry["search"].get(label)))
            cells += [seen, str(Score.from_dict(entry["fresh"].get(label)))]
            cells += [str(_read_rate(entry, label))] if _names_power(label) else []
        design = about.get(contender.name) if number is None else entry["design"]
        rows.append([*cells, *([""] * len(ABOUT) if design is None else _write_cells(design))])
    return write_table([*heads, *ABOUT], rows)


def tabulate_finalists(record: Mapping[str, Any]) -> pd.DataFrame:
    """The same with plain numbers."""
    labels = _list_labels(record)
    rows = []
    for entry in record.get("finalists", []):
        row: dict[str, Any] = {"design": f"candidate {entry['number']}"}
        row |= dict(zip(ABOUT, _write_cells(entry["design"], is_plain=True), strict=True))
        rows.append(row | _spread(labels, entry["search"], "search") | _spread(labels, entry["fresh"], "fresh"))
    for entry in record.get("references", []):
        about = entry["evaluation"]
        rows.append({"design": about["name"], "minutes": about["minutes"]} | _spread(labels, entry["fresh"], "fresh"))
    return pd.DataFrame(rows)


def _names_power(label: str) -> bool:
    """Whether an objective is the power of a goal, which means nothing without its false-positive rate."""
    return label.startswith(f"{Power.symbol}: ")


def _read_rate(entry: Mapping[str, Any], label: str) -> Score:
    """The false-positive rate on fresh data that goes with a power."""
    power = entry["evaluation"]["power"].get(label.removeprefix(f"{Power.symbol}: ")) or {}
    return Score.from_dict(power.get("when_absent"))


def _list_labels(record: Mapping[str, Any]) -> list[str]:
    return [str(entry["label"]) for entry in record.get("objectives", [])]


def _write_cells(design: Mapping[str, Any], *, is_plain: bool = False) -> list[str]:
    """Levels, trials, stimuli and minutes of a design, as `describe_design` has it; escaped unless it is for a file."""
    cells = list(format_cells(design))
    # Long cells may break: the scores beside them matter more than a line.
    return cells if is_plain else [f'<span style="white-space:normal">{escaping.escape(cell)}</span>' for cell in cells]


def write_counts(result: SearchResult) -> str:
    """How far the search is, as tiles."""
    finished = result.finished
    running = sum(record.state == "running" for record in result.records)
    workers = len({record.worker for record in result.records if record.worker})
    tiles = [
        (f"{len(finished)}", "designs tried"),
        (f"{sum(record.state == PRUNED for record in finished)}", "given up early"),
        (f"{sum(not record.is_feasible for record in finished)}", "break a constraint"),
        (f"{result.num_fits:,}", "data sets fitted"),
    ]
    tiles += [(f"{running}", f"being tried by {workers} worker{'s' if workers != 1 else ''}")] if running else []
    cells = "".join(f'<div class="tile"><b>{value}</b><span>{label}</span></div>' for value, label in tiles)
    notes = [describe_resolution(found) for found in result.resolution if not found.is_enough]
    said = "".join(f'<p class="notice">{escaping.escape(note)}</p>' for note in notes)
    return f'<div class="tiles">{cells}</div>{said}'


def write_pictures(designs: Mapping[str, Design], notes: Mapping[str, str]) -> str:
    """Small pictures of designs, all on the same scales: stimuli across, levels up, a stroke for every few trials."""
    if not designs:
        return ""
    rows = compute_rows(designs)
    low = min(row.support[0] for of_design in rows.values() for row in of_design)
    high = max(row.support[1] for of_design in rows.values() for row in of_design)
    figures = [
        f'<figure style="margin:0;flex:0 1 {WIDTH}px"><figcaption><b>{escaping.escape(name)}</b>'
        f'<br><span class="muted">{escaping.escape(notes.get(name, ""))}</span></figcaption>'
        f"{_draw(rows[name], low, high)}</figure>"
        for name in designs
    ]
    return f'<div style="display:flex;flex-wrap:wrap;gap:14px">{"".join(figures)}</div>'


def write_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of HTML cells."""
    head = "".join(f"<th>{cell}</th>" for cell in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table class="ds"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _draw(rows: Sequence[Row], low: float, high: float) -> str:
    """One design as SVG, in the colour of the text around it."""
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - FOOT

    def across(stimulus: float) -> float:
        return LEFT + width * (stimulus - low) / ((high - low) or 1.0)

    def up(place: float) -> float:
        return 8 + (height - 16) * (1.1 - place) / 1.2

    parts = [f'<line x1="{LEFT}" x2="{LEFT + width}" y1="{height}" y2="{height}" stroke="currentColor" opacity="0.4"/>']
    for row in rows:
        top, bottom = up(row.span[1]), up(row.span[0])
        left, right = (across(end) for end in row.support)
        if row.is_range:
            parts.append(
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" '
                f'fill="{BLUE}" opacity="0.25"/>'
            )
        strokes = row.strokes[:: max(1, len(row.strokes) // MOST_STROKES)] if row.is_range else row.strokes
        lines = "".join(f"M{across(float(x)):.1f} {top:.1f}V{bottom:.1f}" for x in strokes)
        parts.append(f'<path d="{lines}" stroke="{BLUE}" stroke-width="{1 if row.is_range else 3}"/>')
        middle = up(row.place) + 4
        parts.append(f'<text x="{LEFT - 6}" y="{middle:.1f}" text-anchor="end">{escaping.escape(row.text)}</text>')
        parts.append(f'<text x="{LEFT + width + 6}" y="{middle:.1f}">{row.num_trials} trials</text>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 6}" text-anchor="middle">{low:g}</text>')
    parts.append(f'<text x="{LEFT + width}" y="{HEIGHT - 6}" text-anchor="middle">{high:g}</text>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" role="img" aria-label="levels and stimuli" '
        f'style="font-size:11px;fill:currentColor">{"".join(parts)}</svg>'
    )


def _spread(labels: Sequence[str], scores: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {
        f"{label}, {kind}{end}": scores.get(label, {}).get(name)
        for label in labels
        for name, end in (("value", ""), ("mcse", " error"))
    }
