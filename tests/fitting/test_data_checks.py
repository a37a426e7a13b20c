"""Data that no fit could make sense of are refused at once; what is odd about others is said."""

import numpy as np
import pytest

from designstudio.errors import DataError
from designstudio.fitting.data_checks import check_data
from designstudio.model.trials import make_trials


def make(factor=1.0, *, num=4, wild=0, one_stimulus=False, stimulus_factor=1.0):
    rng = np.random.default_rng(0)
    stimulus = rng.uniform(400, 1200, (num, 50))
    if one_stimulus:
        stimulus[:] = 800.0
    response = stimulus * np.exp(0.1 * rng.normal(size=stimulus.shape))
    response[0] *= factor
    stimulus[0], response[0] = stimulus_factor * stimulus[0], stimulus_factor * response[0]
    response[1, :wild] *= 10
    return make_trials(stimulus, response, subjects=[f"S{i}" for i in range(num)])


def test_clean_data_are_not_talked_about():
    assert check_data(make(), allows_lapses=True) == []


def test_a_subject_in_another_unit_is_refused_by_name():
    with pytest.raises(DataError, match=r"responses relative to stimuli of subject 'S0' are 0\.00"):
        check_data(make(0.001), allows_lapses=True)
    with pytest.raises(DataError, match=r"The stimuli of subject 'S0' are \d+"):
        check_data(make(stimulus_factor=1000.0), allows_lapses=True)


def test_stimuli_and_responses_in_two_units_are_refused():
    trials = make()
    trials["response"] = trials["response"] / 1000
    with pytest.raises(DataError, match=r"^Responses are typically 0\.000\d+ times their stimuli, but both"):
        check_data(trials, allows_lapses=True)


def test_wild_responses_are_counted_and_named():
    (sentence,) = check_data(make(wild=7), allows_lapses=True)
    assert sentence.startswith("7 of 200 responses lie more than a factor of 3 beyond all stimuli")
    assert "S1 trial 1" in sentence
    assert "possible lapses" in sentence
    (without,) = check_data(make(wild=7), allows_lapses=False)
    assert "--lapses free" in without


def test_one_stimulus_is_named():
    (sentence,) = check_data(make(one_stimulus=True), allows_lapses=True)
    assert sentence.startswith("All subjects have seen one stimulus only")


def in_conditions(trials, factor, *, only_response):
    """The same trials in two conditions, the second with other numbers."""
    index = np.broadcast_to(np.arange(trials.sizes["trial"]) % 2, trials["stimulus"].shape)
    scale = np.where(index == 1, factor, 1.0)
    stimulus = trials["stimulus"].values * (1.0 if only_response else scale)
    return make_trials(stimulus, trials["response"].values * scale, condition_index=index, conditions=["low", "high"])


def test_a_condition_in_another_unit_is_refused_by_name():
    with pytest.raises(DataError, match=r"^The responses relative to stimuli of condition 'high' are \d+ times"):
        check_data(in_conditions(make(), 1000.0, only_response=True), allows_lapses=True)
    with pytest.raises(DataError, match=r"^The stimuli of condition 'high' are \d+ times .* --where 'condition != high'\.$"):
        check_data(in_conditions(make(), 1000.0, only_response=False), allows_lapses=True)
    # Conditions may show other stimuli.
    assert check_data(in_conditions(make(), 10.0, only_response=False), allows_lapses=True) == []


