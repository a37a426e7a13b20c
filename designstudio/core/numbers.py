"""Numbers as text, rounded in one way: halves go away from zero, as the number is written (0.405 is 0.41, and 41%).

Python's own formats round what a number is in binary: 0.405 becomes 0.41, but 40%. Whoever reads a table and then a sentence
would take these for two numbers.
"""

import math
from decimal import ROUND_HALF_UP, Decimal

NO_EXPONENT = 1e6


def format_fixed(value: float, num_digits: int) -> str:
    """A number with so many digits behind the point."""
    if not math.isfinite(value):
        return str(float(value))
    # The shortest text that is read back as this number: what a reader of the JSON has before his eyes.
    return f"{_round(Decimal(repr(float(value))), num_digits):f}"


def format_percent(value: float, num_digits: int = 0) -> str:
    """A share in percent, with so many digits behind the point."""
    if not math.isfinite(value):
        return str(float(value))
    return f"{_round(100 * Decimal(repr(float(value))), num_digits):f}%"


def format_significant(value: float, num_digits: int = 3, *, keeps_zeros: bool = False) -> str:
    """A number with so many digits that count: 1230 of 1234.5, without an exponent below a million.

    Args:
        value: any number.
        num_digits: how many.
        keeps_zeros: whether zeros at the end stay (0.100): they are digits, too.
    """
    if not math.isfinite(value):
        return str(float(value))
    text = f"{value:{'#' if keeps_zeros else ''}.{num_digits}g}".rstrip(".")
    # Milliseconds have four digits before the point, and nobody reads 1.23e+03 of them.
    return f"{float(text):.0f}" if "e+" in text and abs(value) < NO_EXPONENT else text


def _round(number: Decimal, num_digits: int) -> Decimal:
    rounded = number.quantize(Decimal(1).scaleb(-num_digits), ROUND_HALF_UP)
    # Nothing is minus zero.
    return rounded or abs(rounded)
