"""How fast and how surely data sets are fitted.

    python studies/benchmark/fits.py [--only importance,longer,...] [--out studies/benchmark/results]

Parts: `importance`, speed and quality of importance sampling on confounded and on two-level designs; `longer`, its means and
standard deviations against a run a hundred times as long; `actors`, posteriors under exact and amortized actors; `compile`,
cold and warm starts, each in a process of its own; `scale`, time and memory for 50, 200 and 1,000 data sets. Ratios are
measured in one run. Everything is printed and written as CSV. NUTS has a benchmark of its own, `nuts.py`.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

import designstudio as ds
from designstudio.core.tables import write_csv
from designstudio.inference.batches import run_importance
from designstudio.inference.coordinates import choose_coordinates
from designstudio.inference.diagnostics import check_chains, check_weights
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.settings import FitSettings, ImportanceSettings
from designstudio.model.actors import AbstractActor, ExactActor, load_actor
from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.model.costs.base import AbstractClosedFormCost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import sort_by_noise
from designstudio.model.likelihood.packing import pack_trials
from designstudio.model.parameters import analysis_priors, population_priors
from designstudio.model.priors import PriorSet
from designstudio.model.simulate import draw_participants, draw_stimuli, label_participants, simulate_trials

NUM_DATASETS = 100
# The scale first: its memory is the largest that the process has ever had.
PARTS = ("scale", "compile", "importance", "longer", "actors")
LEVELS = {"0.1 / 0.2": (0.1, 0.2), "0.05 / 0.3": (0.05, 0.3)}
OTHER_COSTS = ("inverted_gaussian", "linex", "absolute_effort")
LEFT_OUT: set[str] = set()
FIRST_DRAWS = (
    *(f"{cost}:importance" for cost in ("quadratic", "inverted_gaussian")),
    *(f"{cost}:nuts" for cost in ("quadratic", "quadratic_effort", "inverted_gaussian", "linex", "absolute_effort")),
)
# What JAX calls tracing, lowering and compiling (or finding what was compiled), and the programs that batches are.
COMPILING = ("jaxpr_trace_duration", "jaxpr_to_mlir_module_duration", "backend_compile_duration")
PROGRAM = "everywhere"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--without", default="", help="costs to leave out, such as absolute_effort, which takes minutes")
    parser.add_argument("--first-draw", metavar="COST", help="used by the part `compile`")
    arguments = parser.parse_args()
    ds.configure()
    if arguments.first_draw:
        time_first_draw(arguments.first_draw)
        return
    parts = {
        "compile": measure_compilation,
        "importance": measure_importance,
        "longer": compare_with_longer,
        "scale": measure_scale,
        "actors": compare_actors,
    }
    LEFT_OUT.update(filter(None, arguments.without.split(",")))
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.only.split(","):
        rows = parts[name]()
        for row in rows:
            print(name, row, flush=True)
        write_csv(arguments.out / f"fits_{name}.csv", rows)


def pick_actor(name: str) -> AbstractActor:
    """Closed form where there is one, else the package's amortized actor."""
    cost = get_cost(name)
    return ExactActor(cost) if isinstance(cost, AbstractClosedFormCost) else load_actor(name)


def simulate(model: BehaviorModel, num_datasets: int, num_trials: int, truth: dict[str, Any] | None = None) -> Any:
    """Participants and trials of the paper's population, or of one participant."""
    key = jax.random.key(2024)
    population = population_priors(model.parameters)
    people = draw_participants(model, num_datasets, key=jax.random.fold_in(key, 0), population=population)
    if truth is not None:
        values = {name: np.broadcast_to(value, (num_datasets, *np.shape(value))) for name, value in truth.items()}
        people = label_participants(model.parameters, values)
    shape = (num_datasets, model.num_conditions, num_trials)
    stimuli = draw_stimuli(*shape, low=0.25, high=5.0, key=jax.random.fold_in(key, 1))
    return people, simulate_trials(model, people, stimuli, key=jax.random.fold_in(key, 2))


def time_fit(model: BehaviorModel, trials: xr.Dataset, people: xr.Dataset, settings: FitSettings) -> tuple[float, Any]:
    """Seconds of the second of two fits (the first compiles)."""
    fixed = {name: people[name] for name in model.fixed}
    fit_datasets(model, trials, fixed=fixed, settings=settings)
    started = time.monotonic()
    posterior = fit_datasets(model, trials, fixed=fixed, settings=settings)
    return time.monotonic() - started, posterior


def importance_cases() -> list[tuple[str, str, BehaviorModel, dict[str, Any] | None, int]]:
    """Designs on which importance sampling is measured."""
    cases: list[tuple[str, str, BehaviorModel, dict[str, Any] | None, int]] = [
        (name, "one level, 90 trials", BehaviorModel(pick_actor(name)), None, 90)
        for name in ("quadratic_effort", "asymmetric_quadratic", *OTHER_COSTS)
    ]
    for name, own in (("quadratic_effort", {"beta": 0.9}), ("asymmetric_quadratic", {"alpha": 0.4})):
        model = BehaviorModel(pick_actor(name), num_conditions=2, per_condition=("sigma",))
        for label, levels in LEVELS.items():
            truth = {"mu_0": 1.5, "sigma_0": 0.2, "sigma": np.array(levels), "sigma_r": 0.15, **own}
            cases.append((name, f"two levels, {label}, 45 + 45 trials", model, truth, 45))
    return [case for case in cases if case[0] not in LEFT_OUT]


