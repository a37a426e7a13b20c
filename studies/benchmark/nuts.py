"""What `nuts` gains over other ways to run NUTS, and where it can be trusted.

    python studies/benchmark/nuts.py [--only speed,quality,trials] [--out studies/benchmark/results]

Parts: `speed`, effective draws a second of the studio's NUTS, of numpyro's under vmap on the same density from the same
starts, and of the paper's method (one latent measurement for each trial, data set by data set), all in one run; `quality`,
confounded designs with jumps and identified ones without, and how far importance sampling is from them; `trials`, ten
subjects with 400 and with 4,000 trials of continuous stimuli under all seven costs, compilation included.
"""

import argparse
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from fits import NUM_DATASETS, pick_actor, simulate, time_fit
from jax.sharding import PartitionSpec
from numpyro.infer import MCMC, NUTS
from numpyro.infer.hmc import hmc

import designstudio as ds
from designstudio.core.tables import write_csv
from designstudio.inference.batches import DATASET, ImportanceBatch, local_mesh, run_importance, run_nuts
from designstudio.inference.coordinates import choose_coordinates, constrain
from designstudio.inference.diagnostics import check_chains
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.settings import FitSettings, NutsSettings
from designstudio.inference.target import evaluate_posterior
from designstudio.model.actors import load_actor
from designstudio.model.costs import PAPER_COST_NAMES
from designstudio.model.likelihood.generative import behave
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import drop_trials, sort_by_noise
from designstudio.model.likelihood.packing import pack_trials

# Confounded with one level; told apart with two.
LEVELS = {"one level": (0.2,), "two levels": (0.1, 0.3)}
OWN = {"beta": 0.9, "alpha": 0.6, "gamma": 2.5}
NUM_TRIALS = 90
NUM_SUBJECTS, FEW_TRIALS, MANY_TRIALS = 10, 400, 4000


def main() -> None:
    """Run the benchmark."""
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "speed": measure_speed,
        "quality": measure_quality,
        "trials": measure_trials,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(parts))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    arguments = parser.parse_args()
    ds.configure()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.only.split(","):
        write_csv(arguments.out / f"nuts_{name}.csv", parts[name]())


def nuts_settings(jumps: str = "ridges") -> FitSettings:
    """As the fidelity `nuts` fits."""
    return FitSettings(method="nuts", num_draws=500, keeps_log_likelihood=False, jumps=jumps)


def measure_speed(num_sequential: int = 10, num_compiled: int = 3) -> list[dict[str, Any]]:
    """Effective draws a second: quadratic, sigma known, 60 trials."""
    model = BehaviorModel(pick_actor("quadratic"), fixed=("sigma",))
    people, trials = simulate(model, NUM_DATASETS, 60)
    observations, _ = sort_by_noise(pack_trials(trials, model, {"sigma": people["sigma"]}))
    rows = [_describe_fit(*time_fit(model, trials, people, nuts_settings()))]
    seen = drop_trials(observations)
    importance = nuts_settings().choose_importance(choose_coordinates(model).choose_num_rounds(model))
    start = run_importance(model, seen, jax.random.split(jax.random.key(0), NUM_DATASETS), importance)
    settings = nuts_settings("never").choose_nuts()

    def ours() -> tuple[Any, Any]:
        batch = run_nuts(model, seen, start, jax.random.split(jax.random.key(1), NUM_DATASETS), settings)
        return batch.values, batch.chains.numbers.num_steps

    def theirs() -> tuple[Any, Any]:
        return run_numpyro(model, seen, start, settings)

    for label, run in (("studio's NUTS, no jumps, chains only", ours), ("numpyro's NUTS under vmap, chains only", theirs)):
        jax.block_until_ready(run())
        started = time.monotonic()
        values, steps = jax.block_until_ready(run())
        seconds = time.monotonic() - started
        check = check_chains(jax.tree.map(np.asarray, values))
        rows.append(_describe(label, NUM_DATASETS, seconds, check.ess, check.rhat, np.asarray(steps)))
    rows += run_latent(trials, people, num_sequential, num_compiled)
    for row in rows:
        row["studio's fit is faster by"] = f"{rows[0]['rate'] / row['rate']:.2f}"
    for row in rows:
        row["effective draws a second"] = f"{row.pop('rate'):.0f}"
        print("speed", row, flush=True)
    return rows


def run_numpyro(model: BehaviorModel, seen: Any, start: ImportanceBatch, settings: NutsSettings) -> tuple[Any, Any]:
    """Values and steps of as many chains by numpyro's kernel: the same density, starts, first scale and numbers of draws."""
    assert start.start is not None  # the settings are those of chains
    return _numpyro_program(model, settings)(
        seen, start.proposal.expected, start.start, jax.random.split(jax.random.key(1), start.start.y.shape[:2])
    )


