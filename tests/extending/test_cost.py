"""A cost is added in one file: it is then in tables, JSON, study files, fits and the documentation."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from designstudio.errors import CostDefinitionError
from designstudio.fitting.fit_subjects import fit_subjects
from designstudio.fitting.request import FitRequest
from designstudio.inference.settings import FitSettings
from designstudio.model.actors import ExactActor, choose_actions
from designstudio.model.costs import PAPER_COST_NAMES, AbstractCost, add_cost, available_costs, get_cost, load_cost_file
from designstudio.study import format_study, read_study
from tests.helpers.pages import load_script

TOY = Path(__file__).with_name("toy_cost.py")
DOCS = Path(__file__).parents[2] / "docs"
STUDY = """
cost = "undershoot"
actor = "exact"
datasets = 30
fidelity = "importance"

[population]
mu_0 = 1.5
sigma_0 = 0.2
sigma_r = 0.15
reach = 0.2

[analysis.known]
sigma = "truth"

[stimuli]
low = 0.5
high = 5.0

[[designs]]
name = "two-levels"
conditions = [{ trials = 45, sigma = 0.1 }, { trials = 45, sigma = 0.3 }]

[search.space]
levels = { choice = [2, 3] }
sigma = { range = [0.05, 0.4] }
trials = 60
seconds_per_trial = 5
stimuli = { distribution = "uniform", low = 0.5, high = 5.0 }

[[search.objectives]]
score = "rmse"
of = ["reach"]
"""


@pytest.fixture
def toy() -> AbstractCost:
    (cost,) = load_cost_file(TOY)
    return cost


@pytest.fixture
def study_file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_it_is_in_the_table_and_the_json_of_actors(call):
    code, output, errors = call("actors", "--cost-file", str(TOY), "--json", "actors.json")
    assert code == 0, errors
    assert [line.split() for line in output.splitlines() if "undershoot" in line] == [
        ["undershoot", "reach", "0.05-0.55", "exact"]
    ]
    records = json.loads(Path("actors.json").read_text())
    assert [record["cost"] for record in records] == [*PAPER_COST_NAMES, "undershoot"]
    assert records[-1]["box"] == {"reach": [0.05, 0.55]}


def test_the_exact_actor_agrees_with_its_closed_form(toy):
    participant = {"mu_0": 1.5, "sigma_0": 0.2, "sigma": 0.2, "sigma_r": 0.15, "reach": 0.3}
    # With equal widths the belief lies in the middle, in log units.
    expected = np.sqrt(np.array([0.5, 2.0]) * 1.5) * np.exp(-0.3)
    np.testing.assert_allclose(
        choose_actions(ExactActor(toy), np.array([0.5, 2.0]), participant).action, expected, rtol=1e-5
    )


def test_a_study_with_it_is_read_written_and_evaluated_on_the_command_line(call, study_file):
    code, output, errors = call("evaluate", str(study_file), "--cost-file", str(TOY), "--json", "result.json")
    assert code == 0, errors
    assert "RMSE of reach" in output
    (design,) = json.loads(Path("result.json").read_text())["designs"]
    # The prior's standard deviation is 0.14.
    assert design["recovery"]["reach"]["rmse"]["value"] < 0.05


@pytest.mark.usefixtures("toy")
def test_a_study_with_it_comes_back_as_it_was_written(study_file, tmp_path):
    study = read_study(study_file)
    again = tmp_path / "again.toml"
    again.write_text(format_study(study))
    assert read_study(again) == study


@pytest.mark.usefixtures("toy")
def test_a_search_may_optimise_its_parameter(study_file):
    (objective,) = read_study(study_file).search.objectives
    assert "reach" in str(objective)


@pytest.mark.usefixtures("toy")
def test_it_competes_with_the_packages_costs_in_a_fit(loaded):
    settings = FitSettings(method="importance", num_draws=500)
    request = FitRequest(costs=("quadratic", "undershoot"), per_condition=("sigma",), settings=settings)
    fit = fit_subjects(dataclasses.replace(loaded, trials=loaded.trials.isel(dataset=slice(3))), request)
    assert fit.posteriors["undershoot"]["diagnostics"]["is_good"].values.all()
    assert set(fit.comparison.total["cost"].values) == {"quadratic", "undershoot"}
    assert "undershoot" in json.dumps(fit.as_dict())


@pytest.mark.usefixtures("toy")
def test_it_is_in_the_documentations_table():
    text = load_script(DOCS / "make_tables.py").fill_page("explanation/model.md")
    assert "| `undershoot` | (log r - log s + λ)² | people aim below the stimulus |" in text


def test_nothing_of_it_is_left_after_a_test():
    assert tuple(available_costs()) == PAPER_COST_NAMES


def test_a_cost_that_cannot_work_and_a_name_that_is_taken_are_refused(toy):
    with pytest.raises(CostDefinitionError, match="belongs to a cost of the package"):
        add_cost(get_cost("linex"))
    fails = type("Fails", (type(toy),), {"__call__": lambda *_: 1 / 0})()
    with pytest.raises(CostDefinitionError, match="failed with reach"):
        add_cost(fails)
