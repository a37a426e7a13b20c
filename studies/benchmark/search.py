"""What the search saves, and how it scales.

    python studies/benchmark/search.py                  all of it, about 25 minutes on two cores
    python studies/benchmark/search.py --only racing

* racing: the search of studies/search with and without racing, and random search with as many data sets fitted, over five
  seeds: data sets fitted, and the winners' RMSE on the same fresh data sets.
* workers: candidates in a minute of one and of two workers, on the same number of cores.
"""

import argparse
import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import optuna

from designstudio.core.tables import write_csv
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.metrics.monte_carlo import Score
from designstudio.search.estimates import estimate_objective, list_objectives
from designstudio.search.feasible import find_design
from designstudio.search.finalists import choose_finalists
from designstudio.search.run_search import Budget, run_search
from designstudio.search.search_result import SearchResult
from designstudio.search.storage import open_storage
from designstudio.study import Study, read_study

HERE = Path(__file__).parent
STUDY = HERE.parent / "search" / "study.toml"
RESULTS = HERE / "results"
SEEDS = (1, 2, 3, 4, 5)
NUM_TRIALS = 100
# Enough to tell winners apart that differ by a few per cent.
NUM_FRESH = 1000


def compare_racing(out: Path) -> None:
    """Data sets fitted, and what the winner is worth, with racing, without, and by chance."""
    rows = []
    for seed in SEEDS:
        question = read_study(STUDY).replace(seed=seed)
        plan = question.search
        assert plan is not None
        variants = {
            "racing": plan,
            "full evaluation": dataclasses.replace(plan, races=False),
            "random, full evaluation": dataclasses.replace(plan, races=False, sampler="random", num_screened=0),
        }
        budget = NUM_TRIALS
        values = {}
        for name, variant in variants.items():
            result = search(question.replace(search=variant), budget)
            if name == "racing":
                # Random search gets as many data sets as racing had.
                equal = -(-result.num_fits // plan.num_datasets)
            budget = equal if name == "full evaluation" else NUM_TRIALS
            score, values[name] = score_winner(question, result)
            rows.append(
                {
                    "seed": seed,
                    "search": name,
                    "designs": len(result.finished),
                    "data sets fitted": result.num_fits,
                    "seconds": f"{result.seconds:.0f}",
                    "RMSE of the winner, fresh": f"{score.value:.4f}",
                    "error": f"{score.mcse:.4f}",
                    "log ratio to racing": f"{_mean(values[name] - values['racing']).value:+.3f}",
                    "its error": f"{_mean(values[name] - values['racing']).mcse:.3f}",
                }
            )
            print("racing", rows[-1], flush=True)
    write_csv(out / "search_racing.csv", rows)


def search(question: Study, num_candidates: int) -> SearchResult:
    """A search from nothing, without finalists."""
    with tempfile.TemporaryDirectory() as folder:
        return run_search(question, folder, Budget(num_candidates), verifies=False)


def score_winner(question: Study, result: SearchResult) -> tuple[Score, np.ndarray]:
    """The objective of the best design on many fresh data sets, and its pseudo-values for paired comparison."""
    assert question.search is not None
    best = choose_finalists(question, result.records)[0]
    design = find_design(question.search, best.parameters, "winner")
    assert design is not None
    # The same data sets for all seeds of the search.
    judge = question.replace(seed=1)
    evaluation = evaluate_design(
        judge, design, fidelity="importance", num_datasets=NUM_FRESH, first=question.search.first_fresh
    )
    return estimate_objective(list_objectives(question)[0], judge, design, evaluation.summaries)


def _mean(values: np.ndarray) -> Score:
    values = values[np.isfinite(values)]
    return Score(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))))


def compare_workers(out: Path) -> None:
    """Trials in a minute, once everything is compiled."""
    cores = len(os.sched_getaffinity(0))
    rows = []
    for name, workers, per_worker in (
        (f"1 worker, {cores} cores", 1, cores),
        ("1 worker, 1 core", 1, 1),
        (f"{cores} workers, 1 core each", cores, 1),
    ):
        rate = measure_rate(workers, per_worker)
        rows.append({"workers": name, "candidates a minute": f"{rate:.0f}"})
        print("workers", rows[-1], flush=True)
    write_csv(out / "search_workers.csv", rows)


def measure_rate(num_workers: int, cores: int, num_candidates: int = 200) -> float:
    """Candidates in a minute between the first and the last quarter of them, when all workers have begun."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "designstudio",
            "search",
            str(STUDY),
            "--candidates",
            str(num_candidates),
            "--out",
            folder,
        ]
        command += ["--workers", str(num_workers)]
        environment = {**os.environ, "DESIGNSTUDIO_CORES": str(cores)}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times: list[float] = []
        try:
            while process.poll() is None and len(times) < num_candidates * 3 // 4:
                # Seldom: replaying the journal takes processor time from the workers.
                time.sleep(10)
                times = list_times(Path(folder) / "search.journal")
        finally:
            process.terminate()
            process.wait()
        begin, end = num_candidates // 4, num_candidates * 3 // 4 - 1
        return (end - begin) / (times[end] - times[begin]) * 60


def list_times(journal: Path) -> list[float]:
    """When each candidate was finished."""
    if not journal.exists():
        return []
    storage = open_storage(str(journal))
    names = optuna.get_all_study_names(storage)
    if not names:
        return []
    trials = optuna.load_study(study_name=names[0], storage=storage).trials
    return sorted(trial.datetime_complete.timestamp() for trial in trials if trial.datetime_complete)


def main() -> None:
    """Run the parts that are asked for."""
    parts = {"racing": compare_racing, "workers": compare_workers}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=parts, nargs="*", default=list(parts))
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    for name in arguments.only:
        parts[name](arguments.out)


if __name__ == "__main__":
    main()
