"""Recovery figures: the numbers by value, the drawing by smoke. Other tests of figures borrow the checks from here."""

import holoviews as hv
import numpy as np
import pytest
import xarray as xr
from bokeh.core.validation import check_integrity
from bokeh.plotting import figure as bokeh_figure

from designstudio.errors import StudioError, UnknownNameError
from designstudio.viz import theme
from designstudio.viz.figures import count_columns, save_figure
from designstudio.viz.recovery import (
    LEAST_CONTRACTION,
    compute_contraction,
    compute_coverage,
    compute_recovery,
    draw_contraction,
    draw_coverage,
    draw_recovery,
)
from tests.viz.test_calibration import find_picture_faults

NAMES, SYMBOLS, UNITS = ("mu_0", "sigma_0", "beta"), ("μ₀", "σ₀", "β"), ("stimulus unit", "log units", "no unit")
NUM, NUM_FAILED = 40, 3


def make_summaries(seed=1, *, sd=0.1, num_failed=NUM_FAILED, is_constant=False):
    """Exact normal posteriors of three parameters; the first fits have failed."""
    rng = np.random.default_rng(seed)
    truth = np.ones((NUM, 3)) if is_constant else rng.uniform(0.5, 1.5, (NUM, 3))
    mean = truth + sd * rng.normal(size=truth.shape)
    root = np.linalg.cholesky([[1.0, 0.3, -0.8], [0.3, 1.0, 0.0], [-0.8, 0.0, 1.0]])
    covariance = np.cov(rng.normal(size=(NUM, 200, 3)).reshape(-1, 3).T) * sd**2
    covariance = np.stack([root @ (covariance * (1 + 0.01 * k)) @ root.T for k in range(NUM)])
    by_quantity = ("dataset", "quantity")
    return xr.Dataset(
        {
            "truth": (by_quantity, truth),
            "mean": (by_quantity, mean),
            "sd": (by_quantity, np.full_like(mean, sd)),
            "low": (by_quantity, mean - 1.88 * sd),
            "high": (by_quantity, mean + 1.88 * sd),
            "prior_sd": ("quantity", [0.5, 0.5, 0.2]),
            "log_covariance": (("dataset", "parameter", "parameter_other"), covariance),
            "prior_log_covariance": (("parameter", "parameter_other"), np.eye(3)),
            "is_good": ("dataset", np.arange(NUM) >= num_failed),
        },
        coords={
            "dataset": np.arange(NUM),
            "quantity": list(NAMES),
            "parameter": list(NAMES),
            "parameter_other": list(NAMES),
            "symbol": ("quantity", list(SYMBOLS)),
            "unit": ("quantity", list(UNITS)),
            "base": ("quantity", list(NAMES)),
        },
    )


def read_labels(figure, backend):
    """Labels of the axes and titles of all panels, as drawn."""
    drawn = hv.renderer(backend).get_plot(figure).state
    if backend == "matplotlib":
        return [(axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) for axes in drawn.axes]
    issues = check_integrity(drawn.references())
    assert not [*issues.error, *issues.warning]
    panels = list(drawn.select({"type": bokeh_figure}))
    return [(panel.xaxis[0].axis_label, panel.yaxis[0].axis_label, panel.title.text) for panel in panels]


def find_faults(figure, folder, *labels):
    """What is wrong with a figure: labels that no panel has in a backend, and faults of the picture."""
    faults = []
    for backend in ("matplotlib", "bokeh"):
        shown = {text for panel in read_labels(figure, backend) for text in panel}
        faults += [f"{backend}: no {label!r}" for label in labels if label not in shown]
    return faults + find_picture_faults(save_figure(figure, folder / "figure.png"))


def read_title(figure):
    """The title of a figure; a lone panel has it."""
    owner = figure if len(figure) > 1 else next(iter(figure))
    return owner.opts.get("plot", backend="matplotlib").kwargs["title"]


