"""Another family from outside the package: noise adds to stimuli and responses, and the participant's prior is normal.

Perception, response and actor are written here, as their base modules teach. The family has no coordinates of its own, so
it is fitted in those that serve every family, and compared with integration on a grid.
"""

import dataclasses
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from designstudio.inference.coordinates import choose_coordinates, constrain
from designstudio.inference.coordinates.unconstrained import UnconstrainedCoordinates
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.scales import Scale
from designstudio.inference.settings import FitSettings
from designstudio.model.actors.base import AbstractActor, AbstractPolicy
from designstudio.model.costs import get_cost
from designstudio.model.family import Family
from designstudio.model.likelihood.density import CORNERED, LINEAR
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.packing import pack_trials
from designstudio.model.parameters import STIMULUS_UNIT, Parameter, Role
from designstudio.model.perception import AbstractPerception
from designstudio.model.priors import HalfNormal, Interval, Uniform
from designstudio.model.response import AbstractResponse
from designstudio.model.simulate import draw_stimuli, label_participants, simulate_trials


def parameter(name, prior, role):
    return Parameter(name, name, name, STIMULUS_UNIT, prior.support, prior.support, prior, prior, prior, role=role)


@dataclasses.dataclass(frozen=True)
class AdditivePerception(AbstractPerception):
    name = "additive"
    parameters = (
        parameter("mean", Uniform(0.0, 10.0), Role.PRIOR_LOCATION),
        parameter("spread", Uniform(0.2, 3.0), Role.PRIOR_SPREAD),
        parameter("noise", HalfNormal(1.0), Role.PERCEPTUAL_NOISE),
    )

    def encode(self, stimuli):
        return stimuli

    def noise_scale(self, participant):
        return participant["noise"]

    def believe(self, measurement, participant):
        weight = weigh_measurement(participant)
        return weight * measurement + (1 - weight) * participant["mean"]


@dataclasses.dataclass(frozen=True)
class AdditiveResponse(AbstractResponse):
    name = "additive"
    parameters = (parameter("motor", HalfNormal(1.0), Role.MOTOR_NOISE),)

    def encode(self, responses):
        return responses

    def decode(self, responses):
        return responses

    def noise_scale(self, participant):
        return participant["motor"]


ADDITIVE = Family("additive", AdditivePerception(), AdditiveResponse())


class ExpectedValue(AbstractPolicy):
    participant: dict

    def __call__(self, measurement):
        return ADDITIVE.perception.believe(measurement, self.participant)


class AdditiveActor(AbstractActor):
    """Under a quadratic cost the best action is the mean of the belief."""

    knows_shape: bool = eqx.field(static=True, default=True)
    cost = get_cost("quadratic")
    box = ()
    family = ADDITIVE

    @property
    def rule(self):
        return LINEAR if self.knows_shape else CORNERED

    def policy(self, participant):
        return ExpectedValue(dict(participant))

    def is_inside(self, participant, measurement):
        return jnp.ones((), bool)


def weigh_measurement(participant):
    return participant["spread"] ** 2 / (participant["spread"] ** 2 + participant["noise"] ** 2)


TRUTH = {"mean": 5.5, "spread": 0.8, "noise": 0.7, "motor": 0.4}
NUM_DATASETS, NUM_TRIALS = 3, 60


@pytest.fixture(scope="module")
def model():
    return BehaviorModel(AdditiveActor(), fixed=("noise",))


@pytest.fixture(scope="module")
def trials(model):
    people = label_participants(model.parameters, {name: np.full(NUM_DATASETS, value) for name, value in TRUTH.items()})
    stimuli = draw_stimuli(NUM_DATASETS, 1, NUM_TRIALS, low=3.0, high=9.0, key=jax.random.key(0))
    return simulate_trials(model, people, stimuli, key=jax.random.key(1))


@pytest.fixture(scope="module")
def by_grid(trials):
    """Posterior means and standard deviations of every data set, on a grid over the three free parameters."""
    ends = {"mean": (0.0, 10.0, 161), "spread": (0.2, 3.0, 121), "motor": (0.05, 1.0, 81)}
    axes = dict(zip(ends, np.meshgrid(*(np.linspace(*end) for end in ends.values()), indexing="ij"), strict=True))
    weight = weigh_measurement({**axes, "noise": TRUTH["noise"]})
    sd = np.hypot(weight * TRUTH["noise"], axes["motor"])
    found = []
    for i in range(NUM_DATASETS):
        log_density = stats.halfnorm.logpdf(axes["motor"])
        for s, r in zip(trials["stimulus"].values[i], trials["response"].values[i], strict=True):
            log_density += stats.norm.logpdf(r, weight * s + (1 - weight) * axes["mean"], sd)
        mass = np.exp(log_density - log_density.max())
        mass /= mass.sum()
        means = {name: (mass * grid).sum() for name, grid in axes.items()}
        found.append({n: (means[n], np.sqrt((mass * (grid - means[n]) ** 2).sum())) for n, grid in axes.items()})
    return found


