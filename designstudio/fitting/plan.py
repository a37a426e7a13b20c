"""From a pilot to a plan: who was fitted becomes who is simulated, what was run becomes a design to beat.

The study is in the unit of the data, and names it; `scale` is the fit's, so that the actor sees both alike.

See `designstudio.fitting.population_summary` for what becomes of each parameter.
"""

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from designstudio.core.cache import BlockCache
from designstudio.core.presentation import AbstractResult, Overview
from designstudio.core.progress import ProgressCallback
from designstudio.errors import StudioError, UnknownNameError
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.group_moments import pick_good
from designstudio.fitting.pilot import PILOT, collect_stimuli, describe_pilot, describe_space
from designstudio.fitting.population_summary import stretch_prior, summarize_population
from designstudio.metrics.monte_carlo import Score, score_mean
from designstudio.model.actors import ExactActor
from designstudio.model.costs import get_cost
from designstudio.model.likelihood.lapses import LAPSE_RATE
from designstudio.model.parameter_entries import split_label
from designstudio.model.parameters import STIMULUS_UNIT
from designstudio.study import Analysis, Known, Population, SearchPlan, Study
from designstudio.study.study import AMORTIZED, EXACT

if TYPE_CHECKING:
    import pandas as pd

PRECISION_COLUMNS = ("", "unit", "planned", "achieved", "achieved / planned")


@dataclasses.dataclass(frozen=True, repr=False)
class Plan(AbstractResult):
    """The study that a pilot suggests, and how well it predicts the pilot.

    Attributes:
        fit: of the pilot.
        study: its population, its design, and a search for a better one.
        notes: what someone who reads the study has to know.
        precision: planned against achieved, as `compare_precision` gives it; None if that was not asked for.
    """

    fit: EmpiricalFit
    study: Study
    notes: tuple[str, ...]
    precision: xr.Dataset | None

    def overview(self) -> Overview:
        """Planned against achieved precision."""
        rows = () if self.precision is None else tuple(tabulate_precision(self.precision))
        return Overview(
            title=self.study.title,
            facts="Posterior sd: planned, and achieved with subjects." if rows else "Not compared with the pilot.",
            columns=PRECISION_COLUMNS,
            rows=rows,
            notes=self.notes,
            hint="The study: .study, for evaluate, search and write_study. All numbers: .to_frame(). Figure: .plot().",
        )

    def to_frame(self) -> "pd.DataFrame":
        """One row a quantity: predicted and achieved posterior sd with their errors, and the ratio."""
        if self.precision is None:
            raise StudioError("This plan was not compared with its pilot: plan with num_datasets of at least 10.")
        return self.precision.to_dataframe().reset_index()


def tabulate_precision(precision: xr.Dataset) -> Iterator[tuple[str, ...]]:
    """A row for each quantity: symbol, unit, planned, achieved, and the ratio, with their errors."""
    pairs = (("predicted_sd", "predicted_mcse"), ("achieved_sd", "achieved_se"), ("ratio", "ratio_se"))
    for k in range(precision.sizes["quantity"]):
        row = precision.isel(quantity=k)
        cells = (str(Score(float(row[value]), float(row[error]))) for value, error in pairs)
        yield str(row["symbol"].item()), str(row["unit"].item()), *cells


def plan_study(fit: EmpiricalFit, cost: str | None = None, *, title: str = "") -> Study:
    """The study that a fit of real data suggests: its population, its design, and a search for a better one.

    Args:
        fit: of the pilot.
        cost: which of the fits; by default the one that predicts best.
        title: of the study; by default it names the data.

    Raises:
        StudioError: if the cost was not fitted, none is the best, or no subject could be fitted.
    """
    cost = choose_cost(fit, cost)
    model, posterior = fit.models[cost], fit.posteriors[cost]
    summary = summarize_population(model, posterior, fit.pooled.get(cost)).stretch(model, fit.scale)
    pilot = describe_pilot(fit.trials, summary.levels, summary.own)
    assumed = {p.name: model.priors[p.name] for p in model.parameters if p.name in model.free and p.name != LAPSE_RATE.name}
    parameters = {parameter.name: parameter for parameter in model.parameters}
    has_unit = fit.scale.unit != STIMULUS_UNIT or fit.scale.factor != 1
    return Study(
        cost,
        (pilot,),
        title=title or _choose_title(fit, cost),
        actor=_choose_actor(fit, cost),
        unit=fit.scale.unit if has_unit else "",
        scale=fit.scale.factor if has_unit else None,
        population=Population(summary.population, lapse_rate=_find_lapse_rate(fit, cost)),
        analysis=Analysis(
            priors={
                name: stretch_prior(prior, fit.scale.size_of(parameters[name]))
                for name, prior in assumed.items()
                if prior != parameters[name].analysis
            },
            known={name: Known() for name in model.fixed if name != LAPSE_RATE.name},
            per_condition=model.per_condition,
            lapses=fit.request.lapses,
            pools=fit.request.pools,
            group_spread=fit.request.pooling.spread_share,
            group_spreads={n: share for n, share in fit.request.pooling.spread_shares.items() if n in parameters},
        ),
        seed=fit.request.seed,
        search=SearchPlan(describe_space(pilot, summary.fitted_sigma, np.concatenate(collect_stimuli(fit.trials)))),
    )


