"""Posteriors as a DataTree that ArviZ accepts as it is, and as files.

Groups: `posterior`, `sample_stats` (dims dataset, chain, draw), `log_likelihood` (if kept), `observed_data`,
`constant_data`, and `diagnostics` with one verdict for each data set. Settings, seed and versions are attributes of the
root.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from designstudio.core.files import replace_file
from designstudio.core.versions import list_versions
from designstudio.errors import StudioError
from designstudio.inference.settings import FitSettings
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.scale import Scale, name_unit
from designstudio.model.trials.netcdf import DURATIONS

SUFFIXES = (".nc", ".zarr")


def build_posterior(
    model: BehaviorModel,
    trials: xr.Dataset,
    *,
    draws: dict[str, np.ndarray],
    sample_stats: dict[str, np.ndarray],
    diagnostics: dict[str, np.ndarray],
    log_likelihood: np.ndarray | None,
    fixed: dict[str, np.ndarray],
    settings: FitSettings,
    seed: int,
) -> xr.DataTree:
    """Label what a fit has produced."""
    coords = {"dataset": trials["dataset"], "subject": trials["subject"], "condition": trials["condition"]}
    parameters = {parameter.name: parameter for parameter in model.parameters}
    dims = ("dataset", "chain", "draw")

    def label(name: str, values: np.ndarray) -> xr.DataArray:
        parameter = parameters[name]
        attrs = {"long_name": parameter.meaning, "units": parameter.unit, "symbol": parameter.symbol}
        return xr.DataArray(values, dims=(*dims, "condition")[: values.ndim], attrs=attrs)

    posterior = xr.Dataset({name: label(name, values) for name, values in draws.items()}, coords=coords)
    posterior = posterior.assign_coords(chain=np.arange(settings.num_chains), draw=np.arange(settings.num_draws))
    stats = xr.Dataset({name: (dims, values) for name, values in sample_stats.items()}, coords=posterior.coords)
    groups = {
        "posterior": posterior,
        "sample_stats": stats.drop_vars("condition", errors="ignore"),
        "observed_data": trials[["response"]],
        "constant_data": trials[["stimulus", "condition_index", "is_present"]].assign(
            {f"fixed_{name}": (("dataset", "condition"), values) for name, values in fixed.items()}
        ),
        "diagnostics": xr.Dataset({name: ("dataset", values) for name, values in diagnostics.items()}, coords=coords),
    }
    if log_likelihood is not None:
        values = xr.DataArray(log_likelihood, dims=(*dims, "trial"))
        groups["log_likelihood"] = xr.Dataset({"response": values}, coords=posterior.coords).drop_vars("condition")
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = {
        "cost": model.actor.cost.name,
        "actor": type(model.actor).__name__,
        "per_condition": json.dumps(model.per_condition),
        "fixed": json.dumps(model.fixed),
        "priors": json.dumps({name: str(prior) for name, prior in model.priors.items()}),
        "settings": json.dumps(settings.as_dict()),
        "seed": seed,
        "versions": json.dumps(list_versions()),
    }
    return tree


def restore_posterior(posterior: xr.DataTree, model: BehaviorModel, scale: Scale) -> xr.DataTree:
    """The same fits, separate or pooled, with all draws of subjects in the unit of the data."""
    draws = posterior["posterior"].to_dataset()
    for parameter in model.parameters:
        if parameter.name in model.priors:
            restored = scale.restore(draws[parameter.name].astype(float), parameter)
            units = name_unit(parameter, scale.unit)
            draws[parameter.name] = restored.assign_attrs({**draws[parameter.name].attrs, "units": units})
    tree = posterior.copy()
    tree["posterior"] = xr.DataTree(draws)
    return tree


def save_posterior(posterior: xr.DataTree, path: Path | str) -> None:
    """Write a posterior as netCDF (.nc) or zarr (.zarr): all of it or nothing.

    Raises:
        StudioError: if the suffix is neither.
    """
    path = _check_suffix(Path(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(path) as part:
        if path.suffix == ".nc":
            posterior.to_netcdf(part, engine="h5netcdf")
        else:
            posterior.to_zarr(part, zarr_format=2, consolidated=True)


def load_posterior(path: Path | str) -> xr.DataTree:
    """Read a posterior.

    Raises:
        StudioError: if there is no such file, or it holds no posterior.
    """
    path = _check_suffix(Path(path))
    if not path.exists():
        raise StudioError(f"There is no posterior at {str(path)!r}; give a file that save_posterior wrote.")
    try:
        engine = "h5netcdf" if path.suffix == ".nc" else "zarr"
        tree = xr.load_datatree(path, engine=engine, decode_timedelta=DURATIONS)
    except (OSError, ValueError, KeyError) as error:
        raise StudioError(f"{str(path)!r} cannot be read as a posterior ({type(error).__name__}); save it again.") from None
    if "posterior" not in tree or "settings" not in tree.attrs:
        raise StudioError(f"{str(path)!r} holds no posterior of designstudio; give a file that save_posterior wrote.")
    return _rename_old(tree)


def _rename_old(tree: xr.DataTree) -> xr.DataTree:
    """The same posterior with what older versions called otherwise under its name of today."""
    for group, old, new in (("diagnostics", "lane", "stage"), ("convergence", "bank_error", "particle_error")):
        if group in tree and old in tree[group]:
            tree[group] = xr.DataTree(tree[group].to_dataset().rename({old: new}))
    return tree


def count_failures(posterior: xr.DataTree) -> dict[str, int]:
    """How many data sets, and how many of them have a fit that must not be used."""
    is_good: Any = posterior["diagnostics"]["is_good"].values
    return {"num_datasets": int(is_good.size), "num_failed": int((~is_good).sum())}


def _check_suffix(path: Path) -> Path:
    if path.suffix not in SUFFIXES:
        raise StudioError(f"A posterior is kept as .nc (netCDF) or .zarr, but {path.name!r} was given.")
    return path
