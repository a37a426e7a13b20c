"""Metrics: numbers, with Monte Carlo errors, that say what a design is worth. One a file; `base` teaches how to add one."""

from designstudio.metrics.base import (
    ALL,
    LARGER,
    PRIOR_COST,
    SMALLER,
    AbstractDesignMetric,
    AbstractMetric,
    AbstractPosteriorMetric,
    AbstractQuantityMean,
    AbstractQuantityMetric,
)
from designstudio.metrics.monte_carlo import MetricEstimate, Score, weighted_mean
from designstudio.metrics.registry import available_metrics, get_metric, register_metric, unregister_metric
from designstudio.metrics.samples import DesignFacts, PosteriorShape, QuantitySample

__all__ = [
    "ALL",
    "LARGER",
    "PRIOR_COST",
    "SMALLER",
    "AbstractDesignMetric",
    "AbstractMetric",
    "AbstractPosteriorMetric",
    "AbstractQuantityMean",
    "AbstractQuantityMetric",
    "DesignFacts",
    "MetricEstimate",
    "PosteriorShape",
    "QuantitySample",
    "Score",
    "available_metrics",
    "get_metric",
    "register_metric",
    "unregister_metric",
    "weighted_mean",
]
