"""Goals of whole studies: how often simulated studies decide for an effect that is there, and for one that is not.

A decision is an interval that stays away from no effect: that of the middle of the groups in the hierarchical analysis, or
that of a t test on posterior means (Welch's, or of one sample). Studies are simulated and decisions counted, so power and
false-positive rate are shares of studies, with nothing plugged in. What a decision says of the effect when it is made is
scored, too: how often its sign is wrong (type S), and how many times it is too large (type M).
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from scipy import stats

from designstudio.core.cache import BlockCache
from designstudio.core.progress import Counter, ProgressCallback
from designstudio.errors import StudioError
from designstudio.evaluate.goals import label_goal, resolve_exclusion
from designstudio.evaluate.group_studies import Members, Sample, Samples, find_members, simulate_group
from designstudio.inference.scales import Scale
from designstudio.metrics.monte_carlo import UNDEFINED, Score, score_share
from designstudio.metrics.power import ALPHA, PowerScore
from designstudio.study import Goal, Group, Study
from designstudio.study.design import Design
from designstudio.study.goals import GROUPS_DIFFER
from designstudio.study.groups import FEWEST_MEMBERS, HIERARCHICAL

# Effects smaller than this, relative to the values, are none.
NO_EFFECT = 1e-9


class Decisions(NamedTuple):
    """What simulated studies decide.

    Attributes:
        estimate: of the effect; NaN where no decision could be made.
        low, high: interval of the effect.
    """

    estimate: Float[np.ndarray, " study"]
    low: Float[np.ndarray, " study"]
    high: Float[np.ndarray, " study"]

    @property
    def is_made(self) -> Bool[np.ndarray, " study"]:
        """Whether a study could decide."""
        return np.isfinite(self.low) & np.isfinite(self.high)

    def find_effect(self, margin: float) -> Bool[np.ndarray, " study"]:
        """Whether a study decides for an effect beyond a margin."""
        return (self.low > margin) | (self.high < -margin)


class Question(NamedTuple):
    """A goal of whole studies, and whom it is about.

    Attributes:
        goal: what is decided.
        present: the groups with the goal's effect. absent: the same without, if it can be taken away.
        words: how it was, or why it cannot be.
    """

    goal: Goal
    present: list[Members]
    absent: list[Members] | None
    words: str


# What groups found, at each size, by what tells the groups apart.
Found = dict[tuple, Samples]


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


def list_questions(study: Study, design: Design, sizes: Sequence[int]) -> list[Question]:
    """The goals of whole studies, with their groups.

    Raises:
        StudioError: if a group would have too few participants.
    """
    smallest = dataclasses.replace(design, num_participants=min(sizes))
    return [_ask(study, smallest, goal) for goal in study.goals if goal.is_of_studies]


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
    everybody: dict[tuple, Members] = {}
    for question in questions:
        is_analysed = question.goal.decision == HIERARCHICAL
        for members in (*question.present, *(question.absent or ())):
            key = _key(members)
            known = key in everybody and everybody[key].is_analysed
            everybody[key] = members._replace(is_analysed=is_analysed or known)
    return everybody


def score_questions(
    study: Study, design: Design, questions: Sequence[Question], found: Found, size: int
) -> dict[str, PowerScore]:
    """Chances to reach each goal at a size, by labels."""
    return {
        part.label: _score(study, design, part) for question in questions for part in split_question(question, found, size)
    }


class Part(NamedTuple):
    """A goal about one number of each person: one condition's, where conditions have their own.

    Attributes:
        goal, words: of the question.
        label: of the goal.
        present, absent: what the groups found.
    """

    goal: Goal
    words: str
    label: str
    present: list[Sample]
    absent: list[Sample] | None


def split_question(question: Question, found: Found, size: int) -> list[Part]:
    """A question about every number that its goal is about."""
    goal = question.goal
    present = [found[_key(members)][size] for members in question.present]
    absent = None if question.absent is None else [found[_key(members)][size] for members in question.absent]
    names = [name for name in present[0] if name == goal.quantity or name.startswith(f"{goal.quantity}[")]
    return [
        Part(
            goal, question.words, label, [sample[name] for sample in present],
            None if absent is None else [sample[name] for sample in absent],
        )
        for name, label in label_goal(goal, names).items()
    ]  # fmt: skip


def _key(members: Members) -> tuple:
    study, group = members.study, members.group
    return (study.identity, group.num_participants, group.dropout, tuple(sorted(group.factors.items())), members.words)


def _ask(study: Study, design: Design, goal: Goal) -> Question:
    """Whom a goal is about: with its effect, and without, if that can be taken away."""
    groups = study.choose_groups(goal)
    places = {group.name: place for place, group in enumerate(study.groups)}
    present = [find_members(study, group, places.get(group.name, 0)) for group in groups]
    for members in present:
        if members.count(design) < FEWEST_MEMBERS:
            raise StudioError(
                f"The goal that {goal} needs at least {FEWEST_MEMBERS} participants in each group, but design "
                f"{design.name!r} has {members.count(design)}: set participants."
            )
    if goal.kind == GROUPS_DIFFER:
        first, second = groups
        same = Group(second.name, second.num_participants, second.dropout, first.differs)
        words = f"{second.name} differ from the population as {first.name} do"
        alike = find_members(study, same, places[second.name])._replace(words=words)
        return Question(goal, present, [present[0], alike], words)
    absent = _shift_middle(study, design, goal, present[0])
    if absent is None:
        return Question(goal, present, None, _explain_missing(study, design, goal))
    return Question(goal, present, [absent], absent.words)


def _shift_middle(study: Study, design: Design, goal: Goal, members: Members) -> Members | None:
    """The group with its middle at the goal's value, and its people as different as they are; None if there is no way."""
    name, group = goal.quantity, members.group
    model = study.build_model(design)
    parameters = {p.name: p for p in study.load_actor(study.population.cost or study.cost).parameters}
    if name not in parameters or name in (*design.levels, *design.own_parameters):
        return None
    value, _ = resolve_exclusion(goal, model, study.conversion)
    # People are simulated in the actor's unit.
    given, value = value, float(study.conversion.convert(value, parameters[name]))
    support, box = Scale(parameters[name].support), parameters[name].box
    cost = study.load_actor(study.population.cost or study.cost).cost
    prior = members.study.population.resolve_for_actor(cost, study.conversion)[name]
    if study.population.follows_analysis and name in model.free and name not in members.study.population.priors:
        prior = model.priors[name]
    middle = float(prior.quantile(np.array(0.5))) * group.factors.get(name, 1.0)
    is_inside = box.low < value < box.high
    # At the end of what actors know there is no room for people who differ.
    nearest = min(max(value, box.low), box.high)

    def change(people: xr.Dataset) -> xr.Dataset:
        values = people[name].values
        if is_inside:
            moved = support.backward(
                support.forward(values) + support.forward(np.array(value)) - support.forward(np.array(middle))
            )
            moved = np.clip(moved, box.low, box.high)
        else:
            moved = np.full_like(values, nearest)
        return people.assign({name: (people[name].dims, moved, people[name].attrs)})

    end = float(study.conversion.restore(nearest, parameters[name]))
    words = f"the median of {name} is {given:g}" if is_inside else f"{name} is {end:g} for everybody"
    return members._replace(change=change, words=words)


