"""Two designs on the same participants and noise: how much better one is, with a paired error.

Data sets are matched by number. What they share (an unusual participant, a lucky draw of noise) cancels in the comparison,
so its error is smaller than the errors of the two designs suggest.
"""

import numpy as np
import xarray as xr

from designstudio.metrics.monte_carlo import UNDEFINED, Score, score_jackknife, weighted_mean


def compare_rmse(better: xr.Dataset, worse: xr.Dataset) -> dict[str, Score]:
    """How many times smaller the RMSE of each quantity is: RMSE of `worse` over RMSE of `better`.

    Only quantities that both have, and data sets that both could fit, are compared.
    """
    numbers = np.intersect1d(*(s["dataset"].values[s["is_good"].values] for s in (better, worse)))
    shared = [str(name) for name in better["quantity"].values if name in worse["quantity"].values]
    ratios = {}
    for name in shared:
        squares = []
        for summaries in (worse, better):
            chosen = summaries.sel(dataset=numbers, quantity=name)
            squares.append((chosen["mean"] - chosen["truth"]).values ** 2)
        ratios[name] = _ratio(squares[0], squares[1])
    return ratios


def _ratio(above: np.ndarray, below: np.ndarray) -> Score:
    if len(above) < 3 or np.isnan(above).any() or np.isnan(below).any() or not below.any():
        return UNDEFINED
    return score_jackknife(
        lambda weights: np.sqrt(weighted_mean(weights, above) / weighted_mean(weights, below)), len(above)
    )
