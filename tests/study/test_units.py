"""A study in a unit: its file says which, what is refused is said in it, and inside it is the actor's."""

import numpy as np
import pytest

from designstudio.errors import StudioError
from designstudio.model.costs import get_cost
from designstudio.model.parameters import ValueOutsideSupportError
from designstudio.model.priors import Constant, Interval, LogNormal, Uniform
from designstudio.model.scale import Scale
from designstudio.study import StudyFileError, format_study, parse_study
from designstudio.study.units import choose_unit

TEXT = """
cost = "{cost}"
{unit}

[population]
mu_0 = {{ uniform = [500, 900] }}

[analysis.priors]
mu_0 = {{ uniform = [100, 2000] }}

[[goals]]
kind = "narrower"
quantity = "mu_0"
width = 100

[[designs]]
name = "beeps"
stimuli = {{ low = 250, high = 1500 }}
conditions = [{{ trials = 45, sigma = 0.1 }}, {{ trials = 45, sigma = 0.2 }}]
"""

# The same numbers in seconds.
SECONDS = {
    "250, high = 1500": "0.25, high = 1.5",
    "500, 900": "0.5, 0.9",
    "100, 2000": "0.1, 2",
    "width = 100": "width = 0.1",
}


def read(unit='unit = "ms"', cost="quadratic_effort", **changes):
    text = TEXT.format(unit=unit, cost=cost)
    for old, new in changes.items():
        text = text.replace(old, new)
    return parse_study(text, "study.toml")


def test_a_study_that_names_a_unit_gets_the_scale_that_its_stimuli_would_get_as_data():
    study = read()
    assert (study.unit, study.scale, study.conversion) == ("ms", 500.0, Scale(500.0, "ms"))
    assert read('unit = "ms"\nscale = 1000').scale == 1000.0
    # Stimuli that actors know stay as they are.
    assert read('unit = "s"', **SECONDS).scale == 1.0


def test_what_is_written_names_the_unit_and_is_read_back():
    study = read()
    text = format_study(study)
    assert 'unit = "ms"\nscale = 500.0\n' in text
    assert parse_study(text, "again") == study
    assert "unit" not in format_study(read("", **SECONDS))


def test_the_scale_does_not_follow_another_design():
    study = read()
    far = study.replace(designs=(study.designs[0],), population=study.population)
    assert far.scale == 500.0


def test_inside_all_is_in_the_actors_unit():
    study = read()
    model = study.build_model(study.designs[0])
    assert model.priors["mu_0"] == Uniform(0.2, 4.0)
    assert study.population.resolve_for_actor(get_cost(study.cost), study.conversion)["mu_0"] == Uniform(1.0, 1.8)
    (mu_0, *_) = study.list_parameters()
    assert (mu_0.unit, mu_0.analysis, mu_0.box) == ("ms", Uniform(50.0, 2500.0), Interval(10.0, 10_000.0))


@pytest.mark.parametrize(
    ("cost", "name", "unit", "size"),
    [
        ("inverted_gaussian", "gamma", "ms", 500.0),
        ("linex", "alpha", "1/ms", 0.002),
        ("asymmetric_quadratic", "alpha", "no unit", 1.0),
        ("absolute_effort", "beta", "stimuli in 500 ms", 1.0),
    ],
)
def test_parameters_of_costs_have_their_unit(cost, name, unit, size):
    parameter = next(p for p in read(cost=cost).list_parameters() if p.name == name)
    original = next(p for p in get_cost(cost).parameters if p.name == name)
    assert parameter.unit == unit
    np.testing.assert_allclose(parameter.analysis.quantile(np.array([0.1, 0.9])),
                               size * original.analysis.quantile(np.array([0.1, 0.9])))  # fmt: skip
    scale = Scale(500.0, "ms")
    prior = scale.shrink(scale.stretch(original.analysis, original), original)
    np.testing.assert_allclose(list(prior.numbers.values()), list(original.analysis.numbers.values()))


def test_mistakes_are_said_in_the_studys_unit():
    with pytest.raises(
        StudyFileError, match=r"Uniform\(1, 20000\), reaches beyond 10 to 10000, where the actor was trained"
    ):
        read(**{"[100, 2000]": "[1, 20000]"})
    with pytest.raises(StudyFileError, match=r"scale: A scale needs a unit"):
        read("scale = 500")
    with pytest.raises(StudyFileError, match=r"scale: This must be a number above 0"):
        read('unit = "ms"\nscale = 0')
    with pytest.raises(StudyFileError, match="The stimuli of the preset 'duration' are in 's', but the study is in 'ms'"):
        read(**{'name = "beeps"\nstimuli': "#", "conditions = [": 'preset = "duration"\nname = "beeps"\n#'})
    assert Constant(1.0).stretch(500.0) == Constant(500.0)


def test_lists_and_records_have_the_units_name_or_one_that_is_given():
    assert [choose_unit(own, asked) for own, asked in (("", None), ("", "s"), ("ms", None), ("ms", "ms"))] == [
        "stimulus unit", "s", "ms", "ms",
    ]  # fmt: skip
    # Data whose unit nobody has named may be called by it later.
    assert choose_unit("stimulus unit", "ms") == "ms"
    with pytest.raises(StudioError, match="The study is in 'ms', but 's' was asked for"):
        choose_unit("ms", "s")


def test_priors_change_their_unit_with_their_ends():
    scale, (mu_0, *_) = Scale(500.0, "ms"), get_cost("quadratic").all_parameters
    prior = LogNormal(1.5, 0.2, Interval(0.1, 5.0))
    assert scale.stretch(prior, mu_0) == LogNormal(750.0, 0.2, Interval(50.0, 2500.0))
    with pytest.raises(ValueOutsideSupportError):
        mu_0.check(-1.0)
