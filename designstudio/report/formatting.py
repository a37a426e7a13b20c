"""Numbers and names as a page writes them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from designstudio.core.numbers import format_fixed, format_significant
from designstudio.metrics.monte_carlo import Score
from designstudio.model.parameter_entries import split_label
from designstudio.model.parameters import NO_UNIT
from designstudio.study import Study

Thing = TypeVar("Thing")

MISSING = "–"
_SMALL = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


def format_score(record: Mapping[str, float | None] | Score | None) -> str:
    """A score with its Monte Carlo error; a dash if it has no value."""
    score = record if isinstance(record, Score) else Score.from_dict(record)
    return MISSING if not math.isfinite(score.value) else str(score).replace("-", "−")


def format_number(value: float | None, num_digits: int = 3) -> str:
    """A number with so many significant digits; a dash if there is none."""
    if value is None or not math.isfinite(value):
        return MISSING
    return format_significant(value, num_digits, keeps_zeros=True).replace("-", "−")


def format_share(value: float) -> str:
    """A number between 0 and 1."""
    return format_fixed(value, 2) if math.isfinite(value) else MISSING


def join_words(words: Sequence[str]) -> str:
    """Words as a list in a sentence: a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def split(things: Sequence[Thing], size: int) -> list[Sequence[Thing]]:
    """Consecutive parts of at most `size` things, for tables and figures that fit a page."""
    return [things[start : start + size] for start in range(0, len(things), size)]


def spell(number: int) -> str:
    """A number at the beginning of a sentence: small ones in words."""
    return _SMALL[number] if 0 <= number < len(_SMALL) else f"{number:,}"


def capitalize(text: str) -> str:
    """The text as the beginning of a sentence; unlike `str.capitalize`, all other letters stay."""
    return f"{text[:1].upper()}{text[1:]}"


def count(number: int, noun: str) -> str:
    """A number of things, in words that agree."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def name_quantity(study: Study, name: str) -> str:
    """A parameter or quantity: its symbol, its unit and what it is."""
    base, condition = split_label(name)
    for parameter in study.list_parameters():
        if parameter.name == base:
            symbol = f"{parameter.symbol} {condition}".strip()
            unit = "" if parameter.unit == NO_UNIT else f" ({parameter.unit})"
            return f"{symbol}{unit}: {parameter.explanation}"
    for quantity in study.quantities:
        if quantity.name == name:
            return f"{name}: {quantity.text}"
    return name


def name_symbol(study: Study, name: str) -> str:
    """The symbol of a parameter or quantity."""
    return name_quantity(study, name).partition(":")[0].partition(" (")[0]


def format_settings(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Settings as rows: what each is, and its value."""
    return [(name.replace("_", " ").replace("num ", "number of "), _format_value(value)) for name, value in settings.items()]


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)
