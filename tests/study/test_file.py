"""Study files: everything that can be said, and what is said about everything that is wrong."""

import copy
import json
import math
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designstudio.errors import StudioError
from designstudio.model.priors import Constant, HalfNormal, Interval, LogNormal, Uniform
from designstudio.study import Known, Study
from designstudio.study.file import parse_study, read_example, read_study
from designstudio.study.schema.entry import StudyFileError
from tests.study.texts import FULL, MINIMAL


def parse(text):
    return parse_study(text, "study.toml")


def test_everything_that_can_be_said_is_read():
    study = parse(FULL)
    assert (study.title, study.cost, study.actor) == ("All that can be said", "quadratic_effort", "exact")
    assert (study.fidelity, study.num_datasets, study.interval, study.seed) == ("nuts", 20, 0.9, 7)
    assert study.candidates == ("quadratic", "quadratic_effort")
    people = study.population
    assert people.priors == {
        "mu_0": Constant(1.5),
        "sigma_0": Uniform(0.1, 0.25),
        "sigma_r": HalfNormal(0.25, Interval(0.01, 0.5)),
        "beta": LogNormal(0.9, 0.05, Interval(0.5, 1.0)),
    }
    rates = (people.cost, people.lapse_rate, people.outlier_rate, people.outlier_scale)
    assert rates == ("absolute_effort", 0.02, 0.01, 2.0)
    analysis = study.analysis
    assert (analysis.per_condition, analysis.shared) == (("sigma_r",), ("beta",))
    assert analysis.priors == {"mu_0": Uniform(0.1, 5.0)}
    assert analysis.known == {"sigma": Known(), "sigma_0": Known(factor=1.5), "mu_0": Known(value=0.8)}
    assert [(quantity.name, quantity.text) for quantity in study.quantities] == [("ratio", "sigma_0 / sigma[0]")]
    excludes, narrower, differ = study.goals
    assert (excludes.quantity, excludes.value, excludes.margin) == ("beta", 1.0, 0.01)
    assert (narrower.quantity, narrower.width) == ("ratio", 0.5)
    assert differ.group == {"beta": Constant(0.7), "mu_0": Uniform(1.0, 2.0)}


def test_designs_are_read_with_their_conditions_and_stimuli():
    two, own, published = parse(FULL).designs
    assert (two.name, two.seconds_per_trial, two.num_participants) == ("two-levels", 4.0, 20)
    assert [condition.name for condition in two.conditions] == ["low", "level 2"]
    assert [condition.num_trials for condition in two.conditions] == [45, 30]
    assert [condition.levels for condition in two.conditions] == [{"sigma": 0.1}, {"sigma": 0.2}]
    assert two.conditions[1].population == {"mu_0": Uniform(2.0, 3.0)}
    assert two.stimuli.shown_values == (0.25, 1.4375, 2.625, 3.8125, 5.0)
    assert two.stimuli_of(two.conditions[1]).support == (1.0, 2.0)
    assert own.stimuli.values == (1.0, 2.5)
    assert own.conditions[0].name == "all trials"
    assert (published.name, published.num_participants, published.num_trials) == ("published", 3, 90)


def test_what_is_left_out_is_as_in_python():
    study = parse(MINIMAL)
    assert study == Study("quadratic", study.designs)


def test_a_design_needs_no_stimuli_if_every_condition_has_them():
    text = MINIMAL.replace("stimuli = { low = 1, high = 2 }\n", "").replace(
        "{ trials = 10 }", "{ trials = 10, stimuli = { low = 3, high = 4 } }"
    )
    assert parse(text).designs[0].stimuli.support == (3.0, 4.0)


def test_files_are_found_with_their_actors(tmp_path):
    (tmp_path / "my.actor").write_bytes(b"")
    path = tmp_path / "study.toml"
    path.write_text('actor = "my.actor"\n' + MINIMAL)
    assert read_study(str(path)).actor == str(tmp_path / "my.actor")
    path.write_text('actor = "amortised"\n' + MINIMAL)
    with pytest.raises(
        StudyFileError, match=r"study\.toml, line 1, actor: The actor must be 'amortized', 'exact' or an actor"
    ):
        read_study(path)


def test_marks_and_line_ends_of_windows_are_accepted(tmp_path):
    path = tmp_path / "study.toml"
    path.write_bytes(b"\xef\xbb\xbf" + FULL.replace("\n", "\r\n").encode())
    assert read_study(path) == parse(FULL)


