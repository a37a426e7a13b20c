"""A distribution of stimuli is added in one file: study files, their schema, evaluations and searches know it."""

import importlib
import tomllib
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.evaluate.evaluate_study import evaluate_study
from designstudio.search.designs import build_design, list_distributions, place_parameters
from designstudio.study import StudyFileError, format_study, parse_study
from designstudio.study.schema.document import json_schema
from designstudio.study.stimuli import DISTRIBUTIONS, Stimuli
from tests.helpers.pages import load_script

DOCS = Path(__file__).parents[2] / "docs"
STUDY = """
cost = "quadratic"
datasets = 30
fidelity = "information"

[analysis.known]
sigma = "truth"

[stimuli]
distribution = "ends"
low = 0.5
high = 5.0

[[designs]]
name = "one"
conditions = [{ trials = 60, sigma = 0.2 }]

[search]
objectives = [{ score = "rmse", of = ["mu_0"] }]

[search.space]
trials = 60
sigma = 0.2
stimuli = { distribution = { choice = ["uniform", "ends"] }, low = 0.5, high = 5.0 }
"""


@pytest.fixture(autouse=True)
def ends(unregister):
    importlib.reload(importlib.import_module("tests.extending.toy_stimuli"))


def test_a_study_with_it_is_read_and_comes_back_as_it_was_written():
    study = parse_study(STUDY, "text")
    assert study.designs[0].stimuli == Stimuli("ends", low=0.5, high=5.0)
    assert str(study.designs[0].stimuli) == "ends, 0.5 to 5"
    text = format_study(study)
    assert 'stimuli = { distribution = "ends", low = 0.5, high = 5.0 }' in text
    assert parse_study(text, "text") == study


def test_mistakes_are_named_as_those_of_other_distributions():
    with pytest.raises(StudyFileError, match=r"line 10, stimuli\.distribution: Unknown .* 'end': did you mean 'ends'\?"):
        parse_study(STUDY.replace('distribution = "ends"', 'distribution = "end"'), "study.toml")
    with pytest.raises(StudyFileError, match=r"line 9, stimuli: The distribution 'ends' takes no num_values"):
        parse_study(STUDY.replace("high = 5.0\n", "high = 5.0\nnum_values = 3\n", 1), "study.toml")


def test_editors_know_it():
    validator = jsonschema.Draft7Validator(json_schema())
    assert not list(validator.iter_errors(tomllib.loads(STUDY)))
    assert list(validator.iter_errors(tomllib.loads(STUDY.replace('["uniform", "ends"]', '["uniform", "end"]'))))


def test_it_is_evaluated():
    (design,) = evaluate_study(parse_study(STUDY, "text")).as_dict()["designs"]
    assert np.isfinite(design["recovery"]["mu_0"]["rmse"]["value"])


def test_a_search_chooses_it():
    space = parse_study(STUDY, "text").search.space
    assert space.searched == ("stimuli.distribution",)
    assert list_distributions(space)["stimuli.distribution"].choices == ("uniform", "ends")
    found = {build_design(space, place_parameters(space, [share])).stimuli.distribution for share in (0.1, 0.9)}
    assert found == {"uniform", "ends"}


def test_the_studio_in_the_browser_shows_a_design_with_it():
    choice = DesignChoice()
    study = parse_study(STUDY, "text")
    choice.take(study)
    assert choice.to_design().stimuli == study.designs[0].stimuli


def test_it_is_in_the_documentations_table():
    text = load_script(DOCS / "make_tables.py").fill_page("reference/study-file.md")
    assert "| `ends` | `low`, `high` | yes | Rare in the middle of the range, frequent at its ends. |" in text


def test_names_of_the_package_are_taken():
    with pytest.raises(ValueError, match="belongs to a distribution of stimuli of the package"):
        DISTRIBUTIONS.register("grid", DISTRIBUTIONS["ends"])
