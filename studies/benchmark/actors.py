"""How accurate the actors are, how fast they are trained, and how fast they act.

    python studies/benchmark/actors.py [--paper-seconds 60] [--out studies/benchmark/results]

For every cost, the coefficient architecture is trained until it reaches the promised accuracy (median relative error 1e-4,
p99 1e-3) and the paper's architecture, with the paper's objective, optimizer and box, for a fixed time. All are then
measured on 20,000 fresh decisions over the box they were trained on, as are the actors that come with the package. Then a
million actions with their gradients are timed. Everything is printed and written as CSV; the tables in README come from
these files.
"""

import argparse
import csv
import resource
import time
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

import designstudio as ds
from designstudio.model.actors import load_actor, make_recipe, measure_accuracy, train_actor
from designstudio.model.actors.accuracy import Decisions, draw_decisions
from designstudio.model.actors.base import AbstractActor
from designstudio.model.costs import PAPER_COST_NAMES, get_cost

PROMISE: dict[str, Any] = {"target_median": 1e-4, "target_p99": 1e-3}
NUM_DECISIONS = 20_000
NUM_ACTIONS = 1_000_000
CHUNK = 50_000


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper-seconds", type=float, default=60.0, help="training time of the paper's architecture")
    parser.add_argument("--costs", default=",".join(PAPER_COST_NAMES))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    arguments = parser.parse_args()
    # Everything is compiled here: a cold start is timed.
    ds.configure(cache=False)
    costs = arguments.costs.split(",")
    # First, while the process has used little memory: the peak is the process's.
    throughput = time_million_actions(costs)
    training = [row for cost in costs for row in compare_architectures(cost, arguments.paper_seconds)]
    arguments.out.mkdir(parents=True, exist_ok=True)
    report("Training and accuracy", training, arguments.out / "actors_training.csv")
    report(f"{NUM_ACTIONS:,} amortized actions with gradients", throughput, arguments.out / "actors_throughput.csv")


def compare_architectures(name: str, paper_seconds: float) -> list[dict[str, Any]]:
    """Train both architectures and measure them, and the package's actor, on fresh decisions."""
    cost = get_cost(name)
    started = time.monotonic()
    ours = train_actor(cost, make_recipe(**PROMISE), num_measured=100)
    our_seconds = time.monotonic() - started
    started = time.monotonic()
    paper = train_actor(cost, make_recipe("paper", **PROMISE), max_seconds=paper_seconds, num_measured=100)
    paper_total = time.monotonic() - started
    rows = []
    for label, actor, num_steps, seconds in (
        ("coefficients", ours.actor, ours.num_steps, our_seconds),
        ("paper", paper.actor, paper.num_steps, paper_total),
        ("coefficients (in the package)", load_actor(name), 0, 0.0),
    ):
        accuracy = measure_accuracy(actor, NUM_DECISIONS, key=jax.random.key(2024))
        row = {
            "cost": name,
            "architecture": label,
            "seconds": f"{seconds:.1f}" if seconds else "",
            "steps": num_steps or "",
            "median": f"{accuracy.median:.1e}",
            "p99": f"{accuracy.p99:.1e}",
            "max": f"{accuracy.max:.1e}",
        }
        print(row, flush=True)
        rows.append(row)
    return rows


@eqx.filter_jit
def act_with_gradients(actor: AbstractActor, decisions: Decisions) -> tuple[Array, dict[str, Float[Array, " decision"]]]:
    """Log actions and their derivatives with respect to every parameter."""

    def act(decision: Decisions) -> tuple[Array, dict[str, Array]]:
        def log_action(participant: dict[str, Array]) -> Array:
            return actor.policy(participant)(decision.log_measurements)

        return jax.value_and_grad(log_action)(decision.participants)

    return jax.lax.map(act, decisions, batch_size=CHUNK)


def time_million_actions(costs: list[str]) -> list[dict[str, Any]]:
    """Warm time and peak memory for a million actions, each of another participant, with gradients."""
    rows = []
    for name in costs:
        actor = load_actor(name)
        decisions = draw_decisions(get_cost(name), NUM_ACTIONS, key=jax.random.key(1))
        jax.block_until_ready(act_with_gradients(actor, decisions))
        times = []
        for _ in range(3):
            started = time.monotonic()
            log_actions, gradients = jax.block_until_ready(act_with_gradients(actor, decisions))
            times.append(time.monotonic() - started)
        assert jnp.isfinite(log_actions).all()
        assert all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(gradients))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        row = {"cost": name, "seconds (best of 3)": f"{min(times):.2f}", "peak memory of the process (GiB)": f"{peak:.2f}"}
        print(row, flush=True)
        rows.append(row)
    return rows


def report(title: str, rows: list[dict[str, Any]], path: Path) -> None:
    """Print rows as a Markdown table and write them as CSV."""
    header = list(rows[0])
    print(f"\n### {title}\n")
    for cells in (header, ["---"] * len(header), *([str(row[name]) for name in header] for row in rows)):
        print("| " + " | ".join(cells) + " |")
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, header)
        writer.writeheader()
        writer.writerows(rows)
    print(f"\nWritten to {path}.")


if __name__ == "__main__":
    main()
