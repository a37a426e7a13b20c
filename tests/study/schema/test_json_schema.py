"""The JSON Schema of study files: it takes what the reader takes, and refuses what the reader refuses."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from designstudio.cli import app
from designstudio.study import StudyFileError, format_study, parse_study
from designstudio.study.file import read_example
from designstudio.study.schema.document import json_schema
from tests.study.random_studies import make_random_study
from tests.study.texts import FULL, MINIMAL

ROOT = Path(__file__).parents[3]
STUDIES = sorted((ROOT / "studies").rglob("study.toml"))
VALIDATOR = jsonschema.Draft7Validator(json_schema())
SEARCH = """\
[search]
objectives = [{ score = "rmse", of = ["mu_0"] }, { score = "minutes" }]
constraints = [{ score = "trials", at_most = 90 }]
[search.space]
levels = { range = [1, 4] }
sigma = { range = [0.05, 0.35] }
trials = 90
stimuli = { distribution = { choice = ["uniform", "grid"] }, low = 0.25, high = 5.0, num_values = 5 }
"""


def find_errors(text):
    return [error.message for error in VALIDATOR.iter_errors(tomllib.loads(text))]


def test_the_schema_is_one():
    jsonschema.Draft7Validator.check_schema(json_schema())


def test_the_command_prints_it():
    result = CliRunner().invoke(app, ["schema"])
    assert result.exit_code == 0
    assert json.loads(result.output) == json.loads(json.dumps(json_schema()))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.parent.name)
def test_the_committed_studies_keep_to_it(path):
    assert find_errors(path.read_text()) == []


@pytest.mark.parametrize("text", [FULL, MINIMAL, MINIMAL + SEARCH, read_example()])
def test_what_is_read_keeps_to_it(text):
    parse_study(text, "text")
    assert find_errors(text) == []


@pytest.mark.parametrize("seed", range(80))
def test_random_studies_keep_to_it(seed):
    assert find_errors(format_study(make_random_study(seed))) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed = 7", "seeds = 7"),
        ("seed = 7", "seed = true"),
        ("seed = 7", "seed = -1"),
        ("datasets = 20", "datasets = 5"),
        ("interval = 0.9", "interval = 2"),
        ('cost = "quadratic_effort"', 'cost = "quadratic_efort"'),
        ('fidelity = "nuts"', 'fidelity = "mcmc"'),
        ('["quadratic", ', '["cubic", '),
        ("mu_0 = 1.5", "mu0 = 1.5"),
        ("mu_0 = 1.5", "mu_0 = -1.5"),
        ("mu_0 = 1.5", "mu_0 = {}"),
        ("[0.1, 0.25]", "[0.1]"),
        ("half_normal = 0.25", "halfnormal = 0.25"),
        ("half_normal = 0.25", "half_normal = 0"),
        ("half_normal = 0.25", "half_normal = 0.25, uniform = [0.1, 0.2]"),
        ("median = 0.9", "mean = 0.9"),
        ("lapse_rate = 0.02", "lapse_rate = 2"),
        ('["sigma_r"]', '"sigma_r"'),
        ("{ uniform = [0.1, 5] }", "3"),
        ('sigma = "truth"', 'sigma = "true"'),
        ("factor = 1.5", "factor = 0"),
        ('kind = "narrower"', 'kind = "narrow"'),
        ("width = 0.5", "width = -1"),
        ("num_values = 5", "num_values = 5.5"),
        ('distribution = "grid"', 'distribution = "girdle"'),
        ("trials = 30, sigma", "sigma"),
        ("sigma = 0.2", "sigma = 0"),
        ("[{ trials = 10 }]", "[]"),
        ('"paper-two-levels"', '"paper-levels"'),
        ('name = "two-levels"\n', ""),
    ],
)
def test_what_the_reader_refuses_breaks_it(old, new):
    assert FULL.count(old) == 1
    text = FULL.replace(old, new)
    with pytest.raises(StudyFileError):
        parse_study(text, "text")
    assert find_errors(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"rmse"', '"rsme"'),
        ("at_most = 90", "most = 90"),
        (", at_most = 90", ""),
        ("range = [1, 4]", "range = [1]"),
        ("range = [1, 4]", "range = [1, 9]"),
        ("{ range = [1, 4] }", "[1, 4]"),
        ('"grid"]', '"list"]'),
        ("[search.space]\n", "[search.spaces]\n"),
    ],
)
def test_mistakes_of_a_search_break_it(old, new):
    assert SEARCH.count(old) == 1
    text = MINIMAL + SEARCH.replace(old, new)
    with pytest.raises(StudyFileError):
        parse_study(text, "text")
    assert find_errors(text)


def list_keys(schema):
    """Every key of every table, with what is said of it."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {}).items()
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from list_keys(part)


def test_editors_can_explain_every_key():
    # The numbers of a prior, and the ends of a range, are explained by what they stand in.
    within = {"median", "sigma", "range", "step", "choice"}
    keys = [(key, inside.get("description", "")) for key, inside in list_keys(json_schema()) if key not in within]
    assert len(keys) > 100
    assert [key for key, sentence in keys if not sentence.endswith(".")] == []
