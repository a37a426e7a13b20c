"""Figures of fits to real data: the numbers by value, the drawing by smoke in both backends."""

import functools

import holoviews as hv
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from designstudio.errors import StudioError
from designstudio.fitting.comparison import Comparison
from designstudio.inference.hierarchical import compute_shrinkage
from designstudio.inference.posterior import restore_posterior
from designstudio.model.actors import ExactActor
from designstudio.model.costs import PAPER_COST_NAMES, find_family, get_cost
from designstudio.model.likelihood.model import BehaviorModel
from designstudio.model.scale import Scale
from designstudio.viz.cost_functions import compute_cost_curves, draw_cost_functions
from designstudio.viz.estimates import (
    SHARED,
    estimate_group,
    estimate_subjects,
    label_parameters,
)
from designstudio.viz.families import order_costs
from designstudio.viz.figures import save_figure
from designstudio.viz.model_comparison import (
    WINNER,
    compute_subject_table,
    compute_totals,
    draw_model_comparison,
    draw_subject_winners,
)
from designstudio.viz.precision import compute_precision, draw_precision, list_log_ticks
from designstudio.viz.predictive import compute_predictions, draw_predictive
from designstudio.viz.prior_means import compute_prior_means, draw_prior_means
from designstudio.viz.shrinkage import UNSUPPORTED, compute_shifts, draw_shrinkage, list_medians
from designstudio.viz.subjects import FAILED, compute_caterpillar, draw_subjects
from tests.viz.test_calibration import find_picture_faults
from tests.viz.test_recovery import read_labels, read_title

COST = "absolute_effort"
COSTS = ["linex", COST, "quadratic"]
ORDERED = ["quadratic", COST, "linex"]
SUBJECTS = ["Ann", "Bob", "Cy", "Di"]
CONDITIONS = ["sharp", "blurred"]
SCALE = Scale(50.0, "N")
QUANTILES = [0.03, 0.25, 0.5, 0.75, 0.97]
DRAWS = ("dataset", "chain", "draw")


@functools.cache
def make_model(cost=COST):
    return BehaviorModel(ExactActor(get_cost(cost)), num_conditions=2, per_condition=("sigma",))


def make_tree(cost=COST, subjects=SUBJECTS, num_bad=1, seed=1, width=0.1):
    """Draws around known medians, in the actor's unit; the fits of the last subjects failed."""
    rng = np.random.default_rng(seed)
    num = len(subjects)
    where = {"mu_0": [1.6, 0.8, 1.2, 2.0], "sigma_0": 0.2, "sigma_r": 0.1, "beta": 0.8, "alpha": 0.5}
    draws = {}
    for name in make_model(cost).priors:
        if name == "sigma":
            spread = np.exp(width * rng.normal(size=(num, 2, 100, 2)))
            draws[name] = ((*DRAWS, "condition"), [0.1, 0.25] * spread)
        else:
            middle = np.reshape(np.resize(where[name], num), (-1, 1, 1))
            draws[name] = (DRAWS, middle * np.exp(width * rng.normal(size=(num, 2, 100))))
    coords = {"dataset": np.arange(num), "subject": ("dataset", subjects), "condition": CONDITIONS}
    is_good = np.arange(num) < num - num_bad
    diagnostics = {"is_good": ("dataset", is_good), "reason": ("dataset", np.where(is_good, "", "R-hat 1.3"))}
    return xr.DataTree.from_dict(
        {"posterior": xr.Dataset(draws, coords=coords), "diagnostics": xr.Dataset(diagnostics, coords=coords)}
    )


