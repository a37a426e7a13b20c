"""What every metric promises, whichever it is."""

import math

import numpy as np
import pytest

from designstudio.errors import UnknownNameError
from designstudio.metrics import available_metrics, get_metric
from designstudio.metrics.base import ALL, PRIOR_COST
from designstudio.metrics.monte_carlo import estimate_by_jackknife
from designstudio.metrics.power import Exclusion, GroupDifference, Narrowness, Power
from designstudio.metrics.registry import list_design_metrics, list_posterior_metrics, list_quantity_metrics
from designstudio.metrics.samples import DesignFacts, PosteriorShape, QuantitySample

NUM = 12
BOTH = pytest.mark.parametrize(
    "metric", [*list_quantity_metrics().values(), *list_posterior_metrics().values()], ids=lambda m: m.name
)


def make_quantity(rng, num=NUM):
    truth = rng.gamma(3.0, size=num)
    mean, sd = truth + rng.normal(0.2, 0.5, num), rng.uniform(0.3, 0.6, num)
    return QuantitySample(truth, mean, sd, mean - sd, mean + sd, 1.2)


def make_shape(rng, num=NUM):
    roots = rng.normal(size=(num, 3, 3))
    covariance = 0.1 * (roots @ np.swapaxes(roots, 1, 2) + 0.1 * np.eye(3))
    gains = rng.normal(3.0, 1.0, (2, num))
    return PosteriorShape(("mu_0", "sigma_0", "beta"), covariance, np.eye(3), (0, 1), (2,), *gains)


def make_sample(metric, rng):
    return make_quantity(rng) if metric.name in list_quantity_metrics() else make_shape(rng)


def leave_out(sample, place):
    """The same sample without one data set."""
    return type(sample)(
        *(np.delete(field, place, axis=0) if np.ndim(field) and len(field) == NUM else field for field in sample)
    )


@pytest.fixture
def rng():
    return np.random.default_rng(1763)


@BOTH
def test_equal_weights_give_the_value_whatever_they_are(metric, rng):
    sample = make_sample(metric, rng)
    statistic = metric.statistic(sample)
    np.testing.assert_allclose(statistic(np.array([[1.0], [7.0]]) * np.ones(NUM)), metric.score(sample).value, rtol=1e-9)


@BOTH
def test_a_weight_of_zero_leaves_a_data_set_out(metric, rng):
    sample = make_sample(metric, rng)
    if metric.name == "correlation":
        # Which pair is strongest is decided once, over all data sets.
        sample = sample.select((0, 2))
    left_out = metric.statistic(sample)(np.ones((NUM, NUM)) - np.eye(NUM))
    np.testing.assert_allclose(left_out, [metric.score(leave_out(sample, k)).value for k in range(NUM)], rtol=1e-9)


@BOTH
def test_the_error_is_the_jackknifes_but_for_shares(metric, rng):
    sample = make_sample(metric, rng)
    jackknifed = estimate_by_jackknife(metric.statistic(sample), NUM).score
    assert metric.score(sample).mcse == pytest.approx(jackknifed.mcse, rel=0.35 if metric.name == "coverage" else 1e-9)


@pytest.mark.parametrize("metric", list_quantity_metrics().values(), ids=lambda m: m.name)
def test_designs_are_compared_on_a_scale_that_follows_the_value(metric, rng):
    sample = make_quantity(rng)
    weights = rng.uniform(size=(5, NUM))
    value, compared = metric.statistic(sample)(weights), metric.compared(sample)(weights)
    expected = np.log(value) if metric.is_size else np.abs(value) if metric.name == "bias" else value
    np.testing.assert_allclose(compared, expected, rtol=1e-12)


@pytest.mark.parametrize("name", available_metrics())
def test_every_metric_says_in_words_what_it_is_and_what_it_does_not_say(name):
    metric = get_metric(name)
    assert metric.name == name
    assert metric.label
    assert metric.symbol
    for text in (metric.explanation, metric.caveat):
        assert len(text) > 10
        assert not text.endswith(".")
    assert metric.direction in ("smaller", "larger", None)


def test_units_are_powers_of_the_quantitys_unit():
    units = {name: get_metric(name).unit_of("cm") for name in ("bias", "rmse", "mse", "width", "coverage", "z_score")}
    assert units == {
        "bias": "cm", "rmse": "cm", "mse": "cm²", "width": "cm", "coverage": "no unit", "z_score": "no unit",
    }  # fmt: skip
    assert get_metric("mse").unit_of("no unit") == "no unit"
    assert get_metric("information_gain").unit == "nats"


def test_tables_show_parts_that_a_metric_has():
    for metric in list_posterior_metrics().values():
        assert set(metric.row_names()) <= set(metric.parts or (ALL,))
    assert get_metric("correlation").row_names() == {PRIOR_COST: "prior-cost correlation"}


@pytest.mark.parametrize(
    "criterion",
    [Exclusion(2.0, 0.1), Narrowness(0.9), GroupDifference(np.linspace(0, 4, NUM), 20)],
    ids=lambda c: type(c).__name__,
)
def test_power_is_its_statistic_with_equal_weights(criterion, rng):
    sample = make_quantity(rng)
    score = Power().score(sample, criterion)
    assert 0 < score.value < 1
    assert Power().statistic(sample, criterion)(np.full((1, NUM), 3.0)) == pytest.approx(score.value)


def test_designs_by_hand():
    facts = DesignFacts(minutes=7.5, num_trials=90, num_participants=8, levels=(0.3, 0.1))
    values = {name: metric.value(facts) for name, metric in list_design_metrics().items()}
    assert values == {"minutes": 7.5, "hours": 1.0, "trials": 90.0, "participants": 8.0, "smallest_level": 0.1}
    assert get_metric("smallest_level").value(facts._replace(levels=())) == math.inf


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(UnknownNameError, match=r"Unknown metric 'rsme'. Available: bias, rmse, "):
        get_metric("rsme")