def measure_importance() -> list[dict[str, Any]]:
    """Seconds, effective draws and k-hat of 4,000 draws for 100 data sets; and what escalation then leaves."""
    rows = []
    for name, design, model, truth, num_trials in importance_cases():
        _, trials = simulate(model, NUM_DATASETS, num_trials, truth)
        observations, _ = sort_by_noise(pack_trials(trials, model))
        settings = FitSettings().choose_importance(choose_coordinates(model).choose_num_rounds(model))
        keys = jax.random.split(jax.random.key(0), NUM_DATASETS)
        seconds = []
        for _ in range(4):
            started = time.monotonic()
            batch = jax.block_until_ready(run_importance(model, observations, keys, settings))
            seconds.append(time.monotonic() - started)
        check = check_weights(np.asarray(batch.draws.log_weight))
        fitted: Any = fit_datasets(model, trials, settings=FitSettings(method="importance", keeps_log_likelihood=False))
        draws = {str(n): fitted["posterior"][n].values for n in fitted["posterior"]}
        rhat = check_chains(draws).rhat
        rows.append(
            {
                "cost": name,
                "design": design,
                "seconds": f"{min(seconds[1:]):.2f}",
                "median effective draws": f"{np.median(check.ess):.0f}",
                "p5": f"{np.quantile(check.ess, 0.05):.0f}",
                "at least 500": f"{np.mean(check.ess >= 500):.0%}",
                "at least 300": f"{np.mean(check.ess >= 300):.0%}",
                "k-hat below 0.7": f"{np.mean(check.khat < 0.7):.0%}",
                "good after escalation": f"{np.mean(fitted['diagnostics']['is_good'].values):.0%}",
                "R-hat below 1.05": f"{np.mean(rhat < 1.05):.0%}",
            }
        )
        print("importance", rows[-1], flush=True)
    return rows


def compare_with_longer(num_datasets: int = 10) -> list[dict[str, Any]]:
    """Means and standard deviations of 4,000 draws against 400,000, on one-level and two-level designs."""
    rows = []
    cases = [case for case in importance_cases() if case[0] == "quadratic_effort"]
    for name, design, model, truth, num_trials in cases:
        _, trials = simulate(model, num_datasets, num_trials, truth)
        observations, _ = sort_by_noise(pack_trials(trials, model))
        short = FitSettings().choose_importance(choose_coordinates(model).choose_num_rounds(model))
        long = ImportanceSettings(num_rounds=short.num_rounds, num_blocks=4, block_size=100_000)
        moments = []
        for seed, settings in ((0, short), (1, long)):
            keys = jax.random.split(jax.random.key(seed), num_datasets)
            batch = run_importance(model, observations, keys, settings)
            weights = np.exp(check_weights(np.asarray(batch.draws.log_weight)).log_weight)
            moments.append({n: _moments(np.asarray(v, float), weights) for n, v in batch.draws.found.values.items()})
        means = np.concatenate([_flat((s[0] - r[0]) / r[1]) for s, r in _pairs(moments)])
        spreads = np.concatenate([_flat(s[1] / r[1] - 1) for s, r in _pairs(moments)])
        rows.append(
            {
                "cost": name,
                "design": design,
                "mean differs by, in sd (rms)": f"{np.sqrt(np.mean(means**2)):.3f}",
                "at most": f"{np.abs(means).max():.3f}",
                "sd differs by (rms)": f"{np.sqrt(np.mean(spreads**2)):.1%}",
                "sd at most": f"{np.abs(spreads).max():.1%}",
            }
        )
    return rows