def test_responses_of_the_family_scatter_as_its_parts_say(trials):
    weight = weigh_measurement(TRUTH)
    mean = weight * trials["stimulus"].values + (1 - weight) * TRUTH["mean"]
    z = (trials["response"].values - mean) / np.hypot(weight * TRUTH["noise"], TRUTH["motor"])
    assert abs(z.mean()) < 4 / np.sqrt(z.size)
    assert abs(z.std() - 1) < 4 / np.sqrt(2 * z.size)


@pytest.mark.parametrize("method", ["importance", "nuts"])
def test_the_generic_coordinates_sample_the_posterior_of_the_grid(model, trials, by_grid, method):
    posterior = fit_datasets(model, trials, fixed={"noise": TRUTH["noise"]}, settings=FitSettings(method=method), seed=3)
    assert posterior["diagnostics"]["is_good"].values.all()
    for i, name in itertools.product(range(NUM_DATASETS), model.free):
        mean, sd = by_grid[i][name]
        draws = posterior["posterior"][name].values[i].ravel()
        # At least 400 effective draws: means are known within a twentieth of a standard deviation.
        assert abs(draws.mean() - mean) < 0.2 * sd, (i, name)
        assert abs(draws.std() / sd - 1) < 0.12, (i, name)


def test_a_family_without_coordinates_of_its_own_gets_the_generic_ones(model):
    assert isinstance(choose_coordinates(model), UnconstrainedCoordinates)


def test_an_actor_that_knows_nothing_of_its_policy_is_integrated_to_the_same_likelihood(model, trials):
    observations = jax.tree.map(lambda array: jnp.asarray(array[0]), pack_trials(trials, model, {"noise": TRUTH["noise"]}))
    values = {name: jnp.asarray(TRUTH[name]) for name in model.free}
    careful = BehaviorModel(AdditiveActor(knows_shape=False), fixed=("noise",))
    assert model.is_linear
    assert not careful.is_linear
    by_regression, by_nodes = (eqx.filter_jit(m.log_likelihood)(values, observations) for m in (model, careful))
    np.testing.assert_allclose(by_nodes, by_regression, rtol=1e-5)


SUPPORTS = [Interval(-1.0, 3.0), Interval(0.5, np.inf), Interval(-np.inf, 2.0), Interval(-np.inf, np.inf)]


@pytest.mark.parametrize("support", SUPPORTS, ids=str)
def test_the_log_determinant_is_that_of_autodiff_and_the_maps_are_inverse(support):
    scale, points = Scale(support), jnp.linspace(-3.0, 3.0, 7)
    values, log_slope = scale.constrain(points)
    by_autodiff = jax.vmap(jax.grad(lambda point: scale.constrain(point)[0]))(points)
    np.testing.assert_allclose(np.exp(log_slope), np.abs(by_autodiff), rtol=1e-5)
    assert ((values >= support.low) & (values <= support.high)).all()
    np.testing.assert_allclose(scale.forward(values), points, atol=2e-5)
    np.testing.assert_allclose(scale.backward(points), values, rtol=1e-5)
    back, back_slope = scale.stretch(values)
    np.testing.assert_allclose(back, points, atol=2e-5)
    np.testing.assert_allclose(back_slope, -log_slope, atol=2e-5)


def test_parameters_per_condition_have_coordinates_of_their_own():
    model = BehaviorModel(AdditiveActor(), num_conditions=2, per_condition=("noise",))
    found = constrain(model, jnp.array([0.0, 0.0, 0.1, 0.2, -1.0]), None, None)
    np.testing.assert_allclose(found.values["noise"], np.exp([0.1, 0.2]), rtol=1e-6)
    np.testing.assert_allclose(found.values["spread"], 1.6, rtol=1e-6)
    np.testing.assert_allclose(found.log_det, np.log(10 / 4) + np.log(2.8 / 4) + 0.1 + 0.2 - 1.0, rtol=1e-5)
