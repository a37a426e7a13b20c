"""The unit in which an actor sees the data; see `designstudio.model.scale`."""

import numpy as np
import xarray as xr

from designstudio.model.scale import BOX, Scale, choose_factor, count_outside
from designstudio.model.trials.schema import check_trials


def choose_scale(trials: xr.Dataset) -> Scale:
    """The unit in which actors know these data: the data's own if it will do, else 1, 2 or 5 times a power of ten of it."""
    check_trials(trials)
    present = trials["is_present"].values
    stimuli, responses = (trials[name].values[present] for name in ("stimulus", "response"))
    factor = choose_factor(stimuli, responses)
    return Scale(factor, trials["stimulus"].attrs["units"], _describe_outside(stimuli / factor))


def _describe_outside(stimuli: np.ndarray) -> str:
    num_outside = count_outside(stimuli, 1.0)
    if not num_outside:
        return ""
    return (
        f"The stimuli reach from {stimuli.min():.3g} to {stimuli.max():.3g} in the actor's unit, but prior means only from "
        f"{BOX}: {num_outside} of {stimuli.size} lie outside, where a fit knows less."
    )
