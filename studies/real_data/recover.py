"""Would the studio find the truth in data like these? Simulated groups and simulated costs.

    python studies/real_data/recover.py [--groups 20] [--participants 40]

* groups: participants whose parameters scatter around known medians; do the pooled fits find medians and spreads, and are
  pooled subjects closer to their truth than separate ones?
* winners: participants that minimise each of the seven costs, fitted with all seven: does each win as often as the confusion
  matrix, made from other participants, predicts?
"""

import argparse
import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import jax
import numpy as np
import xarray as xr
from data import RESULTS
from scipy import stats

import designstudio as ds
from designstudio.core.tables import write_csv
from designstudio.evaluate.experiment import prepare_experiment, simulate_experiment
from designstudio.evaluate.model_recovery import recover_models
from designstudio.fitting.comparison import Comparison
from designstudio.fitting.fit_subjects import fit_subjects
from designstudio.fitting.reading import read_data
from designstudio.fitting.request import FitRequest
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.hierarchical import pool_subjects
from designstudio.inference.settings import FitSettings
from designstudio.metrics.monte_carlo import score_share
from designstudio.model.actors import load_actor
from designstudio.model.costs import PAPER_COST_NAMES
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.simulate import draw_stimuli, label_participants, simulate_trials
from designstudio.study import Analysis, Known, Population, Study
from designstudio.study.design import Condition, Design, Stimuli

NUM_SUBJECTS, LEVELS, NUM_TRIALS = 16, (0.1, 0.25), 40
# Of the group, on the scale on which subjects are normal: log, but logit for beta.
SPREAD = {"mu_0": 0.25, "sigma_0": 0.2, "sigma_r": 0.2, "beta": 0.4}
MEDIAN = {"mu_0": 1.5, "sigma_0": 0.2, "sigma_r": 0.15, "beta": 0.85}
DESIGN = Design(
    "two levels",
    (Condition("low", 90, {"sigma": 0.1}), Condition("high", 90, {"sigma": 0.25})),
    Stimuli(low=0.5, high=3.0),
)


def recover_groups(num_groups: int) -> list[dict[str, object]]:
    """Coverage of group medians, and errors of subjects."""
    model = BehaviorModel(load_actor("quadratic_effort"), num_conditions=2, fixed=["sigma"])
    inside: dict[str, list[bool]] = {name: [] for name in MEDIAN}
    errors: dict[str, dict[str, list[np.ndarray]]] = {name: {"separate": [], "pooled": []} for name in MEDIAN}
    is_trusted: list[bool] = []
    for group in range(num_groups):
        rng = np.random.default_rng((7, group))
        # Each group has medians of its own, so that no single place is tested.
        centre = {name: to_line(name, MEDIAN[name]) + rng.normal(0, 0.2) for name in MEDIAN}
        true = {n: from_line(n, centre[n] + SPREAD[n] * rng.standard_normal(NUM_SUBJECTS)) for n in MEDIAN}
        participants = label_participants(
            model.parameters, {**true, "sigma": np.tile(LEVELS, (NUM_SUBJECTS, 1))}
        ).assign_coords(dataset=np.arange(NUM_SUBJECTS))
        stimulus_key, noise_key = jax.random.split(jax.random.key(group))
        stimuli = draw_stimuli(NUM_SUBJECTS, 2, NUM_TRIALS, low=0.5, high=3.0, key=stimulus_key)
        trials = simulate_trials(model, participants, stimuli, key=noise_key)
        settings = FitSettings(method="importance", num_draws=1000, keeps_log_likelihood=False)
        posterior = fit_datasets(model, trials, fixed={"sigma": list(LEVELS)}, settings=settings)
        pooled = pool_subjects(posterior, model, trials, fixed={"sigma": list(LEVELS)}, seed=group)
        is_trusted.append(bool(pooled["convergence"]["is_good"]))
        for name in MEDIAN:
            draws: Any = pooled["group"][f"{name}_median"].values
            low, high = np.quantile(draws, [0.03, 0.97])
            inside[name].append(low <= from_line(name, centre[name]) <= high)
            kept: Any = pooled["posterior"]["dataset"].values
            for kind, tree in (("separate", posterior), ("pooled", pooled)):
                mean: Any = tree["posterior"][name].sel(dataset=kept).mean(("chain", "draw")).values
                errors[name][kind].append(mean - true[name][kept])
        print(f"group {group + 1} of {num_groups}", flush=True)
    rows = []
    for name in MEDIAN:
        separate, pooled_error = (np.concatenate(errors[name][kind]) for kind in ("separate", "pooled"))
        rows.append(
            {
                "parameter": name,
                "groups": num_groups,
                "94 % interval of the median covers": str(score_share(np.array(inside[name]))),
                "RMSE of subjects, separate": f"{np.sqrt(np.mean(separate**2)):.4f}",
                "RMSE of subjects, pooled": f"{np.sqrt(np.mean(pooled_error**2)):.4f}",
                "ratio": f"{np.sqrt(np.mean(pooled_error**2) / np.mean(separate**2)):.2f}",
                "groups not to be trusted": is_trusted.count(False),
            }
        )
    return rows


