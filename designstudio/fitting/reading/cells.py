"""Cells of a table as people write them: what is missing, what is a number, which labels mean the same."""

import math
import re

# In any case: spreadsheets, R, pandas and BIDS each have their own.
MISSING = frozenset({"", "na", "n/a", "nan", "<na>", "#n/a", "null"})
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def is_missing(text: str) -> bool:
    """Whether the cell says that there is no value."""
    return text.lower() in MISSING


def parse_number(text: str, *, has_commas: bool = False) -> float | None:
    """The finite number that the cell holds, or None if it holds something else.

    Args:
        text: of the cell.
        has_commas: whether 0,5 is a number as well.
    """
    if has_commas and uses_comma(text):
        text = text.replace(",", ".")
    # Not float alone, which also knows "infinity" and "1_000".
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def uses_comma(text: str) -> bool:
    """Whether the cell looks like a number with a decimal comma."""
    return _WITH_COMMA.fullmatch(text) is not None


def tidy_label(text: str) -> str:
    """The label without the decimals that a spreadsheet adds: '1.0' is subject '1', but '007' stays as it is."""
    if "." not in text or parse_number(text) is None or "e" in text.lower():
        return text
    return text.rstrip("0").removesuffix(".") or "0"
