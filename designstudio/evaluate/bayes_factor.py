"""Bayes factor of a t test: how much better an effect explains data than none does.

Without an effect the standardised effect is 0; with one it is Cauchy-distributed around 0, of the usual scale of 0.707
(Rouder, Speckman, Sun, Morey & Iverson, 2009). A factor of k or more comes up by chance in at most one of k studies without
an effect.
"""

import numpy as np
from jaxtyping import Float
from scipy import special

# Of the Cauchy distribution of standardised effects.
SCALE = np.sqrt(0.5)
# Logarithms of the variance of the effect: beyond them its density is below 1e-8 of the largest.
LOG_VARIANCES = np.linspace(-6.0, 40.0, 1000)


def compute_log_bayes_factor(
    t: Float[np.ndarray, " study"], size: Float[np.ndarray, " study"], freedom: Float[np.ndarray, " study"]
) -> Float[np.ndarray, " study"]:
    """Natural logarithm of the Bayes factor for an effect, of each study.

    Args:
        t: of the test.
        size: effective number of people: of one group all of them, of two groups their product over their sum.
        freedom: degrees of freedom.
    """
    t, size, freedom = (np.asarray(array, float)[:, None] for array in (t, size, freedom))
    variance = np.exp(LOG_VARIANCES)
    # A Cauchy distribution is a normal one whose variance is inverse gamma; in the logarithm of the variance.
    log_prior = 0.5 * np.log(SCALE**2 / 2) - special.gammaln(0.5) - 0.5 * LOG_VARIANCES - SCALE**2 / (2 * variance)
    spread = 1 + size * variance
    log_with = -0.5 * np.log(spread) - (freedom + 1) / 2 * np.log1p(t**2 / (spread * freedom))
    log_without = -(freedom + 1) / 2 * np.log1p(t**2 / freedom)
    step = LOG_VARIANCES[1] - LOG_VARIANCES[0]
    factor: np.ndarray = special.logsumexp(log_with + log_prior, axis=1) + np.log(step) - log_without[:, 0]
    return factor