def choose_cost(fit: EmpiricalFit, cost: str | None = None) -> str:
    """The cost that was asked for, the only one, or the one that predicts best.

    Raises:
        StudioError: if it was not fitted, or none is the best.
    """
    if cost is not None:
        if cost not in fit.models:
            raise UnknownNameError("cost of this fit", cost, fit.models)
        return cost
    if len(fit.models) == 1:
        return next(iter(fit.models))
    total = None if fit.comparison is None else fit.comparison.total["elpd"]
    if total is None or not np.isfinite(total.values).any():
        raise StudioError(
            f"Several costs were fitted and none is known to be the best: name one of {', '.join(fit.models)}."
        )
    return str(total["cost"].values[int(np.nanargmax(total.values))])


def _find_lapse_rate(fit: EmpiricalFit, cost: str) -> float:
    """The share of trials that are lapses, over the subjects whose fit can be used."""
    tree = fit.posteriors[cost]
    if "lapses" not in tree:
        return 0.0
    is_good = tree["diagnostics"].to_dataset()["is_good"].values
    return round(float(np.nanmean(tree["lapses"].to_dataset()["probability"].values[is_good])), 3)


def _choose_actor(fit: EmpiricalFit, cost: str) -> str:
    """The actor of the fit: the package's own, the exact one, or a file that the request names for this cost."""
    own = getattr(fit.request, "actors", {}).get(cost)
    if own is not None:
        return str(own)
    return EXACT if isinstance(fit.models[cost].actor, ExactActor) else AMORTIZED


def _choose_title(fit: EmpiricalFit, cost: str) -> str:
    title = f"Planned from {fit.name or PILOT}, {cost}"
    return "".join(letter if letter.isprintable() else " " for letter in title)


def compare_precision(
    fit: EmpiricalFit,
    study: Study,
    *,
    cost: str | None = None,
    num_datasets: int = 100,
    fidelity: str = "importance",
    cache: BlockCache | None = None,
    progress: ProgressCallback | None = None,
) -> xr.Dataset:
    """Planned against achieved: how precisely subjects were fitted, and how precisely the plan says they would be.

    Both are of separate fits, even if the subjects were pooled as well.

    Args:
        fit: of the pilot.
        study: its plan, with the design `pilot`.
        cost: which of the fits; by default the plan's.
        num_datasets: simulated participants.
        fidelity: how they are fitted.
        cache: where finished work is kept.
        progress: called as work gets done.

    Returns:
        A Dataset over `quantity`, in the unit of the data (the coordinate `unit` says where that is not so): `predicted_sd`
        and `predicted_mcse`, the mean posterior sd of simulated participants and its Monte Carlo error; `achieved_sd` and
        `achieved_se`, the mean posterior sd of subjects and its standard error; `ratio`, achieved over predicted, and
        `ratio_se`.
    """
    cost = choose_cost(fit, study.cost if cost is None else cost)
    evaluation = evaluate_design(
        study, study.design(PILOT), fidelity=fidelity, num_datasets=num_datasets, cache=cache, progress=progress
    )
    summaries = evaluation.summaries.isel(dataset=np.flatnonzero(evaluation.summaries["is_good"].values))
    draws = pick_good(fit.posteriors[cost])
    parameters = {parameter.name: parameter for parameter in get_cost(cost).all_parameters}
    rows, units, names = [], [], [str(name) for name in summaries["parameter"].values]
    for name in names:
        entry = summaries.sel(quantity=name)
        parameter = parameters[str(entry["base"].item())]
        values = draws[parameter.name]
        if "condition" in values.dims:
            place = [condition.name for condition in study.design(PILOT).conditions].index(split_label(name)[1])
            values = values.isel(condition=place)
        achieved = score_mean(values.astype(float).std(("chain", "draw"), ddof=1).values)
        size = fit.scale.size_of(parameter)
        units.append(fit.scale.name_unit(parameter))
        rows.append([*score_mean(entry["sd"].values), *(size * number for number in achieved)])
    predicted, predicted_error, achieved_sd, achieved_error = np.array(rows).reshape(-1, 4).T
    ratio = achieved_sd / predicted
    error = ratio * np.hypot(predicted_error / predicted, achieved_error / achieved_sd)
    columns = {
        "predicted_sd": predicted,
        "predicted_mcse": predicted_error,
        "achieved_sd": achieved_sd,
        "achieved_se": achieved_error,
        "ratio": ratio,
        "ratio_se": error,
    }
    symbols = summaries.sel(quantity=names)["symbol"].values
    return xr.Dataset(
        {name: ("quantity", values) for name, values in columns.items()},
        coords={"quantity": names, "symbol": ("quantity", symbols), "unit": ("quantity", units)},
        attrs={
            "cost": cost,
            "fidelity": fidelity,
            "num_simulated": summaries.sizes["dataset"],
            "num_subjects": draws.sizes["dataset"],
        },
    )
