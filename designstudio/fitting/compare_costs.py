"""Which cost predicts left-out trials best: for each subject, and for all of them.

A difference is how far a cost is behind the best one, in nats of expected log predictive density (elpd): 0 for the best, and
lower is better. Its standard error for one subject comes from the trials, sqrt(n) times the standard deviation of the
pointwise differences: would the order be the same with other trials of this subject? For the total it comes from the
subjects, sqrt(N) times the standard deviation of the subjects' differences: would it be the same with other people? That is
what a claim about people needs, and it is the larger one if people differ; `difference_se_trials` has the other, which
takes these very subjects as given. With one subject there is only the latter.

Densities come from draws, so they have a Monte Carlo error, too: another seed would give others. A cost wins a subject only
if it is ahead of every other one by more than two such errors and no trial of any cost has a k-hat above 0.7; otherwise the
subject is *close*. In the total the best cost is *decided* if it is ahead of the second by more than two errors, those over
subjects and those of the draws together.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy import optimize

from designstudio.fitting.comparison import LARGEST_KHAT, NUM_ERRORS, Comparison
from designstudio.metrics.intervals import compute_interval
from designstudio.metrics.monte_carlo import score_share
from designstudio.model.costs import find_family
from designstudio.model.costs.base import FAMILIES

# Steps of expectation-maximisation, which can only improve what the optimiser returns and keep the weights a distribution.
NUM_POLISHING = 50
# Samples of the Bayesian bootstrap of weights, and steps for each.
NUM_REPLICATES, NUM_STEPS = 50, 60


def compare_costs(posteriors: Mapping[str, xr.DataTree]) -> Comparison:
    """Compare all costs that were fitted to the same data.

    Args:
        posteriors: of each cost, with the groups `loo` and `diagnostics`; see `designstudio.fitting.fit_condition_groups`.
    """
    costs = list(posteriors)
    verdicts = [tree["diagnostics"].to_dataset() for tree in posteriors.values()]
    pointwise = [tree["loo"].to_dataset() for tree in posteriors.values()]
    subjects = [str(subject) for subject in verdicts[0]["subject"].values]
    elpd, khat = (np.stack([loo[name].values for loo in pointwise], axis=1) for name in ("elpd", "khat"))
    is_good = np.stack([verdict["is_good"].values for verdict in verdicts], axis=1)
    # A fit that failed predicts nothing.
    elpd = np.where(is_good[:, :, None], elpd, np.nan)
    # Runs of before kept no such error.
    mcse = np.stack([loo["mcse"].values if "mcse" in loo else np.zeros(len(subjects)) for loo in pointwise], axis=1)
    num_bad = (khat > LARGEST_KHAT).sum(axis=2)
    table = _compare_each(elpd, is_good, mcse, num_bad).assign(num_bad_k=(("subject", "cost"), num_bad))
    table = table.assign_coords(subject=subjects, cost=costs)
    is_decided = is_good.all(axis=1)
    is_winner = table["is_winner"].values[is_decided]
    total = _compare_in_total(elpd[is_decided], mcse[is_decided]).assign_coords(cost=costs)
    shares = np.array([score_share(column) for column in is_winner.T])
    total = total.assign(share_won=("cost", shares[:, 0]), share_won_se=("cost", shares[:, 1]))
    families = _compare_families(costs, is_winner, total["weight"].values)
    num_close = int((~is_winner.any(axis=1)).sum())
    return Comparison(table, total, families, int((~is_decided).sum()), num_close)


def _compare_each(elpd: np.ndarray, is_good: np.ndarray, mcse: np.ndarray, num_bad: np.ndarray) -> xr.Dataset:
    """Every subject on their own; `elpd` is over (subject, cost, trial), the others over (subject, cost)."""
    shape = elpd.shape[:2]
    sums, errors, differences, difference_errors, monte_carlo = np.full((5, *shape), np.nan)
    is_winner = np.zeros(shape, bool)
    for i, rows in enumerate(elpd):
        usable = np.flatnonzero(is_good[i])
        if not usable.size:
            continue
        present = rows[:, ~np.isnan(rows[usable]).any(axis=0)]
        sums[i, usable] = present[usable].sum(axis=1)
        best = usable[np.argmax(sums[i, usable])]
        for j in usable:
            errors[i, j] = _error_of_sum(present[j])
            differences[i, j] = sums[i, best] - sums[i, j]
            difference_errors[i, j] = _error_of_sum(present[best] - present[j])
            # Fits are independent of each other.
            monte_carlo[i, j] = np.hypot(mcse[i, best], mcse[i, j]) if j != best else 0.0
        others = usable[usable != best]
        is_ahead = (differences[i, others] > NUM_ERRORS * monte_carlo[i, others]).all()
        is_winner[i, best] = is_good[i].all() and is_ahead and not num_bad[i].any()
    arrays = {
        "elpd": sums,
        "elpd_se": errors,
        "is_good": is_good,
        "difference": differences,
        "difference_se": difference_errors,
        "difference_mcse": monte_carlo,
        "is_winner": is_winner,
    }
    return xr.Dataset({name: (("subject", "cost"), values) for name, values in arrays.items()})


def _compare_in_total(elpd: np.ndarray, mcse: np.ndarray) -> xr.Dataset:
    """All subjects together; the arrays are over (subject, cost, trial) and (subject, cost), without failed fits."""
    num_subjects, num_costs, _ = elpd.shape
    if not num_subjects:
        names = ["elpd", "elpd_se", "difference", "difference_se", "difference_se_trials", "difference_mcse"]
        names += ["weight", "weight_low", "weight_high"]
        return xr.Dataset({name: ("cost", np.full(num_costs, np.nan)) for name in names})
    by_subject = np.nansum(elpd, axis=2)
    pointwise = np.concatenate([rows[:, ~np.isnan(rows).any(axis=0)] for rows in elpd], axis=1)
    best = int(np.argmax(by_subject.sum(axis=0)))
    of_trials = _errors_of_sums(pointwise[best] - pointwise)
    has_subjects = num_subjects > 1
    weight = stack_weights(pointwise.T)
    unit = np.repeat(np.arange(num_subjects), [(~np.isnan(rows).any(axis=0)).sum() for rows in elpd])
    low, high = _spread_weights(pointwise.T, weight, unit if has_subjects else np.arange(len(unit)))
    squares = (mcse**2).sum(axis=0)
    arrays = {
        "elpd": by_subject.sum(axis=0),
        "elpd_se": _errors_of_sums(by_subject.T if has_subjects else pointwise),
        "difference": (by_subject[:, [best]] - by_subject).sum(axis=0),
        "difference_se": _errors_of_sums((by_subject[:, [best]] - by_subject).T) if has_subjects else of_trials,
        "difference_se_trials": of_trials,
        "difference_mcse": np.where(np.arange(num_costs) == best, 0.0, np.sqrt(squares[best] + squares)),
        "weight": weight,
        "weight_low": low,
        "weight_high": high,
    }
    return xr.Dataset({name: ("cost", values) for name, values in arrays.items()})


def _compare_families(costs: Sequence[str], is_winner: np.ndarray, weights: np.ndarray) -> xr.Dataset:
    """How often the winner is of each family, and the family's weight."""
    members = [find_family(cost) for cost in costs]
    names = [name for name in FAMILIES if name in members]
    is_in = np.array([[member == name for member in members] for name in names])
    shares = np.array([score_share(np.asarray(is_winner[:, row].any(axis=1))) for row in is_in])
    return xr.Dataset(
        {
            "share_won": ("family", shares[:, 0]),
            "share_won_se": ("family", shares[:, 1]),
            "weight": ("family", is_in @ weights),
            "num_costs": ("family", is_in.sum(axis=1)),
        },
        coords={"family": names},
    )