def test_unreadable_files_are_refused_with_a_sentence(tmp_path):
    with pytest.raises(StudyFileError, match=r"There is no study file '.*none\.toml': .* designstudio init"):
        read_study(tmp_path / "none.toml")
    with pytest.raises(StudyFileError, match="is a folder: give the study file in it"):
        read_study(tmp_path)
    with pytest.raises(StudyFileError, match="cannot be read: embedded null byte"):
        read_study("a\0b")
    path = tmp_path / "study.toml"
    path.write_bytes(b'cost = "a"\ntitle = "\xe9"\n')
    with pytest.raises(StudyFileError, match=r"study\.toml, line 2: This is not UTF-8 text; save"):
        read_study(path)
    with pytest.raises(StudyFileError, match="cannot be read: Not a directory"):
        read_study(path / "study.toml")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "cost = 'a'\nseed = .1",
            r"study\.toml, line 2, column 8: This is not TOML: Invalid value, in 'seed = \.1'\. Numbers",
        ),
        ("seed = 1\nseed = 2\n", r"line 2, column 9: This is not TOML: Cannot overwrite a value"),
        ("a = 'x", r"study\.toml, end of the file: This is not TOML: Expected"),
        ("a = " + "[" * 5000, r"lists in lists beyond measure"),
        ("a = " + "1" * 5000, r"study\.toml: This is not TOML: Exceeds the limit"),
    ],
)
def test_unreadable_toml_is_refused_with_its_place(text, sentence):
    with pytest.raises(StudyFileError, match=sentence):
        parse(text)


def test_every_refusal_is_a_studio_error():
    assert issubclass(StudyFileError, StudioError)


def key_paths(value, path=()):
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from key_paths(child, (*path, key))


def write_toml(value):
    """A value as TOML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {write_toml(child)}" for key, child in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(write_toml(child) for child in value) + "]"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    return json.dumps(value, ensure_ascii=False)


WRONG = st.one_of(
    st.sampled_from(
        [True, "", "truth", "mu_0", "linex", 0, -1, 1, 10**400, [], {}, [[]], math.nan, math.inf, 1e308, 5e-324]
    ),
    st.sampled_from([{"uniform": [0.1, 0.2]}, {"half_normal": 1e-300}, {"log_normal": {"median": 1e300, "sigma": 1e-9}}]),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=5),
)
DOCUMENT = tomllib.loads(FULL)
PATHS = list(key_paths(DOCUMENT))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from(["drop", "replace", "add"]), WRONG), min_size=1, max_size=3)
)
def test_whatever_is_changed_gives_a_study_or_a_sentence(changes):
    document = copy.deepcopy(DOCUMENT)
    for path, action, value in changes:
        parent = document
        try:
            for key in path[:-1]:
                parent = parent[key]
            if action == "drop":
                del parent[path[-1]]
            elif action == "add" and isinstance(parent, dict):
                parent[f"{path[-1]}_"] = copy.deepcopy(value)
            else:
                parent[path[-1]] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue  # An earlier change has removed the place.
    text = "\n".join(f"{json.dumps(key)} = {write_toml(value)}" for key, value in document.items())
    assert_study_or_sentence(text)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(FULL)), st.integers(0, 40), st.text(st.sampled_from("=[]{}\"'#.,\n 0aé\0-"), max_size=4))
def test_whatever_is_mistyped_gives_a_study_or_a_sentence(start, length, typed):
    assert_study_or_sentence(FULL[:start] + typed + FULL[start + length :])


def assert_study_or_sentence(text):
    try:
        study, sentence = parse(text), ""
    except StudyFileError as error:
        study, sentence = None, str(error)
    assert isinstance(study, Study) or sentence.startswith("study.toml")
    assert "\n" not in sentence


def test_the_example_is_a_study():
    assert isinstance(parse(read_example()), Study)


def test_goals_may_stand_before_the_quantities_that_they_are_about():
    head = 'cost = "quadratic_effort"\nstimuli = { low = 0.25, high = 5.0 }\n'
    goals = 'goals = [{ kind = "excludes", quantity = "effort", value = 0.05 }]\n'
    quantities = 'quantities = { effort = "1 - beta" }\n'
    designs = '[[designs]]\nname = "one"\nconditions = [{ trials = 60, sigma = 0.2 }]\n'
    orders = ((goals, quantities), (quantities, goals))
    before, after = (parse_study("".join((head, *order, designs)), "text") for order in orders)
    assert before == after
    assert before.goals[0].quantity == "effort"
