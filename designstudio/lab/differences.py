"""What differs between a plan and what became of it."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

RECORD, STUDY, DATA = "record", "study", "data"
NOTHING = "-"


@dataclasses.dataclass(frozen=True)
class Difference:
    """One difference.

    Attributes:
        where: `record`, `study` or `data`.
        what: which part of the plan.
        recorded: what the record says.
        found: what was found instead.
        sentence: the same for people.
    """

    where: str
    what: str
    recorded: str
    found: str
    sentence: str

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
        return dataclasses.asdict(self)


def compare_contents(recorded: Mapping[str, Any], found: Mapping[str, Any]) -> list[Difference]:
    """Where the plan of a study differs from the record."""
    return [_describe(path, one, other) for path, one, other in _walk(recorded, found, ())]


class _Missing:
    """Stands for what one of both does not have."""


_MISSING = _Missing()
_Path = tuple[str, ...]


def _walk(recorded: Any, found: Any, path: _Path) -> Iterator[tuple[_Path, Any, Any]]:
    one, other = _by_name(recorded), _by_name(found)
    if one is None or other is None:
        if recorded != found:
            yield path, recorded, found
        return
    for key in dict.fromkeys([*one, *other]):
        yield from _walk(one.get(key, _MISSING), other.get(key, _MISSING), (*path, key))
    if isinstance(recorded, list) and set(one) == set(other) and list(one) != list(other):
        yield (*path, "order"), list(one), list(other)


def _by_name(value: Any) -> Mapping[str, Any] | None:
    """A table, or a list of tables that have names of their own, by these names."""
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) and "name" in entry for entry in value):
        return None
    names = [f"'{entry['name']}'" for entry in value]
    return dict(zip(names, value, strict=True)) if len(set(names)) == len(names) else None


def _describe(path: _Path, recorded: Any, found: Any) -> Difference:
    what = name_part(path)
    before, after = (NOTHING if value is _MISSING else format_value(value) for value in (recorded, found))
    start = what[:1].upper() + what[1:]
    if recorded is _MISSING:
        sentence = f"{start}: the study has this, but the record does not."
    elif found is _MISSING:
        sentence = f"{start}: this was recorded, but the study no longer has it."
    else:
        sentence = f"{start}: recorded as {before}, but the study now says {after}."
    return Difference(STUDY, what, before, after, sentence)


def name_part(path: Sequence[str]) -> str:
    """Which part of a plan is meant, in words."""
    match tuple(path):
        case ("design", "conditions", "order"):
            said = "order of conditions"
        case ("design", "conditions", name, *rest):
            said = f"{', '.join(rest) or 'all'} of condition {name}"
        case ("analysis", "priors", name):
            said = f"prior of {name} in the analysis"
        case ("analysis", "known", name):
            said = f"known {name} in the analysis"
        case ("population", "parameters", name):
            said = f"{name} of the population"
        case ("model", "parameters", name, key):
            said = f"{key} of {name}"
        case ("decision", "goals", name, *rest):
            said = f"{', '.join(rest) or 'all'} of goal {name}"
        case ("participants", "each_group"):
            said = "participants"
        case _:
            said = ", ".join(path).replace("_", " ")
    return said


def format_value(value: Any) -> str:
    """A value for a table: numbers with all their digits."""
    if isinstance(value, str):
        return value or "''"
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {format_value(entry)}" for name, entry in value.items()) or NOTHING
    if isinstance(value, Sequence):
        return ", ".join(format_value(entry) for entry in value) or NOTHING
    return repr(value)
