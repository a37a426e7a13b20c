"""Power as a smooth, rising function of the number of participants: power = Phi(slope * sqrt(n) - threshold).

A decision is an estimate that lies so many of its errors away from no effect. Errors shrink with the root of the number of
participants, so this is the curve of a test with known errors; with both numbers free it follows that of other decisions
closely enough within some factor of one size. Studies of several sizes share participants, and decide alike: errors come
from resampling whole studies.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy import special

from designstudio.metrics.monte_carlo import UNDEFINED, Score

NUM_STEPS, NUM_RESAMPLES = 30, 400
# A prior worth two decisions, so that curves exist where all studies decide alike.
SOFTENING = 1.0
STEEPEST = 5.0
# Sizes beyond this factor of the one that is asked about have no say.
NEARBY = 2.5
CLOSEST = 1e-12


class Decided(NamedTuple):
    """What studies of one size decided.

    Attributes:
        size: participants in a group.
        studies: their numbers.
        is_found: whether each found the effect.
    """

    size: int
    studies: np.ndarray
    is_found: Bool[np.ndarray, " study"]


class Crossing(NamedTuple):
    """Where a curve of power reaches a target.

    Attributes:
        size: how many participants that takes; infinite if the curve does not rise, or if nothing was decided.
        low, high: interval of the size.
        power: at a size, rounded up; the curve's, with its error. Undefined if nothing was decided.
    """

    size: float
    low: float
    high: float
    power: Score


def find_crossing(decided: list[Decided], target: float, interval: float, *, most: float, seed: int) -> Crossing:
    """The number of participants at which power reaches a target.

    Args:
        decided: by studies of several sizes.
        target: the power that is wanted.
        interval: probability of the interval.
        most: the largest size of interest; power is given there if the target lies beyond.
        seed: of resampling.
    """
    if not decided:
        return Crossing(np.inf, 0.0, np.inf, UNDEFINED)
    size = most
    # First the curve through everything, then through what is near.
    for _ in range(3):
        near = _choose_near(decided, size)
        size = float(np.clip(_cross(_fit(*_count(near)), target)[0], min(d.size for d in decided), most))
    sizes, found, asked = _count(near, _resample(near, seed))
    exact = _fit(*_count(near))
    curves = _fit(sizes, found, asked)
    at = float(_cross(exact, target)[0])
    low, high = np.quantile(_cross(curves, target), [(1 - interval) / 2, (1 + interval) / 2], method="inverted_cdf")
    place = min(at, most)
    power = Score(float(_evaluate(exact, place)[0]), float(_evaluate(curves, place).std(ddof=1)))
    return Crossing(at, float(low), float(high), power)


def _choose_near(decided: list[Decided], size: float) -> list[Decided]:
    near = [d for d in decided if size / NEARBY <= d.size <= size * NEARBY]
    return near if len({d.size for d in near}) > 1 else decided


def _count(
    decided: list[Decided], weights: Float[np.ndarray, "repeat study"] | None = None
) -> tuple[Float[np.ndarray, " size"], Float[np.ndarray, "repeat size"], Float[np.ndarray, "repeat size"]]:
    """Sizes, and how many studies found and asked at each; weights repeat the studies."""
    most = max(int(d.studies.max()) for d in decided) + 1
    weights = np.ones((1, most)) if weights is None else weights
    found = np.stack([weights[:, d.studies] @ d.is_found for d in decided], axis=1)
    asked = np.stack([weights[:, d.studies].sum(axis=1) for d in decided], axis=1)
    return np.array([d.size for d in decided], float), found, asked


def _resample(decided: list[Decided], seed: int) -> Float[np.ndarray, "repeat study"]:
    """How often each study is drawn."""
    numbers = np.unique(np.concatenate([d.studies for d in decided]))
    weights = np.zeros((NUM_RESAMPLES, int(numbers.max()) + 1))
    rng = np.random.default_rng((seed, len(numbers)))
    weights[:, numbers] = rng.multinomial(len(numbers), np.full(len(numbers), 1 / len(numbers)), size=NUM_RESAMPLES)
    return weights


def _fit(
    sizes: Float[np.ndarray, " size"], found: Float[np.ndarray, "repeat size"], asked: Float[np.ndarray, "repeat size"]
) -> Float[np.ndarray, "repeat two"]:
    """Slope and threshold by Fisher scoring, with rising curves only."""
    x = np.stack([np.sqrt(sizes), -np.ones_like(sizes)], axis=1)
    # Weights of a prior that has every power equally likely, shared between the sizes.
    share = SOFTENING / len(sizes)
    found, asked = found + share, asked + 2 * share
    start = np.clip(found.sum(axis=1) / asked.sum(axis=1), 0.02, 0.98)
    slope = np.full(len(found), 0.1)
    curves = np.stack([slope, slope * np.sqrt(sizes).mean() - special.ndtri(start)], axis=1)
    for _ in range(NUM_STEPS):
        linear = curves @ x.T
        power = np.clip(special.ndtr(linear), CLOSEST, 1 - CLOSEST)
        density = np.exp(-(linear**2) / 2) / math.sqrt(2 * math.pi)
        information = asked * density**2 / (power * (1 - power))
        gradient = ((found - asked * power) * density / (power * (1 - power))) @ x
        curvature = np.einsum("rs,si,sj->rij", information, x, x) + 1e-6 * np.eye(2)
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        curves = curves + step / np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True))
        # A curve that would fall is flat.
        curves[:, 0] = np.clip(curves[:, 0], 0.0, STEEPEST)
    flat = curves[:, 0] <= 0
    curves[flat, 1] = -special.ndtri(found[flat].sum(axis=1) / asked[flat].sum(axis=1))
    return curves


def _evaluate(curves: Float[np.ndarray, "repeat two"], size: float) -> Float[np.ndarray, " repeat"]:
    return np.asarray(special.ndtr(curves[:, 0] * np.sqrt(size) - curves[:, 1]))


def _cross(curves: Float[np.ndarray, "repeat two"], target: float) -> Float[np.ndarray, " repeat"]:
    """Where curves reach the target; 0 or infinity for flat ones."""
    above = special.ndtri(target) + curves[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        root = above / curves[:, 0]
    return np.where(above <= 0, 0.0, np.where(curves[:, 0] > 0, root**2, np.inf))
