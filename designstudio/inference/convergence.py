"""R-hat and effective draws of many data sets and parameters at once.

The definitions are those of Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), as in ArviZ: chains are split in halves
and rank-normalised; R-hat is the larger of that of the draws and that of their distance from the median; effective draws are
those of the bulk, by Geyer's initial monotone sequence. ArviZ goes through data sets and parameters one by one, which for
hundreds of short chains takes longer than sampling them; tests compare both.
"""

import numpy as np
from jaxtyping import Float
from scipy import fft, special, stats

Draws = Float[np.ndarray, "*batch chain draw"]


def compute_rhat(draws: Draws) -> Float[np.ndarray, "*batch"]:
    """Rank-normalised split R-hat."""
    halves = _split(draws)
    median = np.median(halves, axis=(-2, -1), keepdims=True)
    return np.maximum(_plain_rhat(_normalize_ranks(halves)), _plain_rhat(_normalize_ranks(np.abs(halves - median))))


def compute_ess(draws: Draws) -> Float[np.ndarray, "*batch"]:
    """Effective draws of the bulk."""
    halves = _normalize_ranks(_split(draws))
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


def _split(draws: Draws) -> Draws:
    """Two chains from each, without the middle draw of an odd number."""
    half = draws.shape[-1] // 2
    return np.concatenate([draws[..., :half], draws[..., -half:]], axis=-2)


def _normalize_ranks(draws: Draws) -> Draws:
    """Normal scores of the ranks among all chains."""
    flat = draws.reshape(*draws.shape[:-2], -1)
    ranks = stats.rankdata(flat, axis=-1)
    return special.ndtri((ranks - 0.375) / (flat.shape[-1] + 0.25)).reshape(draws.shape)


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
