"""Coordinates that serve any family: each parameter on the real line, by the ends of its prior.

Nothing is assumed about the model but its priors. The posterior is expected where the prior is, so proposals need more
rounds of learning than in coordinates that know what the data determine; where parameters trade off against each other, a
family had better bring its own.
"""

import jax
import jax.numpy as jnp

from designstudio.inference.coordinates.base import AbstractCoordinates, Constrained, Point, Start
from designstudio.inference.scales import Scale
from designstudio.model.likelihood.model import BehaviorModel, Values
from designstudio.model.likelihood.observations import Observations

NUM_ROUNDS = 12


class UnconstrainedCoordinates(AbstractCoordinates):
    """Logits or logarithms of the free parameters, in the model's order, conditions after each other."""

    def find_start(self, model: BehaviorModel, observations: Observations) -> Start:
        centres, scales = [], []
        with jax.ensure_compile_time_eval():
            for name, prior in model.priors.items():
                centre, scale = Scale(prior.support).moments(prior)
                centres += [centre] * model.num_entries(name)
                scales += [scale] * model.num_entries(name)
        return Start(jnp.array(centres), jnp.array(scales), (False,) * len(centres))

    def constrain(
        self, model: BehaviorModel, given: Point, observations: Observations, expected: Start, *, is_unbounded: bool
    ) -> Constrained:
        values: Values = {}
        log_det, start = jnp.zeros(()), 0
        for name, prior in model.priors.items():
            part = given[start : start + model.num_entries(name)]
            value, log_slope = Scale(prior.support).constrain(part)
            values[name] = value if name in model.per_condition else value[0]
            log_det += jnp.sum(log_slope)
            start += model.num_entries(name)
        # These coordinates have no bounds to begin with.
        return Constrained(values, log_det, jnp.ones((), bool), given, given, jnp.zeros(()))

    def choose_num_rounds(self, model: BehaviorModel) -> int:
        return NUM_ROUNDS
