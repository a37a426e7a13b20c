"""The optimal action by brute force, with NumPy and SciPy only.

The expected cost is integrated over the two noises as the model writes it: an outer integral over the belief and, for every
stimulus, an inner one over the response, in 64 bits, both cut into short pieces around the place where r = s. Then SciPy
searches its minimum. Nothing is shared with the package: not the costs, not the rotation of the noises, not the slopes.
"""

import functools

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

REACH = 8.0
LINEX_REACH = 3.09
NUM_NODES = 12  # in each of 19 pieces
NUM_COARSE_NODES = 4
_OFFSETS = np.array([-4.0, -1.5, -0.5, -0.15, -0.04, 0.0, 0.04, 0.15, 0.5, 1.5, 4.0])


def absolute(r, s, p):
    return np.abs(r - s)


def quadratic(r, s, p):
    return (r - s) ** 2


def inverted_gaussian(r, s, p):
    return 1 - np.exp(-((r - s) ** 2) / (2 * p["gamma"] ** 2))


def absolute_effort(r, s, p):
    return p["beta"] * np.abs(r - s) + (1 - p["beta"]) * r**2


def quadratic_effort(r, s, p):
    return p["beta"] * (r - s) ** 2 + (1 - p["beta"]) * r**2


def asymmetric_quadratic(r, s, p):
    return 2 * np.abs(p["alpha"] - np.where(r - s >= 0, 1, 0)) * (r - s) ** 2


def linex(r, s, p):
    difference = p["alpha"] * (r - s)
    # Capped far from the optimum, where the cost is astronomical anyway: 64 bits end at exp(709).
    return 2 / p["alpha"] ** 2 * (np.exp(np.minimum(difference, 600)) - difference - 1)


COSTS = {
    cost.__name__: cost
    for cost in (
        absolute,
        quadratic,
        inverted_gaussian,
        absolute_effort,
        quadratic_effort,
        asymmetric_quadratic,
        linex,
    )
}


def expected_cost(name, log_action, log_mu, sigma_post, sigma_r, parameters, num_nodes=NUM_NODES):
    """E cost(r, s) by a composite rule in both noises."""
    reach = LINEX_REACH if name == "linex" else REACH
    belief_noise, belief_weight = _cut(np.array([(log_action - log_mu) / sigma_post]), reach, num_nodes)
    log_stimulus = log_mu + sigma_post * belief_noise[0]
    motor_noise, motor_weight = _cut((log_stimulus - log_action) / sigma_r, reach, num_nodes)
    responses = np.exp(log_action + sigma_r * motor_noise)
    values = COSTS[name](responses, np.exp(log_stimulus)[:, None], parameters)
    return np.sum(belief_weight[0] * np.sum(motor_weight * values, axis=1))


def optimal_log_action(name, log_mu, sigma_post, sigma_r, parameters):
    """Search the minimum: a coarse look at a wide range, then SciPy's bounded search around the best."""

    def expected(log_action, num_nodes=NUM_NODES):
        return expected_cost(name, log_action, log_mu, sigma_post, sigma_r, parameters, num_nodes)

    total = np.hypot(sigma_post, sigma_r)
    candidates = np.concatenate([log_mu + total * np.linspace(-6, 4, 31), log_mu + np.linspace(-10, 2, 31)])
    candidates = np.unique(candidates.round(12))
    best = int(np.argmin([expected(candidate, NUM_COARSE_NODES) for candidate in candidates]))
    best = min(max(best, 1), len(candidates) - 2)
    bounds = (candidates[best - 1], candidates[best + 1])
    return minimize_scalar(expected, bounds=bounds, method="bounded", options={"xatol": 1e-9, "maxiter": 100}).x


def _cut(centres, reach, num_nodes):
    """Gauss-Legendre nodes on pieces around each centre, with the probabilities of a normal truncated to the reach."""
    inner = np.clip(centres[:, None] + _OFFSETS, -reach, reach)
    grid = np.broadcast_to(np.linspace(-reach, reach, 9), (len(centres), 9))
    edges = np.sort(np.concatenate([inner, grid], axis=1), axis=1)
    middle, half = (edges[:, 1:] + edges[:, :-1]) / 2, (edges[:, 1:] - edges[:, :-1]) / 2
    nodes, weights = _gauss_legendre(num_nodes)
    points = (middle[..., None] + half[..., None] * nodes).reshape(len(centres), -1)
    density = np.exp(-(points**2) / 2) / np.sqrt(2 * np.pi)
    mass = (half[..., None] * weights).reshape(len(centres), -1) * density
    return points, mass / (ndtr(reach) - ndtr(-reach))


# NumPy solves an eigenvalue problem for each rule.
_gauss_legendre = functools.cache(np.polynomial.legendre.leggauss)
