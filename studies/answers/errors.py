"""Are printed Monte Carlo errors those of other seeds? Every score, over many seeds, by the fidelity information.

    python studies/answers/errors.py            a few minutes on two cores
    python studies/answers/errors.py --smoke    two designs and few seeds, to see that it runs

The quickstart's four designs are evaluated with 100 data sets and seed after seed, once with its participants, who are all
the same, and once with participants who differ. The factor of a score is its standard deviation over the seeds divided by
the error that is printed (the root of its mean square): 1 if errors are right, above 1 if answers vary more than they say.
The table has the smallest and the largest factor of each score over all designs and participants.
"""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from designstudio.core.cache import BlockCache
from designstudio.core.tables import fill_tables, write_csv
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.results import Evaluation
from designstudio.metrics.monte_carlo import Score
from designstudio.model.priors import Uniform
from designstudio.study import Study, read_study

HERE = Path(__file__).parent
TABLE = "errors.csv"
NUM_SEEDS, NUM_DATASETS = 150, 100
WHO_DIFFER = {"mu_0": Uniform(1.0, 2.0), "sigma_0": Uniform(0.1, 0.3), "beta": Uniform(0.7, 1.0)}
PARTS = {"all": "all parameters", "prior_cost": "prior and cost"}


def main() -> None:
    """Write the table, and fill it into README.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="two designs and few seeds")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the table")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    write_csv(options.out / TABLE, tabulate(5 if options.smoke else NUM_SEEDS, 2 if options.smoke else None))
    if options.out == HERE / "results":
        readme = HERE / "README.md"
        readme.write_text(fill_tables(readme.read_text(), HERE / "results"))


def tabulate(num_seeds: int, num_designs: int | None) -> list[dict[str, Any]]:
    """One row for each score that has an error."""
    study = read_study(HERE.parent / "quickstart" / "study.toml")
    differ = study.population.replace(priors={**study.population.priors, **WHO_DIFFER})
    factors: dict[str, dict[str, float]] = {}
    for who, asked in (("the same", study), ("who differ", study.replace(population=differ))):
        for design in study.designs[:num_designs]:
            for name, factor in compare_seeds(asked, design.name, num_seeds).items():
                factors.setdefault(name, {})[f"{design.name}, participants {who}"] = factor
            print(f"{design.name}, participants {who}", flush=True)
    rows = []
    for name, found in factors.items():
        smallest, largest = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
        rows.append(
            {
                "score": name,
                "cases": len(found),
                "smallest factor": f"{found[smallest]:.2f}",
                "smallest in": smallest,
                "largest factor": f"{found[largest]:.2f}",
                "largest in": largest,
            }
        )
    return rows


def compare_seeds(study: Study, design_name: str, num_seeds: int) -> dict[str, float]:
    """The factor of every score of a design that is defined for all seeds."""
    (design,) = (design for design in study.designs if design.name == design_name)
    scores: dict[str, list[Score]] = {}
    for seed in range(num_seeds):
        evaluation = evaluate_design(
            study.replace(seed=seed), design, fidelity="information", num_datasets=NUM_DATASETS, cache=BlockCache(None)
        )
        for name, score in list_scores(evaluation):
            scores.setdefault(name, []).append(score)
    factors = {}
    for name, found in scores.items():
        values, errors = np.array(found, float).T
        if np.isfinite(values).all():
            factors[name] = float(values.std(ddof=1) / np.sqrt((errors**2).mean()))
    return factors


def list_scores(evaluation: Evaluation) -> Iterator[tuple[str, Score]]:
    """All scores that are printed with an error, by name."""
    for quantity, scores in evaluation.recovery.items():
        yield from _label(scores, quantity)
    for metric, parts in evaluation.identifiability.scores.items():
        yield from ((f"{metric} of {PARTS[part]}", score) for part, score in parts.items())
    for power in evaluation.power.values():
        yield "power", power.present
        if power.when_absent is not None:
            yield "false-positive rate", power.when_absent


def _label(scores: Mapping[str, Score], quantity: str) -> Iterator[tuple[str, Score]]:
    return ((f"{metric} of {quantity}", score) for metric, score in scores.items())


if __name__ == "__main__":
    main()
