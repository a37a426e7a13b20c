"""What would be done in the laboratory: conditions, stimuli, trials, and published designs to start from."""

from designstudio.study.design.design import Condition, Design
from designstudio.study.design.presets import PRESET_UNITS, PRESETS, get_preset
from designstudio.study.stimuli import Stimuli

__all__ = ["PRESETS", "PRESET_UNITS", "Condition", "Design", "Stimuli", "get_preset"]
