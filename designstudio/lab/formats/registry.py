"""The formats of trial lists by name: the package's own, and those that are registered from outside."""

from designstudio.core.registry import Registry
from designstudio.errors import StudioError
from designstudio.lab.formats.base import AbstractFormat
from designstudio.lab.formats.jspsych import JsPsych
from designstudio.lab.formats.psychopy import PsychoPy

FORMATS: Registry[AbstractFormat] = Registry("format", {of.name: of() for of in (PsychoPy, JsPsych)})


def register_format(of: type[AbstractFormat]) -> type[AbstractFormat]:
    """Make a format available; a decorator.

    Raises:
        StudioError: if its name is taken, or cannot be the name of a folder.
    """
    # The tables for the responses are there.
    if not of.name.isidentifier() or of.name == "data":
        raise StudioError(f"A format is called by letters, digits and _, and not 'data', but {of.name!r} was given.")
    FORMATS.register(of.name, of())
    return of
