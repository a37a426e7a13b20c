"""Pool subjects: trials and separate posteriors in, the group and its subjects out, labelled and checked."""

import json
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Key

from designstudio.core.progress import Counter, ProgressCallback
from designstudio.core.randomness import make_generator, make_key
from designstudio.errors import StudioError
from designstudio.inference.diagnostics import WeightCheck, check_weights, resample
from designstudio.inference.hierarchical.group import SampledGroup, sample_group
from designstudio.inference.hierarchical.group_model import Entry, Group, choose_hyperprior, lay_out_draws, list_entries
from designstudio.inference.hierarchical.marginal import choose_particles
from designstudio.inference.hierarchical.members import gather_members
from designstudio.inference.hierarchical.pooling_settings import PoolingSettings
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.packing import NOTHING_FIXED, FixedValue
from designstudio.model.parameter_entries import list_array_entries

FEWEST_SUBJECTS = 2


def pool_subjects(
    posterior: xr.DataTree,
    model: BehaviorModel,
    trials: xr.Dataset,
    *,
    fixed: Mapping[str, FixedValue] = NOTHING_FIXED,
    settings: PoolingSettings | None = None,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> xr.DataTree:
    """Partial pooling of the subjects of a group.

    Args:
        posterior: what `fit_datasets` made of the trials, one data set for each subject. Failed fits are left out and named.
        model: the model that was fitted; its fixed parameters have no group.
        trials: that were fitted. fixed: values of the model's fixed parameters.
        settings: how carefully.
        seed: of all random numbers. The order of the subjects does not matter.
        progress: called now and then.

    Returns:
        A DataTree with the groups

        - `group`: for each parameter `<name>_median`, the value of the median subject, and `<name>_spread`, the standard
            deviation over subjects on the scale of the group (see `designstudio.inference.hierarchical`);
        - `posterior`: the pooled draws of every subject, laid out as the separate ones;
        - `diagnostics`: for each subject `num_supporting`, the effective number of particles that its pooled draws come
            from, and `is_good`, false with a `reason` if they are too few;
        - `convergence`: of the group `khat` and `ess` of its weights, `particle_error`, the error in nats of its log
            likelihood that is due to the number of particles, and `is_good`, false with a `reason` if it cannot be trusted;
        - `excluded`: the subjects that were left out, with the reasons of their fits.

    Raises:
        StudioError: if the posterior was made with another model or from other trials, or fewer than two fits are good.
    """
    settings = PoolingSettings() if settings is None else settings
    _check_origin(posterior, model, trials)
    is_good: Any = posterior["diagnostics"]["is_good"].values
    if is_good.sum() < FEWEST_SUBJECTS:
        raise StudioError(
            f"A group needs at least {FEWEST_SUBJECTS} subjects with a good fit, but {is_good.sum()} were given."
        )
    # In the order of their numbers, so that the order of subjects in the data changes nothing.
    good = np.flatnonzero(is_good)
    rank = np.argsort(trials["dataset"].values[good], kind="stable")
    entries, given = list_entries(model), posterior["posterior"].to_dataset()
    separate = lay_out_draws(entries, given.isel(dataset=good[rank])).mean(axis=-1).T
    members = gather_members(model, trials, fixed, entries, good[rank])
    group_key, resample_key = jax.random.split(make_key(seed, "pooling"))
    # As if it were a number of subjects.
    counter = Counter(progress, len(good))

    def report(share: float) -> None:
        counter.report(int(share * len(good)), "pooling")

    hyperprior = choose_hyperprior(entries, settings)
    sampled = sample_group(members, hyperprior, separate, settings, key=group_key, report=report)
    check = check_weights(np.asarray(sampled.draws.log_weight, float).reshape(1, settings.num_chains, -1))
    group, points, support = _draw_equally(sampled, check, settings.num_draws, seed, key=resample_key)
    report(1.0)
    # Back in the order of the data.
    points, support = np.moveaxis(points[:, :, np.argsort(rank)], (2, 3), (1, 0)), support[np.argsort(rank)]
    given = given.isel(dataset=good)
    tree = xr.DataTree.from_dict(
        {
            "group": label_group(entries, group, given),
            "posterior": label_subjects(entries, points, given),
            "diagnostics": check_subjects(support, given, settings),
            "convergence": check_group(float(check.khat[0]), float(check.ess[0]), support, settings),
            "excluded": posterior["diagnostics"].to_dataset()[["reason"]].isel(dataset=np.flatnonzero(~is_good)),
        }
    )
    tree.attrs = {**posterior.attrs, "settings": json.dumps(settings.as_dict()), "seed": seed}
    return tree


def _check_origin(posterior: xr.DataTree, model: BehaviorModel, trials: xr.Dataset) -> None:
    """Separate and pooled estimates can only be compared if they are about the same."""
    ours = {name: str(prior) for name, prior in model.priors.items()}
    theirs = json.loads(posterior.attrs["priors"])
    if ours != theirs or posterior.attrs["cost"] != model.actor.cost.name:
        raise StudioError(
            "The posterior was fitted with another cost or other priors than this model's: give its own model."
        )
    numbers: Any = posterior["posterior"]["dataset"].values
    if not np.array_equal(numbers, trials["dataset"].values):
        raise StudioError("The posterior is that of other data sets than these trials: give its own trials.")


def _draw_equally(
    sampled: SampledGroup, check: WeightCheck, num_draws: int, seed: int, *, key: Key[Array, ""]
) -> tuple[Group, Float[np.ndarray, "chain draw subject entry"], Float[np.ndarray, " subject"]]:
    """Equally weighted groups, the subjects of each, and how many particles each subject was chosen from."""
    _, num_chains, num_weighted = check.log_weight.shape
    rng = make_generator(seed, "pooling")
    chosen = (resample(check.log_weight, num_draws, [rng])[0] + num_weighted * np.arange(num_chains)[:, None]).ravel()
    flat = Group(*(np.asarray(array)[chosen] for array in sampled.draws.group))
    chosen_particle, support = choose_particles(sampled.particles, flat, key)
    points = sampled.particles.points[np.arange(len(support)), np.asarray(chosen_particle)]
    # What a subject's data do not speak of is what the group says.
    anywhere = flat.location[:, None] + flat.spread[:, None] * rng.normal(size=points.shape)
    points = np.where(sampled.particles.has, points, anywhere)
    group = Group(*(array.reshape(num_chains, num_draws, -1) for array in flat))
    return group, points.reshape(num_chains, num_draws, *points.shape[1:]).astype(float), np.asarray(support, float)


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
