"""Whether importance sampling and NUTS find the posterior: both against brute force, which shares nothing with either.

    python studies/benchmark/references.py [--costs linex,absolute] [--out studies/benchmark/results]

The reference draws millions of participants from the analysis prior and weights each by the likelihood of all trials, by the
careful rule: no coordinates, no proposal, no chain. Its effective draws say how exact it is. Means are compared in posterior
standard deviations. One level of uncertainty confounds prior and cost; two levels tell them apart.
"""

import argparse
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from fits import pick_actor, simulate

import designstudio as ds
from designstudio.core.tables import write_csv
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.settings import FitSettings
from designstudio.model.costs import PAPER_COST_NAMES
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.likelihood.observations import Observations, drop_trials, sort_by_noise
from designstudio.model.likelihood.packing import pack_trials

DESIGNS = {"one level": (0.2,), "two levels": (0.1, 0.3)}
OWN = {"beta": 0.9, "alpha": 0.6, "gamma": 2.5}
NUM_DATASETS, NUM_TRIALS = 4, 60
# Draws from the prior: a regression is quick to weight, trials take their time.
NUM_DRAWS = {True: 8_000_000, False: 1_000_000}
NUM_AT_ONCE = 20_000
METHODS = {
    "importance": FitSettings(method="importance", keeps_log_likelihood=False),
    "nuts": FitSettings(method="nuts", keeps_log_likelihood=False),
    "nuts without jumps": FitSettings(method="nuts", jumps="never", keeps_log_likelihood=False),
}


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--costs", default=",".join(PAPER_COST_NAMES))
    arguments = parser.parse_args()
    ds.configure()
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in arguments.costs.split(","):
        for design, levels in DESIGNS.items():
            rows += compare(name, design, levels)
            # As it goes: later ones take long.
            write_csv(arguments.out / "references.csv", rows)


def compare(name: str, design: str, levels: tuple[float, ...]) -> list[dict[str, Any]]:
    """One row for each method."""
    model = BehaviorModel(pick_actor(name), num_conditions=len(levels), fixed=("sigma",))
    own = {parameter.name: OWN[parameter.name] for parameter in model.actor.cost.parameters}
    truth = {"mu_0": 1.5, "sigma_0": 0.2, "sigma_r": 0.15, **own}
    simulated = BehaviorModel(model.actor, num_conditions=len(levels), per_condition=("sigma",))
    sigma = np.array(levels) if len(levels) > 1 else levels[0]
    _, trials = simulate(simulated, NUM_DATASETS, NUM_TRIALS // len(levels), {**truth, "sigma": sigma})
    fixed = {"sigma": sigma}
    observations, _ = sort_by_noise(pack_trials(trials, model, fixed))
    references = [
        integrate(model, jax.tree.map(lambda a, i=i: jnp.asarray(a[i]), observations), i) for i in range(NUM_DATASETS)
    ]
    rows = []
    for method, settings in METHODS.items():
        fit: Any = fit_datasets(model, trials, fixed=fixed, settings=settings)
        means, spreads = [], []
        for parameter in model.free:
            draws = fit["posterior"][parameter].values.reshape(NUM_DATASETS, -1)
            expected, sd = np.array([reference[0][parameter] for reference in references]).T
            means.append((draws.mean(1) - expected) / sd)
            spreads.append(draws.std(1) / sd - 1)
        row = {
            "cost": name,
            "design": design,
            "method": method,
            "good": f"{int(fit['diagnostics']['is_good'].values.sum())} of {NUM_DATASETS}",
            "mean differs by, in sd (rms)": f"{np.sqrt(np.mean(np.square(means))):.3f}",
            "at most": f"{np.abs(means).max():.3f}",
            # With its sign: what sampling leaves in single data sets averages out.
            "sd differs by (mean)": f"{np.mean(spreads):+.1%}",
            "sd differs by (rms)": f"{np.sqrt(np.mean(np.square(spreads))):.1%}",
            "sd at most": f"{np.abs(spreads).max():.1%}",
            "effective draws of the reference, least": f"{min(reference[1] for reference in references):.0f}",
        }
        print(row, flush=True)
        rows.append(row)
    return rows


def integrate(model: BehaviorModel, observations: Observations, seed: int) -> tuple[dict[str, tuple[float, float]], float]:
    """Posterior mean and standard deviation of every parameter of one data set, and the effective draws they come from."""
    seen = drop_trials(observations) if model.is_linear else observations
    num_batches = NUM_DRAWS[model.is_linear] // NUM_AT_ONCE

    @jax.jit
    def draw(key: Any) -> Any:
        values = jax.vmap(lambda key: model.sample_prior(key=key))(jax.random.split(key, NUM_AT_ONCE))
        return values, jax.lax.map(lambda value: model.log_likelihood(value, seen), values, batch_size=500)

    kept: list[Any] = []
    for key in jax.random.split(jax.random.key(seed), num_batches):
        values, log_weight = (jax.tree.map(np.asarray, part) for part in draw(key))
        # The best draw so far decides which can count at all.
        best = max([log_weight.max(), *(k[1].max() for k in kept[-1:])])
        is_kept = log_weight > best - 30
        kept.append(({name: value[is_kept] for name, value in values.items()}, log_weight[is_kept].astype(float)))
        if not is_kept.any():
            kept.pop()
    log_weight = np.concatenate([k[1] for k in kept])
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    moments = {}
    for name in model.free:
        value = np.concatenate([k[0][name] for k in kept]).astype(float)
        mean = weight @ value
        moments[name] = (float(mean), float(np.sqrt(weight @ (value - mean) ** 2)))
    return moments, float(1 / np.sum(weight**2))


if __name__ == "__main__":
    main()
