"""Paragraphs about designs and simulated participants."""

from collections.abc import Mapping, Sequence

from designstudio.model.costs import get_cost
from designstudio.report.assumptions import describe_population
from designstudio.report.formatting import count, join_words
from designstudio.study import Study
from designstudio.study.design import Design
from designstudio.viz.families import name_cost
from designstudio.viz.search_labels import label_parameter


def join_designs(study: Study, designs: Sequence[Design]) -> str:
    """Designs with their trials, levels and stimuli."""
    symbols = {p.name: p.symbol for p in get_cost(study.population.cost or study.cost).all_parameters}
    return "; ".join(_describe_design(design, symbols, f" {study.unit}" if study.unit else "") for design in designs)


def name_unit(study: Study) -> str:
    """A sentence about the unit of a study, if it has one, after a space."""
    if not study.unit:
        return ""
    return (
        f" Stimuli, responses and parameters that share their unit are given in {study.unit}; simulations and fits ran in "
        f"units of {study.conversion.actor_unit}."
    )


def describe_levels(levels: Sequence[Mapping[str, float]]) -> str:
    """What conditions set, in a few words after a space."""
    said = [f"{label_parameter(name).symbol} = {value:g}" for level in levels for name, value in level.items()]
    return f" at {join_words(said)}" if said else ""


def describe_participants(study: Study, designs: Sequence[Design], levels: Sequence[str] = ()) -> str:
    """Who was simulated: their cost, parameters and slips."""
    cost = get_cost(study.population.cost or study.cost)
    set_by_design = {name for design in designs for name in design.levels} | set(levels)
    own = {name for design in designs for name in design.drawn_parameters}
    symbols = {parameter.name: parameter.symbol for parameter in cost.all_parameters}
    values = describe_population(study, set_by_design, own)
    said = [f"{symbols[name]} {_describe_source(value)}" for name, value in values.items()]
    slips = [
        f"{rate:.1%} of the trials were {kind}"
        for rate, kind in ((study.population.lapse_rate, "lapses"), (study.population.outlier_rate, "outliers"))
        if rate
    ]
    tail = f"; {join_words(slips)}" if slips else ""
    return (
        f"they minimised the {name_cost(cost.name)} cost, {cost.formula}, and their parameters were {join_words(said)}{tail}"
    )


def _describe_design(design: Design, symbols: Mapping[str, str], unit: str) -> str:
    """A design with its trials, levels and stimuli."""
    parts = []
    for condition in design.conditions:
        levels = [f"{symbols.get(name, name)} = {value:g}" for name, value in condition.levels.items()]
        at = f" at {join_words(levels)}" if levels else ""
        own = f" with stimuli {condition.stimuli}{unit}" if condition.stimuli is not None else ""
        factors = [f"{symbols.get(name, name)} was {factor}" for name, factor in condition.factors.items()]
        where = f" where {join_words(factors)}" if factors else ""
        parts.append(f"{condition.num_trials}{at}{own}{where}")
    only = parts[0].partition(" ")[2]
    detail = f" ({join_words(parts)})" if len(parts) > 1 else f" {only}" if only else ""
    people = f", {design.num_participants} participants" if design.num_participants > 1 else ""
    shared = f", stimuli {design.stimuli}{unit}" if any(c.stimuli is None for c in design.conditions) else ""
    return f"{design.name}, with {count(design.num_trials, 'trial')} per participant{detail}{people}{shared}"


def _describe_source(value: str) -> str:
    if value.startswith("always "):
        return f"= {value.removeprefix('always ')}"
    return f"~ {value}" if "(" in value else value
