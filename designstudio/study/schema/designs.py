"""Designs, their conditions and their stimuli in a study file."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from designstudio.errors import StudioError
from designstudio.model.priors import AbstractPrior
from designstudio.study.design import PRESETS, Condition, Design, get_preset
from designstudio.study.schema.context import Context
from designstudio.study.schema.entry import Entry
from designstudio.study.schema.kinds import LINES, POSITIVE, Field, JsonSchema, Kind, ListOf, Name, Text, Whole
from designstudio.study.schema.priors import ValueOrPrior, parameter_fields
from designstudio.study.schema.record import Record
from designstudio.study.stimuli import DISTRIBUTIONS, Stimuli

_LIKE = 'a table such as { distribution = "uniform", low = 0.25, high = 5.0 }'
_NAME = Field("name", Text(), "What tables and figures call it.")
_LENGTH = (
    Field("seconds_per_trial", POSITIVE, "How long a trial takes.", unit="seconds"),
    Field("participants", Whole(1), "How many people take part.", attribute="num_participants"),
)


def stimuli_record() -> Record:
    """The keys of stimuli."""
    return Record(
        Stimuli,
        (
            Field("distribution", Name("distribution of stimuli", DISTRIBUTIONS), "How stimuli are distributed."),
            Field("low", POSITIVE, "Smallest stimulus; not for a list.", unit="stimulus unit"),
            Field("high", POSITIVE, "Largest stimulus; not for a list.", unit="stimulus unit"),
            Field("num_values", Whole(2), "How many values a grid has."),
            Field("values", ListOf(POSITIVE, "numbers"), "The values of a list.", unit="stimulus unit"),
        ),
        words=_LIKE,
        definition="stimuli",
    )


def condition_record(context: Context, name: str = "") -> Record:
    """A condition; `name` is what it is called unless it says so itself."""

    def build(num_trials: int, name: str = name, stimuli: Stimuli | None = None, **own: Any) -> Condition:
        drawn = {key: value for key, value in own.items() if isinstance(value, AbstractPrior)}
        return Condition(name, num_trials, {key: own[key] for key in own if key not in drawn}, drawn, stimuli)

    own = parameter_fields(
        context.simulated.values(),
        lambda parameter: ValueOrPrior(parameter, is_level=True),
        lambda condition, key: condition.levels.get(key, condition.population.get(key)),
    )
    fields = (
        Field("name", Text(), 'What tables and figures call it; by default "all trials" or "level 1", "level 2" and so on.'),
        Field("trials", Whole(1), "How often a participant responds in it.", attribute="num_trials", is_required=True),
        Field("stimuli", stimuli_record(), "What is shown; by default the design's."),
    )
    return Record(Condition, (*fields, *own), build, "a table such as { trials = 45 }")


@dataclasses.dataclass(frozen=True)
class Conditions(Kind):
    """The conditions of a design, which have names even if the file gives them none."""

    context: Context

    @property
    def words(self) -> str:
        return "a list of conditions, such as [{ trials = 45, sigma = 0.1 }, { trials = 45, sigma = 0.2 }]"

    def read(self, entry: Entry) -> tuple[Condition, ...]:
        items = entry.items(self.words.removeprefix("a list of "))
        if not items:
            raise entry.error("A design needs at least one condition, such as { trials = 90 }.")
        names = ["all trials"] if len(items) == 1 else [f"level {number}" for number in range(1, len(items) + 1)]
        return tuple(condition_record(self.context, name).read(item) for item, name in zip(items, names, strict=True))

    def write(self, value: Sequence[Condition]) -> list[Any]:
        return [condition_record(self.context).write(condition) for condition in value]

    def table(self) -> Record:
        return condition_record(self.context)

    def schema(self) -> JsonSchema:
        return {"type": "array", "items": self.table().schema(), "minItems": 1}


def design_record(context: Context) -> Record:
    """A design in full."""

    def build(conditions: tuple[Condition, ...], stimuli: Stimuli | None = None, **given: Any) -> Design:
        own = [condition.stimuli for condition in conditions]
        shown = stimuli or context.stimuli
        if shown is None and None in own:
            raise StudioError("No stimuli: give this design its own, or add a section [stimuli] for all designs.")
        # A design whose conditions all have stimuli needs none of its own, but a Design has some.
        return Design(conditions=conditions, stimuli=shown or next(filter(None, own)), **given)

    name = dataclasses.replace(_NAME, is_required=True)
    stimuli = Field("stimuli", stimuli_record(), "What is shown; by default that of the section [stimuli].")
    conditions = Field(
        "conditions", Conditions(context), "In the order in which they are reported.", is_required=True, layout=LINES
    )
    return Record(Design, (name, *_LENGTH, stimuli, conditions), build)


def preset_record() -> Record:
    """A published design."""
    preset = Field("preset", Name("preset", PRESETS), "A published design to start from.", is_required=True)
    return Record(
        Design, (preset, _NAME, *_LENGTH), lambda preset, **given: dataclasses.replace(get_preset(preset), **given)
    )


@dataclasses.dataclass(frozen=True)
class DesignTable(Kind):
    """A design, in full or by the name of a published one."""

    context: Context

    @property
    def words(self) -> str:
        return "a design"

    def read(self, entry: Entry) -> Design:
        is_preset = isinstance(entry.value, dict) and "preset" in entry.value
        design: Design = (preset_record() if is_preset else design_record(self.context)).read(entry)
        return design

    def write(self, value: Design) -> dict[str, Any]:
        return design_record(self.context).write(value)

    def table(self) -> Record:
        return design_record(self.context)

    def schema(self) -> JsonSchema:
        return {"oneOf": [design_record(self.context).schema(), preset_record().schema()]}
