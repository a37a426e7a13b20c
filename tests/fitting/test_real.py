"""Published data from end to end. They are not part of the repository: see `find_shared_data`."""

import numpy as np
import pytest

from designstudio.fitting.fit_subjects import fit_subjects
from designstudio.fitting.reading import read_data
from designstudio.fitting.request import FitRequest
from designstudio.inference.settings import FitSettings
from tests.fitting.reading.test_real import find_shared_data


def test_length_estimates_are_fitted_from_end_to_end():
    path = find_shared_data() / "keane_2016_length_grip_cm.csv"
    if not path.is_file():
        pytest.skip(f"there is no '{path}'; name the folder with DESIGNSTUDIO_SHARED_DATA")
    loaded = read_data(path, where=["keep == 1"], unit="cm")
    request = FitRequest(
        costs=("quadratic", "asymmetric_quadratic"), per_condition=("sigma",), settings=FitSettings(num_draws=500)
    )
    fit = fit_subjects(loaded, request)
    assert len(fit.failures) <= 1
    # The response is larger than the length in all subjects, which a symmetric cost cannot explain by cost.
    mu_0 = fit.summarize()["mean"].sel(parameter="mu_0", cost="asymmetric_quadratic")
    assert np.isfinite(mu_0).all()
    assert float(fit.comparison.total["difference"].sel(cost="asymmetric_quadratic")) == 0
