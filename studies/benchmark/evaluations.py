"""How fast designs are evaluated, how well cheap fidelities predict NUTS, and whether intervals cover what they should.

    python studies/benchmark/evaluations.py [--only speed,agreement,coverage] [--out studies/benchmark/results]

Parts: `speed`, one design (60 trials, sigma known) on 100 data sets, warm, for every cost and fidelity; `agreement`, the
four designs of studies/quickstart at all fidelities on the same 200 simulated participants; `coverage`, 1,000 participants
from the analysis prior, with sigma known rightly and wrongly. Nothing is read from the cache of finished evaluations.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from designstudio.core.cache import BlockCache
from designstudio.core.tables import write_csv
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.results import Evaluation
from designstudio.model.costs import PAPER_COST_NAMES
from designstudio.study import Analysis, Known, Population, Study, read_study
from designstudio.study.design import Design, get_preset

ROOT = Path(__file__).parents[2]
NOWHERE = BlockCache(None)
FIDELITIES = ("information", "importance", "nuts")


def main() -> None:
    """Run the benchmark."""
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "speed": measure_speed,
        "agreement": compare_fidelities,
        "coverage": measure_coverage,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(parts))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.only.split(","):
        rows = parts[name]()
        write_csv(arguments.out / f"evaluations_{name}.csv", rows)


def measure_speed() -> list[dict[str, Any]]:
    """Seconds for one design, the better of two warm runs."""
    design = get_preset("paper-evaluation")
    rows = []
    for cost in ("quadratic_effort", *(name for name in PAPER_COST_NAMES if name != "quadratic_effort")):
        study = Study(cost, (design,), analysis=Analysis(known={"sigma": Known()}))
        row: dict[str, Any] = {"cost": cost}
        for fidelity in FIDELITIES:
            evaluate_design(study, design, fidelity=fidelity, cache=NOWHERE)  # compiles
            seconds = []
            for _ in range(2):
                started = time.monotonic()
                evaluation = evaluate_design(study, design, fidelity=fidelity, cache=NOWHERE)
                seconds.append(time.monotonic() - started)
            row[f"{fidelity} (s)"] = f"{min(seconds):.3f}"
            row[f"{fidelity}: failed"] = evaluation.convergence.failed
        print("speed", row, flush=True)
        rows.append(row)
    return rows


def compare_fidelities() -> list[dict[str, Any]]:
    """Scores of the quickstart's designs, and how cheap fidelities rank them."""
    study = read_study(ROOT / "studies" / "quickstart" / "study.toml").replace(goals=())
    evaluations = {
        fidelity: [
            evaluate_design(study, design, fidelity=fidelity, num_datasets=200, cache=NOWHERE) for design in study.designs
        ]
        for fidelity in FIDELITIES
    }
    scores: dict[str, Callable[[Evaluation], Any]] = {
        "RMSE of mu_0": lambda e: e.recovery["mu_0"]["rmse"],
        "RMSE of beta": lambda e: e.recovery["beta"]["rmse"],
        "prior-cost correlation": lambda e: e.identifiability.prior_cost["correlation"],
        "confounding factor": lambda e: e.identifiability.prior_cost["confounding"],
        "prior-cost gain (nats)": lambda e: e.identifiability.information_gain["prior_cost"],
    }
    rows = []
    for name, pick in scores.items():
        reference = [pick(evaluation).value for evaluation in evaluations["nuts"]]
        for fidelity in FIDELITIES:
            found = [pick(evaluation) for evaluation in evaluations[fidelity]]
            values = [score.value for score in found]
            row = {"score": name, "fidelity": fidelity}
            row |= {design.name: str(score) for design, score in zip(study.designs, found, strict=True)}
            row["rank correlation with nuts"] = f"{stats.spearmanr(values, reference).statistic:.2f}"
            row["largest relative difference"] = f"{np.max(np.abs(np.array(values) / reference - 1)):.1%}"
            print("agreement", row, flush=True)
            rows.append(row)
    return rows


def measure_coverage() -> list[dict[str, Any]]:
    """Coverage of 94 % intervals when participants come from the analysis prior."""
    design = get_preset("paper-two-levels")
    rows = []
    for label, known in (("known", Known()), ("taken 1.5 times too large", Known(factor=1.5))):
        study = Study(
            "quadratic_effort",
            (design,),
            population=Population(follows_analysis=True),
            analysis=Analysis(known={"sigma": known}),
        )
        evaluation = evaluate_design(study, design, num_datasets=1000, cache=NOWHERE)
        rows.append({"sigma": label, **_describe(evaluation, design)})
        print("coverage", rows[-1], flush=True)
    return rows


def _describe(evaluation: Evaluation, design: Design) -> dict[str, Any]:
    coverage = {f"coverage of {name}": str(scores["coverage"]) for name, scores in evaluation.recovery.items()}
    return {"design": design.name, "nominal": evaluation.study.interval, **coverage, "failed": evaluation.convergence.failed}


if __name__ == "__main__":
    main()
