"""`designstudio schedule`, `preregister` and `verify` as a user types them."""

import json
import sys
import warnings

import pytest
from typer.testing import CliRunner

from designstudio.cli import app, main
from designstudio.errors import StudioError

STUDY = """
title = "Effort"
cost = "quadratic_effort"
datasets = 20
fidelity = "information"
analysis.known.sigma = "truth"
stimuli = { low = 0.25, high = 5.0 }
goals = [{ kind = "excludes", quantity = "beta" }]

[population]
mu_0 = 1.5
sigma_0 = 0.2
sigma_r = 0.15
beta = 0.9

[[designs]]
name = "two-levels"
participants = 2
conditions = [{ name = "low", trials = 45, sigma = 0.1 }, { name = "high", trials = 45, sigma = 0.2 }]

[[designs]]
name = "lopsided"
conditions = [{ name = "low", trials = 20, sigma = 0.1 }, { name = "high", trials = 2, sigma = 0.2 }]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a study, its record, and data of simulated participants."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "study.toml").write_text(STUDY)
    with pytest.MonkeyPatch.context() as patch:
        for arguments in (
            ("preregister", "study.toml", "--out", "record", "--rule", "No one under 18."),
            ("schedule", "study.toml", "--order", "blocked", "--simulate", "--unit", "m", "--out", "lists"),
        ):
            result = invoke(patch, folder, *arguments)
            assert result.exit_code == 0, result.output
    return folder


def invoke(monkeypatch, folder, *arguments):
    """In this process: a mistake is an exception here, of which `main` prints the sentence."""
    monkeypatch.chdir(folder)
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "140", "NO_COLOR": "1"})


def test_schedule_writes_lists_and_says_how_they_are_ordered(folder, monkeypatch):
    options = ("--participants", "3", "--seed", "7", "--max-repeats", "3", "--json", "s.json", "--out", "mixed")
    result = invoke(monkeypatch, folder, "schedule", "study.toml", "--design", "two-levels", *options)
    assert result.exit_code == 0, result.output
    assert "3 lists of 90 trials, about 7.5 minutes each, from design 'two-levels', seed 7." in result.output
    assert "No more than 3 in a row have the same condition or stimulus." in result.output
    written = {path.relative_to(folder / "mixed").as_posix() for path in (folder / "mixed").rglob("*") if path.is_file()}
    assert {"psychopy/sub-03.csv", "jspsych/sub-01.json", "dataset_description.json", "README.txt"} <= written
    record = json.loads((folder / "s.json").read_text())
    assert record == json.loads((folder / "mixed/schedule.json").read_text())
    assert record["design_fingerprint"] in result.output


def test_a_simulated_schedule_can_be_fitted(folder, monkeypatch):
    options = ("--costs", "quadratic_effort", "--fixed", "sigma=0.15", "--method", "importance", "--json", "fit.json")
    result = invoke(monkeypatch, folder, "fit", "lists", *options)
    assert result.exit_code == 0, result.output
    assert "Kept 2 subjects, 2 conditions and 180 trials, in 'm'." in result.output
    assert "SIMULATED" in result.output
    assert set(json.loads((folder / "fit.json").read_text())["subjects"]) == {"01", "02"}


def test_preregister_shows_the_fingerprint_of_the_record(folder, monkeypatch):
    result = invoke(monkeypatch, folder, "preregister", "study.toml", "--out", "again", "--rule", "No one under 18.")
    assert result.exit_code == 0, result.output
    stored = json.loads((folder / "again/record.json").read_text())
    assert f"Fingerprint {stored['fingerprint']}" in result.output
    assert stored["fingerprint"] in (folder / "again/record.md").read_text()
    assert (folder / "again/record.json").read_bytes() == (folder / "record/record.json").read_bytes()


def test_preregister_computes_the_power_that_the_record_holds_unless_told_not_to(folder, monkeypatch):
    options = ("--out", "powerful", "--datasets", "40", "--design", "two-levels", "--json", "p.json")
    result = invoke(monkeypatch, folder, "preregister", "study.toml", *options)
    assert result.exit_code == 0, result.output
    recorded = json.loads((folder / "powerful/record.json").read_text())["content"]["power"]
    assert json.loads((folder / "p.json").read_text())["power"] == recorded
    assert (recorded["fidelity"], recorded["datasets"], recorded["seed"]) == ("information", 40, 1)
    (goal,) = recorded["goals"]
    chances = [f"{goal[name]['value']:.2f} ± {goal[name]['mcse']:.2f}" for name in ("power", "when_absent")]
    assert f"Power, beta is not neutral: {chances[0]}; without the effect: {chances[1]}" in result.output
    # Options are about how power is computed: the plan is still that of the study.
    assert invoke(monkeypatch, folder, "verify", "powerful", "--study", "study.toml").exit_code == 0
    result = invoke(monkeypatch, folder, "preregister", "study.toml", "--out", "powerless", "--no-power")
    assert "No power was computed for this record" in result.output


def test_verify_says_that_all_is_as_planned(folder, monkeypatch):
    result = invoke(monkeypatch, folder, "verify", "record", "--study", "study.toml", "--data", "lists", "--json", "v.json")
    assert result.exit_code == 0, result.output
    for sentence in ("The record is as it was made.", "The study is the recorded one.", "The data are as planned."):
        assert sentence in result.output
    assert json.loads((folder / "v.json").read_text())["matches"] is True


def test_verify_shows_what_was_changed_in_a_study(folder, monkeypatch):
    changed = STUDY.replace('name = "low", trials = 45', 'name = "low", trials = 40').replace("beta = 0.9", "beta = 0.8")
    (folder / "changed.toml").write_text(changed)
    result = invoke(monkeypatch, folder, "verify", "record/record.json", "--study", "changed.toml", "--json", "v.json")
    assert result.exit_code == 1, result.output
    assert "2 differences from the record" in result.output
    assert "• Trials of condition 'low': recorded as 45, but the study now says 40." in result.output
    record = json.loads((folder / "v.json").read_text())
    assert record["matches"] is False
    assert [difference["what"] for difference in record["differences"]] == [
        "trials of condition 'low'",
        "beta of the population",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("schedule", "study.toml", "--out", "record"), "has something else in it ('record.json')"),
        (
            ("schedule", "study.toml", "--out", "x", "--order", "random"),
            "Unknown order 'random'. Available: blocked, interl",
        ),
        (("schedule", "study.toml", "--out", "x", "--participants", "0"), "needs at least 1 participant, but 0 was given"),
        (("schedule", "study.toml", "--out", "x", "--design", "three"), "Unknown design 'three'"),
        (
            ("schedule", "study.toml", "--out", "x", "--design", "lopsided", "--max-repeats", "3"),
            "20 of 22 trials have the condition 'low', so that at least 7 of them follow each other",
        ),
        (("schedule", "study.toml", "--out", "nowhere/x"), "There is no folder 'nowhere'"),
        (("preregister", "study.toml", "--out", "lists"), "has something else in it"),
        (("preregister", "missing.toml", "--out", "x"), "missing.toml"),
        (("verify", "lists"), "There is no record"),
        (("verify", "record", "--data", "missing"), "There is no file or folder 'missing'"),
        (("verify", "record", "--study", "missing.toml"), "missing.toml"),
    ],
)
def test_mistakes_give_one_sentence_and_write_nothing(folder, monkeypatch, arguments, words):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    result = invoke(monkeypatch, folder, *arguments)
    assert isinstance(result.exception, StudioError)
    assert words in str(result.exception)
    assert "\n" not in str(result.exception)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_exit_codes_tell_a_match_a_difference_and_wrong_input_apart(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    # Set by `main`, and set back here.
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    (folder / "tampered.json").write_text(
        (folder / "record/record.json").read_text().replace('"trials": 45', '"trials": 46')
    )
    for record, code in (("record", 0), ("tampered.json", 1), ("study.toml", 2)):
        monkeypatch.setattr(sys, "argv", ["designstudio", "verify", record])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code == code
    assert "Error: The record 'study.toml' cannot be read as JSON" in capsys.readouterr().err
