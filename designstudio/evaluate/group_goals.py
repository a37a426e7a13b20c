"""Goals of whole studies: how often simulated studies decide for an effect that is there, and for one that is not.

Studies are simulated and decisions counted, so power and false-positive rate are shares of studies, with nothing plugged in.
"""

from collections.abc import Callable, Sequence

from designstudio.core.cache import BlockCache
from designstudio.core.progress import Counter, ProgressCallback
from designstudio.evaluate.group_decisions import Decisions, decide, find_effect, score_errors
from designstudio.evaluate.group_questions import (
    Found,
    Part,
    Question,
    describe_group_rule,
    find_margin,
    list_questions,
    name_members,
    split_question,
)
from designstudio.evaluate.group_studies import Members, simulate_group
from designstudio.metrics.monte_carlo import UNDEFINED, Score, score_share
from designstudio.metrics.power import PowerScore
from designstudio.study import Study
from designstudio.study.design import Design
from designstudio.study.groups import HIERARCHICAL


def score_group_goals(
    study: Study,
    design: Design,
    *,
    sizes: Sequence[int] | None = None,
    cache: BlockCache,
    num_studies: int | None = None,
    progress: ProgressCallback | None = None,
) -> dict[int, dict[str, PowerScore]]:
    """Chances to reach each goal of whole studies, with its effect and without, by the number of participants.

    Args:
        study: the question. design: one of its designs.
        sizes: numbers of participants, in each group that has none of its own; by default the design's. The first
            participants of the largest study are the smaller ones.
        cache: where finished work is kept.
        num_studies: by default the study's.
        progress: called now and then.
    """
    sizes = [design.num_participants] if sizes is None else sorted(sizes)
    num_studies = study.num_studies if num_studies is None else num_studies
    questions = list_questions(study, design, sizes)
    counter = Counter(progress, count_groups(questions) * num_studies)

    def report(done: int, name: str) -> None:
        counter.report(done, f"{design.name}, {name}")

    found = simulate_questions(design, questions, sizes, num_studies=num_studies, cache=cache, report=report)
    return {size: score_questions(study, design, questions, found, size) for size in sizes}


def count_groups(questions: Sequence[Question]) -> int:
    """Groups that are simulated; goals share them."""
    return len(_list_everybody(questions))


def simulate_questions(
    design: Design,
    questions: Sequence[Question],
    sizes: Sequence[int],
    *,
    num_studies: int,
    first: int = 0,
    cache: BlockCache,
    report: Callable[[int, str], None] = lambda done, name: None,
) -> Found:
    """All groups that goals are about, in simulated studies from the first on."""
    found: Found = {}
    for place, (key, members) in enumerate(_list_everybody(questions).items()):
        own = members.group.num_participants

        def tell(done: int, place: int = place, name: str = members.group.name) -> None:
            report(place * num_studies + done, name)

        samples = simulate_group(
            members, design, num_studies=num_studies, first=first, sizes=sizes if own is None else [own], cache=cache,
            report=tell,
        )  # fmt: skip
        # A group with a size of its own is the same whatever the others have.
        found[key] = samples if own is None else dict.fromkeys(sizes, samples[own])
    return found


def _list_everybody(questions: Sequence[Question]) -> dict[tuple, Members]:
    """Every group once, with all analyses that decisions need."""
    everybody: dict[tuple, Members] = {}
    for question in questions:
        needed = (question.analysis,) if question.goal.decision == HIERARCHICAL else ()
        for members in (*question.present, *(question.absent or ())):
            key = name_members(members)
            known = everybody[key].analyses if key in everybody else ()
            everybody[key] = members._replace(analyses=tuple(dict.fromkeys((*known, *needed))))
    return everybody


def score_questions(
    study: Study, design: Design, questions: Sequence[Question], found: Found, size: int
) -> dict[str, PowerScore]:
    """Chances to reach each goal at a size, by labels."""
    return {
        part.label: _score(study, design, part) for question in questions for part in split_question(question, found, size)
    }


def _score(study: Study, design: Design, part: Part) -> PowerScore:
    goal = part.goal
    value, margin = find_margin(study, design, goal)
    decisions = decide(study, goal, part.present, value)
    without = None if part.absent is None else decide(study, goal, part.absent, value)
    type_s, type_m = score_errors(decisions, margin, find_effect(part.middles, value))
    return PowerScore(
        # What nobody can tell from chance is no power.
        *(UNDEFINED if without is None else _share(decisions, margin)),
        when_absent=None if without is None else _share(without, margin),
        absent=part.words,
        nominal=goal.nominal_level(study.interval),
        kind=goal.kind,
        rule=describe_group_rule(study, design, goal, value, margin),
        num_datasets=len(decisions.low),
        num_failed=int((~decisions.is_made).sum()),
        num_failed_absent=0 if without is None else int((~without.is_made).sum()),
        num_studies=len(decisions.low),
        type_s=type_s,
        type_m=type_m,
    )


def _share(decisions: Decisions, margin: float) -> Score:
    is_made = decisions.is_made
    return score_share(decisions.find_effect(margin)[is_made]) if is_made.any() else UNDEFINED
