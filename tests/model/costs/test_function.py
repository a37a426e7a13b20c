"""Costs that users write."""

import jax.numpy as jnp
import numpy as np
import pytest

from designstudio.errors import CostDefinitionError
from designstudio.model.actors import ExactActor, choose_actions
from designstudio.model.costs import available_costs, get_cost, load_cost_file, register_cost
from designstudio.model.parameters import cost_parameter
from designstudio.model.priors import Interval, Uniform

POWER = cost_parameter("power", Uniform(1.0, 3.0), support=Interval(0.5, 5.0))
PARTICIPANT = {"mu_0": 1.5, "sigma_0": 0.25, "sigma": 0.2, "sigma_r": 0.3}
MEASUREMENTS = np.array([0.5, 1.0, 2.0, 4.0])

pytestmark = pytest.mark.usefixtures("no_user_costs")

FILE = """
import jax.numpy as jnp
from designstudio.model.costs import register_cost
from designstudio.model.parameters import cost_parameter
from designstudio.model.priors import Interval, Uniform

@register_cost(cost_parameter("power", Uniform(1.0, 3.0), support=Interval(0.5, 5.0)))
def power_law(response, stimulus, parameters):
    return jnp.abs(response - stimulus) ** parameters["power"]
"""


@pytest.mark.parametrize(("power", "name"), [(1.0, "absolute"), (2.0, "quadratic")])
def test_a_power_law_gives_the_closed_forms_at_its_ends(power, name):
    @register_cost(POWER)
    def power_law(response, stimulus, parameters):
        return jnp.abs(response - stimulus) ** parameters["power"]

    own = choose_actions(ExactActor(power_law), MEASUREMENTS, {**PARTICIPANT, "power": power}).action
    closed = choose_actions(ExactActor(get_cost(name)), MEASUREMENTS, PARTICIPANT).action
    np.testing.assert_allclose(own, closed, rtol=1e-5)


def test_the_lower_of_two_valleys_is_found():
    @register_cost()
    def two_valleys(response, stimulus, parameters):
        # A shallow valley at r = s and a deeper one at r = s / 3.
        ratio = jnp.log(response) - jnp.log(stimulus)
        return -jnp.exp(-((ratio / 0.3) ** 2)) - 2 * jnp.exp(-(((ratio + jnp.log(3.0)) / 0.3) ** 2))

    quiet = {"mu_0": 1.5, "sigma_0": 0.05, "sigma": 0.05, "sigma_r": 0.05}
    action = choose_actions(ExactActor(two_valleys), np.array([1.5]), quiet).action
    np.testing.assert_allclose(action, [0.5], rtol=1e-2)


def test_a_file_registers_its_costs(tmp_path):
    path = tmp_path / "my_cost.py"
    path.write_text(FILE)
    assert [cost.name for cost in load_cost_file(path)] == ["power_law"]
    assert list(available_costs())[-1] == "power_law"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("x = 1\n", r"registers no cost: decorate a function with @register_cost"),
        ("raise RuntimeError('boom')\n", r"could not be run: RuntimeError: boom"),
        ("def (\n", r"could not be run: SyntaxError"),
        (FILE.replace('"power"]', '"pwr"]'), r"uses the parameter 'pwr', but it was registered with: power"),
        (FILE.replace("** parameters", "** float('nan') * parameters"), r"both must be finite"),
        (FILE.replace("return ", "return jnp.sum(").replace('"power"]', '"power"])'), r"element by element"),
        (FILE.replace("def power_law", "def quadratic"), r"The name 'quadratic' belongs to a cost of the package"),
        (FILE.replace('cost_parameter("power"', 'cost_parameter("sigma"'), r"parameter 'sigma', which every model already"),
    ],
)
def test_a_bad_file_is_refused_with_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "my_cost.py"
    path.write_text(content)
    with pytest.raises(CostDefinitionError, match=sentence):
        load_cost_file(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CostDefinitionError, match=r"There is no cost file .*nowhere\.py"):
        load_cost_file(tmp_path / "nowhere.py")
