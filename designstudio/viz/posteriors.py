"""What one subject's data say about each parameter: marginals beside their priors, and regions of two parameters."""

from typing import NamedTuple

import holoviews as hv
import numpy as np
from arviz_stats.base import array_stats
from jaxtyping import Float

from designstudio.errors import StudioError, UnknownNameError
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.units import count_trials
from designstudio.metrics.intervals import compute_interval
from designstudio.model.parameter_entries import list_parameter_entries
from designstudio.viz import figures, theme
from designstudio.viz.estimates import label_parameters
from designstudio.viz.families import name_cost
from designstudio.viz.identifiability import draw_pair
from designstudio.viz.theme import BLUE, REFERENCE_COLOR, QuantityLabel, Series

AXES_INCHES = (1.9, 1.3)
POSTERIOR = Series("posterior", BLUE, dash="solid")
PRIOR = Series("prior", REFERENCE_COLOR, dash="dashed")
NUM_QUANTILES = 400


class Marginal(NamedTuple):
    """One number of a subject, in the unit of the data.

    Attributes:
        label: how it is written.
        draws: of the posterior.
        place: where the density is known.
        density: of the posterior.
        prior_place: where the prior's density is known.
        prior_density: of the prior.
        low: of the equal-tailed interval.
        high: of the same.
    """

    label: QuantityLabel
    draws: Float[np.ndarray, " draw"]
    place: Float[np.ndarray, " point"]
    density: Float[np.ndarray, " point"]
    prior_place: Float[np.ndarray, " quantile"]
    prior_density: Float[np.ndarray, " quantile"]
    low: float
    high: float


def compute_marginals(fit: EmpiricalFit, cost: str, subject: str) -> dict[str, Marginal]:
    """What to draw of each free number that the subject has trials for, called as `EmpiricalFit.summarize` does.

    Raises:
        UnknownNameError: if there is no such cost or subject.
    """
    if cost not in fit.models:
        raise UnknownNameError("cost of this fit", cost, fit.models)
    if subject not in fit.subjects:
        raise UnknownNameError("subject", subject, fit.subjects)
    model, place = fit.models[cost], fit.subjects.index(subject)
    draws = fit.posteriors[cost]["posterior"].to_dataset().isel(dataset=place)
    labels = label_parameters(model, fit.scale.unit, fit.conditions)
    parameters = {parameter.name: parameter for parameter in model.parameters}
    num_trials = count_trials(fit.trials)[place]
    # Not the ends, which may lie at infinity.
    shares = (np.arange(NUM_QUANTILES) + 0.5) / NUM_QUANTILES
    found = {}
    for entry in list_parameter_entries(model):
        if entry.condition is not None and not num_trials[entry.condition]:
            continue
        parameter = parameters[entry.name]
        own = fit.scale.restore(entry.pick(draws[entry.name]).values.astype(float).ravel(), parameter)
        # Importance draws repeat, which bandwidths that look for several peaks take for peaks.
        grid, density, _ = array_stats.kde(own, bw="scott")
        quantiles = fit.scale.restore(np.asarray(model.priors[entry.name].quantile(shares), float), parameter)
        low, high = compute_interval(own, fit.request.interval)
        found[entry.label(fit.conditions)] = Marginal(
            labels[entry.label()], own, grid, density, quantiles, np.gradient(shares, quantiles), float(low), float(high)
        )
    return found


def draw_fit_posterior(fit: EmpiricalFit, cost: str, subject: str) -> hv.Layout:
    """The marginal posterior of every free parameter of a subject, and the prior that it came from."""
    found = compute_marginals(fit, cost, subject)
    if not found:
        raise StudioError("No parameter was free, so there is no posterior.")
    reason = next((entry.reason for entry in fit.failures if (entry.subject, entry.cost) == (subject, cost)), "")
    warning = f"this fit cannot be used ({reason})" if reason else ""
    title = f"{fit.name}, subject {subject}: {name_cost(cost)} cost"
    return figures.arrange_panels(
        [_draw_marginal(marginal) for marginal in found.values()],
        num_columns=figures.count_columns(len(found)),
        title=theme.join_lines(title, f"shaded: {fit.request.interval:.0%} interval", warning),
        legend=[POSTERIOR, PRIOR],
        axes=AXES_INCHES,
    )


def draw_fit_pair(fit: EmpiricalFit, cost: str, subject: str, pair: tuple[str, str]) -> hv.Layout:
    """Where two parameters of a subject lie together.

    Raises:
        StudioError: if they are one and the same, or unknown.
    """
    if pair[0] == pair[1]:
        raise StudioError("A pair needs two parameters: choose another one.")
    found = compute_marginals(fit, cost, subject)
    return draw_pair(
        {name_cost(cost): {name: marginal.draws for name, marginal in found.items()}},
        pair,
        labels={name: marginal.label for name, marginal in found.items()},
        title=f"{fit.name}, subject {subject}",
    )


def _draw_marginal(marginal: Marginal) -> hv.Overlay:
    xlim = theme.pad_limits(marginal.place)
    ylim = (0.0, 1.12 * float(marginal.density.max()))
    # Far from the posterior the prior need not be seen; and a curve that leaves the axes would be drawn over others.
    is_shown = (marginal.prior_place >= xlim[0]) & (marginal.prior_place <= xlim[1])
    is_inside = (marginal.place >= marginal.low) & (marginal.place <= marginal.high)
    inside = marginal.place[is_inside]
    area = hv.Area((inside, np.zeros(inside.size), marginal.density[is_inside]), vdims=["from", "to"])
    prior = hv.Curve((marginal.prior_place[is_shown], marginal.prior_density[is_shown]), label=PRIOR.label)
    posterior = hv.Curve((marginal.place, marginal.density), label=POSTERIOR.label)
    return figures.frame_panel(
        hv.Overlay(
            [
                theme.style_fill(area, BLUE, alpha=0.18),
                theme.style_line(prior, PRIOR),
                theme.style_line(posterior, POSTERIOR, width=1.6),
            ]
        ),
        axes=AXES_INCHES,
        xlabel=marginal.label.axis,
        ylabel="density",
        # The area is one: numbers would say nothing.
        yticks=[],
        xlim=xlim,
        ylim=ylim,
    )
