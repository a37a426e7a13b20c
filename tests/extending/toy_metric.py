"""A metric from outside of the package: the typical error as a share of the typical truth."""

import numpy as np

from designstudio.metrics import SMALLER, AbstractQuantityMetric, register_metric, weighted_mean


class RelativeError(AbstractQuantityMetric):
    name = "relative_error"
    label = "relative error"
    explanation = "root of the mean squared error over the mean truth"
    caveat = "meaningless where truths have both signs"
    direction = SMALLER
    is_size = True
    number_format = ".1%"

    def statistic(self, sample):
        def relate(weights):
            return np.sqrt(weighted_mean(weights, sample.error**2)) / weighted_mean(weights, sample.truth)

        return relate


register_metric(RelativeError())
