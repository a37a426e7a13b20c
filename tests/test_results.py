"""How results show themselves: on one screen, in a tidy table, as a figure, and as a DataTree that ArviZ takes."""

import importlib
from pathlib import Path

import matplotlib.style
import numpy as np
import pytest
import xarray as xr

import designstudio as ds
from designstudio.evaluate.calibration import Calibration
from designstudio.evaluate.curves import PowerCurves, map_power, trace_power
from designstudio.fitting.plan import Plan, plan_study
from designstudio.search.sweep import Grid, SweepResult
from designstudio.viz.figures import save_figure
from tests.viz.test_search import make_result

STUDY = Path(__file__).parents[1] / "studies" / "quickstart" / "study.toml"


@pytest.fixture(scope="module")
def evaluated():
    return ds.evaluate(STUDY, fidelity="information", num_datasets=50)


def check_presentation(result, *, contains, columns):
    """What all results have in common."""
    lines = repr(result).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    page = result._repr_html_()
    assert page.startswith("<div>")
    for text in contains:
        assert text in repr(result)
        assert text in page
    frame = result.to_frame()
    assert len(frame)
    assert set(columns) <= set(frame.columns)


def test_an_evaluation_shows_itself(evaluated):
    columns = ("design", "quantity", "metric", "value", "mcse", "status")
    check_presentation(evaluated, contains=("two-levels", "RMSE of β", "50 data sets each"), columns=columns)
    check_presentation(evaluated.evaluations[0], contains=("one-level-low", "RMSE of β"), columns=columns)


def test_the_frame_of_an_evaluation_has_its_scores(evaluated):
    frame = evaluated.to_frame().set_index(["design", "quantity", "metric"]).drop(columns="status")
    assert frame.index.is_unique
    for evaluation in evaluated.evaluations:
        name = evaluation.design.name
        assert tuple(frame.loc[(name, "beta", "rmse")]) == pytest.approx(evaluation.recovery["beta"]["rmse"])
        assert tuple(frame.loc[(name, "all", "remaining")]) == pytest.approx(evaluation.identifiability.remaining)
        assert tuple(frame.loc[(name, "beta is not neutral", "power")]) == pytest.approx(
            evaluation.power["beta is not neutral"].present
        )
        assert tuple(frame.loc[(name, "beta is not neutral", "when_absent")]) == pytest.approx(
            evaluation.power["beta is not neutral"].when_absent
        )


def test_an_evaluation_is_drawn(evaluated, tmp_path):
    figure = evaluated.plot()
    assert type(figure).__name__ == "Layout"
    path = save_figure(figure, tmp_path / "recovery.png")
    assert path.stat().st_size > 10_000
    assert type(ds.plot(evaluated.evaluations[1], figure="coverage")).__name__ == "Layout"
    with pytest.raises(ds.StudioError, match=r"Unknown figure 'recovry'. Available: recovery, contraction"):
        evaluated.plot(figure="recovry")
    with pytest.raises(ds.StudioError, match="There is no figure of a str"):
        ds.plot("text")


@pytest.fixture
def arviz_plots(monkeypatch):
    """arviz-plots, whose last version for Python 3.11 asks for a module that Matplotlib 3.11 has merged into another."""
    if not hasattr(matplotlib.style, "core"):
        monkeypatch.setattr(matplotlib.style, "core", matplotlib.style, raising=False)
    return importlib.import_module("arviz_plots")


def test_arviz_draws_the_posterior_of_a_simulated_participant(evaluated, arviz_plots):
    tree = evaluated.evaluations[2].to_datatree()
    assert tree["posterior"]["beta"].dims == ("chain", "draw")
    plots = arviz_plots.plot_dist(tree, var_names=["mu_0", "beta"], backend="none")
    assert set(plots.viz["plot"].data_vars) == {"mu_0", "beta"}


@pytest.fixture(scope="module")
def question():
    return ds.read_study(STUDY).replace(fidelity="information", num_datasets=40)


def test_power_along_a_variable_shows_itself(question):
    design = question.design("two-levels")
    result = PowerCurves(question, design, trace_power(question, design, "trials", [30, 60]))
    goal = question.goals[0].label
    check_presentation(result, contains=("two-levels", goal, "40 data sets"), columns=("goal", "trials", "value", "mcse"))
    frame = result.to_frame().set_index(["goal", "trials"])
    assert frame.loc[(goal, 60.0), "value"] == float(result.points["value"].sel(goal=goal, trials=60))
    assert type(result.plot()).__name__ == "Layout"