@pytest.fixture
def summaries():
    return make_summaries()


def test_recovery_shows_good_fits_in_the_order_of_their_means(summaries):
    panels = compute_recovery(summaries)
    assert list(panels) == list(NAMES)
    panel = panels["beta"]
    assert panel.label.axis == "β"
    assert panels["mu_0"].label.axis == "μ₀ (stimulus unit)"
    assert set(panel.dataset) == set(range(NUM_FAILED, NUM))
    assert (np.diff(panel.mean) >= 0).all()
    chosen = summaries.sel(quantity="beta", dataset=panel.dataset)
    for name in ("truth", "mean", "low", "high"):
        np.testing.assert_array_equal(getattr(panel, name), chosen[name])
    np.testing.assert_array_equal(panel.is_missed, np.abs(chosen["mean"] - chosen["truth"]) > 1.88 * 0.1)
    assert not panel.is_constant


def test_equal_or_missing_truths_are_recognized(summaries):
    assert all(panel.is_constant for panel in compute_recovery(make_summaries(is_constant=True)).values())
    unknown = compute_recovery(summaries.assign(truth=summaries["truth"] * np.nan))["beta"]
    assert unknown.is_constant
    assert not unknown.is_missed.any()


def test_contraction_by_value(summaries):
    clouds = compute_contraction(summaries)
    np.testing.assert_allclose(clouds["mu_0"].contraction, 1 - 0.1**2 / 0.5**2)
    np.testing.assert_allclose(clouds["beta"].contraction, 1 - 0.1**2 / 0.2**2)
    good = summaries.sel(quantity="beta", dataset=slice(NUM_FAILED, None))
    np.testing.assert_allclose(clouds["beta"].z_score, (good["mean"] - good["truth"]) / 0.1)


def test_coverage_by_value(summaries):
    summaries["low"].loc[{"quantity": "sigma_0"}] = -9.0
    summaries["high"].loc[{"quantity": "sigma_0"}] = 9.0
    coverages = compute_coverage(summaries)
    panel = compute_recovery(summaries)["beta"]
    np.testing.assert_allclose(coverages["beta"].value, 1 - panel.is_missed.mean())
    assert coverages["beta"].low < coverages["beta"].value < coverages["beta"].high <= 1
    assert coverages["sigma_0"].value == coverages["sigma_0"].high == 1
    assert 0.8 < coverages["sigma_0"].low < 1


@pytest.mark.parametrize("draw", [draw_recovery, draw_contraction, draw_coverage])
def test_titles_count_failed_fits(summaries, draw):
    title = read_title(draw({"one": summaries}, title="Headline"))
    assert title.startswith("Headline\n3 of 40 fits failed")
    other = make_summaries(2, num_failed=0)
    title = read_title(draw({"wide": summaries, "narrow": other}))
    assert "wide: 3 of 40 fits failed" in title
    assert "narrow" not in title
    assert "failed" not in read_title(draw({"narrow": other}, title="Headline"))


def test_recovery_is_drawn(summaries, tmp_path):
    labels = "true μ₀ (stimulus unit)", "estimated μ₀ (stimulus unit)", "true β", "estimated β"
    assert not find_faults(
        draw_recovery({"one": summaries}, quantities=["mu_0", "beta"], title="Recovery"), tmp_path, *labels
    )


def test_recovery_of_designs_with_different_quantities_is_drawn(summaries, tmp_path):
    fewer = make_summaries(2, sd=0.2).isel(quantity=[0, 1])
    figure = draw_recovery({"wide": summaries, "narrow": fewer}, quantities=["beta", "mu_0"])
    # The design without β has an empty place instead of a panel.
    assert [title for *_, title in read_labels(figure, "matplotlib")] == ["wide", "wide", "", "narrow"]
    assert not find_faults(figure, tmp_path, "true β", "wide", "narrow")


