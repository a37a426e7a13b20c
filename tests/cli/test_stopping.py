"""Whoever presses Ctrl-C learns what was kept and how to go on; folders of other questions are refused."""

import dataclasses

import pytest

from designstudio.core.files import write_json
from designstudio.core.run_record import write_record
from designstudio.errors import StudioError
from designstudio.fitting.fit_folder import REQUEST, TRIALS
from designstudio.fitting.planned import PlannedAnalysis
from designstudio.model.trials import save_trials
from designstudio.runs.fit import check_same_data
from designstudio.runs.folder import check_same_study, keep_run
from designstudio.study import format_study
from tests.evaluate.make_study import ONE_LEVEL, TWO_LEVELS, make_study

STUDY = make_study(designs=(TWO_LEVELS,), fidelity="information", num_datasets=20)
PLAN = PlannedAnalysis("record", "ab" * 32, "two-levels", "quadratic")


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("function", "arguments", "kept"),
    [
        ("evaluate.run_evaluate", ("evaluate", "study.toml"), "blocks of data sets that were finished are kept; to go on"),
        ("power.run_power", ("power", "study.toml"), "blocks of data sets that were finished are kept; to go on"),
        ("fit.run_fit", ("fit", "example"), "nothing was kept, because there is no --out; to begin anew"),
        ("fit.run_fit", ("fit", "example", "--out", "fits"), "costs that were finished are kept in 'fits'; to go on"),
        ("calibrate.run_calibrate", ("calibrate", "quadratic"), "nothing was kept; to begin anew"),
        (
            "sweep.run_sweep",
            ("sweep", "study.toml", "--along", "trials=30,60"),
            "are kept in 'study-sweep'; to go on",
        ),
        (
            "search.run_search",
            ("search", "study.toml"),
            "are kept in 'study-search'; to go on",
        ),
    ],
)
def test_who_stops_a_command_learns_what_was_kept_and_how_to_go_on(call, tmp_path, monkeypatch, function, arguments, kept):
    (tmp_path / "study.toml").write_text(format_study(STUDY))
    monkeypatch.setattr(f"designstudio.runs.{function}", interrupt)
    code, _, errors = call(*arguments)
    assert code == 130
    assert errors.strip().splitlines()[-1] == f"Stopped: {_find(errors)}, run designstudio {' '.join(arguments)}"
    assert kept in errors


def _find(errors):
    return errors.strip().splitlines()[-1].removeprefix("Stopped: ").partition(", run ")[0]


def test_a_folder_with_results_of_another_study_is_refused(tmp_path):
    keep_run(tmp_path, ["designstudio", "evaluate", "as-run.toml"], study=STUDY)
    for same in (STUDY, STUDY.replace(seed=5, num_datasets=40, fidelity="importance")):
        check_same_study(tmp_path, "evaluate", same)
    with pytest.raises(StudioError, match="holds the results of another study: choose another folder with --out"):
        check_same_study(tmp_path, "evaluate", dataclasses.replace(STUDY, designs=(ONE_LEVEL,)))
    with pytest.raises(StudioError, match="holds the results of designstudio evaluate: choose another folder with --out"):
        check_same_study(tmp_path, "power", STUDY)


def test_evaluate_refuses_such_a_folder_before_it_works(call, tmp_path):
    keep_run(tmp_path, ["designstudio", "evaluate", "as-run.toml"], study=dataclasses.replace(STUDY, designs=(ONE_LEVEL,)))
    (tmp_path / "study.toml").write_text(format_study(STUDY))
    code, _, errors = call("evaluate", "study.toml", "--out", ".")
    assert code == 2
    assert "holds the results of another study" in errors


def test_a_folder_with_fits_of_other_data_or_another_plan_is_refused(tmp_path, loaded):
    trials = loaded.trials
    check_same_data(tmp_path, trials, None)
    save_trials(trials, tmp_path / TRIALS)
    write_json(tmp_path / REQUEST, {"plan": PLAN.as_dict()})
    check_same_data(tmp_path, trials, PLAN)
    with pytest.raises(StudioError, match="holds fits of other data"):
        check_same_data(tmp_path, trials.isel(dataset=slice(3)), PLAN)
    with pytest.raises(StudioError, match="holds the fit that was planned as abababababababab"):
        check_same_data(tmp_path, trials, None)
    write_json(tmp_path / REQUEST, {"plan": None})
    check_same_data(tmp_path, trials, None)
    with pytest.raises(StudioError, match="holds a fit without a plan"):
        check_same_data(tmp_path, trials, PLAN)
    write_record(tmp_path, ["designstudio", "search", "as-run.toml"])
    with pytest.raises(StudioError, match="holds the results of designstudio search"):
        check_same_data(tmp_path, trials, None)
