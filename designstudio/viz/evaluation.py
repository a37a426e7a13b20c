"""All files of an evaluation: scores as JSON and CSV, summaries as netCDF, figures as PNG and SVG."""

from pathlib import Path

import holoviews as hv

from designstudio.core.files import replace_file, write_json
from designstudio.core.tables import write_csv
from designstudio.evaluate.example import fit_example
from designstudio.evaluate.results import list_ranks
from designstudio.evaluate.study import StudyResult
from designstudio.viz.behavior import draw_behavior
from designstudio.viz.calibration import draw_calibration
from designstudio.viz.comparison import draw_confusion
from designstudio.viz.designs import draw_designs
from designstudio.viz.files import write_figures
from designstudio.viz.identifiability import draw_correlations, draw_pair
from designstudio.viz.recovery import draw_contraction, draw_coverage, draw_recovery
from designstudio.viz.runs import AGAIN, STUDY, add_cost_file, keep_run
from designstudio.viz.theme import label_quantities


def write_evaluation(result: StudyResult, folder: Path, *, cost_file: Path | None = None) -> list[str]:
    """Write everything about an evaluation into a folder; returns the names of what was written.

    Args:
        result: the evaluation.
        folder: is made if needed.
        cost_file: the user's file of costs, which a rerun needs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_scores(result, folder)
    names = ["result.json", "scores.csv"]
    for evaluation in result.evaluations:
        names.append(f"{evaluation.design.name}.nc")
        with replace_file(folder / names[-1]) as part:
            evaluation.summaries.to_netcdf(part, engine="h5netcdf")
    first = result.evaluations[0]
    study = result.study.replace(fidelity=first.fidelity, num_datasets=first.num_datasets)
    command = add_cost_file(["designstudio", "evaluate", STUDY, "--out", AGAIN], cost_file, folder)
    names += keep_run(folder, command, study=study)
    return [*names, *write_figures(draw_evaluation(result), folder)]


def draw_evaluation(result: StudyResult) -> dict[str, hv.Layout]:
    """Figures of an evaluation, by name."""
    study = result.study
    summaries = {evaluation.design.name: evaluation.summaries for evaluation in result.evaluations}
    figures = {
        "designs": draw_designs({design.name: design for design in study.designs}, title=study.title),
        "recovery": draw_recovery(summaries, interval=study.interval, title="Posterior against truth"),
        "contraction": draw_contraction(summaries, title="Error against contraction"),
        "coverage": draw_coverage(summaries, interval=study.interval, title="Coverage of intervals"),
        "correlations": draw_correlations(summaries, title="Posterior correlations"),
    }
    examples = {design.name: fit_example(study, design) for design in study.designs}
    for name, example in examples.items():
        label = f"median and {study.interval:.0%} band of predictions"
        number = int(example.trials["dataset"].values[0])
        figures[f"behavior_{name}"] = draw_behavior(
            example.trials, example.band, dataset=number, title=name, band_label=label
        )
    pair = next((e.identifiability.prior_cost_pair for e in result.evaluations if e.identifiability.prior_cost_pair), None)
    if pair is not None and all(set(pair) <= set(example.truth) for example in examples.values()):
        truth = {name: next(iter(examples.values())).truth[name] for name in pair}
        labels = label_quantities(next(iter(summaries.values())))
        draws = {name: example.draws for name, example in examples.items()}
        figures["prior_cost"] = draw_pair(
            draws, pair, truth=truth, labels=labels, title="Posterior of one simulated participant"
        )
    for evaluation in result.evaluations:
        if evaluation.calibration is not None:
            name, symbols = evaluation.design.name, label_quantities(evaluation.summaries)
            ranks = list_ranks(evaluation.summaries)
            figures[f"calibration_{name}"] = draw_calibration(
                ranks, title=f"Calibration, {name}", symbols={quantity: label.symbol for quantity, label in symbols.items()}
            )
    for name, recovery in result.model_recovery.items():
        figures[f"model_recovery_{name}"] = draw_confusion(recovery.confusion, title=name)
    return figures


def write_scores(result: StudyResult, folder: Path) -> None:
    """All scores, as JSON, and as a table with one row a score."""
    write_json(folder / "result.json", result.as_dict())
    rows = [
        {
            "design": evaluation.design.name,
            "quantity": quantity,
            "score": name,
            "value": f"{value:.6g}",
            "mcse": f"{mcse:.2g}",
        }
        for evaluation in result.evaluations
        for quantity, scores in evaluation.recovery.items()
        for name, (value, mcse) in scores.items()
    ]
    write_csv(folder / "scores.csv", rows)
