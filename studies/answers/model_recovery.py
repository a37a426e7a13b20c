"""Do two seeds of the fits name the same winner? Model recovery with and without the rule for undecided data sets.

    python studies/answers/model_recovery.py            about five minutes on two cores
    python studies/answers/model_recovery.py --smoke    a few data sets, to see that it runs

The same simulated data sets are fitted with several seeds. For every design, and for all pairs of seeds, the table has

* flips: data sets of which the two seeds name different winners if the larger elpd always wins, as it once did;
* undecided: data sets that the rule leaves open (lead within two Monte Carlo errors, or a k-hat above 0.7);
* flips of decided: data sets that both seeds decide, and decide differently;
* spread over error: standard deviation of the elpd over the seeds, over its printed Monte Carlo error; 1 if that is right.
"""

import argparse
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from designstudio.core.cache import BlockCache
from designstudio.core.tables import write_csv
from designstudio.evaluate.model_recovery import compare_pair, pair_study
from designstudio.metrics.comparison import DEFAULT_RULE, find_winners
from designstudio.study import Study, read_study
from designstudio.study.design import Design

HERE = Path(__file__).parent
STUDY = HERE / "model_recovery.toml"
FIT_SEEDS = (101, 102, 103, 104)


def main() -> None:
    """Measure every design and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="few data sets of one design")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the table")
    options = parser.parse_args()
    study = read_study(STUDY)
    designs = study.designs[-1:] if options.smoke else study.designs
    rows = [
        measure(study, design, num_datasets=10 if options.smoke else study.num_datasets, simulated=simulated)
        for design in designs
        for simulated in (study.candidates[:1] if options.smoke else study.candidates)
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    write_csv(options.out / "model_recovery.csv", rows)


def measure(study: Study, design: Design, *, num_datasets: int, simulated: str) -> dict[str, Any]:
    """One row: a design and the cost that made its data."""
    pairs = [pair_study(study, simulated, fitted) for fitted in study.candidates]
    found = [
        [compare_pair(pair, design, num_datasets=num_datasets, cache=BlockCache(None), fit_seed=seed) for pair in pairs]
        for seed in FIT_SEEDS
    ]
    elpd, mcse, khat = (np.array([[loo[name].values for loo in row] for row in found]) for name in ("elpd", "mcse", "khat"))
    is_fitted = ~np.isnan(elpd).any(axis=(0, 1))
    elpd, mcse, khat = (array[:, :, is_fitted] for array in (elpd, mcse, khat))
    winners, is_ahead = np.moveaxis(
        np.array([find_winners(e, m, DEFAULT_RULE) for e, m in zip(elpd, mcse, strict=True)]), 1, 0
    )
    is_decided = is_ahead.astype(bool) & (khat <= DEFAULT_RULE.max_khat).all(axis=1)
    both = list(itertools.combinations(range(len(FIT_SEEDS)), 2))
    differs = np.array([winners[a] != winners[b] for a, b in both])
    counts = np.array([is_decided[a] & is_decided[b] for a, b in both])
    is_trusted = khat.max(axis=0) <= DEFAULT_RULE.max_khat
    ratio = (elpd.var(axis=0, ddof=1) / (mcse**2).mean(axis=0))[is_trusted]
    return {
        "design": design.name,
        "simulated": simulated,
        "data sets": int(is_fitted.sum()),
        "pairs of seeds": len(both),
        "flips": f"{differs.mean():.3f}",
        "undecided": f"{1 - is_decided.mean():.3f}",
        "decided by both": int(counts.sum()),
        "flips of decided": int((differs & counts).sum()),
        "spread over error": f"{np.sqrt(ratio.mean()):.2f}",
    }


if __name__ == "__main__":
    main()
