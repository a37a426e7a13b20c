"""Simulation-based calibration: exact fits pass, and a wrong fit does not."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from designstudio.cli import app
from designstudio.errors import StudioError
from designstudio.evaluate import calibration
from designstudio.inference.fit_datasets import fit_datasets
from designstudio.inference.settings import FitSettings
from designstudio.metrics.calibration import score_calibration
from designstudio.model.actors import load_actor
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.parameters import analysis_priors
from designstudio.model.priors import Uniform

# Those of the command, by importance: one program.
SETTINGS = FitSettings(method="importance", keeps_log_likelihood=False)
# One batch.
NUM_DATASETS = 100


@pytest.fixture(scope="module")
def model():
    """sigma known beforehand."""
    return BehaviorModel(load_actor("quadratic_effort"), fixed=("sigma",))


def run(model):
    return calibration.calibrate(model, num_datasets=NUM_DATASETS, num_trials=30, settings=SETTINGS, seed=3)


def test_ranks_of_all_parameters_and_traded_quantities_are_uniform(model):
    result = run(model)
    assert set(result.ranks) == {
        "mu_0", "sigma_0", "sigma_r", "beta", "sigma_0 / sigma", "log mu_0 (1 - w_m) + log beta",
    }  # fmt: skip
    scores = score_calibration(result.ranks, prob=0.999)
    assert scores["is_inside"].values.all()
    assert int(scores["num_failed"].max()) <= NUM_DATASETS // 20


def test_ranks_are_uniform_under_priors_that_fill_the_training_box():
    actor = load_actor("quadratic_effort")
    wide = {name: Uniform(0.005, 1.0) for name in ("sigma_0", "sigma", "sigma_r")}
    priors = analysis_priors(actor.parameters).replace(mu_0=Uniform(0.02, 20.0), **wide)
    result = run(BehaviorModel(actor, fixed=("sigma",), priors=priors))
    scores = score_calibration(result.ranks, prob=0.999)
    assert scores["is_inside"].values.all()
    # Thirty trials of noise like this tell little, and importance sampling alone does not fit them all.
    assert int(scores["num_failed"].max()) <= NUM_DATASETS // 10


def test_a_fit_that_believes_a_wrong_sigma_is_found_out(model, monkeypatch):
    def fit_wrongly(model, trials, *, fixed, **settings):
        return fit_datasets(model, trials, fixed={"sigma": 1.5 * fixed["sigma"]}, **settings)

    monkeypatch.setattr(calibration, "fit_datasets", fit_wrongly)
    with np.errstate(all="ignore"):
        scores = score_calibration(run(model).ranks, prob=0.999)
    assert not scores["is_inside"].values.all()


def test_the_command_prints_a_table_and_writes_ranks_table_and_figure(tmp_path):
    arguments = ["calibrate", "quadratic_effort", "--datasets", "20", "--trials", "30", "--fixed", "sigma"]
    result = CliRunner().invoke(
        app, [*arguments, "--method", "importance", "--out", str(tmp_path / "out"), "--json", str(tmp_path / "out.json")]
    )
    assert result.exit_code == 0, result.output
    assert "sigma_0 / sigma" in result.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "quadratic_effort_table.csv", "quadratic_effort_ranks.csv", "quadratic_effort.png",
    }  # fmt: skip
    assert json.loads((tmp_path / "out.json").read_text())["datasets"] == 20


def test_too_few_data_sets_are_refused():
    with pytest.raises(StudioError, match="--datasets must be at least 20"):
        CliRunner().invoke(app, ["calibrate", "quadratic", "--datasets", "3"], catch_exceptions=False)