def make_pooled(cost=COST):
    """The good subjects, with less spread; one has too few supporting draws."""
    tree = make_tree(cost, SUBJECTS[:3], num_bad=1, seed=2, width=0.05)
    rng = np.random.default_rng(3)
    posterior = tree["posterior"].to_dataset()
    group = {}
    for name in posterior.data_vars:
        dims = [dim for dim in posterior[name].dims if dim != "dataset"]
        middle = posterior[name].mean(("dataset", "chain", "draw"))
        noise = xr.DataArray(np.exp(0.02 * rng.normal(size=(2, 100))), dims=("chain", "draw"))
        group[f"{name}_median"] = (middle * noise).transpose(*dims)
        group[f"{name}_spread"] = xr.zeros_like(group[f"{name}_median"])
    excluded = xr.Dataset({"reason": ("dataset", ["R-hat 1.3"])}, coords={"dataset": [3], "subject": ("dataset", ["Di"])})
    tree["group"] = xr.DataTree(xr.Dataset(group))
    tree["excluded"] = xr.DataTree(excluded)
    return tree


def make_predicted(num_points=14):
    """As `predict_responses` has it: 3 trials of one condition, 2 of the other."""
    grid = np.linspace(20, 150, num_points)
    quantiles = grid[:, None] * np.array([0.7, 0.9, 1.0, 1.1, 1.3])
    units = {"units": "N"}
    return xr.Dataset(
        {
            "response": (("condition", "stimulus", "probability"), np.stack([quantiles, 2 * quantiles]), units),
            "stimulus_shown": ("trial", [30.0, 50.0, 70.0, 90.0, 110.0], units),
            "response_given": ("trial", [31.0, 52.0, 73.0, 94.0, 115.0], units),
            "condition_index": ("trial", [0, 1, 0, 1, 0]),
            "share_inside": ("condition", [0.95, 0.85]),
            "share_inside_se": ("condition", [0.02, 0.04]),
        },
        coords={"condition": CONDITIONS, "stimulus": ("stimulus", grid, units), "probability": QUANTILES},
        attrs={"expected_inside": 0.94},
    )


def make_comparison(subjects=SUBJECTS, costs=COSTS):
    """Linex could not be fitted to the last subject, the first two are won by effort, the third by quadratic cost."""
    elpd = np.array([[-60.0, -50.0, -52.0], [-58.0, -50.0, -51.0], [-55.0, -54.0, -50.0], [-9.0, -5.0, -7.0]])
    elpd = elpd[np.arange(len(subjects)) % 4][:, : len(costs)]
    is_good = np.ones(elpd.shape, bool)
    is_good[-1, 0] = len(costs) == 1
    dims = ("subject", "cost")
    is_decided = is_good.all(axis=1)
    is_winner = (elpd == elpd.max(axis=1, keepdims=True)) & is_decided[:, None]
    table = xr.Dataset(
        {"elpd": (dims, elpd), "is_good": (dims, is_good), "is_winner": (dims, is_winner)},
        coords={"subject": subjects, "cost": costs},
    )
    total = elpd[is_decided].sum(axis=0)
    share = is_winner[is_decided].sum(axis=0) / max(is_decided.sum(), 1)
    names = {
        "elpd": total,
        "difference_se": np.arange(len(costs)) + 1.0,
        "share_won": share,
        "share_won_se": 0.1 + 0 * share,
    }
    names["weight"] = share
    families = xr.Dataset(
        {"share_won": ("family", [0.3, 0.7, 0.0]), "share_won_se": ("family", [0.1, 0.1, 0.05])},
        coords={"family": ["symmetric", "effort", "asymmetric"]},
    )
    totals = xr.Dataset({name: ("cost", values) for name, values in names.items()}, coords={"cost": costs})
    return Comparison(table, totals, families, int((~is_decided).sum()))


def make_prior_means(num_subjects=4, costs=COSTS):
    """As `compare_prior_means` has it; the first fit failed, which its numbers do not tell."""
    mean = 50.0 + np.arange(num_subjects)[::-1, None] + 10.0 * np.arange(len(costs))
    mean[0, 0] = 1e9
    is_good = mean < 1e9
    dims = ("subject", "cost")
    values = {"mean": (dims, mean), "low": (dims, mean - 9), "high": (dims, mean + 12), "is_good": (dims, is_good)}
    coords = {"subject": [f"s{k}" for k in range(num_subjects)], "cost": costs}
    return xr.Dataset(values, coords=coords, attrs={"units": "N"})


