"""A metric is added in one file: it is then in tables, JSON, CSV, study files, searches, reports and the documentation."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from designstudio.errors import StudioError
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.evaluate_study import evaluate_study
from designstudio.evaluate.overview import tabulate_designs
from designstudio.metrics import (
    SMALLER,
    AbstractDesignMetric,
    AbstractMetric,
    AbstractPosteriorMetric,
    available_metrics,
    get_metric,
    register_metric,
    unregister_metric,
)
from designstudio.metrics.registry import METRICS
from designstudio.search.estimates import estimate_objective
from designstudio.search.run_search import Budget, run_search
from designstudio.study import Objective, format_study, read_study
from tests.helpers.pages import load_script

TOY = Path(__file__).with_name("toy_metric.py")
DOCS = Path(__file__).parents[2] / "docs"
STUDY = """
cost = "quadratic_effort"
datasets = 30
fidelity = "information"

[population]
mu_0 = { uniform = [1.0, 2.0] }
sigma_0 = 0.2
sigma_r = 0.15
beta = { uniform = [0.7, 0.9] }

[analysis.known]
sigma = "truth"

[stimuli]
low = 0.5
high = 5.0

[[designs]]
name = "two-levels"
conditions = [{ trials = 45, sigma = 0.1 }, { trials = 45, sigma = 0.3 }]

[search]
datasets = 16
fidelity = "information"
screen = 0
finalists = 1
verify_fidelity = "information"
fresh_datasets = 20
objectives = [{ score = "relative_error", of = ["mu_0", "beta"] }]
constraints = [{ score = "relative_error", of = ["beta"], at_most = 0.9 }]

