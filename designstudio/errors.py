"""The errors that a user can cause.

Every message is one sentence or two: what was given, what is allowed, what to do. The command line prints the message
and exits with code 2; from Python they are ordinary exceptions.
"""

from collections.abc import Iterable


class StudioError(ValueError):
    """Base of everything designstudio raises on purpose."""


class UnknownNameError(StudioError):
    """A name that is not in a registry."""

    def __init__(self, kind: str, given: str, available: Iterable[str]) -> None:
        super().__init__(f"Unknown {kind} {given!r}. Available: {', '.join(available)}.")


class ValueOutsideSupportError(StudioError):
    """A parameter, stimulus or setting that the model does not allow."""


class CostDefinitionError(StudioError):
    """A user-written cost that cannot be used."""


class ActorFileError(StudioError):
    """A file of actor weights that is damaged, or made for something else."""


class DataError(StudioError):
    """Behavioural data that cannot be read, or a wish about them that cannot be met."""


class OutsideTrainingBoxWarning(UserWarning):
    """Some requested actions lie where the amortized actor was not trained."""
