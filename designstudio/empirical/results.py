"""What fits to real data say: per subject and cost, over subjects, and about the group."""

import dataclasses

import xarray as xr

from designstudio.behavior.model import BehaviorModel
from designstudio.data import LoadReport, Scale
from designstudio.empirical.request import FitRequest


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Which cost predicts left-out trials best.

    Attributes:
        table: over (subject, cost): `elpd` (PSIS-LOO), `elpd_se`, `num_bad_k` (trials with Pareto k-hat above 0.7), `is_good`
            (whether the fit can be used), `difference` to the subject's best cost and `difference_se` (from pointwise
            differences), `is_winner`.
        total: over (cost): `elpd` summed over the subjects that every cost could be fitted to, `elpd_se`, `difference` to the
            best cost and `difference_se`, `weight` (stacking), `share_won` and `share_won_se`.
        families: over (family): the same shares for groups of costs as in the paper: `symmetric`, `effort`, `asymmetric`.
        num_undecided: subjects that some cost could not be fitted to, who count in no total.
    """

    table: xr.Dataset
    total: xr.Dataset
    families: xr.Dataset
    num_undecided: int


@dataclasses.dataclass(frozen=True)
class EmpiricalFit:
    """All fits to one set of data.

    Attributes:
        name: of the data.
        trials: in the unit of the data, one data set for each subject.
        report: what was read, renamed, filtered and excluded.
        scale: between the unit of the data and the actor's, in which posteriors are.
        request: what was asked for.
        models: the model of each cost.
        posteriors: of each cost; see `designstudio.fit.posterior`. Parameters are in the actor's unit.
        pooled: of each cost, if asked for; see `designstudio.fit.pooling`.
        comparison: between the costs; None if there is one cost only.
        seconds: what it took.
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

    @property
    def subjects(self) -> list[str]:
        """Labels of the subjects."""
        return [str(subject) for subject in self.trials["subject"].values]
