"""What an evaluation says: scores with their errors, how the fits went, and how long it took."""

import dataclasses
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr

from designstudio.core.files import replace_nonfinite
from designstudio.core.presentation import AbstractResult, Overview
from designstudio.evaluate.goals import bound_power
from designstudio.evaluate.overview import ERRORS, describe_run, frame_evaluations, tabulate_designs
from designstudio.evaluate.status import Status, find_status
from designstudio.inference.posterior import restore_posterior
from designstudio.metrics.calibration import score_calibration
from designstudio.metrics.edges import Edges, score_edges
from designstudio.metrics.failed import Bounds, bound_share
from designstudio.metrics.identifiability import Identifiability, score_identifiability
from designstudio.metrics.monte_carlo import Score, scores_as_dict
from designstudio.metrics.power import PowerScore
from designstudio.metrics.registry import score_recovery
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.study import Study
from designstudio.study.design import Design

if TYPE_CHECKING:
    import pandas as pd


class Convergence(NamedTuple):
    """How the fits of a design went.

    Attributes:
        converged: data sets with a fit that can be used.
        refitted: data sets that needed more than the fast stage, whatever came of it.
        failed: data sets without a usable fit; no score uses them.
        max_rhat: largest R-hat of a usable fit; NaN where there are no chains.
        max_khat: largest k-hat of a usable fit; NaN where there are no importance weights.
        min_ess: fewest effective draws of a usable fit; NaN where nothing was sampled.
        reasons: why fits failed, and how often.
        chains: what chains did, if there are any: mean steps and step size of a trajectory, divergent and saturated
            trajectories, smallest E-BFMI, data sets whose chains may jump, and the share of their draws that did.
    """

    converged: int
    refitted: int
    failed: int
    max_rhat: float
    max_khat: float
    min_ess: float
    reasons: dict[str, int]
    chains: dict[str, float] | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        worst = {name: getattr(self, name) for name in ("max_rhat", "max_khat", "min_ess")}
        return {**self._asdict(), **{name: number if np.isfinite(number) else None for name, number in worst.items()}}


@dataclasses.dataclass(frozen=True, repr=False)
class Evaluation(AbstractResult):
    """One design at one fidelity.

    Attributes:
        study: the question.
        design: who answers.
        fidelity: how.
        summaries: of every data set; see `designstudio.metrics.summaries`.
        seconds: what the computation took, when it was done.
        is_cached: whether all of it was found, not computed.
        recovery: scores of every quantity.
        identifiability: what can be told apart.
        status: what the design teaches about prior and cost, in one word, and why.
        edges: who and what lies at or beyond the ends of analysis prior and training box; None in runs of older versions.
        convergence: how the fits went.
        power: chance to reach each goal, with its effect and without.
        calibration: whether ranks are uniform; None unless participants come from the prior that the fit assumes.
    """

    study: Study
    design: Design
    fidelity: str
    summaries: xr.Dataset
    seconds: float
    is_cached: bool
    recovery: dict[str, dict[str, Score]]
    identifiability: Identifiability
    status: Status
    edges: Edges | None
    convergence: Convergence
    power: dict[str, PowerScore]
    calibration: xr.Dataset | None

    @property
    def num_datasets(self) -> int:
        """How many data sets were simulated."""
        return self.summaries.sizes["dataset"]

    @property
    def bounds(self) -> dict[str, dict[str, Bounds]]:
        """Shares with all failed fits counted as misses and as hits, if more than 1 % failed.

        These are `coverage` and `power`, and `when_absent` if fits without the effect failed. Not among them is what has no
        good fit, and the power of a test between groups, which is no share of data sets.
        """
        num, num_failed = self.num_datasets, self.convergence.failed
        powers = {goal: bound_power(score) for goal, score in self.power.items()}
        shares = {
            "coverage": {
                name: bound_share(scores["coverage"].value, num_failed, num) for name, scores in self.recovery.items()
            },
            "power": {goal: present for goal, (present, _) in powers.items()},
            "when_absent": {goal: absent for goal, (_, absent) in powers.items()},
        }
        known = {kind: {name: b for name, b in found.items() if b is not None} for kind, found in shares.items()}
        return {kind: found for kind, found in known.items() if found}

    def overview(self) -> Overview:
        """The scores of the design."""
        return Overview(
            title=f"{self.study.title or 'Evaluation'}: {self.design.name}",
            facts=f"{describe_run([self])} {ERRORS}",
            columns=("", self.design.name),
            rows=tuple((row.name, *row.cells) for row in tabulate_designs([self])),
            hint="All scores: .to_frame(). Figure: .plot(). Posterior of one simulated participant: .to_datatree().",
        )

    def to_frame(self) -> "pd.DataFrame":
        """All scores; see `designstudio.evaluate.overview.frame_evaluations`."""
        return frame_evaluations([self])

    def to_datatree(self, number: int = 0) -> xr.DataTree:
        """The posterior of one simulated participant, as ArviZ takes it; simulated and fitted when this is called.

        Args:
            number: of the data set.
        """
        from designstudio.evaluate.example_fit import simulate_and_fit  # noqa: PLC0415  (fits need what scores do not)

        experiment, _, posterior = simulate_and_fit(self.study, self.design, number=number)
        return restore_posterior(posterior, experiment.fitted, experiment.scale).isel(dataset=0)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.design.name,
            "fidelity": self.fidelity,
            "num_datasets": self.num_datasets,
            "minutes": self.design.minutes,
            "num_participants": self.design.num_participants,
            "status": self.status.name,
            "status_reason": self.status.sentence,
            "status_is_clear": self.status.is_clear,
            "recovery": {name: scores_as_dict(scores) for name, scores in self.recovery.items()},
            "identifiability": self.identifiability.as_dict(),
            "power": {goal: score.as_dict() for goal, score in self.power.items()},
            "calibration": _describe_calibration(self.calibration),
            "edges": None if self.edges is None else self.edges.as_dict(),
            "convergence": self.convergence.as_dict(),
            "bounds": {kind: {name: list(b) for name, b in found.items()} for kind, found in self.bounds.items()},
            "seconds": self.seconds,
            "is_cached": self.is_cached,
            "seed": self.study.seed,
            "interval": self.study.interval,
            "settings": json.loads(self.summaries.attrs["settings"]),
            "versions": json.loads(self.summaries.attrs["versions"]),
        }


