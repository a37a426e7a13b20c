"""The seams of the model: roles find parameters, and nobody outside the log-normal family knows that it is log-normal."""

import ast
import dataclasses
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import designstudio
from designstudio.errors import StudioError, UnknownNameError
from designstudio.inference.coordinates import choose_coordinates
from designstudio.inference.coordinates.lognormal import ObservableCoordinates
from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.family import LOG_NORMAL, Family
from designstudio.model.likelihood.base import AbstractLikelihood
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import observe
from designstudio.model.parameters import Role, cost_parameter
from designstudio.model.priors import Interval, Uniform

PACKAGE = Path(designstudio.__file__).parent
NAMES = {parameter.name for parameter in LOG_NORMAL.parameters}
# The family's own files: its perception, response and coordinates, and what costs and actors know of it in closed form.
OWN = ("model/perception/", "model/response/", "model/family.py", "model/costs/", "model/actors/", "inference/coordinates/")
# These show an example, or what a form has in it at first.
EXAMPLES = (
    "runs/act.py",
    "study/design/presets.py",
    "dashboard/state/design_choice.py",
    "dashboard/state/search_choice.py",
)


def list_outsiders():
    paths = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}
    return [path for name, path in paths.items() if not name.startswith((*OWN, *EXAMPLES))]


def find_knowledge(path):
    """Names of the family's parameters in a file's code, and imports of the family's own modules."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and node.value in NAMES:
            found.append(node.value)
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(".lognormal"):
            found.append(node.module)
    return found


def test_nobody_outside_the_family_names_its_parameters_or_imports_its_parts():
    outsiders = list_outsiders()
    assert len(outsiders) > 200
    assert {str(path.relative_to(PACKAGE)): found for path in outsiders if (found := find_knowledge(path))} == {}


def test_the_check_above_sees_what_it_looks_for():
    assert {"mu_0", "sigma_0", "sigma"} <= set(find_knowledge(PACKAGE / "model/perception/lognormal.py"))
    assert "designstudio.model.perception.lognormal" in find_knowledge(PACKAGE / "model/actors/belief.py")


def test_parameters_are_found_by_their_role():
    roles = {role: [p.name for p in LOG_NORMAL.parameters if p.role == role] for role in Role}
    assert roles[Role.PRIOR_LOCATION] == [LOG_NORMAL.prior_location.name] == ["mu_0"]
    assert roles[Role.PERCEPTUAL_NOISE] == [LOG_NORMAL.perceptual_noise.name] == ["sigma"]
    assert roles[Role.MOTOR_NOISE] == [LOG_NORMAL.motor_noise.name] == ["sigma_r"]
    assert [p.name for p in LOG_NORMAL.parameters if p.role.is_prior] == ["mu_0", "sigma_0"]
    assert all(parameter.role == Role.COST for parameter in get_cost("quadratic_effort").parameters)
    with pytest.raises(StudioError, match="no parameter for the likelihood"):
        LOG_NORMAL.parameter(Role.LIKELIHOOD)


@dataclasses.dataclass(frozen=True)
class WithLapses(AbstractLikelihood):
    """As `designstudio.model.likelihood.base` teaches."""

    base: AbstractLikelihood
    low: float
    high: float
    name = "with lapses"
    parameters = (cost_parameter("lapse_rate", Uniform(0.001, 0.2), support=Interval(0.0, 1.0)),)

    def log_density(self, act, response, participant, scale, *, rule):
        usual = self.base.log_density(act, response, participant, scale, rule=rule)
        rate = participant["lapse_rate"]
        return jnp.logaddexp(jnp.log1p(-rate) + usual, jnp.log(rate) - jnp.log(self.high - self.low))


LAPSING = dataclasses.replace(LOG_NORMAL, likelihood=WithLapses(LOG_NORMAL.likelihood, -2.0, 3.0))


class LapsingActor(ExactActor):
    @property
    def family(self) -> Family:
        return LAPSING


def test_another_likelihood_brings_its_parameter_and_its_density():
    usual, lapsing = BehaviorModel(ExactActor(get_cost("quadratic"))), BehaviorModel(LapsingActor(get_cost("quadratic")))
    assert set(lapsing.free) == {*usual.free, "lapse_rate"}
    # Its trials are no longer told by a regression.
    assert usual.is_linear
    assert not lapsing.is_linear
    shape = (1, 5)
    observations = observe(np.linspace(-1, 1, 5)[None], np.linspace(-1, 2, 5)[None], np.ones(shape, bool), {})
    values = {"mu_0": 1.5, "sigma_0": 0.2, "sigma": 0.2, "sigma_r": 0.1}
    values = {name: jnp.asarray(value) for name, value in values.items()}
    plain = np.asarray(usual.pointwise_log_likelihood(values, observations), float)
    found = lapsing.pointwise_log_likelihood({**values, "lapse_rate": jnp.asarray(0.1)}, observations)
    np.testing.assert_allclose(found, np.log(0.9 * np.exp(plain) + 0.1 / 5), rtol=1e-4)


def test_the_family_names_the_coordinates_and_unknown_ones_are_refused():
    model = BehaviorModel(ExactActor(get_cost("quadratic")))
    assert isinstance(choose_coordinates(model), ObservableCoordinates)

    class Lost(ExactActor):
        @property
        def family(self) -> Family:
            return dataclasses.replace(LOG_NORMAL, coordinates="polar")

    with pytest.raises(UnknownNameError, match="polar"):
        choose_coordinates(BehaviorModel(Lost(get_cost("quadratic"))))
