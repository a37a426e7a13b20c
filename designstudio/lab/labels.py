"""Names of conditions as they come back from a table of trials."""

from designstudio.errors import StudioError
from designstudio.fitting.reading.cells import is_missing, tidy_label
from designstudio.study.design import Design


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
