"""Designs, their conditions and their stimuli in a study file."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from designstudio.errors import StudioError
from designstudio.model.priors import AbstractPrior
from designstudio.study.design import PRESET_UNITS, PRESETS, Condition, Design, get_preset
from designstudio.study.factor import Factor
from designstudio.study.schema.context import Context
from designstudio.study.schema.entry import Entry
from designstudio.study.schema.kinds import LINES, POSITIVE, TEXT, Field, Kind, list_of, one_of, table, whole
from designstudio.study.schema.priors import change_kind, parameter_fields
from designstudio.study.stimuli import DISTRIBUTIONS, Stimuli

_LENGTH = (
    Field("seconds_per_trial", POSITIVE, "How long a trial takes.", unit="seconds"),
    Field("participants", whole(1), "How many people take part.", "num_participants"),
)


def stimuli_kind() -> Kind:
    """What is shown."""
    fields = (
        Field("distribution", one_of("distribution of stimuli", DISTRIBUTIONS), "How stimuli are distributed."),
        Field("low", POSITIVE, "Smallest stimulus; not for a list.", unit="stimulus unit"),
        Field("high", POSITIVE, "Largest stimulus; not for a list.", unit="stimulus unit"),
        Field("num_values", whole(2), "How many values a grid has."),
        Field("values", list_of(POSITIVE, "numbers"), "The values of a list.", unit="stimulus unit"),
    )
    words = 'a table such as { distribution = "uniform", low = 0.25, high = 5.0 }'
    return table(Stimuli, fields, words=words, definition="stimuli")


def condition_kind(context: Context, name: str = "") -> Kind:
    """A condition; `name` is what it is called unless it says so itself."""

    def build(num_trials: int, name: str = name, stimuli: Stimuli | None = None, **own: Any) -> Condition:
        drawn = {key: value for key, value in own.items() if isinstance(value, AbstractPrior | Factor)}
        return Condition(name, num_trials, {key: own[key] for key in own if key not in drawn}, drawn, stimuli)

    own = parameter_fields(
        context.simulated.values(),
        lambda parameter: change_kind(parameter, is_level=True, has_spread=True),
        lambda condition, key: condition.levels.get(key, condition.population.get(key)),
    )
    fields = (
        Field("name", TEXT, 'What tables and figures call it; by default "all trials" or "level 1", "level 2" and so on.'),
        Field("trials", whole(1), "How often a participant responds in it.", "num_trials", is_required=True),
        Field("stimuli", stimuli_kind(), "What is shown; by default the design's."),
    )
    return table(Condition, (*fields, *own), build, words="a table such as { trials = 45 }")


def conditions_kind(context: Context) -> Kind:
    """The conditions of a design, which have names even if the file gives them none."""
    kind = list_of(
        condition_kind(context), "conditions, such as [{ trials = 45, sigma = 0.1 }, { trials = 45, sigma = 0.2 }]"
    )

    def read(entry: Entry) -> tuple[Condition, ...]:
        items: Sequence[Entry] = entry.items(kind.words.removeprefix("a list of "))
        if not items:
            raise entry.error("A design needs at least one condition, such as { trials = 90 }.")
        names = ["all trials"] if len(items) == 1 else [f"level {number}" for number in range(1, len(items) + 1)]
        return tuple(condition_kind(context, name).read(item) for item, name in zip(items, names, strict=True))

    return dataclasses.replace(kind, read=read, schema={**kind.schema, "minItems": 1})


def design_kind(context: Context) -> Kind:
    """A design, in full or by the name of a published one."""

    def build(conditions: tuple[Condition, ...], stimuli: Stimuli | None = None, **given: Any) -> Design:
        own = [condition.stimuli for condition in conditions]
        shown = stimuli or context.stimuli
        if shown is None and None in own:
            raise StudioError("No stimuli: give this design its own, or add a section [stimuli] for all designs.")
        # A design whose conditions all have stimuli needs none of its own, but a Design has some.
        return Design(conditions=conditions, stimuli=shown or next(filter(None, own)), **given)

    conditions = conditions_kind(context)
    name = Field("name", TEXT, "What tables and figures call it.")
    fields = (
        dataclasses.replace(name, is_required=True),
        *_LENGTH,
        Field("stimuli", stimuli_kind(), "What is shown; by default that of the section [stimuli]."),
        Field("conditions", conditions, "In the order in which they are reported.", is_required=True, layout=LINES),
    )
    published = Field("preset", one_of("preset", PRESETS), "A published design to start from.", is_required=True)
    whole_design = table(Design, fields, build)

    def start(preset: str, **given: Any) -> Design:
        unit = PRESET_UNITS.get(preset, "")
        if context.unit not in ("", unit):
            own = repr(unit) if unit else "the actor's unit"
            raise StudioError(
                f"The stimuli of the preset {preset!r} are in {own}, but the study is in {context.unit!r}: write the design "
                "in full, with stimuli in that unit."
            )
        return dataclasses.replace(get_preset(preset), **given)

    preset = table(Design, (published, name, *_LENGTH), start)

    def read(entry: Entry) -> Any:
        return (preset if isinstance(entry.value, dict) and "preset" in entry.value else whole_design).read(entry)

    return dataclasses.replace(whole_design, read=read, schema={"oneOf": [whole_design.schema, preset.schema]})
