"""A cost from outside of the package: people aim below the stimulus by a factor, and weigh errors by their ratio."""

from dataclasses import dataclass

import jax.numpy as jnp

from designstudio.model.costs import add_cost
from designstudio.model.costs.base import ASYMMETRIC, AbstractClosedFormCost
from designstudio.model.parameters import cost_parameter
from designstudio.model.priors import Interval, Uniform


@dataclass(frozen=True)
class Undershoot(AbstractClosedFormCost):
    name = "undershoot"
    formula = "(log r - log s + λ)²"
    meaning = "people aim below the stimulus"
    kind = ASYMMETRIC
    parameters = (cost_parameter("reach", Uniform(0.05, 0.55), support=Interval(0.0, 1.0)),)

    def __call__(self, response, stimulus, parameters):
        return (jnp.log(response) - jnp.log(stimulus) + parameters["reach"]) ** 2

    def log_ratio(self, belief, sigma_r, parameters):
        # Noise in log units has the mean 0.
        return -parameters["reach"]


add_cost(Undershoot())
