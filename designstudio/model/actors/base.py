"""What an actor is: from a participant to a policy, from a measurement to an action.

A *participant* maps parameter names to values: those of the family and the cost's own. A *policy* is what one participant
does at one uncertainty level: a function from the measurement, on the perception's scale, to the action, on the response's
scale (in the log-normal family both are logarithms). Making the policy may be costly (a network's forward pass), calling it
is cheap, so a fit makes one policy per participant and level and calls it for every trial.

An actor belongs to a family (`designstudio.model.family`). To write one, derive from `AbstractActor`: say the `cost`, the
`box`, the `family`, and give the `policy`. If it is known that policies are linear or smooth, say so by `rule`: likelihoods
are then integrated with less effort. `designstudio.model.actors.belief` has what actors of the log-normal family share.

Every actor has a *box*, the range in which its actions can be trusted; `is_inside` says for each action whether it is.
"""

from abc import abstractmethod
from collections.abc import Mapping

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool

from designstudio.model.costs.base import AbstractCost
from designstudio.model.family import Family
from designstudio.model.likelihood.density import CORNERED, QuadratureRule
from designstudio.model.parameters import Parameter, training_priors
from designstudio.model.perception.base import Participant, Scalar
from designstudio.model.priors import Interval, PriorSet

Box = tuple[tuple[str, Interval], ...]


class AbstractPolicy(eqx.Module):
    """What one participant does with a measurement."""

    @abstractmethod
    def __call__(self, measurement: Scalar) -> Scalar:
        """The action."""


class AbstractActor(eqx.Module):
    """Something that acts optimally, exactly or nearly, under a cost."""

    cost: eqx.AbstractVar[AbstractCost]
    box: eqx.AbstractVar[Box]

    @property
    @abstractmethod
    def family(self) -> Family:
        """Whose beliefs it acts upon, and how its actions become responses."""

    @abstractmethod
    def policy(self, participant: Participant) -> AbstractPolicy:
        """The participant's policy."""

    @abstractmethod
    def is_inside(self, participant: Participant, measurement: Scalar) -> Bool[Array, ""]:
        """Whether the actor can be trusted for this participant and measurement."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What makes a participant: the family's parameters and the cost's own."""
        return (*self.family.parameters, *self.cost.parameters)

    @property
    def parameter_boxes(self) -> Mapping[str, Interval]:
        """The range of each parameter in which the actor was trained; empty if it is right everywhere."""
        return {parameter.name: parameter.box for parameter in self.parameters} if self.box else {}

    @property
    def training_priors(self) -> PriorSet:
        """Where its training examples come from, and where its accuracy is measured."""
        boxes = self.parameter_boxes
        priors = training_priors(self.parameters)
        return PriorSet({name: prior.within(boxes[name]) if name in boxes else prior for name, prior in priors.items()})

    @property
    def rule(self) -> QuadratureRule:
        """The fastest rule for likelihoods that is accurate for every participant; by default nothing is known."""
        return CORNERED

    @property
    def fast_rule(self) -> QuadratureRule:
        """The rule with which posteriors are explored; where it is not `rule`, results are corrected."""
        return self.rule


def is_in_box(values: Participant, box: Box) -> Bool[Array, ""]:
    """Whether all values lie in the box, with room for rounding at its faces."""
    is_in = jnp.ones((), bool)
    for name, interval in box:
        room = 1e-5 * max(abs(interval.low), abs(interval.high))
        is_in &= (values[name] >= interval.low - room) & (values[name] <= interval.high + room)
    return is_in
