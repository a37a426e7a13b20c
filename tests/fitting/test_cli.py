"""`designstudio fit` as a user types it: what it prints and writes, and a sentence for each mistake."""

import dataclasses
import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from designstudio.cli import app
from designstudio.cli.print_fit import print_fit
from designstudio.errors import StudioError
from designstudio.fitting import fit_subjects
from designstudio.fitting.estimates import tabulate_estimates
from designstudio.fitting.fit_folder import load_fit
from designstudio.fitting.fit_verdict import find_best
from designstudio.fitting.fixed_values import read_fixed
from designstudio.fitting.reading import example_path
from designstudio.fitting.request import request_as_dict, request_from_dict
from designstudio.inference.hierarchical import PoolingSettings
from designstudio.runs.fit import _write_command, run_fit
from designstudio.viz import fits

QUICK = ("--draws", "500")


def invoke(*arguments):
    """In this process: a mistake is an exception here, of which `main` prints the sentence."""
    return CliRunner().invoke(app, ["fit", *map(str, arguments)], env={"COLUMNS": "140", "NO_COLOR": "1"})


@pytest.mark.usefixtures("quick_pictures")
def test_fit_prints_report_and_comparison_and_writes_everything(tmp_path, fit, folder):
    out, record = tmp_path / "out", tmp_path / "result.json"
    # It goes on where the shared fit has ended.
    shutil.copytree(folder, out)
    options = ("--costs", "quadratic,quadratic_effort", "--out", out, "--json", record, "--draw", 1, *QUICK)
    result = invoke("example", *options)
    assert result.exit_code == 0, result.output
    words = " ".join(result.output.split())
    for expected in (
        "Kept 12 subjects, 2 conditions and 1440 trials, in 'N'.",
        "differ in perceptual uncertainty (sigma) only",
        "Families of costs",
        "24 of 24 fits converged",
        "failed fits",
        "comparison.png, winners.png, subjects_quadratic.png",
        "predictive_quadratic_effort_S01.png, cost_functions_S01.png, as-run.json to ",
    ):
        assert expected in words
    pictures = sorted(path.stem for path in out.glob("*.png"))
    assert len(pictures) == 7
    assert sorted(path.stem for path in out.glob("*.svg")) == pictures
    # The best cost stands first.
    table = result.output[result.output.index("elpd") :]
    assert table.index("quadratic_effort") < table.index("quadratic ")
    assert json.loads(record.read_text()) == json.loads((out / "result.json").read_text())
    again = load_fit(out)
    assert again.request.per_condition == ("sigma",)
    assert again.name == "force_reproduction"
    assert again.comparison.total.equals(fit.comparison.total)


def test_the_group_is_shown_if_subjects_are_pooled(tmp_path, pooled_fit, folder, monkeypatch):
    monkeypatch.setattr(fits, "draw_fit", lambda *_, **__: {})
    # The settings of the shared fit, which then is found in the folder.
    monkeypatch.setattr(
        "designstudio.runs.fit.run_fit",
        lambda request, **options: run_fit(
            dataclasses.replace(request, fit=dataclasses.replace(request.fit, pooling=pooled_fit.request.pooling)), **options
        ),
    )
    shutil.copytree(folder, tmp_path / "out")
    result = invoke("example", "--costs", "quadratic_effort", "--pool", "--out", tmp_path / "out", *QUICK)
    assert result.exit_code == 0, result.output
    assert "Group under the quadratic_effort cost" in result.output
    assert "sigma[blurred]" in result.output


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ([], PoolingSettings()),
        (["1"], PoolingSettings(spread_share=1.0)),
        (["0.25", "sigma_r=1", "beta=2"], PoolingSettings(spread_share=0.25, spread_shares={"sigma_r": 1.0, "beta": 2.0})),
    ],
)
def test_how_much_people_may_differ_can_be_said_and_stands_in_the_command(options, settings, monkeypatch):
    asked = []

    def stop(request, **_):
        asked.append(request)
        raise StudioError("asked")

    monkeypatch.setattr("designstudio.runs.fit.run_fit", stop)
    given = [part for text in options for part in ("--group-spread", text)]
    assert str(invoke("example", "--costs", "quadratic_effort", "--pool", *given).exception) == "asked"
    (request,) = asked
    assert request.fit.pooling == settings
    command = _write_command(request.fit, request, {}, Path())
    assert command[command.index("--pool") + 1 : command.index("--draw")] == given
    assert request_from_dict(json.loads(json.dumps(request_as_dict(request.fit)))).pooling == settings


def test_group_spreads_that_mean_nothing_are_refused():
    for given, words in (
        (["--group-spread", "1"], "give --pool, too"),
        (["--pool", "--group-spread", "wide"], "is written like 0.5 or sigma_r=1"),
        (["--pool", "--group-spread", "1", "--group-spread", "2"], "twice"),
    ):
        assert words in str(invoke("example", *given).exception)


