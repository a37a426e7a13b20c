"""Trained actors in files, and those that come with the package.

An actor file is one line of JSON (cost, architecture, training box, accuracy, versions) and the weights as raw numbers;
see `designstudio.model.actors.leaves`. `load_actor("quadratic")` takes the package's own, `load_actor(Path("my.actor"))`
any other.
"""

import dataclasses
import functools
import math
from importlib import resources
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from designstudio.core.arrays import put
from designstudio.core.configuration import configure_once
from designstudio.core.versions import list_versions
from designstudio.errors import ActorFileError, StudioError, UnknownNameError
from designstudio.model.actors.accuracy import Accuracy
from designstudio.model.actors.base import AbstractActor, Box
from designstudio.model.actors.leaves import read_header, read_leaves, write_leaves
from designstudio.model.actors.training import Recipe, TrainingResult, build_actor
from designstudio.model.costs.base import AbstractCost
from designstudio.model.costs.registry import available_costs
from designstudio.model.priors import Interval

SUFFIX = ".actor"


@dataclasses.dataclass(frozen=True)
class ActorCard:
    """What an actor file says about itself."""

    path: Path
    cost: str
    recipe: Recipe
    box: dict[str, tuple[float, float]]
    accuracy: Accuracy
    num_steps: int
    training_seconds: float
    versions: dict[str, str]

    @property
    def num_bytes(self) -> int:
        """Size of the file."""
        return self.path.stat().st_size


def save_actor(path: Path, result: TrainingResult) -> None:
    """Write a trained actor."""
    cost = result.actor.cost
    header = {
        "kind": "actor",
        "cost": cost.name,
        "probes": probe_cost(cost),
        "recipe": dataclasses.asdict(result.recipe),
        "box": {name: [interval.low, interval.high] for name, interval in result.actor.box},
        "accuracy": dataclasses.asdict(result.accuracy),
        "num_steps": result.num_steps,
        "training_seconds": round(result.seconds, 1),
        "versions": list_versions(("designstudio", "jax", "equinox")),
    }
    write_leaves(path, header, result.actor)


def load_actor(source: str | Path) -> AbstractActor:
    """A trained actor: by the name of its cost from the package's zoo, or from a file.

    Raises:
        UnknownNameError: if the zoo has no actor of that name.
        ActorFileError: if the file is damaged, or made for another cost or version.
    """
    configure_once()
    path = source if isinstance(source, Path) else _zoo_path(source)
    card = read_card(path)
    costs = available_costs()
    if card.cost not in costs:
        raise ActorFileError(
            f"The actor {path.name!r} was trained for the cost {card.cost!r}, which is not registered. "
            f"Available: {', '.join(costs)}; load the file that defines it first (--cost-file)."
        )
    cost = costs[card.cost]
    if not _agree(read_header(path).get("probes"), probe_cost(cost)):
        raise ActorFileError(
            f"The actor {path.name!r} was trained for another version of the cost {cost.name!r}: the cost now gives "
            "other values; train the actor again."
        )
    box = _read_box(card, cost)
    return read_leaves(path, _outline_actor(cost, card.recipe, box))


def _outline_actor(cost: AbstractCost, recipe: Recipe, box: Box | None = None) -> AbstractActor:
    """An actor with the shapes of its weights in their place: nothing is drawn or compiled."""
    return eqx.filter_eval_shape(lambda: build_actor(cost, recipe, box=box, key=jax.random.key(0)))


def _read_box(card: ActorCard, cost: AbstractCost) -> Box:
    """The file's own box: for beliefs it may be another than this version's, and the actor is right where it was trained.

    The cost's own parameters must have the box that they had: the network sees them relative to it.
    """
    own = {parameter.name: (parameter.box.low, parameter.box.high) for parameter in cost.parameters}
    expected = _outline_actor(cost, card.recipe).box
    if list(card.box) != [name for name, _ in expected] or any(card.box[name] != ends for name, ends in own.items()):
        raise ActorFileError(
            f"The actor {card.path.name!r} was trained on another box than the cost {cost.name!r} has now; train it again."
        )
    return tuple((name, Interval(low, high)) for name, (low, high) in card.box.items())


def read_card(path: Path) -> ActorCard:
    """What an actor file says about itself, without its weights.

    Raises:
        ActorFileError: if it is not an actor file.
    """
    header = read_header(path)
    try:
        if header["kind"] != "actor":
            raise ActorFileError(f"The file {path.name!r} holds a {header['kind']}, not an actor.")
        return ActorCard(
            path=path,
            cost=header["cost"],
            recipe=Recipe(**header["recipe"]),
            box={name: (low, high) for name, (low, high) in header["box"].items()},
            accuracy=Accuracy(**header["accuracy"]),
            num_steps=header["num_steps"],
            training_seconds=header["training_seconds"],
            versions=header["versions"],
        )
    except StudioError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ActorFileError(
            f"The header of {path.name!r} is incomplete ({type(error).__name__}: {error}); make the actor again."
        ) from None


def zoo_paths() -> dict[str, Path]:
    """The package's own actors, by cost, in the order of the costs."""
    folder = Path(str(resources.files("designstudio.model.actors"))) / "zoo_weights"
    paths = {path.stem: path for path in folder.glob(f"*{SUFFIX}")}
    return {name: paths[name] for name in available_costs() if name in paths}


def _zoo_path(name: str) -> Path:
    paths = zoo_paths()
    if name not in paths:
        raise UnknownNameError("actor", name, paths)
    return paths[name]


def probe_cost(cost: AbstractCost) -> list[float]:
    """A few values of the cost, by which a file recognises the cost it was trained for."""
    middle = {p.name: put(0.3 * p.box.low + 0.7 * p.box.high, float) for p in cost.parameters}
    values = _evaluate_cost(cost, put([0.5, 1.0, 2.0, 2.2], float), put([1.0, 2.0, 1.0, 2.0], float), middle)
    return [round(float(value), 6) for value in np.asarray(values)]


@functools.partial(jax.jit, static_argnums=0)
def _evaluate_cost(
    cost: AbstractCost,
    responses: Float[Array, " probe"],
    stimuli: Float[Array, " probe"],
    values: dict[str, Float[Array, ""]],
) -> Float[Array, " probe"]:
    return cost(responses, stimuli, values)


def _agree(stored: Any, current: list[float]) -> bool:
    return (
        isinstance(stored, list)
        and len(stored) == len(current)
        and all(math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-5) for a, b in zip(stored, current, strict=True))
    )
