"""Models to fit: one for each cost of a request, with the values that it takes as known, in the actor's unit."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from designstudio.errors import DataError, StudioError, UnknownNameError
from designstudio.fitting.request import FitRequest
from designstudio.fitting.units import convert_fixed, convert_prior
from designstudio.model.actors import AbstractActor, ExactActor, load_actor, zoo_paths
from designstudio.model.costs import get_cost
from designstudio.model.costs.base import AbstractClosedFormCost
from designstudio.model.likelihood.lapses import FREE_LAPSES, LAPSE_RATE, NO_LAPSES, check_lapses
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameters import analysis_priors, check_prior_in_box, check_within
from designstudio.model.priors import Constant
from designstudio.model.scale import Scale


class CostModel(NamedTuple):
    """The model of one cost, and its fixed values over (dataset, condition)."""

    model: BehaviorModel
    fixed: dict[str, xr.DataArray]


def build_models(request: FitRequest, trials: xr.Dataset, scale: Scale) -> dict[str, CostModel]:
    """One model for each cost; a request that the data or a cost do not allow is refused before anything is fitted.

    Args:
        request: what is wanted.
        trials: one data set for each subject, in either unit.
        scale: between the unit of the data and the actor's.

    Raises:
        StudioError: naming what was given and what is allowed.
    """
    check_request(request, trials)
    return {cost: _build_model(cost, request, trials, scale) for cost in request.costs}


def check_request(request: FitRequest, trials: xr.Dataset) -> None:
    """Refuse what no fit of these data could be.

    Raises:
        StudioError: naming what was given and what is allowed.
    """
    if not request.costs:
        raise StudioError("No cost was named: choose at least one.")
    repeated = [cost for cost in request.costs if request.costs.count(cost) > 1]
    if repeated:
        raise StudioError(f"The cost {repeated[0]!r} was named twice: name each once.")
    check_lapses(request.lapses)
    names = list(dict.fromkeys(p.name for cost in request.costs for p in get_cost(cost).all_parameters))
    names += [LAPSE_RATE.name] if request.lapses == FREE_LAPSES else []
    for name in (*request.fixed, *request.per_condition, *request.priors, *request.pooling.spread_shares):
        if name not in names:
            raise UnknownNameError("parameter", name, names)
    for name, prior in request.priors.items():
        if name in request.fixed:
            raise StudioError(f"The parameter {name!r} is fixed and has a prior: choose one.")
        if isinstance(prior, Constant):
            raise StudioError(f"The prior of {name!r} is the constant {prior.value:g}: fix the parameter instead.")
    if request.seed < 0:
        raise StudioError(f"The seed must be 0 or more, but {request.seed} was given.")
    if request.pools and trials.sizes["dataset"] < 2:
        raise DataError("There is one subject only, but pooling needs at least two: leave it out.")


def _build_model(cost: str, request: FitRequest, trials: xr.Dataset, scale: Scale) -> CostModel:
    actor = find_actor(cost, request)
    parameters = {parameter.name: parameter for parameter in (*actor.cost.all_parameters, LAPSE_RATE)}
    priors = {
        name: convert_prior(prior, parameters[name], scale) if request.on_data_scale else prior
        for name, prior in request.priors.items()
        if name in parameters
    } | dict(request.own_priors.get(cost, {}))
    for name, prior in priors.items():
        ends = prior.quantile(np.array([0.0001, 0.9999]))
        check_within(f"The prior of {name}", ends, parameters[name].support, excludes_zero=True)
        if name in actor.parameter_boxes:
            check_prior_in_box(f"The prior of {name} in the actor's unit", prior, actor.parameter_boxes[name])
    fixed = {
        name: convert_fixed(value, parameters[name], trials, scale)
        for name, value in request.fixed.items()
        if name in parameters
    }
    for name, values in fixed.items():
        numbers = values.values[np.isfinite(values.values)]
        check_within(f"The fixed {name}", numbers, parameters[name].support, excludes_zero=True)
    has_lapses, is_known = request.lapses != NO_LAPSES, isinstance(request.lapses, int | float)
    if is_known:
        fixed[LAPSE_RATE.name] = convert_fixed(float(request.lapses), LAPSE_RATE, trials, scale)
    model = BehaviorModel(
        actor,
        num_conditions=trials.sizes["condition"],
        per_condition=tuple(name for name in request.per_condition if name in parameters),
        fixed=tuple(fixed),
        priors=analysis_priors((*actor.cost.all_parameters, *((LAPSE_RATE,) if has_lapses else ()))).replace(**priors),
        has_lapses=has_lapses,
    )
    return CostModel(model, fixed)


def find_actor(cost: str, request: FitRequest) -> AbstractActor:
    """The actor of a cost: the request's own, or the package's, or the exact one if it needs no numerical solution.

    A request may ask for exact actors of all costs.

    Raises:
        StudioError: if there is none.
    """
    if cost in request.actors:
        actor = load_actor(request.actors[cost])
        if actor.cost.name != cost:
            raise StudioError(f"The actor {request.actors[cost].name!r} was trained for {actor.cost.name!r}, not {cost!r}.")
        return actor
    if request.is_exact:
        return ExactActor(get_cost(cost))
    if cost in zoo_paths():
        return load_actor(cost)
    found = get_cost(cost)
    if not isinstance(found, AbstractClosedFormCost):
        raise StudioError(
            f"There is no trained actor for the cost {cost!r}: train one with designstudio train and give its file."
        )
    return ExactActor(found)
