"""How often Python looks for garbage.

Most objects here live long: modules, and the millions that tracing a program makes. Python goes through them again and
again: a tenth of the time of a command that imports, traces and compiles. What nobody refers to is freed at once, as ever;
garbage is only what refers to itself.
"""

import gc

# New objects between two looks at the young, and how many of these looks between two at the older and at all.
THRESHOLDS = (50_000, 20, 20)


def look_for_garbage_less_often() -> None:
    """For processes of our own; in those of others `import designstudio` changes nothing."""
    gc.set_threshold(*THRESHOLDS)
