"""Which stimuli are shown: one distribution a file, open to registration."""

from designstudio.study.stimuli.base import AbstractDistribution, AbstractValues
from designstudio.study.stimuli.grid import GRID
from designstudio.study.stimuli.listed import LIST
from designstudio.study.stimuli.log_uniform import LOG_UNIFORM
from designstudio.study.stimuli.registry import DISTRIBUTIONS, list_ranges, register_distribution
from designstudio.study.stimuli.stimuli import Stimuli
from designstudio.study.stimuli.uniform import UNIFORM

__all__ = [
    "DISTRIBUTIONS",
    "GRID",
    "LIST",
    "LOG_UNIFORM",
    "UNIFORM",
    "AbstractDistribution",
    "AbstractValues",
    "Stimuli",
    "list_ranges",
    "register_distribution",
]
