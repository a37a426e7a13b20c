"""Designs that were published, as starting points.

The stimulus ranges are those of the studies; trial durations and, where a study has none, uncertainty levels are typical
values, to be replaced by one's own.
"""

from designstudio.errors import UnknownNameError
from designstudio.study.design.design import Condition, Design
from designstudio.study.stimuli import GRID, LIST, Stimuli

_PAPER_STIMULI = Stimuli(low=0.25, high=5.0)

PRESETS: dict[str, Design] = {
    design.name: design
    for design in (
        # Straub, Niehues, Peters & Rothkopf (2025): evaluation with known perceptual noise.
        Design("paper-evaluation", (Condition("all trials", 60),), _PAPER_STIMULI),
        # The same paper: two uncertainty levels separate prior from cost.
        Design(
            "paper-two-levels",
            (Condition("low uncertainty", 45, {"sigma": 0.1}), Condition("high uncertainty", 45, {"sigma": 0.2})),
            _PAPER_STIMULI,
        ),
        # Throwing a bean bag to one of five distances, in metres.
        Design(
            "bean-bag",
            (Condition("throws", 100),),
            Stimuli(LIST, values=(0.9, 1.525, 2.15, 2.775, 3.4)),
            seconds_per_trial=10,
        ),
        # Sliding a puck to a target, in metres.
        Design("puck", (Condition("slides", 90),), Stimuli(low=1.0, high=5.0), seconds_per_trial=8),
        # Reproducing a force, in newtons, in steps of 30.
        Design("force", (Condition("grips", 90),), Stimuli(GRID, low=10.0, high=160.0, num_values=6), seconds_per_trial=8),
        # Qu & Shi (2026): reproducing the duration of moving dots, in seconds, at two levels of coherence.
        Design(
            "duration",
            (Condition("low coherence", 105), Condition("high coherence", 105)),
            Stimuli(GRID, low=0.8, high=1.6, num_values=5),
        ),
    )
}

# What their stimuli are measured in; those of simulations have the actor's unit.
PRESET_UNITS = {"bean-bag": "m", "puck": "m", "force": "N", "duration": "s"}


def get_preset(name: str) -> Design:
    """A published design.

    Raises:
        UnknownNameError: naming those there are.
    """
    if name not in PRESETS:
        raise UnknownNameError("preset", name, list(PRESETS))
    return PRESETS[name]