def test_recovery_of_equal_truths_is_drawn_by_data_set(tmp_path):
    figure = draw_recovery({"one": make_summaries(is_constant=True)}, quantities=["mu_0"])
    assert not find_faults(figure, tmp_path, "data set, ordered by its mean", "μ₀ (stimulus unit)")


@pytest.mark.parametrize("color_by", ["quantity", "design"])
def test_contraction_is_drawn(summaries, tmp_path, color_by):
    designs = {"wide": summaries, "narrow": make_summaries(2)}
    figure = draw_contraction(designs, color_by=color_by, quantities=["mu_0", "beta"])
    panel = "wide" if color_by == "quantity" else "μ₀"
    assert not find_faults(figure, tmp_path, "posterior contraction", "posterior z-score", panel)


def test_contraction_counts_what_is_not_in_its_place(summaries):
    summaries["sd"][5, 2] = 0.2 * np.sqrt(1 - LEAST_CONTRACTION) + 0.01
    summaries["truth"][6, 0] = np.nan
    title = read_title(draw_contraction({"one": summaries}))
    assert "1 with contraction below −0.5" in title
    assert "1 without a truth" in title


def test_coverage_is_drawn(summaries, tmp_path):
    summaries["truth"].loc[{"quantity": "sigma_0"}] = np.nan
    figure = draw_coverage({"wide": summaries, "narrow": make_summaries(2)}, quantities=NAMES)
    assert not find_faults(figure, tmp_path, "coverage of 94% intervals (%)")
    ticks = next(iter(figure)).opts.get("plot", backend="bokeh").kwargs["xticks"]
    assert [text for _, text in ticks] == ["μ₀", "σ₀", "β"]
    alone = draw_coverage({"wide": summaries}, quantities=["sigma_0"])
    assert next(iter(alone)).opts.get("plot", backend="bokeh").kwargs["xticks"] == [(0, "σ₀\nno value")]


@pytest.mark.parametrize("draw", [draw_recovery, draw_contraction, draw_coverage])
def test_figures_remain_if_all_fits_failed(draw, tmp_path):
    figure = draw({"one": make_summaries(num_failed=NUM)}, quantities=["beta"])
    assert "40 of 40 fits failed" in read_title(figure)
    assert not find_faults(figure, tmp_path)


@pytest.mark.parametrize("draw", [draw_recovery, draw_contraction, draw_coverage])
def test_unknown_names_are_refused(summaries, draw):
    with pytest.raises(UnknownNameError, match=r"Unknown quantity 'gamma'\. Available: mu_0, sigma_0, beta"):
        draw({"one": summaries}, quantities=["gamma"])
    with pytest.raises(StudioError, match="no designs to draw"):
        draw({})


def test_unknown_way_to_colour_is_refused(summaries):
    with pytest.raises(UnknownNameError, match="way to colour"):
        draw_contraction({"one": summaries}, color_by="dataset")


def test_figures_are_saved_as_svg(summaries, tmp_path):
    figure = draw_recovery({"one": summaries}, quantities=["beta"])
    text = save_figure(figure, tmp_path / "recovery.svg").read_text(encoding="utf-8")
    assert "<svg" in text
    assert theme.BLUE.lower() in text.lower()
    with pytest.raises(StudioError, match=r"\.svg files .* \.png files, but 'recovery\.pdf' was given"):
        save_figure(figure, tmp_path / "recovery.pdf")


@pytest.mark.parametrize(("num_panels", "num_columns"), [(1, 1), (4, 4), (5, 3), (6, 3), (7, 4), (9, 3)])
def test_rows_are_nearly_equal(num_panels, num_columns):
    assert count_columns(num_panels) == num_columns


def test_series_differ_in_more_than_colour():
    series = theme.make_series(map(str, range(35)))
    assert len({(look.color, look.marker) for look in series.values()}) == 35
    assert len({look.marker for look in list(series.values())[:5]}) == 5
