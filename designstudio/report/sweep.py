"""The report of a sweep: one design over a grid of values, above all its power."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from designstudio.core.durations import format_duration
from designstudio.core.run_record import RunRecord
from designstudio.report import methods, scores
from designstudio.report.assumptions import describe_assumptions, describe_designs
from designstudio.report.blocks import Block, Page, Section, Words, make_table
from designstudio.report.computing import describe_computing, describe_methods, describe_rerun
from designstudio.report.formatting import count, join_words
from designstudio.report.pictures import embed_figure, has_figure
from designstudio.study import Study


def build_sweep(folder: Path, result: Mapping[str, Any], study: Study, run: RunRecord) -> Page:
    """The page of a sweep.

    Args:
        folder: of the run.
        result: as `SweepResult.as_dict` has it.
        study: as it was run.
        run: what the run has kept.
    """
    design = study.design(result["design"])
    along, points = result["along"], result["points"]
    evaluations = {_name_point(point["values"]): point["evaluation"] for point in points}
    first = next(iter(evaluations.values()))
    num_wanted = 1
    for values in along.values():
        num_wanted *= len(values)
    said = [f"{design.name} was evaluated at {count(len(points), 'point')} along {join_words(list(along))}."]
    if len(points) < num_wanted:
        said.append(
            f"The sweep was stopped before the other {num_wanted - len(points)} were done; the same command goes on."
        )
    settings = {
        "cost": study.cost,
        "fidelity": first["fidelity"],
        "data sets of each point": first["num_datasets"],
        "interval": study.interval,
        **{f"fit: {name}": value for name, value in first["settings"].items()},
    }
    sections = (
        Section("Summary", (Words(tuple(said), is_list=True),)),
        Section("Design", tuple(describe_designs(study, [design]))),
        describe_assumptions(study, [design]),
        Section("Power", tuple(_describe_power(folder, study, along, points))),
        Section("Recovery", (scores.tabulate_recovery(study, evaluations),)),
        Section("Identifiability", tuple(scores.describe_identifiability(study, evaluations))),
        Section("Convergence", tuple(scores.describe_convergence(evaluations))),
        describe_computing(
            settings, study.seed, run, scores.find_versions(evaluations), [scores.tabulate_time(evaluations)]
        ),
        describe_rerun(run),
        describe_methods(methods.write_sweep(study, design, result, evaluations)),
    )
    facts = (
        ("cost", study.cost),
        ("design", design.name),
        ("points", str(len(points))),
        ("simulated participants each", str(first["num_datasets"])),
        ("seed", str(study.seed)),
        ("run time", format_duration(sum(evaluation["seconds"] for evaluation in evaluations.values()))),
    )
    question = f"What would other values of {join_words(list(along))} buy?"
    return Page("Sweep and power", study.title or "Sweep", question, facts, sections)


def _name_point(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in values.items())


def _describe_power(folder: Path, study: Study, along: Mapping[str, Any], points: list[Mapping[str, Any]]) -> list[Block]:
    goals = list(dict.fromkeys(goal for point in points for goal in point["evaluation"]["power"]))
    if not goals:
        return [Words(("The study has no goals, so there is no power to report.",))]
    rows = [
        (
            *(f"{point['values'][name]:g}" for name in along),
            *(cell for goal in goals for cell in scores.format_power(point["evaluation"]["power"].get(goal))),
        )
        for point in points
    ]
    caption = f"Chance to reach each goal at every point. {scores.ABSENT} {scores.ERROR}"
    heads = (head for goal in goals for head in (goal, f"{goal}, effect absent"))
    blocks: list[Block] = [make_table((*along, *heads), rows, caption, ())]
    if has_figure(folder, "power"):
        blocks.append(embed_figure(folder, "power", f"Chance to reach the goals along {join_words(list(along))}."))
    rules = scores.list_rules(study, {_name_point(point["values"]): point["evaluation"] for point in points})
    return [*blocks, Words(tuple(rules), is_list=True)]
