"""Names of conditions and of participants, as tables of trials and names of files hold them."""

import re
from collections.abc import Sequence

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


def label_participant(number: int, group: str = "") -> str:
    """What a participant is called, counted from 0; the standard of the data's folder allows letters and digits only."""
    return f"{re.sub('[^A-Za-z0-9]', '', group)}{number + 1:02d}"


def check_participants(labels: Sequence[str], groups: Sequence[str]) -> None:
    """Refuse groups whose participants would be called alike.

    Raises:
        StudioError: naming the groups.
    """
    found: dict[str, str] = {}
    for label, group in zip(labels, groups, strict=True):
        # On some machines names of files know no capitals.
        other = found.setdefault(label.lower(), group)
        if other != group:
            raise StudioError(
                f"Participants of the groups {other!r} and {group!r} would both be called {label!r}, because only letters "
                "and digits of a group's name can be in names of files: rename one of the groups."
            )