def make_cost_function(conditions=None):
    """As `infer_cost_function` has it."""
    error = np.geomspace(0.5, 2, 9)
    cost = (error - 1) ** 2
    rows = [cost] if conditions is None else [cost / (k + 1) for k in range(len(conditions))]
    scaled = {"median": np.array(rows), "low": 0.5 * np.array(rows), "high": 1.5 * np.array(rows)}
    found = xr.Dataset({name: (("condition", "error"), values) for name, values in scaled.items()}, {"error": error})
    whole = found.isel(condition=0) if conditions is None else found.assign_coords(condition=conditions)
    return whole.assign_attrs(interval=0.94)


def find_drawing_faults(figure, folder, *labels):
    """What is wrong: labels that no panel has in Bokeh, and faults of matplotlib's picture."""
    shown = {text for panel in read_labels(figure, "bokeh") for text in panel}
    faults = [f"no {label!r}" for label in labels if label not in shown]
    return faults + find_picture_faults(save_figure(figure, folder / "figure.png"))


def list_marks(figure, series):
    """Points of a series in each panel, as (x, y)."""
    found = []
    for panel in figure:
        marks = [part for part in panel if isinstance(part, hv.Points) and part.label == series.label]
        found.append(np.concatenate([part.array([0, 1]).astype(float) for part in marks] or [np.empty((0, 2))]))
    return found


def list_texts(figure):
    return [text for panel in figure for part in panel if part.group == "Labels" for text in part.dimension_values(2)]


def test_estimates_are_in_the_unit_of_the_data():
    tree = make_tree()
    table = estimate_subjects(tree, make_model(), SCALE)
    mu = table[table["quantity"] == "mu_0"].set_index("subject")
    np.testing.assert_allclose(mu["mean"], 50 * tree["posterior"]["mu_0"].mean(("chain", "draw")))
    assert ((mu["low"] < mu["mean"]) & (mu["mean"] < mu["high"])).all()
    assert mu["is_good"].tolist() == [True, True, True, False]
    # The odds of this cost's weight are a length: they change draw by draw.
    beta = tree["posterior"]["beta"].values[0].ravel()
    odds = 50 * beta / (1 - beta)
    first = table[(table["quantity"] == "beta") & (table["subject"] == "Ann")]
    assert first["mean"].item() == pytest.approx(np.mean(odds / (1 + odds)))
    assert table[table["quantity"] == "sigma"]["condition"].unique().tolist() == CONDITIONS
    assert set(table[table["quantity"] != "sigma"]["condition"]) == {SHARED}


def test_labels_have_the_unit_of_the_data():
    labels = label_parameters(make_model("linex"), "N", CONDITIONS)
    assert labels["mu_0"].axis == "μ₀ (N)"
    assert labels["alpha"].axis == "α (1/N)"
    assert labels["sigma[1]"].axis == "σ, blurred (log units)"


def test_excluded_subjects_stay_in_the_table_and_the_group_is_restored():
    pooled = make_pooled()
    table = estimate_subjects(pooled, make_model(), SCALE)
    assert table[table["subject"] == "Di"]["mean"].isna().all()
    assert not table[table["subject"] == "Di"]["is_good"].any()
    group = estimate_group(pooled, make_model(), SCALE).set_index(["quantity", "condition"])
    assert group.loc[("mu_0", SHARED), "mean"] == pytest.approx(50 * float(pooled["group"]["mu_0_median"].mean()))
    assert list_medians(group.reset_index(), CONDITIONS)["sigma[1]"] == group.loc[("sigma", "blurred"), "mean"]


def test_subjects_are_sorted_and_failed_fits_shown():
    table = estimate_subjects(make_tree(), make_model(), SCALE)
    drawn = compute_caterpillar(table)
    assert drawn.subjects == ["Di", "Bob", "Cy", "Ann"]
    assert drawn.names[0] == "Di (no fit)"
    (rows,) = drawn.rows["mu_0"]
    mu = table[table["quantity"] == "mu_0"].set_index("subject")
    names = [drawn.subjects[int(place)] for place in rows.place]
    np.testing.assert_array_equal(rows.mean, mu.loc[names, "mean"])
    np.testing.assert_array_equal(rows.high, mu.loc[names, "high"])
    assert rows.failed.tolist() == [0.0]
    figure = draw_subjects(table, label_parameters(make_model(), "N", CONDITIONS), title="All")
    assert read_title(figure).split("\n")[-1] == "1 of 4 subjects have no usable fit"
    assert all(marks[:, 1].tolist() == [0.0] for marks in list_marks(figure, FAILED))


