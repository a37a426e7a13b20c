"""Figures of a search: the numbers by value, the drawing by smoke, and the files."""

import dataclasses
import json
import math

import numpy as np
import pytest

from designstudio.core.tables import read_csv
from designstudio.errors import StudioError
from designstudio.evaluate.results import Convergence, Evaluation
from designstudio.evaluate.status import Status
from designstudio.metrics.identifiability import score_identifiability
from designstudio.metrics.monte_carlo import Score
from designstudio.runs.search import add_best, write_search
from designstudio.search.finalists import compare_contenders
from designstudio.search.ranking import Contender, build_contender
from designstudio.search.records import CandidateRecord
from designstudio.search.search_result import SearchResult
from designstudio.study import Choice, Objective, Range, SearchPlan, Space, Study, read_study
from designstudio.study.design import PRESETS, Condition, Design, Stimuli
from designstudio.viz.designs import CLOSEST, MOST_STROKES, compute_rows, draw_designs, find_level
from designstudio.viz.figures import save_figure
from designstudio.viz.fresh import list_fresh, read_fresh_record
from designstudio.viz.front import compute_front, draw_front
from designstudio.viz.history import compute_history, draw_history
from designstudio.viz.search import draw_search
from designstudio.viz.search_labels import label_objective, name_variable
from designstudio.viz.variables import compute_parallel, draw_importance, draw_parallel, plays_role
from tests.viz.test_calibration import find_picture_faults
from tests.viz.test_recovery import find_faults, make_summaries, read_title

RMSE, MINUTES, GAIN = Objective("rmse", ("mu_0", "beta")), Objective("minutes"), Objective("information_gain", ("all",))
SPACE = Space(
    {
        "levels": Range(1, 4),
        "low_share": Range(0.2, 0.8),
        "trials": Range(30, 90),
        "stimuli.distribution": Choice(("uniform", "log-uniform", "grid")),
        "stimuli.low": 0.25,
        "stimuli.high": 5.0,
        "stimuli.num_values": Range(2, 10),
    },
    "sigma",
    Range(0.05, 0.35),
)
STIMULI = Stimuli(low=0.25, high=5.0)


def make_design(name, **trials_of_level):
    conditions = (Condition(f"σ {level}", num, {"sigma": float(level)}) for level, num in trials_of_level.items())
    return Design(name, tuple(conditions), STIMULI)


PAPER = make_design("paper", **{"0.1": 45, "0.2": 45})


def make_record(
    number, value, *, state="complete", minutes=5.0, gain=1.0, num_datasets=64, over=0.0, mcse=0.01, **parameters
):
    given = {"sigma_low": 0.06, "sigma_high": 0.3, "levels": 2, "low_share": 0.5, "trials": 60}
    given |= {"stimuli.distribution": "uniform", "stimuli.num_values": 2, **parameters}
    scores = {RMSE.label: Score(value, mcse), MINUTES.label: Score(minutes, 0.0), GAIN.label: Score(gain, 0.1)}
    design = {"levels": [{"sigma": 0.06}, {"sigma": 0.3}], "trials": [30, 30], "stimuli": "uniform", "minutes": minutes}
    return CandidateRecord(number, state, given, design, scores, num_datasets, 0, {"limit": over}, None, 1.5, 0, "me")


RECORDS = (
    make_record(0, 0.20, minutes=4.0, gain=1.0),
    make_record(1, 0.05, minutes=3.0, gain=9.0, state="pruned", num_datasets=16),
    make_record(2, 0.15, minutes=6.0, gain=3.0, levels=4),
    # The best by far, but not allowed.
    make_record(3, 0.04, minutes=1.0, gain=9.0, over=2.0),
    # Beaten by the one before it in everything.
    make_record(4, 0.18, minutes=7.0, gain=2.0, levels=1, sigma_high=0.06),
    make_record(5, 0.10, minutes=8.0, gain=4.0, **{"stimuli.distribution": "grid", "stimuli.num_values": 10}),
    make_record(6, float("nan")),
)


def make_evaluation(design, sd):
    convergence = Convergence(40, 0, 0, 1.0, math.nan, 800.0, {})
    summaries = make_summaries(sd=sd, num_failed=0).assign_attrs(settings="{}", versions="{}")
    identifiability = score_identifiability(summaries, ("mu_0", "sigma_0"), ("beta",))
    status = Status("partly", "mu_0 and beta are partly told apart", True)
    study = make_study((RMSE,))
    return Evaluation(study, design, "nuts", summaries, 1.0, False, {}, identifiability, status, None, convergence, {}, None)


def make_study(objectives):
    return Study("quadratic_effort", (PAPER,), title="A search", search=SearchPlan(SPACE, objectives))


