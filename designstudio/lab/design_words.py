"""A design as plain data, for records and schedules: what happens to one participant, however many there are."""

from typing import Any

from designstudio.errors import StudioError
from designstudio.fitting.reading.cells import is_missing, tidy_label
from designstudio.model.priors import AbstractPrior
from designstudio.study.design import Condition, Design
from designstudio.study.schema.priors import write_prior
from designstudio.study.schema.toml_text import write_value


def describe_design(design: Design) -> dict[str, Any]:
    """All that a participant of the design goes through."""
    return {
        "name": design.name,
        "seconds_per_trial": float(design.seconds_per_trial),
        "conditions": [_describe_condition(design, condition) for condition in design.conditions],
    }


def format_prior(prior: AbstractPrior) -> str:
    """A prior as a study file says it, with all its digits."""
    return write_value(write_prior(prior))


def label_condition(name: str) -> str:
    """The name of a condition as it comes back from a table."""
    return tidy_label(name.strip())


def check_labels(design: Design) -> None:
    """Refuse names of conditions that a table of trials cannot hold.

    Raises:
        StudioError: naming the condition.
    """
    labels: dict[str, str] = {}
    for condition in design.conditions:
        label = label_condition(condition.name)
        if is_missing(label):
            raise StudioError(f"The condition {condition.name!r} would be read as a missing value: give it another name.")
        if label in labels:
            raise StudioError(
                f"The conditions {labels[label]!r} and {condition.name!r} would be read as one: rename one of them."
            )
        labels[label] = condition.name


def _describe_condition(design: Design, condition: Condition) -> dict[str, Any]:
    return {
        "name": condition.name,
        "trials": condition.num_trials,
        "levels": {name: float(value) for name, value in condition.levels.items()},
        "drawn_anew": {name: format_prior(prior) for name, prior in condition.population.items()},
        "stimuli": design.stimuli_of(condition).as_dict(),
    }
