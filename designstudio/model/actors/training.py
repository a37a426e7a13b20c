"""Training an amortized actor: recipe, loop, early stop and checkpoints.

The loop alternates a block of updates with a look at the error against the exact actor. That error is only watched: it
decides when to stop and which of the actors seen was best, never how to change a weight. After every block the state is
written to a checkpoint, and because update number i always sees the same random examples, a training that was killed and
resumed ends with the same bits as one that was not.
"""

import dataclasses
import math
import time
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from designstudio.core.progress import Progress, ProgressCallback, estimate_left
from designstudio.errors import ActorFileError, StudioError, UnknownNameError
from designstudio.model.actors import gauss_newton, monte_carlo
from designstudio.model.actors.accuracy import (
    Accuracy,
    Decisions,
    draw_decisions,
    measure_accuracy,
    relative_errors,
    solve_decisions,
    summarize_errors,
)
from designstudio.model.actors.amortized import AmortizedActor
from designstudio.model.actors.base import AbstractActor, Box
from designstudio.model.actors.leaves import read_header, read_leaves, write_leaves
from designstudio.model.actors.paper import PaperActor
from designstudio.model.costs.base import AbstractCost
from designstudio.model.parameters import check_within
from designstudio.model.priors import Interval


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Everything that decides how an actor is trained.

    Attributes:
        architecture: "coefficients" (ours) or "paper".
        method: "gauss_newton" (ours) or "monte_carlo" (the paper's).
        num_steps: updates at most.
        batch_size: examples per update.
        block: updates between two looks at the error.
        target_median, target_p99: relative errors at which training stops early.
        width, depth: size of the coefficient network; the paper's is fixed.
        num_watched: decisions on which the error is watched.
        seed: of weights and examples.
    """

    architecture: str
    method: str
    num_steps: int
    batch_size: int
    block: int
    # Ten times better than what is promised: the promise should not hang on one seed.
    target_median: float = 1e-5
    target_p99: float = 1e-4
    width: int = 24
    depth: int = 2
    num_watched: int = 4000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.architecture not in RECIPES_BY_ARCHITECTURE:
            raise UnknownNameError("architecture", self.architecture, RECIPES_BY_ARCHITECTURE)
        if self.method not in METHODS:
            raise UnknownNameError("training method", self.method, METHODS)
        for name in ("num_steps", "batch_size", "block", "width", "depth", "num_watched"):
            if getattr(self, name) < 1:
                raise StudioError(f"{name} must be at least 1, but {getattr(self, name)} was given.")
        for name in ("target_median", "target_p99"):
            check_within(name, getattr(self, name), Interval(0.0, math.inf), excludes_zero=True)


METHODS: dict[str, Any] = {"gauss_newton": gauss_newton, "monte_carlo": monte_carlo}
_STATES: dict[str, Any] = {"gauss_newton": gauss_newton.GaussNewtonState, "monte_carlo": monte_carlo.MonteCarloState}
RECIPES_BY_ARCHITECTURE: dict[str, dict[str, Any]] = {
    "coefficients": {"method": "gauss_newton", "num_steps": 150, "batch_size": 4096, "block": 10},
    "paper": {"method": "monte_carlo", "num_steps": 500_000, "batch_size": 256, "block": 500},
}


def make_recipe(architecture: str = "coefficients", **changes: Any) -> Recipe:
    """The usual recipe of an architecture, with changes."""
    if architecture not in RECIPES_BY_ARCHITECTURE:
        raise UnknownNameError("architecture", architecture, RECIPES_BY_ARCHITECTURE)
    return Recipe(architecture, **{**RECIPES_BY_ARCHITECTURE[architecture], **changes})


def build_actor(cost: AbstractCost, recipe: Recipe, *, box: Box | None = None, key: Key[Array, ""]) -> AbstractActor:
    """An untrained actor, for this version's box of its architecture or another."""
    if recipe.architecture == "paper":
        return PaperActor(cost, box=box, key=key)
    return AmortizedActor(cost, width=recipe.width, depth=recipe.depth, box=box, key=key)


@dataclasses.dataclass(frozen=True)
class TrainingResult:
    """The best actor seen, its accuracy on fresh decisions, and what it took."""

    actor: AbstractActor
    recipe: Recipe
    accuracy: Accuracy
    num_steps: int
    seconds: float
    has_reached_target: bool


def train_actor(
    cost: AbstractCost,
    recipe: Recipe,
    *,
    checkpoint: Path | None = None,
    progress: ProgressCallback | None = None,
    max_seconds: float = float("inf"),
    num_measured: int = 20_000,
) -> TrainingResult:
    """Train an actor for a cost.

    Args:
        cost: what the actor minimises.
        recipe: how; see `make_recipe`.
        checkpoint: a file to resume from if it exists and to write after every block; removed at the end.
        progress: called after every block; its details have the `accuracy` until then, and whether training `is_resumed`.
        max_seconds: stop after the block that passes this.
        num_measured: fresh decisions for the accuracy of the result.
    """
    weight_key, example_key, watch_key, measure_key = jax.random.split(jax.random.key(recipe.seed), 4)
    state = _STATES[recipe.method].start(build_actor(cost, recipe, key=weight_key))
    watched = draw_decisions(cost, recipe.num_watched, priors=state.actor.training_priors, key=watch_key)
    exact = solve_decisions(cost, watched)
    run = _Run(state, state.actor, _float(jnp.inf), jnp.asarray(0, int), _float(0.0))
    is_resumed = False
    if checkpoint is not None and checkpoint.exists():
        run = _load_checkpoint(checkpoint, cost, recipe, run)
        is_resumed = True
    started, seconds_before = time.monotonic(), float(run.seconds)
    has_reached_target = False
    while int(run.step) < recipe.num_steps and not has_reached_target and float(run.seconds) < max_seconds:
        num_steps = min(recipe.block, recipe.num_steps - int(run.step))
        state = _advance(run.state, run.step, num_steps, recipe, example_key)
        accuracy = _watch(state.actor, watched, exact)
        has_reached_target = accuracy.reaches(recipe.target_median, recipe.target_p99)
        # How many times the targets are missed, at worst; NaN (a broken actor) never counts as best.
        miss = max(accuracy.median / recipe.target_median, accuracy.p99 / recipe.target_p99)
        is_best = miss < float(run.best_miss)
        seconds = seconds_before + time.monotonic() - started
        run = _Run(
            state=state,
            best=state.actor if is_best else run.best,
            best_miss=_float(miss) if is_best else run.best_miss,
            step=run.step + num_steps,
            seconds=_float(seconds),
        )
        if checkpoint is not None:
            write_leaves(checkpoint, _checkpoint_header(cost, recipe), run)
        if progress is not None:
            num_done = int(run.step)
            left = estimate_left(num_done, recipe.num_steps, seconds)
            details = {"accuracy": accuracy, "is_resumed": is_resumed}
            progress(Progress("training", num_done, recipe.num_steps, seconds, left, "steps", details))
    accuracy = measure_accuracy(run.best, num_measured, key=measure_key)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    return TrainingResult(run.best, recipe, accuracy, int(run.step), float(run.seconds), has_reached_target)


def _float(number: float) -> Array:
    # With an explicit type: JAX would compile again for a "weakly typed" Python number.
    return jnp.asarray(number, float)


class _Run(eqx.Module):
    """What a checkpoint holds."""

    state: gauss_newton.GaussNewtonState | monte_carlo.MonteCarloState
    best: AbstractActor
    best_miss: Array
    step: Array
    seconds: Array


@eqx.filter_jit
def _advance(state: Any, step: Array, num_steps: int, recipe: Recipe, key: Key[Array, ""]) -> Any:
    return METHODS[recipe.method].advance(state, step, num_steps, batch_size=recipe.batch_size, key=key)


def _watch(actor: AbstractActor, watched: Decisions, exact: np.ndarray) -> Accuracy:
    return summarize_errors(relative_errors(actor, watched, exact))


def _checkpoint_header(cost: AbstractCost, recipe: Recipe) -> dict[str, Any]:
    return {"kind": "checkpoint", "cost": cost.name, "recipe": dataclasses.asdict(recipe)}


def _load_checkpoint(path: Path, cost: AbstractCost, recipe: Recipe, skeleton: _Run) -> _Run:
    header = read_header(path)
    expected = _checkpoint_header(cost, recipe)
    for name in ("kind", "cost", "recipe"):
        if header.get(name) != expected[name]:
            raise ActorFileError(
                f"The checkpoint {path.name!r} belongs to another training ({name} is {header.get(name)!r}, "
                f"asked for {expected[name]!r}); delete it, or ask for the same training again."
            )
    return read_leaves(path, skeleton)
