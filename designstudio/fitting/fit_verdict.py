"""What a fit to real data says, in sentences: who won, what may be believed, and what speaks against it.

The same sentences end the command's output and stand in JSON, report and browser.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from designstudio.core.numbers import format_significant
from designstudio.evaluate.edges import measure_ends
from designstudio.fitting.comparison import find_errors, is_total_decided
from designstudio.fitting.predictive_checks import UNLIKELY
from designstudio.model.likelihood.lapses import LAPSE_RATE
from designstudio.model.parameter_entries import ParameterEntry, list_parameter_entries
from designstudio.model.parameters import Parameter, Role
from designstudio.model.scale import name_unit, suffix_unit

if TYPE_CHECKING:
    from designstudio.fitting.empirical_fit import EmpiricalFit

# Share of a posterior at an end of its prior, beyond what the prior itself has there, from which on it is named.
MUCH_AT_END = 0.25
# Share of the prior's variance that data must take away from a noise, or it is the prior's.
LEAST_CONTRACTION = 0.25
STRONG_CORRELATION = 0.8
MOST_NAMED = 3
NOISES = (Role.PERCEPTUAL_NOISE, Role.MOTOR_NOISE, Role.PRIOR_SPREAD)


def conclude_fit(fit: "EmpiricalFit") -> list[str]:
    """Sentences, the most important first."""
    best = find_best(fit)
    sentences = [_describe_winner(fit)]
    if best is None:
        return sentences
    if not _are_good(fit, best).any():
        return [*sentences, f"No fit under the {best} cost can be used: nothing is said about its parameters."]
    return [
        *sentences,
        *_describe_lapses(fit, best),
        *_describe_ends(fit, best),
        *_describe_prior_noise(fit, best),
        *_describe_pairs(fit, best),
        *_describe_predictions(fit, best),
    ]


def find_best(fit: "EmpiricalFit") -> str | None:
    """The only cost, or the one that predicts best, decided or not; None if nothing could be compared."""
    if fit.comparison is None:
        return next(iter(fit.posteriors))
    elpd = fit.comparison.total["elpd"]
    return str(elpd["cost"].values[int(np.nanargmax(elpd.values))]) if np.isfinite(elpd.values).any() else None


def _describe_winner(fit: "EmpiricalFit") -> str:
    if fit.comparison is None:
        return f"One cost was fitted, {next(iter(fit.posteriors))}: whether another predicts responses better is not known."
    total, best = fit.comparison.total, find_best(fit)
    if best is None:
        return "Undecided: no subject could be fitted under every cost."
    costs = total["cost"].values
    second = int(np.nanargmax(np.where(costs == best, np.nan, total["elpd"].values)))
    lead, error = float(total["difference"].values[second]), float(find_errors(total)[second])
    ahead = f"ahead of {costs[second]}, the next, by {lead:.1f} ± {error:.1f} nats"
    close = fit.comparison.num_close
    subjects = f" In {close} of the subjects the draws do not tell which cost is ahead." if close else ""
    if is_total_decided(total):
        return f"{best} predicts left-out trials best, {ahead}.{subjects}"
    return f"Undecided: {best} is {ahead}, less than two errors.{subjects}"


def _describe_lapses(fit: "EmpiricalFit", cost: str) -> list[str]:
    tree = fit.posteriors[cost]
    if "lapses" not in tree:
        return []
    probability = tree["lapses"].to_dataset()["probability"].values[_are_good(fit, cost)]
    with np.errstate(invalid="ignore"):
        num, num_all = int((probability > 0.5).sum()), int(np.isfinite(probability).sum())
    if not num:
        return ["No trial is more likely a lapse than not."]
    named = ", ".join(f"{one.subject} trial {one.trial}" for one in list_lapses(fit, cost)[:MOST_NAMED])
    return [f"{num} of {num_all} trials are more likely lapses than not ({named}{', ...' if num > MOST_NAMED else ''})."]


class Lapse(NamedTuple):
    """One trial that may be a lapse; numbers of trials begin with 1, and are those of the subject's rows that were kept."""

    subject: str
    trial: int
    stimulus: float
    response: float
    probability: float


def list_lapses(fit: "EmpiricalFit", cost: str, *, least: float = 0.5) -> list[Lapse]:
    """Trials that are probably lapses, the most probable first."""
    tree = fit.posteriors[cost]
    if "lapses" not in tree:
        return []
    probability = np.nan_to_num(tree["lapses"].to_dataset()["probability"].values)
    # A fit that failed tells nothing about its trials.
    probability[~_are_good(fit, cost)] = 0.0
    stimulus, response = (fit.trials[name].values for name in ("stimulus", "response"))
    places = sorted(np.argwhere(probability > least).tolist(), key=lambda at: -probability[at[0], at[1]])
    return [
        Lapse(fit.subjects[i], t + 1, float(stimulus[i, t]), float(response[i, t]), float(probability[i, t]))
        for i, t in places
    ]


