"""Stimuli that are listed one by one."""

from typing import TYPE_CHECKING, ClassVar

from designstudio.study.stimuli.base import VALUES, AbstractValues

if TYPE_CHECKING:
    from designstudio.study.stimuli.stimuli import Stimuli

LIST = "list"


class Listed(AbstractValues):
    """The `values` that are given."""

    name: ClassVar[str] = LIST
    settings: ClassVar[tuple[str, ...]] = (VALUES,)

    def list_values(self, stimuli: "Stimuli") -> tuple[float, ...]:
        return stimuli.values

    def describe(self, stimuli: "Stimuli") -> str:
        return "list of " + ", ".join(f"{value:g}" for value in stimuli.values)
