"""Prior against cost: where the posterior of a typical participant lies, by design."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import holoviews as hv
import numpy as np

from designstudio.dashboard.theme import text_color
from designstudio.evaluate.preview import outline_pair
from designstudio.evaluate.results import Evaluation

PROBS = (0.94, 0.5)


class Shown(NamedTuple):
    """An evaluation in a figure.

    Attributes:
        label: for the hover.
        evaluation: of a design.
        color: its own.
        is_simulated: drawn as a solid line, with the posterior mean of each simulated participant; predictions are filled.
    """

    label: str
    evaluation: Evaluation
    color: str
    is_simulated: bool = False


def find_pair(evaluation: Evaluation) -> tuple[str, str]:
    """Prior and cost parameter that depend on each other most; without a cost parameter, the two of the prior."""
    found = evaluation.identifiability
    if found.prior_cost_pair is not None:
        return found.prior_cost_pair
    names = list(found.parameters)
    return (names[0], names[1]) if len(names) > 1 else (names[0], names[0])


def draw_posteriors(shown: Sequence[Shown], labels: Mapping[str, str]) -> hv.Overlay:
    """Regions of 50 % and 94 %.

    Args:
        shown: the first decides about the pair.
        labels: of the axes, by parameter.
    """
    pair = find_pair(shown[0].evaluation) if shown else ("mu_0", "beta")
    fills, lines, means, colors, names = [], [], [np.empty((0, 2))], [], []
    for item in shown:
        for prob in PROBS:
            corners = outline_pair(item.evaluation, pair, prob)
            if corners is None:
                continue
            entry = {"x": corners[:, 0], "y": corners[:, 1], "design": f"{item.label}, {prob:.0%}", "color": item.color}
            lines.append({**entry, "width": 2.4 if item.is_simulated else 1.2})
            fills.append({**entry, "fill": 0.0 if item.is_simulated else 0.18})
        if item.is_simulated:
            summaries = item.evaluation.summaries
            good = summaries["mean"].values[summaries["is_good"].values]
            columns = [summaries["quantity"].values.tolist().index(name) for name in pair if name in summaries["quantity"]]
            if len(columns) == 2:
                means.append(good[:, columns])
                colors += [item.color] * len(good)
                names += [item.label] * len(good)
    truth = np.empty((0, 2))
    if shown:
        summaries = shown[0].evaluation.summaries
        quantities = summaries["quantity"].values.tolist()
        columns = [quantities.index(name) for name in pair]
        truth = np.exp(np.log(summaries["truth"].values[:, columns]).mean(axis=0))[None]
    at = np.concatenate(means)
    points = {"x": at[:, 0], "y": at[:, 1], "design": np.array(names, dtype=object), "color": np.array(colors, dtype=object)}
    xlabel, ylabel = (labels.get(name, name) for name in pair)
    return hv.Overlay(
        [
            hv.Polygons(fills, ["x", "y"], ["design", "color", "fill"]).opts(
                color="color", line_alpha=0, fill_alpha="fill", tools=["hover"]
            ),
            hv.Contours(lines, ["x", "y"], ["design", "color", "width"]).opts(color="color", line_width="width", cmap=None),
            hv.Points(points, ["x", "y"], ["design", "color"]).opts(color="color", size=4, alpha=0.5, line_color=None),
            hv.Points(truth, ["x", "y"]).opts(color=text_color(), marker="x", size=12, line_width=2.5),
        ]
    ).opts(xlabel=xlabel, ylabel=ylabel, show_legend=False)
