"""What power is worth, in plain sentences: where it comes from the prior, and where nobody knows its false-positive rate."""

import math
from collections.abc import Mapping, Sequence

from designstudio.evaluate.goals import bound_power
from designstudio.metrics.monte_carlo import FEWEST, Score
from designstudio.metrics.power import PowerScore
from designstudio.study.goals import EXCLUDES, GROUPS_DIFFER, NARROWER

# A formula for groups that gives more than this above its level, where nothing differs, is worth a sentence.
SMALL_EXCESS = 0.01


def warn_of_power(design: str, power: Mapping[str, PowerScore]) -> list[str]:
    """Sentences about chances to reach goals on which nobody should count.

    Args:
        design: its name.
        power: of the design, by the labels of the goals.
    """
    # How the fits with the effect went is said of the whole design.
    said = {label: [_warn(score), _count_failed(score, is_absent=True)] for label, score in power.items()}
    return [f"{design}: {label}: {sentence}." for label, sentences in said.items() for sentence in sentences if sentence]


def warn_along(goal: str, found: Mapping[str, PowerScore]) -> list[str]:
    """Sentences about a goal at several points on whose power nobody should count.

    Args:
        goal: its label.
        found: power by the names of the points.
    """
    places: dict[str, list[str]] = {}
    examples: dict[str, tuple[float, str]] = {}
    for place, score in found.items():
        for badness, sentence in (
            (_rate(score), _warn(score)),
            (score.num_failed, _count_failed(score)),
            (score.num_failed_absent, _count_failed(score, is_absent=True)),
        ):
            if sentence:
                # The sentence without its numbers says what is wrong; the worst point has the numbers.
                what = sentence.partition(":")[0]
                places.setdefault(what, []).append(place)
                if what not in examples or badness > examples[what][0]:
                    examples[what] = (badness, sentence)
    return [f"{goal}, at {_list(where, len(found))}: {examples[what][1]}." for what, where in places.items()]


def format_power(score: PowerScore) -> str:
    """A cell of a table: the chance, and in brackets the one with the effect absent."""
    absent = "" if score.when_absent is None else f" ({format_chance(score.when_absent)})"
    return f"{format_chance(score.present)}{absent}"


def format_chance(score: Score | None) -> str:
    """A chance with its error; a dash if there is none."""
    return "-" if score is None else score.chance


def _warn(score: PowerScore) -> str:
    """What is wrong with the power of one goal; empty if nothing is, or if there is no power at all."""
    absent, nominal = score.when_absent, score.nominal
    if math.isnan(score.value) or nominal is None:
        return _explain_missing(score)
    if absent is None or math.isnan(absent.value):
        return (
            f"its false-positive rate is not known: no fit worked where {score.absent}; power may come from the prior"
            if score.kind == EXCLUDES
            else ""
        )
    warn = _warn_of_groups if score.kind == GROUPS_DIFFER and not score.num_studies else _warn_of_rate
    return warn(score, absent, nominal)


def _explain_missing(score: PowerScore) -> str:
    """Why there is no power although fits worked; empty if there is, or if fits failed."""
    if score.kind not in (NARROWER, GROUPS_DIFFER) and score.when_absent is None and math.isnan(score.value):
        return f"no power: its false-positive rate cannot be known, because {score.absent}"
    if (
        score.kind != GROUPS_DIFFER
        or score.num_studies
        or not math.isnan(score.value)
        or score.num_failed >= score.num_datasets
    ):
        return ""
    return f"no power: a test needs 2 participants in each group, and {FEWEST} good fits of each"


def _warn_of_rate(score: PowerScore, absent: Score, nominal: float) -> str:
    """What a false-positive rate says about power; empty if that is well."""
    found = f"{_percent(score.present)} with the effect, {_percent(absent)} without it ({score.absent})"
    limit = f"where at most {nominal:.0%} should be"
    if score.errs_too_often:
        part = "power comes in part" if score.is_more_than_absent else "power comes"
        return f"{part} from the analysis prior, not from the data: {found}, {limit}; do not count on it"
    if not score.is_more_than_absent:
        return f"found about as often without the effect as with it: {found}"
    if absent.value - absent.mcse > nominal:
        return f"the false-positive rate may be too high: {found}, {limit}; more data sets would tell"
    return ""


def _count_failed(score: PowerScore, *, is_absent: bool = False) -> str:
    """How many fits a chance leaves out, and between what it lies with them if they are many; empty if there are none."""
    num_failed = score.num_failed_absent if is_absent else score.num_failed
    rate = score.when_absent if is_absent else score.present
    if not num_failed or rate is None:
        return ""
    where = f"without the effect ({score.absent})" if is_absent else "with the effect"
    count = f"{num_failed} of {score.num_datasets}"
    if math.isnan(rate.value):
        # That nobody knows the false-positive rate is said elsewhere, and what else a test may lack.
        return "" if is_absent or _explain_missing(score) else f"no power, because fits failed: {count}"
    bounds = bound_power(score)[is_absent]
    name = "the false-positive rate" if is_absent else "power"
    between = "" if bounds is None else f"; counted as misses or as hits, {name} is between {bounds.in_words}"
    what = "group analyses" if score.num_studies else "fits"
    return f"some {what} {where} failed: {count}, which {name} leaves out{between}"


def _warn_of_groups(score: PowerScore, absent: Score, nominal: float) -> str:
    """The formula takes chance differences between simulated participants for real ones."""
    if absent.value <= nominal + SMALL_EXCESS:
        return ""
    found = f"{_percent(score.present)} for the groups of the study, {_percent(absent)} for groups that do not differ"
    verb = "is" if score.errs_too_often else "may be"
    return (
        f"the formula for groups {verb} too optimistic: it gives {found}, where a test gives {nominal:.0%}; it takes chance "
        "differences between simulated participants for real ones, so simulate more data sets"
    )


def _rate(score: PowerScore) -> float:
    return -1.0 if score.when_absent is None or math.isnan(score.when_absent.value) else score.when_absent.value


def _list(places: Sequence[str], num: int) -> str:
    return "every point" if len(places) == num else ", ".join(places)


def _percent(score: Score) -> str:
    return score.chance_in_words
