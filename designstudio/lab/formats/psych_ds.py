"""A Psych-DS data set: one table for each participant, with a column for the responses that is still to be filled.

Its tables are what `designstudio fit` reads. Simulated responses are called so wherever Psych-DS has a place for it: in the
names of the files, in a column, and in the descriptions of the data set and of its variables.
"""

import re
from typing import Any

from designstudio.fitting.reading.columns import GROUP
from designstudio.lab.formats.base import UNIT, Row, count_people, make_row, write_csv
from designstudio.lab.schedule import Schedule, TrialList
from designstudio.lab.text_folder import write_pretty
from designstudio.model.parameters import NO_UNIT, STIMULUS_UNIT

ORIGIN, SIMULATED = "origin", "simulated"


def name_table(schedule: Schedule, trials: TrialList) -> str:
    """Path of a participant's table; the standard allows letters and digits only."""
    task = re.sub("[^A-Za-z0-9]", "", schedule.design.name) or "experiment"
    label = f"_description-{SIMULATED}" if schedule.options.simulates else ""
    return f"data/sub-{trials.subject}/subject-{trials.subject}_task-{task}{label}_data.csv"


def write_table(schedule: Schedule, trials: TrialList) -> str:
    """A participant's table."""
    rows: list[Row] = []
    for trial in trials.trials:
        row = {"subject": trials.subject, **make_row(schedule, trials, trial), "response": trial.response}
        rows.append(row | ({ORIGIN: SIMULATED} if schedule.options.simulates else {}))
    return write_csv(rows)


def write_sidecar(schedule: Schedule) -> str:
    """What the columns of a table mean."""
    return write_pretty({"@context": "https://schema.org/", "variableMeasured": describe_variables(schedule)})


def write_description(schedule: Schedule) -> str:
    """The description of the data set."""
    design = schedule.design
    name = f"{schedule.study.title}: {design.name}" if schedule.study.title else design.name
    about = (
        f"{count_people(schedule)}, {design.num_trials} trials each, in {len(design.conditions)} conditions, "
        f"{schedule.options.order}; scheduled by designstudio with seed {schedule.study.seed}."
    )
    if schedule.options.simulates:
        name = f"SIMULATED: {name}"
        about = f"SIMULATED responses, not data of people. {about}"
    return write_pretty(
        {
            "@context": "https://schema.org/",
            "@type": "Dataset",
            "name": name,
            "description": about,
            "variableMeasured": describe_variables(schedule),
        }
    )


def describe_variables(schedule: Schedule) -> list[dict[str, Any]]:
    """Every column with its meaning and, where it has one, its unit."""
    unit, study = schedule.unit, schedule.study
    parameters = {parameter.name: parameter for parameter in study.list_parameters(study.population.cost)}
    response = "the participant's response; empty where there is none"
    if schedule.options.simulates:
        response = "SIMULATED response, drawn from the study's population: not data of people"
    variables = [
        _describe("subject", "who: the number of the list" + (", after the group" if schedule.groups else "")),
        *([_describe(GROUP, "whose member the participant is")] if schedule.groups else []),
        _describe("trial", "place in the list, counted from 1"),
        _describe("block", "place of the block, counted from 1"),
        _describe("condition", "name of the condition"),
        *(
            _describe(name, f"{parameters[name].meaning}, set by the experimenter", parameters[name].unit)
            for name in schedule.design.levels
        ),
        _describe("stimulus", "what is shown", unit),
        *([] if unit == STIMULUS_UNIT else [_describe(UNIT, "what stimulus and response are measured in")]),
        _describe("seconds", "planned length of the trial", "s"),
        _describe("response", response, unit),
    ]
    origin = _describe(ORIGIN, f"where the response comes from: {SIMULATED!r} by designstudio")
    return variables + ([origin] if schedule.options.simulates else [])


def _describe(name: str, description: str, unit: str = NO_UNIT) -> dict[str, Any]:
    described = {"@type": "PropertyValue", "name": name, "description": description}
    return described if unit == NO_UNIT else {**described, "unitText": unit}