def _describe_ends(fit: "EmpiricalFit", cost: str) -> list[str]:
    """Posteriors that lie at an end of their prior: the end may be the answer, not the data."""
    sentences = []
    for entry, draws in _list_draws(fit, cost):
        masses, prior_masses = measure_ends(fit.models[cost], entry.name, draws)
        for k, end in enumerate(("low", "high")):
            with np.errstate(invalid="ignore"):
                who = np.flatnonzero(_are_good(fit, cost) & (masses[:, k] > MUCH_AT_END + prior_masses[k]))
            if len(who):
                support = fit.models[cost].priors[entry.name].support
                parameter = _find(fit, cost, entry.name)
                limit = format_significant(float(fit.scale.restore(np.array(getattr(support, end)), parameter)))
                limit += suffix_unit(name_unit(parameter, fit.scale.unit))
                sentences.append(
                    f"{_label(fit, entry)} lies at the {end} end of its prior, {limit}, in "
                    f"{_name(fit, cost, who)}: the prior may be the answer there, not the data."
                )
    return sentences


def _describe_prior_noise(fit: "EmpiricalFit", cost: str) -> list[str]:
    """Noises about which the data say little."""
    sentences = []
    roles = {parameter.name: parameter.role for parameter in fit.models[cost].parameters}
    for entry, draws in _list_draws(fit, cost):
        if roles[entry.name] not in NOISES:
            continue
        prior = fit.models[cost].priors[entry.name].quantile((np.arange(500) + 0.5) / 500)
        who = np.flatnonzero(_are_good(fit, cost) & (1 - draws.var(axis=1) / prior.var() < LEAST_CONTRACTION))
        if len(who):
            sentences.append(f"{_label(fit, entry)} is left to its prior by the data in {_name(fit, cost, who)}.")
    return sentences


def _describe_pairs(fit: "EmpiricalFit", cost: str) -> list[str]:
    """Prior and cost that trade off against each other."""
    model = fit.models[cost]
    location = model.family.find(Role.PRIOR_LOCATION)
    draws = {entry: np.log(np.maximum(values, 1e-12)) for entry, values in _list_draws(fit, cost)}
    places = [entry for entry in draws if location is not None and entry.name == location.name]
    costs = [entry for entry in draws if entry.name in {parameter.name for parameter in model.actor.cost.parameters}]
    sentences = []
    for one in places:
        for other in costs:
            a, b = (draws[entry] - draws[entry].mean(axis=1, keepdims=True) for entry in (one, other))
            size = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
            correlation = (a * b).sum(axis=1) / np.maximum(size, 1e-12)
            who = np.flatnonzero(_are_good(fit, cost) & (np.abs(correlation) > STRONG_CORRELATION))
            if len(who):
                typical = float(np.median(correlation[who]))
                sentences.append(
                    f"{_label(fit, one)} and {_label(fit, other)} are confounded in {_name(fit, cost, who)} (correlation "
                    f"{typical:.2f}): neither alone can be believed."
                )
    return sentences


def _describe_predictions(fit: "EmpiricalFit", best: str) -> list[str]:
    """What no candidate, or not the best, reproduces."""
    p = fit.predictive["p"]
    words = {
        "curvature": "bend with the stimulus",
        "spread": "scatter more or less with the stimulus",
        "previous stimulus": "depend on the stimulus before",
        "previous response": "depend on the response before",
    }
    sentences = []
    for check, what in words.items():
        here = p.sel(check=check)
        own = float(here.sel(cost=best))
        if not own < UNLIKELY:
            continue
        fitting = [str(cost) for cost in here["cost"].values if float(here.sel(cost=cost)) >= UNLIKELY]
        p_value = f"p {'< ' if own < 0.005 else '= '}{max(own, 0.005):.2g}"
        if fitting:
            sentences.append(f"Responses {what} as {best} does not reproduce ({p_value}), but {_join(fitting)} does.")
        elif check == "curvature":
            sentences.append(
                f"Responses {what} as no candidate reproduces ({best}: {p_value}): the winner may win for its shape alone, "
                "and its parameters mean little."
            )
        else:
            sentences.append(
                f"Responses {what}, which no candidate explains ({best}: {p_value}): intervals may be too narrow."
            )
    return sentences


def _join(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _list_draws(fit: "EmpiricalFit", cost: str) -> list[tuple[ParameterEntry, np.ndarray]]:
    """Draws of every number but the lapse rate, over (subject, draw), in the actor's unit."""
    posterior = fit.posteriors[cost]["posterior"].to_dataset()
    found = []
    for entry in list_parameter_entries(fit.models[cost]):
        if entry.name != LAPSE_RATE.name:
            values = entry.pick(posterior[entry.name]).transpose("dataset", "chain", "draw").values.astype(float)
            found.append((entry, values.reshape(len(values), -1)))
    return found


def _find(fit: "EmpiricalFit", cost: str, name: str) -> Parameter:
    return next(parameter for parameter in fit.models[cost].parameters if parameter.name == name)


def _label(fit: "EmpiricalFit", entry: ParameterEntry) -> str:
    return entry.label(fit.conditions)


def _are_good(fit: "EmpiricalFit", cost: str) -> np.ndarray:
    good: np.ndarray = fit.posteriors[cost]["diagnostics"].to_dataset()["is_good"].values.astype(bool)
    return good


def _name(fit: "EmpiricalFit", cost: str, who: np.ndarray) -> str:
    """Subjects, by number and name, of those whose fit can be used."""
    num, names = int(_are_good(fit, cost).sum()), [fit.subjects[i] for i in who]
    if len(names) == num:
        return f"all {num} subjects" if num > 1 else "the only subject"
    shown = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
    return f"{len(names)} of {num} subjects ({shown})"
