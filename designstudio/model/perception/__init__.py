"""How a stimulus becomes a belief; see `designstudio.model.perception.base` for how to write another way."""

from designstudio.model.perception.base import AbstractPerception
from designstudio.model.perception.lognormal import Belief, LogNormalPerception

__all__ = ["AbstractPerception", "Belief", "LogNormalPerception"]
