"""Trials survive a file unchanged; what is not a file of trials is refused."""

import os

import numpy as np
import pytest
import xarray as xr

from designstudio.model.trials import TrialsError, load_trials, make_trials, save_trials, trials_from_rows


@pytest.fixture
def trials():
    return make_trials(
        [[0.1, 2.0, 3.0], [4.0, 5.0, np.pi]],
        [[0.3, 2.1, 2.9], [4.2, 1 / 3, 6.0]],
        condition_index=[[0, 1, 1], [1, 0, 0]],
        is_present=[[True, True, False], [True, True, True]],
        conditions=["faible", "élevée"],
        subjects=["anna", "ben"],
        unit="seconds",
    )


def assert_same(loaded, saved):
    xr.testing.assert_identical(loaded, saved)
    for name in saved.variables:
        assert loaded[name].dtype == saved[name].dtype, name


def test_a_round_trip_is_exact(trials, tmp_path):
    save_trials(trials, tmp_path / "trials.nc")
    assert_same(load_trials(tmp_path / "trials.nc"), trials)


def test_further_variables_and_attributes_are_kept(trials, tmp_path):
    extra = {
        "reaction_time": (("dataset", "trial"), np.array([[1, 2, 3], [4, 5, 6]], "timedelta64[ms]"), {"note": "from onset"}),
        "hand": (("dataset", "trial"), np.array([["left", "right", "right"], ["left", "left", "right"]])),
        "is_practice": (("dataset", "trial"), np.zeros((2, 3), bool)),
        "age": ("dataset", np.array([30, 41])),
    }
    trials = trials.assign(extra).assign_attrs(source="a study")
    save_trials(trials, str(tmp_path / "trials.nc"))
    assert_same(load_trials(str(tmp_path / "trials.nc")), trials)


def test_extreme_numbers_and_odd_labels_survive(tmp_path):
    trials = trials_from_rows(
        ["a b", "Ω/é", "nan", "a b"], [5e-324, 1e308, 1 / 3, 2.0], [1e-300, 1e300, 0.1, 2.0], [" ", "null", "條件", "條件"]
    )
    save_trials(trials, tmp_path / "trials.nc")
    assert_same(load_trials(tmp_path / "trials.nc"), trials)


def test_folders_are_made_and_nothing_else_is_left_behind(trials, tmp_path):
    path = tmp_path / "deep" / "down" / "trials.nc"
    save_trials(trials, path)
    save_trials(load_trials(path), path)
    assert os.listdir(path.parent) == ["trials.nc"]


def test_a_failed_writer_leaves_the_old_file(trials, tmp_path, monkeypatch):
    path = tmp_path / "trials.nc"
    save_trials(trials, path)

    def fail(source, target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(TrialsError, match=r"cannot be written to .* \(Permission denied\)"):
        save_trials(trials.isel(dataset=[0]), path)
    assert os.listdir(tmp_path) == ["trials.nc"]
    assert_same(load_trials(path), trials)


def test_what_netcdf_cannot_store_is_refused(trials, tmp_path):
    with pytest.raises(TrialsError, match="netCDF cannot store"):
        save_trials(trials.assign_attrs(settings={"a": 1}), tmp_path / "trials.nc")
    assert os.listdir(tmp_path) == []


def test_unusable_trials_are_not_written(trials, tmp_path):
    with pytest.raises(TrialsError, match="have no 'response'"):
        save_trials(trials.drop_vars("response"), tmp_path / "trials.nc")
    assert os.listdir(tmp_path) == []


def test_unknown_suffixes_are_refused(trials, tmp_path):
    with pytest.raises(TrialsError, match=r"end in '.nc', but .*trials.csv"):
        save_trials(trials, tmp_path / "trials.csv")
    with pytest.raises(TrialsError, match=r"end in '.nc'"):
        load_trials(tmp_path / "trials")


def test_a_folder_that_is_a_file_is_refused(trials, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrialsError, match="cannot be written"):
        save_trials(trials, tmp_path / "file" / "trials.nc")


def test_missing_files_are_refused(tmp_path):
    with pytest.raises(TrialsError, match="There is no file"):
        load_trials(tmp_path / "none.nc")


def test_foreign_and_damaged_files_are_refused(trials, tmp_path):
    path = tmp_path / "trials.nc"
    path.write_text("subject,stimulus,response\n" * 50)
    with pytest.raises(TrialsError, match="cannot be read as netCDF"):
        load_trials(path)
    save_trials(trials, path)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(TrialsError, match="cannot be read as netCDF"):
        load_trials(path)


def test_netcdf_without_usable_trials_is_refused(trials, tmp_path):
    path = tmp_path / "trials.nc"
    xr.Dataset({"temperature": ("day", [20.0])}).to_netcdf(path, engine="h5netcdf")
    with pytest.raises(TrialsError, match="does not hold trials of this version: The trials have no 'stimulus'"):
        load_trials(path)
    trials.assign_attrs(schema="designstudio trials 9").to_netcdf(path, engine="h5netcdf")
    with pytest.raises(TrialsError, match="schema 'designstudio trials 9'"):
        load_trials(path)
    trials["response"].values *= -1
    trials.to_netcdf(path, engine="h5netcdf")
    with pytest.raises(TrialsError, match=r"has response -0\.3 in trial 0"):
        load_trials(path)
