"""From the plan of a pilot to lists, responses, fits and verification, in newtons, milliseconds and centimetres."""

import csv
import dataclasses
import json

import numpy as np
import pytest

from designstudio.errors import StudioError
from designstudio.lab.record import RecordOptions, make_record
from designstudio.lab.schedule import ScheduleOptions, make_schedule
from designstudio.model.scale import Scale
from designstudio.runs.plan import PlanRequest, run_plan
from designstudio.study import read_study
from designstudio.study.design import Stimuli
from tests.evaluate.make_study import TWO_LEVELS, make_study
from tests.fitting.make_pilot import make_pilot, make_truth

UNITS = {"N": 10.0, "ms": 500.0, "cm": 20.0}
OWN = "m"
FIT = ("--record", "record", "--fixed", "sigma=known", "--json", "fit.json")


@pytest.fixture(scope="module")
def pilot():
    return make_pilot(make_truth(5))


def express(fit, unit, factor):
    """The same fit of the same people, whose data are in another unit."""
    trials = Scale(factor, unit).undo(fit.trials)
    report = dataclasses.replace(fit.report, unit=unit)
    return dataclasses.replace(fit, trials=trials, report=report, scale=Scale(factor, unit))


@pytest.fixture
def go(call, pilot, tmp_path):
    """The whole way in one unit: the plan, all numbers of the lists, and the estimates."""

    def go(unit, factor):
        folder = tmp_path / unit
        folder.mkdir()
        run_plan(PlanRequest(express(pilot, unit, factor), num_datasets=0, out=folder / "study.toml"))
        for command in (
            ("schedule", "study.toml", "--participants", "4", "--simulate", "--out", "lists"),
            ("preregister", "study.toml", "--participants", "4", "--out", "record"),
            ("verify", "record", "--study", "study.toml", "--data", "lists"),
            ("fit", "lists", *FIT),
        ):
            placed = [f"{unit}/{word}" if word in PATHS else word for word in command]
            placed = [f"sigma={unit}/lists/known_sigma.csv" if word == "sigma=known" else word for word in placed]
            code, output, errors = call(*placed)
            assert code == 0, output + errors
        return folder, read_study(folder / "study.toml")

    return go


PATHS = ("study.toml", "lists", "record", "fit.json")


def read_lists(folder):
    """Stimulus and response of all trials."""
    tables = sorted(folder.glob("lists/data/sub-*/*.csv"))
    rows = [row for path in tables for row in csv.DictReader(path.read_text().splitlines())]
    return np.array([[float(row["stimulus"]), float(row["response"])] for row in rows])


def read_estimates(folder):
    """Posterior means and units of all subjects, by parameter."""
    return json.loads((folder / "fit.json").read_text())


def test_numbers_and_names_keep_the_unit_of_the_data_all_the_way(go):
    folder, own = go(OWN, 1.0)
    shown, estimates = read_lists(folder), read_estimates(folder)
    for unit, factor in UNITS.items():
        folder, study = go(unit, factor)
        assert (study.unit, study.scale) == (unit, factor)
        design = study.designs[0]
        assert design.stimuli == Stimuli("uniform", 0.5 * factor, 3.0 * factor)
        found = read_lists(folder)
        # The stimuli are the plan's, and people respond as they do: no number is off by the size of the unit.
        np.testing.assert_allclose(found, factor * shown, rtol=1e-4)
        assert design.stimuli.low <= found[:, 0].min() <= found[:, 0].max() <= design.stimuli.high
        assert 0.5 < np.median(found[:, 1] / found[:, 0]) < 1.5
        for name, size in (("mu_0", factor), ("sigma_0", 1.0), ("beta", 1.0)):
            before, after = (pick_means(fit, name) for fit in (estimates, read_estimates(folder)))
            np.testing.assert_allclose(after, size * before, rtol=5e-3, err_msg=name)
        low, high = study.population.priors["mu_0"].quantile(np.array([0.001, 0.999]))
        assert low < np.median(pick_means(read_estimates(folder), "mu_0")) < high
        silent = [path for path in folder.rglob("*") if path.is_file() and not names(path, unit)]
        assert sorted(path.name for path in silent) == [".psychdsignore", "known_sigma.csv"]
    assert own.unit == OWN


def pick_means(fit, name):
    """Posterior mean of a parameter, for each subject."""
    return np.array([subject["quadratic_effort"]["parameters"][name]["mean"] for subject in fit["subjects"].values()])


def names(path, unit):
    """Whether a file says which unit it is in."""
    text = path.read_text()
    return any(word in text for word in (f'"{unit}"', f"'{unit}'", f",{unit},", f" {unit}.", f"{unit} "))


def test_another_unit_than_the_studys_is_refused():
    design = dataclasses.replace(TWO_LEVELS, stimuli=Stimuli(low=125.0, high=2500.0))
    study = make_study(unit="ms", scale=500.0, designs=(design,))
    said = "^The study is in 'ms', but 's' was asked for: leave the unit out, or change the study's.$"
    with pytest.raises(StudioError, match=said):
        make_schedule(study, study.designs[0], ScheduleOptions(unit="s"))
    with pytest.raises(StudioError, match=said):
        make_record(study, study.designs[0], RecordOptions(unit="s"))
    for unit in (None, "ms"):
        assert make_schedule(study, study.designs[0], ScheduleOptions(unit=unit), num_participants=1).unit == "ms"
        assert make_record(study, study.designs[0], RecordOptions(unit=unit)).content["options"]["unit"] == "ms"
    unnamed = make_study()
    assert make_schedule(unnamed, TWO_LEVELS, ScheduleOptions(unit="s"), num_participants=1).unit == "s"


def test_a_record_is_in_the_unit_of_its_study():
    own = make_study(designs=(TWO_LEVELS,))
    design = dataclasses.replace(TWO_LEVELS, stimuli=Stimuli(low=125.0, high=2500.0))
    content = make_record(make_study(unit="ms", scale=500.0, designs=(design,)), design).content
    units = {parameter["name"]: parameter["unit"] for parameter in content["model"]["parameters"]}
    assert units == {"mu_0": "ms", "sigma_0": "log units", "sigma": "log units", "sigma_r": "log units", "beta": "no unit"}
    assert content["analysis"]["priors"]["mu_0"] == "{ uniform = [50.0, 2500.0] }"
    assert make_record(own, TWO_LEVELS).content["analysis"]["priors"]["mu_0"] == "{ uniform = [0.1, 5.0] }"
    assert content["model"]["scale"] == 500.0
    assert "scale" not in make_record(own, TWO_LEVELS).content["model"]
