"""The memory of this machine, and a refusal of work that does not fit into it."""

import os
from pathlib import Path

from designstudio.errors import StudioError

# Of all memory: the rest is for other programs, and estimates are rough.
LARGEST_SHARE = 0.8
# Where containers on Linux say how much they may use, in the second and in the first version of control groups.
CONTAINER_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def count_memory() -> int | None:
    """Bytes of memory that this process could have; None if the system does not say."""
    try:
        known = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (AttributeError, ValueError, OSError):
        return None
    for path in CONTAINER_LIMITS:
        try:
            known.append(int(path.read_text()))
        except (OSError, ValueError):
            # No container, or one without a limit.
            continue
    return min(known)


def check_memory(num_bytes: float, what: str, advice: str) -> None:
    """Refuse work before it begins, if there is no memory for it.

    Args:
        num_bytes: estimate of what it needs.
        what: the work, as the subject of a sentence.
        advice: what to do instead.

    Raises:
        StudioError: saying what it would need and what there is.
    """
    there = count_memory()
    if there is not None and num_bytes > LARGEST_SHARE * there:
        raise StudioError(
            f"{what} would need about {format_bytes(num_bytes)} of memory, but this machine has {format_bytes(there)}: "
            f"{advice}."
        )


def format_bytes(num_bytes: float) -> str:
    """A size in two digits, as an estimate deserves: `1.5 GiB`, `23 GiB`, `1,400 TiB`."""
    unit, size = ("TiB", 2**40) if num_bytes >= 2**40 else ("GiB", 2**30)
    rounded = float(f"{num_bytes / size:.2g}")
    return f"{rounded:,.0f} {unit}" if rounded >= 10 else f"{rounded:g} {unit}"
