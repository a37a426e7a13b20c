"""What an accelerator gains, and whether it finds the same posteriors as the CPU.

    python studies/benchmark/accelerator.py [--datasets 100,1000] [--costs quadratic_effort,linex] [--out FILE]

Every fit runs in two processes, one on whatever JAX finds and one on the CPU, with the same participants and seed. Random
numbers are the same on all devices, rounding is not, so chains part after some steps: agreement is that of posterior means,
in standard deviations, next to what two seeds differ by on the CPU. The developers have no accelerator: no number of one is
committed.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

COSTS = "quadratic_effort,inverted_gaussian"
DATASETS = "100,1000"
METHODS = ("importance", "nuts")
SIGMA = (0.1, 0.3)


def main() -> None:
    """Run everything on both devices."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default=DATASETS, help="how many are fitted at once, separated by commas")
    parser.add_argument("--costs", default=COSTS)
    parser.add_argument("--out", type=Path, help="a CSV file")
    parser.add_argument("--fit", help="used by the script itself: one fit in this process")
    arguments = parser.parse_args()
    if arguments.fit:
        print(json.dumps(fit(**json.loads(arguments.fit))))
        return
    rows = []
    for cost in arguments.costs.split(","):
        for method in METHODS:
            for num in map(int, arguments.datasets.split(",")):
                rows.append(compare(cost, method, num))
                print(rows[-1], flush=True)
    table = Table(title="Two levels, 45 + 45 trials, all parameters free; seconds of the second run")
    for name in rows[0]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console().print(table)
    if rows[0]["device"] == "cpu":
        print("JAX finds no accelerator here: both are the CPU.")
    if arguments.out is not None:
        from designstudio.core.tables import write_csv  # noqa: PLC0415  (after JAX was told about devices)

        write_csv(arguments.out, rows)


def compare(cost: str, method: str, num_datasets: int) -> dict[str, Any]:
    """One row: seconds on both devices, and how far their posterior means differ."""
    request = {"cost": cost, "method": method, "num_datasets": num_datasets}
    here = run_apart({**request, "seed": 1}, None)
    cpu, again = (run_apart({**request, "seed": seed}, "cpu") for seed in (1, 2))
    return {
        "cost": cost,
        "method": method,
        "data sets": num_datasets,
        "device": here["device"],
        "seconds": f"{here['seconds']:.2f}",
        "cold": f"{here['cold']:.1f}",
        "CPU: seconds": f"{cpu['seconds']:.2f}",
        "faster by": f"{cpu['seconds'] / here['seconds']:.1f}",
        "failed": here["failed"],
        "CPU: failed": cpu["failed"],
        "means differ by, in sd (rms)": f"{difference(here, cpu):.3f}",
        "two seeds on the CPU": f"{difference(again, cpu):.3f}",
    }


def difference(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Root mean square difference of posterior means, in standard deviations, over parameters and data sets."""
    shifts = (np.array(one["mean"]) - np.array(other["mean"])) / np.array(other["sd"])
    return float(np.sqrt(np.nanmean(shifts**2)))


def run_apart(request: dict[str, Any], platform: str | None) -> dict[str, Any]:
    """One fit in a process of its own, because JAX chooses its devices once."""
    environment = dict(os.environ) if platform is None else {**os.environ, "JAX_PLATFORMS": platform}
    command = [sys.executable, __file__, "--fit", json.dumps(request)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def fit(cost: str, method: str, num_datasets: int, seed: int) -> dict[str, Any]:
    """Simulate and fit twice; the first time compiles."""
    import jax  # noqa: PLC0415  (only where a fit is made)
    from fits import pick_actor, simulate  # noqa: PLC0415

    import designstudio as ds  # noqa: PLC0415
    from designstudio.inference.fit_datasets import fit_datasets  # noqa: PLC0415
    from designstudio.inference.settings import FitSettings  # noqa: PLC0415
    from designstudio.model.likelihood.model import BehaviorModel  # noqa: PLC0415

    ds.configure()
    model = BehaviorModel(pick_actor(cost), num_conditions=len(SIGMA), per_condition=("sigma",))
    _, trials = simulate(model, num_datasets, 45)
    settings = FitSettings(method=method, num_draws=500, keeps_log_likelihood=False, batch_size=num_datasets)
    seconds = []
    for _ in range(2):
        started = time.monotonic()
        posterior: Any = fit_datasets(model, trials, settings=settings, seed=seed)
        seconds.append(time.monotonic() - started)
    is_good = posterior["diagnostics"]["is_good"].values
    draws = [posterior["posterior"][name].values for name in model.free]
    columns = [values.reshape(*values.shape[:3], -1) for values in draws]
    stacked = np.where(is_good[:, None, None, None], np.concatenate(columns, axis=-1), np.nan)
    return {
        "device": jax.default_backend(),
        "cold": seconds[0],
        "seconds": seconds[1],
        "failed": int((~is_good).sum()),
        "mean": stacked.mean((1, 2)).tolist(),
        "sd": stacked.std((1, 2)).tolist(),
    }


if __name__ == "__main__":
    main()
