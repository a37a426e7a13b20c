"""Schedules as files for the programs that run experiments, and for those that read their data."""

from designstudio.lab.formats.base import AbstractFormat
from designstudio.lab.formats.registry import FORMATS, register_format

__all__ = ["FORMATS", "AbstractFormat", "register_format"]
