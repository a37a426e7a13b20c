"""Durations as text."""


def format_duration(seconds: float) -> str:
    """A duration in a few words: `4.2 s`, `61 s`, `10.0 min`, `2.5 h`."""
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def format_estimate(seconds: float) -> str:
    """A duration that nobody knows exactly: `about 4 s`, `about 10 min`, `about 2.5 h`, `about 40 days`."""
    if seconds < 90:
        return f"about {seconds:.0f} s"
    if seconds > 2 * 86400:
        return f"about {seconds / 86400:,.0f} days"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
