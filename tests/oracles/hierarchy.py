"""Group models solved in other ways than by the studio: integration on a grid, and one sampler for everything at once."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from scipy import special, stats


def integrate_normal_group(means, sds, centre, scale, spread_scale):
    """Normal subjects with known errors in a normal group, by integration over location and spread.

    Returns:
        Means and standard deviations of the location, of the spread, and of all subjects.
    """
    location = np.linspace(centre - 5 * scale, centre + 5 * scale, 801)[:, None]
    spread = np.linspace(1e-3, 4 * spread_scale, 800)[None, :]
    log_density = stats.norm.logpdf(location, centre, scale) - spread**2 / (2 * spread_scale**2)
    for mean, sd in zip(means, sds, strict=True):
        log_density = log_density + stats.norm.logpdf(mean, location, np.hypot(spread, sd))
    weights = special.softmax(log_density)

    def moments(conditional_mean, conditional_variance=0.0):
        mean = (weights * conditional_mean).sum()
        return mean, np.sqrt((weights * (conditional_mean**2 + conditional_variance)).sum() - mean**2)

    subjects = []
    for mean, sd in zip(means, sds, strict=True):
        precision = 1 / sd**2 + 1 / spread**2
        subjects.append(moments((mean / sd**2 + location / spread**2) / precision, 1 / precision))
    return moments(location), moments(spread), np.array(subjects)


def integrate_normal_slope(means, sds, covariate, centre, scale, spread_scale):
    """Normal subjects whose group depends on a covariate: intercept and slope, by integration over the spread alone.

    Given the spread, intercept and slope are normal: ordinary conjugate algebra.

    Returns:
        Mean and standard deviation of the intercept, and of the slope.
    """
    x = np.stack([np.ones_like(covariate), covariate], axis=1)
    spreads, log_weights, moments, variances = np.linspace(1e-3, 4 * spread_scale, 2000), [], [], []
    for spread in spreads:
        covariance = scale**2 * x @ x.T + np.diag(spread**2 + sds**2)
        log_weights.append(
            stats.multivariate_normal.logpdf(means, x @ np.full(2, centre), covariance) - spread**2 / (2 * spread_scale**2)
        )
        precision = np.eye(2) / scale**2 + x.T @ (x / (spread**2 + sds**2)[:, None])
        inverse = np.linalg.inv(precision)
        moments.append(inverse @ (centre / scale**2 + x.T @ (means / (spread**2 + sds**2))))
        variances.append(np.diag(inverse))
    weights, moments = special.softmax(log_weights), np.array(moments)
    mean = weights @ moments
    sd = np.sqrt(weights @ (np.array(variances) + (moments - mean) ** 2))
    return list(zip(mean, sd, strict=True))


def sample_group(model, observations, supports, hyperprior, *, seed=0):
    """NUTS on group and subjects together; parameters are shared by all conditions.

    Args:
        model: of one subject.
        observations: of all subjects.
        supports: low and high end of each free parameter, both finite.
        hyperprior: centre, scale and spread scale of each free parameter, where the group is normal.

    Returns:
        Draws by name: `<name>_location`, `<name>_spread` and `<name>`, the values of the subjects.
    """
    num = observations.stimulus.shape[0]

    def group():
        values = {}
        for name, (low, high) in supports.items():
            centre, scale, spread_scale = hyperprior[name]
            location = numpyro.sample(f"{name}_location", dist.Normal(centre, scale))
            spread = numpyro.sample(f"{name}_spread", dist.HalfNormal(spread_scale))
            deviation = numpyro.sample(f"{name}_deviation", dist.Normal(0, 1).expand([num]).to_event(1))
            values[name] = numpyro.deterministic(name, low + (high - low) * jax.nn.sigmoid(location + spread * deviation))
        numpyro.factor("responses", jnp.sum(jax.vmap(model.log_likelihood)(values, observations)))

    kernel = numpyro.infer.NUTS(group, target_accept_prob=0.9)
    sampler = numpyro.infer.MCMC(
        kernel, num_warmup=200, num_samples=300, num_chains=4, chain_method="vectorized", progress_bar=False
    )
    sampler.run(jax.random.key(seed))
    return {name: np.asarray(draws) for name, draws in sampler.get_samples(group_by_chain=True).items()}
