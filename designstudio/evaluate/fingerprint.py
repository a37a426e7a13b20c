"""What a result depends on, as one short text: results are kept, and found again, by it.

It holds everything that matters (model, weights of the actor, population, analysis, conditions, stimuli, seed, fidelity, the
package's own code) and nothing else: not a design's name, nor how many participants it has, nor what its trials cost.
"""

import hashlib
import json
from typing import Any

import jax
import numpy as np

from designstudio.core.fingerprint import as_plain, fingerprint, hash_code
from designstudio.core.versions import COMPUTING, list_all_versions, list_versions
from designstudio.evaluate.fidelities import FIT_SETTINGS
from designstudio.model.actors import AbstractActor
from designstudio.model.actors.zoo import probe_cost
from designstudio.study import Study
from designstudio.study.design import Design

# These only show results, score what is kept, or ask for evaluations.
WITHOUT_EFFECT = (
    *("cli", "viz", "report", "dashboard", "runs", "search", "fitting", "lab"),
    *("metrics/quantity", "metrics/posterior", "metrics/design", "evaluate/example_fit.py"),
    *(
        f"metrics/{name}.py"
        for name in ("base", "edges", "failed", "identifiability", "learned", "paired", "power", "registry")
    ),
    *(
        f"evaluate/{name}.py"
        for name in (
            "status",
            "verdict",
            "results",
            "overview",
            "evaluate_study",
            "goals",
            "group_goals",
            "group_decisions",
            "bayes_factor",
            "power_words",
            "curves",
            "preview",
        )
    ),
)


def fingerprint_design(study: Study, design: Design, fidelity: str) -> str:
    """A text that two evaluations share if and only if their results for a data set are the same."""
    return fingerprint(describe(study, design, fidelity))


def describe(study: Study, design: Design, fidelity: str) -> dict[str, Any]:
    """All that matters for a result, as plain data."""
    return {
        **describe_question(study),
        "conditions": [as_plain(condition) for condition in design.conditions],
        "stimuli": as_plain(design.stimuli),
        "fidelity": fidelity,
        "settings": as_plain(FIT_SETTINGS.get(fidelity)),
    }


def describe_question(study: Study) -> dict[str, Any]:
    """All that matters for a result, but for the design and how carefully it is evaluated."""
    simulated = study.population.cost or study.cost
    return {
        "actors": {cost: identify_actor(study.load_actor(cost)) for cost in {study.cost, simulated}},
        "cost": study.cost,
        "unit": [study.unit, study.scale],
        "population": as_plain(study.population),
        "analysis": as_plain(study.analysis),
        "quantities": [[quantity.name, quantity.text] for quantity in study.quantities],
        "interval": study.interval,
        "seed": study.seed,
        "code": hash_code(WITHOUT_EFFECT),
        "versions": list_versions(COMPUTING),
    }


def identify_actor(actor: AbstractActor) -> str:
    """The kind of an actor, its weights, and what its cost says about a few examples."""
    digest = hashlib.sha256(type(actor).__name__.encode())
    digest.update(json.dumps(probe_cost(actor.cost)).encode())
    for leaf in jax.tree.leaves(actor):
        if isinstance(leaf, jax.Array | np.ndarray):
            digest.update(np.asarray(leaf).tobytes())
    return digest.hexdigest()[:16]


def list_software() -> dict[str, str]:
    """Versions of Python and of packages, and the package's own code as far as results depend on it."""
    return {**list_all_versions(), "designstudio code": hash_code(WITHOUT_EFFECT)}
