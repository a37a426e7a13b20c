"""Tables of what the analysis takes as measured: one for each such parameter, to be filled with what was measured.

`designstudio fit --fixed` reads them. Levels that the experimenter sets stand there as they were planned; a rehearsal has
what its simulated participants have.
"""

from designstudio.evaluate.experiment import prepare_experiment
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
        experiment = prepare_experiment(schedule.study, design, first=0, num_datasets=len(subjects))
        parameter = next(p for p in experiment.fitted.parameters if p.name == name)
        values = experiment.scale.restore(experiment.fixed[name], parameter)
        if "condition" not in values.dims:
            return [{"subject": subject, name: float(value)} for subject, value in zip(subjects, values.values, strict=True)]
        own = values.transpose("dataset", "condition").values
        labels = [label_condition(condition.name) for condition in design.conditions]
        return [
            {"subject": subject, "condition": label, name: float(own[i, k])}
            for i, subject in enumerate(subjects)
            for k, label in enumerate(labels)
        ]
    if name in design.levels:
        return [{"condition": label_condition(c.name), name: float(c.levels[name])} for c in design.conditions]
    return [{"subject": subject, name: None} for subject in subjects]
