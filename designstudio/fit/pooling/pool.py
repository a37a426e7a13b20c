"""Pool subjects: separate posteriors in, the group and its subjects out."""

import json
from typing import Any

import jax
import numpy as np
import xarray as xr
from jaxtyping import Array, Key

from designstudio.behavior.model import BehaviorModel
from designstudio.errors import StudioError
from designstudio.fit.convergence import compute_ess, compute_rhat
from designstudio.fit.pooling.entries import Entry, choose_hyperprior, lay_out_subjects, list_entries
from designstudio.fit.pooling.gibbs import Group, Hyperprior, Subjects, Sweeps, run_sweeps, start_group
from designstudio.priors import PriorSet

# Fewer separate draws than this cannot show what the group says about a subject.
MIN_SUPPORTING = 50
# Chains go on, and are thinned to the length that was asked for, until the group has converged or this is reached.
FIRST_REPEATS, MOST_REPEATS = 1, 16
MAX_RHAT, MIN_ESS = 1.01, 400.0
FEWEST_SUBJECTS = 2


def pool_subjects(
    posterior: xr.DataTree,
    model: BehaviorModel,
    *,
    seed: int = 0,
    num_draws: int = 1000,
    num_chains: int = 4,
    assumed: PriorSet | None = None,
) -> xr.DataTree:
    """Partial pooling of the subjects of a group.

    Args:
        posterior: what `fit_datasets` returned, one data set for each subject. Failed fits are left out and named.
        model: the model that was fitted; its fixed parameters have no group.
        seed: of all random numbers. The order of the subjects does not matter.
        num_draws: draws kept from each chain. num_chains: chains.
        assumed: analysis priors from which the group's scale and hyperpriors come, if they are not the model's own.

    Returns:
        A DataTree with the groups

        - `group`: for each parameter `<name>_median`, the value of the median subject, and `<name>_spread`, the standard
            deviation over subjects on the scale of the group (see `designstudio.fit.pooling`);
        - `posterior`: the pooled draws of every subject, laid out as the separate ones;
        - `diagnostics`: for each subject `num_supporting`, the effective number of separate draws that its pooled ones come
            from, and `is_good`, false with a `reason` if they are too few;
        - `convergence`: `rhat` and `ess` of the group's quantities;
        - `excluded`: the subjects that were left out, with the reasons of their fits.

    Raises:
        StudioError: if the posterior was made with another model, or fewer than two fits are good.
    """
    _check_origin(posterior, model)
    is_good: Any = posterior["diagnostics"]["is_good"].values
    if is_good.sum() < FEWEST_SUBJECTS:
        raise StudioError(
            f"A group needs at least {FEWEST_SUBJECTS} subjects with a good fit, but {is_good.sum()} were given."
        )
    # In the order of their numbers, so that the order of subjects in the data changes nothing.
    given = posterior["posterior"].to_dataset().isel(dataset=np.flatnonzero(is_good))
    order = np.argsort(given["dataset"].values, kind="stable")
    entries = list_entries(model, model.priors if assumed is None else assumed)
    separate = given.isel(dataset=order)
    key = jax.random.key(seed)
    sweeps = _run_chains(lay_out_subjects(entries, separate), choose_hyperprior(entries), num_draws, num_chains, key=key)
    restored = np.argsort(order)
    chosen, num_supporting = np.asarray(sweeps.chosen)[..., restored], np.asarray(sweeps.num_supporting)[..., restored]
    excluded = posterior["diagnostics"].to_dataset()[["reason"]].isel(dataset=np.flatnonzero(~is_good))
    tree = xr.DataTree.from_dict(
        {
            "group": _label_group(entries, sweeps.group, given),
            "posterior": _take_draws(given, chosen),
            "diagnostics": _judge_subjects(num_supporting.mean((0, 1)), given),
            "convergence": _check_convergence(entries, sweeps.group),
            "excluded": excluded,
        }
    )
    settings = {"num_draws": num_draws, "num_chains": num_chains}
    tree.attrs = {**posterior.attrs, "settings": json.dumps(settings), "seed": seed}
    return tree