[search.space]
levels = { choice = [2, 3] }
sigma = { range = [0.05, 0.4] }
trials = 60
seconds_per_trial = 5
stimuli = { distribution = "uniform", low = 0.5, high = 5.0 }
"""
BOTH = "relative error of mu_0, beta"


@pytest.fixture
def study_file(tmp_path):
    load_script(TOY)
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_it_is_in_the_table_the_json_and_the_csv_of_an_evaluation(call, study_file):
    code, output, errors = call("evaluate", str(study_file), "--out", "run", "--json", "result.json")
    assert code == 0, errors
    (row,) = [line.split() for line in output.splitlines() if "relative error" in line]
    (design,) = json.loads(Path("result.json").read_text())["designs"]
    found = {quantity: scores["relative_error"] for quantity, scores in design["recovery"].items()}
    values = [score["value"] for score in found.values()]
    assert row == ["relative", "error", f"{min(values):.1%}", "to", f"{max(values):.1%}"]
    rmse = design["recovery"]["beta"]["rmse"]["value"]
    assert found["beta"]["value"] == pytest.approx(rmse / 0.8, rel=0.05)
    assert 0 < found["beta"]["mcse"] < found["beta"]["value"]
    with Path("run/scores.csv").open() as file:
        rows = {row["quantity"]: row for row in csv.DictReader(file) if row["score"] == "relative_error"}
    assert float(rows["beta"]["value"]) == pytest.approx(found["beta"]["value"], rel=1e-5)


@pytest.mark.usefixtures("quick_pictures")
def test_a_report_has_it(call, study_file):
    call("evaluate", str(study_file), "--out", "run")
    code, _, errors = call("report", "run", "--out", "report.html")
    assert code == 0, errors
    assert "relative error" in Path("report.html").read_text()


def test_a_study_with_it_comes_back_as_it_was_written(study_file, tmp_path):
    study = read_study(study_file)
    assert study.search.objectives == (Objective("relative_error", ("mu_0", "beta")),)
    again = tmp_path / "again.toml"
    again.write_text(format_study(study))
    assert read_study(again) == study


def test_its_value_error_and_pseudo_values_follow_from_its_statistic(study_file):
    study = read_study(study_file)
    evaluation = evaluate_design(study, study.designs[0])
    estimate = estimate_objective(Objective("relative_error", ("beta",)), study, study.designs[0], evaluation.summaries)
    expected = evaluation.recovery["beta"]["relative_error"]
    assert estimate.score.value == pytest.approx(expected.value)
    assert estimate.score.mcse == pytest.approx(expected.mcse, rel=0.05)
    # It is a size, so designs are compared by its logarithm; up to the jackknife's bias correction.
    assert estimate.pseudo_values.mean() == pytest.approx(math.log(expected.value), abs=0.1)
    assert estimate.pseudo_values.std(ddof=1) / np.sqrt(30) == pytest.approx(expected.mcse / expected.value, rel=0.05)


def test_a_search_makes_it_small_and_keeps_it_within_bounds(study_file, tmp_path):
    result = run_search(read_study(study_file), tmp_path / "search", Budget(4))
    described = result.as_dict()
    assert described["objectives"] == [{"label": BOTH, "direction": "minimize"}]
    assert "relative error of beta at most 0.9" in described["constraints"]
    assert all(0 < record.scores[BOTH].value < 1 for record in result.finished)
    best = result.best[0]
    assert best.scores[BOTH].value == min(record.scores[BOTH].value for record in result.finished if record.is_eligible)
    assert described["finalists"][0]["fresh"][BOTH]["mcse"] > 0


class Volume(AbstractPosteriorMetric):
    name = "volume"
    label = "volume"
    explanation = "determinant of the posterior's covariance, in logarithms of the parameters"
    caveat = "in which directions the posterior is wide"
    direction = SMALLER

    def values(self, shape):
        return np.linalg.det(shape.covariance)


class Payment(AbstractDesignMetric):
    name = "payment"
    label = "payment of all participants"
    explanation = "what all participants together are paid"
    caveat = "what the laboratory costs"
    direction = SMALLER
    unit = "euro"

    def value(self, design):
        return 0.2 * design.minutes * design.num_participants


def test_metrics_of_posteriors_and_of_designs_are_added_in_the_same_way(study_file, tmp_path):
    register_metric(Volume())
    register_metric(Payment())
    text = STUDY.replace('score = "relative_error", of = ["mu_0", "beta"]', 'score = "volume", of = "all"')
    text = text.replace('score = "relative_error", of = ["beta"], at_most = 0.9', 'score = "payment", at_most = 1.5')
    study_file.write_text(text)
    study = read_study(study_file)
    (again := tmp_path / "again.toml").write_text(format_study(study))
    assert read_study(again) == study
    result = evaluate_study(study)
    (evaluation,) = result.evaluations
    rows = {row.name: row.cells for row in tabulate_designs(result.evaluations)}
    found = evaluation.identifiability.scores["volume"]
    assert rows["volume of prior and cost"] == (str(found["prior_cost"]),)
    assert rows["volume of all parameters"] == (str(found["all"]),)
    assert evaluation.as_dict()["identifiability"]["volume"]["all"] == found["all"].as_dict()
    (objective,), (constraint, _) = study.search.objectives, study.search.all_constraints
    assert estimate_objective(objective, study, evaluation.design, evaluation.summaries).score == pytest.approx(found["all"])
    # 90 trials of 5 seconds.
    payment = estimate_objective(constraint.objective, study, evaluation.design, evaluation.summaries)
    assert payment.score == (pytest.approx(1.5), 0.0)
    frame = evaluation.to_frame().set_index(["quantity", "metric"])["value"]
    assert frame["", "payment"] == pytest.approx(1.5)
    assert frame["prior_cost", "volume"] == found["prior_cost"].value


@pytest.mark.usefixtures("study_file")
def test_it_is_in_the_documentations_table():
    text = load_script(DOCS / "make_tables.py").fill_page("explanation/scores.md")
    assert "| relative error | `relative_error` | smaller | root of the mean squared error over the mean truth |" in text


def test_without_it_a_study_that_asks_for_it_is_refused(study_file):
    unregister_metric("relative_error")
    with pytest.raises(StudioError, match=r"Unknown score 'relative_error'. Available: .*rmse"):
        read_study(study_file)


def test_nothing_of_it_is_left_after_a_test():
    assert "relative_error" not in available_metrics()


@pytest.mark.usefixtures("study_file")
def test_a_name_that_is_taken_and_a_metric_of_nothing_are_refused():
    with pytest.raises(StudioError, match="belongs to a metric of the package"):
        register_metric(get_metric("rmse"))

    class OfNothing(AbstractMetric):
        name = "of_nothing"

    with pytest.raises(StudioError, match="must derive from one of AbstractQuantityMetric"):
        register_metric(OfNothing())
    load_script(TOY)
    assert list(METRICS)[-1] == "relative_error"