def test_the_group_is_a_band(tmp_path):
    pooled = make_pooled()
    group = estimate_group(pooled, make_model(), SCALE)
    labels = label_parameters(make_model(), "N", CONDITIONS)
    table = estimate_subjects(pooled, make_model(), SCALE)
    figure = draw_subjects(table[table["quantity"].isin(["mu_0", "sigma"])], labels, group=group)
    boxes = [part.data.to_numpy(float)[0] for part in next(iter(figure)) if part.group == "Rectangles"]
    row = group.set_index("quantity").loc["mu_0"]
    assert any(np.allclose(box[[0, 2]], [row["low"], row["high"]]) for box in boxes)
    assert not find_drawing_faults(figure, tmp_path, "μ₀ (N)", "σ (log units)", "subject")


def test_forty_four_subjects_without_a_fit_are_all_shown():
    labels = label_parameters(make_model(), "N", CONDITIONS)
    names = [f"subject {k}" for k in range(44)]
    table = pd.DataFrame({"subject": names, "quantity": "mu_0", "condition": SHARED, "is_good": False})
    table = table.assign(mean=np.nan, low=np.nan, high=np.nan)
    figure = draw_subjects(table, labels)
    assert len(list_marks(figure, FAILED)[0]) == 44
    with pytest.raises(StudioError, match="no column 'is_good'"):
        draw_subjects(table.drop(columns="is_good"), labels)
    with pytest.raises(StudioError, match="no estimates"):
        draw_subjects(table.iloc[:0], labels)


def test_predictions_by_value():
    sharp, blurred = compute_predictions(make_predicted())
    np.testing.assert_array_equal(sharp.stimulus, [30, 70, 110])
    np.testing.assert_array_equal(blurred.response, [52, 94])
    np.testing.assert_allclose(blurred.quantiles[:, 2], 2 * blurred.grid)
    assert blurred.heading == "blurred\n85% inside, expected 94 ± 4%"


def test_predictions_are_drawn(tmp_path):
    figure = draw_predictive(make_predicted(), title="Bob")
    assert read_title(figure).split("\n")[1] == "bands: 50% and 94% of predicted responses"
    assert not find_drawing_faults(figure, tmp_path, "stimulus (N)", "response (N)", "sharp\n95% inside, expected 94 ± 2%")


def test_a_lone_stimulus_still_has_a_band():
    figure = draw_predictive(make_predicted(num_points=1))
    assert all(len(part) == 2 for part in next(iter(figure)) if isinstance(part, hv.Area))


def test_costs_are_drawn_over_the_logarithm_of_the_error():
    (curve,) = compute_cost_curves(make_cost_function())
    assert curve.condition == SHARED
    np.testing.assert_allclose(curve.place, np.linspace(-1, 1, 9), atol=1e-9)
    np.testing.assert_allclose(curve.median, (2**curve.place - 1) ** 2)
    np.testing.assert_allclose(curve.high, 1.5 * curve.median)
    assert curve.place[curve.cheapest] == pytest.approx(0.0)


def test_cost_functions_are_drawn_family_by_family(tmp_path):
    figure = draw_cost_functions({cost: make_cost_function() for cost in ["linex", "inverted_gaussian"]}, title="Ann")
    assert next(iter(figure)).opts.get("plot", backend="bokeh").kwargs["title"] == "inverted gaussian"
    assert not find_drawing_faults(figure, tmp_path, "response / stimulus", "relative cost", "inverted gaussian")
    with pytest.raises(StudioError, match="no cost functions"):
        draw_cost_functions({})


