"""The commands of actors, as a user types them."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import designstudio


def test_the_command_that_is_installed_says_its_version():
    command = Path(sys.executable).parent / "designstudio"
    done = subprocess.run([str(command), "--version"], check=True, capture_output=True, text=True, timeout=600)
    assert done.stdout.strip() == designstudio.__version__


def test_actors_shows_the_zoo_and_writes_json(call, tmp_path):
    code, output, errors = call("actors", "--json", "zoo.json")
    assert code == 0, errors
    assert "inverted_gaussian" in output
    assert "truncated to its central 99.8 %" in output
    records = json.loads((tmp_path / "zoo.json").read_text())
    assert len(records) == 7
    for record in records:
        assert record["accuracy"]["median"] <= 1e-4
        assert record["accuracy"]["p99"] <= 1e-3
        assert record["accuracy"]["num_actions"] == 20_000
        assert record["box"]["sigma_r"] == [0.005, 1.0]


def test_act_shows_exact_and_amortized_actions(call, tmp_path):
    code, _, errors = call("act", "quadratic_effort", "-s", "beta=0.9", "--measurements", "1,2", "--json", "a.json")
    assert code == 0, errors
    record = json.loads((tmp_path / "a.json").read_text())
    assert record["participant"]["beta"] == 0.9
    for action in record["actions"]:
        assert action["is_inside"]
        assert action["amortized"] == pytest.approx(action["exact"], rel=1e-3)


@pytest.mark.filterwarnings("default")
def test_act_warns_outside_the_training_box(call):
    code, output, errors = call("act", "quadratic", "-s", "sigma_r=2", "--measurements", "1")
    assert code == 0
    assert "1 of 1 actions lie outside the box" in errors
    assert "outside" in output


def test_a_killed_training_continues_where_it_was(call, tmp_path):
    arguments = ("train", "quadratic", "--steps", "20", "--target-median", "1e-9", "--out", "q.actor")
    checkpoint = tmp_path / "q.actor.checkpoint"
    # By itself, right after its first checkpoint: from outside, nobody could say whether it has ended meanwhile.
    code = """
import os, signal
from designstudio.cli import main
from designstudio.model.actors import training
write = training.write_leaves
training.write_leaves = lambda *given: (write(*given), os.kill(os.getpid(), signal.SIGKILL))
main()
"""
    killed = subprocess.run([sys.executable, "-c", code, *arguments], cwd=tmp_path, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert checkpoint.exists()
    assert not (tmp_path / "q.actor").exists()
    code, _, errors = call(*arguments, "--json", "q.json")
    assert code == 0, errors
    assert "Continuing from q.actor.checkpoint." in errors
    assert json.loads((tmp_path / "q.json").read_text())["num_steps"] == 20
    assert not checkpoint.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("act", "quadratc"), r"Unknown cost 'quadratc'. Available: absolute, quadratic"),
        (("train", "quadratc"), r"Unknown cost 'quadratc'."),
        (("train", "quadratic", "--architecture", "deep"), r"Unknown architecture 'deep'"),
        (("train", "quadratic", "--measured", "0"), r"Errors are measured on at least 1 decision, but 0 was given."),
        (("train", "quadratic", "--out", "no/where.actor"), r"There is no folder 'no'"),
        (("act", "quadratic", "-s", "sigma=-1"), r"sigma must be a positive number, but -1 was given."),
        (("act", "quadratic", "-s", "sigma"), r"--set takes name=number"),
        (("act", "quadratic", "-s", "tau=1"), r"Unknown parameter 'tau'. This model has: mu_0"),
        (("act", "quadratic", "--measurements", "1,x"), r"--measurements takes numbers"),
        (("act", "quadratic", "--measurements", "0"), r"A measurement must be a positive number, but 0 was given."),
        (("act", "quadratic", "--measurements", "nan"), r"A measurement must be a positive number, but nan was given."),
        (("act", "quadratic", "--cost-file", "none.py"), r"There is no cost file 'none.py'."),
        (("actors", "nothing.actor"), r"There is no file 'nothing.actor'."),
    ],
)
def test_a_mistake_gives_one_sentence_and_exit_code_2(call, tmp_path, arguments, sentence):
    code, _, errors = call(*arguments)
    assert code == 2
    assert re.search(f"Error: {sentence}", errors)
    assert "Traceback" not in errors
    assert not list(tmp_path.iterdir())


def test_importing_what_evaluates_loads_neither_the_plotting_stack_nor_all_of_scipys_statistics(tmp_path):
    code = (
        "import sys, designstudio.runs.evaluate;"
        "heavy = {'holoviews', 'panel', 'bokeh', 'optuna', 'scipy.stats'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=tmp_path, timeout=600, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


def test_the_compilation_cache_is_on_and_can_be_moved_or_turned_off(tmp_path):
    code = "import designstudio, jax; designstudio.configure(); print(jax.config.jax_compilation_cache_dir)"
    for configured, expected in ((str(tmp_path / "mine"), str(tmp_path / "mine")), ("", "None")):
        environment = {**os.environ, "DESIGNSTUDIO_CACHE_DIR": configured}
        environment.pop("JAX_COMPILATION_CACHE_DIR", None)
        result = subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            cwd=tmp_path,
            timeout=600,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert result.stdout.strip() == expected
