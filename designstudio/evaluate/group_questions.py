"""Goals of whole studies as questions: who takes part, and who would if there were no effect."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import xarray as xr

from designstudio.errors import StudioError
from designstudio.evaluate.goals import label_goal, name_goal_unit, resolve_exclusion
from designstudio.evaluate.group_analyses import PLAIN, GroupAnalysis
from designstudio.evaluate.group_decisions import find_mean, find_median
from designstudio.evaluate.group_shifts import explain_missing, shift_middle
from designstudio.evaluate.group_studies import Members, Sample, Samples, find_members
from designstudio.metrics.power import ALPHA
from designstudio.study import Goal, Group, Study
from designstudio.study.design import Design
from designstudio.study.goals import CHANGES, GROUPS_DIFFER
from designstudio.study.groups import BAYES_FACTOR, FEWEST_MEMBERS, HIERARCHICAL


class Question(NamedTuple):
    """A goal of whole studies, and whom it is about.

    Attributes:
        goal: what is decided.
        present: the groups with the goal's effect. absent: the same without, if it can be taken away.
        words: how it was, or why it cannot be.
        analysis: of the group, if that decides.
        entries: for a change within people, what the values in both conditions are called.
    """

    goal: Goal
    present: list[Members]
    absent: list[Members] | None
    words: str
    analysis: GroupAnalysis = PLAIN
    entries: tuple[str, str] | None = None


# What groups found, at each size, by what tells the groups apart.
Found = dict[tuple, Samples]


def list_questions(study: Study, design: Design, sizes: Sequence[int]) -> list[Question]:
    """The goals of whole studies, with their groups.

    Raises:
        StudioError: if a group would have too few participants.
    """
    smallest = dataclasses.replace(design, num_participants=min(sizes))
    return [_ask(study, smallest, goal) for goal in study.goals if goal.is_of_studies]


class Part(NamedTuple):
    """A goal about one number of each person: one condition's, where conditions have their own, or a change.

    Attributes:
        goal, words: of the question.
        label: of the goal.
        present, absent: what the groups found.
        middles: the true ones of the groups with their effect: of median people, as the hierarchical analysis sees them, or
            of means; of both conditions, where people change.
    """

    goal: Goal
    words: str
    label: str
    present: list[Sample]
    absent: list[Sample] | None
    middles: list[float]


def split_question(question: Question, found: Found, size: int) -> list[Part]:
    """A question about every number that its goal is about."""
    goal, analysis = question.goal, question.analysis
    centre = find_median if goal.decision == HIERARCHICAL else find_mean

    def gather(everybody: list[Members], name: str) -> list[Sample]:
        return [found[name_members(members)][size][analysis.name_sample(name)] for members in everybody]

    if question.entries is not None:
        present, absent = (
            None if everybody is None else [gather(everybody, name)[0] for name in question.entries]
            for everybody in (question.present, question.absent)
        )
        assert present is not None  # noqa: S101  (whoever asks has people)
        changes = None if absent is None else [absent[1].minus(absent[0])]
        middles = [centre(sample.truth) for sample in present]
        return [Part(goal, question.words, goal.label, [present[1].minus(present[0])], changes, middles)]
    scored = [name for name, by in found[name_members(question.present[0])][size] if by == analysis.name]
    names = [name for name in scored if name == goal.quantity or name.startswith(f"{goal.quantity}[")]
    parts = []
    for name, label in label_goal(goal, names).items():
        present = gather(question.present, name)
        absent = None if question.absent is None else gather(question.absent, name)
        parts.append(Part(goal, question.words, label, present, absent, [centre(sample.truth) for sample in present]))
    return parts


def name_members(members: Members) -> tuple:
    """What tells groups apart."""
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
    conditions = study.choose_conditions(goal, design)
    if conditions is not None:
        return _ask_about_change(design, goal, present[0], conditions)
    absent = shift_middle(study, design, goal, present[0])
    if absent is None:
        return Question(goal, present, None, explain_missing(study, design, goal))
    return Question(goal, present, [absent], absent.words)


def _ask_about_change(design: Design, goal: Goal, members: Members, conditions: tuple[int, int]) -> Question:
    """About people's values in two conditions; without the effect both are as in the first."""
    name, (first, second) = goal.quantity, conditions
    before, after = (design.conditions[place].name for place in conditions)
    entries = (f"{name}[{before}]", f"{name}[{after}]")
    analysis = GroupAnalysis(name, conditions) if goal.decision == HIERARCHICAL else PLAIN
    if name not in (*design.levels, *design.own_parameters):
        # The fit looks for a change that nobody has.
        return Question(goal, [members], [members], f"{name} is the same in all conditions", analysis, entries)
    words = f"everybody's {name} is in {after} what it is in {before}"

    def change(people: xr.Dataset) -> xr.Dataset:
        values = people[name].values.copy()
        values[:, second] = values[:, first]
        return people.assign({name: (people[name].dims, values, people[name].attrs)})

    return Question(goal, [members], [members._replace(change=change, words=words)], words, analysis, entries)


def find_margin(study: Study, design: Design, goal: Goal) -> tuple[float, float]:
    """Where there is no effect, and by how much a decision must stay away from there."""
    if goal.kind in (GROUPS_DIFFER, CHANGES):
        return 0.0, goal.margin or 0.0
    return resolve_exclusion(goal, study.build_model(design), study.conversion)


def describe_group_rule(study: Study, design: Design, goal: Goal, value: float, margin: float) -> str:
    """What a goal asks of a study, with its numbers."""
    groups, conditions = study.choose_groups(goal), study.choose_conditions(goal, design)
    is_hierarchical = goal.decision == HIERARCHICAL
    unit = name_goal_unit(study, goal)
    where, what = f"{value:g}{unit}", f"{goal.quantity} of {groups[0].name}"
    person, test = "the median person", "a t test on posterior means"
    if goal.kind == GROUPS_DIFFER:
        where, what = "0", f"{groups[1].name} minus {groups[0].name} in {goal.quantity}"
    if conditions is not None:
        before, after = (design.conditions[place].name for place in conditions)
        where, what = "0", f"{goal.quantity} of {groups[0].name} in {after} minus {before}"
        person, test = "the median person, whose mean and change vary between people", "a paired t test on posterior means"
    how = f"the {study.interval:.0%} interval of the hierarchical analysis, for {person}"
    beyond = f" by more than {margin:g}{unit}" if margin else ""
    if goal.decision == BAYES_FACTOR:
        return f"{what} is away from {where}{beyond}: a Bayes factor of {goal.least_factor:g} or more, of {test}"
    return f"{what} stays away from {where}{beyond}: {how if is_hierarchical else f'the {1 - ALPHA:.0%} interval of {test}'}"
