"""How many participants reach a power: studies are simulated where a curve of power is uncertain, until it is known.

Every round simulates some more studies, with as many people as the answer needs and some to spare. The first of them are
studies of smaller sizes, so each round says something about the whole curve. Sizes are preferred numbers: few programs serve
all questions.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from designstudio.core.cache import BlockCache
from designstudio.core.numbers import format_percent
from designstudio.core.progress import Counter, ProgressCallback
from designstudio.errors import StudioError
from designstudio.evaluate.curve_fit import Crossing, Decided, find_crossing
from designstudio.evaluate.group_decisions import decide
from designstudio.evaluate.group_goals import count_groups, score_questions, simulate_questions
from designstudio.evaluate.group_questions import Found, Question, find_margin, list_questions, split_question
from designstudio.evaluate.group_studies import BLOCK, Sample
from designstudio.metrics.monte_carlo import Score
from designstudio.metrics.power import PowerScore
from designstudio.study import Study
from designstudio.study.design import Design
from designstudio.study.groups import HIERARCHICAL

SIZES = (4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 63, 80, 100, 125, 160, 200, 250, 320, 400, 500)
FEWEST, MOST = 4, 200
# Monte Carlo error of the power at the answer that ends the search; up to so many times the study's number of studies.
PRECISION, PATIENCE = 0.02, 5
# People to spare beyond the answer; how far a round may go beyond the one before it.
SPARE, FARTHEST = 1.15, 2.6
# Errors beyond which a target is out of reach.
SURELY = 3.0
# Sizes in each round.
NUM_SIZES = 4
# Studies without a decision that need no words.
FEW_UNDECIDED = 0.01


@dataclasses.dataclass(frozen=True)
class SizeAnswer:
    """How many participants a goal needs.

    Attributes:
        goal: its label. target: the power that is wanted.
        size: fewest participants (in each group, if there are several) that reach it; None if it is out of reach.
        low, high: interval of that number; infinite where the target may be out of reach.
        power: at that size, or at the most that was tried.
        when_absent: the false-positive rate at the nearest size that was simulated; None if there is none.
        most: participants that were tried at most. is_fewest: whether the fewest that were tried are enough.
        is_precise: whether the error of the power is as small as was asked for.
        undecided: share of the studies there that could not decide, because fits or the analysis of a group failed; power
            is that of the others.
        num_studies: simulated studies.
        num_people: all participants that were simulated, with the effect and without.
        about: the rest of the sentence: trials, and in which groups.
    """

    goal: str
    target: float
    size: int | None
    low: float
    high: float
    power: Score
    when_absent: Score | None
    most: int
    is_fewest: bool
    is_precise: bool
    undecided: float
    num_studies: int
    num_people: int
    about: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        numbers = dataclasses.asdict(self)
        numbers["power"] = self.power.as_dict()
        numbers["when_absent"] = None if self.when_absent is None else self.when_absent.as_dict()
        numbers["high"] = self.high if math.isfinite(self.high) else None
        numbers["low"] = self.low if math.isfinite(self.low) else None
        return {**numbers, "sentence": str(self)}

    def __str__(self) -> str:
        if self.undecided == 1:
            return f"{self.goal}: no answer: none of {self.num_studies} simulated studies could decide, because fits failed."
        absent = "" if self.when_absent is None else f"; without the effect {self.when_absent.chance_in_words}"
        if self.undecided > FEW_UNDECIDED:
            absent += f"; {format_percent(self.undecided)} of the studies could not decide, and are left out"
        if self.size is None:
            return (
                f"{self.goal}: {format_percent(self.target)} needs more than {self.most} {self.about}, where power is "
                f"{self.power.chance_in_words}{absent}."
            )
        error = format_percent(max(self.power.mcse, 0.005))
        if self.is_fewest:
            return (
                f"{self.goal}: {self.size} {self.about} are enough: power is {self.power.chance_in_words} there, and fewer "
                f"were not tried{absent}."
            )
        high = f"to {self.high:.0f}" if math.isfinite(self.high) else "or more"
        doubt = "" if self.is_precise else "; more simulated studies would say it better"
        return (
            f"{self.goal}: {format_percent(self.target)} (± {error}) needs {self.size} {self.about} ({self.low:.0f} {high})"
            f"{absent}{doubt}."
        )


class SizesFound(NamedTuple):
    """Answers, and power at every size that was simulated."""

    answers: tuple[SizeAnswer, ...]
    powers: dict[int, dict[str, PowerScore]]


class _Gathered:
    """All studies that were simulated, by what tells groups apart and by size."""

    def __init__(self) -> None:
        self.parts: dict[int, list[Found]] = {}
        self.studies: dict[int, list[np.ndarray]] = {}

    def add(self, found: Found, sizes: Sequence[int], studies: np.ndarray) -> None:
        """More studies."""
        for size in sizes:
            self.parts.setdefault(size, []).append({key: {size: samples[size]} for key, samples in found.items()})
            self.studies.setdefault(size, []).append(studies)

    def join(self, size: int) -> Found:
        """All studies of a size."""
        parts = self.parts[size]
        return {
            key: {size: {name: Sample.join([part[key][size][name] for part in parts]) for name in parts[0][key][size]}}
            for key in parts[0]
        }


def find_sizes(
    study: Study,
    design: Design,
    target: float,
    *,
    fewest: int = FEWEST,
    most: int = MOST,
    cache: BlockCache | None = None,
    progress: ProgressCallback | None = None,
) -> SizesFound:
    """How many participants each goal of whole studies needs.

    Args:
        study: the question. design: which has as many participants as it takes.
        target: power that is wanted.
        fewest, most: participants that are tried.
        cache: where finished work is kept; by default in the user's cache folder.
        progress: called now and then.
    """
    _check(study, target, fewest, most)
    cache = BlockCache.default() if cache is None else cache
    ladder = sorted({fewest, most, *(size for size in SIZES if fewest < size < most)})
    questions = list_questions(study, design, ladder)
    num_groups = count_groups(questions)
    # Of every round; the last one may end the patience.
    num_round, patience = min(BLOCK, study.num_studies), PATIENCE * study.num_studies
    counter = Counter(progress, patience * num_groups, unit="studies")
    gathered, num_studies, num_people = _Gathered(), 0, 0
    top = _round_up(ladder, min(max(design.num_participants, 4 * fewest), most))
    crossings: dict[str, Crossing] = {}
    # Tests need no analysis of their own at each size.
    has_analyses = any(question.goal.decision == HIERARCHICAL for question in questions)
    sizes = _spread_sizes(ladder, top) if has_analyses else ladder[: ladder.index(top) + 1]
    while True:
        before = num_studies

        def report(done: int, name: str, before: int = before, top: int = top) -> None:
            counter.report(before * num_groups + done, f"{top} people, {name}")

        found = simulate_questions(
            design, questions, sizes, num_studies=num_round, first=num_studies, cache=cache, report=report
        )
        gathered.add(found, sizes, np.arange(num_studies, num_studies + num_round))
        num_studies += num_round
        num_people += num_round * num_groups * top
        crossings = {
            label: find_crossing(decided, target, study.interval, most=most, seed=study.seed)
            for label, decided in _list_decided(study, design, questions, gathered).items()
        }
        open_goals = [c for c in crossings.values() if not _is_settled(c, target, fewest, most, top)]
        if not open_goals or num_studies + num_round > patience:
            break
        worst = max(c.power.mcse for c in open_goals)
        needed = min(patience, math.ceil(num_studies * max(1.0, (worst / PRECISION) ** 2) / num_round) * num_round)
        counter.num_total = max(needed, num_studies + num_round) * num_groups
        wanted = max(min(SPARE * c.size, FARTHEST * top, most) for c in open_goals)
        top = _round_up(ladder, max(wanted, 2 * fewest))
        sizes = _choose_sizes(ladder, top, open_goals) if has_analyses else ladder[: ladder.index(top) + 1]
    powers = {size: score_questions(study, design, questions, gathered.join(size), size) for size in sorted(gathered.parts)}
    about = _describe_people(study, design, questions)
    answers = tuple(
        _answer(label, crossing, target, powers, fewest, num_studies, num_people, about)
        for label, crossing in crossings.items()
    )
    counter.report(counter.num_total or 0, "done")
    return SizesFound(answers, powers)


def _check(study: Study, target: float, fewest: int, most: int) -> None:
    if not 0 < target < 1:
        raise StudioError(f"A target of power is above 0 and below 1, such as 0.8, but {target:g} was given.")
    if not any(goal.is_of_studies for goal in study.goals):
        raise StudioError(
            "A target is found for goals of whole studies, but the study has none: add a goal of the kind group-mean, or "
            "[[groups]] and a goal of the kind groups-differ."
        )
    for goal in study.goals:
        groups = study.choose_groups(goal) if goal.is_of_studies else ()
        if groups and all(group.num_participants is not None for group in groups):
            raise StudioError(
                f"The goal that {goal} is about groups with participants of their own: leave these out, to find how many "
                "are needed."
            )
    if not 2 <= fewest < most:
        raise StudioError(f"Participants are tried from 2 or more to a larger number, not from {fewest} to {most}.")


def _round_up(ladder: Sequence[int], size: float) -> int:
    return next((step for step in ladder if step >= size), ladder[-1])


def _spread_sizes(ladder: Sequence[int], top: int) -> list[int]:
    """Some sizes up to one, about evenly in their roots."""
    below = [step for step in ladder if top / 4 <= step <= top]
    chosen = np.unique(np.linspace(0, len(below) - 1, NUM_SIZES).round().astype(int))
    return [below[k] for k in chosen]


def _choose_sizes(ladder: Sequence[int], top: int, crossings: Sequence[Crossing]) -> list[int]:
    """The largest size, and those around and below where goals are reached."""
    chosen = {top}
    for crossing in crossings:
        place = min(crossing.size, top)
        above = ladder.index(_round_up(ladder, place))
        chosen |= {ladder[k] for k in (above - 3, above - 1, above) if k >= 0}
    return sorted(size for size in chosen if size <= top)


def _list_decided(
    study: Study, design: Design, questions: Sequence[Question], gathered: _Gathered
) -> dict[str, list[Decided]]:
    """What studies decided about each goal, by its label."""
    decided: dict[str, list[Decided]] = {}
    for size in sorted(gathered.parts):
        found, studies = gathered.join(size), np.concatenate(gathered.studies[size])
        for question in questions:
            value, margin = find_margin(study, design, question.goal)
            for part in split_question(question, found, size):
                decisions = decide(study, part.goal, part.present, value)
                made = decisions.is_made
                decided.setdefault(part.label, []).append(Decided(size, studies[made], decisions.find_effect(margin)[made]))
    return {label: [of for of in decisions if len(of.studies)] for label, decisions in decided.items()}


def _is_settled(crossing: Crossing, target: float, fewest: int, most: int, top: int) -> bool:
    """Whether more studies would change nothing that is said."""
    if math.isnan(crossing.power.value):
        # Where none of so many could decide, more of them would not either.
        return True
    if crossing.size > most:
        return top == most and crossing.power.value + SURELY * crossing.power.mcse < target
    is_covered = crossing.size <= top
    is_below = crossing.size < fewest and crossing.high < fewest
    return is_covered and (is_below or crossing.power.mcse <= PRECISION)


def _answer(
    label: str,
    crossing: Crossing,
    target: float,
    powers: dict[int, dict[str, PowerScore]],
    fewest: int,
    num_studies: int,
    num_people: int,
    about: str,
) -> SizeAnswer:
    most = max(powers)
    is_fewest = crossing.size <= fewest
    size = None if crossing.size > most else fewest if is_fewest else math.ceil(crossing.size - 1e-9)
    known = [step for step in powers if label in powers[step]]
    nearest = min(known, key=lambda step: abs(math.log(step / (size or most))))
    scored = powers[nearest][label]
    power = scored.present if is_fewest else crossing.power
    return SizeAnswer(
        label,
        target,
        size,
        max(crossing.low, 0.0),
        crossing.high,
        power,
        scored.when_absent,
        most,
        is_fewest,
        crossing.power.mcse <= PRECISION,
        scored.num_failed / scored.num_studies,
        num_studies,
        num_people,
        about,
    )


def _describe_people(study: Study, design: Design, questions: Sequence[Question]) -> str:
    """People of what, with how many trials."""
    names = {members.group.name for question in questions for members in question.present}
    own = [f"{g.num_participants} {g.name}" for g in study.groups if g.name in names and g.num_participants is not None]
    beside = f" beside {' and '.join(own)}" if own else ""
    is_several = any(len(question.present) > 1 for question in questions)
    return f"people{' a group' if is_several and not own else ''}{beside} at {design.num_trials} trials"
