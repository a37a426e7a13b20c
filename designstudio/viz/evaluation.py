"""All figures of an evaluation."""

from collections.abc import Mapping

import holoviews as hv

from designstudio.core.files import name_file
from designstudio.evaluate.evaluate_study import StudyResult
from designstudio.evaluate.example_fit import Example
from designstudio.evaluate.results import list_ranks
from designstudio.viz.behavior import draw_behavior
from designstudio.viz.calibration import draw_calibration
from designstudio.viz.confusion import draw_confusion
from designstudio.viz.designs import draw_designs
from designstudio.viz.identifiability import draw_correlations, draw_pair
from designstudio.viz.recovery import draw_contraction, draw_coverage, draw_recovery
from designstudio.viz.theme import label_quantities


def draw_evaluation(result: StudyResult, examples: Mapping[str, Example]) -> dict[str, hv.Layout]:
    """Figures of an evaluation, by name.

    Args:
        result: all designs.
        examples: one data set of each design, by the design's name; see `designstudio.evaluate.example_fit`.
    """
    study = result.study
    summaries = {evaluation.design.name: evaluation.summaries for evaluation in result.evaluations}
    figures = {
        "designs": draw_designs(
            {design.name: design for design in study.designs}, title=study.title, unit=study.conversion.unit
        ),
        "recovery": draw_recovery(summaries, interval=study.interval, title="Posterior against truth"),
        "contraction": draw_contraction(summaries, title="Error against contraction"),
        "coverage": draw_coverage(summaries, interval=study.interval, title="Coverage of intervals"),
        "correlations": draw_correlations(summaries, title="Posterior correlations"),
    }
    for name, example in examples.items():
        label = f"median and {study.interval:.0%} band of predictions"
        number = int(example.trials["dataset"].values[0])
        figures[f"behavior_{name_file(name)}"] = draw_behavior(
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
        figures[f"model_recovery_{name}"] = draw_confusion(recovery.confusion, undecided=recovery.undecided, title=name)
    return figures