def test_conditions_with_costs_of_their_own_have_their_lines(tmp_path):
    functions = {"quadratic": make_cost_function(), COST: make_cost_function(CONDITIONS)}
    figure = draw_cost_functions(functions)
    shared, own = ({part.label: part for part in panel if type(part) is hv.Curve} for panel in figure)
    assert list(shared) == ["response = stimulus", "all conditions"]
    assert list(own) == ["response = stimulus", *CONDITIONS]
    np.testing.assert_allclose(own["blurred"].dimension_values(1), functions[COST]["median"].sel(condition="blurred"))
    assert not find_drawing_faults(figure, tmp_path, "absolute effort")


def test_costs_stand_in_the_order_of_the_paper():
    assert order_costs(["mine", *reversed(PAPER_COST_NAMES)]) == [*PAPER_COST_NAMES, "mine"]
    assert [find_family(cost) for cost in ORDERED] == ["symmetric", "effort", "asymmetric"]
    assert find_family("mine") == "other"


def test_totals_are_to_the_best_cost():
    totals = compute_totals(make_comparison())
    assert totals.costs == ORDERED
    np.testing.assert_allclose(totals.difference, [0.0, -1.0, -20.0])
    np.testing.assert_allclose(totals.difference_se, [3.0, 2.0, 1.0])
    np.testing.assert_allclose(totals.share, [1 / 3, 2 / 3, 0.0])


def test_winners_are_marked_and_unusable_fits_crossed_out(tmp_path):
    table = compute_subject_table(make_comparison())
    # By winner; who has none comes last.
    assert table.subjects == ["Cy", "Ann", "Bob", "Di"]
    np.testing.assert_allclose(table.difference, [[0, -4, -5], [-2, 0, -10], [-1, 0, -8], [-2, 0, np.nan]])
    figure = draw_subject_winners(make_comparison())
    lost = ["−4.0", "−5.0", "−2.0", "−10.0", "−1.0", "−8.0", "−2.0", "0.0"]
    assert sorted(list_texts(figure)) == sorted([WINNER] * 3 + lost)
    assert not find_drawing_faults(figure, tmp_path, "subject")
    (cell,) = [part.data.to_numpy(float) for part in next(iter(figure)) if part.group == "Rectangles"]
    np.testing.assert_allclose(cell[0], [1.52, -0.46, 2.48, 0.46])


def test_comparison_is_drawn(tmp_path):
    figure = draw_model_comparison(make_comparison(), title="Costs")
    assert "3 subjects; 1 left out" in read_title(figure)
    assert not find_drawing_faults(figure, tmp_path, "summed difference in elpd (nats)", "share of subjects won (%)")


def test_each_of_many_winners_has_a_row_and_a_lone_one_has_too():
    many = draw_subject_winners(make_comparison([f"s{k}" for k in range(44)]))
    assert list_texts(many).count(WINNER) == 43
    assert list_texts(draw_subject_winners(make_comparison(["only"], COSTS[:1]))) == [WINNER]


def test_no_subject_in_common_is_said():
    comparison = make_comparison(["only"])
    assert list_texts(draw_model_comparison(comparison)) == ["No subject could be fitted with every cost."]


def test_prior_means_by_value(tmp_path):
    (shown,) = compute_prior_means(make_prior_means()).values()
    assert shown.costs == ORDERED
    assert shown.subjects == ["s3", "s2", "s1", "s0"]
    np.testing.assert_allclose(shown.mean[:, 0], [70, 71, 72, 73])
    assert np.isnan(shown.mean[3, 2])
    np.testing.assert_allclose(shown.median, [71.5, 61.5, 51.0])
    figure = draw_prior_means(make_prior_means(), mean_stimuli={SHARED: 60.0}, title="Prior means")
    assert read_title(figure) == "Prior means\nmean and 94% interval of every subject\n1 of 12 fits failed"
    assert not find_drawing_faults(figure, tmp_path, "prior mean μ₀ (N)")


