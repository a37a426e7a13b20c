"""Designs, their conditions and their stimuli in a study file."""

import dataclasses
from typing import Any

from designstudio.model.costs import AbstractCost
from designstudio.study.design import PRESETS, Condition, Design, Stimuli, get_preset
from designstudio.study.entry import Entry
from designstudio.study.prior_entries import parameters_by_name, read_range, read_value
from designstudio.study.stimuli import DISTRIBUTIONS

_STIMULI_KEYS = ("distribution", "low", "high", "num_values", "values")
_DESIGN_KEYS = ("name", "preset", "seconds_per_trial", "participants", "stimuli", "conditions")
_PRESET_KEYS = ("preset", "name", "seconds_per_trial", "participants")
_CONDITION_KEYS = ("name", "trials", "stimuli")


def read_designs(entry: Entry, stimuli: Stimuli | None, cost: AbstractCost) -> tuple[Design, ...]:
    """All designs.

    Args:
        entry: the list of designs.
        stimuli: what a design shows that has none of its own.
        cost: what simulated participants minimise; conditions may set or draw its parameters.
    """
    return tuple(_read_design(section, stimuli, cost) for section in entry.sections())


def read_stimuli(entry: Entry) -> Stimuli:
    """A distribution of stimuli."""
    table = entry.table(_STIMULI_KEYS, like='a table such as { distribution = "uniform", low = 0.25, high = 5.0 }')
    given: dict[str, Any] = {}
    if "distribution" in table:
        given["distribution"] = table["distribution"].choose("distribution of stimuli", DISTRIBUTIONS)
    for key in ("low", "high"):
        if key in table:
            given[key] = table[key].positive()
    if "num_values" in table:
        given["num_values"] = table["num_values"].whole_number(2)
    if "values" in table:
        given["values"] = tuple(item.positive() for item in table["values"].items("numbers"))
    with entry.explain():
        return Stimuli(**given)


def _read_design(entry: Entry, stimuli: Stimuli | None, cost: AbstractCost) -> Design:
    is_preset = isinstance(entry.value, dict) and "preset" in entry.value
    table = entry.table(*((_PRESET_KEYS, ["preset"]) if is_preset else (_DESIGN_KEYS, ["name", "conditions"])))
    given: dict[str, Any] = {}
    if "name" in table:
        given["name"] = table["name"].text()
    if "seconds_per_trial" in table:
        given["seconds_per_trial"] = table["seconds_per_trial"].positive()
    if "participants" in table:
        given["num_participants"] = table["participants"].whole_number(1)
    if is_preset:
        preset = get_preset(table["preset"].choose("preset", PRESETS))
        with entry.explain():
            return dataclasses.replace(preset, **given)
    conditions = _read_conditions(table["conditions"], cost)
    if "stimuli" in table:
        stimuli = read_stimuli(table["stimuli"])
    if stimuli is None and any(condition.stimuli is None for condition in conditions):
        raise entry.error("No stimuli: give this design its own, or add a section [stimuli] for all designs.")
    with entry.explain():
        return Design(conditions=conditions, stimuli=stimuli or _first_stimuli(conditions), **given)


def _first_stimuli(conditions: tuple[Condition, ...]) -> Stimuli:
    """Some stimuli for a design that shows none of its own, because every condition has them."""
    return next(condition.stimuli for condition in conditions if condition.stimuli is not None)


def _read_conditions(entry: Entry, cost: AbstractCost) -> tuple[Condition, ...]:
    items = entry.items("conditions, such as [{ trials = 45, sigma = 0.1 }, { trials = 45, sigma = 0.2 }]")
    if not items:
        raise entry.error("A design needs at least one condition, such as { trials = 90 }.")
    names = ["all trials"] if len(items) == 1 else [f"level {number}" for number in range(1, len(items) + 1)]
    return tuple(_read_condition(item, name, cost) for item, name in zip(items, names, strict=True))


def _read_condition(entry: Entry, name: str, cost: AbstractCost) -> Condition:
    parameters = parameters_by_name(cost)
    table = entry.table((*_CONDITION_KEYS, *parameters), required=["trials"], like="a table such as { trials = 45 }")
    own = {key: item for key, item in table.items() if key in parameters}
    with entry.explain():
        return Condition(
            name=table["name"].text() if "name" in table else name,
            num_trials=table["trials"].whole_number(1),
            levels={key: read_value(item, parameters[key]) for key, item in own.items() if not isinstance(item.value, dict)},
            population={key: read_range(item, parameters[key]) for key, item in own.items() if isinstance(item.value, dict)},
            stimuli=read_stimuli(table["stimuli"]) if "stimuli" in table else None,
        )
