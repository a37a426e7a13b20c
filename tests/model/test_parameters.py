import math

import pytest

from designstudio.errors import ValueOutsideSupportError
from designstudio.model.family import LOG_NORMAL
from designstudio.model.parameters import (
    check_parameters,
    cost_parameter,
)
from designstudio.model.priors import HalfNormal, Interval, Uniform

GOOD = {"mu_0": 1.5, "sigma_0": 0.2, "sigma": 0.2, "sigma_r": 0.1}


def test_good_values_pass():
    assert check_parameters(GOOD, LOG_NORMAL.parameters) is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"sigma": -0.1}, r"^sigma must be a positive number, but -0\.1 was given\.$"),
        ({"sigma": 0.0}, r"^sigma must be a positive number, but 0 was given\.$"),
        ({"mu_0": math.nan}, r"^mu_0 must be a positive number, but nan was given\.$"),
        ({"mu_0": math.inf}, r"^mu_0 must be a positive number, but inf was given\.$"),
        ({"mu_0": "two"}, r"^mu_0 must be a number, but 'two' was given\.$"),
        ({"mu_0": [1.0, 2.0, -3.0]}, r"but -3 was given at position 2\.$"),
        ({"beta": 0.5}, r"^Unknown parameter 'beta'\. This model has: mu_0, sigma_0, sigma, sigma_r\.$"),
    ],
)
def test_a_bad_value_gives_one_sentence(change, sentence):
    with pytest.raises(ValueOutsideSupportError, match=sentence):
        check_parameters({**GOOD, **change}, LOG_NORMAL.parameters)


def test_a_missing_parameter_is_named():
    with pytest.raises(ValueOutsideSupportError, match=r"Parameter 'sigma_r' \(motor variability\) is missing"):
        check_parameters({k: v for k, v in GOOD.items() if k != "sigma_r"}, LOG_NORMAL.parameters)


def test_labels_carry_symbol_and_unit():
    assert LOG_NORMAL.prior_location.label == "μ₀ (stimulus unit)"


def test_a_cost_parameter_needs_a_finite_box():
    with pytest.raises(ValueOutsideSupportError, match="finite range"):
        cost_parameter("power", HalfNormal(1.0), support=Interval(0.0, math.inf))


def test_a_cost_parameter_stays_in_its_support():
    with pytest.raises(ValueOutsideSupportError, match="only 0 to 1 is supported"):
        cost_parameter("weight", Uniform(0.5, 2.0), support=Interval(0.0, 1.0))


def test_every_cost_parameter_is_described(cost):
    for parameter in cost.parameters:
        assert parameter.symbol
        assert parameter.meaning != "cost parameter"
        assert parameter.box.low in parameter.support
        assert parameter.box.high in parameter.support


@pytest.mark.parametrize("change", [{"mu_0": 1e300}, {"mu_0": 1e-300}, {"sigma_0": 100.0}, {"sigma_r": 1e-20}])
def test_values_with_which_nothing_can_be_computed_are_refused(change):
    with pytest.raises(ValueOutsideSupportError, match=r"must be from 1e-09 to (5|1e\+09), but .* nothing can be computed"):
        check_parameters({**GOOD, **change}, LOG_NORMAL.parameters)
