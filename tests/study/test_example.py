"""The example and the command that writes it."""

import re

import pytest
import typer
from typer.testing import CliRunner

from designstudio.cli.init import init_study
from designstudio.model.priors import Constant
from designstudio.study.analysis import Known
from designstudio.study.file import parse_study, read_example, read_study, write_example
from designstudio.study.schema.entry import StudyFileError


def run_init(*arguments):
    app = typer.Typer()
    app.command()(init_study)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_example_asks_the_papers_question(tmp_path):
    write_example(tmp_path / "study.toml")
    study = read_study(tmp_path / "study.toml")
    assert study.cost == "quadratic_effort"
    assert study.population.priors == {
        "mu_0": Constant(1.5),
        "sigma_0": Constant(0.2),
        "sigma_r": Constant(0.15),
        "beta": Constant(0.9),
    }
    assert study.analysis.known == {"sigma": Known()}
    designs = {design.name: [(c.num_trials, c.levels["sigma"]) for c in design.conditions] for design in study.designs}
    assert designs == {
        "one-level-low": [(90, 0.1)],
        "one-level-high": [(90, 0.2)],
        "two-levels": [(45, 0.1), (45, 0.2)],
        "wide-levels": [(45, 0.05), (45, 0.3)],
    }
    assert {design.stimuli.support for design in study.designs} == {(0.25, 5.0)}


def test_every_part_that_is_commented_out_works_when_it_is_used():
    text, num_used = re.subn(r"(?m)^# (?=\[|\w+ = |\]|  \{ name)", "", read_example())
    study = parse_study(text, "example")
    assert num_used > 25
    assert study.population.cost == "absolute_effort"
    assert study.candidates == ("quadratic", "quadratic_effort")
    assert [goal.kind for goal in study.goals] == ["excludes", "narrower", "groups-differ"]
    assert [quantity.name for quantity in study.quantities] == ["ratio"]
    assert [design.name for design in study.designs][-3:] == ["two-blocks", "training", "bean-bag"]
    assert study.analysis.shared == ("sigma",)
    assert study.search is not None
    assert study.search.space.searched == ("sigma", "levels", "low_share", "stimuli.distribution")


def test_init_writes_the_example_and_ends_with_the_next_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run_init()
    assert result.exit_code == 0
    assert result.output.endswith("designstudio evaluate study.toml\n")
    assert read_study("study.toml") == parse_study(read_example(), "example")
    assert run_init("my study.toml").output.endswith("designstudio evaluate 'my study.toml'\n")


def test_init_replaces_a_file_only_if_forced(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text("mine")
    result = run_init(path)
    assert isinstance(result.exception, StudyFileError)
    assert "already: choose another name, or replace it with --force" in str(result.exception)
    assert path.read_text() == "mine"
    assert run_init(path, "--force").exit_code == 0
    assert path.read_text(encoding="utf-8") == read_example()
    assert [file.name for file in tmp_path.iterdir()] == ["study.toml"]


@pytest.mark.parametrize("is_forced", [False, True])
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("missing/study.toml", "There is no folder"),
        ("folder", "is a folder: give the name of a file in it"),
        ("file/study.toml", "cannot be written: Not a directory"),
        ("x" * 300, "cannot be written: File name too long"),
    ],
)
def test_init_explains_why_it_cannot_write(tmp_path, name, sentence, is_forced):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyFileError, match=sentence):
        write_example(tmp_path / name, overwrite=is_forced)
