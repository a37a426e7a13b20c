"""Power in words and tables: the smallest experiment that reaches a target."""

import html as escaping
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from designstudio.dashboard.parts.candidates import write_table
from designstudio.evaluate.curves import read_power, warn_of_curves
from designstudio.evaluate.power_words import format_chance, format_power
from designstudio.metrics.power import PowerScore

# Errors by which a power must be above the target for nobody to doubt it.
SURELY = 2.0


class Smallest(NamedTuple):
    """A size that reaches the target."""

    sizes: dict[str, int]
    power: PowerScore


def find_smallest(power: xr.Dataset, target: float) -> Smallest | None:
    """The smallest size whose power reaches the target; None if none does.

    A size that finds the effect too often where it is absent is left out: its power comes from the prior.

    Args:
        power: of one goal over one size, or over `participants` and `trials`: then the smallest is the one with the fewest
            trials of all participants together.
        target: power that one wants.
    """
    dims = [str(dim) for dim in power["value"].dims]
    grids = np.meshgrid(*(power[dim].values.astype(float) for dim in dims), indexing="ij")
    value = power["value"].values.astype(float)
    reached = [
        place
        for place in map(tuple, np.argwhere(np.nan_to_num(value, nan=-1.0) >= target))
        if not read_power(power.isel(dict(zip(dims, place, strict=True)))).errs_too_often
    ]
    if not reached:
        return None
    total = np.prod(grids, axis=0)
    # Of those with equally many trials, the one with the highest power.
    best = min(reached, key=lambda place: (total[place], -value[place]))
    sizes = {dim: int(grid[best]) for dim, grid in zip(dims, grids, strict=True)}
    return Smallest(sizes, read_power(power.isel(dict(zip(dims, best, strict=True)))))


def report_smallest(power: xr.Dataset, target: float, seconds_per_trial: float) -> str:
    """The smallest size in a sentence."""
    found = find_smallest(power, target)
    if found is None:
        value = power["value"].values.astype(float)
        if not np.isfinite(value).any():
            return "No size has a power: too few fits worked."
        place = np.unravel_index(int(np.nanargmax(value)), value.shape)
        best = read_power(power.isel(dict(zip(power["value"].dims, place, strict=True))))
        if best.value >= target:
            return f"No size reaches {target:g} without finding the effect too often where it is absent."
        return f"None of these sizes reaches {target:g}: the highest power is {format_chance(best.present)}."
    absent = found.power.when_absent
    without = "" if absent is None else f" (without the effect: {format_chance(absent)})"
    return f"{_format_sizes(found.sizes, seconds_per_trial)} reach {format_chance(found.power.present)}{without}."


def write_warnings(power: xr.Dataset) -> str:
    """Sentences about sizes on whose power nobody should count."""
    return "".join(f'<p class="notice">{escaping.escape(sentence)}</p>' for sentence in warn_of_curves(power))


def report_doubt(power: xr.Dataset, target: float) -> str:
    """Whether the smallest size may fall short of the target; empty if it surely does not, or there is none."""
    found = find_smallest(power, target)
    if found is None or found.power.value - SURELY * found.power.mcse >= target:
        return ""
    return f"Within two errors it may fall short of {target:g}: try more data sets, or take a larger size."


def write_smallest(power: xr.Dataset, target: float, seconds_per_trial: float) -> str:
    """A sentence for each goal."""
    sentences = []
    for goal in power["goal"].values:
        of_goal = power.sel(goal=goal)
        mood = "bad" if find_smallest(of_goal, target) is None else "good"
        said = escaping.escape(report_smallest(of_goal, target, seconds_per_trial))
        sentences.append(
            f'<p><span class="muted">{escaping.escape(str(goal))}:</span> <span class="{mood}">{said}</span> '
            f'<span class="muted">{report_doubt(of_goal, target)}</span></p>'
        )
    return "".join(sentences)


def write_power(power: xr.Dataset) -> str:
    """A table for each goal: sizes down, and participants across where there are two."""
    tables = []
    for goal in power["goal"].values:
        of_goal = power.sel(goal=goal)
        *across, down = [str(dim) for dim in of_goal["value"].dims]
        heads = [down, *([f"{number:g} {across[0]}" for number in of_goal[across[0]].values] if across else ["power"])]
        rows = []
        for size in of_goal[down].values:
            row = of_goal.sel({down: size})
            points = [row.isel({across[0]: k}) for k in range(row.sizes[across[0]])] if across else [row]
            rows.append([f"{size:g}", *(format_power(read_power(point)) for point in points)])
        title = f"<p class='muted'>{escaping.escape(str(goal))}</p>" if power.sizes["goal"] > 1 else ""
        tables.append(title + write_table([escaping.escape(head) for head in heads], rows))
    return "".join(tables)


def tabulate_power(power: xr.Dataset) -> pd.DataFrame:
    """One row for each size and goal."""
    names = {
        "value": "power",
        "mcse": "power error",
        "when_absent": "effect absent",
        "when_absent_mcse": "effect absent error",
    }
    return power[list(names)].to_dataframe().reset_index().rename(columns=names)


def _format_sizes(sizes: dict[str, int], seconds_per_trial: float) -> str:
    if set(sizes) == {"participants", "trials"}:
        people, trials = sizes["participants"], sizes["trials"]
        hours = people * trials * seconds_per_trial / 3600
        return f"{people} participants a group with {trials} trials each ({2 * hours:.1f} h of both groups)"
    if "trials" in sizes:
        return f"{sizes['trials']} trials ({sizes['trials'] * seconds_per_trial / 60:.1f} min)"
    if "participants" in sizes:
        return f"{sizes['participants']} participants a group"
    return ", ".join(f"{value} {name}" for name, value in sizes.items())