def _errors_of_sums(rows: np.ndarray) -> np.ndarray:
    return np.array([_error_of_sum(row) for row in rows])


def _error_of_sum(values: np.ndarray) -> float:
    """Standard error of the sum of independent values."""
    return float(np.sqrt(len(values)) * values.std(ddof=1)) if len(values) > 1 else np.nan


def _spread_weights(elpd: np.ndarray, weights: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """94 % intervals of stacking weights over other people, or other trials of one person, by the Bayesian bootstrap.

    Args:
        elpd: over (trial, model). weights: of all. unit: the subject, or trial, to which each row belongs.
    """
    rng = np.random.default_rng(0)
    density = np.exp(elpd - elpd.max(axis=1, keepdims=True))
    even, found = np.full(len(weights), 1 / len(weights)), []
    for _ in range(NUM_REPLICATES):
        share = rng.exponential(size=int(unit.max()) + 1)[unit]
        share = share / share.sum()
        # From between even ones and those of all: a weight of zero would stay so.
        mine = (weights + even) / 2
        for _ in range(NUM_STEPS):
            mine = mine * (density.T @ (share / np.maximum(density @ mine, 1e-300)))
        found.append(mine / mine.sum())
    low, high = compute_interval(np.stack(found, axis=-1))
    return np.minimum(low, weights), np.maximum(high, weights)


def stack_weights(elpd: Float[np.ndarray, "trial model"]) -> Float[np.ndarray, " model"]:
    """Stacking (Yao, Vehtari, Simpson & Gelman, 2018): weights whose mixture of the models predicts left-out trials best.

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
