"""Does the fitted noise agree with independent tests of it, and does the cost follow the feedback? (acerbi)

    python studies/real_data/noise.py

Subjects 1 to 10 also produced learnt durations (motor noise) and told which of two durations was longer (sensory noise).
Feedback was about the error itself (Standard) or about the error relative to the response (Skewed), which differs between
subjects.
"""

import csv
from typing import Any

import numpy as np
import xarray as xr
from data import RESULTS, find_folder, fit
from scipy import optimize, stats

from designstudio.core.tables import write_csv
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.model.costs import find_family

# What a cost says about being too long or too short, or about effort.
COST_PARAMETERS = {
    "asymmetric_quadratic": "alpha",
    "linex": "alpha",
    "quadratic_effort": "beta",
    "absolute_effort": "beta",
}


def main() -> None:
    """Write both tables."""
    result = fit("acerbi")
    summary = result.summarize()
    motor, sensory = measure_motor(), measure_sensory()
    rows = []
    for cost in result.posteriors:
        for parameter, measured, test in (("sigma_r", motor, "motor"), ("sigma", sensory, "sensory")):
            values = summary["mean"].sel(cost=cost, parameter=parameter)
            is_good = {str(s): bool(g) for s, g in zip(values["subject"].values, result_is_good(result, cost), strict=True)}
            subjects = [subject for subject in measured if is_good.get(subject, False)]
            fitted = np.array([float(values.sel(subject=subject)) for subject in subjects])
            tested = np.array([measured[subject] for subject in subjects])
            rows.append({"cost": cost, "parameter": parameter, "test": test, **correlate(fitted, tested)})
    write_csv(RESULTS / "noise_tests.csv", rows)
    write_csv(RESULTS / "feedback.csv", compare_feedback(result, summary))
    for row in rows:
        print(row)


def result_is_good(result: EmpiricalFit, cost: str) -> Any:
    """Whether each subject's fit can be used."""
    return result.posteriors[cost]["diagnostics"]["is_good"].values


def correlate(fitted: np.ndarray, tested: np.ndarray) -> dict[str, object]:
    """Correlation with its interval, and how large the two are."""
    pearson = stats.pearsonr(fitted, tested)
    low, high = pearson.confidence_interval(0.94)
    return {
        "subjects": len(fitted),
        "correlation": f"{pearson.statistic:.2f}",
        "94 % interval": f"{low:.2f} to {high:.2f}",
        "rank correlation": f"{stats.spearmanr(fitted, tested).statistic:.2f}",
        "median fitted": f"{np.median(fitted):.3f}",
        "median tested": f"{np.median(tested):.3f}",
    }


def measure_motor() -> dict[str, float]:
    """Standard deviation of the log response around the median of its run and duration."""
    groups: dict[str, dict[tuple[str, str], list[float]]] = {}
    for row in read("acerbi_2012_motortest_s.csv"):
        target = f"{float(row['stimulus']):.2f}"
        groups.setdefault(row["subject"], {}).setdefault((row["run"], target), []).append(float(row["response"]))
    found = {}
    for subject, runs in groups.items():
        residuals = [np.log(np.array(r)) - np.median(np.log(r)) for r in runs.values() if len(r) >= 5]
        # Robust: a lapse is no motor noise.
        found[subject] = float(stats.median_abs_deviation(np.concatenate(residuals), scale="normal"))
    return found


def measure_sensory() -> dict[str, float]:
    """Weber fraction of each duration, by probit: the difference of two has the square root of 2 times as much."""
    trials: dict[str, list[tuple[float, bool]]] = {}
    for row in read("acerbi_2012_sensorytest_s.csv"):
        ratio = np.log(float(row["interval2"]) / float(row["interval1"]))
        trials.setdefault(row["subject"], []).append((ratio, row["chose"] == "2"))
    return {subject: fit_probit(np.array(pairs, float)) for subject, pairs in trials.items()}


def fit_probit(pairs: np.ndarray) -> float:
    """Maximum likelihood of a cumulative normal with bias and 2 % lapses."""

    def loss(parameters: np.ndarray) -> float:
        bias, log_weber = parameters
        chance = 0.01 + 0.98 * stats.norm.cdf((pairs[:, 0] - bias) / (np.sqrt(2) * np.exp(log_weber)))
        return -float(np.sum(np.log(np.where(pairs[:, 1] > 0, chance, 1 - chance))))

    best = optimize.minimize(loss, [0.0, np.log(0.15)], method="Nelder-Mead")
    return float(np.exp(best.x[1]))


def compare_feedback(result: EmpiricalFit, summary: xr.Dataset) -> list[dict[str, object]]:
    """Parameters of the cost under the two rules, and who wins."""
    conditions = result.trials["condition"].values.astype(str)
    first = result.trials["condition_index"].values[:, 0]
    rule = np.array(["Skewed" if conditions[k].endswith("Skewed") else "Standard" for k in first])
    rows: list[dict[str, object]] = []
    for cost, parameter in COST_PARAMETERS.items():
        if cost not in result.posteriors:
            continue
        values = summary["mean"].sel(cost=cost, parameter=parameter).values
        is_good = result_is_good(result, cost)
        groups = [values[(rule == name) & is_good] for name in ("Standard", "Skewed")]
        test = stats.ttest_ind(*groups, equal_var=False)
        interval = test.confidence_interval(0.94)
        rows.append(
            {
                "cost": cost,
                "parameter": parameter,
                **{
                    f"{name}: mean ± SE (subjects)": f"{g.mean():.3f} ± {stats.sem(g):.3f} ({len(g)})"
                    for name, g in zip(("Standard", "Skewed"), groups, strict=True)
                },
                "difference, 94 % interval": f"{interval.low:.3f} to {interval.high:.3f}",
                "p (Welch)": f"{test.pvalue:.3f}",
            }
        )
    assert result.comparison is not None
    winner = result.comparison.table["is_winner"]
    families = {cost: find_family(cost) for cost in result.posteriors}
    for family in dict.fromkeys(families.values()):
        costs = [cost for cost in families if families[cost] == family]
        won = winner.sel(cost=costs).any("cost").values
        counts = [[won[rule == name].sum(), (~won[rule == name]).sum()] for name in ("Standard", "Skewed")]
        rows.append(
            {
                "cost": f"any {family} cost",
                "parameter": "subjects won",
                **{
                    f"{name}: mean ± SE (subjects)": f"{won[rule == name].mean():.2f} ({(rule == name).sum()})"
                    for name in ("Standard", "Skewed")
                },
                "difference, 94 % interval": "",
                "p (Welch)": f"{stats.fisher_exact(counts).pvalue:.3f} (Fisher)",
            }
        )
    return rows


def read(file: str) -> list[dict[str, str]]:
    """Rows of a table of the data."""
    with (find_folder() / file).open() as opened:
        return list(csv.DictReader(opened))


if __name__ == "__main__":
    main()
