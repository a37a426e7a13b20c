"""Folders that cannot be reported are refused with one sentence."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from designstudio.cli import app
from designstudio.errors import StudioError
from designstudio.report.write import write_report


def copy(report, folder, *without):
    """A folder of a run with some files missing."""
    target = folder / "copy"
    shutil.copytree(report.folder, target, ignore=shutil.ignore_patterns("report.html", "again*", ".lock", *without))
    return target


def test_a_wrong_folder_is_one_sentence_and_exit_code_2(call):
    code, _, errors = call("report", "nowhere")
    assert code == 2
    assert errors.strip().startswith("Error: There is no folder 'nowhere'")
    assert len(errors.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("notes.txt", "hello", "There is no result.json in"),
        ("result.json", "{", "cannot be read"),
        ("result.json", "[1]", "holds no results of a run"),
        ("result.json", '{"designs": [{}]}', "keeps no as-run.toml"),
    ],
)
def test_a_folder_without_results_is_refused(tmp_path, name, text, sentence):
    (tmp_path / name).write_text(text)
    with pytest.raises(StudioError, match=sentence):
        write_report(tmp_path)
    assert not list(tmp_path.glob("*.html"))


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(StudioError, match="is a file: give the folder"):
        write_report(tmp_path / "result.json")


@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        ("evaluation", "two & more.nc"),
        ("evaluation", "as-run.toml"),
        ("search", "history.*"),
        ("search", "designs.*"),
        ("fit", "posterior_quadratic.nc"),
        ("fit", "request.json"),
        ("fit", "trials.nc"),
    ],
)
def test_a_missing_file_is_one_sentence(kind, missing, tmp_path, request):
    folder = copy(request.getfixturevalue(kind), tmp_path, missing)
    with pytest.raises(StudioError) as error:
        write_report(folder)
    said = str(error.value)
    assert missing.removesuffix(".*").removesuffix(".json") in said or "no fit in" in said
    assert "\n" not in said
    assert not (folder / "report.html").exists()


def test_a_folder_of_an_older_version_is_reported_with_its_study_file(search, home, tmp_path):
    folder = copy(search, tmp_path, "as-run.*")
    with pytest.raises(StudioError, match="--study FILE"):
        write_report(folder)
    text = write_report(folder, study=home / "search.toml").read_text()
    assert "kept no command" in text
    assert "numpyro" in text


def test_the_study_of_another_run_is_refused(search, evaluation, home, tmp_path):
    with pytest.raises(StudioError, match="not the one of the search"):
        write_report(copy(search, tmp_path), study=home / "study.toml")
    text = (home / "study.toml").read_text().replace("two & more", "other")
    (tmp_path / "other.toml").write_text(text)
    with pytest.raises(StudioError, match="has the designs other, but"):
        write_report(evaluation.folder, tmp_path / "x.html", study=tmp_path / "other.toml")


def test_incomplete_results_are_one_sentence(sweep, tmp_path):
    folder = copy(sweep, tmp_path)
    result = json.loads((folder / "result.json").read_text())
    del result["points"][0]["evaluation"]["recovery"]
    (folder / "result.json").write_text(json.dumps(result))
    with pytest.raises(StudioError, match="are not complete"):
        write_report(folder)


def test_quiet_prints_the_path_alone(search, tmp_path):
    out = tmp_path / "page.html"
    result = CliRunner().invoke(app, ["report", str(search.folder), "--out", str(out), "--quiet"])
    assert result.output.strip() == str(out)
    assert out.read_text().startswith("<!DOCTYPE html>")
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(("out", "sentence"), [("no/page.html", "There is no folder"), (".", "is a folder")])
def test_a_page_that_cannot_be_written_is_refused_first(search, tmp_path, monkeypatch, out, sentence):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["report", str(search.folder), "--out", out])
    assert isinstance(result.exception, StudioError)
    assert sentence in str(result.exception)
