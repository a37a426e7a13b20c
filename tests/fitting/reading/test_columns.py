"""Columns are recognised by the names that people give them; what is not clear is asked."""

import pytest

from designstudio.errors import DataError, StudioError
from designstudio.fitting.reading.columns import ALIASES, ROLES, find_columns

PLAIN = ["subject", "stimulus", "response"]


def find(names, **chosen):
    return find_columns(names, chosen, "a.csv")


@pytest.mark.parametrize(
    ("role", "name"),
    [
        *[
            ("subject", name)
            for name in ("Participant", "participant_id", "subj_idx", "subjID", "sub", "ID", "pp", "Observer")
        ],
        *[("condition", name) for name in ("level", "Noise Level", "coherence", "uncertainty", "block-type", "Condition")],
        *[
            ("stimulus", name)
            for name in ("stim", "Target", "duration", "TRUE", "sample", "standard", "magnitude", "presented")
        ],
        *[
            ("response", name)
            for name in ("Resp", "reproduction", "estimate", "produced", "reproduced", "answer", "Response")
        ],
        *[("trial", name) for name in ("trial_number", "trial_index", "trialNum", "Trial")],
    ],
)
def test_names_that_people_use_are_understood(role, name):
    names = [name if plain == role else plain for plain in PLAIN]
    names += [] if name in names else [name]
    assert find(["rt", *names, "age"])[role] == name


def test_no_name_stands_for_two_roles():
    words = [word for role in ROLES for word in (role, *ALIASES[role].split())]
    assert len(set(words)) == len(words)


def test_an_exact_name_wins():
    assert find([*PLAIN, "estimate", "answer"])["response"] == "response"
    assert find([*PLAIN, "Response"])["response"] == "response"
    assert find(["subject", "stimulus", "Response", "answer"])["response"] == "Response"


def test_a_chosen_column_wins_and_is_taken_for_nothing_else():
    found = find([*PLAIN, "duration"], stimulus="duration", condition="stimulus")
    assert found == {"subject": "subject", "condition": "stimulus", "stimulus": "duration", "response": "response"}


def test_an_optional_role_may_be_chosen_away():
    assert "condition" not in find([*PLAIN, "level", "coherence"], condition="")


@pytest.mark.parametrize(
    ("names", "chosen", "sentence"),
    [
        (
            ["subject", "stimulus", "estimate", "answer"],
            {},
            r"^a\.csv has the columns 'estimate' and 'answer', which could all be the response: "
            r"choose one with --column response=estimate\.$",
        ),
        (
            [*PLAIN, "level", "coherence"],
            {},
            r"choose one with --column condition=level, or none with --column condition=\.$",
        ),
        (
            ["subject", "stimulus", "reaction"],
            {},
            r"^a\.csv has no column for the response, but it has 'subject', 'stimulus', 'reaction': "
            r"say which it is with --column response=NAME\.$",
        ),
        (
            PLAIN,
            {"response": "x"},
            r"^a\.csv has no column 'x', which was chosen for the response, but it has .*: choose another\.$",
        ),
        (
            PLAIN,
            {"answer": "x"},
            r"^Unknown role of a column 'answer'\. Available: subject, condition, trial, stimulus, response, group\.$",
        ),
        (PLAIN, {"response": ""}, r"^The response needs a column, but '' was given: name one\.$"),
        (PLAIN, {"response": 3}, r"^The column of the response must be the name of one, but 3 was given\.$"),
        (
            PLAIN,
            {"response": "stimulus", "stimulus": "stimulus"},
            r"^The column 'stimulus' was chosen for response and stimulus: choose one column for each\.$",
        ),
    ],
)
def test_what_is_not_clear_is_asked_in_a_sentence(names, chosen, sentence):
    with pytest.raises(StudioError, match=sentence):
        find_columns(names, chosen, "a.csv")


def test_the_questions_are_errors_of_the_data():
    with pytest.raises(DataError):
        find(["a", "b"])
