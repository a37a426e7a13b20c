"""What each kind of report says is what its run has found."""

import dataclasses
import json
import re

import numpy as np
import xarray as xr

from designstudio.core.durations import format_duration
from designstudio.core.run_record import read_record
from designstudio.fitting.compare_costs import compare_costs
from designstudio.fitting.fit_folder import load_fit, save_fit
from designstudio.report.formatting import format_number, format_score, join_words, name_quantity, spell
from designstudio.report.scores import describe_convergence
from designstudio.search.search_result import list_contenders
from designstudio.study import read_study
from tests.report.conftest import NUM_SUBJECTS, describe, run
from tests.report.test_pages import find_table


def test_recovery_is_that_of_the_results(evaluation):
    scores = evaluation.result["designs"][0]["recovery"]
    table = find_table(evaluation, "RMSE")
    shown = [row[table.columns.index("RMSE")] for row in table.rows]
    assert shown == [format_score(scores[name]["rmse"]) for name in scores]


def test_population_and_priors_are_those_of_the_study(evaluation):
    rows = {row[1]: row for row in find_table(evaluation, "the fit assumes").rows}
    assert rows["mu_0"][0] == "μ₀"
    assert rows["mu_0"][3:] == ["stimulus unit", "always 1.5", "Uniform(0.1, 5)"]
    assert rows["beta"][4] == "Uniform(0.8, 0.95)"
    assert rows["sigma"][4:] == ["set by the design", "known"]
    assert "prior belief" in rows["mu_0"][2]


def test_power_is_reported_with_its_goal(evaluation):
    (goal, score), *_ = evaluation.result["designs"][0]["power"].items()
    both = [format_score(score), format_score(score["when_absent"])]
    assert ["two & more", *both] in find_table(evaluation, "chance").rows
    assert any(point.startswith(goal) for point in evaluation.read.points)


def test_methods_of_an_evaluation_name_its_numbers(evaluation):
    methods = evaluation.read.passages[0]
    for words in ("14 participants were simulated", "46 trials per participant", "20 at σ = 0.1 and 26 at σ = 0.2"):
        assert words in methods
    assert "μ₀ = 1.5" in methods
    assert "β ~ Uniform(0.8, 0.95)" in methods
    assert "σ was known" in methods
    assert "The seed of all random numbers was 7." in methods
    assert "\n" not in methods
    assert ".." not in methods
    assert "  " not in methods


def test_convergence_counts_every_fit_and_says_why_some_failed():
    went = {
        "converged": 18,
        "refitted": 3,
        "failed": 2,
        "max_rhat": 1.004,
        "reasons": {"R-hat 1.3 of mu_0 is above 1.01": 2},
    }
    words, table, reasons = describe_convergence({"a": {"fidelity": "nuts", "num_datasets": 20, "convergence": went}})
    assert words.sentences == ("2 of 20 fits failed.",)
    assert table.groups[0][1] == (("a", "20", "18", "3", "2", "1.004"),)
    assert reasons.sentences == ("a, 2 of 20: R-hat 1.3 of mu_0 is above 1.01.",)


def test_convergence_shows_k_hat_and_effective_draws_where_there_are_no_chains():
    went = {"converged": 20, "refitted": 0, "failed": 0, "max_rhat": None, "max_khat": 0.31, "min_ess": 420.0, "reasons": {}}
    _, table = describe_convergence({"a": {"fidelity": "importance", "num_datasets": 20, "convergence": went}})
    assert table.columns[-2:] == ("largest k-hat", "fewest effective draws")
    assert table.groups[0][1] == (("a", "20", "20", "0", "0", "0.3100", "420.0"),)