def make_result(*objectives, records=RECORDS, is_verified=True, importance=None):
    question = make_study(objectives or (RMSE,))
    verification = None
    if is_verified:
        finalists = []
        for record in records[5], records[2]:
            design = make_design(f"finalist-{record.number}", **{"0.06": 20, "0.3": 40})
            fresh = {label: Score(score.value * 1.1, score.mcse / 2) for label, score in record.scores.items()}
            finalists.append(Contender(make_evaluation(design, 0.08), fresh, candidate=record))
        reference = build_contender(question, make_evaluation(PAPER, 0.1), None)
        verification = compare_contenders(question, finalists, [reference])
    importance = {"low_share": 0.7, "sigma_high": 0.3} if importance is None else importance
    return SearchResult(question, "search", records, verification, 12.0, importance, 0)


def test_best_so_far_only_improves_and_ignores_what_cannot_win():
    history = compute_history(make_result(), RMSE)
    np.testing.assert_array_equal(history.best.number, [0, 2, 5])
    np.testing.assert_array_equal(history.best.value, [0.20, 0.15, 0.10])
    assert (np.diff(history.best.value) < 0).all()


def test_best_so_far_grows_where_larger_is_better():
    np.testing.assert_array_equal(compute_history(make_result(GAIN), GAIN).best.value, [1.0, 3.0, 4.0])


def test_each_trial_with_a_value_is_drawn_once():
    history = compute_history(make_result(), RMSE)
    assert [cloud.number.tolist() for cloud in history[:3]] == [[0, 2, 4, 5], [1], [3]]
    assert history.given_up.num_datasets.tolist() == [16]


def test_designs_that_are_far_worse_do_not_squeeze_the_others():
    bad = make_record(7, 50.0, state="pruned", num_datasets=16)
    history = compute_history(make_result(records=(*RECORDS, bad)), RMSE)
    assert history.shown[1] < 1.0
    assert bad.number in history.given_up.number
    assert "1 △ above the axis" in read_title(draw_history(make_result(records=(*RECORDS, bad))))


def test_fresh_scores_are_those_of_finalists_and_of_the_studys_own_designs():
    first, second, own = list_fresh(make_result())
    assert [first.number, second.number, own.number] == [5, 2, None]
    assert first.scores[RMSE.label].value == pytest.approx(0.11)
    summaries = make_summaries(sd=0.1, num_failed=0)
    errors = ((summaries["mean"] - summaries["truth"]) ** 2).mean("dataset") ** 0.5
    expected = np.sqrt(errors.sel(quantity="mu_0") * errors.sel(quantity="beta"))
    assert own.scores[RMSE.label].value == pytest.approx(float(expected))
    assert list_fresh(make_result(is_verified=False)) == []


def test_front_leaves_out_beaten_and_infeasible_designs():
    result = make_result(RMSE, MINUTES)
    front = compute_front(result, MINUTES, RMSE)
    assert front.number.tolist() == [0, 2, 4, 5]
    assert front.number[front.is_best].tolist() == [0, 2, 5] == [record.number for record in result.front]


def test_stairs_lead_from_one_unbeaten_design_to_the_next():
    front = compute_front(make_result(RMSE, MINUTES), MINUTES, RMSE)
    np.testing.assert_allclose(front.stairs, [[4, 0.2], [6, 0.2], [6, 0.15], [8, 0.15], [8, 0.1]])


def test_stairs_know_which_way_is_better():
    front = compute_front(make_result(MINUTES, GAIN), GAIN, MINUTES)
    # From the most informative design down to the shortest.
    np.testing.assert_allclose(front.stairs, [[4, 8], [3, 8], [3, 6], [1, 6], [1, 4]])


def test_front_of_one_objective_is_refused():
    with pytest.raises(StudioError, match="two objectives or more"):
        draw_front(make_result())


def test_parallel_lines_run_from_the_worst_to_the_best():
    lines = compute_parallel(make_result())
    assert [record.number for record in lines.records] == [0, 4, 2, 5, 1]
    assert (np.diff(lines.goodness) >= 0).all()
    assert lines.goodness[-1] == 1
    assert [r.number for r, is_best in zip(lines.records, lines.is_best, strict=True) if is_best] == [4, 2, 5]


def test_parallel_axes_place_numbers_by_their_range_and_choices_evenly():
    axes = {axis.name: axis for axis in compute_parallel(make_result()).axes}
    np.testing.assert_allclose(axes["number of levels"].place, [1 / 3, 0, 1, 1 / 3, 1 / 3])
    np.testing.assert_allclose(axes["number of trials"].place, 0.5)
    assert axes["lowest σ (log units)"].ticks == ((0.0, "0.05"), (1.0, "0.35"))
    assert axes["distribution of stimuli"].ticks == ((0.0, "uniform"), (0.5, "log-uniform"), (1.0, "grid"))


