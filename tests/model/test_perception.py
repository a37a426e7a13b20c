import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from designstudio.model.perception.lognormal import LogNormalPerception, measure

PERCEPTION = LogNormalPerception()


def participant(mu_0, sigma_0, sigma):
    return {"mu_0": jnp.asarray(mu_0), "sigma_0": jnp.asarray(sigma_0), "sigma": jnp.asarray(sigma)}


def believe(log_measurement, *parameters):
    return PERCEPTION.believe(log_measurement, participant(*parameters))


def test_the_belief_is_bayes_rule_on_a_grid():
    mu_0, sigma_0, sigma, m = 1.5, 0.2, 0.3, 2.4
    grid = np.linspace(-1.5, 2.5, 20_001)
    density = stats.norm.pdf(grid, np.log(mu_0), sigma_0) * stats.norm.pdf(np.log(m), grid, sigma)
    density /= density.sum()
    mean = (grid * density).sum()
    spread = np.sqrt(((grid - mean) ** 2 * density).sum())
    belief = believe(jnp.log(m), mu_0, sigma_0, sigma)
    np.testing.assert_allclose(belief.log_mu, mean, rtol=1e-5)
    np.testing.assert_allclose(belief.sigma, spread, rtol=1e-5)


def test_an_extreme_noise_ratio_stays_finite():
    belief = believe(jnp.log(3.0), 1.5, 1e-6, 1e3)
    np.testing.assert_allclose(belief.log_mu, np.log(1.5), rtol=1e-6)
    np.testing.assert_allclose(belief.sigma, 1e-6, rtol=1e-5)
    assert PERCEPTION.measurement_weight(participant(1.5, 1e3, 1e-6)) == 1


def test_measurements_scatter_around_the_stimulus_in_log_units():
    stimuli = jnp.full(200_000, 2.0)
    logs = jnp.log(measure(stimuli, jnp.asarray(0.3), key=jax.random.key(1)))
    standard_error = 0.3 / np.sqrt(200_000)
    assert abs(logs.mean() - np.log(2.0)) < 4 * standard_error
    assert abs(logs.std() - 0.3) < 4 * standard_error
