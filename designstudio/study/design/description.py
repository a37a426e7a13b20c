"""Designs as plain data and in words: the same in tables, files and sentences, wherever they are shown."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from designstudio.study.design.design import Condition, Design
from designstudio.study.schema.priors import format_prior

NOTHING = "-"


class DesignCells(NamedTuple):
    """A design in a row of a table."""

    levels: str
    trials: str
    stimuli: str
    minutes: str


def describe_design(design: Design) -> dict[str, Any]:
    """What matters about a design, as searches store it."""
    return {
        "levels": [dict(condition.levels) for condition in design.conditions],
        "trials": [condition.num_trials for condition in design.conditions],
        "stimuli": str(design.stimuli),
        "participants": design.num_participants,
        "minutes": design.minutes,
    }


def record_design(design: Design) -> dict[str, Any]:
    """All that one participant of a design goes through, however many there are, as records and schedules hold it."""
    return {
        "name": design.name,
        "seconds_per_trial": float(design.seconds_per_trial),
        "conditions": [_record_condition(design, condition) for condition in design.conditions],
    }


def format_cells(described: Mapping[str, Any]) -> DesignCells:
    """What `describe_design` has, for a row of a table."""
    levels = " / ".join(f"{value:g}" for level in described["levels"] for value in level.values())
    trials = " + ".join(str(count) for count in described["trials"])
    return DesignCells(levels or NOTHING, trials, str(described["stimuli"]), f"{float(described['minutes']):.1f}")


def format_design(described: Mapping[str, Any]) -> str:
    """What `describe_design` has, in a few words."""
    levels = [f"{name} {value:g}" for level in described["levels"] for name, value in level.items()]
    said = f"{described['trials'][0]} trials"
    if levels:
        said = " and ".join(f"{num} trials at {level}" for num, level in zip(described["trials"], levels, strict=True))
    return f"{said}, stimuli {described['stimuli']}"


def _record_condition(design: Design, condition: Condition) -> dict[str, Any]:
    return {
        "name": condition.name,
        "trials": condition.num_trials,
        "levels": {name: float(value) for name, value in condition.levels.items()},
        "drawn_anew": {name: format_prior(prior) for name, prior in condition.drawn.items()},
        # Records of designs without factors have no such entry.
        **({"factors": {n: dataclasses.asdict(f) for n, f in condition.factors.items()}} if condition.factors else {}),
        "stimuli": design.stimuli_of(condition).as_dict(),
    }
