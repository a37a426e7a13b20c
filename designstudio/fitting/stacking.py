"""Stacking (Yao, Vehtari, Simpson & Gelman, 2018): weights of models whose mixture predicts left-out trials best."""

import numpy as np
from jaxtyping import Float
from scipy import optimize

# Steps of expectation-maximisation, which can only improve what the optimiser returns and keep the weights a distribution.
NUM_POLISHING = 50


def stack_weights(elpd: Float[np.ndarray, "trial model"]) -> Float[np.ndarray, " model"]:
    """Weights that maximise the mean log of the weighted predictive densities.

    Args:
        elpd: log predictive density of every left-out trial under every model.
    """
    num_models = elpd.shape[1]
    even = np.full(num_models, 1 / num_models)
    if num_models == 1 or not len(elpd):
        return even
    # The best model of each trial has density 1: a factor of a trial changes nothing.
    density = np.exp(elpd - elpd.max(axis=1, keepdims=True))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        mixed = np.maximum(density @ weights, 1e-300)
        return -float(np.log(mixed).mean()), -(density / mixed[:, None]).mean(axis=0)

    found = optimize.minimize(
        loss,
        even,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * num_models,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    weights = np.clip(found.x, 0.0, 1.0)
    weights = weights / weights.sum() if np.isfinite(weights).all() and weights.sum() > 0 else even
    for _ in range(NUM_POLISHING):
        weights = weights * -loss(weights)[1]
    return weights / weights.sum()