@functools.cache
def _numpyro_program(model: BehaviorModel, settings: NutsSettings) -> Any:
    def one(observations: Any, expected: Any, start: Any, y: Any, key: Any) -> Any:
        centre, factor, _ = start.whitening

        def potential(u: Any) -> Any:
            return -evaluate_posterior(model, centre + factor @ u, observations, expected, is_unbounded=True).log_density

        initialise, move = hmc(potential, algo="NUTS")
        num_warmup = sum(settings.windows)
        u = jax.scipy.linalg.solve_triangular(factor, y - centre, lower=True)
        state = initialise(
            u,
            num_warmup,
            step_size=settings.first_step_size,
            dense_mass=True,
            target_accept_prob=settings.target_acceptance,
            rng_key=key,
        )
        move_on = functools.partial(move, model_args=(), model_kwargs={})
        state = jax.lax.fori_loop(0, num_warmup, lambda _, state: move_on(state), state)

        def step(state: Any, _: Any) -> Any:
            state = move_on(state)
            y = centre + factor @ state.z
            return state, (constrain(model, y, observations, expected, is_unbounded=True).values, state.num_steps)

        return jax.lax.scan(step, state, length=settings.num_draws)[1]

    def dataset(observations: Any, expected: Any, start: Any, keys: Any) -> Any:
        return jax.vmap(lambda y, key: one(observations, expected, start, y, key))(start.y, keys)

    # On all cores, as ours.
    spec = PartitionSpec(DATASET)
    return jax.jit(jax.shard_map(jax.vmap(dataset), mesh=local_mesh(), in_specs=spec, out_specs=spec, check_vma=False))


def run_latent(trials: xr.Dataset, people: xr.Dataset, num_sequential: int, num_compiled: int) -> list[dict[str, Any]]:
    """The paper's method in this repository: compiled once, and compiled for each data set."""
    model = BehaviorModel(load_actor("quadratic"), fixed=("sigma",))
    observations, _ = sort_by_noise(pack_trials(trials, model, {"sigma": people["sigma"]}))

    def run(sampler: MCMC, index: int) -> Any:
        data = jax.tree.map(lambda array: jnp.asarray(array[index]), observations)
        sampler.run(jax.random.key(index), data, extra_fields=("num_steps",))
        draws = sampler.get_samples(group_by_chain=True)
        steps = np.mean(np.asarray(sampler.get_extra_fields()["num_steps"]))
        check = check_chains({name: np.asarray(draws[name])[None] for name in model.free})
        return check.ess[0], check.rhat[0], steps

    def build() -> MCMC:
        kernel = NUTS(functools.partial(behave, model, likelihood="latent"))
        counts = {"num_warmup": 500, "num_samples": 500, "num_chains": 4}
        return MCMC(kernel, **counts, chain_method="vectorized", progress_bar=False, jit_model_args=True)

    sampler, rows = build(), []
    run(sampler, 0)
    for label, count, is_fresh in (
        ("latent, one after the other, compiled once", num_sequential, False),
        ("latent, compiled for each data set", num_compiled, True),
    ):
        started, checks = time.monotonic(), []
        for i in range(count):
            if is_fresh:
                jax.clear_caches()
                sampler = build()
            checks.append(run(sampler, i))
        seconds = time.monotonic() - started
        rows.append(_describe(label, count, seconds, *np.array(checks).T))
    return rows


def _describe_fit(seconds: float, posterior: Any) -> dict[str, Any]:
    diagnostics = posterior["diagnostics"]
    ess, rhat, steps = (diagnostics[name].values for name in ("ess", "rhat", "mean_steps"))
    return _describe("studio: whole fit, all data sets at once", NUM_DATASETS, seconds, ess, rhat, steps)


def _describe(label: str, count: int, seconds: float, ess: Any, rhat: Any, steps: Any) -> dict[str, Any]:
    return {
        "method": label,
        "data sets": count,
        "seconds a data set": f"{seconds / count:.4f}",
        "steps a draw": f"{np.mean(steps):.1f}",
        "median of smallest effective draws": f"{np.median(ess):.0f}",
        "largest R-hat": f"{np.max(rhat):.3f}",
        "rate": np.sum(ess) / seconds,
    }


