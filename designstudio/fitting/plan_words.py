"""A plan in sentences, for a study file's comments and for the terminal."""

import numpy as np

from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.pilot import PILOT
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
    unit = f"1 unit = {fit.scale.actor_unit}" if fit.scale.factor != 1 else f"stimuli and mu_0 are in {fit.scale.unit}"
    notes.append(f"Everything here is in the unit of the actor: {unit}.")
    if study.cost in fit.pooled:
        notes.append("How people differ is the group that partial pooling found.")
    else:
        notes.append(
            "How people differ is what makes their separate fits most likely: it is known less well than if pooled."
        )
    pilot = study.design(PILOT)
    if pilot.levels:
        notes.append(f"The levels of {' and '.join(pilot.levels)} are the median subject's, and the same for everyone.")
    guess = f"seconds_per_trial = {pilot.seconds_per_trial:g} is a guess"
    notes.append(f"{guess}: change it, here and in [search.space], to what a trial takes.")
    return notes


def describe_population(fit: EmpiricalFit, study: Study) -> list[str]:
    """One sentence for each parameter: the middle, and where most people are."""
    pilot = study.design(PILOT)
    sentences = []
    for parameter in get_cost(study.cost).all_parameters:
        name = f"{parameter.symbol}, {parameter.meaning}"
        if parameter.name in study.population.priors:
            sentences.append(f"{name}: {_format_prior(fit, parameter, study.population.priors[parameter.name])}.")
            continue
        parts = []
        for condition in pilot.conditions:
            if parameter.name in condition.levels:
                parts.append(f"{condition.levels[parameter.name]:.3g} in {condition.name}")
            elif parameter.name in condition.population:
                parts.append(f"{_format_prior(fit, parameter, condition.population[parameter.name])} in {condition.name}")
        sentences.append(f"{name}: {'; '.join(parts)}.")
    return sentences


def describe_pilot(study: Study) -> str:
    """The pilot's design in a sentence."""
    pilot = study.design(PILOT)
    conditions = ", ".join(f"{count(c.num_trials, 'trial')} of {c.name}" for c in pilot.conditions)
    stimuli = "; ".join(dict.fromkeys(str(pilot.stimuli_of(condition)) for condition in pilot.conditions))
    return (
        f"{count(pilot.num_participants, 'participant')}, each with {conditions}; stimuli: {stimuli}; "
        f"{pilot.minutes:.1f} minutes at {pilot.seconds_per_trial:g} s a trial."
    )


def _format_prior(fit: EmpiricalFit, parameter: Parameter, prior: AbstractPrior) -> str:
    if isinstance(prior, Constant):
        return f"always {prior.value:.3g}{_format_unit(fit, parameter)}"
    low, middle, high = (float(end) for end in prior.quantile(np.array(ENDS)))
    return f"{middle:.3g}, 90 % of people from {low:.3g} to {high:.3g}{_format_unit(fit, parameter)}"


def _format_unit(fit: EmpiricalFit, parameter: Parameter) -> str:
    if parameter.unit == NO_UNIT:
        return ""
    return f" {parameter.unit.replace(STIMULUS_UNIT, f'× {fit.scale.actor_unit}')}"
