"""Are the parameters estimated well? Posterior means and intervals against the truth, over many simulated data sets.

Which numbers there are, the registry knows; see `designstudio.metrics.quantity`. Data sets whose fit failed are left out
here and counted elsewhere: a number that includes them would mean nothing.
"""

import xarray as xr

from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.registry import list_quantity_metrics
from designstudio.metrics.samples import keep_good, sample_quantity


def score_recovery(summaries: xr.Dataset) -> dict[str, dict[str, Score]]:
    """All metrics of every quantity.

    Args:
        summaries: see `designstudio.metrics.summaries`.
    """
    good, metrics = keep_good(summaries), list_quantity_metrics()
    samples = {str(name): sample_quantity(good, name) for name in good["quantity"].values}
    return {
        quantity: {name: metric.score(sample) for name, metric in metrics.items()} for quantity, sample in samples.items()
    }
