"""What pooling has done to each subject."""

import numpy as np
import xarray as xr

from designstudio.model.parameter_entries import list_array_entries


def compute_shrinkage(posterior: xr.DataTree, pooled: xr.DataTree) -> xr.Dataset:
    """Separate and pooled estimates side by side.

    Args:
        posterior: the separate fits.
        pooled: what `pool_subjects` made of them.

    Returns:
        A Dataset over dataset (the pooled subjects) and quantity (a parameter, or one condition's entry of it):
        `separate_mean`, `separate_sd`, `pooled_mean`, `pooled_sd`, and `shrinkage`, the share of the separate variance that
        the group has removed. It is 0 where the group says nothing new and near 1 where it says all; it is the weight of the
        group in the pooled estimate if everything is normal. Where a subject is pulled to a place where its data say less,
        it is negative.
    """
    subjects = pooled["posterior"].to_dataset()
    separate = posterior["posterior"].to_dataset().sel(dataset=subjects["dataset"])
    entries, columns = list_array_entries(subjects), []
    for entry in entries:
        pair = [entry.pick(source[entry.name]) for source in (separate, subjects)]
        columns.append([f(array.values.astype(float), axis=(1, 2)) for array in pair for f in (np.mean, np.std)])
    means_and_sds = np.moveaxis(np.array(columns), 0, -1)
    names = [entry.label() for entry in entries]
    labels = ("separate_mean", "separate_sd", "pooled_mean", "pooled_sd")
    table = xr.Dataset(
        {label: (("dataset", "quantity"), values) for label, values in zip(labels, means_and_sds, strict=True)},
        coords={
            "quantity": names,
            "dataset": subjects["dataset"],
            "subject": subjects["subject"],
        },
    )
    return table.assign(shrinkage=1 - (table["pooled_sd"] / table["separate_sd"]) ** 2)
