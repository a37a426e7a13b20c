"""Costs that users write themselves: a plain function of (response, stimulus, parameters).

In a file of your own, say `my_cost.py`:

    import jax.numpy as jnp
    from designstudio.model.costs import register_cost
    from designstudio.model.parameters import cost_parameter
    from designstudio.model.priors import Interval, Uniform

    @register_cost(cost_parameter("power", Uniform(1.0, 3.0), support=Interval(0.5, 5.0)))
    def power_law(response, stimulus, parameters):
        return jnp.abs(response - stimulus) ** parameters["power"]

Then `designstudio train power_law --cost-file my_cost.py`, or `load_cost_file("my_cost.py")` from Python. The function must
be written with jax.numpy and work element by element. It may have a kink where r = s; elsewhere it should be smooth.
"""

import dataclasses
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from designstudio.errors import CostDefinitionError
from designstudio.model.costs.base import MU_POST_BOX, OTHER, AbstractCost, Scalar, Values
from designstudio.model.family import LOG_NORMAL
from designstudio.model.parameters import Parameter
from designstudio.model.perception.lognormal import SIGMA, Belief
from designstudio.model.response.lognormal import SIGMA_R

CostFunction = Callable[[Scalar, Scalar, Values], Scalar]


@dataclasses.dataclass(frozen=True)
class FunctionCost(AbstractCost):
    """A cost given by a Python function; expectations are integrated numerically."""

    name: str  # a field here, a class attribute in the costs of the package
    function: CostFunction
    parameters: tuple[Parameter, ...] = ()
    formula: str = "user-written"
    meaning: str = ""
    kind = OTHER

    def __call__(self, response: Scalar, stimulus: Scalar, parameters: Values) -> Scalar:
        return self.function(response, stimulus, parameters)


def check_cost(cost: AbstractCost) -> None:
    """Try a user-written cost at the corners of its box, and refuse it with a reason if it cannot work.

    Raises:
        CostDefinitionError: if the function fails, does not act element by element, or has no finite expectation.
    """
    for parameter in cost.parameters:
        if parameter.name in {p.name for p in LOG_NORMAL.parameters}:
            raise CostDefinitionError(
                f"Cost {cost.name!r} has a parameter {parameter.name!r}, which every model already has; choose another name."
            )
    responses = jnp.array([[0.5, 1.0, 2.0], [1.0, 1.0, 1.0]])
    stimuli = jnp.array([[1.0, 1.0, 1.0], [0.5, 1.0, 2.0]])
    for corner in ("low", "high"):
        values = {p.name: jnp.asarray(getattr(p.box, corner)) for p in cost.parameters}
        given = ", ".join(f"{name} = {float(value):g}" for name, value in values.items()) or "no parameters"
        try:
            costs = cost(responses, stimuli, values)
        except KeyError as error:
            known = ", ".join(values) or "none"
            raise CostDefinitionError(
                f"Cost {cost.name!r} uses the parameter {error.args[0]!r}, but it was registered with: {known}."
            ) from None
        except Exception as error:  # whatever the user's code raises, the user should read it in one sentence
            raise CostDefinitionError(
                f"Cost {cost.name!r} failed with {given}: {type(error).__name__}: {error}. "
                "Write it with jax.numpy, for arrays of any shape."
            ) from error
        if jnp.shape(costs) != responses.shape:
            raise CostDefinitionError(
                f"Cost {cost.name!r} returned shape {jnp.shape(costs)} for responses of shape {responses.shape}: "
                "it must act element by element."
            )
        _check_expectation(cost, values, given)


def _check_expectation(cost: AbstractCost, values: Values, given: str) -> None:
    noisy = Belief(jnp.log(jnp.array(MU_POST_BOX.high)), jnp.asarray(SIGMA.box.high / np.sqrt(2)))
    sigma_r = jnp.asarray(SIGMA_R.box.high)
    expected = cost.expected(noisy.log_mu, noisy, sigma_r, values)
    slope = cost.slope(noisy.log_mu, noisy, sigma_r, values)
    if not (jnp.isfinite(expected) and jnp.isfinite(slope)):
        raise CostDefinitionError(
            f"The expected cost of {cost.name!r} with {given} is {float(expected):g} and its slope {float(slope):g} at "
            f"the noisiest belief (median {MU_POST_BOX.high:g}): both must be finite for an optimal action to exist."
        )


def load_module(path: Path) -> None:
    """Run a user's file, so that the costs it registers become available.

    Raises:
        CostDefinitionError: if there is no such file, or running it fails.
    """
    if not path.is_file():
        raise CostDefinitionError(f"There is no cost file {str(path)!r}.")
    if path.suffix != ".py":
        raise CostDefinitionError(f"A cost file is a Python file, but {path.name!r} was given.")
    name = f"designstudio_user_cost_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except CostDefinitionError:
        raise
    except Exception as error:  # as above: the file is the user's, and so is whatever it raises
        raise CostDefinitionError(
            f"The cost file {path.name!r} could not be run: {type(error).__name__}: {error}."
        ) from error
