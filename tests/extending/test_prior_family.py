"""A family of priors is added in one file: study files, their schema, evaluations, fits and the documentation know it."""

import importlib
import json
import tomllib
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from designstudio.evaluate.evaluate_study import evaluate_study
from designstudio.model.priors import PRIOR_FAMILIES, Uniform, read_prior_record, record_prior, register_prior
from designstudio.study import StudyFileError, format_study, parse_study
from designstudio.study.schema.document import json_schema
from tests.helpers.pages import load_script

DOCS = Path(__file__).parents[2] / "docs"
STUDY = """
cost = "quadratic"
datasets = 60
fidelity = "importance"

[population]
mu_0 = { rising = [1.0, 2.0] }
sigma_0 = 0.2
sigma_r = 0.15

[analysis.known]
sigma = "truth"

[analysis.priors]
mu_0 = { rising = [0.5, 3.0] }

[stimuli]
low = 0.5
high = 5.0

[[designs]]
name = "one"
conditions = [{ trials = 60, sigma = 0.2 }]

[[designs]]
name = "blocks"
conditions = [
  { trials = 30, sigma = 0.2, mu_0 = { rising = [1.0, 2.0] } },
  { trials = 30, sigma = 0.2, mu_0 = { rising = [2.0, 3.0], high = 2.5 } },
]
"""


@pytest.fixture
def rising():
    module = importlib.reload(importlib.import_module("tests.extending.toy_prior"))
    return module.Rising


def test_a_study_with_it_is_read_and_comes_back_as_it_was_written(rising):
    study = parse_study(STUDY, "text")
    assert study.population.priors["mu_0"] == rising(1.0, 2.0)
    assert study.designs[1].conditions[1].population["mu_0"] == rising(2.0, 2.5)
    text = format_study(study)
    assert "mu_0 = { rising = [1.0, 2.0] }" in text
    assert parse_study(text, "text") == study


@pytest.mark.usefixtures("rising")
def test_mistakes_are_named_as_those_of_other_families():
    for new, sentence in (
        ("rising = [1.0]", "A rising prior takes two numbers, such as [0.1, 0.5], but 1"),
        ("risin = [1.0, 2.0]", "did you mean 'rising'?"),
        ("rising = [2.0, 1.0]", "low < high, but low is 2"),
    ):
        with pytest.raises(StudyFileError) as caught:
            parse_study(STUDY.replace("rising = [1.0, 2.0]", new, 1), "study.toml")
        assert "line 7, population.mu_0" in str(caught.value)
        assert sentence in str(caught.value)


@pytest.mark.usefixtures("rising")
def test_editors_know_it():
    validator = jsonschema.Draft7Validator(json_schema())
    assert not list(validator.iter_errors(tomllib.loads(STUDY)))
    assert list(validator.iter_errors(tomllib.loads(STUDY.replace("rising = [0.5, 3.0]", "rising = 3.0"))))


@pytest.mark.usefixtures("rising")
def test_it_is_evaluated_and_its_participants_lie_where_it_says():
    result = evaluate_study(parse_study(STUDY, "text"))
    truth = result.evaluations[0].summaries["truth"].sel(quantity="mu_0").values
    assert 1.0 <= truth.min() < truth.max() <= 2.0
    # The mean of a density that rises evenly lies at two thirds; 60 people, standard error 0.03.
    np.testing.assert_allclose(truth.mean(), 1 + 2 / 3, atol=0.1)
    recovered = json.loads(json.dumps(result.as_dict()))["designs"][0]["recovery"]["mu_0"]["rmse"]["value"]
    assert recovered < 0.2


def test_it_agrees_with_its_own_quantiles_and_can_change_its_unit(rising, key):
    prior = rising(1.0, 3.0)
    draws = np.asarray(prior.distribution().sample(key, (4000,)))
    shares = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(np.quantile(draws, shares), prior.quantile(shares), atol=0.05)
    assert prior.stretch(2.0).support.high == 6.0


def test_a_fit_request_with_it_is_written_and_read(rising):
    record = json.loads(json.dumps(record_prior(rising(1.0, 3.0))))
    assert read_prior_record(record) == rising(1.0, 3.0)


@pytest.mark.usefixtures("rising")
def test_it_is_in_the_documentations_tables():
    text = load_script(DOCS / "make_tables.py").fill_page("reference/study-file.md")
    assert "| `{ rising = [0.1, 0.5] }` | The density rises evenly from 0 at `low` to its peak at `high`. |" in text


def test_nothing_of_it_is_left_and_names_of_the_package_are_taken():
    assert list(PRIOR_FAMILIES) == ["uniform", "half_normal", "log_normal"]
    with pytest.raises(ValueError, match="belongs to a prior family of the package"):
        register_prior(Uniform)
