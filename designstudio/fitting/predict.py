"""What fits predict: responses, the cost of errors, and where prior means lie, all in the unit of the data.

A model with lapses predicts lapses, too: bands and predictive probabilities are those of the mixture.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float
from scipy import special

from designstudio.core.randomness import make_generator
from designstudio.errors import StudioError, UnknownNameError
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.units import count_trials
from designstudio.metrics.intervals import compute_interval
from designstudio.model.costs import AbstractCost
from designstudio.model.likelihood.lapses import LAPSE_RATE, find_lapse_range
from designstudio.model.likelihood.model import BehaviorModel, Values
from designstudio.model.parameter_entries import split_label

PROBABILITIES = (0.03, 0.25, 0.5, 0.75, 0.97)
# Responses between the outermost of them are inside the band.
BAND = PROBABILITIES[-1] - PROBABILITIES[0]
NUM_DRAWS, NUM_POINTS = 1000, 50
# Simulated responses for each draw and stimulus.
NUM_REPEATS = 4
ERRORS = (0.5, 2.0)


def predict_responses(
    fit: EmpiricalFit,
    cost: str,
    subject: str,
    *,
    num_points: int = NUM_POINTS,
    num_draws: int = NUM_DRAWS,
    seed: int = 0,
) -> xr.Dataset:
    """Posterior predictive check of one subject under one cost.

    Args:
        fit: of all subjects. cost: which. subject: who.
        num_points: stimuli, from the subject's smallest to the largest, evenly in log units.
        num_draws: posterior draws that predictions are averaged over.
        seed: of the noise.

    Returns:
        A Dataset, of the conditions in which the subject has trials, with

        - `response` over (condition, stimulus, probability): quantiles of responses to come;
        - `stimulus_shown`, `response_given`, `condition_index` and `pit` over (trial): every observed trial, and the
          posterior predictive probability of a smaller response; uniform from 0 to 1 if the model is right;
        - `share_inside` over (condition): of observed responses between the outermost quantiles, `share_inside_se` its
          standard error if the model is right, and `num_trials`; the attribute `expected_inside` is what to expect, and
          `has_lapses` says whether lapses are among what is predicted.
    """
    place, model, shown = _find(fit, cost, subject)
    participants = spread_draws(fit, cost, place, num_draws)
    response: Any = model.family.response
    is_present = fit.trials["is_present"].values[place]
    stimuli, responses, index = (
        fit.trials[name].values[place][is_present] for name in ("stimulus", "response", "condition_index")
    )
    # Where lapses may lie, on the response's scale.
    least, width = find_lapse_range(response.encode(responses / fit.scale.factor), np.ones(responses.shape, bool))
    rng = make_generator(seed, "predicted responses", place)
    grid = np.geomspace(stimuli.min(), stimuli.max(), num_points)
    quantiles = np.empty((len(shown), num_points, len(PROBABILITIES)))
    pit = np.empty(len(stimuli))
    counts, inside = np.zeros(len(shown), int), np.zeros(len(shown))
    for row, k in enumerate(shown):
        own = {name: values[:, k] for name, values in participants.items()}
        repeated = {name: np.repeat(values, NUM_REPEATS) for name, values in own.items()}
        # All stimuli share their noise, which makes quantiles smooth over stimuli and no less exact.
        shared = rng.standard_normal((2, num_draws * NUM_REPEATS, 1))
        actions = _act(model, repeated, grid / fit.scale.factor, shared[0])
        predicted = response.respond(actions, _widen(repeated), shared[1])
        if model.has_lapses:
            has_lapsed, where = rng.random((2, num_draws * NUM_REPEATS, 1))
            predicted = np.where(has_lapsed < _widen(repeated)[LAPSE_RATE.name], least + width * where, predicted)
        quantiles[row] = fit.scale.factor * response.decode(np.quantile(predicted, PROBABILITIES, axis=0).T)
        is_in = index == k
        own_noise = rng.standard_normal((num_draws, int(is_in.sum())))
        actions = _act(model, own, stimuli[is_in] / fit.scale.factor, own_noise)
        given = response.encode(responses[is_in] / fit.scale.factor)
        # The motor noise is averaged exactly, and so are lapses; only measurements are simulated.
        below = special.ndtr((given - actions) / response.noise_scale(_widen(own)))
        if model.has_lapses:
            rate = _widen(own)[LAPSE_RATE.name]
            below = (1 - rate) * below + rate * np.clip((given - least) / width, 0, 1)
        pit[is_in] = below.mean(axis=0)
        counts[row] = is_in.sum()
        inside[row] = np.mean((pit[is_in] > PROBABILITIES[0]) & (pit[is_in] < PROBABILITIES[-1]))
    attrs = {"units": fit.scale.unit}
    return xr.Dataset(
        {
            "response": (("condition", "stimulus", "probability"), quantiles, attrs),
            "stimulus_shown": ("trial", stimuli, attrs),
            "response_given": ("trial", responses, attrs),
            "condition_index": ("trial", np.searchsorted(shown, index)),
            "pit": ("trial", pit),
            "share_inside": ("condition", inside),
            "share_inside_se": ("condition", np.sqrt(BAND * (1 - BAND) / counts)),
            "num_trials": ("condition", counts),
        },
        coords={
            "condition": [fit.conditions[k] for k in shown],
            "stimulus": ("stimulus", grid, attrs),
            "probability": list(PROBABILITIES),
        },
        attrs={"cost": cost, "subject": subject, "expected_inside": BAND, "has_lapses": model.has_lapses},
    )


def infer_cost_function(
    fit: EmpiricalFit, cost: str, subject: str, *, num_points: int = 101, num_draws: int = NUM_DRAWS
) -> xr.Dataset:
    """The inferred cost of responses from half to twice the subject's mean stimulus.

    Costs can be multiplied and shifted without consequence, so those of every draw are shifted to 0 at the right response
    and divided by their largest. Below 0 are responses that cost less than the right one: effort can do that.

    Returns:
        A Dataset over (error) = response / stimulus, or over (condition, error) if the cost differs between conditions:
        `median`, and `low` and `high` of the interval.
    """
    place, model, shown = _find(fit, cost, subject)
    participants = spread_draws(fit, cost, place, num_draws)
    stimuli = fit.trials["stimulus"].values[place][fit.trials["is_present"].values[place]]
    stimulus = float(np.exp(np.log(stimuli).mean()))
    errors = np.geomspace(*ERRORS, num_points)
    function = model.actor.cost
    own_names = [parameter.name for parameter in function.parameters]
    differs = any((participants[name][:, shown] != participants[name][:, shown[:1]]).any() for name in own_names)
    rows = []
    for k in shown if differs else shown[:1]:
        values = {name: jnp.asarray(participants[name][:, k]) for name in own_names}
        found = _evaluate_cost(function, values, jnp.asarray(stimulus / fit.scale.factor), jnp.asarray(errors))
        draws = np.broadcast_to(np.asarray(found, float), (num_draws, num_points + 1))
        shifted = draws[:, 1:] - draws[:, :1]
        scaled = shifted / shifted.max(axis=1, keepdims=True)
        rows.append(np.stack([np.median(scaled, axis=0), *compute_interval(scaled.T, fit.request.interval)]))
    dims = ("condition", "error") if differs else ("error",)
    stacked = np.stack(rows, axis=1) if differs else rows[0]
    coords: dict[str, list] = {"condition": [fit.conditions[k] for k in shown]} if differs else {}
    return xr.Dataset(
        {name: (dims, values) for name, values in zip(("median", "low", "high"), stacked, strict=True)},
        coords={**coords, "error": errors},
        attrs={
            "cost": cost,
            "subject": subject,
            "stimulus": stimulus,
            "units": fit.scale.unit,
            "interval": fit.request.interval,
        },
    )


def compare_prior_means(fit: EmpiricalFit) -> xr.Dataset:
    """The prior mean of every subject under every cost: how much it depends on what is assumed about costs.

    Returns:
        A Dataset over (subject, cost), with (condition) too if it differs between conditions: `mean`, `low` and `high` of
        the interval, and `is_good`.

    Raises:
        StudioError: if it was not estimated.
    """
    summary = fit.summarize()
    location = next(iter(fit.models.values())).family.prior_location
    labels = [label for label in summary["parameter"].values.tolist() if split_label(label)[0] == location.name]
    if not labels:
        raise StudioError(f"The {location.meaning} {location.name} was fixed, so there is nothing to compare.")
    chosen = summary[["mean", "low", "high"]].sel(parameter=labels)
    if labels == [location.name]:
        chosen = chosen.isel(parameter=0, drop=True)
    else:
        chosen = chosen.rename(parameter="condition").assign_coords(condition=fit.conditions)
    is_good = [posterior["diagnostics"].to_dataset()["is_good"].values for posterior in fit.posteriors.values()]
    return chosen.assign(is_good=(("subject", "cost"), np.stack(is_good, axis=1))).assign_attrs(
        units=fit.scale.unit, interval=fit.request.interval
    )


def _find(fit: EmpiricalFit, cost: str, subject: str) -> tuple[int, BehaviorModel, np.ndarray]:
    """Where the subject stands, the cost's model, and the conditions in which the subject has trials."""
    if cost not in fit.models:
        raise UnknownNameError("cost of this fit", cost, fit.models)
    if subject not in fit.subjects:
        raise UnknownNameError("subject", subject, fit.subjects)
    place = fit.subjects.index(subject)
    return place, fit.models[cost], np.flatnonzero(count_trials(fit.trials)[place])


