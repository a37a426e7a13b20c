"""One tiny run of each kind, made as a user makes it, and its page; shared by all tests.

Drawing takes longest and is tested with the figures themselves: here figures are a few bytes, but for one.
"""

import csv
import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from designstudio.cli import app
from designstudio.fitting.reading import example_path
from designstudio.report.write import build_page, render_page
from designstudio.runs import evaluate as evaluate_run
from designstudio.viz import evaluation as present_evaluation
from tests.helpers.pictures import draw_quickly
from tests.report.read_page import read_page

HOSTILE = "<script>alert('prior & \\\"cost\\\"')</script>"
QUESTION = f"""
title = "{HOSTILE}"
cost = "quadratic_effort"
fidelity = "information"
datasets = 12
seed = 7
[population]
mu_0 = 1.5
sigma_0 = 0.2
sigma_r = 0.15
beta = {{ uniform = [0.8, 0.95] }}
[analysis.known]
sigma = "truth"
[quantities]
"ratio <b>" = "mu_0 / sigma_0"
[[goals]]
kind = "excludes"
quantity = "beta"
[stimuli]
low = 0.25
high = 5.0
[[designs]]
name = "two & more"
conditions = [{{ trials = 20, sigma = 0.1 }}, {{ trials = 26, sigma = 0.2 }}]
"""
SEARCH = """
[search]
objectives = [{ score = "rmse", of = ["mu_0", "beta"] }]
fidelity = "information"
datasets = 16
screen = 0
finalists = 2
verify_fidelity = "information"
fresh_datasets = 20
[search.space]
levels = 2
sigma = { range = [0.05, 0.35] }
low_share = { range = [0.2, 0.8] }
trials = 60
stimuli = { low = 0.25, high = 5.0 }
"""
NUM_SUBJECTS = 3


@pytest.fixture(scope="package", autouse=True)
def quick_pictures():
    """Figures of a few bytes, and no fits for examples of behavior."""
    with pytest.MonkeyPatch.context() as patch:
        draw_quickly(patch)
        examples = dict.fromkeys(("behavior_two & more", "prior_cost"))
        patch.setattr(present_evaluation, "draw_evaluation", lambda result, examples_of_behavior: examples)
        patch.setattr(evaluate_run, "fit_example", lambda study, design: None)
        yield


def run(folder, *arguments):
    """A command, typed in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def describe(folder):
    """A run's folder, its results, and its report as it is made and as it is read."""
    page = build_page(folder)
    text = render_page(page)
    result = json.loads((folder / "result.json").read_text())
    return SimpleNamespace(folder=folder, result=result, text=text, read=read_page(text), page=page)


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A folder with a study, and a user's cache of its own."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "study.toml").write_text(QUESTION)
    (folder / "search.toml").write_text(QUESTION + SEARCH)
    return folder


@pytest.fixture(scope="session")
def evaluation(home):
    run(home, "evaluate", "study.toml", "--out", "evaluation", "--datasets", "14")
    return describe(home / "evaluation")


@pytest.fixture(scope="session")
def search(home):
    run(home, "search", "search.toml", "--candidates", "5", "--out", "search")
    return describe(home / "search")


@pytest.fixture(scope="session")
def sweep(home):
    run(home, "sweep", "study.toml", "--along", "trials=30,60", "--out", "sweep")
    return describe(home / "sweep")


@pytest.fixture(scope="session")
def fit(home):
    with example_path().open(newline="") as file:
        rows = list(csv.DictReader(file))
    chosen = sorted({row["subject"] for row in rows})[:NUM_SUBJECTS]
    kept = [row for row in rows if row["subject"] in chosen] + [{**rows[0], "subject": "S<99>"}]
    with (home / "data.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(kept)
    options = ("--costs", "quadratic,quadratic_effort", "--method", "importance", "--draws", "100", "--unit", "N")
    run(home, "fit", "data.csv", *options, "--where", "stimulus > 8.5", "--out", "fit")
    return describe(home / "fit")


@pytest.fixture(scope="session", params=["evaluation", "search", "sweep", "fit"])
def report(request):
    """Each kind of run."""
    return request.getfixturevalue(request.param)
