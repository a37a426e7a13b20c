"""What would take the machine down is refused before it begins, at every door, with what it would need."""

import dataclasses

import pytest

import designstudio as ds
from designstudio.core import memory
from designstudio.core.memory import check_memory, count_memory, format_bytes
from designstudio.errors import StudioError
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.limits import estimate_bytes
from designstudio.evaluate.model_recovery import recover_models
from designstudio.inference.settings import FitSettings
from designstudio.runs.calibrate import CalibrateRequest, run_calibrate
from designstudio.runs.schedule import ScheduleRequest, run_schedule
from designstudio.runs.sweep import SweepRequest, run_sweep
from designstudio.study import Goal, Population, Range, format_study
from tests.evaluate.make_study import TWO_LEVELS, make_study
from tests.search.make_search import SPACE, make_question

GIB = 2**30
REFUSAL = r"would need about [\d,.]+ [GT]iB of memory, but this machine has 23 GiB: "


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """A machine of a known size, so that the same is refused on every other one."""
    monkeypatch.setattr("designstudio.core.memory.count_memory", lambda: 23 * GIB)


def with_trials(num_trials):
    conditions = tuple(dataclasses.replace(condition, num_trials=num_trials // 2) for condition in TWO_LEVELS.conditions)
    return dataclasses.replace(TWO_LEVELS, conditions=conditions)


@pytest.mark.parametrize("fidelity", ["information", "importance", "nuts", "paper"])
def test_ten_million_trials_are_refused_at_every_fidelity(fidelity):
    study = make_study(designs=(TWO_LEVELS, dataclasses.replace(with_trials(10**7), name="long")))
    with pytest.raises(StudioError, match="Design 'long', 10,000,000 trials in 2 conditions, for 100 data sets " + REFUSAL):
        ds.evaluate(study, fidelity=fidelity)


def test_a_billion_data_sets_are_refused():
    with pytest.raises(StudioError, match="for 1,000,000,000 data sets " + REFUSAL):
        evaluate_design(make_study(), TWO_LEVELS, fidelity="information", num_datasets=10**9)


def test_curves_and_sweeps_are_refused_before_their_first_point(tmp_path):
    study = make_study(goals=(Goal("narrower", "beta", width=0.1),))
    with pytest.raises(StudioError, match=REFUSAL):
        ds.power(study, values=[90, 10**9], fidelity="information")
    with pytest.raises(StudioError, match=REFUSAL):
        run_sweep(SweepRequest(study, {"trials": (90.0, 1e9)}, tmp_path / "sweep", fidelity="information"))
    assert not (tmp_path / "sweep").exists()


def test_searches_are_refused_before_their_first_candidate(tmp_path):
    space = dataclasses.replace(SPACE, variables={**SPACE.variables, "trials": Range(100, 10**9)})
    for question, words in (
        (make_question(space), REFUSAL),
        (make_question(num_screened=10**9), "A screen of 1,000,000,000 designs " + REFUSAL),
    ):
        with pytest.raises(StudioError, match=words):
            ds.search(question, num_candidates=10, folder=tmp_path / "search")
    with pytest.raises(StudioError, match="up to 100,000 candidates, but 1,000,000,000 was given"):
        ds.search(make_question(), num_candidates=10**9)
    assert not (tmp_path / "search").exists()


def test_schedules_calibrations_and_model_recovery_are_refused(tmp_path):
    with pytest.raises(StudioError, match="Lists of 90 trials for 100,000,000 participants " + REFUSAL):
        run_schedule(ScheduleRequest(make_study(), tmp_path / "lists", num_participants=10**8))
    with pytest.raises(StudioError, match="10,000,000 trials in each condition and 200 data sets " + REFUSAL):
        run_calibrate(CalibrateRequest("quadratic", num_trials=10**7))
    with pytest.raises(StudioError, match="Model recovery with 90 trials for 1,000,000 data sets " + REFUSAL):
        recover_models(make_study(candidates=("quadratic", "quadratic_effort")), TWO_LEVELS, num_datasets=10**6)


def test_the_command_line_says_it_in_one_sentence(call, tmp_path):
    (tmp_path / "study.toml").write_text(format_study(make_study(designs=(with_trials(10**7),))))
    code, output, errors = call("evaluate", "study.toml")
    assert code == 2
    assert output == ""
    assert "10,000,000 trials" in errors
    assert "this machine has 23 GiB" in " ".join(errors.split())


def test_what_fits_is_not_refused():
    study = make_study()
    for fitted in (make_study(), make_study(cost="linex", population=Population())):
        model = fitted.analysis.build_model(study.load_actor(fitted.cost), TWO_LEVELS)
        assert estimate_bytes(model, 100, 500, FitSettings(num_draws=500, keeps_log_likelihood=False)) < 2 * GIB


def test_sizes_are_said_in_two_digits():
    assert [format_bytes(size) for size in (0.55 * GIB, 1.52 * GIB, 23.4 * GIB, 1434 * 1024 * GIB)] == [
        "0.55 GiB",
        "1.5 GiB",
        "23 GiB",
        "1,400 TiB",
    ]


def test_a_container_has_what_its_limit_leaves(monkeypatch, tmp_path):
    monkeypatch.undo()
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "CONTAINER_LIMITS", (tmp_path / "none", limit))
    limit.write_text("max\n")
    whole = count_memory()
    limit.write_text(f"{GIB}\n")
    assert count_memory() == GIB < whole


def test_where_the_system_does_not_say_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "count_memory", lambda: None)
    check_memory(1e30, "Anything", "do less")