def measure_quality() -> list[dict[str, Any]]:
    """Confounded designs with jumps, identified ones without: what is good at first, and importance sampling against it."""
    rows = []
    for cost in PAPER_COST_NAMES:
        # Nothing known and one level leaves most open; two levels and known noise least.
        for design, jumps, knows_sigma in (("one level", "ridges", False), ("two levels", "never", True)):
            rows.append(_compare(cost, design, jumps, knows_sigma))
            print("quality", rows[-1], flush=True)
    return rows


def _compare(cost: str, design: str, jumps: str, knows_sigma: bool) -> dict[str, Any]:
    levels = LEVELS[design]
    actor = pick_actor(cost)
    own = {parameter.name: OWN[parameter.name] for parameter in actor.cost.parameters}
    sigma = np.array(levels) if len(levels) > 1 else levels[0]
    free = BehaviorModel(actor, num_conditions=len(levels), per_condition=("sigma",))
    _, trials = simulate(
        free, NUM_DATASETS, NUM_TRIALS // len(levels), {"mu_0": 1.5, "sigma_0": 0.2, "sigma_r": 0.15, "sigma": sigma, **own}
    )
    model = BehaviorModel(actor, num_conditions=len(levels), fixed=("sigma",)) if knows_sigma else free
    fixed = {"sigma": sigma} if knows_sigma else {}
    fits: Any = {
        method: fit_datasets(model, trials, fixed=fixed, settings=settings)
        for method, settings in (
            ("nuts", nuts_settings(jumps)),
            ("importance", FitSettings(method="importance", num_draws=2000, keeps_log_likelihood=False)),
        )
    }
    diagnostics = fits["nuts"]["diagnostics"]
    is_good = diagnostics["is_good"].values & fits["importance"]["diagnostics"]["is_good"].values
    means, spreads = [], []
    for name in model.free:
        one, other = (fit["posterior"][name].values[is_good] for fit in fits.values())
        means.append((other.mean((1, 2)) - one.mean((1, 2))) / one.std((1, 2)))
        spreads.append(other.std((1, 2)) / one.std((1, 2)) - 1)
    shifts, ratios = (np.concatenate([part.reshape(len(part), -1) for part in parts], 1) for parts in (means, spreads))
    return {
        "cost": cost,
        "design": design,
        "sigma": "known" if knows_sigma else "free",
        "jumps": jumps,
        "good": int(diagnostics["is_good"].values.sum()),
        "good at first": int((diagnostics["is_good"].values & (diagnostics["stage"].values == "nuts")).sum()),
        "largest R-hat of good": f"{diagnostics['rhat'].values[diagnostics['is_good'].values].max():.4f}",
        "smallest ESS of good": f"{diagnostics['ess'].values[diagnostics['is_good'].values].min():.0f}",
        "steps a draw": f"{diagnostics['mean_steps'].values.mean():.1f}",
        "divergent": f"{diagnostics['num_divergent'].values.sum() / (NUM_DATASETS * 2000):.2%}",
        "importance: good": int(fits["importance"]["diagnostics"]["is_good"].values.sum()),
        # Mean over data sets: what sampling leaves in each of them averages out.
        "importance: mean off by, in sd": f"{np.abs(shifts.mean(0)).max():.3f}",
        "importance: sd off by": f"{np.abs(ratios.mean(0)).max():.1%}",
    }


def measure_trials() -> list[dict[str, Any]]:
    """Ten subjects with few and with many trials, each with stimuli of its own, under every cost."""
    rows, totals = [], {FEW_TRIALS: 0.0, MANY_TRIALS: 0.0}
    for cost in PAPER_COST_NAMES:
        model = BehaviorModel(load_actor(cost))
        row: dict[str, Any] = {"cost": cost}
        for num_trials in (MANY_TRIALS, FEW_TRIALS):
            _, trials = simulate(model, NUM_SUBJECTS, num_trials)
            settings = FitSettings(keeps_log_likelihood=False)
            seconds = []
            for _ in range(2):
                started = time.monotonic()
                posterior: Any = fit_datasets(model, trials, settings=settings)
                seconds.append(time.monotonic() - started)
            totals[num_trials] += seconds[0]
            row[f"{num_trials:,} trials: first (s)"] = f"{seconds[0]:.1f}"
            row[f"{num_trials:,} trials: warm (s)"] = f"{seconds[1]:.2f}"
            row[f"{num_trials:,} trials: good"] = int(posterior["diagnostics"]["is_good"].values.sum())
        print("trials", row, flush=True)
        rows.append(row)
    print("trials: all seven costs", {f"{num:,}": f"{seconds:.0f} s" for num, seconds in totals.items()}, flush=True)
    return rows


if __name__ == "__main__":
    main()
