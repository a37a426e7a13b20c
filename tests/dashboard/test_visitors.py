import dataclasses
import json

import pytest

from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.dashboard.state.plan_choice import PlanChoice
from designstudio.dashboard.visitors import MOST_DESIGNS, MOST_DRAWS, MOST_TRIALS, check_study
from designstudio.errors import StudioError
from designstudio.lab.record import Record, make_record
from designstudio.lab.record_files import format_record

STUDY = DesignChoice().to_study()
DESIGN = STUDY.designs[0]
CONTENT = make_record(STUDY, DESIGN).content


def test_a_study_too_large_to_compute_with_while_others_wait_is_refused_before_it_is():
    large = dataclasses.replace(DESIGN.conditions[0], num_trials=2_000_000)
    study = STUDY.replace(designs=(dataclasses.replace(DESIGN, conditions=(large,)),))
    with pytest.raises(StudioError, match=f"2,000,000 trials, but a page computes with at most {MOST_TRIALS:,}"):
        DesignChoice().take(study)


def test_a_study_of_too_many_designs_is_refused():
    designs = tuple(dataclasses.replace(DESIGN, name=f"design {k}") for k in range(MOST_DESIGNS + 1))
    with pytest.raises(StudioError, match=f"{MOST_DESIGNS + 1} designs"):
        check_study(STUDY.replace(designs=designs))


def test_a_study_that_names_a_file_of_the_server_is_refused(tmp_path):
    path = tmp_path / "secret.actor"
    path.write_text("{}")
    with pytest.raises(StudioError, match="actor of its own"):
        DesignChoice().take(STUDY.replace(actor=str(path)))


def test_what_the_first_page_makes_is_accepted():
    assert check_study(STUDY) is STUDY


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (
            {"fits": {"chains": 4, "draws_of_each_chain": 10**9}},
            f"1,000,000,000 draws, but a page fits with at most {MOST_DRAWS:,}",
        ),
        ({"fits": {"chains": 10**6, "draws_of_each_chain": 100}}, "1,000,000 chains of 100 draws"),
        ({"fits": {"chains": "many", "draws_of_each_chain": 100}}, "lacks what a fit needs"),
        ({"design": {}}, "lacks what a fit needs"),
        ({"design": {**CONTENT["design"], "conditions": (101 * CONTENT["design"]["conditions"])[:101]}}, "101 conditions"),
    ],
)
def test_a_record_that_asks_for_too_much_is_refused_though_its_fingerprint_is_right(part, said):
    written = json.loads(format_record(Record(CONTENT)))
    choice = PlanChoice()
    choice.take_record(json.dumps(written).encode())
    content = {**CONTENT, **{name: {**CONTENT[name], **one} if one else one for name, one in part.items()}}
    with pytest.raises(StudioError, match=said):
        choice.take_record(json.dumps({**written, "content": content, "fingerprint": Record(content).fingerprint}).encode())
