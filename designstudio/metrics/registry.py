"""All metrics by name: those of the package, and those that a user registers; and the table of all those of quantities."""

from typing import TypeVar

import xarray as xr

from designstudio.core.registry import Registry
from designstudio.errors import StudioError
from designstudio.metrics.base import (
    AbstractDesignMetric,
    AbstractMetric,
    AbstractPosteriorMetric,
    AbstractQuantityMetric,
)
from designstudio.metrics.design.hours import Hours
from designstudio.metrics.design.minutes import Minutes
from designstudio.metrics.design.participants import Participants
from designstudio.metrics.design.smallest_level import SmallestLevel
from designstudio.metrics.design.trials import Trials
from designstudio.metrics.failed import Failed
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.posterior.confounding import Confounding
from designstudio.metrics.posterior.correlation import Correlation
from designstudio.metrics.posterior.information_gain import InformationGain
from designstudio.metrics.posterior.remaining import Remaining
from designstudio.metrics.posterior.volume_ratio import VolumeRatio
from designstudio.metrics.power import FalsePositives, Power
from designstudio.metrics.quantity.bias import Bias
from designstudio.metrics.quantity.concordance import Concordance
from designstudio.metrics.quantity.contraction import Contraction
from designstudio.metrics.quantity.coverage import Coverage
from designstudio.metrics.quantity.mse import MeanSquaredError
from designstudio.metrics.quantity.pearson import Pearson
from designstudio.metrics.quantity.rmse import RootMeanSquaredError
from designstudio.metrics.quantity.width import Width
from designstudio.metrics.quantity.z_score import ZScore
from designstudio.metrics.samples import keep_good, sample_quantity

Metric = TypeVar("Metric", bound=AbstractMetric)

# In the order of tables.
METRICS: Registry[AbstractMetric] = Registry(
    "metric",
    {
        metric.name: metric
        for metric in (
            Bias(),
            RootMeanSquaredError(),
            MeanSquaredError(),
            Pearson(),
            Concordance(),
            Coverage(),
            Width(),
            Contraction(),
            ZScore(),
            Correlation(),
            Confounding(),
            Remaining(),
            InformationGain(),
            VolumeRatio(),
            Power(),
            FalsePositives(),
            Failed(),
            Minutes(),
            Hours(),
            Trials(),
            Participants(),
            SmallestLevel(),
        )
    },
)


def get_metric(name: str) -> AbstractMetric:
    """The metric called `name`.

    Raises:
        UnknownNameError: if there is none; the message lists those there are.
    """
    return METRICS.find(name)


def available_metrics() -> dict[str, AbstractMetric]:
    """Every metric by name, in the order of tables; those of users last."""
    return dict(METRICS)


def list_objective_names() -> tuple[str, ...]:
    """Names of the metrics that a search can have as an objective or a constraint: those with a better and a worse."""
    return tuple(name for name, metric in METRICS.items() if metric.direction is not None)


def list_quantity_metrics() -> dict[str, AbstractQuantityMetric]:
    """Metrics of a quantity, by name."""
    return {name: metric for name, metric in METRICS.items() if isinstance(metric, AbstractQuantityMetric)}


def list_posterior_metrics() -> dict[str, AbstractPosteriorMetric]:
    """Metrics of the shape of posteriors, by name."""
    return {name: metric for name, metric in METRICS.items() if isinstance(metric, AbstractPosteriorMetric)}


def list_design_metrics() -> dict[str, AbstractDesignMetric]:
    """Metrics of the design alone, by name."""
    return {name: metric for name, metric in METRICS.items() if isinstance(metric, AbstractDesignMetric)}


def register_metric(metric: Metric) -> Metric:
    """Add a metric of one's own: from now on tables, files, searches and documentation have it.

    A second one with the same name takes the place of the first.

    Raises:
        StudioError: if the name belongs to a metric of the package, or the metric does not say what it is of.
    """
    kinds = (AbstractQuantityMetric, AbstractPosteriorMetric, AbstractDesignMetric)
    if not isinstance(metric, kinds):
        names = ", ".join(kind.__name__ for kind in kinds)
        raise StudioError(f"The metric {metric.name!r} must derive from one of {names}, to say what it is of.")
    METRICS.register(metric.name, metric)
    return metric


def unregister_metric(name: str) -> None:
    """Forget a metric that was registered."""
    METRICS.unregister(name)


def score_recovery(summaries: xr.Dataset) -> dict[str, dict[str, Score]]:
    """All metrics of every quantity: how well each is estimated, over many simulated data sets.

    Data sets whose fit failed are left out here and counted elsewhere: a number that includes them would mean nothing.

    Args:
        summaries: see `designstudio.metrics.summaries`.
    """
    good, metrics = keep_good(summaries), list_quantity_metrics()
    samples = {str(name): sample_quantity(good, name) for name in good["quantity"].values}
    return {
        quantity: {name: metric.score(sample) for name, metric in metrics.items()} for quantity, sample in samples.items()
    }
