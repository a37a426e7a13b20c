"""Whether a fit can be trusted: diagnostics for many data sets, and the verdict."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from designstudio.inference.convergence import (
    compute_ebfmi,
    compute_mixing,
    smooth_weights,
)
from designstudio.inference.settings import FitSettings

Draws = dict[str, Float[np.ndarray, "dataset chain draw ..."]]


class WeightCheck(NamedTuple):
    """Importance weights of many data sets.

    Attributes:
        log_weight: Pareto-smoothed and normalised over all draws of a data set.
        khat: Pareto k-hat, infinite where no tail could be fitted.
        ess: Kish's effective draws of the raw weights.
        log_evidence: log marginal likelihood of the data.
    """

    log_weight: Float[np.ndarray, "dataset block draw"]
    khat: Float[np.ndarray, " dataset"]
    ess: Float[np.ndarray, " dataset"]
    log_evidence: Float[np.ndarray, " dataset"]


class ChainCheck(NamedTuple):
    """Chains of many data sets: the worst over the parameters, or over the chains.

    Attributes:
        rhat: rank-normalised split R-hat. worst: the parameter whose R-hat that is.
        ess: effective draws of the bulk. ess_tail: of the tails.
        ebfmi: how well momenta explore the energy (E-BFMI).
        num_divergent: trajectories that diverged. num_saturated: that were as long as allowed. num_draws: all.
        mean_steps: of a trajectory. mean_step_size: in units of the posterior. jump_rate: share of draws that jumped.
    """

    rhat: Float[np.ndarray, " dataset"]
    ess: Float[np.ndarray, " dataset"]
    ess_tail: Float[np.ndarray, " dataset"]
    ebfmi: Float[np.ndarray, " dataset"]
    num_divergent: Int[np.ndarray, " dataset"]
    num_saturated: Int[np.ndarray, " dataset"]
    mean_steps: Float[np.ndarray, " dataset"]
    mean_step_size: Float[np.ndarray, " dataset"]
    jump_rate: Float[np.ndarray, " dataset"]
    worst: list[str]
    num_draws: int

    @property
    def diagnostics(self) -> dict[str, np.ndarray]:
        """All that is one number for each data set, by name."""
        return {name: value for name, value in self._asdict().items() if isinstance(value, np.ndarray)}


def check_weights(log_weight: Float[np.ndarray, "dataset block draw"]) -> WeightCheck:
    """Smooth importance weights and say how good they are."""
    raw = np.asarray(log_weight, float).reshape(len(log_weight), -1)
    raw = np.where(np.isnan(raw), -np.inf, raw)
    largest = np.max(raw, axis=1)
    is_usable = np.isfinite(largest)
    shifted = np.where(is_usable[:, None], raw - np.where(is_usable, largest, 0.0)[:, None], 0.0)
    weights = np.exp(shifted)
    ess = np.where(is_usable, weights.sum(1) ** 2 / (weights**2).sum(1), 0.0)
    with np.errstate(divide="ignore"):
        log_evidence = np.where(is_usable, largest + np.log(weights.mean(1)), -np.inf)
    # Impossible draws have no weight; the tail fit wants finite numbers.
    log_w, tail_khat = smooth_weights(np.maximum(shifted, -700.0))
    smoothed = np.where(is_usable[:, None] & np.isfinite(raw), log_w, -np.inf)
    # If all tail weights are equal, either none counts, or all do.
    equal = np.where(ess > raw.shape[1] / 2, 0.0, np.inf)
    khat = np.where(is_usable, np.where(np.isnan(tail_khat), equal, tail_khat), np.inf)
    return WeightCheck(smoothed.reshape(log_weight.shape), khat, ess, log_evidence)


def check_chains(draws: Draws, stats: dict[str, np.ndarray] | None = None) -> ChainCheck:
    """How well chains have mixed, the worst over parameters.

    Args:
        draws: of each parameter.
        stats: of each draw, as a posterior's `sample_stats`; without them nothing is said about trajectories.
    """
    names, columns = [], []
    for name, values in draws.items():
        entries = np.asarray(values, float).reshape(*values.shape[:3], -1)
        for k in range(entries.shape[-1]):
            names.append(name if values.ndim == 3 else f"{name}[{k}]")
            columns.append(entries[..., k])
    stacked = np.stack(columns, axis=1)
    # A chain that never moves has no R-hat: that is as bad as can be.
    is_stuck = np.ptp(stacked, axis=-1).min(-1) == 0
    safe = np.where(is_stuck[:, :, None, None], np.random.default_rng(0).normal(size=stacked.shape[-2:]), stacked)
    mixing = compute_mixing(safe)
    rhat = np.where(is_stuck, np.inf, mixing.rhat)
    ess, ess_tail = (np.where(is_stuck, 1.0, counts).min(1) for counts in (mixing.ess, mixing.ess_tail))
    if stats is None:
        nothing = np.zeros(stacked[:, 0].shape, bool)
        unknown = np.full(nothing.shape, np.nan)
        stats = dict.fromkeys(("energy", "n_steps", "step_size", "jumped"), unknown)
        stats |= dict.fromkeys(("diverging", "reached_max_treedepth"), nothing)
    return ChainCheck(
        rhat=rhat.max(1),
        ess=ess,
        ess_tail=ess_tail,
        ebfmi=compute_ebfmi(stats["energy"]).min(1),
        num_divergent=stats["diverging"].sum((1, 2)),
        num_saturated=stats["reached_max_treedepth"].sum((1, 2)),
        mean_steps=stats["n_steps"].mean((1, 2)),
        mean_step_size=stats["step_size"].mean((1, 2)),
        jump_rate=stats["jumped"].mean((1, 2)),
        worst=[names[i] for i in np.argmax(rhat, axis=1)],
        num_draws=int(np.prod(stacked.shape[2:])),
    )


def explain_weights(
    check: WeightCheck, settings: FitSettings, ess_tail: Float[np.ndarray, " dataset"] | None = None
) -> list[str]:
    """Why the importance sampling of each data set cannot be used; empty where it can.

    Args:
        check: of the weights.
        settings: what is enough.
        ess_tail: effective draws of the tails; without them nothing is asked of tails.
    """
    tails = np.full(len(check.ess), np.inf) if ess_tail is None else ess_tail
    reasons = []
    for khat, ess, tail in zip(check.khat, check.ess, tails, strict=True):
        if np.isinf(khat):
            reasons.append("no importance draw reaches where the posterior is")
        elif not khat < settings.max_khat:
            reasons.append(f"k-hat {khat:.2f} of the importance weights is not below {settings.max_khat:g}")
        elif ess < settings.min_ess:
            reasons.append(f"{ess:.0f} effective draws are fewer than {settings.min_ess:g}")
        elif tail < settings.min_ess_tail:
            reasons.append(f"{tail:.0f} effective draws of a tail are fewer than {settings.min_ess_tail:g}")
        else:
            reasons.append("")
    return reasons


def explain_chains(check: ChainCheck, has_jumps: Bool[np.ndarray, " dataset"], settings: FitSettings) -> list[str]:
    """Why the chains of each data set cannot be used; empty where they can."""
    return [_explain_chain(check, i, bool(has_jumps[i]), settings) for i in range(len(check.rhat))]


def _explain_chain(check: ChainCheck, i: int, has_jumps: bool, settings: FitSettings) -> str:
    if not check.rhat[i] <= settings.max_rhat:
        return f"R-hat {check.rhat[i]:.3f} of {check.worst[i]} is above {settings.max_rhat:g}"
    if not check.ess[i] >= settings.min_ess:
        return f"{check.ess[i]:.0f} effective draws are fewer than {settings.min_ess:g}"
    if not check.ess_tail[i] >= settings.min_ess_tail:
        return f"{check.ess_tail[i]:.0f} effective draws of a tail are fewer than {settings.min_ess_tail:g}"
    share = check.num_divergent[i] / check.num_draws
    if share > settings.max_divergent and not has_jumps:
        return f"{share:.1%} of the trajectories diverge, more than {settings.max_divergent:.0%}"
    if check.ebfmi[i] < settings.min_ebfmi and not has_jumps:
        return f"E-BFMI {check.ebfmi[i]:.2f} is below {settings.min_ebfmi:g}: momenta do not explore the energy"
    return ""


def find_breakdowns(check: ChainCheck, settings: FitSettings) -> Bool[np.ndarray, " dataset"]:
    """Where trajectories diverge too often, or momenta do not explore the energy: longer chains do not mend that."""
    return (check.num_divergent > settings.max_divergent * check.num_draws) | (check.ebfmi < settings.min_ebfmi)


def resample(
    log_weight: Float[np.ndarray, "dataset block draw"], num_draws: int, rng: list[np.random.Generator]
) -> np.ndarray:
    """Indices of equally weighted draws, block by block, by systematic resampling in random order."""
    num_datasets, num_blocks, size = log_weight.shape
    largest = log_weight.max(axis=-1, keepdims=True)
    is_usable = np.isfinite(largest)
    weights = np.where(is_usable, np.exp(log_weight - np.where(is_usable, largest, 0.0)), 1.0)
    ends = np.cumsum(weights, axis=-1)
    ends /= ends[..., -1:]
    # How many of the evenly spaced points lie below each end, of all blocks at once.
    starts = np.zeros((num_datasets, num_blocks, 1))
    order = np.zeros((num_datasets, num_blocks, num_draws), int)
    for i in range(num_datasets):
        for k in range(num_blocks):
            starts[i, k], order[i, k] = rng[i].uniform(), rng[i].permutation(num_draws)
    below = np.clip(np.floor(num_draws * ends - starts) + 1, 0, num_draws).astype(int)
    counts = np.diff(below, axis=-1, prepend=0)
    chosen = np.repeat(np.broadcast_to(np.arange(size), counts.shape).ravel(), counts.ravel())
    return np.take_along_axis(chosen.reshape(order.shape), order, axis=-1)


def take_draws(values: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The chosen draws of every block."""
    return np.take_along_axis(values, indices.reshape(indices.shape + (1,) * (values.ndim - 3)), axis=2)
