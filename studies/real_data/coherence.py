"""Is perception noisier at the lower coherence, and what does partial pooling change? (qu_shi)

python studies/real_data/coherence.py
"""

import dataclasses
from typing import Any

import numpy as np
from data import RESULTS, fit
from scipy import stats

from designstudio.core.tables import write_csv
from designstudio.fitting.empirical_fit import EmpiricalFit
from designstudio.inference.hierarchical import compute_shrinkage
from designstudio.viz.figures import save_figure
from designstudio.viz.fits import draw_fit_shrinkage

LOW, HIGH = "coh0.3", "coh0.7"
# Pooling takes about a minute for each cost.
POOLED = ("quadratic", "quadratic_effort")


def main() -> None:
    """Write both tables."""
    result = fit("qu_shi")
    # Separate fits are found again where the first call has left them.
    pooled = fit("qu_shi", costs=POOLED, pools=True).pooled
    result = dataclasses.replace(result, pooled=pooled)
    rows = [count_subjects(result, cost) for cost in result.posteriors]
    write_csv(RESULTS / "coherence.csv", rows)
    shrinkage = [row for cost in result.pooled for row in summarize_shrinkage(result, cost)]
    write_csv(RESULTS / "pooling.csv", shrinkage)
    save_figure(draw_fit_shrinkage(result, POOLED[0]), RESULTS / "qu_shi_shrinkage.png")
    for row in [*rows, *shrinkage]:
        print(row)


def count_subjects(result: EmpiricalFit, cost: str) -> dict[str, object]:
    """In how many subjects sigma is larger at the lower coherence, separately and pooled."""
    tree: Any = result.posteriors[cost]
    is_good = tree["diagnostics"]["is_good"].values
    sigma = tree["posterior"]["sigma"]
    chance = (sigma.sel(condition=LOW) > sigma.sel(condition=HIGH)).mean(("chain", "draw")).values[is_good]
    larger = int((chance > 0.5).sum())
    ratio: Any = np.log(sigma.sel(condition=LOW) / sigma.sel(condition=HIGH)).mean(("chain", "draw")).values[is_good]
    row = {
        "cost": cost,
        "subjects with a good fit": int(is_good.sum()),
        "larger at the lower coherence": larger,
        "surely so (97 %)": int((chance > 0.97).sum()),
        "surely not": int((chance < 0.03).sum()),
        "sign test p": f"{stats.binomtest(larger, int(is_good.sum())).pvalue:.3g}",
        "mean log ratio": f"{ratio.mean():.3f} ± {stats.sem(ratio):.3f}",
    }
    pooled = "log ratio of group medians, 94 % interval"
    row[pooled] = ""
    if cost in result.pooled:
        group: Any = result.pooled[cost]["group"]["sigma_median"]
        difference: Any = np.log(group.sel(condition=LOW) / group.sel(condition=HIGH)).values.ravel()
        low, high = np.quantile(difference, [0.03, 0.97])
        row[pooled] = f"{difference.mean():.3f} ({low:.3f} to {high:.3f})"
    return row


def summarize_shrinkage(result: EmpiricalFit, cost: str) -> list[dict[str, object]]:
    """How much narrower, and how much closer together, subjects are when they are pooled."""
    shrinkage = compute_shrinkage(result.posteriors[cost], result.pooled[cost])
    pooled: Any = result.pooled[cost]
    rows = []
    for quantity in shrinkage["quantity"].values:
        at = shrinkage.sel(quantity=quantity)
        rows.append(
            {
                "cost": cost,
                "quantity": str(quantity),
                "subjects": at.sizes["dataset"],
                "sd over subjects, separate": f"{float(at['separate_mean'].std()):.3f}",
                "sd over subjects, pooled": f"{float(at['pooled_mean'].std()):.3f}",
                "posterior sd, separate": f"{float(at['separate_sd'].mean()):.3f}",
                "posterior sd, pooled": f"{float(at['pooled_sd'].mean()):.3f}",
                "mean shrinkage": f"{float(at['shrinkage'].mean()):.2f}",
                "too little support": int((~pooled["diagnostics"]["is_good"].values).sum()),
                "k-hat of the group": f"{pooled['convergence']['khat'].item():.2f}",
                "its effective draws": f"{pooled['convergence']['ess'].item():.0f}",
            }
        )
    return rows


if __name__ == "__main__":
    main()
