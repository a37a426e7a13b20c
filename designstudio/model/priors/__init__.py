"""Prior distributions: one family a file, open to registration, and sets of priors."""

from designstudio.model.priors.base import AbstractPrior, PriorSet
from designstudio.model.priors.constant import Constant
from designstudio.model.priors.half_normal import HalfNormal
from designstudio.model.priors.interval import Interval
from designstudio.model.priors.log_normal import LogNormal
from designstudio.model.priors.registry import PRIOR_FAMILIES, read_prior_record, record_prior, register_prior
from designstudio.model.priors.uniform import Uniform

__all__ = [
    "PRIOR_FAMILIES",
    "AbstractPrior",
    "Constant",
    "HalfNormal",
    "Interval",
    "LogNormal",
    "PriorSet",
    "Uniform",
    "read_prior_record",
    "record_prior",
    "register_prior",
]
