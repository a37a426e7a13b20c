"""The methods paragraph of a search."""

from collections.abc import Mapping, Sequence
from typing import Any

from designstudio.report.formatting import count, format_score, join_words
from designstudio.report.methods.designs import describe_levels, describe_participants, name_unit
from designstudio.report.methods.sampling import describe_fit
from designstudio.report.methods.scores import MODEL, describe_failures, find_version
from designstudio.search.search_result import Recorded, list_contenders, list_recorded
from designstudio.study import Objective, Study
from designstudio.study.design.description import describe_design, format_cells
from designstudio.viz.search_labels import label_objective


def write_search(study: Study, result: Mapping[str, Any], objectives: Sequence[Objective], levels: Sequence[str]) -> str:
    """How the best design was looked for, and what was found.

    Args:
        study: the question.
        result: as `SearchResult.as_dict` has it.
        objectives: what the search was for.
        levels: parameters that designs set.
    """
    plan = study.search
    assert plan is not None  # noqa: S101  (a search has one)
    num_tried = sum(candidate["state"] in ("complete", "pruned") for candidate in list_recorded(result))
    goals = [
        f"{'maximise' if m.is_larger_better else 'minimise'} the {label_objective(m, study).symbol}" for m in objectives
    ]
    constraints = [f"'{text}'" for text in result["constraints"]]
    screened = (
        f" after {result['screened']} designs had been screened by quick fits of summarised data"
        if result["screened"]
        else ""
    )
    raced = (
        f"; designs that could hardly overtake the best were given up early, so that {result['fits']:,} data sets were "
        f"fitted instead of {result['fits_without_racing']:,}"
        if result["racing"]
        else ""
    )
    contenders = list_contenders(result)
    evaluations = {contender.name: contender.entry["evaluation"] for contender in contenders}
    sentences = [
        f"The design of the experiment was searched for with designstudio {find_version(evaluations)}, which "
        f"implements the Bayesian actor model of Straub et al. (2025). {MODEL}{name_unit(study)}",
        f"Optuna's sampler '{result['sampler']}' proposed {count(num_tried, 'design')}{screened}, each scored on up to "
        f"{result['datasets']} simulated participants by the fidelity '{result['fidelity']}'{raced}.",
        f"The aim was to {join_words(goals)}, subject to {join_words(constraints)}.",
        f"As for the simulated participants, {describe_participants(study, study.designs, levels)}.",
    ]
    if evaluations:
        sentences += _describe_finalists(study, result, objectives, contenders, levels)
        sentences.append(describe_failures(evaluations))
    return " ".join([*sentences, f"The seed of all random numbers was {study.seed}."])


def _describe_finalists(
    study: Study,
    result: Mapping[str, Any],
    objectives: Sequence[Objective],
    contenders: Sequence[Recorded],
    levels: Sequence[str],
) -> list[str]:
    first, unit = contenders[0].entry["evaluation"], f" {study.unit}" if study.unit else ""
    num = len(result["finalists"])
    names = f"The {num} best designs were" if num > 1 else "The best design was"
    references = ", together with the designs of the study," if result["references"] else ""
    sentences = [
        f"{names} scored again{references} on {first['num_datasets']} fresh simulated participants each, which had no "
        "part in choosing them.",
        describe_fit(study, study.designs, first["settings"], levels),
    ]
    for winner in (contender for contender in contenders if contender.is_winner):
        own = winner.number is None
        design = describe_design(study.design(winner.name)) if own else winner.entry["design"]
        trials, score = format_cells(design).trials, format_score(winner.entry["fresh"][objectives[0].label])
        said = f"Nothing beat {winner.name}, which has" if own else "The winner has"
        sentences.append(
            f"{said} {trials} trials per participant{describe_levels(design['levels'])}, "
            f"stimuli {design['stimuli']}{unit}; its {label_objective(objectives[0], study).symbol} on the fresh "
            f"participants is {score} (± Monte Carlo standard error)."
        )
    return sentences