def test_many_failed_fits_bound_shares_in_a_table_of_their_own():
    went = {"converged": 18, "refitted": 3, "failed": 2, "max_rhat": 1.004, "reasons": {}}
    bounds = {"coverage": {"beta": [0.85, 0.95]}, "power": {"beta is not neutral": [0.4, 0.5]}}
    evaluation = {"fidelity": "nuts", "num_datasets": 20, "convergence": went, "bounds": bounds}
    table = describe_convergence({"a": evaluation})[-1]
    assert table.groups[0][1] == (
        ("a", "coverage of beta", "0.85", "0.95"),
        ("a", "P(beta is not neutral)", "0.40", "0.50"),
    )


def test_in_runs_of_older_versions_information_was_no_fit():
    (words,) = describe_convergence({"a": {"fidelity": "information", "settings": {}, "num_datasets": 20}})
    assert "nothing was fitted" in words.sentences[0]


def test_information_says_that_summaries_were_fitted_and_how_many_fits_failed(evaluation):
    assert (
        "summarised by regressions of the responses on the stimuli, was fitted by importance" in evaluation.read.passages[0]
    )
    assert re.search(r"Of \d+ fits, (none|\d+) failed", evaluation.read.passages[0])


def test_a_search_shows_both_scores_side_by_side(search):
    table = find_table(search, "fresh score")
    finalists = {finalist["evaluation"]["name"]: finalist for finalist in search.result["finalists"]}
    label = search.result["objectives"][0]["label"]
    rows = {row[0].removeprefix("winner: "): row for row in table.rows}
    for name, finalist in finalists.items():
        scores = (finalist["search"][label], finalist["fresh"][label])
        assert rows[name][1:] == [str(finalist["number"]), *map(format_score, scores)]
    # From best to worst on fresh data.
    assert list(rows) == [design["name"] for design in search.result["ranking"]["designs"]]
    assert {"History", "Finalists", "What was searched"} <= set(search.read.titles)
    assert any(point.startswith("5 designs were tried") for point in search.read.points)


def test_methods_of_a_search_name_its_numbers(search):
    methods = search.read.passages[0]
    (winner,) = (contender for contender in list_contenders(search.result) if contender.is_winner)
    trials = [20, 26] if winner.number is None else winner.entry["design"]["trials"]
    assert "proposed 5 designs" in methods
    assert "up to 16 simulated participants" in methods
    assert "20 fresh simulated participants" in methods
    assert f"{' + '.join(map(str, trials))} trials per participant" in methods


def test_a_sweep_shows_power_at_every_point(sweep):
    table = find_table(sweep, "trials", words="every point")
    assert [row[0] for row in table.rows] == ["30", "60"]
    powers = [next(iter(point["evaluation"]["power"].values())) for point in sweep.result["points"]]
    assert [row[1] for row in table.rows] == [format_score(power) for power in powers]
    assert [row[2] for row in table.rows] == [format_score(power["when_absent"]) for power in powers]


def test_a_fit_says_what_was_read_and_left_out(fit):
    assert any("The filter 'stimulus > 8.5' removed" in point for point in fit.read.points)
    rows = find_table(fit, "why").rows
    assert [row[0] for row in rows] == ["filter", "subject"]
    assert rows[1][1].startswith("S<99>: 1 usable trial")


def test_a_fit_shows_every_subject_under_every_cost(fit):
    for cost in ("quadratic cost", "quadratic effort cost"):
        table = find_table(fit, "Monte Carlo error", words=f"under the {cost}")
        assert [row[0] for row in table.rows] == list(fit.result["subjects"])
        numbers = fit.result["subjects"][table.rows[0][0]][cost.removesuffix(" cost").replace(" ", "_")]["parameters"][
            "mu_0"
        ]
        shown = table.rows[0][table.columns.index("μ₀ (N)")]
        assert (
            shown == f"{format_number(numbers['mean'])}{format_number(numbers['low'])} to {format_number(numbers['high'])}"
        )


