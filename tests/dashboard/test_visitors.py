import dataclasses

import pytest

from designstudio.dashboard.state.design_choice import DesignChoice
from designstudio.dashboard.visitors import MOST_DESIGNS, MOST_TRIALS, check_study
from designstudio.errors import StudioError

STUDY = DesignChoice().to_study()
DESIGN = STUDY.designs[0]


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
