"""A schedule: for every participant a list of trials that can be run as it is.

The stimuli are those that the evaluation of the study shows to the data set of the participant's number, from the same seed;
only their order is the schedule's own. So the laboratory runs what was evaluated. A participant's list depends on the
design, the seed, the options and their own number, and never on how many others there are. In a study with groups the people
are those of the first of its simulated studies: each group has lists, stimuli and orders of blocks of its own.
"""

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from designstudio.core.memory import check_memory
from designstudio.errors import StudioError, UnknownNameError
from designstudio.evaluate.experiment import place_stimuli, simulate_experiment
from designstudio.evaluate.group_studies import Members, find_everybody, prepare_people, stay_in
from designstudio.lab.labels import check_labels, check_participants, label_participant
from designstudio.lab.orders import Kind, OrderError, find_smallest_limit, order_blocks, order_trials
from designstudio.study import Study
from designstudio.study.design import Design
from designstudio.study.units import check_name, choose_unit

BLOCKED, INTERLEAVED = "blocked", "interleaved"
ORDERS = (BLOCKED, INTERLEAVED)
# Of a trial in a list and in the text of its files.
BYTES_A_TRIAL = 1500


@dataclasses.dataclass(frozen=True)
class ScheduleOptions:
    """How trials are ordered.

    Attributes:
        order: `blocked` (one condition after the other, in an order that is counterbalanced over participants) or
            `interleaved` (all conditions mixed).
        max_repeats: most trials in a row of the same condition (if interleaved) or of the same stimulus (of a grid or list).
        unit: what stimuli and responses are measured in; by default the study's unit.
        simulates: whether responses are simulated.
    """

    order: str = INTERLEAVED
    max_repeats: int | None = None
    unit: str | None = None
    simulates: bool = False

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise UnknownNameError("order", self.order, ORDERS)
        if self.max_repeats is not None and self.max_repeats < 1:
            raise StudioError(f"max_repeats must be 1 or more, but {self.max_repeats} was given.")
        check_name(self.unit)


@dataclasses.dataclass(frozen=True)
class ListedTrial:
    """One trial of a list.

    Attributes:
        number: counted from 1.
        block: counted from 1.
        condition: its name.
        levels: parameters that the experimenter sets.
        stimulus: what is shown.
        response: what a simulated participant did; None if nobody has responded yet.
    """

    number: int
    block: int
    condition: str
    levels: Mapping[str, float]
    stimulus: float
    response: float | None = None


@dataclasses.dataclass(frozen=True)
class TrialList:
    """The trials of one participant.

    Attributes:
        subject: a number of two digits or more, after the name of the group.
        trials: in their order.
        group: whose member it is; nothing in a study without groups.
    """

    subject: str
    trials: tuple[ListedTrial, ...]
    group: str = ""

    @property
    def block_order(self) -> tuple[str, ...]:
        """The condition of each block; empty where conditions are mixed."""
        by_block: dict[int, set[str]] = defaultdict(set)
        for trial in self.trials:
            by_block[trial.block].add(trial.condition)
        return tuple(min(names) for names in by_block.values()) if all(len(n) == 1 for n in by_block.values()) else ()


@dataclasses.dataclass(frozen=True)
class Schedule:
    """The lists of all participants, and what they were made from."""

    study: Study
    design: Design
    options: ScheduleOptions
    lists: tuple[TrialList, ...]

    @property
    def unit(self) -> str:
        """What stimuli and responses are measured in."""
        return choose_unit(self.study.unit, self.options.unit)

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The participants of each group; nothing in a study without groups."""
        groups: dict[str, tuple[str, ...]] = {}
        for trials in self.lists:
            if trials.group:
                groups[trials.group] = (*groups.get(trials.group, ()), trials.subject)
        return groups

    @property
    def group_sizes(self) -> str:
        """How many people each group has, in brackets after a space; nothing in a study without groups."""
        sizes = ", ".join(f"{len(subjects)} {name}" for name, subjects in self.groups.items())
        return f" ({sizes})" if sizes else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know."""
        own = self.design.own_parameters
        notes = []
        if own and self.options.order == INTERLEAVED and len(self.design.conditions) > 1:
            notes.append(
                f"The design takes {', '.join(own)} to differ between its conditions, which mixed trials may not bring "
                "about: consider the order 'blocked'."
            )
        if self.options.simulates:
            notes.append("The responses are SIMULATED from the study's population: they are no data.")
            silent = [trials.subject for trials in self.lists if all(trial.response is None for trial in trials.trials)]
            if silent:
                notes.append(f"Who drops out in the simulation has no responses: {', '.join(silent)}.")
        return tuple(notes)


def suit_order(design: Design) -> str:
    """The order that a design needs: blocked, if people's parameters are drawn anew in each condition."""
    return BLOCKED if design.own_parameters else INTERLEAVED


