"""A format of trial lists is added in one file: `schedule` then writes it, and help, README and documentation name it."""

import json
from pathlib import Path

import pytest

from designstudio.errors import StudioError
from designstudio.lab.formats import FORMATS, AbstractFormat, register_format
from designstudio.study import format_study
from tests.evaluate.make_study import TWO_LEVELS, make_study
from tests.helpers.pages import load_script

TOY = Path(__file__).with_name("toy_format.py")
DOCS = Path(__file__).parents[2] / "docs"
OWN = ("psychopy", "jspsych")


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.toml").write_text(format_study(make_study(designs=(TWO_LEVELS,))))
    return "study.toml"


def test_the_command_line_writes_it_beside_the_others(call, study, tmp_path):
    load_script(TOY)
    code, _, errors = call("schedule", study, "--participants", "2", "--out", "lists")
    assert code == 0, errors
    stimuli = [trial["stimulus"] for trial in json.loads((tmp_path / "lists/jspsych/sub-02.json").read_text())]
    lines = (tmp_path / "lists/lines/sub-02.txt").read_text().splitlines()
    assert [float(line) for line in lines] == stimuli
    assert "one stimulus a line" in (tmp_path / "lists/README.txt").read_text()
    assert "lines/" in (tmp_path / "lists/.psychdsignore").read_text()
    assert "lines/sub-01.txt" in json.loads((tmp_path / "lists/schedule.json").read_text())["files"]


def test_it_can_be_chosen_alone_and_an_unknown_one_is_one_sentence(call, study, tmp_path):
    load_script(TOY)
    options = (study, "--participants", "1")
    assert call("schedule", *options, "--format", "lines", "--out", "lists")[0] == 0
    folders = {path.name for path in (tmp_path / "lists").iterdir() if path.is_dir()}
    assert folders == {"lines", "data"}
    code, _, errors = call("schedule", *options, "--format", "paper", "--out", "other")
    assert code == 2
    assert "Unknown format 'paper'. Available: psychopy, jspsych, lines" in errors
    assert not (tmp_path / "other").exists()


def test_help_and_documentation_name_it(call):
    load_script(TOY)
    assert "psychopy, jspsych, lines" in " ".join(call("schedule", "--help")[1].replace("│", " ").split())
    text = load_script(DOCS / "make_tables.py").fill_page("howto/laboratory.md")
    assert "| `lines` | `lines/sub-01.txt` | one stimulus a line, for a program that knows no more |" in text


def test_nothing_of_it_is_left_after_a_test():
    assert tuple(FORMATS) == OWN


@pytest.mark.parametrize("taken", ["jspsych", "data", "../lines", ""])
def test_a_name_that_is_taken_or_leads_elsewhere_is_refused(taken):
    class Other(AbstractFormat):
        name, suffix, about = taken, ".txt", "nothing"

        def write_list(self, schedule, trials):
            return ""

    with pytest.raises(StudioError):
        register_format(Other)
    assert tuple(FORMATS) == OWN
