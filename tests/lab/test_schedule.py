"""Lists of trials are those of the design, whoever and however many take part."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designstudio.errors import StudioError
from designstudio.evaluate.experiment import prepare_experiment
from designstudio.lab.schedule import BLOCKED, INTERLEAVED, ScheduleOptions, make_schedule, suit_order
from designstudio.model.priors import Uniform
from designstudio.study.design import Condition, Design, Stimuli, get_preset
from tests.evaluate.make_study import STIMULI, TWO_LEVELS
from tests.lab.make_lists import GRID, designs, find_longest_run, make_design, make_question


@settings(deadline=None, max_examples=40)
@given(
    design=designs,
    order=st.sampled_from([BLOCKED, INTERLEAVED]),
    max_repeats=st.sampled_from([None, 2, 4, 12]),
    seed=st.integers(0, 1000),
)
def test_every_list_has_the_trials_of_the_design_within_the_limits(design, order, max_repeats, seed):
    study = make_question(design, seed=seed)
    try:
        schedule = make_schedule(study, design, ScheduleOptions(order, max_repeats), num_participants=2)
    except StudioError:
        assert max_repeats is not None
        return
    for trials in schedule.lists:
        assert Counter(trial.condition for trial in trials.trials) == {c.name: c.num_trials for c in design.conditions}
        assert [trial.number for trial in trials.trials] == list(range(1, design.num_trials + 1))
        levels = {condition.name: condition.levels for condition in design.conditions}
        assert all(trial.levels == levels[trial.condition] for trial in trials.trials)
        if max_repeats is not None:
            if order == INTERLEAVED and len(design.conditions) > 1:
                assert find_longest_run([trial.condition for trial in trials.trials]) <= max_repeats
            if design.stimuli.shown_values:
                assert find_longest_run([trial.stimulus for trial in trials.trials]) <= max_repeats
        if order == BLOCKED:
            assert find_longest_run([trial.block for trial in trials.trials]) == max(c.num_trials for c in design.conditions)
            assert len(trials.block_order) == len(design.conditions)


@pytest.mark.parametrize("design", [TWO_LEVELS, make_design([15, 10], GRID)], ids=["range", "grid"])
@pytest.mark.parametrize("options", [ScheduleOptions(BLOCKED), ScheduleOptions(INTERLEAVED, 3)], ids=["blocked", "mixed"])
def test_the_stimuli_are_those_that_the_evaluation_shows(design, options):
    study = make_question(design, seed=3)
    schedule = make_schedule(study, design, options, num_participants=3)
    experiment = prepare_experiment(study, design, first=0, num_datasets=3)
    for trials, shown in zip(schedule.lists, experiment.stimuli, strict=True):
        for k, condition in enumerate(design.conditions):
            listed = [trial.stimulus for trial in trials.trials if trial.condition == condition.name]
            np.testing.assert_array_equal(np.sort(listed), np.sort(shown[k, : condition.num_trials]))


@pytest.mark.parametrize("simulates", [False, True])
def test_more_participants_leave_the_earlier_lists_as_they_are(simulates):
    # Lapses are spread over the range of stimuli: of this participant, not of all.
    study = make_question(seed=5)
    study = study.replace(population=study.population.replace(lapse_rate=0.2))
    options = ScheduleOptions(INTERLEAVED, 4, simulates=simulates)
    few, many = (make_schedule(study, TWO_LEVELS, options, num_participants=num) for num in (2, 5))
    assert many.lists[:2] == few.lists
    assert len({tuple(trial.stimulus for trial in trials.trials) for trials in many.lists}) == 5
    assert len({tuple(trial.condition for trial in trials.trials) for trials in many.lists}) == 5


def test_the_seed_decides():
    first, again, other = (make_schedule(make_question(seed=seed), TWO_LEVELS, num_participants=1) for seed in (1, 1, 2))
    assert first.lists == again.lists
    assert first.lists != other.lists


def test_simulated_responses_belong_to_their_stimuli():
    study = make_question()
    empty, filled = (
        make_schedule(study, TWO_LEVELS, ScheduleOptions(simulates=simulates), num_participants=2)
        for simulates in (False, True)
    )
    for plain, simulated in zip(empty.lists, filled.lists, strict=True):
        assert [trial.stimulus for trial in plain.trials] == [trial.stimulus for trial in simulated.trials]
        assert all(trial.response is None for trial in plain.trials)
        logs = np.log([[trial.stimulus, trial.response] for trial in simulated.trials])
        assert np.corrcoef(logs.T)[0, 1] > 0.5


def test_blocks_are_counterbalanced_over_participants():
    design = make_design([4, 4, 4])
    schedule = make_schedule(make_question(design), design, ScheduleOptions(BLOCKED), num_participants=6)
    for place in range(3):
        counts = Counter(trials.block_order[place] for trials in schedule.lists)
        assert set(counts.values()) == {2}


def test_impossible_limits_are_refused_with_the_smallest_that_is_possible():
    design = make_design([12, 3])
    with pytest.raises(
        StudioError,
        match=r"^12 of 15 trials have the condition 'level 0', so that at least 3 of them follow each other, but "
        r"max_repeats is 2: allow 3 or more\.$",
    ):
        make_schedule(make_question(design), design, ScheduleOptions(max_repeats=2))
    schedule = make_schedule(make_question(design), design, ScheduleOptions(max_repeats=3))
    assert find_longest_run([trial.condition for trial in schedule.lists[0].trials]) == 3


def test_limits_that_contradict_each_other_are_refused():
    """Two conditions must alternate and two stimuli as well: one condition would then have one stimulus only."""
    design = make_design([2, 2], Stimuli("list", values=(1.0, 2.0)), "both")
    with pytest.raises(
        StudioError, match=r"design 'both' cannot be kept: there is no order of the trials .*; allow more\.$"
    ):
        make_schedule(make_question(design), design, ScheduleOptions(max_repeats=1))


def test_what_is_drawn_anew_in_a_block_asks_for_blocks():
    own = Design("own", (Condition("a", 5, population={"mu_0": Uniform(1, 2)}), Condition("b", 5)), STIMULI)
    assert suit_order(own) == BLOCKED
    assert suit_order(TWO_LEVELS) == INTERLEAVED
    schedule = make_schedule(make_question(own), own, ScheduleOptions(INTERLEAVED))
    assert "consider the order 'blocked'" in schedule.notes[0]


@pytest.mark.parametrize("names", [("NA", "b"), ("1", "1.0")])
def test_names_that_a_table_cannot_hold_are_refused(names):
    design = Design("names", tuple(Condition(name, 5) for name in names), STIMULI)
    with pytest.raises(StudioError, match="would be read as"):
        make_schedule(make_question(design), design)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"order": "mixed"}, r"^Unknown order 'mixed'\. Available: blocked, interleaved\.$"),
        ({"max_repeats": 0}, r"^max_repeats must be 1 or more, but 0 was given\.$"),
        ({"unit": " "}, r"^The unit must have a name"),
    ],
)
def test_wrong_options_are_refused(options, sentence):
    with pytest.raises(StudioError, match=sentence):
        ScheduleOptions(**options)


def test_published_designs_can_be_run():
    for name in ("bean-bag", "force", "duration", "puck", "paper-two-levels"):
        design = get_preset(name)
        (trials,) = make_schedule(make_question(design), design, ScheduleOptions(max_repeats=3)).lists
        assert len(trials.trials) == design.num_trials
