"""The methods paragraph of an evaluation, and of a design that was varied."""

from collections.abc import Mapping
from typing import Any

from designstudio.report.formatting import count, join_words, spell
from designstudio.report.methods.designs import describe_participants, join_designs, name_unit
from designstudio.report.methods.sampling import describe_fit
from designstudio.report.methods.scores import MODEL, describe_failures, describe_scores, find_version
from designstudio.report.scores import Evaluations
from designstudio.study import Study
from designstudio.study.design import Design


def write_evaluation(study: Study, evaluations: Evaluations) -> str:
    """How designs were evaluated."""
    first = next(iter(evaluations.values()))
    num, num_datasets = len(study.designs), first["num_datasets"]
    sentences = [
        f"{spell(num)} experimental {'design was' if num == 1 else 'designs were'} evaluated by simulation with "
        f"designstudio {find_version(evaluations)}, which implements the Bayesian actor model of Straub et al. "
        f"(2025). {MODEL}{name_unit(study)}",
        f"{'It was' if num == 1 else 'They were'} {join_designs(study, study.designs)}.",
        f"For {'the design' if num == 1 else 'each design'}, {num_datasets} participants were simulated; "
        f"{describe_participants(study, study.designs)}.",
        describe_fit(study, study.designs, first["settings"]),
        describe_scores(study, evaluations),
        describe_failures(evaluations),
        f"The seed of all random numbers was {study.seed}.",
    ]
    return " ".join(sentences)


def write_sweep(study: Study, design: Design, result: Mapping[str, Any], evaluations: Evaluations) -> str:
    """How a design was varied."""
    first = next(iter(evaluations.values()))
    along = [f"{name} ({', '.join(f'{value:g}' for value in values)})" for name, values in result["along"].items()]
    sentences = [
        f"The design {design.name} was varied along {join_words(along)} and evaluated by simulation with designstudio "
        f"{find_version(evaluations)}, which implements the Bayesian actor model of Straub et al. (2025). {MODEL}"
        f"{name_unit(study)}",
        f"As it stands, it is {join_designs(study, [design])}.",
        f"At each of {count(len(evaluations), 'point')}, {first['num_datasets']} participants were simulated; "
        f"{describe_participants(study, [design])}.",
        describe_fit(study, [design], first["settings"]),
        describe_scores(study, evaluations),
        describe_failures(evaluations),
        f"The seed of all random numbers was {study.seed}.",
    ]
    return " ".join(sentences)
