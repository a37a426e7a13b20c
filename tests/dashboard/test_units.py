"""The studio in the browser keeps the unit of a study that was opened, and lets a visitor name one."""

import pytest

from designstudio.dashboard.figures.live_design import BehaviorFigure
from designstudio.dashboard.parts.design_form import PopulationEditor, StimulusEditor
from designstudio.dashboard.parts.power_form import PowerForm
from designstudio.dashboard.parts.search_form import SearchForm
from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.dashboard.state.power_choice import PowerChoice
from designstudio.dashboard.state.search_choice import SearchChoice
from designstudio.errors import StudioError
from designstudio.evaluate.preview import preview_design
from designstudio.model.priors import Constant
from designstudio.study import Analysis, Known, Population, format_study, parse_study
from designstudio.study.design import Condition, Design, Stimuli
from tests.evaluate.make_study import make_study

# Panel warns of a change to come in widgets of its own.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
LEVELS = (Condition("low", 45, {"sigma": 0.1}), Condition("high", 45, {"sigma": 0.2}))
DESIGN = Design("beeps", LEVELS, Stimuli(low=250.0, high=1500.0))
PEOPLE = {"mu_0": 700.0, "sigma_0": 0.2, "sigma_r": 0.15, "beta": 0.9}


@pytest.fixture
def opened():
    population = Population({name: Constant(value) for name, value in PEOPLE.items()})
    study = make_study(designs=(DESIGN,), unit="ms", population=population, analysis=Analysis(known={"sigma": Known()}))
    choice = DesignChoice()
    choice.take(study)
    return choice


def test_an_opened_study_keeps_its_unit_and_its_numbers(opened):
    study = opened.to_study()
    assert (study.unit, study.scale) == ("ms", 500.0)
    assert study.designs[0].stimuli == Stimuli(low=250.0, high=1500.0)
    assert study.population.priors["mu_0"] == Constant(700.0)
    assert parse_study(format_study(study), "again").unit == "ms"
    # Another cost is another study, in the same unit.
    opened.cost = "inverted_gaussian"
    other = opened.to_study()
    assert (other.unit, other.scale) == ("ms", 500.0)
    assert other.population.priors["gamma"] == Constant(pytest.approx(500.0 * 2.5, rel=0.3))
    with pytest.raises(StudioError, match="The unit is that of the study that was opened"):
        opened.change_unit("s", 1.0)
    with pytest.raises(StudioError, match="The stimuli of 'puck' are in 'm', but this design is in 'ms'"):
        opened.take_preset("puck")


def test_whoever_names_a_unit_has_the_same_design_in_it():
    choice = DesignChoice()
    own = choice.to_study()
    choice.change_unit("ms", 500.0)
    study = choice.to_study()
    assert (study.unit, study.scale) == ("ms", 500.0)
    assert study.designs[0].stimuli == Stimuli(low=125.0, high=2500.0)
    assert (study.population.priors["mu_0"], study.population.priors["beta"]) == (Constant(750.0), Constant(0.9))
    choice.change_unit("", 1.0)
    assert choice.to_study() == own
    with pytest.raises(StudioError, match="Name the unit"):
        choice.change_unit("", 2.0)


def test_widgets_name_the_unit_and_reach_where_it_does(opened):
    stimuli, people = StimulusEditor(opened), PopulationEditor(opened)
    assert stimuli.range.name == "stimuli (ms)"
    assert stimuli.range.value == (250.0, 1500.0)
    assert (stimuli.range.start, stimuli.range.end) == (50.0, 3500.0)
    assert stimuli.unit.disabled
    assert people.sliders["mu_0"].name == "μ₀ (ms), prior mean"
    assert people.sliders["mu_0"].value == 700.0
    fresh = DesignChoice()
    editor = StimulusEditor(fresh)
    assert editor.range.name == "stimuli (stimulus unit)"
    editor.unit.value = "cm"
    editor.factor.value = 20.0
    assert (fresh.unit, fresh.factor, fresh.high) == ("cm", 20.0, 100.0)
    assert editor.range.name == "stimuli (cm)"


def test_other_pages_follow_the_unit(opened):
    search, power = SearchChoice(opened), PowerChoice(opened)
    assert (search.low, search.high) == ((250.0, 250.0), (1500.0, 1500.0))
    assert search.to_space().get("stimuli.low") == 250.0
    form = SearchForm(search)
    assert form.low.name == "smallest stimulus (ms)"
    assert form.high.end == 3500.0
    power.quantity, power.kind = "mu_0", "narrower"
    PowerForm(power)
    assert power.name_unit() == " (ms)"
    # A page that was there before the unit was named.
    design = DesignChoice()
    search = SearchChoice(design)
    design.change_unit("cm", 20.0)
    assert (search.low, search.high) == ((5.0, 5.0), (100.0, 100.0))


def test_the_figure_of_behaviour_has_the_unit_on_its_axes(opened):
    study = opened.to_study()
    figure = BehaviorFigure()
    figure.show(preview_design(study, study.designs[0], num_datasets=20))
    assert figure.figure.xaxis.axis_label == "stimulus s (ms)"
    assert figure.figure.yaxis.axis_label == "response r (ms)"