def test_power_over_participants_and_trials_shows_itself(question):
    design = question.design("two-levels")
    points = map_power(question, design, trials=[30, 60, 90], participants=[10, 20])
    result = PowerCurves(question, design, points)
    assert "20, 60" in repr(result)
    assert len(result.to_frame()) == 6
    assert type(result.plot()).__name__ == "Layout"


def test_a_sweep_shows_itself(question):
    grid = Grid("two-levels", {"trials": (30.0, 60.0)}, "information", 40)
    points = [(p, ds.evaluate(question.replace(designs=(grid.build(question, p),))).evaluations[0]) for p in grid.points]
    result = SweepResult(question, grid, tuple((point, evaluation.as_dict()) for point, evaluation in points))
    check_presentation(result, contains=("two-levels", "2 of 2 points"), columns=("trials", "quantity", "metric", "value"))
    frame = result.to_frame().set_index(["trials", "quantity", "metric"])
    assert frame.loc[(60.0, "beta", "rmse"), "value"] == points[1][1].recovery["beta"]["rmse"].value
    assert type(result.plot()).__name__ == "Layout"


def test_a_search_shows_itself():
    result = make_result()
    columns = ("candidate", "state", "metric", "value", "mcse", "stage", "trials")
    check_presentation(result, contains=("A search", "winner"), columns=columns)
    winner = next(line for line in repr(result).splitlines() if line.startswith("winner"))
    label = result.objectives[0].label
    assert str(result.verification.winner.fresh[label]) in winner
    frame = result.to_frame()
    assert set(frame["stage"]) == {"search", "fresh"}
    found = frame[(frame["stage"] == "search") & (frame["metric"] == label)].set_index("candidate")["value"]
    expected = {r.number: r.scores[label].value for r in result.records if label in r.scores}
    assert found.to_dict() == pytest.approx(expected, nan_ok=True)
    assert type(result.plot()).__name__ == "Layout"
    assert type(result.plot(figure="importance")).__name__ == "Layout"


def test_a_search_without_finalists_shows_its_best_candidates():
    result = make_result(is_verified=False)
    assert f"candidate {result.best[0].number}" in repr(result)


def test_a_fit_shows_itself(fit):
    columns = ("subject", "cost", "parameter", "value", "mcse", "sd", "low", "high", "is_good")
    check_presentation(fit, contains=("example", "quadratic_effort", "12 subjects"), columns=columns)
    frame, summary = fit.to_frame().set_index(["subject", "cost", "parameter"]), fit.summarize()
    assert frame.index.is_unique
    subject = fit.subjects[3]
    chosen = {"subject": subject, "cost": "quadratic_effort", "parameter": "sigma[blurred]"}
    row = frame.loc[tuple(chosen.values())]
    assert row["value"] == float(summary["mean"].sel(chosen))
    assert 0 < row["mcse"] < row["sd"]
    assert type(fit.plot()).__name__ == "Layout"
    assert type(fit.plot(figure="subjects", cost="quadratic")).__name__ == "Layout"


def test_arviz_draws_the_fits_of_all_subjects_in_the_unit_of_the_data(fit, arviz_plots):
    tree = fit.to_datatree("quadratic_effort")
    posterior = tree["posterior"].to_dataset()
    assert posterior["sigma"].dims == ("subject", "chain", "draw", "condition")
    means = posterior["mu_0"].mean(("chain", "draw")).sel(subject=fit.subjects).values
    summary = fit.summarize()["mean"].sel(cost="quadratic_effort", parameter="mu_0", subject=fit.subjects)
    np.testing.assert_allclose(means, summary.values, rtol=1e-6)
    assert posterior["mu_0"].attrs["units"] == fit.scale.unit
    plots = arviz_plots.plot_forest(tree, var_names=["mu_0", "beta"], backend="none")
    assert plots is not None
    default = fit.to_datatree()
    assert default.attrs["cost"] == "quadratic_effort"


def test_a_plan_shows_itself(fit):
    plan = Plan(fit, plan_study(fit), ("One sentence.",), None)
    assert "One sentence." in repr(plan)
    with pytest.raises(ds.StudioError, match="was not compared with its pilot"):
        plan.to_frame()
    with pytest.raises(ds.StudioError, match="was not compared with its pilot"):
        plan.plot()


def test_a_calibration_shows_itself():
    rng = np.random.default_rng(0)
    ranks = xr.Dataset({name: ("dataset", rng.uniform(size=60)) for name in ("mu_0", "beta")})
    result = Calibration("quadratic", ranks, xr.Dataset({"is_good": ("dataset", np.ones(60, bool))}))
    check_presentation(result, contains=("Calibration of quadratic", "60 data sets"), columns=("quantity", "is_inside"))
    assert type(result.plot()).__name__ == "Layout"
