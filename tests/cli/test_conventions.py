"""What all commands have in common: help, version, completion, --quiet, --json, --debug, exit codes."""

import json
import re
import shlex

import pytest
from typer.testing import CliRunner

from designstudio import __version__
from designstudio.cli import app, commands
from designstudio.cli.commands import load_command
from designstudio.cli.notes import is_quiet, lift, note, notes_console
from tests.helpers.pages import check_call

COMMANDS = {name: load_command(name) for name in commands.COMMANDS}
# They have no results: one writes a file to edit, one serves until it is stopped, and one prints JSON anyway.
WITHOUT_JSON = {"init", "app", "schema"}
STUDY = """
cost = "quadratic_effort"
datasets = 20
fidelity = "information"
analysis.known.sigma = "truth"
stimuli = { low = 0.25, high = 5.0 }
goals = [{ kind = "excludes", quantity = "beta" }]
population = { mu_0 = 1.5, sigma_0 = 0.2, sigma_r = 0.15, beta = 0.9 }

[[designs]]
name = "two-levels"
conditions = [{ trials = 45, sigma = 0.1 }, { trials = 45, sigma = 0.2 }]
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return str(path)


def plain(text):
    """Help without frames and colours."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m|[│╭╮╰╯─]", " ", text).split())


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help_with_an_example_that_parses(name):
    result = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert result.exit_code == 0
    example = re.search(rf"Example: designstudio {name}\b(.*)", COMMANDS[name].help)
    assert example, f"{name} has no example"
    assert plain(f"Example: designstudio {name}{example[1]}") in plain(result.output)
    check_call([name, *shlex.split(example[1])])


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_explained(name):
    for parameter in COMMANDS[name].params:
        if not getattr(parameter, "hidden", False):
            assert parameter.help, f"{name} does not explain {parameter.name}"
            # Taken for a style, and not shown.
            assert not re.search(r"\[[a-z#/@]", parameter.help), parameter.help


def test_every_command_with_results_can_write_them_as_json():
    has_json = {name for name, command in COMMANDS.items() if any("--json" in p.opts for p in command.params)}
    assert set(COMMANDS) - has_json == WITHOUT_JSON


def test_the_version_is_printed(call):
    assert call("--version") == (0, f"{__version__}\n", "")


def test_without_a_command_there_is_help(call):
    _, out, err = call()
    for option in ("--install-completion", "--show-completion", "--quiet", "--debug", "--version"):
        assert option in out + err
    assert "Exit codes: 0 all is well" in plain(out + err)
    code, again, _ = call("--quiet")
    assert (code, again.strip()) == (0, out.strip())


def test_the_shell_completes_commands(call, monkeypatch):
    monkeypatch.setenv("_DESIGNSTUDIO_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "designstudio pre")
    monkeypatch.setenv("COMP_CWORD", "1")
    code, out, _ = call("pre")
    assert code == 0
    assert out.split() == ["preregister"]


def test_quiet_and_debug_may_stand_anywhere():
    assert lift(["fit", "x.csv", "--quiet", "--json", "a"]) == ["--quiet", "fit", "x.csv", "--json", "a"]
    assert lift(["--debug", "fit", "--quiet"]) == ["--debug", "--quiet", "fit"]
    assert lift(["fit", "--", "--quiet"]) == ["fit", "--", "--quiet"]


def test_quiet_silences_notes_and_progress_but_not_results(call, study, capsys):
    code, out, err = call("evaluate", study, "--quiet")
    assert code == 0
    assert "two-levels" in out
    assert "Verdict" in out
    assert err == ""
    assert is_quiet()
    note("a note")
    notes_console().print("progress")
    assert capsys.readouterr() == ("", "")
    # The next command is not quiet by itself.
    call("--version")
    assert not is_quiet()
    note("a note")
    assert capsys.readouterr().err == "a note\n"


@pytest.mark.filterwarnings("always::designstudio.errors.OutsideTrainingBoxWarning")
def test_quiet_does_not_silence_warnings_and_errors(call):
    code, out, err = call("--quiet", "act", "quadratic", "-s", "sigma_r=2", "--measurements", "1")
    assert code == 0
    assert "outside" in out
    assert err.startswith("Warning: 1 of 1 actions lie outside the box")
    code, out, err = call("act", "quadratc", "--quiet")
    assert (code, out) == (2, "")
    assert err.startswith("Error: Unknown cost 'quadratc'.")


def test_a_mistake_is_a_sentence_and_with_debug_a_traceback_too(call):
    code, _, err = call("evaluate", "missing.toml")
    assert code == 2
    assert err.count("\n") == 1
    code, _, err = call("evaluate", "missing.toml", "--debug")
    assert code == 2
    assert err.startswith("Traceback")
    assert "\nError: " in err


@pytest.mark.parametrize(
    "arguments", [("evalute",), ("evaluate",), ("evaluate", "--nonsense"), ("power", "x", "--datasets", "y")]
)
def test_what_cannot_be_parsed_exits_with_2(call, arguments):
    code, _, err = call(*arguments)
    assert code == 2
    assert "Traceback" not in err


def fail(error):
    def failing(*_, **__):
        raise error

    return failing


def test_what_should_not_happen_is_one_sentence_and_exit_code_1(call, study, monkeypatch):
    monkeypatch.setattr("designstudio.runs.folder.read_study", fail(KeyError("levels")))
    code, out, err = call("evaluate", study)
    assert (code, out) == (1, "")
    assert err == "This should not have happened (KeyError: 'levels'). Run again with --debug and report it.\n"
    code, _, err = call("--debug", "evaluate", study)
    assert code == 1
    assert err.startswith("Traceback")
    monkeypatch.setattr("designstudio.runs.folder.read_study", fail(RuntimeError()))
    assert "(RuntimeError). Run again" in call("evaluate", study)[2]


def test_a_file_that_cannot_be_used_is_one_sentence_and_exit_code_1(call, study, monkeypatch):
    error = OSError(28, "No space left on device", "result.json")
    monkeypatch.setattr("designstudio.runs.folder.read_study", fail(error))
    assert call("evaluate", study) == (1, "", "Error: 'result.json' cannot be used: No space left on device.\n")


def test_preregister_writes_its_result_as_json(call, study, tmp_path):
    code, out, _ = call("preregister", study, "--participants", "4", "--out", "record", "--json", "p.json")
    assert code == 0
    written = json.loads((tmp_path / "p.json").read_text())
    assert f"Fingerprint {written['fingerprint']}" in out
    assert written["fingerprint"] == json.loads((tmp_path / "record/record.json").read_text())["fingerprint"]
    assert (written["design"], written["trials"], written["folder"]) == ("two-levels", 90, "record")
    assert written["participants"]["each_group"] == 4
    assert "stays away from 1.0" in written["goals"][0]
    assert call("preregister", study, "--out", "x", "--json", "nowhere/p.json")[0] == 2
    assert not (tmp_path / "x").exists()


def test_report_writes_its_result_as_json_and_quiet_prints_the_path_alone(call, monkeypatch, tmp_path):
    def write_report(folder, out, *, study):
        out.write_text("<!DOCTYPE html>")
        return out

    monkeypatch.setattr("designstudio.runs.report.write_report", write_report)
    code, out, err = call("report", "run", "--out", "page.html", "--json", "r.json", "--quiet")
    assert (code, out, err) == (0, "page.html\n", "")
    assert json.loads((tmp_path / "r.json").read_text()) == {"report": "page.html", "num_bytes": 15}
    assert "open it in a browser" in call("report", "run", "--out", "page.html")[1]
