"""What power is worth, in plain sentences: where it comes from the prior, and where nobody knows its false-positive rate."""

import math
from collections.abc import Mapping

from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import PowerScore
from designstudio.study import Goal
from designstudio.study.goals import EXCLUDES, GROUPS_DIFFER

# A formula for groups that gives more than this above its level, where nothing differs, is worth a sentence.
SMALL_EXCESS = 0.01


def warn_of_power(design: str, goals: tuple[Goal, ...], power: Mapping[str, PowerScore]) -> list[str]:
    """Sentences about chances to reach goals on which nobody should count.

    Args:
        design: its name.
        goals: of the study.
        power: of the design, by the labels of the goals.
    """
    kinds = {goal.label: goal.kind for goal in goals}
    sentences = []
    for label, score in power.items():
        # A goal whose quantity differs between conditions has one label for each.
        kind = kinds.get(label, EXCLUDES if score.nominal is not None else "")
        said = _warn_of_groups(score) if kind == GROUPS_DIFFER else _warn_of_intervals(kind, score)
        sentences += [f"{design}: {label}: {said}"] if said else []
    return sentences


def _warn_of_intervals(kind: str, score: PowerScore) -> str:
    absent = score.when_absent
    if math.isnan(score.value):
        return ""
    if absent is None:
        return (
            f"its false-positive rate is not known ({score.absent}): power may come from the prior."
            if kind == EXCLUDES
            else ""
        )
    if math.isnan(absent.value):
        return f"its false-positive rate is not known (no fit worked where {score.absent}): power may come from the prior."
    found = f"{_percent(score.present)} with the effect, {_percent(absent)} without it"
    if score.errs_too_often:
        part = "power comes in part" if score.is_more_than_absent else "power comes"
        return (
            f"{part} from the analysis prior, not from the data: {found} ({score.absent}), where at most "
            f"{score.nominal:.0%} should be; do not count on it."
        )
    if not score.is_more_than_absent:
        return f"this is found about as often without the effect as with it: {found} ({score.absent})."
    return ""


def _warn_of_groups(score: PowerScore) -> str:
    absent, nominal = score.when_absent, score.nominal
    if absent is None or nominal is None or math.isnan(absent.value) or absent.value <= nominal + SMALL_EXCESS:
        return ""
    found = f"{_percent(score.present)} for the groups of the study, {_percent(absent)} for groups that do not differ"
    return (
        f"the formula for groups is too optimistic: it gives {found}, where a test gives {nominal:.0%}: it takes chance "
        "differences between simulated participants for real ones; simulate more data sets."
    )


def _percent(score: Score) -> str:
    return f"{score.value:.0%} (± {score.mcse:.0%})"
