"""One comparison, ten seeds, one gross outlier a subject: does what is said about a cost depend on the seed?

    python studies/lapses/seeds.py                    some minutes on two cores
    python studies/lapses/seeds.py --seeds 2 --subjects 3   a look, to see that it runs

The example data with one response of each subject ten times too large are fitted and compared under three costs, ten times
with all else equal but the seed of the fits. Of each pair of costs: in how many seeds is the difference larger than two of
its stated errors, and does its sign ever change then? For single subjects the stated error is that of the draws, by which a
subject is said to be won; for the total it is that over subjects or trials and the draws', by which the verdict is decided.
"""

import argparse
import csv
import itertools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from fit_lapses import write_readme

from designstudio.core.configuration import configure
from designstudio.core.tables import write_csv
from designstudio.fitting.compare_costs import compare_costs
from designstudio.fitting.comparison import NUM_ERRORS, find_errors
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.fit_subjects import fit_subjects
from designstudio.fitting.reading import LoadedData, example_path, read_data
from designstudio.fitting.request import FitRequest
from designstudio.inference.settings import FitSettings

HERE = Path(__file__).parent
COSTS = ("quadratic_effort", "asymmetric_quadratic", "quadratic")
NUM_SEEDS, FACTOR = 10, 10.0
TOTAL = "all subjects"


def main() -> None:
    """Fit with every seed and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=NUM_SEEDS, help="how many seeds")
    parser.add_argument("--subjects", type=int, help="how many subjects; by default all")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the table")
    options = parser.parse_args()
    configure()
    found = []
    for seed in range(1, options.seeds + 1):
        found.append(compare_pairs(fit(spoil(options.subjects), seed)))
        totals = {pair: found[-1][TOTAL, pair] for pair in list_pairs()}
        print(f"seed {seed}:", *(f"{a} - {b} {d:.1f} ± {e:.1f}," for (a, b), (d, e) in totals.items()), flush=True)
    rows = tabulate(found)
    options.out.mkdir(parents=True, exist_ok=True)
    write_csv(options.out / "seeds.csv", rows)
    if options.out == HERE / "results":
        write_readme()


def spoil(num_subjects: int | None = None) -> LoadedData:
    """The example data with one gross outlier in each subject, each at another place."""
    with example_path().open(newline="") as file:
        rows = list(csv.DictReader(file))
    subjects = list(dict.fromkeys(row["subject"] for row in rows))[:num_subjects]
    kept = [row for row in rows if row["subject"] in subjects]
    for number, subject in enumerate(subjects):
        own = [row for row in kept if row["subject"] == subject]
        row = own[(17 * number + 5) % len(own)]
        row["response"] = f"{FACTOR * float(row['response']):g}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spoilt.csv"
        write_csv(path, kept)
        return read_data(path)


def fit(loaded: LoadedData, seed: int, settings: FitSettings | None = None) -> EmpiricalFit:
    """All subjects under all costs."""
    settings = FitSettings() if settings is None else settings
    return fit_subjects(loaded, FitRequest(costs=COSTS, per_condition=("sigma",), seed=seed, settings=settings))


def list_pairs() -> list[tuple[str, str]]:
    """Every two costs."""
    return list(itertools.combinations(COSTS, 2))


def compare_pairs(result: EmpiricalFit) -> dict[tuple[str, tuple[str, str]], tuple[float, float]]:
    """How far the first of two costs is ahead of the second, and the stated error: of each subject, and of all."""
    found = {}
    for pair in list_pairs():
        comparison = compare_costs({cost: result.posteriors[cost] for cost in pair})
        for subject in result.subjects:
            table = comparison.table.sel(subject=subject)
            lead = float(table["elpd"].sel(cost=pair[0]) - table["elpd"].sel(cost=pair[1]))
            found[subject, pair] = lead, float(table["difference_mcse"].max())
        total = comparison.total
        lead = float(total["elpd"].sel(cost=pair[0]) - total["elpd"].sel(cost=pair[1]))
        found[TOTAL, pair] = lead, float(np.nanmax(find_errors(total)))
    return found


def tabulate(found: list[dict[tuple[str, tuple[str, str]], tuple[float, float]]]) -> list[dict[str, Any]]:
    """One row for each pair of costs: of all subjects, and of single ones."""
    rows = []
    for pair in list_pairs():
        total = np.array([one[TOTAL, pair] for one in found])
        keys = [key for key in found[0] if key[1] == pair and key[0] != TOTAL]
        single = np.array([[one[key] for one in found] for key in keys])
        rows.append(
            {
                "costs": f"{pair[0]} - {pair[1]}",
                "seeds": str(len(found)),
                "total, smallest to largest": f"{total[:, 0].min():.1f} to {total[:, 0].max():.1f}",
                "its stated error": f"{total[:, 1].mean():.1f}",
                "seeds that decide it": str(int(is_decided(total).sum())),
                "its sign changes": "yes" if changes_sign(total) else "no",
                "subjects": str(len(keys)),
                "decided in a seed": str(int(is_decided(single).any(axis=1).sum())),
                "decided in all seeds": str(int(is_decided(single).all(axis=1).sum())),
                "decided, and decided otherwise": str(sum(contradicts(one) for one in single)),
                "decided, and sign changes": str(sum(changes_sign(one) for one in single)),
                "sd over seeds / stated error": f"{_compare_errors(single):.2f}",
            }
        )
    return rows


def is_decided(pairs: np.ndarray) -> np.ndarray:
    """Whether differences are larger than two of their errors; the last axis has both."""
    return np.asarray(np.abs(pairs[..., 0]) > NUM_ERRORS * pairs[..., 1])


def changes_sign(over_seeds: np.ndarray) -> bool:
    """Whether a difference that some seed decides has another sign with another seed."""
    decided = np.sign(over_seeds[is_decided(over_seeds), 0])
    return any((np.sign(over_seeds[:, 0]) != sign).any() for sign in decided)


def contradicts(over_seeds: np.ndarray) -> bool:
    """Whether two seeds decide for different costs."""
    return len(set(np.sign(over_seeds[is_decided(over_seeds), 0]).tolist())) > 1


def _compare_errors(single: np.ndarray) -> float:
    """Root mean square of the spread over seeds, in stated errors of the draws."""
    spread = single[..., 0].var(axis=1, ddof=1).mean() if single.shape[1] > 1 else np.nan
    return float(np.sqrt(spread / (single[..., 1] ** 2).mean()))


if __name__ == "__main__":
    main()
