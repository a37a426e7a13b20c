"""Is the number of participants that `power --target` finds the one that a fine grid of many studies gives?

    python studies/groups/target.py

The grid knows nothing of the curve that the search fits: power at every size is the share of 2,000 simulated studies, made
rising, and between two sizes a line. The search is run with several seeds, none of them the grid's.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from designstudio.core.cache import BlockCache
from designstudio.core.configuration import configure
from designstudio.core.tables import fill_tables, write_csv
from designstudio.evaluate.find_size import find_sizes
from designstudio.evaluate.group_goals import score_group_goals
from designstudio.metrics.power import PowerScore
from designstudio.study import Study, read_study

HERE = Path(__file__).parent
TARGET = 0.8
SIZES = (20, 24, 28, 32, 36, 40)
NUM_STUDIES, SEED_OF_GRID = 2000, 100
SEEDS = (1, 2, 3)


def main() -> None:
    """Write the table, and put it into README."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="few studies, to see that it runs")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the table")
    options = parser.parse_args()
    configure()
    study = read_study(HERE / "patients.toml")
    rows = compare(study, SIZES[-2:], 10, (1,)) if options.smoke else compare(study, SIZES, NUM_STUDIES, SEEDS)
    options.out.mkdir(parents=True, exist_ok=True)
    write_csv(options.out / "target.csv", rows)
    if options.out == HERE / "results":
        readme = HERE / "README.md"
        readme.write_text(fill_tables(readme.read_text(encoding="utf-8"), options.out), encoding="utf-8")


def compare(study: Study, sizes: Sequence[int], num_studies: int, seeds: Sequence[int]) -> list[dict[str, Any]]:
    """One row for the grid, and one for each search."""
    design, cache = study.designs[0], BlockCache.default()
    (label,) = (goal.label for goal in study.goals)
    scores = score_group_goals(study.replace(seed=SEED_OF_GRID), design, sizes=sizes, num_studies=num_studies, cache=cache)
    powers = np.array([scores[size][label].value for size in sizes])
    size, num_people = find_crossing(sizes, powers), num_studies * count_people(scores[sizes[-1]][label], sizes[-1])
    errors = np.array([scores[size][label].mcse for size in sizes])
    low, high = find_crossing(sizes, powers + errors), find_crossing(sizes, powers - errors)
    rows = [describe("grid", size, f"{low:.1f} to {high:.1f}", 1.0, num_people, 1.0)]
    for seed in seeds:
        (answer,) = find_sizes(study.replace(seed=seed), design, TARGET, cache=cache).answers
        found = float("nan") if answer.size is None else float(answer.size)
        interval = f"{answer.low:.1f} to {answer.high:.1f}"
        rows.append(
            describe(f"seed {seed}", found, interval, found / size, answer.num_people, answer.num_people / num_people)
        )
    return rows


def count_people(score: PowerScore, size: int) -> int:
    """People that were simulated for one study: those of both groups, and the second group without its effect."""
    return (3 if score.when_absent is not None else 2) * size


def find_crossing(sizes: Sequence[int], powers: np.ndarray) -> float:
    """Where a rising line through the powers reaches the target; NaN if it does not."""
    rising = np.maximum.accumulate(powers)
    if not rising[0] < TARGET <= rising[-1]:
        return float("nan")
    return float(np.interp(TARGET, rising, sizes))


def describe(how: str, size: float, interval: str, ratio: float, num_people: int, share: float) -> dict[str, Any]:
    """A row."""
    return {
        "found by": how,
        "participants a group": f"{size:.1f}",
        "interval": interval,
        "relative to the grid": f"{ratio:.3f}",
        "simulated people": str(num_people),
        "share of the grid's": f"{share:.3f}",
    }


if __name__ == "__main__":
    main()
