"""The unit of a study: what its numbers are measured in, and how large the actor's unit is in it.

Actors are trained on stimuli of about 0.1 to 7. A study in milliseconds says `unit = "ms"` and, if it likes, `scale = 500`:
one unit of the actor is 500 ms. All its numbers that have the unit of stimuli, or one over it, are then in milliseconds.

The scale is part of the question, because priors that a study leaves out are the paper's, which are in the actor's unit: the
prior of mu_0 from 0.1 to 5 is one from 50 to 2500 ms. So it should be such that these priors lie around the stimuli. A study
that names a unit but no scale gets the one that a fit of data with these stimuli would choose
(`designstudio.model.scale.choose_factor`): 1 if that will do, else 1, 2 or 5 times a power of ten. Whoever changes the
stimuli of such a study may get another; files that the studio writes always name it.
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from designstudio.errors import StudioError
from designstudio.model.parameters import STIMULUS_UNIT
from designstudio.model.scale import choose_factor
from designstudio.study.design import Design
from designstudio.study.search_plan import SearchPlan
from designstudio.study.space import list_values

# Of each condition: enough to see where its stimuli lie.
NUM_STIMULI = 64


def resolve_scale(unit: str, scale: float | None, designs: Sequence[Design], search: SearchPlan | None) -> float | None:
    """How many of a study's unit one unit of the actor is; None for a study in the actor's own unit.

    Raises:
        StudioError: if the unit is no name, or the scale no positive number or one of a unit without a name.
    """
    if not unit:
        if scale is not None:
            raise StudioError(
                f'A scale needs a unit: add unit = "ms", or whatever it is of which one unit of the actor is {scale:g}.'
            )
        return None
    if not unit.isprintable() or unit != unit.strip():
        raise StudioError(f"The unit is a name on one line, such as 'ms', but {unit!r} was given.")
    if scale is None:
        return choose_factor(_list_stimuli(designs, search))
    if not 0 < scale < math.inf:
        raise StudioError(f"The scale must be positive (how many {unit} one unit of the actor is), but it is {scale:g}.")
    return float(scale)


def check_name(unit: str | None) -> None:
    """Refuse a unit whose name says nothing.

    Raises:
        StudioError: saying what a name is.
    """
    if unit is not None and not unit.strip():
        raise StudioError("The unit must have a name, such as 's' or 'mm', but '' was given.")


def choose_unit(own: str, asked: str | None) -> str:
    """The unit of lists and records: that of the study, or the one that was asked for where the study names none.

    Args:
        own: the study's unit, "" if it has none.
        asked: what somebody wants to call it, if anything.

    Raises:
        StudioError: if both are named, and differ.
    """
    if asked is None or asked in (own, STIMULUS_UNIT):
        return own or STIMULUS_UNIT
    if own not in ("", STIMULUS_UNIT):
        raise StudioError(
            f"The study is in {own!r}, but {asked!r} was asked for: leave the unit out, or change the study's."
        )
    return asked


def _list_stimuli(designs: Sequence[Design], search: SearchPlan | None) -> Float[np.ndarray, " stimulus"]:
    """What is shown in all designs; without any, the ends that a search may choose."""
    even = (np.arange(NUM_STIMULI) + 0.5) / NUM_STIMULI
    shown = [design.stimuli_of(condition) for design in designs for condition in design.conditions]
    if shown:
        return np.concatenate([stimuli.place(even) for stimuli in shown])
    ends = [] if search is None else [search.space.variables[f"stimuli.{end}"] for end in ("low", "high")]
    return np.array([value for end in ends for value in list_values(end)], float)
