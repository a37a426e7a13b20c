"""`designstudio search`, `worker` and `sweep` as a user types them."""

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.search.make_search import TEXT

VARIED = "levels = 2\nsigma = { range = [0.05, 0.35] }\nlow_share = { range = [0.2, 0.8] }"
BEFORE_SEARCH = TEXT[: TEXT.index("[search]")]
DESIGN = """
[stimuli]
low = 0.25
high = 5.0
[[designs]]
name = "a"
conditions = [{ trials = 45, sigma = 0.1 }, { trials = 45, sigma = 0.2 }]
"""


def write(folder, text=TEXT):
    (folder / "study.toml").write_text(text)


@pytest.mark.usefixtures("quick_pictures")
def test_search_finds_verifies_and_writes_everything(call, tmp_path):
    write(tmp_path)
    code, output, errors = call("search", "study.toml", "--candidates", "6", "--out", "found", "--json", "result.json")
    assert code == 0, errors
    assert "6 designs were tried" in output
    assert "The winner, finalist-" in output
    found = json.loads((tmp_path / "result.json").read_text())
    assert [candidate["state"] in ("complete", "pruned") for candidate in found["candidates"]] == [True] * 6
    assert len(found["finalists"]) == 2
    names = {path.name for path in (tmp_path / "found").iterdir()}
    assert {"search.journal", "result.json", "candidates.csv", "history.png", "designs.svg"} <= names
    options = ("--trials", "6", "--out", "found", "--resume", "--json", "again.json")
    code, _, errors = call("search", "study.toml", *options)
    assert code == 0, errors
    assert json.loads((tmp_path / "again.json").read_text())["candidates"] == found["candidates"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (VARIED, "sigma = 0.1", "search space is empty"),
        ("[search.space]", 'constraints = [{ score = "minutes", at_most = 1 }]\n[search.space]', "the closest has 7.5"),
        ("trials = 90", 'trials = "many"', "trials must be numbers, but 'many' was given"),
        ("range = [0.05, 0.35]", "range = [0.35, 0.05]", "A range needs its low end first"),
        ("datasets = 32", 'objectives = [{ score = "rmse" }]', "The score 'rmse' needs quantities"),
        ("datasets = 32", 'objectives = [{ score = "rsme", of = ["beta"] }]', "did you mean 'rmse'"),
        ("datasets = 32", 'objectives = [{ score = "rmse", of = ["betta"] }]', "did you mean 'beta'"),
        ("datasets = 32", 'objectives = [{ score = "power" }]', "The study has no goals"),
        ("datasets = 32", 'sampler = "cmaes"', "pip install cmaes"),
        ("datasets = 32", 'sampler = "best"', "Unknown sampler 'best'"),
        ("levels = 2", "levels = { range = [1, 9] }", "levels must be from 1 to 4"),
        ("low_share = {", "sigma_r = {", "Levels set one parameter, but sigma and sigma_r were given"),
    ],
)  # fmt: skip
def test_a_search_that_cannot_be_is_one_sentence_and_nothing_is_written(tmp_path, old, new, sentence):
    from designstudio.errors import StudioError
    from designstudio.search.run_search import Budget, run_search
    from designstudio.study import read_study

    assert old in TEXT
    write(tmp_path, TEXT.replace(old, new))
    with pytest.raises(StudioError, match=sentence.replace("(", r"\(")) as error:
        run_search(read_study(tmp_path / "study.toml"), tmp_path / "out", Budget(5))
    assert "\n" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


def test_wrong_input_exits_with_2_and_writes_nothing(call, tmp_path):
    write(tmp_path, BEFORE_SEARCH + DESIGN)
    code, _, errors = call("search", "study.toml")
    assert code == 2
    assert "The study has no search: add a section [search.space]" in errors
    assert "Traceback" not in errors
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(tmp_path):
    write(tmp_path)
    command = [sys.executable, "-m", "designstudio", "search", "study.toml", "--trials", "400"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        journal = tmp_path / "study-search" / "search.journal"
        deadline = time.monotonic() + 300
        # A few trials have begun.
        while time.monotonic() < deadline and (not journal.exists() or journal.read_text().count('"designstudio"') < 4):
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=900)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, error
    assert "to go on, run designstudio search" in output
    assert "Traceback" not in error
    kept = json.loads((tmp_path / "study-search" / "result.json").read_text())
    finished = [candidate for candidate in kept["candidates"] if candidate["state"] in ("complete", "pruned")]
    assert 4 <= len(finished) < 400
    assert not any(candidate["state"] in ("running", "fail") for candidate in kept["candidates"])


def test_a_worker_without_a_search_says_so(call, tmp_path):
    write(tmp_path)
    code, _, errors = call("worker", "study.toml", "--storage", "nowhere.journal")
    assert code == 2
    assert "There is no journal 'nowhere.journal'" in errors


def test_a_sweep_on_two_workers_draws_a_power_curve(call, tmp_path):
    goal = '[[goals]]\nkind = "excludes"\nquantity = "beta"\n'
    write(tmp_path, BEFORE_SEARCH + goal + DESIGN)
    along = ("--along", "trials=45:90:45", "--along", "participants=1,5")
    options = ("--datasets", "20", "--fidelity", "information", "--workers", "2", "--json", "sweep.json")
    code, output, errors = call("sweep", "study.toml", *along, *options)
    assert code == 0, errors
    points = json.loads((tmp_path / "sweep.json").read_text())["points"]
    assert [tuple(point["values"].values()) for point in points] == [(45, 1), (45, 5), (90, 1), (90, 5)]
    assert (tmp_path / "study-sweep" / "power.png").stat().st_size > 5000
    assert "neutral" in output
