"""Do fits reproduce what is seen? Features of the data that no fit was made for, against data simulated from the fits.

For each cost, responses to the same stimuli are simulated from posterior draws, and the same numbers are computed from both:

- *curvature*: of the response against the stimulus, on their scales: the quadratic term of a regression in each condition;
- *spread*: whether responses scatter more around that line for larger stimuli: a rank correlation;
- *previous stimulus*, *previous response*: whether responses follow the trial before: a partial correlation.

They are averaged over conditions and subjects. The p-value is two-sided: twice the share of simulated data sets that are as
far out on the same side. Trials that are more likely lapses than not are left out of both.
"""

from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from designstudio.core.randomness import make_generator
from designstudio.model.likelihood.model import BehaviorModel, Values

if TYPE_CHECKING:
    from designstudio.fitting.empirical_fit import EmpiricalFit

CHECKS = ("curvature", "spread", "previous stimulus", "previous response")
# With fewer no p-value could be as small as what is called unlikely, however far from all simulations the data are.
NUM_DRAWS, FEWEST_DRAWS = 400, 250
# Responses that are simulated for all subjects of a cost.
MOST_RESPONSES = 2_000_000
# Fewer trials in a condition, or fewer different stimuli, tell nothing about a curve.
FEWEST_TRIALS, FEWEST_STIMULI = 10, 3
# A p-value below this, for each of the checks.
UNLIKELY = 0.01


def check_predictions(fit: "EmpiricalFit", *, seed: int = 0) -> xr.Dataset:
    """Every check under every cost.

    Returns:
        A Dataset over (cost, check): `observed`, `expected` and `sd` under the fits, and `p`; NaN where data cannot tell.
    """
    shape = (len(fit.posteriors), len(CHECKS))
    observed, expected, sd, p = np.full((4, *shape), np.nan)
    for j, cost in enumerate(fit.posteriors):
        found = _check_cost(fit, cost, seed)
        if found is None:
            continue
        seen, simulated = found
        observed[j], expected[j], sd[j] = seen, simulated.mean(axis=0), simulated.std(axis=0, ddof=1)
        above = (1 + (simulated >= seen).sum(axis=0)) / (1 + len(simulated))
        below = (1 + (simulated <= seen).sum(axis=0)) / (1 + len(simulated))
        p[j] = np.where(np.isnan(seen), np.nan, np.minimum(1.0, 2 * np.minimum(above, below)))
    dims = ("cost", "check")
    arrays = {"observed": observed, "expected": expected, "sd": sd, "p": p}
    coords = {"cost": list(fit.posteriors), "check": list(CHECKS)}
    return xr.Dataset({name: (dims, array) for name, array in arrays.items()}, coords=coords)


