"""What fits to real data say: per subject and cost, over subjects, and about the group."""

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import xarray as xr

from designstudio.core.presentation import AbstractResult, Overview
from designstudio.fitting.comparison import Comparison
from designstudio.fitting.fit_json import record_fit
from designstudio.fitting.fit_overview import describe_costs, describe_failures, frame_fit, tabulate_costs
from designstudio.fitting.fit_verdict import conclude_fit
from designstudio.fitting.goal_outcome import GoalOutcome
from designstudio.fitting.goals import describe_plan, judge_goals
from designstudio.fitting.planned import PlannedAnalysis
from designstudio.fitting.posterior_summaries import summarize_group, summarize_posteriors
from designstudio.fitting.predictive_checks import check_predictions
from designstudio.fitting.reading import LoadReport
from designstudio.fitting.request import FitRequest
from designstudio.inference.posterior import restore_posterior
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.scale import Scale

if TYPE_CHECKING:
    import pandas as pd


class Failure(NamedTuple):
    """A fit that must not be used."""

    subject: str
    cost: str
    reason: str


@dataclasses.dataclass(frozen=True, repr=False)
class EmpiricalFit(AbstractResult):
    """All fits to one set of data.

    Attributes:
        name: of the data.
        trials: in the unit of the data, one data set for each subject.
        report: what was read, renamed, filtered and excluded.
        scale: between the unit of the data and the actor's, in which posteriors are.
        request: what was asked for.
        models: the model of each cost.
        posteriors: of each cost; see `designstudio.inference.posterior`. Parameters are in the actor's unit. In place of the
            log likelihood there is the group `loo` (`elpd` and `khat` of every trial). A parameter of a condition in which a
            subject has no trials has its prior as posterior; `summarize` leaves it out.
        pooled: of each cost, if asked for; see `designstudio.inference.hierarchical`.
        comparison: between the costs; None if there is one cost only.
        seconds: what it took.
        notes: what a person should know about choices that were made and things that did not work.
        plan: the analysis that was planned, if the fit is one.
    """

    name: str
    trials: xr.Dataset
    report: LoadReport
    scale: Scale
    request: FitRequest
    models: dict[str, BehaviorModel]
    posteriors: dict[str, xr.DataTree]
    pooled: dict[str, xr.DataTree]
    comparison: Comparison | None
    seconds: float
    notes: tuple[str, ...] = ()
    plan: PlannedAnalysis | None = None

    @property
    def subjects(self) -> list[str]:
        """Labels of the subjects."""
        return [str(subject) for subject in self.trials["subject"].values]

    @property
    def conditions(self) -> list[str]:
        """Labels of the conditions."""
        return [str(condition) for condition in self.trials["condition"].values]

    @property
    def failures(self) -> list[Failure]:
        """Every fit that must not be used, and why."""
        failures = []
        for cost, posterior in self.posteriors.items():
            verdicts = posterior["diagnostics"].to_dataset()
            rows = zip(self.subjects, verdicts["is_good"].values, verdicts["reason"].values, strict=True)
            failures += [Failure(subject, cost, str(reason)) for subject, is_good, reason in rows if not is_good]
        return failures

    @functools.cached_property
    def predictive(self) -> xr.Dataset:
        """Whether the fits reproduce what is seen; see `designstudio.fitting.predictive_checks`."""
        return check_predictions(self)

    @functools.cached_property
    def verdict(self) -> tuple[str, ...]:
        """What the fits say, in sentences."""
        return tuple(conclude_fit(self))

    @functools.cached_property
    def goals(self) -> tuple[GoalOutcome, ...]:
        """What the data say about each goal of the plan; see `designstudio.fitting.goals`."""
        return tuple(judge_goals(self))

    def describe_plan(self) -> list[str]:
        """The plan, deviations from it, and every goal, in sentences; nothing without a plan."""
        return [*describe_plan(self), *(outcome.sentence for outcome in self.goals)]

    def overview(self) -> Overview:
        """Which cost predicts best."""
        columns, rows = tabulate_costs(self)
        converged, *failed = describe_failures(self)
        counted = f"{self.report.num_trials} trials of {len(self.subjects)} subjects, {len(self.conditions)} conditions."
        notes = (describe_costs(self), *self.notes, *failed, *self.describe_plan(), *self.verdict)
        return Overview(
            title=self.name or "Fits",
            facts=f"{counted} {converged}",
            columns=columns,
            rows=rows,
            notes=tuple(note for note in notes if note),
            hint="Estimates of all subjects: .to_frame(). Figure: .plot(). Posteriors of a cost: .to_datatree(cost).",
        )

    def to_frame(self) -> "pd.DataFrame":
        """Estimates of all subjects under all costs; see `designstudio.fitting.fit_overview.frame_fit`."""
        return frame_fit(self)

    def to_datatree(self, cost: str | None = None) -> xr.DataTree:
        """The posteriors of all subjects under one cost, in the unit of the data, as ArviZ takes them.

        Args:
            cost: which; by default the only one, or else the one that predicts best.

        Returns:
            The tree of `posteriors` with the dimension `subject` in place of `dataset`.
        """
        from designstudio.fitting.plan import choose_cost  # noqa: PLC0415  (plans are made of fits)

        cost = choose_cost(self, cost)
        tree = restore_posterior(self.posteriors[cost], self.models[cost], self.scale)

        def label(node: xr.Dataset) -> xr.Dataset:
            return node.swap_dims(dataset="subject").drop_vars("dataset") if "dataset" in node.dims else node

        return tree.map_over_datasets(label)

    def summarize(self) -> xr.Dataset:
        """Mean, sd and the request's equal-tailed interval (low, high) over (subject, cost, parameter), in the data's unit.

        Parameters that differ between conditions are called like `sigma[blurred]`. NaN where a cost has no such parameter,
        or a subject no trials in the condition. Fits that failed are here too; see `failures`.
        """
        return summarize_posteriors(self.posteriors, self.models, self.trials, self.scale, self.request.interval)

    def summarize_group(self, cost: str) -> dict[str, dict[str, dict[str, float]]]:
        """The median subject and the spread of subjects who were pooled under a cost, as `summarize` has statistics."""
        return summarize_group(self.pooled[cost], self.models[cost], self.conditions, self.scale, self.request.interval)

    def as_dict(self) -> dict[str, Any]:
        """All results as JSON knows them; numbers are in the unit of the data."""
        return record_fit(self)
