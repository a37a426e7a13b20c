"""What becomes of an action; see `designstudio.model.response.base` for how to write another response."""

from designstudio.model.response.base import AbstractResponse
from designstudio.model.response.lognormal import LogNormalResponse

__all__ = ["AbstractResponse", "LogNormalResponse"]
