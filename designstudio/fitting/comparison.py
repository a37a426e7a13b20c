"""What a comparison of costs says, and when it is decided; `designstudio.fitting.compare_costs` makes one."""

import dataclasses

import numpy as np
import xarray as xr

# Trials with a larger k-hat have a predictive density that cannot be relied on.
LARGEST_KHAT = 0.7
# Errors by which a cost must be ahead.
NUM_ERRORS = 2.0


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Which cost predicts left-out trials best.

    Attributes:
        table: over (subject, cost): `elpd` (PSIS-LOO), `elpd_se`, `num_bad_k` (trials with Pareto k-hat above 0.7),
            `is_good` (whether the fit can be used), `difference` to the subject's best cost (how far behind it is: 0 for
            the best, lower is better), `difference_se` (from pointwise differences) and `difference_mcse` (from the draws),
            `is_winner` (only of subjects that every cost could be fitted to, and where it is ahead by more than two Monte
            Carlo errors). NaN where a fit failed.
        total: over (cost): `elpd` summed over the subjects that every cost could be fitted to, `elpd_se`, `difference` to
            the best cost and `difference_se` (over subjects; see `designstudio.fitting.compare_costs`),
            `difference_se_trials`, `difference_mcse`, `weight` (stacking) with its 94 % interval (`weight_low`,
            `weight_high`), `share_won` and `share_won_se`.
        families: over (family): `share_won`, `share_won_se` and `weight` of groups of costs as in the paper: `symmetric`,
            `effort`, `asymmetric`, and `other` for costs that users wrote; `num_costs` says how many of each were fitted.
        num_undecided: subjects that some cost could not be fitted to, who count in no total.
        num_close: of the others, those whose best cost is not clearly ahead, so that another seed might name another one.
    """

    table: xr.Dataset
    total: xr.Dataset
    families: xr.Dataset
    num_undecided: int
    num_close: int = 0


def find_errors(total: xr.Dataset) -> np.ndarray:
    """Errors of the differences in a total, those of the draws included.

    Over subjects or over trials, whichever is larger: over two or three subjects a spread may be small by chance.
    """
    draws = total["difference_mcse"].values if "difference_mcse" in total else 0.0
    return np.hypot(np.fmax(total["difference_se"].values, total["difference_se_trials"].values), draws)


def is_total_decided(total: xr.Dataset) -> bool:
    """Whether the best cost is ahead of all others by more than two errors."""
    error, difference = find_errors(total), total["difference"].values
    others = np.flatnonzero(difference != 0)
    return bool(len(others) == len(difference) - 1 and (difference[others] > NUM_ERRORS * error[others]).all())
