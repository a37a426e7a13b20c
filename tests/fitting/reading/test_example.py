"""The example data are what their script makes, load without a complaint and resemble their truth."""

import importlib.util
from pathlib import Path

import numpy as np

from designstudio.fitting.reading import choose_scale, example_path, read_data
from designstudio.model.trials import find_weaknesses

SCRIPT = Path(__file__).parents[3] / "studies" / "example_data" / "make.py"


def test_the_script_makes_the_committed_files(tmp_path):
    spec = importlib.util.spec_from_file_location("make", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.make_example(tmp_path)
    for name in ("force_reproduction.csv", "truth.csv"):
        assert (tmp_path / name).read_bytes() == (example_path().parent / name).read_bytes(), f"run python {SCRIPT}"


def test_the_example_loads_whole_and_says_that_it_is_simulated():
    loaded = read_data(example_path())
    report = loaded.report
    assert (report.num_subjects, report.num_conditions, report.num_trials, report.unit) == (12, 2, 1440, "N")
    assert loaded.trials["is_present"].values.all()
    assert not report.excluded_rows
    assert not any(find_weaknesses(loaded.trials))
    assert any("SIMULATED" in note for note in report.notes)
    assert choose_scale(loaded.trials).factor == 10


def test_the_noise_of_each_condition_is_that_of_the_truth():
    trials = read_data(example_path()).trials
    truth = np.genfromtxt(example_path().parent / "truth.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    assert truth["subject"].tolist() == trials["subject"].values.tolist()
    for number, condition in enumerate(trials["condition"].values):
        sigma = truth[f"sigma_{condition}"]
        slope = truth["sigma_0"] ** 2 / (truth["sigma_0"] ** 2 + sigma**2)
        expected = np.hypot(slope * sigma, truth["sigma_r"])
        is_in = trials["condition_index"].values == number
        for dataset in range(trials.sizes["dataset"]):
            x, y = (np.log(trials[name].values[dataset][is_in[dataset]]) for name in ("stimulus", "response"))
            residual = y - np.polyval(np.polyfit(x, y, 1), x)
            # 60 trials: within four standard errors.
            assert abs(np.log(residual.std(ddof=2) / expected[dataset])) < 4 / np.sqrt(2 * 58)