@pytest.mark.parametrize(("only_response", "what"), [(True, "responses relative to stimuli"), (False, "stimuli")])
def test_some_trials_in_another_unit_are_not_blamed_on_a_subject_or_a_condition(only_response, what):
    def mix(is_other):
        trials = make()
        scale = np.where(is_other, 1000.0, 1.0)
        stimulus = trials["stimulus"].values * (1.0 if only_response else scale)
        # Two conditions that have nothing to do with it.
        index = np.broadcast_to(np.arange(50) % 2, stimulus.shape)
        labels = {"condition_index": index, "conditions": ["low", "high"], "subjects": ["a", "b", "c", "d"]}
        return make_trials(stimulus, trials["response"].values * scale, **labels)

    everybody = np.random.default_rng(1).random((4, 50)) < 0.5
    num = min(everybody.sum(), 200 - everybody.sum())
    said = rf"^The {what} of {num} of the 200 trials of subjects 'a', 'b', 'c', 'd' are "
    with pytest.raises(DataError, match=said) as found:
        check_data(mix(everybody), allows_lapses=True)
    assert str(found.value).endswith("as in another unit: convert these rows.")
    # The second half of one subject, who has both conditions in it.
    later = np.arange(50) >= 25
    one = later & (np.arange(4)[:, None] == 2)
    said = rf"^The {what} of 25 of the 50 trials of subject 'c' are [\d.]+ times .* with --where 'subject != c'\.$"
    with pytest.raises(DataError, match=said):
        check_data(mix(one), allows_lapses=True)
    # A subject who has one condition in another unit, which others have in theirs.
    half = (np.arange(50) % 2 == 1) & (np.arange(4)[:, None] == 0)
    with pytest.raises(DataError, match="of 25 of the 50 trials of subject 'a' are"):
        check_data(mix(half), allows_lapses=True)


def test_stimuli_that_an_actor_can_expect_are_said_to_be_far_apart_and_not_refused():
    trials = make()
    scale = np.where(np.arange(50) < 20, 40.0, 1.0)
    wide = make_trials(trials["stimulus"].values * scale, trials["response"].values * scale)
    (sentence,) = check_data(wide, allows_lapses=True)
    assert sentence.startswith("The stimuli of 80 of the 200 trials of subjects")
    assert sentence.endswith("times those of the others: if they are in another unit, convert these rows.")


def test_a_few_wild_trials_are_lapses_and_no_other_unit():
    trials = make()
    trials["response"][:, :2] = trials["response"][:, :2] * 1000
    (sentence,) = check_data(trials, allows_lapses=True)
    assert sentence.startswith("8 of 200 responses lie more than a factor of 3 beyond all stimuli")


def test_several_subjects_in_another_unit_are_named_together():
    trials = make()
    factor = np.array([1000.0, 1000.0, 1.0, 1.0])[:, None]
    mixed = make_trials(trials["stimulus"] * factor, trials["response"] * factor, subjects=["a", "b", "c", "d"])
    with pytest.raises(DataError, match=r"^The stimuli of subjects '\w', '\w' are .* --where 'subject not in \w, \w'\.$"):
        check_data(mixed, allows_lapses=True)


def test_a_factor_of_ten_is_said_and_not_refused():
    (said, _) = check_data(make(10.0), allows_lapses=True)
    assert said.startswith("The responses relative to stimuli of subject 'S0' are 9.62 times those of the others")
    assert said.endswith("if they are in another unit, convert these rows.")
    trials = make()
    trials["response"] = trials["response"] * 8
    (said, far) = check_data(trials, allows_lapses=True)
    assert said.startswith("Responses are typically 7.84 times their stimuli")
    assert far.endswith("So many are no lapses: see whether they are in another unit, or in another column.")


def test_people_who_differ_gradually_are_in_one_unit():
    trials = make(num=6)
    factor = np.geomspace(1, 100, 6)[:, None]
    graded = make_trials(trials["stimulus"] * factor, trials["response"] * factor)
    assert not any("unit" in sentence for sentence in check_data(graded, allows_lapses=True))


def test_a_code_for_missing_responses_is_recognised():
    trials = make()
    trials["response"][2, :4] = 9999.0
    (sentence,) = check_data(trials, allows_lapses=True)
    assert "S2 trial 1 (9999)" in sentence
    assert sentence.endswith("add --where 'response != 9999'.")