def score_evaluation(
    study: Study,
    design: Design,
    fidelity: str,
    summaries: xr.Dataset,
    *,
    seconds: float,
    is_cached: bool,
    power: dict[str, PowerScore],
) -> Evaluation:
    """All scores of a design's summaries."""
    of_prior, of_cost = list_prior_parameters(study), list_cost_parameters(study)
    recovery = score_recovery(summaries)
    return Evaluation(
        study,
        design,
        fidelity,
        summaries,
        seconds,
        is_cached,
        recovery=recovery,
        identifiability=score_identifiability(summaries, of_prior, of_cost),
        status=find_status(summaries, recovery, of_prior, of_cost, interval=study.interval),
        edges=score_edges(summaries),
        convergence=check_convergence(summaries),
        power=power,
        calibration=score_calibration(list_ranks(summaries)) if study.population.follows_analysis else None,
    )


def list_prior_parameters(study: Study) -> tuple[str, ...]:
    """Names of the parameters of the participants' prior."""
    return tuple(parameter.name for parameter in DEFAULT_FAMILY.parameters if parameter.role.is_prior)


def list_cost_parameters(study: Study) -> tuple[str, ...]:
    """Names of the parameters of the cost."""
    return tuple(parameter.name for parameter in study.load_actor(study.cost).cost.parameters)


def list_ranks(summaries: xr.Dataset) -> xr.Dataset:
    """Ranks of every quantity that has a truth, as `score_calibration` wants them; NaN where the fit failed."""
    ranks = summaries["rank"].where(summaries["is_good"])
    names = [str(name) for name in ranks["quantity"].values if not summaries["truth"].sel(quantity=name).isnull().any()]
    return xr.Dataset({name: ("dataset", ranks.sel(quantity=name).values) for name in names})


def _describe_calibration(calibration: xr.Dataset | None) -> dict[str, Any] | None:
    if calibration is None:
        return None
    found = {}
    for name in calibration["quantity"].values:
        entry = calibration.sel(quantity=name)
        numbers = {column: entry[column].item() for column in ("max_deviation", "band_used", "mean_rank")}
        # Where no fit is good there are no ranks, which are neither inside nor outside.
        is_ranked = bool(np.isfinite(numbers["max_deviation"]))
        found[str(name)] = {**numbers, "is_inside": entry["is_inside"].item() if is_ranked else None}
    return replace_nonfinite(found)


def check_convergence(summaries: xr.Dataset) -> Convergence:
    """Counts of good, refitted and failed fits."""
    is_good = summaries["is_good"].values
    reasons, counts = np.unique(summaries["reason"].values[~is_good], return_counts=True)
    return Convergence(
        converged=int(is_good.sum()),
        refitted=int(summaries["is_refitted"].sum()),
        failed=int((~is_good).sum()),
        max_rhat=_find_worst(summaries, "rhat", np.max),
        max_khat=_find_worst(summaries, "khat", np.max),
        min_ess=_find_worst(summaries, "ess", np.min),
        reasons={str(reason): int(count) for reason, count in zip(reasons, counts, strict=True)},
        chains=_describe_chains(summaries),
    )


def _describe_chains(summaries: xr.Dataset) -> dict[str, float] | None:
    """What the chains of usable fits did; None where there are none, or where an older version did not say."""
    if "mean_steps" not in summaries or not summaries["is_good"].any():
        return None
    good = summaries.isel(dataset=np.flatnonzero(summaries["is_good"].values))
    jumps = good["has_jumps"].values > 0
    return {
        "mean_steps": float(good["mean_steps"].mean()),
        "mean_step_size": float(good["mean_step_size"].mean()),
        "divergent": int(good["num_divergent"].sum()),
        "saturated": int(good["num_saturated"].sum()),
        "min_ebfmi": float(good["ebfmi"].min()),
        "with_jumps": int(jumps.sum()),
        "jump_rate": float(good["jump_rate"].values[jumps].mean()) if jumps.any() else 0.0,
    }


def _find_worst(summaries: xr.Dataset, name: str, worst: Callable[[np.ndarray], Any]) -> float:
    """The worst over good fits; NaN if it is not defined, or was not kept by older versions."""
    values = summaries[name].values[summaries["is_good"].values] if name in summaries.variables else np.zeros(0)
    return float(worst(values)) if values.size and not np.isnan(values).any() else float("nan")
