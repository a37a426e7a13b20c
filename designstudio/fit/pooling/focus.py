"""Separate fits nearer to the group: where it is much narrower than a separate posterior, few separate draws lie in it.

The remedy keeps the method exact. Subjects are fitted once more under another prior, which stands where the group is and
reaches half as far again; pooling divides that prior out like any other. The hyperpriors stay those of the analysis priors.
"""

from collections.abc import Callable, Mapping

import numpy as np
import xarray as xr

from designstudio.behavior.model import BehaviorModel
from designstudio.behavior.packing import NOTHING_FIXED, FixedValue
from designstudio.fit.pooling.pool import pool_subjects
from designstudio.fit.posterior import count_failures
from designstudio.fit.progress import ProgressCallback
from designstudio.fit.run import fit_datasets
from designstudio.fit.settings import FitSettings
from designstudio.parameters import analysis_priors
from designstudio.priors import LogNormal

# How much farther than the subjects of the group the prior of the second fits reaches: its draws must cover every group that
# is still possible, and the tails of all of them.
REACH = 1.5
# Subjects with fewer supporting draws than this are worth a second fit: with dozens of them their errors add up.
ENOUGH_SUPPORTING = 400
# How often subjects are fitted anew, each time where the group was found.
MOST_FITS = 3


def focus_model(model: BehaviorModel, pooled: xr.DataTree) -> BehaviorModel:
    """The same model with priors that stand where the pooled subjects are.

    Args:
        model: the model of the separate fits.
        pooled: what `pool_subjects` made of them.
    """
    subjects = pooled["posterior"].to_dataset()
    priors = {}
    for name, prior in model.priors.items():
        # Over subjects and draws, so that it counts how uncertain the group is.
        logs = np.log(subjects[name].values.astype(float))
        priors[name] = LogNormal(float(np.exp(logs.mean())), REACH * float(logs.std())).within(prior.support)
    return BehaviorModel(
        model.actor,
        num_conditions=model.num_conditions,
        per_condition=model.per_condition,
        fixed=model.fixed,
        priors=analysis_priors(model.parameters).replace(**priors),
    )


def fit_group(
    model: BehaviorModel,
    trials: xr.Dataset,
    *,
    fixed: Mapping[str, FixedValue] = NOTHING_FIXED,
    settings: FitSettings | None = None,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> tuple[xr.DataTree, xr.DataTree]:
    """Separate fits and their pooling, with second fits nearer to the group if they are needed.

    Args:
        model: what is fitted.
        trials: one data set for each subject.
        fixed: values of the model's fixed parameters.
        settings: of the separate fits. seed: of all random numbers. progress: called after every batch of fits.

    Returns:
        The separate posteriors, and the pooled one; of all poolings the one that most separate draws support.
    """

    def fit(chosen: BehaviorModel) -> xr.DataTree:
        return fit_datasets(chosen, trials, fixed=fixed, settings=settings, seed=seed, progress=progress)

    posterior = fit(model)
    return posterior, pool_closely(posterior, model, fit, seed=seed)


def pool_closely(
    posterior: xr.DataTree, model: BehaviorModel, refit: Callable[[BehaviorModel], xr.DataTree], *, seed: int = 0
) -> xr.DataTree:
    """Pooling of separate fits, with further fits nearer to the group if they are needed.

    Args:
        posterior: the separate fits.
        model: what was fitted.
        refit: fits the same data with another model.
        seed: of all random numbers.

    Returns:
        Of all poolings the one that most separate draws support.
    """
    best = pool_subjects(posterior, model, seed=seed)
    nearest = best
    for _ in range(MOST_FITS):
        if _count_least(nearest) >= ENOUGH_SUPPORTING:
            break
        focused = focus_model(model, nearest)
        again = refit(focused)
        # A subject whose first fit failed has no separate posterior to compare with, and stays out.
        again["diagnostics"]["is_good"] &= posterior["diagnostics"]["is_good"]
        if count_failures(again)["num_failed"] > count_failures(posterior)["num_failed"]:
            break
        # From few draws the group looks narrower than it is, or elsewhere: the next fits start from a better idea of it.
        nearest = pool_subjects(again, focused, seed=seed, assumed=model.priors)
        best = max(best, nearest, key=_count_least)
    return best


def _count_least(pooled: xr.DataTree) -> float:
    return float(pooled["diagnostics"]["num_supporting"].min())
