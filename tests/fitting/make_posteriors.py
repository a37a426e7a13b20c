"""Posteriors that hold only what a comparison of costs looks at."""

import numpy as np
import xarray as xr


def make_posteriors(elpd, *, is_good=None, costs=("absolute", "quadratic", "linex"), khat=0.1):
    """From log predictive densities over (subject, cost, trial)."""
    elpd = np.asarray(elpd, float)
    good = np.ones(elpd.shape[:2], bool) if is_good is None else np.asarray(is_good)
    subjects = ("dataset", [f"S{i}" for i in range(len(elpd))])
    posteriors = {}
    for j, cost in enumerate(costs):
        loo = {"elpd": elpd[:, j], "khat": np.where(np.isnan(elpd[:, j]), np.nan, khat)}
        groups = {
            "loo": xr.Dataset({name: (("dataset", "trial"), values) for name, values in loo.items()}),
            "diagnostics": xr.Dataset({"is_good": ("dataset", good[:, j])}, coords={"subject": subjects}),
        }
        posteriors[cost] = xr.DataTree.from_dict(groups)
    return posteriors
