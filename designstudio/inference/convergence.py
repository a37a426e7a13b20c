"""R-hat and effective draws of chains, and k-hat of importance weights, of many data sets at once.

Of chains, the definitions are those of Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021): chains are split in halves and
rank-normalised; R-hat is the larger of that of the draws and that of their distance from the median; effective draws are
those of the bulk, by Geyer's initial monotone sequence, and of the tails, by those of their quantiles.

Of weights, they are those of Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman, Yao & Gabry, 2024): the largest
weights are replaced by quantiles of a generalised Pareto distribution that is fitted to them; its shape, k-hat, says whether
the weights can be trusted.

ArviZ goes through data sets and parameters one by one, which for hundreds of short chains takes longer than sampling them;
tests compare both.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import fft, special

Draws = Float[np.ndarray, "*batch chain draw"]
# Quantiles that tell about tails.
TAILS = (0.05, 0.95)
# Of Zhang & Stephens' (2009) estimate: how far candidates spread, and how strongly the shape is drawn towards 0.5.
CANDIDATE_SPREAD = 3.0
PRIOR_SIZE, PRIOR_SHAPE = 10.0, 0.5


class Mixing(NamedTuple):
    """How well chains have mixed: rank-normalised split R-hat, and effective draws of the bulk and of the tails."""

    rhat: Float[np.ndarray, "*batch"]
    ess: Float[np.ndarray, "*batch"]
    ess_tail: Float[np.ndarray, "*batch"]


def compute_mixing(draws: Draws) -> Mixing:
    """All three; hundreds of data sets take most of their time to be ranked, so that is done once."""
    halves = _split(draws)
    scores = _normalize_ranks(halves)
    return Mixing(_compute_rhat(halves, scores), _count_effective(scores), compute_tail_ess(draws))


def compute_rhat(draws: Draws) -> Float[np.ndarray, "*batch"]:
    """Rank-normalised split R-hat."""
    halves = _split(draws)
    return _compute_rhat(halves, _normalize_ranks(halves))


def _compute_rhat(halves: Draws, scores: Draws) -> Float[np.ndarray, "*batch"]:
    flat = halves.reshape(*halves.shape[:-2], -1)
    # NumPy is several times faster at sorting than at finding medians among what is not sorted.
    median = np.median(np.sort(flat, axis=-1), axis=-1)[..., None, None]
    return np.maximum(_plain_rhat(scores), _plain_rhat(_normalize_ranks(np.abs(halves - median))))


def compute_ess(draws: Draws) -> Float[np.ndarray, "*batch"]:
    """Effective draws of the bulk."""
    return _count_effective(_normalize_ranks(_split(draws)))


def _count_effective(halves: Draws) -> Float[np.ndarray, "*batch"]:
    """Effective draws of chains as they are."""
    num_chains, num_draws = halves.shape[-2:]
    covariance = _autocovariance(halves).mean(axis=-2)
    within = covariance[..., :1] * num_draws / (num_draws - 1)
    between = halves.mean(axis=-1).var(axis=-1, ddof=1)[..., None]
    total = covariance[..., :1] + between
    rho = 1 - (within - covariance) / total
    rho[..., 0] = 1.0
    pairs = rho[..., 0 : num_draws - num_draws % 2].reshape(*rho.shape[:-1], -1, 2)[..., :-1, :]
    sums = pairs.sum(axis=-1)
    # From the first negative pair on everything counts as noise; before it, sums of pairs can only fall.
    is_kept = np.logical_and.accumulate(sums > 0, axis=-1)
    is_kept[..., -1] = False
    falling = np.minimum.accumulate(np.where(is_kept, sums, np.inf), axis=-1)
    tau = -1 + 2 * np.where(is_kept, falling, 0.0).sum(axis=-1)
    # The even half of the first pair that is left out may still say something.
    first = np.minimum(is_kept.sum(axis=-1), pairs.shape[-2] - 1)
    even = np.take_along_axis(pairs[..., 0], first[..., None], axis=-1)[..., 0]
    tau += np.maximum(even, 0.0)
    size = num_chains * num_draws
    return size / np.maximum(tau, 1 / np.log10(size))


def compute_tail_ess(draws: Draws) -> Float[np.ndarray, "*batch"]:
    """Effective draws of the tails: the fewer of those that tell the 5 % and the 95 % quantile."""
    ordered = np.sort(draws.reshape(*draws.shape[:-2], -1), axis=-1)
    ends = np.quantile(ordered, TAILS, axis=-1)[..., None, None]
    # Ranks of what has two values are these values but for their scale, which effective draws do not have.
    return np.min([_count_effective(_split((draws <= end).astype(float))) for end in ends], axis=0)


def compute_weighted_tail_ess(
    draws: Float[np.ndarray, "set draw entry"],
    log_weight: Float[np.ndarray, "set draw"],
    ends: Float[np.ndarray, "tail set entry"],
) -> Float[np.ndarray, " set"]:
    """Effective draws of the tails of importance draws: the fewest with which any entry's quantiles are told.

    That many independent draws would tell the share beyond a quantile as precisely as these do (Owen, 2013, chapter 9).

    Args:
        draws: of each set. log_weight: of each draw, normalised.
        ends: the 5 % and 95 % quantiles of every entry.
    """
    weight = np.exp(log_weight)
    # Where nothing is possible, nothing is told.
    weight = weight / np.maximum(weight.sum(axis=1, keepdims=True), np.finfo(weight.dtype).tiny)
    squared, fewest = weight**2, []
    for end in ends:
        is_below = (draws <= end[:, None, :]).astype(weight.dtype)
        share, second = (np.matmul(part[:, None, :], is_below)[:, 0] for part in (weight, squared))
        variance = second * (1 - 2 * share) + share**2 * squared.sum(1)[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            # Without a draw beyond the quantile nothing is known of it.
            fewest.append(np.nan_to_num(share * (1 - share) / variance, nan=0.0).min(1))
    return np.minimum(*fewest)


def compute_ebfmi(energy: Draws) -> Float[np.ndarray, "*batch chain"]:
    """Energy Bayesian fraction of missing information (Betancourt, 2016) of each chain."""
    energy = np.asarray(energy, float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (np.diff(energy, axis=-1) ** 2).mean(-1) / energy.var(-1)


def _split(draws: Draws) -> Draws:
    """Two chains from each, without the middle draw of an odd number."""
    half = draws.shape[-1] // 2
    return np.concatenate([draws[..., :half], draws[..., -half:]], axis=-2)


def _normalize_ranks(draws: Draws) -> Draws:
    """Normal scores of the ranks among all chains."""
    flat = draws.reshape(*draws.shape[:-2], -1)
    num = flat.shape[-1]
    order = np.argsort(flat, axis=-1)
    ordered = np.take_along_axis(flat, order, axis=-1)
    places = np.broadcast_to(np.arange(float(num)), flat.shape)
    is_tied = ordered[..., 1:] == ordered[..., :-1]
    if is_tied.any():
        # Equal values share the mean of their places.
        edge = np.ones((*flat.shape[:-1], 1), bool)
        first = np.maximum.accumulate(np.where(np.concatenate([edge, ~is_tied], axis=-1), places, 0), axis=-1)
        is_last = np.concatenate([~is_tied, edge], axis=-1)
        last = np.minimum.accumulate(np.where(is_last, places, num)[..., ::-1], axis=-1)[..., ::-1]
        places = (first + last) / 2
    scores = np.empty(flat.shape)
    np.put_along_axis(scores, order, special.ndtri((places + 0.625) / (num + 0.25)), axis=-1)
    return np.where(np.isnan(ordered[..., -1:]), np.nan, scores).reshape(draws.shape)


def _plain_rhat(draws: Draws) -> Float[np.ndarray, "*batch"]:
    num_draws = draws.shape[-1]
    within = draws.var(axis=-1, ddof=1).mean(axis=-1)
    between = draws.mean(axis=-1).var(axis=-1, ddof=1)
    return np.sqrt((num_draws - 1) / num_draws + between / within)


def _autocovariance(draws: Draws) -> Draws:
    """At all lags, by Fourier transform."""
    num_draws = draws.shape[-1]
    size = fft.next_fast_len(2 * num_draws)
    spectrum = fft.rfft(draws - draws.mean(axis=-1, keepdims=True), size, axis=-1)
    return fft.irfft(np.abs(spectrum) ** 2, size, axis=-1)[..., :num_draws] / num_draws


class Smoothed(NamedTuple):
    """Log weights that sum to one, and the k-hat of their tail; NaN where a tail has no spread."""

    log_weight: Float[np.ndarray, "set draw"]
    khat: Float[np.ndarray, " set"]


def smooth_weights(log_weight: Float[np.ndarray, "set draw"]) -> Smoothed:
    """Smooth the upper tail of every row; rows must be finite."""
    num_draws = log_weight.shape[1]
    num_tail = int(min(num_draws / 5, 3 * np.sqrt(num_draws)))
    shifted = log_weight - log_weight.max(axis=1, keepdims=True)
    # Only the tail has to be in order, and the draw before it at its place.
    last = num_draws - num_tail - 1
    places = np.argpartition(shifted, last, axis=1)[:, last:]
    above = np.take_along_axis(shifted, places, axis=1)
    cutoff, above = np.exp(above[:, :1]), above[:, 1:]
    order = np.argsort(above, axis=1)
    places, ranked = (np.take_along_axis(part, order, axis=1) for part in (places[:, 1:], above))
    shape, scale = fit_pareto(np.exp(ranked) - cutoff)
    probabilities = (np.arange(num_tail) + 0.5) / num_tail
    k = np.where(np.abs(shape) < 1e-12, 1e-12, shape)[:, None]
    with np.errstate(all="ignore"):
        quantiles = cutoff + scale[:, None] * np.expm1(-k * np.log1p(-probabilities)) / k
        # No draw is made heavier than the heaviest.
        smoothed = np.minimum(np.log(quantiles), 0.0)
    is_fitted = (np.isfinite(shape) & (scale > 0))[:, None]
    np.put_along_axis(shifted, places, np.where(is_fitted, smoothed, ranked), axis=1)
    largest = shifted.max(axis=1, keepdims=True)
    total = largest + np.log(np.exp(shifted - largest).sum(axis=1, keepdims=True))
    return Smoothed(shifted - total, np.where(is_fitted[:, 0], shape, np.nan))


def fit_pareto(
    excess: Float[np.ndarray, "set draw"],
) -> tuple[Float[np.ndarray, " set"], Float[np.ndarray, " set"]]:
    """Shape and scale of a generalised Pareto distribution; rows are sorted excesses over the cutoff.

    The profile likelihood of b = -shape / scale is averaged over a few dozen candidates; the shape is then drawn a little
    towards 0.5, which steadies it when the tail is short.
    """
    num = excess.shape[1]
    num_candidates = 30 + int(np.sqrt(num))
    steps = 1 - np.sqrt(num_candidates / (np.arange(num_candidates) + 0.5))
    with np.errstate(all="ignore"):
        quarter, largest = excess[:, int(num / 4 + 0.5) - 1, None], excess[:, -1, None]
        b = steps / (CANDIDATE_SPREAD * quarter) + 1 / largest
        shapes = np.log1p(-b[:, :, None] * excess[:, None, :]).mean(axis=2)
        profile = num * (np.log(-b / shapes) - shapes - 1)
        weights = np.exp(profile - profile.max(axis=1, keepdims=True))
        mean_b = (b * weights).sum(axis=1) / weights.sum(axis=1)
        shape = np.log1p(-mean_b[:, None] * excess).mean(axis=1)
        scale = -shape / mean_b
        return (num * shape + PRIOR_SIZE * PRIOR_SHAPE) / (num + PRIOR_SIZE), scale
