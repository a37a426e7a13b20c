"""What a record says about power: the chances that were computed before the data came, or plainly that none was.

Power is a result, not a part of the plan: `designstudio verify` does not compare it with the study. The fingerprint protects
it all the same.
"""

from collections.abc import Mapping
from typing import Any

from designstudio.core.numbers import format_percent
from designstudio.evaluate.goals import bound_power
from designstudio.evaluate.power_words import format_chance
from designstudio.evaluate.results import Evaluation
from designstudio.evaluate.verdict import describe_status, warn_about
from designstudio.metrics.failed import Bounds
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import PowerScore

# Of recorded numbers: beyond them, two machines may differ.
NUM_DIGITS = 6
NOT_COMPUTED = "No power was computed for this record"
NO_GOALS = "the study names no goals"
NOT_WANTED = "whoever made it left power out"
HEADS = ("goal", "power", "false-positive rate", "should be at most", "fits that failed")


def describe_power(evaluation: Evaluation | None, why_not: str = NOT_WANTED) -> dict[str, Any]:
    """Power as plain data.

    Args:
        evaluation: of the design that will be run, with as many participants; None if there is none.
        why_not: why there is none.
    """
    if evaluation is None:
        return {"computed": False, "reason": why_not}
    return {
        "computed": True,
        "fidelity": evaluation.fidelity,
        "datasets": evaluation.num_datasets,
        "seed": evaluation.study.seed,
        "failed": evaluation.convergence.failed,
        "status": evaluation.status.name,
        "goals": [{"name": goal, **_describe_goal(score)} for goal, score in evaluation.power.items()],
        "notes": [describe_status(evaluation), *warn_about(evaluation)],
    }


def _describe_goal(score: PowerScore) -> dict[str, Any]:
    bounds, bounds_when_absent = bound_power(score)
    return {
        "power": _describe_score(score.present),
        "when_absent": None if score.when_absent is None else _describe_score(score.when_absent),
        "absent": score.absent,
        "nominal": score.nominal,
        "datasets": score.num_datasets,
        "failed": score.num_failed,
        "failed_when_absent": score.num_failed_absent,
        "bounds": _describe_bounds(bounds),
        "bounds_when_absent": _describe_bounds(bounds_when_absent),
        **(_describe_studies(score) if score.num_studies else {}),
    }


def _describe_studies(score: PowerScore) -> dict[str, Any]:
    """Of a goal that whole studies decide about; records of before have no such entries."""
    errors = {"type_s": score.type_s, "type_m": score.type_m}
    return {"studies": score.num_studies, **{k: None if s is None else _describe_score(s) for k, s in errors.items()}}


def _describe_score(score: Score) -> dict[str, float | None]:
    return {name: None if number is None else round(number, NUM_DIGITS) for name, number in score.as_dict().items()}


def _describe_bounds(bounds: Bounds | None) -> list[float] | None:
    return None if bounds is None else [round(end, NUM_DIGITS) for end in bounds]


def introduce_power(power: Mapping[str, Any] | None) -> str:
    """How power was computed, in a sentence; earlier records have none."""
    if power is None:
        return f"{NOT_COMPUTED}."
    if not power["computed"]:
        return f"{NOT_COMPUTED}: {power['reason']}."
    num = max((goal.get("studies", 0) for goal in power["goals"]), default=0)
    counted = f" Goals about groups or changes: of {num} whole simulated studies, those that decide so are counted."
    return (
        f"Computed before the data by {power['fidelity']} on {power['datasets']} simulated participants, seed "
        f"{power['seed']}; {power['failed']} of the fits failed. Each goal was evaluated again on the same participants and "
        f"noise without its effect: the false-positive rate. ± is the Monte Carlo error.{counted if num else ''}"
    )


def list_power(power: Mapping[str, Any] | None) -> list[tuple[str, ...]]:
    """The numbers of each goal, as cells under `HEADS`."""
    return [_list_cells(goal) for goal in (power or {}).get("goals", ())]


def summarize_power(power: Mapping[str, Any] | None) -> list[str]:
    """The numbers of each goal, in a line each."""
    if power is None or not power["computed"]:
        return [introduce_power(power)]
    lines = []
    for name, chance, rate, *_ in list_power(power):
        lines.append(f"Power, {name}: {chance}; without the effect: {rate}.")
    return [*lines, f"({power['datasets']} data sets by {power['fidelity']}, seed {power['seed']}.)"]


def _list_cells(goal: Mapping[str, Any]) -> tuple[str, ...]:
    rate, nominal = goal["when_absent"], goal["nominal"]
    if rate is None:
        without, failed = "none" if nominal is None else "not known", ""
    else:
        without = _format_chance(rate, goal["bounds_when_absent"])
        failed = f"; without the effect {goal['failed_when_absent']}"
    return (
        goal["name"],
        _format_chance(goal["power"], goal["bounds"]),
        f"{without} ({goal['absent']})",
        "-" if nominal is None else format_percent(nominal),
        f"{goal['failed']} of {goal['datasets']}{failed}",
    )


def _format_chance(record: Mapping[str, float | None], bounds: list[float] | None) -> str:
    score = Score.from_dict(record)
    if record["value"] is None:
        return "no answer"
    between = "" if bounds is None else f", with failed fits counted {Bounds(*bounds)}"
    return f"{format_chance(score)}{between}"
