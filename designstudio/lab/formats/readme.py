"""What a schedule is and how to run it, as a text for people."""

import textwrap
from collections import Counter
from collections.abc import Sequence

from designstudio.core.fingerprint import hash_json
from designstudio.lab.formats.base import AbstractFormat, count_people
from designstudio.lab.formats.known_values import list_measured, name_known, write_fit_options
from designstudio.lab.schedule import BLOCKED, Schedule
from designstudio.model.parameters import STIMULUS_UNIT
from designstudio.study.design.description import record_design

WIDTH = 100


def write_readme(schedule: Schedule, formats: Sequence[AbstractFormat]) -> str:
    """The README of a schedule in these formats."""
    parts = [
        _title(schedule),
        *(_wrap(note) for note in schedule.notes),
        *_describe_conditions(schedule),
        _describe_order(schedule),
        *_describe_blocks(schedule),
        *_explain_files(schedule, formats),
        f"Design: {hash_json(record_design(schedule.design))} (SHA-256; schedule.json has all options and files).",
    ]
    return "\n\n".join(parts) + "\n"


def describe_order(schedule: Schedule) -> list[str]:
    """How trials are ordered, in sentences."""
    options, num_conditions = schedule.options, len(schedule.design.conditions)
    if num_conditions == 1:
        said = ["All trials are of one condition, in random order."]
    elif options.order == BLOCKED:
        said = [
            "Conditions come in blocks. Their order follows a Williams square over participants: each comes equally often "
            "first, second and so on, and equally often after each other one, as soon as the number of participants is a "
            f"multiple of {num_conditions if num_conditions % 2 == 0 else 2 * num_conditions}."
        ]
    else:
        said = ["Conditions are mixed, in random order."]
    if options.max_repeats is not None:
        alike = "condition or stimulus" if options.order != BLOCKED and num_conditions > 1 else "stimulus"
        said.append(f"No more than {options.max_repeats} in a row have the same {alike}.")
    return said


def _title(schedule: Schedule) -> str:
    design = schedule.design
    title = f"{schedule.study.title}: {design.name}" if schedule.study.title else design.name
    count = (
        f"{count_people(schedule)}, {design.num_trials} trials each, about {design.minutes:.1f} minutes; seed "
        f"{schedule.study.seed}."
    )
    return f"{title}\n{'=' * len(title)}\n\n{count}"


def _describe_conditions(schedule: Schedule) -> list[str]:
    design, unit = schedule.design, schedule.unit
    lines = []
    for condition in design.conditions:
        levels = "".join(f", {name} {value:g}" for name, value in condition.levels.items())
        stimuli = design.stimuli_of(condition)
        lines.append(f"- {condition.name}: {condition.num_trials} trials{levels}; stimuli {stimuli}, in {unit!r}")
    said = ["\n".join(["Conditions:", *lines])]
    if unit == STIMULUS_UNIT:
        said.append(_wrap("What the stimuli are measured in is not said: name it in the study file (unit), or with --unit."))
    if design.levels:
        said.append(
            _wrap(
                f"What {', '.join(design.levels)} means on your screen (a contrast, a blur, a number of dots) has to be "
                "measured beforehand: the lists say which level is wanted, not how to reach it."
            )
        )
    return said


def _describe_order(schedule: Schedule) -> str:
    return _wrap(" ".join(describe_order(schedule)))


def _describe_blocks(schedule: Schedule) -> list[str]:
    if schedule.options.order != BLOCKED or len(schedule.design.conditions) == 1:
        return []
    counts = Counter(trials.block_order for trials in schedule.lists)
    lines = [f"- {', then '.join(order)}: {_count(num)}" for order, num in counts.items()]
    return ["\n".join(["Orders of blocks:", *lines])]


def _explain_files(schedule: Schedule, formats: Sequence[AbstractFormat]) -> list[str]:
    first = schedule.lists[0].subject
    explained = {
        **{of.name_file(first): of.about for of in formats},
        f"data/sub-{first}/": "a Psych-DS table with a column `response`",
        **{name_known(name): f"{name} as the analysis takes it" for name in list_measured(schedule)},
        "schedule.json": "design, seed, options and the SHA-256 of every file",
    }
    width = max(map(len, explained)) + 4
    files = [f"{name:{width}}{about}" for name, about in explained.items()]
    if schedule.options.simulates:
        fill = "The column `response` holds SIMULATED responses, to try out the analysis."
    else:
        fill = (
            f"Write each response into the column `response` of the participant's table, in {schedule.unit!r}; leave it "
            "empty where there was none."
        )
    return ["\n".join(["Files:", *files]), _wrap(fill), *_explain_analysis(schedule)]


def _explain_analysis(schedule: Schedule) -> list[str]:
    """The next step: the analysis that was planned."""
    said, measured = [], list_measured(schedule)
    if measured and not schedule.options.simulates:
        tables = ", ".join(map(name_known, measured))
        said.append(
            f"The analysis takes {', '.join(measured)} as measured beforehand. Put what you have measured into {tables}: a "
            "row for each condition, participant (column subject), or both."
        )
    command = " ".join(["designstudio fit . --record RECORD", *write_fit_options(schedule, "")])
    said.append(
        "Then analyse the data as planned, typed in this folder, where RECORD is the folder that designstudio preregister "
        "has written; without one, give --study STUDY.toml --design NAME in place of --record RECORD:"
    )
    return [*map(_wrap, said), f"    {command}"]


def _count(num: int) -> str:
    return f"{num} participant{'' if num == 1 else 's'}"


def _wrap(text: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDTH))