def test_variables_without_a_role_leave_a_gap():
    axes = {axis.name: axis for axis in compute_parallel(make_result()).axes}
    # The second has one level; the fourth shows a grid.
    assert np.flatnonzero(np.isnan(axes["highest σ (log units)"].place)).tolist() == [1]
    assert np.flatnonzero(np.isfinite(axes["number of stimuli"].place)).tolist() == [3]
    assert not plays_role(SPACE, {"levels": 2}, "spacing")
    assert plays_role(SPACE, {"levels": 3}, "spacing")
    assert not plays_role(SPACE, {"levels": 4, "spacing": "log"}, "middle_1")


def test_trials_of_a_design_add_up():
    designs = {"many": make_design("many", **{"0.05": 30, "0.1": 12, "0.3": 18}), "paper": PAPER}
    rows = compute_rows(designs)
    assert {name: sum(row.num_trials for row in design) for name, design in rows.items()} == {"many": 60, "paper": 90}
    for design in rows.values():
        for row in design:
            assert row.thickness / row.num_trials == pytest.approx(rows["paper"][0].thickness / 45)
            assert len(row.strokes) == row.num_trials
    assert sorted(len(part) for part in find_elements(draw_designs(designs), "Segments")) == [60, 90]


def test_levels_are_drawn_to_scale_unless_they_are_too_close():
    apart = compute_rows({"a": make_design("a", **{"0.1": 9, "0.4": 9}), "b": make_design("b", **{"0.2": 9})})
    assert [row.place for row in apart["a"]] == [0.0, 1.0]
    assert apart["b"][0].place == pytest.approx(0.5)
    close = compute_rows({"a": make_design("a", **{"0.1": 9, "0.101": 9, "0.4": 9})})["a"]
    assert np.diff([row.place for row in close]).min() > CLOSEST


def test_strokes_follow_the_distribution():
    condition = (Condition("all", 3 * MOST_STROKES),)
    shown = {
        "range": Design("range", condition, Stimuli("log-uniform", 1.0, 4.0)),
        "grid": Design("grid", condition, Stimuli("grid", 1.0, 3.0, 3)),
    }
    rows = {name: design[0] for name, design in compute_rows(shown).items()}
    assert len(rows["range"].strokes) == MOST_STROKES
    assert np.median(rows["range"].strokes) == pytest.approx(2.0, rel=0.01)
    assert rows["grid"].strokes.tolist() == [1, 2, 3]
    assert find_level(shown) is None
    assert read_title(draw_designs(shown)) == "a stroke for every 3 trials; a bar for each stimulus of a grid or list"


def test_nothing_to_draw_is_refused():
    with pytest.raises(StudioError, match="no designs to draw"):
        draw_designs({})


def test_objectives_are_written_with_symbols_and_units():
    study = make_study((RMSE,))
    assert label_objective(RMSE, study).axis == "geometric mean RMSE of μ₀ and β"
    assert label_objective(Objective("rmse", ("mu_0",)), study).axis == "RMSE of μ₀ (stimulus unit)"
    assert label_objective(Objective("mse", ("sigma_0",)), study).axis == "MSE of σ₀ (log units²)"
    assert label_objective(Objective("pearson", ("mu_0", "beta")), study).axis == "mean pearson of μ₀ and β"
    assert label_objective(MINUTES, study).axis == "time of a participant (min)"
    assert label_objective(GAIN, study).axis == "information gain of all parameters (nats)"


def test_variables_are_written_in_words():
    names = ("sigma_low", "low_share", "stimuli.high", "minutes", "middle_1", "sigma")
    assert [name_variable(name).symbol for name in names] == [
        "lowest σ",
        "share of trials at the lowest level",
        "largest stimulus",
        "time of a participant",
        "place of the second level",
        "σ",
    ]


def find_elements(figure, kind):
    return [part for panel in figure for part in panel if type(part).__name__ == kind]


def test_importance_bars_are_as_long_as_they_should_be(tmp_path):
    figure = draw_importance(make_result())
    (bars,) = find_elements(figure, "Rectangles")
    assert bars.dimension_values(2).tolist() == [30, 70]
    ticks = next(iter(figure)).opts.get("plot", backend="bokeh").kwargs["yticks"]
    assert [text for _, text in ticks] == ["highest σ", "share of trials at the lowest level"]
    assert not find_faults(figure, tmp_path, "share of importance (%)")