def test_failed_fits_are_named(fit, tmp_path):
    loaded = load_fit(fit.folder)
    tree = loaded.posteriors["quadratic_effort"].copy()
    verdicts = tree["diagnostics"].to_dataset()
    verdicts["is_good"] = verdicts["is_good"].copy(data=[False, True, True])
    verdicts["reason"] = ("dataset", np.array(["R-hat 1.3 & rising", "", ""]))
    tree["diagnostics"] = xr.DataTree(verdicts)
    tree.attrs["fingerprint"] = ""
    posteriors = {**loaded.posteriors, "quadratic_effort": tree}
    failed = dataclasses.replace(loaded, posteriors=posteriors, comparison=compare_costs(posteriors))
    save_fit(failed, tmp_path)
    report = describe(tmp_path)
    assert find_table(report, "reason").rows == [[loaded.subjects[0], "quadratic effort", "R-hat 1.3 & rising"]]
    assert "Of 6 fits, 1 did not converge and was not used." in report.read.passages[0]
    assert "kept no command" in report.text


def test_methods_of_a_fit_name_its_numbers(fit):
    methods, report = fit.read.passages[0], fit.result["exclusions"]
    assert f"{report['num_trials']} trials of {NUM_SUBJECTS} participants in 2 conditions" in methods
    assert "1 participant had been left out" in methods
    assert "quadratic ((r - s)²) and quadratic effort" in methods
    assert "4 blocks of 100 draws each" in methods


def test_the_command_of_an_evaluation_repeats_it(evaluation):
    command = read_record(evaluation.folder).command
    assert " ".join(command) in evaluation.read.commands
    assert command == ("designstudio", "evaluate", "as-run.toml", "--out", "again")
    # The numbers, without drawing all figures once more.
    run(evaluation.folder, *command[1:3], "--json", "again.json")
    again = json.loads((evaluation.folder / "again.json").read_text())
    assert [d["recovery"] for d in again["designs"]] == [d["recovery"] for d in evaluation.result["designs"]]
    assert again["verdict"] == evaluation.result["verdict"]


def test_the_command_of_a_search_repeats_it(search):
    command = read_record(search.folder).command
    run(search.folder, *command[1:])
    again = json.loads((search.folder / "again" / "result.json").read_text())
    for found in (again, search.result):
        for candidate in found["candidates"]:
            for name in ("seconds", "compilations", "worker"):
                del candidate[name]
    assert again["candidates"] == search.result["candidates"]
    assert again["winner"] == search.result["winner"]


def test_the_command_of_a_fit_repeats_it(fit):
    command = read_record(fit.folder).command
    run(fit.folder, *command[1:])
    again = json.loads((fit.folder / "again" / "result.json").read_text())
    assert again["subjects"] == fit.result["subjects"]


def test_a_run_keeps_its_study_with_every_option_in_its_place(evaluation):
    study = read_study(evaluation.folder / "as-run.toml")
    assert (study.num_datasets, study.fidelity, study.seed) == (14, "information", 7)


def test_words_agree():
    assert join_words(["a"]) == "a"
    assert join_words(["a", "b", "c"]) == "a, b and c"
    assert (spell(1), spell(12)) == ("One", "12")
    assert (format_number(-0.2), format_number(16.0), format_number(120.0), format_number(None)) == (
        "−0.200",
        "16.0",
        "120",
        "–",
    )
    assert format_score({"value": -0.5, "mcse": 0.02}) == "−0.50 ± 0.02"
    assert format_score({"value": None, "mcse": None}) == "–"
    assert (format_duration(4.2), format_duration(61), format_duration(600)) == ("4.2 s", "61 s", "10.0 min")


def test_quantities_are_named_by_symbol_unit_and_meaning(evaluation):
    study = read_study(evaluation.folder / "as-run.toml")
    assert name_quantity(study, "mu_0") == "μ₀ (stimulus unit): mean of the participant's prior belief about stimuli"
    assert name_quantity(study, "sigma[low]").startswith("σ low (log units):")
    assert name_quantity(study, "ratio <b>") == "ratio <b>: mu_0 / sigma_0"
