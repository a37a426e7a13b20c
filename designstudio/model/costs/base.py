"""What a cost is, and how to add one.

A cost says how bad the response r is when the stimulus was s. To add one, write a file with a frozen dataclass that has
`name`, `formula`, `meaning`, `kind`, `parameters` and `__call__`, and list it in `designstudio/model/costs/registry.py`, or
outside of the package call `designstudio.model.costs.add_cost(Cubic())`:

    @dataclass(frozen=True)
    class Cubic(AbstractCost):
        name = "cubic"
        formula = "|r - s|³"
        meaning = "large errors count much more"
        kind = SYMMETRIC
        parameters = ()

        def __call__(self, response, stimulus, parameters):
            return jnp.abs(response - stimulus) ** 3

That is all: the exact actor integrates it numerically and an amortized actor can be trained for it. (For a cost of your
own that is a plain function, see `designstudio.model.costs.function`.)

Whoever knows more mathematics about a cost overrides more methods, and gains speed and accuracy:

- `log_ratio`: the optimal action in closed form, by deriving from `AbstractClosedFormCost`.
- `slope`: the expected cost's derivative without numerical integration. Set `has_single_root` if it has one root.
- `log_anchor`: an explicit action near the optimum, which an amortized actor then only corrects.
- `position`, `shape_inputs`: which combination of belief and parameters matters; see there.

These methods are about the log-normal family (`designstudio.model.family`): its beliefs have a median and a log standard
deviation, and its actions are logarithms. Actors of other families use the cost itself.

Conventions: all methods take one decision (scalars); vmap them. `parameters` maps the cost's own parameter names to
values. `log_action` is the logarithm of the intended response a; the response itself is r = a exp(sigma_r * noise).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import jax.numpy as jnp
from jaxtyping import Array, Float

from designstudio.model.costs import quadrature
from designstudio.model.family import LOG_NORMAL
from designstudio.model.parameters import Parameter
from designstudio.model.perception import Belief
from designstudio.model.priors import Interval

Scalar = Float[Array, ""]
Values = Mapping[str, Scalar]

# Families of costs, in the order of the paper; results and files call them so.
SYMMETRIC, WITH_EFFORT, ASYMMETRIC, OTHER = "symmetric", "effort", "asymmetric", "other"
FAMILIES = (SYMMETRIC, WITH_EFFORT, ASYMMETRIC, OTHER)

# The medians of beliefs that occur when prior means and stimuli come from the training range (0.02 to 20) and measurements
# scatter by up to 3.2 standard deviations: with sigma = sigma_0 = 1, half of a measurement's scatter reaches the belief.
MU_POST_BOX = Interval(0.004, 100.0)


class AbstractCost(ABC):
    """A cost of responding r to the stimulus s. Frozen and hashable: jitted functions treat it as a constant."""

    name: str
    formula: str
    # What it says about people, in a few words.
    meaning: str
    kind: str
    parameters: tuple[Parameter, ...]
    # How many Chebyshev terms an amortized actor uses along `position`; one means that position does not matter.
    num_terms: int = 12
    # Whether `slope` has exactly one root near the anchor (see SEARCH_REACH), whatever the belief.
    has_single_root: bool = False
    # Whether log a bends little with log m. If not, or if it is not known, likelihoods are integrated with more care.
    has_smooth_policy: bool = False
    # Something that users must know wherever the cost appears.
    note: str = ""

    @abstractmethod
    def __call__(self, response: Scalar, stimulus: Scalar, parameters: Values) -> Scalar:
        """The cost itself."""

    def expected(self, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """Expected cost of an action under the belief and the motor noise."""
        return quadrature.expected_cost(self, log_action, belief, sigma_r, parameters)

    def slope(self, log_action: Scalar, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """A function with the sign of d expected / d log_action; the optimal action is its root.

        Any positive factor and any sign-preserving transformation is allowed, because only the root and Newton steps
        towards it are used.
        """
        return quadrature.expected_slope(self, log_action, belief, sigma_r, parameters)

    def log_anchor(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """Logarithm of an explicit action near the optimum; by default the median of the belief.

        It should be exact when all noise vanishes: an amortized actor corrects it in units of the total noise.
        """
        return belief.log_mu

    def position(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar | None:
        """The one coordinate in [-1, 1] along which the correction to the anchor is a polynomial.

        By default None: the actor takes the logarithm of the belief's median, scaled by the box it was trained on. A cost
        with a length of its own uses the ratio of the two, and then needs no `shape_inputs`: changing the unit of
        everything changes nothing.
        """
        return None

    def shape_inputs(self, parameters: Values) -> Float[Array, " input"]:
        """Cost parameters that the network sees, scaled to about [-1, 1]; by default all of them."""
        return jnp.array(
            [(2 * parameters[p.name] - p.box.low - p.box.high) / (p.box.high - p.box.low) for p in self.parameters]
        )

    @property
    def all_parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the log-normal family followed by the cost's own."""
        return LOG_NORMAL.parameters + self.parameters


class AbstractBentCost(AbstractCost):
    """A cost whose only parameter sets a length at which the policy bends: below it, responses follow the stimulus."""

    @abstractmethod
    def log_unit(self, parameters: Values) -> Scalar:
        """Logarithm of that length; belief and action in units of it do not depend on the parameter."""

    @abstractmethod
    def parameters_at(self, log_unit: Scalar) -> dict[str, Scalar]:
        """The parameter that sets this length: the inverse of `log_unit`."""


class AbstractClosedFormCost(AbstractCost):
    """A cost whose optimal action is known in closed form."""

    @abstractmethod
    def log_ratio(self, belief: Belief, sigma_r: Scalar, parameters: Values) -> Scalar:
        """log a* - log mu_post."""


# How far from the anchor the optimum is looked for, in units of the total noise.
SEARCH_REACH = 8.0


def saturate(x: Scalar, middle: float) -> Scalar:
    """Map the positive numbers onto (-1, 1), with `middle` at 0."""
    return (x - middle) / (x + middle)


def total_noise(belief: Belief, sigma_r: Scalar) -> Scalar:
    """Log standard deviation of response over stimulus, t: belief and motor noise together."""
    return jnp.hypot(belief.sigma, sigma_r)
