"""What a result depends on, as one short text: results are kept, and found again, by it.

It holds everything that matters (model, weights of the actor, population, analysis, conditions, stimuli, seed, fidelity, the
package's own code) and nothing else: not a design's name, nor how many participants it has, nor what its trials cost.
"""

import dataclasses
import functools
import hashlib
import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from designstudio.evaluate.fidelities import FIT_SETTINGS
from designstudio.model.actors import AbstractActor
from designstudio.model.actors.zoo import probe_cost
from designstudio.study import Study
from designstudio.study.design import Design

PACKAGES = ("jax", "numpy", "numpyro", "scipy")
# These only show results, score what is kept, or ask for evaluations.
WITHOUT_EFFECT = ("cli", "viz", "report", "dashboard", "runs", "search", "fitting", "lab")
SCORING = (
    "verdict.py",
    "results.py",
    "study.py",
    "goals.py",
    "curves.py",
    "store.py",
    "example.py",
    "preview.py",
    "progress.py",
)


def fingerprint(study: Study, design: Design, fidelity: str) -> str:
    """A text that two evaluations share if and only if their results for a data set are the same."""
    return digest(describe(study, design, fidelity))


def digest(description: Mapping[str, Any]) -> str:
    """Plain data as one short text."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:32]


def describe(study: Study, design: Design, fidelity: str) -> dict[str, Any]:
    """All that matters for a result, as plain data."""
    return {
        **describe_question(study),
        "conditions": [plain(condition) for condition in design.conditions],
        "stimuli": plain(design.stimuli),
        "fidelity": fidelity,
        "settings": plain(FIT_SETTINGS.get(fidelity)),
    }


def describe_question(study: Study) -> dict[str, Any]:
    """All that matters for a result, but for the design and how carefully it is evaluated."""
    simulated = study.population.cost or study.cost
    return {
        "actors": {cost: identify_actor(study.load_actor(cost)) for cost in {study.cost, simulated}},
        "cost": study.cost,
        "population": plain(study.population),
        "analysis": plain(study.analysis),
        "quantities": [[quantity.name, quantity.text] for quantity in study.quantities],
        "interval": study.interval,
        "seed": study.seed,
        "code": hash_code(),
        "versions": {package: importlib.metadata.version(package) for package in PACKAGES},
    }


def plain(value: Any) -> Any:
    """Frozen records, recursively, as what JSON knows; with their class, as two classes may have the same fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"class": type(value).__name__, **fields}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [plain(entry) for entry in value]
    return value


def identify_actor(actor: AbstractActor) -> str:
    """The kind of an actor, its weights, and what its cost says about a few examples."""
    digest = hashlib.sha256(type(actor).__name__.encode())
    digest.update(json.dumps(probe_cost(actor.cost)).encode())
    for leaf in jax.tree.leaves(actor):
        if isinstance(leaf, jax.Array | np.ndarray):
            digest.update(np.asarray(leaf).tobytes())
    return digest.hexdigest()[:16]


@functools.cache
def hash_code(without: tuple[str, ...] = WITHOUT_EFFECT) -> str:
    """The package's own code, but for some folders: a corrected likelihood must not find results of the wrong one."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        relative = path.relative_to(package)
        is_scoring = relative.parts[0] == "evaluate" and relative.name in SCORING
        if relative.parts[0] not in without and not is_scoring:
            digest.update(str(relative).encode() + path.read_bytes())
    return digest.hexdigest()[:16]