def test_conditions_with_other_stimuli_get_a_hint(tmp_path, monkeypatch):
    rows = example_path().read_text().splitlines()
    # All blurred stimuli are half as large again.
    larger = [
        ",".join([*row.split(",")[:3], f"{1.5 * float(row.split(',')[3]):.1f}", row.split(",")[4]])
        if "blurred" in row
        else row
        for row in rows
    ]
    (tmp_path / "data.csv").write_text("\n".join(larger))
    monkeypatch.setattr(fit_subjects, "fit_condition_groups", lambda *_, **__: 1 / 0)
    hint = "mean stimuli differ by a factor of 1."
    assert hint in invoke(tmp_path / "data.csv").output
    assert hint not in invoke(tmp_path / "data.csv", "--per-condition", "mu_0").output
    assert "mean stimuli differ" not in invoke("example").output


def test_failed_fits_are_named():
    result = invoke("example", "--costs", "quadratic", "--where", "subject in S01, S02", "--method", "importance", *QUICK)
    assert result.exit_code == 0, result.output
    assert "of 2 fits converged" in result.output
    assert result.output.count("Failed: ") == result.output.count("under quadratic:")


MISTAKES = [
    (("nowhere.csv",), "There is no file or folder 'nowhere.csv'"),
    (("example", "--costs", "quadratc"), "Unknown cost 'quadratc'"),
    (("example", "--costs", ""), "No cost was named"),
    (("example", "--fixed", "sigmma=0.2"), "Unknown parameter 'sigmma'"),
    (("example", "--fixed", "sigma"), "--fixed is written like sigma=0.2"),
    (("example", "--fixed", "sigma=nowhere.csv"), "neither a number nor a file"),
    (("example", "--fixed", "sigma=-0.2"), "must be a positive number"),
    (("example", "--fixed", "sigma=0.2", "--fixed", "sigma=0.3"), "names 'sigma' twice"),
    (("example", "--per-condition", "sigmma"), "Unknown parameter 'sigmma'"),
    (("example", "--fixed", "sigma=0.2", "--per-condition", "sigma"), "both fixed and per condition"),
    (("example", "--where", "keep == 1"), "asks for the column 'keep'"),
    (("example", "--where", "subject == S99"), "Nobody is left"),
    (("example", "--column", "response=rt"), "has no column 'rt'"),
    (("example", "--column", "response"), "--column is written like response=rt"),
    (("example", "--min-trials", "0"), "min_trials must be"),
    (("example", "--method", "magic"), "Unknown method 'magic'"),
    (("example", "--draws", "10"), "num_draws must be at least 100"),
    (("example", "--seed", "-1"), "The seed must be 0 or more"),
    (("example", "--where", "subject == S01", "--pool"), "pooling needs at least two"),
    (("example", "--json", "nowhere/result.json"), "There is no folder 'nowhere'"),
]


@pytest.mark.parametrize(("arguments", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_a_mistake_gives_a_sentence_and_writes_nothing(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    result = invoke(*arguments, "--out", "out")
    assert isinstance(result.exception, StudioError), result.output
    assert words in str(result.exception)
    assert not list(tmp_path.iterdir())


def test_out_must_not_be_a_file(tmp_path):
    (tmp_path / "out").touch()
    result = invoke("example", "--out", tmp_path / "out")
    assert "is a file" in str(result.exception)


def test_a_table_without_responses_is_refused(tmp_path):
    rows = example_path().read_text().splitlines()
    (tmp_path / "data.csv").write_text("\n".join(row.rpartition(",")[0] for row in rows))
    result = invoke(tmp_path / "data.csv")
    assert "has no column for the response" in str(result.exception)


def test_known_values_are_read_from_a_table(tmp_path):
    path = tmp_path / "measured.csv"
    path.write_text("participant,condition,sigma\nS01,clear,0.1\nS01,blurred,0.3\nS02,clear,0.2\n")
    found = read_fixed({"sigma": path, "sigma_r": "0.1"})
    assert found["sigma_r"] == 0.1
    assert float(found["sigma"].sel(subject="S01", condition="blurred")) == 0.3
    assert found["sigma"].isnull().sum() == 1
    path.write_text("subject,sigma\nS01,0.1\nS01,0.3\n")
    with pytest.raises(StudioError, match=r"line 3.*'S01' has a value already"):
        read_fixed({"sigma": path})
    path.write_text("subject,noise\nS01,0.1\nS02,0.3\n")
    with pytest.raises(StudioError, match="no column 'sigma'"):
        read_fixed({"sigma": path})


def test_a_subject_without_a_known_value_is_named(tmp_path):
    path = tmp_path / "measured.csv"
    path.write_text("subject,sigma\n" + "\n".join(f"S{i:02d},0.1" for i in range(1, 12)))
    result = invoke("example", "--costs", "quadratic", "--fixed", f"sigma={path}")
    assert "no fixed sigma for subject 'S12'" in str(result.exception)


def test_estimates_are_whole_in_a_narrow_terminal(fit, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    print_fit(fit)
    lines = capsys.readouterr().out.split("\n")
    assert all(len(line) <= 80 for line in lines if "│" not in line and not line.startswith(("•", "Failed", "The ")))
    printed = "\n".join(lines)
    found = tabulate_estimates(fit, find_best(fit))
    assert "(continued)" in printed
    for head in found.columns:
        assert re.search(rf"\b{re.escape(head.split()[0])}", printed), head
    for row in found.rows:
        for line in "\n".join(row[1:]).split("\n"):
            assert re.search(rf"(^| ){re.escape(line)}( |$)", printed, re.MULTILINE), line