def _check_cost(fit: "EmpiricalFit", cost: str, seed: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The features of the data, and of every simulated data set, averaged over subjects whose fit can be used."""
    tree, model = fit.posteriors[cost], fit.models[cost]
    is_good = np.flatnonzero(tree["diagnostics"].to_dataset()["is_good"].values)
    is_present = fit.trials["is_present"].values.copy()
    if "lapses" in tree:
        with np.errstate(invalid="ignore"):
            is_present &= ~(tree["lapses"].to_dataset()["probability"].values > 0.5)
    num_draws = int(np.clip(MOST_RESPONSES // max(1, is_present.size), FEWEST_DRAWS, NUM_DRAWS))
    seen, simulated = [], []
    for i in is_good:
        x = model.family.perception.encode(np.where(is_present[i], fit.trials["stimulus"].values[i] / fit.scale.factor, 1.0))
        y = model.family.response.encode(np.where(is_present[i], fit.trials["response"].values[i] / fit.scale.factor, 1.0))
        index = np.where(is_present[i], fit.trials["condition_index"].values[i], 0)
        rng = make_generator(seed, "predictive checks", int(i))
        replicated = _simulate(fit, cost, int(i), x, index, num_draws, rng)
        both = _measure(x, np.concatenate([y[None], replicated]), index, is_present[i])
        seen.append(both[0])
        simulated.append(both[1:])
    if not seen:
        return None
    with np.errstate(invalid="ignore"):
        return _mean(np.array(seen)), _mean(np.array(simulated))


def _mean(values: np.ndarray) -> np.ndarray:
    """Over those for whom there is a number."""
    count = np.isfinite(values).sum(axis=0)
    return np.where(count > 0, np.nansum(values, axis=0) / np.maximum(count, 1), np.nan)


def _simulate(
    fit: "EmpiricalFit", cost: str, place: int, x: np.ndarray, index: np.ndarray, num_draws: int, rng: np.random.Generator
) -> Float[np.ndarray, "draw trial"]:
    from designstudio.fitting.predict import spread_draws  # noqa: PLC0415  (which needs fits)

    model = fit.models[cost]
    draws = spread_draws(fit, cost, place, num_draws)
    noise = rng.standard_normal((2, num_draws, len(x))).astype(np.float32)
    values = {name: jnp.asarray(array, jnp.float32) for name, array in draws.items()}
    return np.asarray(_respond(model, values, jnp.asarray(x, jnp.float32), jnp.asarray(index), jnp.asarray(noise)), float)


@eqx.filter_jit
def _respond(
    model: BehaviorModel, draws: Values, x: Float[Array, " trial"], index: Array, noise: Float[Array, "2 draw trial"]
) -> Float[Array, "draw trial"]:
    def one(participants: Values, noises: Float[Array, "2 trial"]) -> Float[Array, " trial"]:
        def in_condition(participant: Values) -> Float[Array, " trial"]:
            action = jax.vmap(model.actor.policy(participant))(model.family.perception.measure(x, participant, noises[0]))
            return model.family.response.respond(action, participant, noises[1])

        everywhere = jax.vmap(in_condition)(participants)
        return jnp.take_along_axis(everywhere, index[None], axis=0)[0]

    return jax.lax.map(lambda pair: one(*pair), (draws, jnp.moveaxis(noise, 1, 0)), batch_size=10)


def _measure(
    x: np.ndarray, y: Float[np.ndarray, "data trial"], index: np.ndarray, is_present: np.ndarray
) -> Float[np.ndarray, "data check"]:
    """All features of data sets with the same stimuli, averaged over conditions."""
    parts = []
    for k in np.unique(index[is_present]):
        at = np.flatnonzero(is_present & (index == k))
        if len(at) >= FEWEST_TRIALS and len(np.unique(x[at].round(4))) >= FEWEST_STIMULI:
            parts.append(_measure_condition(x, y, at, is_present))
    return np.mean(parts, axis=0) if parts else np.full((len(y), len(CHECKS)), np.nan)


def _measure_condition(x: np.ndarray, y: np.ndarray, at: np.ndarray, is_present: np.ndarray) -> np.ndarray:
    from scipy import stats  # noqa: PLC0415  (takes half a second)

    mine = (x[at] - x[at].mean()) / x[at].std()
    line = np.stack([np.ones_like(mine), mine], axis=1)
    bent = np.concatenate([line, (mine**2)[:, None]], axis=1)
    coefficients = _regress(bent, y[:, at])
    curvature, residual = coefficients[:, 2], y[:, at] - coefficients @ bent.T
    spread = _correlate(stats.rankdata(np.abs(residual), axis=1), stats.rankdata(mine)[None])
    # The trial before, in whatever condition.
    has_before = np.concatenate([[False], is_present[:-1]])[at]
    if has_before.sum() < FEWEST_TRIALS:
        return np.stack([curvature, spread, *np.full((2, len(y)), np.nan)], axis=1)
    later, before = at[has_before], at[has_before] - 1
    left, design = residual[:, has_before], bent[has_before]
    of_stimulus = _correlate(left, _remove(design, x[None, before]))
    with_stimulus = np.concatenate([design, x[before][:, None]], axis=1)
    of_response = _correlate(_remove(with_stimulus, y[:, later]), _remove(with_stimulus, y[:, before]))
    return np.stack([curvature, spread, of_stimulus, of_response], axis=1)


def _regress(design: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Coefficients of each row; the smallest ones, where the design does not determine them."""
    # The decomposition of a small design serves all rows; `lstsq` works on hundreds of rows for much longer.
    return rows @ np.linalg.pinv(design, rcond=np.finfo(float).eps * max(design.shape)).T


def _remove(design: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """What a regression on the design leaves of each row."""
    return rows - _regress(design, rows) @ design.T


def _correlate(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    one, other = (array - array.mean(axis=1, keepdims=True) for array in (rows, others))
    size = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    return (one * other).sum(axis=1) / np.maximum(size, 1e-12)
