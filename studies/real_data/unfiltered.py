"""Fit the four data sets with every row, also those that are marked as gross outliers, and compare with fits without them.

    python studies/real_data/unfiltered.py [--only qu_shi]

Lapses are free in both. Tables go to results.
"""

import argparse

import numpy as np
from data import DATA_SETS, fit
from fit import keep

from designstudio.cli.progress import show_progress
from designstudio.fitting.comparison import find_errors, is_total_decided
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.fitting.fit_verdict import list_lapses


def main() -> None:
    """Fit, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=DATA_SETS, default=list(DATA_SETS))
    for name in parser.parse_args().only:
        with show_progress(name) as progress:
            filtered, everything = (fit(name, progress, is_filtered=is_filtered) for is_filtered in (True, False))
        keep("unfiltered.csv", name, [compare_winners(filtered, everything)])
        keep("unfiltered_estimates.csv", name, compare_estimates(filtered, everything))
        print(compare_winners(filtered, everything), flush=True)


def compare_winners(filtered: EmpiricalFit, everything: EmpiricalFit) -> dict[str, object]:
    """Which cost comes first, and by how much, with and without the rows that are marked."""
    best = describe_winner(filtered)[0]
    # The largest difference of a group's mean, in standard errors of that mean over subjects.
    differences = [row["difference in SE"] for row in compare_estimates(filtered, everything) if row["cost"] == best]
    return {
        "data set": filtered.name,
        "rows": filtered.report.num_rows,
        "marked": filtered.report.num_rows - filtered.report.num_trials,
        "first, filtered": describe_winner(filtered)[1],
        "first, all rows": describe_winner(everything)[1],
        "failed, filtered": len(filtered.failures),
        "failed, all rows": len(everything.failures),
        "probable lapses, filtered": len(list_lapses(filtered, best)),
        "probable lapses, all rows": len(list_lapses(everything, best)),
        "largest difference in SE": max(differences, key=lambda text: abs(float(text))),
    }


def describe_winner(result: EmpiricalFit) -> tuple[str, str]:
    """The cost that comes first, and the same with its lead over the second and its error."""
    assert result.comparison is not None
    total = result.comparison.total
    order = np.argsort(-total["elpd"].values)
    costs = total["cost"].values[order]
    lead, error = float(total["difference"].values[order[1]]), float(find_errors(total)[order[1]])
    decided = "" if is_total_decided(total) else ", undecided"
    return str(costs[0]), f"{costs[0]} ({lead:.1f} ± {error:.1f} before {costs[1]}{decided})"


def compare_estimates(filtered: EmpiricalFit, everything: EmpiricalFit) -> list[dict[str, str]]:
    """One row for each cost and parameter: the mean over subjects, of those whose fits are good both times."""
    one, other = filtered.summarize()["mean"], everything.summarize()["mean"]
    # A subject may have marked rows only.
    subjects = [name for name in filtered.subjects if name in everything.subjects]
    rows = []
    for cost in filtered.posteriors:
        failed = {failure.subject for fits in (filtered, everything) for failure in fits.failures if failure.cost == cost}
        chosen = [name for name in subjects if name not in failed]
        for parameter in one["parameter"].values.tolist():
            if parameter == "lapse_rate" or parameter not in other["parameter"].values:
                continue
            before, after = (part.sel(cost=cost, parameter=parameter, subject=chosen).values for part in (one, other))
            is_there = np.isfinite(before) & np.isfinite(after)
            if is_there.sum() < 2:
                continue
            error = before[is_there].std(ddof=1) / np.sqrt(is_there.sum())
            difference = (after - before)[is_there].mean()
            rows.append(
                {
                    "data set": filtered.name,
                    "cost": cost,
                    "parameter": str(parameter),
                    "subjects": str(int(is_there.sum())),
                    "filtered": f"{before[is_there].mean():.4g} ± {error:.2g}",
                    "all rows": f"{after[is_there].mean():.4g}",
                    "difference in SE": f"{difference / error:.2f}",
                }
            )
    return rows


if __name__ == "__main__":
    main()
