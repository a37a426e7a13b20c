"""How often two uncertainty levels "find" an effect that is not there, for every cost with a neutral value.

    python studies/answers/false_positives.py            about half an hour on two cores
    python studies/answers/false_positives.py --smoke    a few data sets of one cost, to see that it runs

One design, 45 trials at each of two uncertainty levels, as in the quickstart, with the noise known to the fit or estimated.
Everybody has the neutral value of the cost; for linex, whose neutral value is beyond its box, the nearest that actors know.
"""

import argparse
from pathlib import Path
from typing import Any

from designstudio.core.tables import write_csv
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.goals import remove_effect
from designstudio.model.costs import available_costs, get_cost
from designstudio.study import Analysis, Goal, Known, Study
from designstudio.study.design import Condition, Design, Stimuli

HERE = Path(__file__).parent
DESIGN = Design(
    "two-levels", (Condition("low", 45, {"sigma": 0.1}), Condition("high", 45, {"sigma": 0.2})), Stimuli(low=0.25, high=5.0)
)
ANALYSES = {"known": Analysis(known={"sigma": Known()}), "estimated": Analysis()}
NUM_DATASETS = 2000


def main() -> None:
    """Write the table, and say which rates are above nominal by more than chance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="few data sets of one cost")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the table")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    cases = [(noise, cost) for noise in ANALYSES for cost in list_costs()]
    rows: list[dict[str, Any]] = []
    for noise, cost in cases[:1] if options.smoke else cases:
        rows.append(measure(cost, noise, 20 if options.smoke else NUM_DATASETS))
        write_csv(options.out / "false_positives.csv", rows)
    above = [f"{row['cost']}, noise {row['noise']}" for row in rows if row["above nominal"] == "yes"]
    print(f"{len(rows)} rates; above nominal by more than two errors: {'; '.join(above) or 'none'}.")


def list_costs() -> list[str]:
    """Costs with a value at which they have no effect."""
    return [name for name in available_costs() if any(p.neutral is not None for p in get_cost(name).parameters)]


def measure(cost: str, noise: str, num_datasets: int) -> dict[str, Any]:
    """One row: how often the goal is reached by participants without the effect."""
    (parameter,) = (p.name for p in get_cost(cost).parameters if p.neutral is not None)
    goal = Goal("excludes", parameter)
    absence = remove_effect(Study(cost, (DESIGN,), analysis=ANALYSES[noise], goals=(goal,)), DESIGN, goal)
    assert absence.study is not None
    evaluation = evaluate_design(absence.study, absence.design, num_datasets=num_datasets)
    score = evaluation.power[goal.label]
    return {
        "cost": cost,
        "noise": noise,
        "rule": score.rule,
        "absent": absence.words,
        "data sets": num_datasets,
        "failed fits": evaluation.convergence.failed,
        "false positives": f"{score.value:.4f}",
        "error": f"{score.mcse:.4f}",
        "nominal": f"{score.nominal:.2f}",
        "above nominal": "yes" if score.errs_too_often else "no",
    }


if __name__ == "__main__":
    main()
