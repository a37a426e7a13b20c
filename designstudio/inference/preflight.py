"""What speaks against fitting some data, or against trusting the fit, before any sampler runs."""

import numpy as np
import xarray as xr

from designstudio.inference.task import Results
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameters import Role
from designstudio.model.trials import TrialsError, find_weaknesses


def check_scale(model: BehaviorModel, trials: xr.Dataset) -> None:
    """Refuse stimuli in a unit that the model's prior knows nothing about.

    Raises:
        TrialsError: if the stimuli of a data set lie ten times or more outside the prior of where they are expected.
    """
    location = model.family.find(Role.PRIOR_LOCATION)
    if location is None or location.name in model.fixed:
        return
    support = model.priors[location.name].support
    stimulus, is_present = trials["stimulus"].values, trials["is_present"].values
    low = np.where(is_present, stimulus, np.inf).min(axis=1)
    high = np.where(is_present, stimulus, -np.inf).max(axis=1)
    is_foreign = (low > 10 * support.high) | (high < support.low / 10)
    if is_foreign.any():
        i = int(np.flatnonzero(is_foreign)[0])
        raise TrialsError(
            f"The stimuli of data set {i} lie between {low[i]:g} and {high[i]:g}, but the prior of {location.name} covers "
            f"{support}: give stimuli and responses in another unit, or another prior."
        )


def note_weak_data(results: Results, trials: xr.Dataset) -> None:
    """Fits of data that cannot tell much are returned, and flagged."""
    for i, weaknesses in enumerate(find_weaknesses(trials)):
        if weaknesses:
            diagnostics = results.diagnostics
            reason = "; ".join(filter(None, [*weaknesses, str(diagnostics["reason"][i])]))
            diagnostics["reason"][i] = reason[:160]
            diagnostics["is_good"][i] = False
