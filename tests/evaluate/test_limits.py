"""What would take the machine down, or means nothing, is refused before it begins, at every door, in one sentence."""

import dataclasses
import math
import re

import pytest

import designstudio as ds
from designstudio.core import memory
from designstudio.core.cache import BlockCache
from designstudio.core.memory import check_memory, count_memory, format_bytes
from designstudio.errors import StudioError
from designstudio.evaluate.evaluate_design import estimate_seconds, evaluate_design
from designstudio.evaluate.limits import estimate_bytes
from designstudio.evaluate.model_recovery import recover_models
from designstudio.inference.settings import FitSettings
from designstudio.model.priors import Constant
from designstudio.runs.calibrate import CalibrateRequest, run_calibrate
from designstudio.runs.evaluate import announce_time
from designstudio.runs.schedule import ScheduleRequest, run_schedule
from designstudio.runs.sweep import SweepRequest, run_sweep
from designstudio.study import Goal, Population, Quantity, Range, format_study
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


@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        ("mu_0 / 0", "'x', mu_0 / 0, is not a finite number for all of what the analysis prior allows"),
        ("log(mu_0 - 1)", "is not a finite number for some of what"),
        ("1e300 * mu_0", "is not a finite number for all"),
        ("2", "'x', 2, is 2 for everybody: it depends on nothing that is estimated"),
        ("mu_0 - mu_0", "is 0 for everybody"),
        ("sigma[0]", r"is 0\.1 for everybody"),
        ("1e-300 * mu_0", "is 0 for everybody"),
    ],
)
def test_quantities_of_which_nothing_can_be_learned_are_refused(formula, sentence):
    study = make_study(quantities=(Quantity.from_formula("x", formula),))
    with pytest.raises(StudioError, match=sentence):
        evaluate_design(study, TWO_LEVELS, fidelity="information", num_datasets=10)


@pytest.mark.parametrize("values", [[30, 30], [30, math.nan], [math.inf], []])
def test_a_curve_needs_different_finite_values(values, tmp_path):
    study = make_study(goals=(Goal("narrower", "beta", width=0.1),))
    with pytest.raises(StudioError, match=r"appears twice: give each once|must be finite numbers|at least one value"):
        ds.power(study, values=values, fidelity="information")
    with pytest.raises(StudioError, match=r"appears twice: give each once|must be finite numbers|takes 1 to 2000 points"):
        run_sweep(SweepRequest(study, {"trials": tuple(values)}, tmp_path / "sweep", fidelity="information"))


@pytest.mark.parametrize(
    ("along", "values", "sentence"),
    [
        ("sigma[1]", [0.2, 1e300], r"sigma of condition 'high' must be from 1e-09 to 5, but 1e\+300 was given"),
        ("participants", [1e300], r"takes up to 2,147,483,647 participants, but 1e\+300 were given"),
        ("participants", [1, 2], "needs at least 2 participants in each group, but 1 was given"),
        ("trials", [1e300], r"takes up to 2,147,483,647 trials"),
    ],
)
def test_values_with_which_nothing_can_be_computed_are_refused_along_a_curve(along, values, sentence):
    study = make_study(goals=(Goal("groups-differ", "beta", group={"beta": Constant(0.7)}),))
    with pytest.raises(StudioError, match=sentence):
        ds.power(study, along, values, design="two-levels", fidelity="information")


def test_participants_of_a_map_are_different_whole_numbers():
    study = make_study(goals=(Goal("narrower", "beta", width=0.1),))
    for participants, sentence in (
        ([10.5], "participants must be whole numbers, but 10.5 was given"),
        ([10, 10], "10 of participants appears twice"),
        ([math.nan], "participants must be finite numbers"),
    ):
        with pytest.raises(StudioError, match=sentence):
            ds.power(study, values=[30, 60], participants=participants, fidelity="information")


def test_long_work_is_announced_with_its_time_and_begins(tmp_path):
    cache, study = BlockCache(tmp_path), make_study()
    short, long = (estimate_seconds(study, [with_trials(num)], cache=cache) for num in (90, 10**6))
    assert long > 50 * short
    goals = (Goal("excludes", "beta"), Goal("narrower", "beta", width=0.1))
    assert estimate_seconds(study.replace(goals=goals), [TWO_LEVELS], cache=cache) > short
    said = []
    announce_time(study.replace(num_datasets=10**6, fidelity="paper"), study.designs, said.append)
    assert re.fullmatch(r"2 designs, 1000000 data sets each, by paper: about \d+ days\.", said[0])
    announce_time(study.replace(num_datasets=10, fidelity="information"), study.designs[:1], said.append)
    assert len(said) == 1


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
