"""The report of an evaluation: all designs of a study, side by side."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xarray as xr

from designstudio.core.durations import format_duration
from designstudio.core.files import name_file
from designstudio.core.run_record import RunRecord
from designstudio.errors import StudioError
from designstudio.report import methods, scores
from designstudio.report.assumptions import describe_assumptions, describe_designs
from designstudio.report.blocks import Block, Figure, Page, Section, Words
from designstudio.report.computing import describe_computing, describe_methods, describe_rerun
from designstudio.report.formatting import count, join_words, split
from designstudio.report.pictures import embed_figure, has_figure, render_figure
from designstudio.study import Study
from designstudio.viz.identifiability import draw_correlations
from designstudio.viz.recovery import draw_contraction, draw_coverage, draw_recovery
from designstudio.viz.theme import choose_quantities

# Figures of more would be too small on paper.
NUM_QUANTITIES, NUM_DESIGNS, NUM_MATRICES = 2, 4, 2


def build_evaluation(folder: Path, result: Mapping[str, Any], study: Study, run: RunRecord) -> Page:
    """The page of an evaluation.

    Args:
        folder: of the run.
        result: as `StudyResult.as_dict` has it.
        study: as it was run.
        run: what the run has kept.

    Raises:
        StudioError: if the study is another one, or a file is missing.
    """
    evaluations = {evaluation["name"]: evaluation for evaluation in result["designs"]}
    if list(evaluations) != [design.name for design in study.designs]:
        raise StudioError(
            f"The study has the designs {', '.join(d.name for d in study.designs)}, but '{folder}' has results of "
            f"{', '.join(evaluations)}: name the study file of this run with --study."
        )
    summaries = {name: _read_summaries(folder, name) for name in evaluations}
    first = next(iter(evaluations.values()))
    settings = {
        "cost": study.cost,
        "actor": study.actor if "/" not in study.actor else Path(study.actor).name,
        "fidelity": first["fidelity"],
        "data sets": first["num_datasets"],
        "interval": study.interval,
        **{f"fit: {name}": value for name, value in first["settings"].items()},
    }
    seconds = sum(evaluation["seconds"] for evaluation in evaluations.values())
    pages = (
        Section("Summary", (Words(tuple(result["verdict"]), is_list=True),)),
        Section("Designs", tuple(describe_designs(study, study.designs))),
        describe_assumptions(study, study.designs),
        _describe_recovery(folder, study, evaluations, summaries),
        _describe_identifiability(folder, study, evaluations, summaries),
        scores.describe_power(study, evaluations),
        *_describe_models(folder, evaluations),
        *_describe_behavior(folder, evaluations, study.interval),
        Section("Convergence", tuple(scores.describe_convergence(evaluations))),
        describe_computing(
            settings, study.seed, run, scores.find_versions(evaluations), [scores.tabulate_time(evaluations)]
        ),
        describe_rerun(run),
        describe_methods(methods.write_evaluation(study, evaluations)),
    )
    facts = (
        ("cost", study.cost),
        ("designs", str(len(evaluations))),
        ("simulated participants each", str(first["num_datasets"])),
        ("fidelity", first["fidelity"]),
        ("seed", str(study.seed)),
        ("run time", format_duration(seconds)),
    )
    return Page("Evaluation of designs", study.title or "Evaluation", _ask(study), facts, pages)


def _ask(study: Study) -> str:
    """The question in a sentence."""
    goals = f" And how likely is it that {join_words([str(goal) for goal in study.goals])}?" if study.goals else ""
    designs = "this design" if len(study.designs) == 1 else f"these {len(study.designs)} designs"
    return f"How well would {designs} recover the parameters of participants, and tell their prior from their cost?{goals}"


def _read_summaries(folder: Path, name: str) -> xr.Dataset:
    path = folder / f"{name}.nc"
    if not path.is_file():
        raise StudioError(f"'{path}' is missing: run the command of this folder again, which finds it in its cache.")
    try:
        return xr.load_dataset(path, engine="h5netcdf")
    except (OSError, ValueError, KeyError) as error:
        raise StudioError(f"'{path}' cannot be read ({error}): run the command of this folder again.") from None


def _describe_recovery(
    folder: Path, study: Study, evaluations: scores.Evaluations, summaries: Mapping[str, xr.Dataset]
) -> Section:
    blocks: list[Block] = [scores.tabulate_recovery(study, evaluations)]
    interval = f"{study.interval:.0%}"
    labels = choose_quantities(summaries, None)
    for part in split(list(labels), NUM_QUANTITIES):
        symbols = join_words([labels[name].symbol for name in part])
        for names in split(list(summaries), NUM_DESIGNS):
            chosen = {name: summaries[name] for name in names if set(part) & set(summaries[name]["quantity"].values)}
            if chosen:
                caption = (
                    f"Posterior means and {interval} intervals of {symbols} for every simulated participant, against "
                    "the truth. Orange intervals miss it."
                )
                blocks.append(render_figure(draw_recovery(chosen, quantities=part, interval=study.interval), caption))
    caption = (
        f"Coverage of {interval} intervals with two Monte Carlo standard errors; the dashed line is where it should be on "
        "average over participants who come from the analysis prior."
    )
    blocks.append(render_figure(draw_coverage(summaries, interval=study.interval), caption))
    for part in split(list(labels), NUM_QUANTITIES):
        symbols = join_words([labels[name].symbol for name in part])
        caption = (
            f"Error of {symbols} in posterior sds against contraction, a point for each participant. On the right the "
            "data say much more than the prior; within the dotted lines errors are as large as posteriors say."
        )
        blocks.append(render_figure(draw_contraction(summaries, color_by="design", quantities=part), caption))
    blocks += scores.describe_calibration(evaluations)
    for name in evaluations:
        if has_figure(folder, f"calibration_{name}"):
            caption = f"Calibration of {name}: ranks of the truth against uniform ones, with the 95% band of an exact fit."
            blocks.append(embed_figure(folder, f"calibration_{name}", caption))
    return Section("Recovery", tuple(blocks))


def _describe_identifiability(
    folder: Path, study: Study, evaluations: scores.Evaluations, summaries: Mapping[str, xr.Dataset]
) -> Section:
    blocks = scores.describe_identifiability(study, evaluations)
    can_correlate = {name: s for name, s in summaries.items() if s.sizes["parameter"] > 1}
    for names in split(list(can_correlate), NUM_MATRICES):
        caption = f"Mean posterior correlation of the logarithms of all pairs of parameters: {join_words(names)}."
        blocks.append(render_figure(draw_correlations({name: summaries[name] for name in names}), caption))
    if has_figure(folder, "prior_cost"):
        caption = (
            "Posterior of one simulated participant under each design: the thinner the shape, the more the two trade off."
        )
        blocks.append(embed_figure(folder, "prior_cost", caption))
    return Section("Identifiability", tuple(blocks))


def _describe_models(folder: Path, evaluations: scores.Evaluations) -> list[Section]:
    blocks = scores.describe_model_recovery(evaluations)
    for name in evaluations:
        if has_figure(folder, f"model_recovery_{name}"):
            blocks.append(
                embed_figure(folder, f"model_recovery_{name}", f"{name}: which cost wins when which made the data.")
            )
    return [Section("Telling costs apart", tuple(blocks))] if blocks else []


def _describe_behavior(folder: Path, evaluations: scores.Evaluations, interval: float) -> list[Section]:
    figures: list[Figure] = [
        embed_figure(
            folder,
            f"behavior_{name_file(name)}",
            f"{name}: responses of one simulated participant, and what its fit predicts.",
            is_small=True,
        )
        for name in evaluations
        if has_figure(folder, f"behavior_{name_file(name)}")
    ]
    if not figures:
        return []
    said = (
        f"One of the {count(len(figures), 'simulated data set')}"
        if len(figures) == 1
        else "The same simulated participant in each design"
    )
    words = Words(
        (f"{said}: points are responses, lines and bands the median and {interval:.0%} of what the fit predicts.",)
    )
    return [Section("Behaviour", (words, *figures))]
