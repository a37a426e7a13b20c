"""Published data sets load as they are. They are not part of the repository: see `find_shared_data`."""

import os
from pathlib import Path

import numpy as np
import pytest

from designstudio.fitting.reading import choose_scale, read_data
from designstudio.model.trials import check_trials, find_weaknesses


def find_shared_data():
    """The folder `shared/data` beside the repository, or the one that DESIGNSTUDIO_SHARED_DATA names."""
    given = os.environ.get("DESIGNSTUDIO_SHARED_DATA")
    return Path(given) if given else Path(__file__).parents[3].parent / "shared" / "data"


# Name, unit, subjects, conditions, trials, factor of the actor's unit.
REAL = [
    ("qu_shi_2026_duration_coherence", "s", 44, 2, 9294, 1),
    ("acerbi_2012_duration_prior_cost", "s", 27, 8, 73303, 1),
    ("keane_2016_length_grip", "cm", 11, 3, 697, 5),
    ("garrido_2025_duration_cwir", "s", 21, 1, 3292, 5),
]


@pytest.mark.parametrize(("name", "unit", "num_subjects", "num_conditions", "num_trials", "factor"), REAL)
def test_published_data_load_with_all_their_subjects(name, unit, num_subjects, num_conditions, num_trials, factor):
    path = find_shared_data() / f"{name}_{unit}.csv"
    if not path.is_file():
        pytest.skip(f"there is no '{path}'; name the folder with DESIGNSTUDIO_SHARED_DATA")
    loaded = read_data(path, where=["keep == 1"], unit=unit)
    report = loaded.report
    assert (report.num_subjects, report.num_conditions, report.num_trials) == (num_subjects, num_conditions, num_trials)
    assert not report.excluded_subjects
    assert not report.excluded_rows
    check_trials(loaded.trials)
    scale = choose_scale(loaded.trials)
    assert scale.factor == factor
    assert not scale.note
    assert not any("check that both are in" in sentence for found in find_weaknesses(loaded.trials) for sentence in found)
    # By other means: the sum of all numbers that are to be kept.
    columns = path.read_text().splitlines()[0].split(",")
    numbers = [line.split(",") for line in path.read_text().splitlines()[1:]]
    for role in ("stimulus", "response"):
        kept = [float(row[columns.index(role)]) for row in numbers if row[columns.index("keep")] == "1"]
        np.testing.assert_allclose(np.nansum(loaded.trials[role].values), np.sum(kept))
