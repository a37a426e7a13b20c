"""Failed fits: why most of them failed."""

import numpy as np

from designstudio.metrics.failed import say_most_often


def test_the_most_frequent_reason_of_failed_fits_is_said_and_none_if_all_are_good():
    reasons = np.array(["", "R-hat", "few draws", "R-hat", "no reason, as it is good"])
    assert say_most_often(np.array([True, False, False, False, True]), reasons) == " (most often: R-hat)"
    assert say_most_often(np.ones(5, bool), reasons) == ""
