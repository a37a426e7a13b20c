"""`designstudio init`, `evaluate` and `power` as a user types them."""

import json

import pytest
from typer.testing import CliRunner

from designstudio.cli import app
from designstudio.errors import StudioError

SCORES = {"bias", "rmse", "mse", "pearson", "concordance", "coverage", "width", "contraction", "z_score"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the study that `init` writes, and a cache of its own."""
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        result = invoke(patch, folder, "init")
    assert result.exit_code == 0, result.output
    assert "designstudio evaluate study.toml" in result.stdout
    return folder


def test_init_does_not_overwrite_what_is_there(call, monkeypatch, folder):
    monkeypatch.chdir(folder)
    before = (folder / "study.toml").read_text()
    code, _, errors = call("init")
    assert code == 2
    assert "study.toml" in errors
    assert "Traceback" not in errors
    assert (folder / "study.toml").read_text() == before


def test_evaluate_shows_designs_side_by_side_and_ends_with_the_verdict(folder, monkeypatch):
    result = invoke(monkeypatch, folder, "evaluate", "study.toml", "--datasets", "20", "--json", "result.json")
    assert result.exit_code == 0, result.output
    table, _, verdict = result.stdout.partition("Verdict")
    for words in ("one-level-low", "wide-levels", "RMSE of μ₀", "minutes", "good / refitted / failed"):
        assert words in table
    assert "mu_0 and beta are confounded" in verdict
    assert "add a second uncertainty level" in " ".join(verdict.split())
    record = json.loads((folder / "result.json").read_text())
    assert [design["name"] for design in record["designs"]] == [
        "one-level-low",
        "one-level-high",
        "two-levels",
        "wide-levels",
    ]
    for design in record["designs"]:
        assert design["fidelity"] == "importance"
        assert design["num_datasets"] == 20
        assert set(design["recovery"]) == {"mu_0", "sigma_0", "sigma_r", "beta"}
        for scores in design["recovery"].values():
            assert set(scores) == SCORES
            assert set(scores["rmse"]) == {"value", "mcse"}
        assert design["identifiability"]["correlation"]["mu_0"]["beta"]["mcse"] > 0
        assert set(design["convergence"]) >= {"converged", "refitted", "failed", "max_rhat"}
        assert design["seconds"] > 0
    again = invoke(monkeypatch, folder, "evaluate", "study.toml", "--datasets", "20")
    assert "evaluated before and found in the cache" in again.output


def invoke(monkeypatch, folder, *arguments):
    """In this process: a mistake is an exception here, of which `main` prints the sentence."""
    monkeypatch.chdir(folder)
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "140", "NO_COLOR": "1"})


@pytest.mark.usefixtures("quick_pictures")
def test_evaluate_writes_scores_summaries_and_figures(folder, monkeypatch):
    text = (folder / "study.toml").read_text()
    # Two designs are enough to draw.
    start, end = text.index('[[designs]]\nname = "one-level-high"'), text.index('[[designs]]\nname = "wide-levels"')
    (folder / "two.toml").write_text(text[:start] + text[end:])
    options = ("--datasets", "20", "--fidelity", "information", "--out", "out")
    result = invoke(monkeypatch, folder, "evaluate", "two.toml", *options)
    assert result.exit_code == 0, result.output
    names = {path.name for path in (folder / "out").iterdir()}
    for name in (
        "result.json",
        "scores.csv",
        "wide-levels.nc",
        "recovery.png",
        "recovery.svg",
        "prior_cost.png",
        "coverage.svg",
    ):
        assert name in names
    assert (folder / "out" / "scores.csv").read_text().startswith("design,quantity,score,value,mcse")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("evaluate", "missing.toml"), "missing.toml"),
        (
            ("evaluate", "study.toml", "--fidelity", "exact"),
            "Unknown fidelity 'exact'. Available: information, importance, nuts, paper.",
        ),
        (("evaluate", "study.toml", "--datasets", "3"), "at least 10 data sets, but 3 was given"),
        (("evaluate", "study.toml", "--json", "nowhere/x.json"), "There is no folder 'nowhere'"),
        (("power", "study.toml", "--values", "many"), "--values takes numbers such as 30,60,120, but 'many' was given."),
        (("power", "study.toml", "--design", "three-levels"), "Unknown design 'three-levels'"),
        (("power", "study.toml", "--along", "colour"), "Unknown variable of the design"),
    ],
)
def test_mistakes_give_one_sentence(folder, monkeypatch, arguments, words):
    result = invoke(monkeypatch, folder, *arguments)
    assert isinstance(result.exception, StudioError)
    assert words in str(result.exception)
    assert "\n" not in str(result.exception)


def test_power_shows_and_draws_a_curve(folder, monkeypatch):
    options = ("--along", "trials", "--values", "30,90", "--fidelity", "information", "--datasets", "20")
    outputs = ("--out", "p.png", "--json", "p.json")
    result = invoke(monkeypatch, folder, "power", "study.toml", "--design", "two-levels", *options, *outputs)
    assert result.exit_code == 0, result.output
    assert "beta is not neutral" in result.output
    assert (folder / "p.png").stat().st_size > 5000
    points = json.loads((folder / "p.json").read_text())["points"]
    assert [point["trials"] for point in points] == [30.0, 90.0]
    assert all(0 <= point["value"] <= 1 for point in points)


def test_conditions_in_names_are_no_styles(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(
        'cost = "quadratic_effort"\ndatasets = 20\nfidelity = "information"\nstimuli = { low = 0.25, high = 5.0 }\n'
        "population = { mu_0 = 1.5, sigma_0 = 0.2, sigma_r = 0.15, beta = 0.9 }\n"
        'goals = [{ kind = "narrower", quantity = "sigma", width = 0.1 }]\n'
        '[[designs]]\nname = "two"\n'
        'conditions = [{ name = "low", trials = 45, sigma = 0.1 }, { name = "high", trials = 45, sigma = 0.2 }]\n'
    )
    for command in (("evaluate",), ("power", "--values", "60"), ("sweep", "--along", "trials=60", "--out", "sweep")):
        _, output, _ = call(command[0], "study.toml", *command[1:])
        # Heads of narrow columns are broken.
        words = "".join(output.split())
        assert "sigma[low]" in words
        assert "sigma[high]" in words
