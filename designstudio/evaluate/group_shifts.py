"""Groups without the effect of a goal about their middle: everybody is shifted alike until the median person has none."""

import dataclasses

import numpy as np
import xarray as xr

from designstudio.evaluate.experiment import Experiment, restate_participants
from designstudio.evaluate.goals import describe_nearest, name_goal_unit, note_prior, resolve_exclusion
from designstudio.evaluate.group_studies import Members, prepare_people
from designstudio.evaluate.moving import Moved, describe_move, move_people
from designstudio.inference.scales import Scale as Line
from designstudio.model.priors import Constant
from designstudio.model.scale import suffix_unit
from designstudio.study import Goal, Study
from designstudio.study.design import Design
from designstudio.study.factor import Factor


def shift_middle(study: Study, design: Design, goal: Goal, members: Members) -> Members | None:
    """The group with its middle at the goal's value, and its people as different as they are; None if there is no way."""
    name, group = goal.quantity, members.group
    if name in [quantity.name for quantity in study.quantities]:
        return _shift_quantity(study, design, goal, members)
    model = study.build_model(design)
    parameters = {p.name: p for p in study.load_actor(study.population.cost or study.cost).parameters}
    if name not in parameters or name in (*design.levels, *design.own_parameters):
        return None
    value, margin = resolve_exclusion(goal, model, study.conversion)
    # People are simulated in the actor's unit.
    given, value = value, float(study.conversion.convert(value, parameters[name]))
    support, box = Line(parameters[name].support), parameters[name].box
    cost = study.load_actor(study.population.cost or study.cost).cost
    prior = members.study.population.resolve_for_actor(cost, study.conversion)[name]
    if study.population.follows_analysis and name in model.free and name not in members.study.population.priors:
        prior = model.priors[name]
    middle = float(prior.quantile(np.array(0.5))) * group.factors.get(name, 1.0)
    is_inside = box.low < value < box.high
    # At the end of what actors know there is no room for people who differ.
    nearest = min(max(value, box.low), box.high)

    def change(people: xr.Dataset) -> xr.Dataset:
        values = people[name].values
        if is_inside:
            moved = support.backward(
                support.forward(values) + support.forward(np.array(value)) - support.forward(np.array(middle))
            )
            moved = np.clip(moved, box.low, box.high)
        else:
            moved = np.full_like(values, nearest)
        return people.assign({name: (people[name].dims, moved, people[name].attrs)})

    end = given if nearest == value else float(study.conversion.restore(nearest, parameters[name]))
    unit = name_goal_unit(study, goal)
    words = f"the median of {name} is {given:g}{unit}" if is_inside else describe_nearest(name, end, given, unit)
    # Both sentences explain why power and rate are what they are, whatever the design.
    return members._replace(change=change, words=f"{words}{note_prior(name, given, margin, model, study.conversion)}")


def _shift_quantity(study: Study, design: Design, goal: Goal, members: Members) -> Members | None:
    """The group shifted so that its median person went the least way to where a quantity has the goal's value."""
    quantity = next(quantity for quantity in study.quantities if quantity.name == goal.quantity)
    value, _ = resolve_exclusion(goal, study.build_model(design), study.conversion)
    experiment = _find_median_person(study, design, members)
    scale, parameters = experiment.scale, experiment.generative.parameters

    def move(people: xr.Dataset) -> Moved | None:
        return move_people(
            restate_participants(people, parameters, scale),
            quantity,
            value,
            parameters=parameters,
            fitted=experiment.fitted,
            scale=scale,
            given=tuple(design.levels),
        )

    middle = experiment.participants
    moved = move(middle)
    if moved is None:
        return None
    there = restate_participants(moved.people, parameters, scale, undo=True)
    lines = {p.name: (Line(p.support), p.box) for p in parameters if p.name in moved.names}

    def shift(people: xr.Dataset) -> xr.Dataset:
        changed = {}
        for name, (line, box) in lines.items():
            array = people[name]
            away = line.forward(there[name].values) - line.forward(middle[name].values)
            values = np.clip(line.backward(line.forward(array.values) + away), box.low, box.high)
            changed[name] = array.copy(data=values)
        return people.assign(changed)

    def hold(people: xr.Dataset) -> xr.Dataset:
        held = move(people)
        assert held is not None  # noqa: S101  (the median person was moved)
        return restate_participants(held.people, parameters, scale, undo=True)

    if moved.is_there.all():
        names = " and ".join(moved.names)
        where = f"{quantity.name} is {value:g}{suffix_unit(quantity.unit)}"
        words = f"the median person's {names} went the least way to where {where}, and all others with them"
        return members._replace(change=shift, words=words)
    # At the end of what actors know there is no room for people who differ.
    return members._replace(change=hold, words=describe_move(moved, quantity, value))


def _find_median_person(study: Study, design: Design, members: Members) -> Experiment:
    """An experiment with one participant: the group's median in every parameter."""
    population = members.study.population
    cost = study.load_actor(population.cost or study.cost).cost
    priors = dict(population.resolve(cost, study.conversion))
    if population.follows_analysis:
        model = study.build_model(design)
        parameters = {p.name: p for p in model.parameters}
        priors |= {
            name: study.conversion.stretch(prior, parameters[name])
            for name, prior in model.priors.items()
            if name in priors and name not in population.priors
        }
    medians = {name: Constant(float(prior.quantile(np.array(0.5)))) for name, prior in priors.items()}
    conditions = tuple(
        dataclasses.replace(
            condition,
            population={
                name: dataclasses.replace(given, spread=0.0) if isinstance(given, Factor) else given
                for name, given in condition.population.items()
            },
        )
        for condition in design.conditions
    )
    one = members._replace(study=members.study.replace(population=population.replace(priors=medians)))
    return prepare_people(one, dataclasses.replace(design, conditions=conditions), np.zeros(1, int))


def explain_missing(study: Study, design: Design, goal: Goal) -> str:
    """Why the effect of a goal cannot be taken away."""
    if goal.quantity in [quantity.name for quantity in study.quantities]:
        return f"nothing of the simulated participants changes {goal.quantity}"
    if goal.quantity in (*design.levels, *design.own_parameters):
        return f"{goal.quantity} is what conditions make it"
    return f"{goal.quantity} is no parameter of the simulated participants"
