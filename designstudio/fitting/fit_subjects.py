"""Fit every subject under every cost, and compare.

Costs are fitted one after the other, all subjects of a cost in one batch. With a folder, each cost is written as soon as it
is finished; the same data, request and code then find it there, and a run that was stopped goes on.
"""

import time
from collections.abc import Callable
from pathlib import Path

import xarray as xr

from designstudio.core.progress import Counter, ProgressCallback
from designstudio.errors import StudioError
from designstudio.fitting.compare_costs import compare_costs
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.fit_condition_groups import fit_condition_groups
from designstudio.fitting.models import CostModel, build_models
from designstudio.fitting.planned import PlannedAnalysis
from designstudio.fitting.posterior_cache import PosteriorCache, fingerprint_cost
from designstudio.fitting.reading import LoadedData, choose_scale
from designstudio.fitting.request import FitRequest
from designstudio.inference.hierarchical import pool_subjects
from designstudio.model.scale import Scale
from designstudio.model.trials import save_trials

SECONDS = "seconds"
Maker = Callable[[], xr.DataTree]


def fit_subjects(
    loaded: LoadedData,
    request: FitRequest,
    *,
    name: str = "",
    folder: Path | str | None = None,
    scale: Scale | None = None,
    plan: PlannedAnalysis | None = None,
    progress: ProgressCallback | None = None,
) -> EmpiricalFit:
    """Fit all subjects under all costs.

    Args:
        loaded: what `designstudio.fitting.reading.read_data` returned.
        request: what is fitted.
        name: of the data.
        folder: where finished costs are kept, and looked for; by default nowhere. See `designstudio.fitting.fit_folder`.
        scale: between the unit of the data and the actor's; by default what suits the data.
        plan: the analysis that was planned, if this is one.
        progress: called with a `Progress` after every batch: it counts subjects, once for each cost.

    Raises:
        StudioError: if the request does not fit the data; nothing has been fitted or written then.
    """
    scale = choose_scale(loaded.trials) if scale is None else scale
    trials = scale.apply(loaded.trials)
    prepared = build_models(request, trials, scale)
    cache = PosteriorCache(None if folder is None else Path(folder))
    if cache.folder is not None:
        save_trials(loaded.trials, cache.folder / "trials.nc")
    run = _Run(trials, request, cache, progress)
    posteriors: dict[str, xr.DataTree] = {}
    pooled: dict[str, xr.DataTree] = {}
    notes = [*filter(None, [scale.note]), *_describe_conditions(request, trials)]
    for cost, one in prepared.items():
        posteriors[cost] = run.fit(cost, one)
        if request.pools:
            try:
                pooled[cost] = run.pool(cost, one, posteriors[cost])
                notes += _describe_group(cost, pooled[cost])
            except StudioError as error:
                notes.append(f"The subjects could not be pooled under the {cost} cost: {error}")
        run.num_finished += 1
    started = time.monotonic()
    comparison = compare_costs(posteriors) if len(posteriors) > 1 else None
    seconds = time.monotonic() - started + sum(tree.attrs[SECONDS] for tree in (*posteriors.values(), *pooled.values()))
    models = {cost: one.model for cost, one in prepared.items()}
    return EmpiricalFit(
        name,
        loaded.trials,
        loaded.report,
        scale,
        request,
        models,
        posteriors,
        pooled,
        comparison,
        float(seconds),
        tuple(notes),
        plan,
    )


def _describe_group(cost: str, pooled: xr.DataTree) -> list[str]:
    """What speaks against trusting a group."""
    convergence = pooled["convergence"].to_dataset()
    if convergence["is_good"]:
        return []
    return [f"The group under the {cost} cost is not to be trusted: {convergence['reason'].item()}."]


def _describe_conditions(request: FitRequest, trials: xr.Dataset) -> list[str]:
    if trials.sizes["condition"] == 1:
        return []
    if not request.per_condition:
        return ["All parameters that are not fixed are shared by the conditions."]
    return [f"The conditions differ in {', '.join(request.per_condition)}; all else is shared by them."]


class _Run:
    """One call of `fit_subjects`: the fits of all costs, and how far they are."""

    def __init__(
        self, trials: xr.Dataset, request: FitRequest, cache: PosteriorCache, progress: ProgressCallback | None
    ) -> None:
        self._trials, self._request, self._cache = trials, request, cache
        self._counter = Counter(progress, trials.sizes["dataset"] * len(request.costs))
        self.num_finished = 0

    def fit(self, cost: str, prepared: CostModel) -> xr.DataTree:
        """The separate fits under one cost."""
        key = fingerprint_cost(prepared, self._trials, self._request)
        return self._find_or_make("posterior", cost, key, lambda: self._sample(cost, prepared))

    def pool(self, cost: str, prepared: CostModel, posterior: xr.DataTree) -> xr.DataTree:
        """The pooled fits under one cost."""

        def make() -> xr.DataTree:
            return pool_subjects(
                posterior,
                prepared.model,
                self._trials,
                fixed=prepared.fixed,
                settings=self._request.pooling,
                seed=self._request.seed,
                progress=self._report(f"{cost}, pooling"),
            )

        key = fingerprint_cost(prepared, self._trials, self._request, is_pooled=True)
        return self._find_or_make("pooled", cost, key, make)

    def _find_or_make(self, kind: str, cost: str, key: str, make: Maker) -> xr.DataTree:
        found = self._cache.find(kind, cost, key)
        if found is not None:
            return found
        started = time.monotonic()
        made = make()
        made.attrs[SECONDS] = time.monotonic() - started
        self._cache.put(kind, cost, key, made)
        return made

    def _sample(self, cost: str, prepared: CostModel) -> xr.DataTree:
        return fit_condition_groups(
            prepared.model,
            self._trials,
            fixed=prepared.fixed,
            settings=self._request.settings,
            seed=self._request.seed,
            progress=self._report(cost),
        )

    def _report(self, stage: str) -> ProgressCallback | None:
        place = f"cost {self.num_finished + 1} of {len(self._request.costs)}, {stage}"
        return self._counter.of_part(self.num_finished * self._trials.sizes["dataset"], place, is_alone=True)