def _explain_missing(study: Study, design: Design, goal: Goal) -> str:
    if goal.quantity in [quantity.name for quantity in study.quantities]:
        return f"{goal.quantity} can have the same value in many ways"
    if goal.quantity in (*design.levels, *design.own_parameters):
        return f"{goal.quantity} is what conditions make it"
    return f"{goal.quantity} is no parameter of the simulated participants"


def find_margin(study: Study, design: Design, goal: Goal) -> tuple[float, float]:
    """Where there is no effect, and by how much a decision must stay away from there."""
    if goal.kind == GROUPS_DIFFER:
        return 0.0, goal.margin or 0.0
    return resolve_exclusion(goal, study.build_model(design), study.conversion)


def _score(study: Study, design: Design, part: Part) -> PowerScore:
    goal = part.goal
    value, margin = find_margin(study, design, goal)
    decisions = decide(study, goal, part.present, value)
    without = None if part.absent is None else decide(study, goal, part.absent, value)
    type_s, type_m = score_errors(decisions, margin, _find_effect(goal, part.present, value))
    return PowerScore(
        *_share(decisions, margin),
        when_absent=None if without is None else _share(without, margin),
        absent=part.words,
        nominal=goal.nominal_level(study.interval),
        kind=goal.kind,
        rule=describe_group_rule(study, goal, value, margin),
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


def decide(study: Study, goal: Goal, samples: list[Sample], value: float) -> Decisions:
    """What studies decide about a goal, by its kind of decision."""
    if goal.decision == HIERARCHICAL:
        return decide_by_interval(samples, value, study.interval)
    return decide_by_t_test(samples, value)


def decide_by_interval(samples: list[Sample], value: float, interval: float) -> Decisions:
    """By the middle of a group minus a value, or of the second group minus the first."""
    draws = samples[-1].middle - (samples[0].middle if len(samples) > 1 else value)
    is_good = np.all([sample.is_good for sample in samples], axis=0)
    low, high = np.quantile(draws, [(1 - interval) / 2, (1 + interval) / 2], axis=1)
    return Decisions(*(np.where(is_good, found, np.nan) for found in (draws.mean(axis=1), low, high)))


def decide_by_t_test(samples: list[Sample], value: float) -> Decisions:
    """By posterior means: Welch's test of two groups, or a test of one group against a value."""
    means, variances, counts = [], [], []
    for sample in samples:
        is_there = np.isfinite(sample.mean)
        counts.append(is_there.sum(axis=1))
        with np.errstate(all="ignore"):
            mean = np.where(is_there, sample.mean, 0.0).sum(axis=1) / counts[-1]
            squares = np.where(is_there, (sample.mean - mean[:, None]) ** 2, 0.0).sum(axis=1)
            means.append(mean)
            variances.append(squares / (counts[-1] - 1) / counts[-1])
    estimate = means[-1] - (means[0] if len(samples) > 1 else value)
    with np.errstate(all="ignore"):
        squared = np.sum(variances, axis=0)
        freedom = squared**2 / np.sum([v**2 / (n - 1) for v, n in zip(variances, counts, strict=True)], axis=0)
        reach = stats.t.ppf(1 - ALPHA / 2, freedom) * np.sqrt(squared)
    return Decisions(estimate, estimate - reach, estimate + reach)


def _find_effect(goal: Goal, samples: list[Sample], value: float) -> float:
    """The true effect: of median people, as the hierarchical analysis sees it, or of means."""
    centre = np.nanmedian if goal.decision == HIERARCHICAL else np.nanmean
    if any(np.isnan(sample.truth).all() for sample in samples):
        return float("nan")
    middles = [float(centre(sample.truth)) for sample in samples]
    effect = middles[-1] - (middles[0] if len(middles) > 1 else value)
    return 0.0 if abs(effect) < NO_EFFECT * max(map(abs, middles)) else effect


def score_errors(decisions: Decisions, margin: float, effect: float) -> tuple[Score | None, Score | None]:
    """Of studies that decide for an effect: the share with the wrong sign, and how many times too large they find it."""
    found = decisions.estimate[decisions.find_effect(margin) & decisions.is_made]
    if not len(found) or not abs(effect) > 0:
        return None, None
    exaggeration = np.abs(found) / abs(effect)
    error = float(exaggeration.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else float("nan")
    return score_share(np.sign(found) != np.sign(effect)), Score(float(exaggeration.mean()), error)


def describe_group_rule(study: Study, goal: Goal, value: float, margin: float) -> str:
    """What a goal asks of a study, with its numbers."""
    groups = study.choose_groups(goal)
    beyond = f" by more than {margin:g}" if margin else ""
    if goal.decision == HIERARCHICAL:
        how = f"the {study.interval:.0%} interval of the hierarchical analysis, for the median person"
    else:
        how = f"the {1 - ALPHA:.0%} interval of a t test on posterior means"
    if goal.kind == GROUPS_DIFFER:
        return f"{groups[1].name} minus {groups[0].name} in {goal.quantity} stays away from 0{beyond}: {how}"
    return f"{goal.quantity} of {groups[0].name} stays away from {value:g}{beyond}: {how}"