def make_schedule(
    study: Study, design: Design, options: ScheduleOptions | None = None, *, num_participants: int | None = None
) -> Schedule:
    """Lists of trials for all participants.

    Args:
        study: its seed decides about everything random, its population about simulated responses.
        design: what is run.
        options: how trials are ordered.
        num_participants: in each group that has no number of its own; by default the design's.

    Raises:
        StudioError: if there is no such order of trials, or the study is in another unit.
    """
    options = ScheduleOptions() if options is None else options
    choose_unit(study.unit, options.unit)
    num_participants = design.num_participants if num_participants is None else num_participants
    if num_participants < 1:
        raise StudioError(f"A schedule needs at least 1 participant, but {num_participants} was given.")
    counts = [(members, members.group.num_participants or num_participants) for members in find_everybody(study)]
    total = sum(count for _, count in counts)
    what = f"Lists of {design.num_trials:,} trials for {total:,} participants"
    check_memory(total * design.num_trials * BYTES_A_TRIAL, what, "ask for fewer of them at a time")
    check_labels(design)
    everybody = [(members, number) for members, count in counts for number in range(count)]
    if study.groups:
        groups = [members.group.name for members, _ in everybody]
        labels = [label_participant(number, group) for (_, number), group in zip(everybody, groups, strict=True)]
        check_participants(labels, groups)
    lists = (list_trials(members, design, options, number) for members, number in everybody)
    return Schedule(study, design, options, tuple(lists))


def list_trials(members: Members, design: Design, options: ScheduleOptions, number: int) -> TrialList:
    """The trials of one participant of a group, counted from 0."""
    study = members.study
    # One at a time: nothing about others, not even their number, can reach this list.
    stimuli, responses = _simulate(members, design, number) if options.simulates else (_place(study, design, number), None)
    is_mixed = options.order == INTERLEAVED and len(design.conditions) > 1
    conditions = range(len(design.conditions)) if is_mixed else order_blocks(len(design.conditions), number)
    kinds = {k: _name_kinds(design, options, k, stimuli[k], is_mixed) for k in conditions}
    blocks = [[kind for k in conditions for kind in kinds[k]]] if is_mixed else [kinds[k] for k in conditions]
    ordered = _order(design, options, blocks, np.random.default_rng((study.seed, number)))
    # Trials of one kind come in the order in which they were drawn.
    waiting = {
        (k, kind): [i for i, other in enumerate(kinds[k]) if other == kind][::-1] for k in kinds for kind in set(kinds[k])
    }
    trials: list[ListedTrial] = []
    for block, (first, sequence) in enumerate(zip(conditions, ordered, strict=False), start=1):
        for kind in sequence:
            k = first if kind.condition is None else kind.condition
            i = waiting[k, kind].pop()
            condition = design.conditions[k]
            response = None if responses is None else float(responses[k][i])
            trials.append(
                ListedTrial(len(trials) + 1, block, condition.name, condition.levels, float(stimuli[k][i]), response)
            )
    group = members.group.name if study.groups else ""
    return TrialList(label_participant(number, group), tuple(trials), group)


def _place(study: Study, design: Design, number: int) -> list[np.ndarray]:
    stimuli, is_present = place_stimuli(study, design, np.array([number]))
    return [row[present] for row, present in zip(stimuli[0], is_present, strict=True)]


def _simulate(members: Members, design: Design, number: int) -> tuple[list[np.ndarray], list[np.ndarray] | None]:
    """Stimuli, with all their digits, and responses of each condition; none of who drops out."""
    study = members.study
    if not stay_in(members, 0, number + 1)[-1]:
        return _place(study, design, number), None
    experiment = prepare_people(members, design, np.array([number]))
    trials = experiment.scale.undo(simulate_experiment(study, design, experiment)).isel(dataset=0)
    index = trials["condition_index"].values
    return _place(study, design, number), [trials["response"].values[index == k] for k in range(len(design.conditions))]


def _name_kinds(design: Design, options: ScheduleOptions, k: int, stimuli: np.ndarray, is_mixed: bool) -> list[Kind]:
    """What makes the trials of a condition alike."""
    has_values = options.max_repeats is not None and bool(design.stimuli_of(design.conditions[k]).shown_values)
    return [Kind(k if is_mixed else None, float(value) if has_values else None) for value in stimuli]


def _order(
    design: Design, options: ScheduleOptions, blocks: Sequence[Sequence[Kind]], rng: np.random.Generator
) -> list[list[Kind]]:
    limit = options.max_repeats
    if limit is not None:
        for block in blocks:
            needed, place, label = find_smallest_limit(block)
            if needed > limit:
                is_level = Kind._fields[place] == "condition"
                what = (
                    f"the condition {design.conditions[int(label or 0)].name!r}" if is_level else f"the stimulus {label:g}"
                )
                num = sum(kind[place] == label for kind in block)
                raise StudioError(
                    f"{num} of {len(block)} trials have {what}, so that at least {needed} of them follow each other, but "
                    f"max_repeats is {limit}: allow {needed} or more."
                )
    try:
        return order_trials(blocks, max_repeats=limit, rng=rng)
    except OrderError as error:
        raise StudioError(f"The limits on repeats of design {design.name!r} cannot be kept: {error}; allow more.") from None
