"""A record says all of a plan, and its fingerprint changes with any of it."""

import dataclasses
import json
import math

import pytest

from designstudio.core.cache import BlockCache
from designstudio.core.fingerprint import hash_json, write_canonical
from designstudio.errors import StudioError
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.power_words import format_chance
from designstudio.lab.record import RecordOptions, make_record
from designstudio.lab.record_files import load_record, save_record
from designstudio.lab.record_text import write_text
from designstudio.metrics.failed import Bounds
from designstudio.metrics.monte_carlo import UNDEFINED
from designstudio.model.priors import Constant, Uniform
from designstudio.runs.preregister import PreregisterRequest, run_preregister
from designstudio.study import Analysis, Goal, Known, Quantity
from designstudio.study.design import Condition, Design
from tests.evaluate.make_study import STIMULI, TWO_LEVELS, make_study

GOALS = (Goal("excludes", "beta"), Goal("narrower", "mu_0", width=0.5))
OPTIONS = RecordOptions(20, rules=("No one under 18.",))


def make_plan(**changes):
    return make_study(**{"designs": (TWO_LEVELS,), "goals": GOALS, "title": "Effort", **changes})


def record(options=OPTIONS, design=TWO_LEVELS, **changes):
    return make_record(make_plan(**changes), design, options)


def test_a_record_holds_design_model_population_priors_decisions_and_versions():
    content = record().content
    assert [(c["name"], c["trials"], c["levels"]) for c in content["design"]["conditions"]] == [
        ("low", 45, {"sigma": 0.1}),
        ("high", 45, {"sigma": 0.2}),
    ]
    assert content["participants"] == {"each_group": 20, "groups": 1}
    treatments = {parameter["name"]: parameter["treatment"] for parameter in content["model"]["parameters"]}
    assert treatments == {"mu_0": "shared", "sigma_0": "shared", "sigma": "known", "sigma_r": "shared", "beta": "shared"}
    assert content["analysis"]["priors"]["mu_0"] == "{ uniform = [0.1, 5.0] }"
    assert content["analysis"]["known"] == {"sigma": "truth"}
    assert content["population"]["parameters"]["beta"] == "0.9"
    excludes, narrower = content["decision"]["goals"]
    # An interval never reaches the end of the prior, where beta is neutral.
    assert (excludes["value"], excludes["margin"]) == (1.0, 0.025)
    assert narrower["width"] == 0.5
    assert content["fits"]["criteria"]["max_rhat"] == 1.01
    assert content["exclusions"]["further_rules"] == ["No one under 18."]
    assert {"designstudio", "jax", "numpyro", "python"} <= set(content["versions"])


def test_parameters_are_shared_per_condition_or_known_as_the_analysis_says():
    content = record(goals=(), analysis=Analysis(per_condition=("sigma_r",), known={"beta": Known(0.9)})).content
    treatments = {parameter["name"]: parameter["treatment"] for parameter in content["model"]["parameters"]}
    assert treatments["sigma"] == treatments["sigma_r"] == "per condition"
    assert treatments["beta"] == "known"
    assert content["analysis"]["known"] == {"beta": 0.9}
    assert "beta" not in content["analysis"]["priors"]


