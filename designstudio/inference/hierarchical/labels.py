"""Names for what pooling found: the group, its subjects, and how far both can be trusted."""

from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from designstudio.inference.hierarchical.entries import Entry, Group
from designstudio.inference.hierarchical.settings import PoolingSettings


def check_group(khat: float, ess: float, support: Float[np.ndarray, " subject"], settings: PoolingSettings) -> xr.Dataset:
    """Whether the group can be trusted."""
    # Each subject's mean weight has a relative error of one over the root of the particles that count.
    error = float(np.sqrt(np.sum(1 / support)))
    failures = [
        f"k-hat {khat:.2f} (allowed {settings.max_khat:g})" if not khat <= settings.max_khat else "",
        f"{ess:.0f} effective draws (needed {settings.min_ess:.0f})" if not ess >= settings.min_ess else "",
        f"an error of {error:.2f} nats from too few particles of the subjects (allowed {settings.max_particle_error:g})"
        if not error <= settings.max_particle_error
        else "",
    ]
    reason = "; ".join(filter(None, failures))
    return xr.Dataset({"khat": khat, "ess": ess, "particle_error": error, "is_good": not reason, "reason": reason})


def check_subjects(support: Float[np.ndarray, " subject"], given: xr.Dataset, settings: PoolingSettings) -> xr.Dataset:
    """Whether each subject can be trusted."""
    is_good = support >= settings.min_supporting
    reason = [
        "" if good else f"the group says more about this subject than {num:.0f} particles can show"
        for num, good in zip(support, is_good, strict=True)
    ]
    variables = {"num_supporting": support, "is_good": is_good, "reason": np.array(reason, dtype="<U160")}
    labels = given[["dataset", "subject"]].coords
    return xr.Dataset({name: ("dataset", values) for name, values in variables.items()}, coords=labels)


def label_group(entries: tuple[Entry, ...], group: Group, given: xr.Dataset) -> xr.Dataset:
    """Medians and spreads, with the conditions of one parameter side by side."""
    columns: dict[str, list[np.ndarray]] = {}
    for k, entry in enumerate(entries):
        columns.setdefault(f"{entry.name}_median", []).append(entry.scale.backward(np.asarray(group.location)[..., k]))
        columns.setdefault(f"{entry.name}_spread", []).append(np.asarray(group.spread, float)[..., k])
    per_condition = {entry.name for entry in entries if entry.condition is not None}
    variables: dict[str, Any] = {}
    for label, parts in columns.items():
        name, _, suffix = label.rpartition("_")
        is_median = suffix == "median"
        attrs = dict(given[name].attrs) if is_median else {"symbol": given[name].attrs.get("symbol", name)}
        attrs["long_name"] = f"{given[name].attrs.get('long_name', name)}, {'median subject' if is_median else 'spread'}"
        if name in per_condition:
            variables[label] = (("chain", "draw", "condition"), np.stack(parts, axis=-1), attrs)
        else:
            variables[label] = (("chain", "draw"), parts[0], attrs)
    num_chains, num_draws = group.location.shape[:2]
    coords = {"chain": np.arange(num_chains), "draw": np.arange(num_draws), "condition": given["condition"]}
    return xr.Dataset(variables, coords=coords)


def label_subjects(
    entries: tuple[Entry, ...], points: Float[np.ndarray, "entry subject chain draw"], given: xr.Dataset
) -> xr.Dataset:
    """The pooled draws, laid out as the separate ones."""
    columns: dict[str, list[np.ndarray]] = {}
    for entry, values in zip(entries, points, strict=True):
        columns.setdefault(entry.name, []).append(entry.scale.backward(values).astype(np.float32))
    variables = {
        name: (
            given[name].dims,
            np.stack(parts, axis=-1) if "condition" in given[name].dims else parts[0],
            given[name].attrs,
        )
        for name, parts in columns.items()
    }
    coords = {str(name): given[name] for name in ("dataset", "subject", "condition")}
    _, _, num_chains, num_draws = points.shape
    return xr.Dataset(variables, coords={**coords, "chain": np.arange(num_chains), "draw": np.arange(num_draws)})
