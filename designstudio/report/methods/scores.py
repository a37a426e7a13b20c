"""Sentences about scores, the fits that failed, and the version that computed them."""

from designstudio.model.family import DEFAULT_FAMILY
from designstudio.report.formatting import join_words
from designstudio.report.scores import Evaluations, find_versions
from designstudio.study import Study

MODEL = f"In this model {DEFAULT_FAMILY.description[:1].lower()}{DEFAULT_FAMILY.description[1:]}"
ERRORS = "Standard errors of all scores were computed over data sets, by the jackknife where there is no closed form."


def find_version(evaluations: Evaluations) -> str:
    """The version of designstudio that evaluated."""
    return find_versions(evaluations).get("designstudio", "")


def describe_scores(study: Study, evaluations: Evaluations) -> str:
    """What was scored, and what power is."""
    goals = f" Power is the chance that {join_words([str(goal) for goal in study.goals])}." if study.goals else ""
    taken = {
        f"{goal} ({score['absent']})": None
        for evaluation in evaluations.values()
        for goal, score in evaluation["power"].items()
        if score.get("when_absent") is not None
    }
    if taken:
        goals += (
            " Each was computed again for the same participants and noise with its effect absent, to know its "
            f"false-positive rate: {join_words(list(taken))}."
        )
    return (
        f"Recovery was scored by bias and root mean squared error of the posterior mean and by the coverage of "
        f"{study.interval:.0%} equal-tailed intervals, identifiability by posterior correlations and by how much less "
        f"certain a parameter is because the others are unknown.{goals} {ERRORS}"
    )


def describe_failures(evaluations: Evaluations) -> str:
    """How many fits failed."""
    failed = sum(evaluation["convergence"]["failed"] for evaluation in evaluations.values())
    total = sum(evaluation["num_datasets"] for evaluation in evaluations.values())
    if all(e["fidelity"] == "information" and not e["settings"] for e in evaluations.values()):
        return "No fit was needed, so none could fail."
    return f"Of {total:,} fits, {f'{failed} failed and are in no score' if failed else 'none failed'}."