def _moments(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    weights = weights.reshape(weights.shape + (1,) * (values.ndim - 3))
    mean = (weights * values).sum((1, 2))
    return mean, np.sqrt((weights * (values - mean[:, None, None]) ** 2).sum((1, 2)))


def _pairs(moments: list[dict[str, Any]]) -> list[tuple[Any, Any]]:
    return [(moments[0][name], moments[1][name]) for name in moments[0]]


def _flat(array: np.ndarray) -> np.ndarray:
    return np.asarray(array).ravel()


def time_first_draw(name: str) -> None:
    """Print what the first fit of this process takes, in seconds: until sampling begins, compiling, and everything."""
    cost, method = name.split(":")
    model = BehaviorModel(pick_actor(cost), num_conditions=2, per_condition=("sigma",))
    _, trials = simulate(model, NUM_DATASETS, 45)
    # End and length of everything that is done for a program.
    events: list[tuple[float, str, float]] = []

    def note(event: str, duration_secs: float, **about: Any) -> None:
        kind = event.rpartition("/")[2]
        if kind in COMPILING and PROGRAM in str(about.get("fun_name", "")):
            events.append((time.monotonic(), kind, duration_secs))

    jax.monitoring.register_event_duration_secs_listener(note)
    started = time.monotonic()
    fit_datasets(model, trials, settings=FitSettings(method=method, num_draws=500, keeps_log_likelihood=False))
    everything = time.monotonic() - started
    # The largest program is that of the method; one of importance sampling may come before it.
    begins = max((event for event in events if event[1] == COMPILING[-1]), key=lambda event: event[2])[0]
    print(json.dumps([begins - started, sum(seconds for _, _, seconds in events), everything]))


def measure_compilation() -> list[dict[str, Any]]:
    """Seconds of a first fit, two levels and everything free, with an empty and with a filled compilation cache."""
    rows = []
    for name in FIRST_DRAWS:
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "DESIGNSTUDIO_CACHE_DIR": folder}
            command = [sys.executable, __file__, "--first-draw", name]
            cold, warm = (
                json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
                for _ in range(2)
            )
        cost, method = name.split(":")
        row = {"cost": cost, "method": method}
        for what, place in (("until draws begin", 0), ("compiling", 1), ("in all", 2)):
            row |= {f"{what}, cold": f"{cold[place]:.1f}", f"{what}, cached": f"{warm[place]:.1f}"}
        rows.append(row)
        print("compile", rows[-1], flush=True)
    return rows


def measure_scale() -> list[dict[str, Any]]:
    """Time and memory for ever more data sets of 120 trials, two levels, all parameters free."""
    model = BehaviorModel(pick_actor("quadratic_effort"), num_conditions=2, per_condition=("sigma",))
    rows = []
    for num_datasets in (50, 200, 1000):
        people, trials = simulate(model, num_datasets, 60)
        settings = FitSettings(method="importance", num_draws=500, batch_size=50)
        seconds, posterior = time_fit(model, trials, people, settings)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows.append(
            {
                "data sets": num_datasets,
                "seconds": f"{seconds:.1f}",
                "milliseconds a data set": f"{1000 * seconds / num_datasets:.0f}",
                "peak memory (GiB)": f"{memory:.2f}",
                "good": f"{np.mean(posterior['diagnostics']['is_good'].values):.1%}",
            }
        )
    return rows


def compare_actors() -> list[dict[str, Any]]:
    """Posterior means and sds under the exact actor, by reweighting draws of the amortized one: 60 trials, sigma known."""
    rows = []
    for name in (cost for cost in PAPER_COST_NAMES if cost not in LEFT_OUT):
        is_cheap = get_cost(name).num_terms == 1
        num_datasets, num_draws = (NUM_DATASETS, 400) if is_cheap else (20, 50)
        amortized = BehaviorModel(load_actor(name), fixed=("sigma",))
        exact = BehaviorModel(ExactActor(get_cost(name)), fixed=("sigma",), priors=amortized_priors(amortized))
        people, trials = simulate(amortized, num_datasets, 60)
        settings = FitSettings(method="importance", num_draws=200, keeps_log_likelihood=False)
        fitted: Any = fit_datasets(amortized, trials, fixed={"sigma": people["sigma"]}, settings=settings)
        observations, _ = sort_by_noise(pack_trials(trials, amortized, {"sigma": people["sigma"]}))
        draws = {
            n: jnp.asarray(fitted["posterior"][n].values.reshape(num_datasets, -1)[:, :: 800 // num_draws])
            for n in amortized.free
        }
        ratio = np.asarray(_log_likelihoods(exact, observations, draws) - _log_likelihoods(amortized, observations, draws))
        weights = np.exp(ratio - ratio.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        equal = np.full_like(weights, 1 / num_draws)
        means, spreads = [], []
        for values in draws.values():
            array = np.asarray(values, float)[:, None]
            reference = _moments(array, weights[:, None])
            approximate = _moments(array, equal[:, None])
            means.append((approximate[0] - reference[0]) / reference[1])
            spreads.append(approximate[1] / reference[1] - 1)
        is_close = (np.abs(means).max(0) < 0.1) & (np.abs(spreads).max(0) < 0.1)
        rows.append(
            {
                "cost": name,
                "data sets": num_datasets,
                "mean differs by at most, in sd": f"{np.abs(means).max():.4f}",
                "sd differs by at most": f"{np.abs(spreads).max():.2%}",
                "within 0.1 sd and 10 %": f"{is_close.mean():.0%}",
            }
        )
        print("actors", rows[-1], flush=True)
    return rows


def amortized_priors(model: BehaviorModel) -> PriorSet:
    """The priors of an amortized model, truncated as they are, for an exact one."""
    return PriorSet({**analysis_priors(model.parameters), **model.priors})


@eqx.filter_jit
def _log_likelihoods(model: BehaviorModel, observations: Any, draws: Any) -> Any:
    """Log likelihood of every draw of every data set."""
    return jax.lax.map(
        lambda pair: jax.vmap(lambda values: model.log_likelihood(values, pair[0]))(pair[1]), (observations, draws)
    )


if __name__ == "__main__":
    main()