def test_too_few_trials_are_said_to_be_too_few(tmp_path):
    figure = draw_importance(make_result(importance={}))
    assert "Too few" in find_elements(figure, "Labels")[0].dimension_values(2)[0]
    assert not [fault for fault in find_faults(figure, tmp_path) if "cut" in fault or "open" in fault]


def test_history_is_drawn(tmp_path):
    figure = draw_history(make_result(GAIN))
    labels = "number of the candidate", "information gain of all parameters (nats)"
    assert not find_faults(figure, tmp_path, *labels)


def test_front_is_drawn_for_every_pair(tmp_path):
    assert len(draw_front(make_result(RMSE, MINUTES, GAIN))) == 2
    figure = draw_front(make_result(RMSE, MINUTES))
    assert not find_faults(figure, tmp_path, "time of a participant (min)", "geometric mean RMSE of μ₀ and β")


def test_parallel_lines_are_drawn(tmp_path):
    assert not find_faults(draw_parallel(make_result(RMSE, MINUTES)), tmp_path)


def test_designs_are_drawn(tmp_path):
    assert not find_faults(draw_designs({"paper": PAPER}), tmp_path, "σ (log units)", "stimulus (stimulus unit)")
    published = draw_designs({"puck": PRESETS["puck"], "duration": PRESETS["duration"]}, title="Published")
    assert not find_picture_faults(save_figure(published, tmp_path / "published.png"))


@pytest.mark.parametrize("records", [(), (RECORDS[1], RECORDS[3], RECORDS[6])])
def test_a_search_without_candidates_is_drawn(records, tmp_path):
    result = make_result(RMSE, MINUTES, records=records, is_verified=False, importance={})
    for name, figure in draw_search(result).items():
        assert save_figure(figure, tmp_path / f"{name}.png").stat().st_size > 1000


def test_figures_are_those_that_apply():
    assert list(draw_search(make_result())) == ["history", "importance", "parallel", "designs"]
    assert list(draw_search(make_result(RMSE, MINUTES, is_verified=False))) == ["history", "front", "importance", "parallel"]


def test_the_winner_is_a_design_of_a_study_file(tmp_path):
    result = make_result()
    assert "winner.toml" in write_search(result, tmp_path)
    study = read_study(tmp_path / "winner.toml")
    assert dataclasses.replace(study, designs=study.designs[:-1]) == result.question
    assert study.designs[-1] == dataclasses.replace(result.verification.finalists[0].design, name="winner")
    # Found again by a search that began from it, it has to have another name.
    again = add_best(dataclasses.replace(result, question=study))
    assert [design.name for design in again.designs] == ["paper", "winner", "winner-2"]


def test_a_search_of_several_aims_has_finalists_and_one_without_a_find_has_none():
    designs = add_best(make_result(RMSE, MINUTES)).designs
    assert [design.name for design in designs] == ["paper", "finalist-5", "finalist-2"]
    assert add_best(make_result(is_verified=False)) is None


@pytest.mark.usefixtures("quick_pictures")
def test_a_question_that_no_file_can_hold_loses_nothing_else(tmp_path):
    result = make_result()
    plan = dataclasses.replace(result.question.search, block_size=8)
    result = dataclasses.replace(result, question=dataclasses.replace(result.question, search=plan))
    names = [name for name in write_search(result, tmp_path) if not name.startswith("fresh_")]
    assert names[:3] == ["result.json", "candidates.csv", "history.png"]


def test_everything_is_written(tmp_path):
    result = make_result(RMSE, MINUTES)
    names = write_search(result, tmp_path)
    assert names == [
        "result.json",
        "candidates.csv",
        "finalists.toml",
        "fresh_finalist-5.nc",
        "fresh_finalist-2.nc",
        "fresh_paper.nc",
        "history.png",
        "front.png",
        "importance.png",
        "parallel.png",
        "designs.png",
        "as-run.toml",
        "as-run.json",
    ]
    record = json.loads((tmp_path / "result.json").read_text())
    assert record["front"] == [0, 2, 5]
    assert record["verdict"][0].startswith("7 designs were tried")
    assert [entry[1:] for entry in read_fresh_record(record)] == [entry[1:] for entry in list_fresh(result)]
    rows = read_csv(tmp_path / "candidates.csv")
    assert [row["state"] for row in rows] == [record.state for record in RECORDS]
    assert rows[3]["is_feasible"] == "False"
    assert rows[1]["num_datasets"] == "16"
    assert (rows[2]["RMSE of mu_0, beta value"], rows[2]["minutes value"]) == ("0.15", "6")
    for name in names[6:11]:
        assert not find_picture_faults(tmp_path / name)
        assert "<svg" in (tmp_path / name).with_suffix(".svg").read_text()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