def test_conditions_with_prior_means_of_their_own_have_panels(tmp_path):
    both = xr.concat([make_prior_means(), make_prior_means()], "condition", data_vars=["mean", "low", "high"])
    both = both.assign_coords(condition=CONDITIONS)
    both["mean"].loc[{"condition": "blurred"}] *= 2
    # Who has no trials in a condition has no failed fit.
    both["mean"].loc[{"condition": "sharp", "subject": "s3"}] = np.nan
    sharp, blurred = compute_prior_means(both).values()
    np.testing.assert_allclose(blurred.median, [143.0, 123.0, 102.0])
    assert sharp.subjects[-1] == "s3"
    figure = draw_prior_means(both, mean_stimuli={"sharp": 60.0, "blurred": 120.0})
    assert "1 of 12 fits failed" in read_title(figure)
    lines = [next(part for part in panel if part.label == "mean stimulus") for panel in figure]
    assert [line.dimension_values(1)[0] for line in lines] == [60, 120]
    assert not find_drawing_faults(figure, tmp_path, *CONDITIONS)


def test_many_subjects_have_no_intervals_and_one_cost_a_median():
    many = draw_prior_means(make_prior_means(44))
    assert "their intervals are not drawn" in read_title(many)
    assert not [part for part in next(iter(many)) if isinstance(part, hv.Segments)]
    lone = draw_prior_means(make_prior_means(4, COSTS[:1]))
    (median,) = [part for part in next(iter(lone)) if part.label == "median of subjects"]
    assert median.dimension_values(1).tolist() == [51.0, 51.0]


def test_shrinkage_by_value_and_unsupported_subjects_crossed_out(tmp_path):
    trees = [restore_posterior(tree, make_model(), SCALE) for tree in (make_tree(), make_pooled())]
    shrinkage = compute_shrinkage(*trees).assign(is_good=("dataset", [True, True, False]))
    shift = compute_shifts(shrinkage, {"mu_0": 66.0})["mu_0"]
    np.testing.assert_allclose(shift.separate, 50 * make_tree()["posterior"]["mu_0"].values[:3].mean((1, 2)))
    np.testing.assert_allclose(shift.pooled, 50 * make_pooled()["posterior"]["mu_0"].values.mean((1, 2)))
    assert shift.group == 66.0
    assert shift.shrinkage == pytest.approx(np.median(shrinkage["shrinkage"].sel(quantity="mu_0").values[:2]))
    shrinkage = shrinkage.sel(quantity=["mu_0", "sigma[1]"])
    labels = label_parameters(make_model(), "N", CONDITIONS)
    figure = draw_shrinkage(shrinkage, labels, group={"mu_0": 66.0}, title="Pooling")
    np.testing.assert_allclose(list_marks(figure, UNSUPPORTED)[0], [[shift.separate[2], shift.pooled[2]]])
    assert not find_drawing_faults(figure, tmp_path, "separate μ₀ (N)", "pooled σ, blurred (log units)")


def test_precision_by_value(tmp_path):
    columns = {
        "predicted_sd": [10.0, 0.05],
        "predicted_mcse": [1.0, 0.03],
        "achieved_sd": [12.0, 0.05],
        "achieved_se": [0.6, np.nan],
        "ratio": [1.2, 1.0],
        "ratio_se": [0.15, np.nan],
    }
    coords = {"quantity": ["mu_0", "beta"], "symbol": ("quantity", ["μ₀", "β"]), "unit": ("quantity", ["N", "no unit"])}
    precision = xr.Dataset({name: ("quantity", values) for name, values in columns.items()}, coords=coords)
    found = compute_precision(precision)
    np.testing.assert_allclose(found["mu_0"].planned, [10, 8, 12])
    np.testing.assert_allclose(found["mu_0"].ratio, [1.2, 0.9, 1.5])
    # Two errors would reach below zero; those of a single subject are not known.
    np.testing.assert_allclose(found["beta"].planned, [0.05, 0.0025, 0.11])
    np.testing.assert_allclose(found["beta"].achieved, 0.05)
    assert [row.label.axis for row in found.values()] == ["μ₀ (N)", "β"]
    assert [text for _, text in list_log_ticks(-1.4, 1.3)] == ["0.1", "1", "10"]
    assert not find_drawing_faults(draw_precision(precision), tmp_path, "planned posterior sd", "achieved posterior sd")
