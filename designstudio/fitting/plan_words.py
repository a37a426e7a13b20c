"""A plan in sentences, for a study file's comments and for the terminal."""

import numpy as np

from designstudio.core.numbers import format_significant
from designstudio.fitting.comparison import NUM_ERRORS, find_errors
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.fit_verdict import find_best
from designstudio.fitting.pilot import PILOT, count_odd_stimuli
from designstudio.fitting.reading.load_report import count
from designstudio.inference.posterior import count_failures
from designstudio.model.costs import get_cost
from designstudio.model.parameters import NO_UNIT, STIMULUS_UNIT, Parameter
from designstudio.model.priors import AbstractPrior, Constant
from designstudio.study import Study

# Of people that a range in words contains: 90 %.
ENDS = (0.05, 0.5, 0.95)


def list_notes(fit: EmpiricalFit, study: Study) -> list[str]:
    """What someone who reads the plan has to know."""
    counts = count_failures(fit.posteriors[study.cost])
    num_failed = counts["num_failed"]
    left_out = f", without {num_failed} whose fits failed" if num_failed else ""
    num_used = count(counts["num_datasets"] - num_failed, "subject")
    notes = [f"Planned from {fit.name or PILOT}: the population is that of its {num_used}{left_out}."]
    notes += _describe_unit(fit, study)
    notes += _describe_lead(fit, study.cost)
    if study.cost in fit.pooled:
        notes.append("How people differ is the group that partial pooling found.")
    else:
        notes.append(
            "How people differ is what makes their separate fits most likely: it is known less well than if pooled."
        )
    pilot = study.design(PILOT)
    if pilot.levels:
        notes.append(f"The levels of {' and '.join(pilot.levels)} are the median subject's, and the same for everyone.")
    odd = count_odd_stimuli(fit.trials, pilot)
    if odd:
        notes.append(f"{count(odd, 'trial')} of the data showed other stimuli than the design lists.")
    guess = f"seconds_per_trial = {pilot.seconds_per_trial:g} is a guess"
    notes.append(f"{guess}: change it, here and in [search.space], to what a trial takes.")
    return notes


def _describe_unit(fit: EmpiricalFit, study: Study) -> list[str]:
    scale = fit.scale
    known = f"Stimuli, responses and all that shares their unit are in {scale.unit}"
    if scale.unit == STIMULUS_UNIT:
        known = "All that has the unit of the stimuli is in that of the data, which does not say which: name it (unit)"
    size = f"; fits and simulations run in units of {scale.actor_unit} (scale)" if scale.factor != 1 else ""
    shares = [p.symbol for p in get_cost(study.cost).all_parameters if p.odds_unit != NO_UNIT and scale.factor != 1]
    of_actor = [f"{share} weighs stimuli in units of {scale.actor_unit}, wherever it stands." for share in shares]
    return [f"{known}{size}.", *of_actor]


def _describe_lead(fit: EmpiricalFit, cost: str) -> list[str]:
    """That another cost predicts better, or that this one leads by less than the data can tell; empty if all is well."""
    best = None if fit.comparison is None else find_best(fit)
    if fit.comparison is None or best is None:
        return []
    total = fit.comparison.total
    rows = zip(total["cost"].values.astype(str), total["difference"].values, find_errors(total), strict=True)
    others = {name: (gap, error) for name, gap, error in rows if name != best}
    if cost != best:
        gap, error = others[cost]
        return [f"{best} predicts the data better than {cost}, by {gap:.1f} ± {error:.1f} nats."]
    near = {name: pair for name, pair in others.items() if not pair[0] > NUM_ERRORS * pair[1]}
    close = [f"{name}, by {gap:.1f} ± {error:.1f} nats" for name, (gap, error) in near.items()]
    if not close:
        return []
    return [
        f"Undecided: {cost} predicts the data best, but is ahead by less than two errors of {'; of '.join(close)}. Plan "
        "with others, too (--cost), or let the next experiment decide between them (candidates)."
    ]


def describe_population(study: Study) -> list[str]:
    """One sentence for each parameter: the middle, and where most people are."""
    pilot = study.design(PILOT)
    sentences = []
    for parameter in study.list_parameters():
        name = f"{parameter.symbol}, {parameter.meaning}"
        if parameter.name in study.population.priors:
            sentences.append(f"{name}: {_format_prior(parameter, study.population.priors[parameter.name])}.")
            continue
        parts = []
        for condition in pilot.conditions:
            if parameter.name in condition.levels:
                parts.append(f"{format_significant(condition.levels[parameter.name])} in {condition.name}")
            elif parameter.name in condition.drawn:
                parts.append(f"{_format_prior(parameter, condition.drawn[parameter.name])} in {condition.name}")
        sentences.append(f"{name}: {'; '.join(parts)}.")
    return sentences


def describe_pilot(study: Study) -> str:
    """The pilot's design in a sentence."""
    pilot = study.design(PILOT)
    conditions = ", ".join(f"{count(c.num_trials, 'trial')} of {c.name}" for c in pilot.conditions)
    stimuli = "; ".join(dict.fromkeys(str(pilot.stimuli_of(condition)) for condition in pilot.conditions))
    unit = f" {study.unit}" if study.unit else ""
    return (
        f"{count(pilot.num_participants, 'participant')}, each with {conditions}; stimuli: {stimuli}{unit}; "
        f"{pilot.minutes:.1f} minutes at {pilot.seconds_per_trial:g} s a trial."
    )


def _format_prior(parameter: Parameter, prior: AbstractPrior) -> str:
    if isinstance(prior, Constant):
        return f"always {format_significant(prior.value)}{_format_unit(parameter)}"
    low, middle, high = (format_significant(float(end)) for end in prior.quantile(np.array(ENDS)))
    return f"{middle}, 90 % of people from {low} to {high}{_format_unit(parameter)}"


def _format_unit(parameter: Parameter) -> str:
    if parameter.unit == NO_UNIT:
        return ""
    return f" {parameter.unit}" if parameter.odds_unit == NO_UNIT else f" ({parameter.unit})"
