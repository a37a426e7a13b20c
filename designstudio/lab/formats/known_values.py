"""Tables of what the analysis takes as measured: one for each such parameter, to be filled with what was measured.

`designstudio fit --fixed` reads them. Levels that the experimenter sets stand there as they were planned, unless a group
differs in them; a rehearsal has what its simulated participants have.
"""

import numpy as np

from designstudio.evaluate.group_studies import find_everybody, prepare_people
from designstudio.lab.formats.base import Row, write_csv
from designstudio.lab.labels import label_condition
from designstudio.lab.schedule import Schedule


def list_measured(schedule: Schedule) -> list[str]:
    """Parameters that the analysis takes as measured."""
    return [name for name, known in schedule.study.analysis.known.items() if known.value is None]


def name_known(name: str) -> str:
    """Path of the table of a parameter."""
    return f"known_{name}.csv"


def write_known(schedule: Schedule) -> dict[str, str]:
    """The tables, by path."""
    return {name_known(name): write_csv(_list_rows(schedule, name)) for name in list_measured(schedule)}


def write_fit_options(schedule: Schedule, folder: str) -> list[str]:
    """What `designstudio fit` needs to be told about measured parameters, for tables in a folder."""
    return [f"--fixed {name}={folder}{name_known(name)}" for name in list_measured(schedule)]


def _list_rows(schedule: Schedule, name: str) -> list[Row]:
    design, subjects = schedule.design, [trials.subject for trials in schedule.lists]
    if schedule.options.simulates:
        return _list_simulated(schedule, name)
    labels = [label_condition(condition.name) for condition in design.conditions]
    if name not in design.levels:
        return [{"subject": subject, name: None} for subject in subjects]
    if any(name in group.factors for group in schedule.study.groups):
        # What is shown alike is not perceived alike: it has to be measured in everybody.
        return [{"subject": subject, "condition": label, name: None} for subject in subjects for label in labels]
    return [{"condition": label_condition(c.name), name: float(c.levels[name])} for c in design.conditions]


def _list_simulated(schedule: Schedule, name: str) -> list[Row]:
    rows: list[Row] = []
    for members in find_everybody(schedule.study):
        group = members.group.name if schedule.study.groups else ""
        subjects = [trials.subject for trials in schedule.lists if trials.group == group]
        experiment = prepare_people(members, schedule.design, np.arange(len(subjects)))
        parameter = next(p for p in experiment.fitted.parameters if p.name == name)
        values = experiment.scale.restore(experiment.fixed[name], parameter)
        if "condition" not in values.dims:
            rows += [{"subject": who, name: float(value)} for who, value in zip(subjects, values.values, strict=True)]
            continue
        own = values.transpose("dataset", "condition").values
        labels = [label_condition(condition.name) for condition in schedule.design.conditions]
        rows += [
            {"subject": subject, "condition": label, name: float(own[i, k])}
            for i, subject in enumerate(subjects)
            for k, label in enumerate(labels)
        ]
    return rows