def test_the_same_plan_has_the_same_fingerprint_whatever_the_order_of_its_keys():
    first, again = record(), record()
    assert first.fingerprint == again.fingerprint
    assert len(first.fingerprint) == 64
    backwards = json.loads(json.dumps(first.content), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert hash_json(backwards) == first.fingerprint
    assert write_canonical({"b": 0.1, "a": [1, "µ"]}) == '{"a":[1,"µ"],"b":0.1}'


FEWER = dataclasses.replace(TWO_LEVELS, conditions=(TWO_LEVELS.conditions[0], Condition("high", 44, {"sigma": 0.2})))


@pytest.mark.parametrize(
    "changes",
    [
        {"analysis": Analysis(priors={"mu_0": Uniform(0.1, 5.0000001)}, known={"sigma": Known()})},
        {"analysis": Analysis()},
        {"actor": "exact"},
        {"population": make_study().population.replace(lapse_rate=0.01)},
        {"population": make_study().population.replace(priors={**make_study().population.priors, "beta": Constant(0.8)})},
        {"interval": 0.9},
        {"seed": 2},
        {"fidelity": "nuts"},
        {"num_datasets": 200},
        {"candidates": ("quadratic", "quadratic_effort")},
        {"quantities": (Quantity.from_formula("ratio", "sigma_0 / sigma_r"),)},
        {"title": "another"},
        {"options": RecordOptions(21)},
        {"options": RecordOptions(20)},
        {"options": dataclasses.replace(OPTIONS, min_trials=11)},
        {"options": dataclasses.replace(OPTIONS, where=("rt < 2.5",))},
        {"options": dataclasses.replace(OPTIONS, unit="s")},
        {"design": FEWER},
        {"design": dataclasses.replace(TWO_LEVELS, seconds_per_trial=6)},
        {"design": dataclasses.replace(TWO_LEVELS, stimuli=dataclasses.replace(STIMULI, high=4.0))},
    ],
)
def test_any_change_of_the_plan_changes_the_fingerprint(changes):
    assert record(**changes).fingerprint != record().fingerprint


def test_the_text_says_what_matters_and_shows_the_fingerprint():
    plan = record(candidates=("quadratic", "quadratic_effort"))
    text = write_text(plan)
    for words in (
        plan.fingerprint,
        "20 participants, 90 trials each",
        "| low | 45 | sigma = 0.1 |",
        "| sigma | perceptual uncertainty | log units | known | measured beforehand |",
        "prior { uniform = [0.1, 5.0] }",
        "interval of probability 0.94 of beta stays away from 1.0 by more than 0.025",
        "R-hat is at most 1.01",
        "fewer than 10 usable trials are left out",
        "Costs that are compared: quadratic, quadratic_effort",
        "No one under 18.",
        "- numpyro ",
    ):
        assert words in text


@pytest.fixture(scope="module")
def evaluated():
    """The plan's power with four failed fits of each run, and without."""
    study = make_plan(fidelity="information", goals=(*GOALS, Goal("groups-differ", "beta", group={"beta": Constant(0.7)})))
    found = evaluate_design(study, TWO_LEVELS, cache=BlockCache(None))
    power = {goal: score._replace(num_failed=4, num_failed_absent=7) for goal, score in found.power.items()}
    return study, found, dataclasses.replace(found, power=power)


def test_a_record_holds_power_and_false_positive_rate_of_each_goal_and_how_they_were_computed(evaluated):
    study, found, _ = evaluated
    plan = make_record(study, TWO_LEVELS, OPTIONS, evaluation=found)
    power = plan.content["power"]
    assert (power["computed"], power["fidelity"], power["datasets"], power["seed"]) == (True, "information", 100, 1)
    for goal, score in zip(power["goals"], found.power.values(), strict=True):
        assert goal["power"] == pytest.approx(score.present.as_dict(), abs=1e-6)
        assert goal["when_absent"] == (score.when_absent and pytest.approx(score.when_absent.as_dict(), abs=1e-6))
        assert (goal["failed"], goal["failed_when_absent"], goal["bounds"]) == (0, 0, None)
    text = write_text(plan)
    excludes = found.power["beta is not neutral"]
    assert "by information on 100 simulated participants, seed 1; 0 of the fits failed" in text
    assert (
        f"| beta is not neutral | {format_chance(excludes.present)} | {format_chance(excludes.when_absent)} (beta is 1 for "
        "everybody) | 6% | 0 of 100; without the effect 0 |"
    ) in text
    assert "none (a narrow interval is no effect that could be absent) | - | 0 of 100 |" in text
    assert plan.fingerprint != make_record(study, TWO_LEVELS, OPTIONS).fingerprint


def test_a_record_says_which_fits_failed_and_what_power_may_be_with_them(evaluated):
    study, _, failed = evaluated
    plan = make_record(study, TWO_LEVELS, OPTIONS, evaluation=failed)
    (goal, *_), score = plan.content["power"]["goals"], failed.power["beta is not neutral"]
    low, high = goal["bounds_when_absent"]
    assert (low, high) == pytest.approx((0.93 * score.when_absent.value, 0.93 * score.when_absent.value + 0.07))
    assert (goal["failed"], goal["failed_when_absent"]) == (4, 7)
    text = write_text(plan)
    assert f"{format_chance(score.when_absent)}, with failed fits counted {Bounds(low, high)} (beta is 1" in text
    assert "| 4 of 100; without the effect 7 |" in text
    # What evaluate would say besides stands below.
    assert "the false-positive rate is between" in text


def test_a_record_without_an_evaluation_says_plainly_that_no_power_was_computed(evaluated):
    plan = record()
    assert plan.content["power"]["computed"] is False
    assert "No power was computed for this record" in write_text(plan)
    assert "simulated participants" not in write_text(plan)
    # Records of earlier versions have no such part.
    earlier = dataclasses.replace(plan, content={key: part for key, part in plan.content.items() if key != "power"})
    assert "No power was computed for this record." in write_text(earlier)


def test_power_without_fits_is_no_answer_in_a_record(evaluated):
    study, found, _ = evaluated
    nothing = {
        goal: score._replace(value=math.nan, mcse=math.nan, when_absent=UNDEFINED) for goal, score in found.power.items()
    }
    plan = make_record(study, TWO_LEVELS, OPTIONS, evaluation=dataclasses.replace(found, power=nothing))
    assert plan.content["power"]["goals"][0]["power"] == {"value": None, "mcse": None}
    assert "| no answer | no answer (beta is 1 for everybody)" in write_text(plan)
    assert "nan" not in write_text(plan)


def test_power_of_groups_is_that_of_the_participants_who_are_planned(tmp_path):
    goals = (Goal("groups-differ", "beta", group={"beta": Constant(0.86)}),)
    study = make_plan(goals=goals, fidelity="information")
    powers = []
    for num in (5, 40):
        request = PreregisterRequest(study, tmp_path / str(num), options=RecordOptions(num))
        powers.append(run_preregister(request)[0].content["power"]["goals"][0]["power"]["value"])
    assert powers[1] > powers[0] + 0.1


def test_goals_about_groups_plan_two_groups():
    goals = (Goal("groups-differ", "beta", group={"beta": Constant(0.7)}),)
    plan = make_record(make_study(goals=goals), TWO_LEVELS, RecordOptions(10))
    assert plan.content["participants"] == {"each_group": 10, "groups": 2}
    assert "10 participants in each of 2 groups" in write_text(plan)
    assert "t test on posterior means of beta tells the groups apart at alpha 0.05" in write_text(plan)


def test_a_record_is_read_as_it_was_written_and_never_overwritten(tmp_path):
    plan = record()
    save_record(plan, tmp_path / "record")
    for path in (tmp_path / "record", tmp_path / "record/record.json"):
        stored = load_record(path)
        assert stored.record.content == plan.content
        assert stored.stated == plan.fingerprint
    save_record(plan, tmp_path / "record")
    with pytest.raises(StudioError, match=r"has something else in it \('record\.json'\)"):
        save_record(record(RecordOptions(21)), tmp_path / "record")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"num_participants": 0}, r"^num_participants must be 1 or more, but 0 was given\.$"),
        ({"min_trials": 0}, r"^min_trials must be 1 or more"),
        ({"where": ("rt <",)}, r"^The filter 'rt <' cannot be read"),
    ],
)
def test_wrong_options_are_refused(options, sentence):
    with pytest.raises(StudioError, match=sentence):
        RecordOptions(**options)


def test_names_that_data_could_not_have_are_refused():
    design = Design("names", (Condition("n/a", 5), Condition("b", 5)), STIMULI)
    with pytest.raises(StudioError, match="would be read as a missing value"):
        make_record(make_study(designs=(design,)), design)