def to_line(name: str, value: float) -> float:
    """On the scale on which subjects are normal."""
    return float(np.log(value / (1 - value)) if name == "beta" else np.log(value))


def from_line(name: str, value: Any) -> Any:
    """Back from it."""
    return 1 / (1 + np.exp(-value)) if name == "beta" else np.exp(value)


def recover_winners(num_participants: int) -> list[dict[str, object]]:
    """How often each cost wins on data it has made: predicted from some participants, seen in others."""
    study = Study(
        "quadratic",
        (DESIGN,),
        analysis=Analysis(known={"sigma": Known()}),
        candidates=PAPER_COST_NAMES,
        num_datasets=num_participants,
    )
    predicted = recover_models(study, DESIGN)
    rows = []
    for cost in PAPER_COST_NAMES:
        comparison = fit_simulated(dataclasses.replace(study, seed=2, population=Population(cost=cost)))
        is_decided = comparison.table["is_good"].all("cost").values
        won = comparison.table["is_winner"].sel(cost=cost).values[is_decided]
        first, second = predicted.chance_to_win(cost), score_share(won)
        rows.append(
            {
                "cost": cost,
                "participants": num_participants,
                "predicted to win": str(first),
                "won": str(second),
                "difference in errors": f"{(second.value - first.value) / np.hypot(first.mcse, second.mcse):+.1f}",
                "p (Fisher)": f"{compare_shares(first.value, second.value, num_participants):.3f}",
                "undecided": comparison.num_undecided,
            }
        )
        print(rows[-1], flush=True)
    return rows


def compare_shares(first: float, second: float, num: int) -> float:
    """Fisher's exact test of two shares of as many participants."""
    counts = [[round(share * num), num - round(share * num)] for share in (first, second)]
    return float(stats.fisher_exact(counts).pvalue)


def fit_simulated(study: Study) -> Comparison:
    """Simulated participants, written to a file as people do, and fitted as if they were real."""
    experiment = prepare_experiment(study, DESIGN, first=0, num_datasets=study.num_datasets)
    trials = simulate_experiment(study, DESIGN, experiment)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "simulated.csv"
        with path.open("w") as file:
            file.write("subject,condition,stimulus,response\n")
            for dataset in range(trials.sizes["dataset"]):
                one = trials.isel(dataset=dataset)
                labels = one["condition"].values[one["condition_index"].values]
                for row in zip(labels, one["stimulus"].values, one["response"].values, strict=True):
                    file.write(f"{dataset},{row[0]},{row[1]:.9g},{row[2]:.9g}\n")
        loaded = read_data(path)
    levels = {condition.name: condition.levels["sigma"] for condition in DESIGN.conditions}
    sigma = xr.DataArray(list(levels.values()), dims="condition", coords={"condition": list(levels)})
    settings = FitSettings(num_draws=250, min_ess=200.0)
    comparison = fit_subjects(loaded, FitRequest(fixed={"sigma": sigma}, settings=settings)).comparison
    assert comparison is not None
    return comparison


def main() -> None:
    """Write both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=20)
    parser.add_argument("--participants", type=int, default=40)
    parser.add_argument("--only", choices=("groups", "winners"))
    arguments = parser.parse_args()
    ds.configure()
    RESULTS.mkdir(exist_ok=True)
    if arguments.only != "winners":
        write_csv(RESULTS / "groups.csv", recover_groups(arguments.groups))
    if arguments.only != "groups":
        write_csv(RESULTS / "winners.csv", recover_winners(arguments.participants))


if __name__ == "__main__":
    main()
