import math

import jax
import numpy as np
import pytest
from scipy import stats

from designstudio.errors import StudioError, UnknownNameError
from designstudio.model.family import LOG_NORMAL
from designstudio.model.parameters import analysis_priors, population_priors, training_priors
from designstudio.model.priors import HalfNormal, Interval, LogNormal, Uniform

PRIORS = [
    (Uniform(0.1, 5.0), stats.uniform(0.1, 4.9)),
    (HalfNormal(0.25), stats.halfnorm(scale=0.25)),
    (HalfNormal(0.25).within(Interval(0.01, 0.5)), stats.truncnorm(0.04, 2.0, 0, 0.25)),
    (LogNormal(2.5, 0.5), stats.lognorm(0.5, scale=2.5)),
]


@pytest.mark.parametrize(("prior", "reference"), PRIORS, ids=lambda x: str(x) if not hasattr(x, "pdf") else "")
def test_density_and_quantiles_agree_with_scipy(prior, reference):
    values = reference.ppf([0.05, 0.3, 0.5, 0.9])
    np.testing.assert_allclose(prior.distribution().log_prob(values), reference.logpdf(values), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(prior.distribution().icdf(np.array([0.05, 0.3, 0.5, 0.9])), values, rtol=1e-4)


def test_truncated_lognormal_keeps_its_shape_inside_the_bounds():
    bounds = Interval(0.5, 12.0)
    prior, reference = LogNormal(2.5, 0.5).within(bounds), stats.lognorm(0.5, scale=2.5)
    mass = reference.cdf(bounds.high) - reference.cdf(bounds.low)
    values = np.array([0.6, 2.0, 11.0])
    expected = reference.logpdf(values) - math.log(mass)
    np.testing.assert_allclose(prior.distribution().log_prob(values), expected, rtol=1e-4)
    draws = prior.distribution().sample(jax.random.key(0), (1000,))
    assert draws.min() >= bounds.low
    assert draws.max() <= bounds.high


def test_actors_are_trained_on_more_people_than_the_paper_knows():
    training = training_priors(LOG_NORMAL.parameters)
    assert training["mu_0"].support == Interval(0.02, 20.0)
    assert all(str(training[name]) == "Uniform(0.005, 1)" for name in ("sigma_0", "sigma", "sigma_r"))
    # Prior means are even in the logarithm: as many below 0.02 * sqrt(1000) as above.
    np.testing.assert_allclose(training["mu_0"].quantile(np.array([0.5])), 0.02 * math.sqrt(1000), rtol=1e-3)


def test_analysis_and_population_are_those_of_the_paper():
    assert str(analysis_priors(LOG_NORMAL.parameters)["mu_0"]) == "Uniform(0.1, 5)"
    assert str(analysis_priors(LOG_NORMAL.parameters)["sigma_r"]) == "HalfNormal(0.25) on 0.01 to 0.5"
    assert str(population_priors(LOG_NORMAL.parameters)["mu_0"]) == "Uniform(2, 5)"
    assert str(population_priors(LOG_NORMAL.parameters)["sigma_0"]) == "Uniform(0.1, 0.25)"


def test_cost_priors_stay_in_their_boxes(cost, key):
    draws = training_priors(cost.parameters).sample(500, key=key)
    for parameter in cost.parameters:
        assert draws[parameter.name].min() >= parameter.box.low
        assert draws[parameter.name].max() <= parameter.box.high


def test_a_set_is_edited_without_changing_the_original(key):
    original = population_priors(LOG_NORMAL.parameters)
    edited = original.replace(mu_0=Uniform(10.0, 11.0))
    assert str(original["mu_0"]) == "Uniform(2, 5)"
    draws = edited.sample(100, key=key)
    assert list(draws) == ["mu_0", "sigma_0", "sigma", "sigma_r"]
    assert draws["mu_0"].min() >= 10


def test_editing_an_unknown_parameter_names_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"Unknown parameter 'mu'\. Available: mu_0, sigma_0, sigma, sigma_r\."):
        population_priors(LOG_NORMAL.parameters).replace(mu=Uniform(0.0, 1.0))


def test_an_empty_interval_is_refused():
    with pytest.raises(StudioError, match="low < high, but low is 2 and high is 1"):
        Uniform(0.0, 1.0).within(Interval(2.0, 3.0))
