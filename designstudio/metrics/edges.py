"""Edges of the analysis prior and of the actor's training box: who lies outside, and what piles up at an end.

A fit finds nothing outside of its prior, and looks good all the same: its posterior is narrow, at the prior's end. What is
counted for every data set is in `designstudio.evaluate.edges`; here are the shares, and the sentences about them.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from designstudio.metrics.monte_carlo import UNDEFINED, Score, score_mean, score_share

ENDS = ("lower", "upper")
# A truth that is this close to an end of the prior, as part of its range in logarithms, lies at it.
AT_END = 0.005
# Variables of the summaries; see `designstudio.evaluate.edges`.
KEPT = (
    *("is_outside_prior", "is_in_tail", "is_outside_box", "is_belief_outside"),
    *("mass_at_end", "prior_mass_at_end", "prior_end"),
)


@dataclasses.dataclass(frozen=True)
class EdgeRules:
    """When an edge is worth a sentence.

    Attributes:
        min_mass: mean posterior mass at an end from which on posteriors pile up there.
        times_prior: and how many times more that must be than the prior has there.
        max_outside: share of participants who may be outside of the prior or of the actor's box.
        max_in_tail: share of participants who may be in the prior's far tail.
    """

    min_mass: float = 0.2
    times_prior: float = 3.0
    max_outside: float = 0.0
    max_in_tail: float = 0.01


RULES = EdgeRules()


class ParameterEdges(NamedTuple):
    """What is known about the ends of one parameter; NaN where something is not defined.

    Attributes:
        outside_prior: share of participants whose truth the analysis prior excludes.
        in_tail: share of participants in its far tail.
        outside_box: share of participants outside of the actor's training box.
        at_end: mean mass of good posteriors at the lower and at the upper end of the prior.
        prior_at_end: the prior's own mass there.
        prior_ends: where the analysis prior ends.
    """

    outside_prior: Score
    in_tail: Score
    outside_box: Score
    at_end: tuple[Score, Score]
    prior_at_end: tuple[float, float]
    prior_ends: tuple[float, float]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        ends = {
            end: {"posterior": score.as_dict(), "prior": _finite(mass), "value": _finite(value)}
            for end, score, mass, value in zip(ENDS, self.at_end, self.prior_at_end, self.prior_ends, strict=True)
        }
        shares = {name: getattr(self, name).as_dict() for name in ("outside_prior", "in_tail", "outside_box")}
        return {**shares, "mass_at_end": ends}


@dataclasses.dataclass(frozen=True)
class Edges:
    """The edges of one design.

    Attributes:
        parameters: of every free parameter, and of others that simulated participants have.
        beliefs_outside: share of participants with beliefs outside of the actor's box, in the simulation or in the fit.
    """

    parameters: Mapping[str, ParameterEdges]
    beliefs_outside: Score

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "parameters": {name: edges.as_dict() for name, edges in self.parameters.items()},
            "beliefs_outside_box": self.beliefs_outside.as_dict(),
        }

    def list_warnings(self, rules: EdgeRules = RULES) -> list[str]:
        """Sentences about what lies outside, without the design's name; empty if all is well."""
        sentences = []
        for name, edges in self.parameters.items():
            sentences += _warn_about(name, edges, rules)
            # Some actors see parameters by the beliefs to which they lead only: those may be inside although these are not.
            if min(edges.outside_box.value, self.beliefs_outside.value) > rules.max_outside:
                sentences.append(
                    f"{name} of {edges.outside_box.percent} of the participants lies outside of the range in which the "
                    "actor was trained: their responses are simulated by extrapolation."
                )
        if self.beliefs_outside.value > rules.max_outside:
            sentences.append(
                f"some beliefs of {self.beliefs_outside.percent} of the participants lie outside of the range in which "
                "the actor was trained, so simulation or fit extrapolates: change the stimuli, or take the exact actor."
            )
        return sentences


def score_edges(summaries: xr.Dataset) -> Edges | None:
    """The edges of a design; None for summaries of older versions, which have not kept them."""
    if "mass_at_end" not in summaries:
        return None
    free, simulated = (summaries[dim].values.tolist() for dim in ("parameter", "simulated"))
    # Taken out once: there are many parameters, and labels take their time.
    arrays = {name: summaries[name].values for name in KEPT}
    is_good, nothing = summaries["is_good"].values, (math.nan, math.nan)
    scores = {}
    for name in dict.fromkeys((*free, *simulated)):
        k = simulated.index(name) if name in simulated else None
        outside_box = UNDEFINED if k is None else score_share(arrays["is_outside_box"][:, k].astype(bool))
        if name not in free:
            scores[name] = ParameterEdges(UNDEFINED, UNDEFINED, outside_box, (UNDEFINED, UNDEFINED), nothing, nothing)
            continue
        k = free.index(name)
        low, high = (score_mean(arrays["mass_at_end"][is_good, k, end].astype(float)) for end in range(len(ENDS)))
        scores[name] = ParameterEdges(
            score_share(arrays["is_outside_prior"][:, k].astype(bool)),
            score_share(arrays["is_in_tail"][:, k].astype(bool)),
            outside_box,
            (low, high),
            tuple(arrays["prior_mass_at_end"][k].tolist()),
            tuple(arrays["prior_end"][k].tolist()),
        )
    return Edges(scores, score_share(arrays["is_belief_outside"].astype(bool)))


def list_at_end(summaries: xr.Dataset) -> list[str]:
    """Parameters whose truth lies, for most participants, at an end of the analysis prior: no interval can hold it there."""
    if "prior_end" not in summaries:
        return []
    names = summaries["parameter"].values.tolist()
    quantities = summaries["quantity"].values.tolist()
    truth = summaries["truth"].values[:, [quantities.index(name) for name in names]]
    low, high = np.log(summaries["prior_end"].values).T
    with np.errstate(invalid="ignore"):
        from_end = np.minimum(np.log(truth) - low, high - np.log(truth))
        is_at_end = (np.abs(from_end) <= AT_END * (high - low)).mean(axis=0) > 0.5
    return [name for name, is_there in zip(names, is_at_end, strict=True) if is_there]


def _warn_about(name: str, edges: ParameterEdges, rules: EdgeRules) -> list[str]:
    sentences = []
    low, high = edges.prior_ends
    if edges.outside_prior.value > rules.max_outside:
        sentences.append(
            f"{name} of {edges.outside_prior.percent} of the participants lies outside of its analysis prior ({low:g} to "
            f"{high:g}), where no fit can find it: widen the prior, or change the population or the levels."
        )
    if edges.in_tail.value > rules.max_in_tail:
        sentences.append(
            f"{name} of {edges.in_tail.percent} of the participants lies in the far tail of its analysis prior: fits pull "
            "it towards the prior's middle."
        )
    for word, score, mass, end in zip(ENDS, edges.at_end, edges.prior_at_end, edges.prior_ends, strict=True):
        if score.value >= max(rules.min_mass, rules.times_prior * mass):
            sentences.append(
                f"posteriors of {name} pile up at the {word} end of the analysis prior ({end:g}): {score.percent} of "
                f"their mass lies there, {mass:.0%} of the prior's; what lies beyond cannot be found."
            )
    return sentences


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
