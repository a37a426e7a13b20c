"""How many participants a power needs, small; against a grid: `studies/groups/target.py`."""

import dataclasses
import json

import numpy as np
import pytest

from designstudio.core.cache import BlockCache
from designstudio.errors import StudioError
from designstudio.evaluate import find_size
from designstudio.evaluate.curves import trace_power
from designstudio.evaluate.find_size import find_sizes
from designstudio.evaluate.group_goals import score_group_goals
from designstudio.evaluate.results import Score
from designstudio.model.priors import Uniform
from designstudio.runs.power import PowerRequest, load_points, run_power
from designstudio.study import Goal, Group, Population
from tests.evaluate.make_study import TWO_LEVELS, make_study

# A large difference: few people are enough, and few have to be fitted.
NUM_STUDIES, MOST = 10, 16
DESIGN = dataclasses.replace(TWO_LEVELS, num_participants=6)
POPULATION = {"mu_0": Uniform(1.2, 1.8), "sigma_0": Uniform(0.15, 0.3)}
GROUPS = (Group("controls"), Group("patients", differs={"beta": Uniform(0.785, 0.885)}))
GOAL = Goal("groups-differ", "beta", decision="t-test")


@pytest.fixture(scope="module")
def study():
    population = Population({**POPULATION, "beta": Uniform(0.7, 0.8)})
    return make_study(designs=(DESIGN,), population=population, groups=GROUPS, goals=(GOAL,), num_studies=NUM_STUDIES)


@pytest.fixture(scope="module")
def found(study):
    told = []
    result = find_sizes(study, DESIGN, 0.8, most=MOST, cache=BlockCache(None), progress=told.append)
    assert told[-1].is_done
    assert {progress.unit for progress in told} == {"studies"}
    return result


def test_the_fewest_participants_stand_in_one_sentence_with_their_error(found):
    (answer,) = found.answers
    assert 4 <= answer.size <= MOST
    assert answer.low <= answer.size <= answer.high + 1
    assert not answer.is_precise
    assert f"80% (± {answer.power.mcse:.0%}) needs {answer.size} people a group at 90 trials (" in str(answer)
    assert "without the effect" in str(answer)
    assert json.loads(json.dumps(answer.as_dict()))["sentence"] == str(answer)
    assert {answer.goal} == {label for powers in found.powers.values() for label in powers}
    # More people find more: the largest size by more than its error.
    smallest, largest = (found.powers[size][answer.goal].value for size in (min(found.powers), max(found.powers)))
    assert largest > smallest + 0.3


def test_sizes_share_their_first_people(study):
    groups = (Group("controls"), Group("patients", differs={"beta": Uniform(0.76, 0.96)}))
    study = study.replace(population=Population({**POPULATION, "beta": Uniform(0.7, 0.9)}), groups=groups)
    together = score_group_goals(study, DESIGN, sizes=[6, 12], cache=BlockCache(None))
    alone = score_group_goals(study, DESIGN, cache=BlockCache(None))
    assert together[6][GOAL.label].as_dict() == alone[6][GOAL.label].as_dict()
    points = trace_power(study, DESIGN, "participants", [6, 12], cache=BlockCache(None))
    assert points["value"].sel(goal=GOAL.label).values.tolist() == [together[n][GOAL.label].value for n in (6, 12)]


def test_what_cannot_be_found_says_so(study):
    same = study.replace(groups=(Group("controls"), Group("others")))
    (answer,) = find_sizes(same, DESIGN, 0.8, most=12, cache=BlockCache(None)).answers
    assert answer.size is None
    assert "80% needs more than 12 people a group at 90 trials, where power is " in str(answer)
    lonely = dataclasses.replace(answer, size=4, is_fewest=True, power=Score(0.9, 0.05))
    assert "4 people a group at 90 trials are enough: power is 90% (± 5%) there" in str(lonely)


def test_studies_that_cannot_decide_give_no_answer(study, monkeypatch):
    simulate = find_size.simulate_questions

    def fail(*arguments, **options):
        """Every fit fails."""
        found = simulate(*arguments, **options)
        return {
            key: {
                size: {
                    name: dataclasses.replace(sample, mean=np.full_like(sample.mean, np.nan)) for name, sample in of.items()
                }
                for size, of in samples.items()
            }
            for key, samples in found.items()
        }

    monkeypatch.setattr(find_size, "simulate_questions", fail)
    (answer,) = find_sizes(study, DESIGN, 0.8, most=12, cache=BlockCache(None)).answers
    assert str(answer) == f"{GOAL.label}: no answer: none of 10 simulated studies could decide, because fits failed."
    assert answer.as_dict()["size"] is None
    json.dumps(answer.as_dict(), allow_nan=False)
    some = dataclasses.replace(answer, undecided=0.2, power=Score(0.5, 0.1))
    assert "20% of the studies could not decide, and are left out" in str(some)


def test_a_run_keeps_answer_points_and_figure(study, tmp_path, quick_pictures):
    request = PowerRequest(study, "participants", (4, 12), folder=tmp_path / "run", target=0.6)
    result = run_power(request)
    kept = json.loads((tmp_path / "run" / "result.json").read_text())
    assert kept["answers"] == [json.loads(json.dumps(answer.as_dict())) for answer in result.answers]
    assert str(result.answers[0]) in result.overview().notes
    assert "participants" in load_points(tmp_path / "run").dims
    assert (tmp_path / "run" / "power.png").exists()
    command = " ".join(json.loads((tmp_path / "run" / "as-run.json").read_text())["command"])
    assert "--target 0.6 --values 4,12" in command


def test_targets_that_make_no_sense_are_refused_with_a_sentence(study):
    with pytest.raises(StudioError, match="--target goes with --along participants, but --along trials was given"):
        run_power(PowerRequest(study, target=0.8))
    with pytest.raises(StudioError, match=r"above 0 and below 1, such as 0\.8, but 80 was given"):
        run_power(PowerRequest(study, "participants", target=80))
    with pytest.raises(StudioError, match="goals of whole studies, but the study has none"):
        run_power(PowerRequest(study.replace(goals=(Goal("excludes", "beta"),)), "participants", target=0.8))
    fixed = study.replace(groups=(Group("controls", 10), Group("patients", 10)))
    with pytest.raises(StudioError, match="groups with participants of their own"):
        run_power(PowerRequest(fixed, "participants", target=0.8))
    with pytest.raises(StudioError, match="takes no --datasets"):
        run_power(PowerRequest(study, "participants", num_datasets=50, target=0.8))