def _check_origin(posterior: xr.DataTree, model: BehaviorModel) -> None:
    """The prior that is divided out must be the one that was multiplied in."""
    ours = {name: str(prior) for name, prior in model.priors.items()}
    theirs = json.loads(posterior.attrs["priors"])
    if ours != theirs or posterior.attrs["cost"] != model.actor.cost.name:
        raise StudioError(
            "The posterior was fitted with another cost or other priors than this model's: give its own model."
        )


def _run_chains(
    subjects: Subjects, hyperprior: Hyperprior, num_draws: int, num_chains: int, *, key: Key[Array, ""]
) -> Sweeps:
    """Sweeps of all chains, the first ones dropped: twice as many, and as many again, until they have converged."""
    group = start_group(subjects, hyperprior, num_chains)
    parts: list[Sweeps] = []

    def go_on(group: Group, number: int) -> Sweeps:
        keys = jax.random.split(jax.random.fold_in(key, number), num_chains)
        return run_sweeps(subjects, hyperprior, group, keys, num_sweeps=num_draws)

    def last(sweeps: Sweeps) -> Group:
        return jax.tree.map(lambda array: array[:, -1], sweeps.group)

    group = last(go_on(group, 0))
    num_repeats = FIRST_REPEATS
    while True:
        while len(parts) < num_repeats:
            parts.append(go_on(group, len(parts) + 1))
            group = last(parts[-1])
        sweeps = _join(parts)
        quantities = _stack(sweeps.group)
        has_converged = compute_rhat(quantities).max() <= MAX_RHAT and compute_ess(quantities).min() >= MIN_ESS
        if has_converged or num_repeats >= MOST_REPEATS:
            return sweeps
        num_repeats *= 2


def _join(parts: list[Sweeps]) -> Any:
    """Sweeps that went on from each other, thinned to the length of one."""
    return jax.tree.map(lambda *arrays: np.concatenate(arrays, axis=1)[:, :: len(parts)], *parts)


def _stack(group: Group) -> np.ndarray:
    """Locations and log spreads, as (quantity, chain, draw)."""
    stacked = np.concatenate([np.asarray(group.location, float), np.log(np.asarray(group.spread, float))], axis=-1)
    return np.moveaxis(stacked, -1, 0)


def _check_convergence(entries: list[Entry], group: Group) -> xr.Dataset:
    draws = _stack(group)
    names = [entry.label(suffix) for suffix in ("median", "spread") for entry in entries]
    variables = {"rhat": ("quantity", compute_rhat(draws)), "ess": ("quantity", compute_ess(draws))}
    return xr.Dataset(variables, coords={"quantity": names})


def _judge_subjects(num_supporting: np.ndarray, given: xr.Dataset) -> xr.Dataset:
    is_good = num_supporting >= MIN_SUPPORTING
    reason = [
        "" if good else f"the group says more about this subject than {num:.0f} separate draws can show"
        for num, good in zip(num_supporting, is_good, strict=True)
    ]
    variables = {"num_supporting": num_supporting, "is_good": is_good, "reason": np.array(reason, dtype="<U160")}
    labels = given[["dataset", "subject"]].coords
    return xr.Dataset({name: ("dataset", values) for name, values in variables.items()}, coords=labels)


def _label_group(entries: list[Entry], group: Group, given: xr.Dataset) -> xr.Dataset:
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


def _take_draws(given: xr.Dataset, chosen: np.ndarray) -> xr.Dataset:
    """The chosen draws, laid out as the separate ones."""
    at = np.moveaxis(chosen, -1, 0)
    rows = np.arange(len(at))[:, None, None]
    variables = {}
    for name, array in given.data_vars.items():
        flat = array.values.reshape(len(at), -1, *array.shape[3:])
        variables[name] = (array.dims, flat[rows, at], array.attrs)
    coords = {str(name): given[name] for name in ("dataset", "subject", "condition")}
    return xr.Dataset(variables, coords={**coords, "chain": np.arange(at.shape[1]), "draw": np.arange(at.shape[2])})