def spread_draws(fit: EmpiricalFit, cost: str, place: int, num_draws: int) -> dict[str, np.ndarray]:
    """Evenly chosen draws of all parameters of a subject, over (draw, condition), in the actor's unit."""
    tree, num_conditions = fit.posteriors[cost], len(fit.conditions)
    posterior, constants = tree["posterior"].to_dataset(), tree["constant_data"].to_dataset()
    spread = {}
    for name in fit.models[cost].free:
        values = posterior[name].isel(dataset=place).values
        values = values.reshape(-1, values.shape[2] if values.ndim == 3 else 1)
        chosen = np.linspace(0, len(values) - 1, num_draws).round().astype(int)
        spread[name] = np.broadcast_to(values[chosen], (num_draws, num_conditions))
    for name in fit.models[cost].fixed:
        known = constants[f"fixed_{name}"].isel(dataset=place).values
        spread[name] = np.broadcast_to(known, (num_draws, num_conditions))
    return spread


def _widen(participants: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Every draw beside all stimuli."""
    return {name: values[:, None] for name, values in participants.items()}


def _act(
    model: BehaviorModel, participants: dict[str, np.ndarray], stimuli: np.ndarray, noise: np.ndarray
) -> Float[np.ndarray, "draw stimulus"]:
    """Actions of every draw for every stimulus, on the response's scale.

    The noise of measurements is standard normal, and shared by all stimuli if it is one wide.
    """
    encoded = model.family.perception.encode(stimuli)
    noise = np.broadcast_to(noise, (len(noise), len(encoded)))
    values = {name: jnp.asarray(own, jnp.float32) for name, own in participants.items()}
    return np.asarray(_act_on_device(model, values, jnp.asarray(encoded, jnp.float32), jnp.asarray(noise)), float)


@eqx.filter_jit
def _act_on_device(
    model: BehaviorModel, participants: Values, stimuli: Float[Array, " stimulus"], noise: Float[Array, "draw stimulus"]
) -> Float[Array, "draw stimulus"]:
    def one(participant: Values, noises: Float[Array, " stimulus"]) -> Float[Array, " stimulus"]:
        policy = model.actor.policy(participant)
        return jax.vmap(policy)(model.family.perception.measure(stimuli, participant, noises))

    return jax.vmap(one)(participants, noise)


@eqx.filter_jit
def _evaluate_cost(
    cost: AbstractCost, values: Values, stimulus: Float[Array, ""], errors: Float[Array, " error"]
) -> Float[Array, "draw error"]:
    """Costs of every draw, of the right response first."""
    responses = stimulus * jnp.concatenate([jnp.ones(1), errors])

    def one(parameters: Values) -> Float[Array, " error"]:
        return jax.vmap(lambda response: cost(response, stimulus, parameters))(responses)

    # Without parameters there is one draw.
    return jax.vmap(one)(values) if values else one(values)[None]
