"""Reproduce the synthetic results of Straub, Niehues, Peters & Rothkopf (ICLR 2025).

    python studies/paper/reproduce.py [--only tables,examples,actors,disentangling,costs] [--smoke] [--out FOLDER]

Each part reads the study files next to this script and writes small results beside them; `side_by_side.py` puts them next to
the paper's numbers in README. `--smoke` runs every part with few data sets, costs, designs and fixed parameters.
"""

import argparse
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import holoviews as hv
import numpy as np

from designstudio.core.tables import write_csv
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.evaluate_study import evaluate_study
from designstudio.evaluate.example_fit import fit_example
from designstudio.evaluate.model_recovery import recover_models
from designstudio.evaluate.results import Evaluation
from designstudio.model.priors import Constant
from designstudio.study import Known, Population, Study, read_study
from designstudio.study.design import get_preset
from designstudio.viz.behavior import draw_behavior
from designstudio.viz.confusion import draw_confusion
from designstudio.viz.figures import save_figure
from designstudio.viz.identifiability import draw_pair
from designstudio.viz.theme import QuantityLabel, label_quantities

HERE = Path(__file__).parent
# Of each part what is like no other: every further model is a program to compile.
NUM_SMOKE = 10
SMOKE_FIXED = ("", "beta")
SMOKE_DESIGNS = ("one-level-low", "two-levels", "prior-blocks")
# What is fixed besides sigma, in the paper's figures.
VARIANTS = {
    "quadratic": ("",),
    "quadratic_effort": ("", "beta", "mu_0"),
    "asymmetric_quadratic": ("", "alpha", "mu_0"),
    "sigma": ("", "sigma", "sigma_0"),
}
# Participants of the paper's example figures.
EXAMPLES = {
    "quadratic": {"mu_0": 1.5, "sigma_0": 0.15, "sigma": 0.2, "sigma_r": 0.1},
    "quadratic_effort": {"mu_0": 2.95, "sigma_0": 0.19, "sigma": 0.14, "sigma_r": 0.23, "beta": 0.72},
    "asymmetric_quadratic": {"mu_0": 4.47, "sigma_0": 0.17, "sigma": 0.22, "sigma_r": 0.23, "alpha": 0.29},
}


def main() -> None:
    """Run the chosen parts."""
    parts: dict[str, Callable[[Path, bool], None]] = {
        "tables": make_tables,
        "examples": draw_examples,
        "actors": compare_actors,
        "disentangling": disentangle,
        "costs": compare_costs,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(parts))
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--out", type=Path, default=HERE)
    arguments = parser.parse_args()
    for name in arguments.only.split(","):
        started = time.monotonic()
        parts[name](arguments.out, arguments.smoke)
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)


def load(name: str, is_smoke: bool) -> Study:
    """A study of this folder."""
    study = read_study(HERE / name / "study.toml")
    return study.replace(num_datasets=NUM_SMOKE, fidelity="information") if is_smoke else study


def fix(study: Study, *names: str) -> Study:
    """The same study with further parameters known."""
    known = {**study.analysis.known, **{name: Known() for name in names if name}}
    return study.replace(analysis=dataclasses.replace(study.analysis, known=known))


def make_tables(out: Path, is_smoke: bool) -> None:
    """Mean squared errors over 100 data sets: with nothing, the cost or the prior fixed; both actors; both presets."""
    for name, variants in VARIANTS.items():
        study = load(name, is_smoke)
        runs = [(fixed, "amortized", study.fidelity) for fixed in variants if not is_smoke or fixed in SMOKE_FIXED]
        if name in _name_compared(is_smoke):
            # Only closed-form actions are cheap enough; the other actors are compared in the benchmark.
            runs += [("", "exact", fidelity) for fidelity in ((study.fidelity,) if is_smoke else (study.fidelity, "paper"))]
        rows = []
        for fixed, actor, fidelity in runs:
            chosen = fix(study.replace(actor=actor), fixed)
            evaluation = evaluate_design(chosen, chosen.designs[0], fidelity=fidelity)
            rows += [
                {
                    "fixed": fixed or "nothing",
                    "actor": actor,
                    "preset": fidelity,
                    "parameter": quantity,
                    "mse": f"{scores['mse'].value:.4g}",
                    "mcse": f"{scores['mse'].mcse:.2g}",
                    "correlation of prior and cost": _correlation(evaluation),
                    "converged": evaluation.convergence.converged,
                    "failed": evaluation.convergence.failed,
                    "max_rhat": f"{evaluation.convergence.max_rhat:.3f}",
                    "seconds": f"{evaluation.seconds:.1f}",
                }
                for quantity, scores in evaluation.recovery.items()
            ]
            print(name, fixed or "nothing", actor, fidelity, f"{evaluation.seconds:.1f} s", flush=True)
        write_csv(_folder(out, name) / "mse.csv", rows)


def _name_compared(is_smoke: bool) -> tuple[str, ...]:
    """Studies under both actors."""
    return ("quadratic",) if is_smoke else ("quadratic", "quadratic_effort")


def _correlation(evaluation: Evaluation) -> str:
    pair = evaluation.identifiability.prior_cost
    return str(pair["correlation"]) if pair else ""


def draw_examples(out: Path, is_smoke: bool) -> None:
    """The paper's example participants: trials, predictions, and posteriors from exact and amortized actors."""
    for name, truth in list(EXAMPLES.items())[: 1 if is_smoke else None]:
        population = Population({parameter: Constant(value) for parameter, value in truth.items()})
        study = load(name, is_smoke).replace(population=population)
        design = get_preset("paper-evaluation")
        actors = ("amortized",) if name == "asymmetric_quadratic" else ("exact", "amortized")
        examples = {actor: fit_example(study.replace(actor=actor), design) for actor in actors}
        folder, last = _folder(out, name), list(truth)[-1]
        shown = examples["amortized"]
        number = int(shown.trials["dataset"].values[0])
        save_figure(draw_behavior(shown.trials, shown.band, dataset=number, title=study.title), folder / "behavior.png")
        pair = ("mu_0", last if name != "quadratic" else "sigma_0")
        draws = {f"{actor} actor": example.draws for actor, example in examples.items()}
        labels = _label(study)
        title = "Posterior of the paper's example"
        save_figure(draw_pair(draws, pair, truth=truth, labels=labels, title=title), folder / "posterior.png")
        draws_now = shown.draws or {}
        correlation = np.corrcoef(*(np.log(draws_now[p]) for p in pair))[0, 1] if draws_now else np.nan
        write_csv(folder / "example.csv", [{"pair": " and ".join(pair), "correlation of logarithms": f"{correlation:.2f}"}])


def _label(study: Study) -> dict[str, QuantityLabel]:
    evaluation = evaluate_design(study, study.designs[0], fidelity="information", num_datasets=10)
    return label_quantities(evaluation.summaries)


def compare_actors(out: Path, is_smoke: bool) -> None:
    """Posterior means and sds under the amortized minus the exact actor, against the true values."""
    for name in _name_compared(is_smoke):
        study = load(name, is_smoke)
        study = study if is_smoke else study.replace(fidelity="importance")
        exact, amortized = (
            evaluate_design(study.replace(actor=a), study.designs[0]).summaries for a in ("exact", "amortized")
        )
        labels, rows = label_quantities(exact), []
        panels: dict[str, list[hv.Points]] = {"difference of means (sd)": [], "ratio of sds − 1": []}
        for quantity in exact["quantity"].values.tolist():
            one, two = (s.sel(quantity=quantity) for s in (exact, amortized))
            shift = ((two["mean"] - one["mean"]) / one["sd"]).values
            spread = (two["sd"] / one["sd"]).values - 1
            rows.append(
                {
                    "parameter": quantity,
                    "mean differs by, in sd (median)": f"{np.median(np.abs(shift)):.4f}",
                    "mean differs by, in sd (largest)": f"{np.abs(shift).max():.4f}",
                    "sd differs by (median)": f"{np.median(np.abs(spread)):.2%}",
                    "sd differs by (largest)": f"{np.abs(spread).max():.2%}",
                }
            )
            for (label, row), values in zip(panels.items(), (shift, spread), strict=True):
                points = hv.Points(np.stack([one["truth"].values, values], axis=1), [f"true {quantity}", label])
                # The name of the vertical axis once a row.
                names = {"xlabel": f"true {labels[quantity].axis}", "ylabel": label if not row else ""}
                row.append(points.opts(s=12, aspect=1.3, **names, backend="matplotlib"))
        folder = _folder(out, name)
        write_csv(folder / "actors.csv", rows)
        layout = (
            hv.Layout([panel for row in panels.values() for panel in row])
            .cols(len(rows))
            .opts(
                title="Amortized minus exact actor",
                sublabel_format="",
                fig_inches=(3.2 * len(rows), None),
                vspace=0.4,
                fontsize={"title": 12},
                backend="matplotlib",
            )
        )
        save_figure(layout, folder / "actors.png")


def disentangle(out: Path, is_smoke: bool) -> None:
    """Nine designs on the same participants."""
    study = load("disentangling", is_smoke)
    if is_smoke:
        study = study.replace(designs=tuple(study.design(name) for name in SMOKE_DESIGNS))
    result = evaluate_study(study)
    folder = _folder(out, "disentangling")
    rows = []
    for evaluation in result.evaluations:
        rmse = {base: _pool(evaluation, base) for base in ("mu_0", "sigma_0", "sigma_r", "beta")}
        rows.append(
            {
                "design": evaluation.design.name,
                **{f"RMSE of {base}": text for base, text in rmse.items()},
                "prior-cost correlation": _correlation(evaluation),
                "confounding factor": str(evaluation.identifiability.prior_cost["confounding"]),
                "weakest direction keeps": str(evaluation.identifiability.remaining),
                "failed": evaluation.convergence.failed,
                "max_rhat": f"{evaluation.convergence.max_rhat:.3f}",
            }
        )
    write_csv(folder / "designs.csv", rows)
    (folder / "verdict.txt").write_text("\n".join(result.verdict) + "\n")
    # One level and two are two programs to compile; the other two designs share them.
    shown = ("two-levels",) if is_smoke else ("one-level-low", "one-level-high", "two-levels", "wide-levels")
    draws = {name: fit_example(study, study.design(name)).draws for name in shown}
    truth = {"mu_0": 1.5, "beta": 0.9}
    labels = label_quantities(result.evaluations[0].summaries)
    title = "Posterior of one participant, 90 trials"
    save_figure(draw_pair(draws, ("mu_0", "beta"), truth=truth, labels=labels, title=title), folder / "posterior.png")


def _pool(evaluation: Evaluation, base: str) -> str:
    """RMSE of a parameter, the largest over conditions where it differs."""
    bases = evaluation.summaries["base"].values.tolist()
    names = [n for n, b in zip(evaluation.summaries["quantity"].values.tolist(), bases, strict=True) if b == base]
    return str(max((evaluation.recovery[name]["rmse"] for name in names), key=lambda score: score.value))


def compare_costs(out: Path, is_smoke: bool) -> None:
    """Confusion and inversion matrices of the seven costs in the three tasks."""
    study = load("costs", is_smoke)
    designs = study.designs[:1] if is_smoke else study.designs
    if is_smoke:
        study = study.replace(candidates=("absolute", "quadratic"))
    folder = _folder(out, "costs")
    for design in designs:
        recovery = recover_models(
            study, design, progress=lambda p: print(p.stage, f"{p.seconds_left:.0f} s left", flush=True)
        )
        rows: list[dict[str, Any]] = [
            {
                "matrix": label,
                "simulated": cost,
                **{str(f): f"{float(matrix.sel(simulated=cost, fitted=f)):.2f}" for f in matrix["fitted"].values},
                "undecided": f"{recovery.chance_to_be_undecided(cost).value:.2f}" if label == "confusion" else "",
                "fits failed": int(recovery.counts["num_failed"].sel(simulated=cost)),
            }
            for label, matrix in (("confusion", recovery.confusion), ("inversion", recovery.inversion))
            for cost in study.candidates
        ]
        write_csv(folder / f"{design.name}.csv", rows)
        figure = draw_confusion(recovery.confusion, undecided=recovery.undecided, title=design.name)
        save_figure(figure, folder / f"{design.name}.png")


def _folder(out: Path, name: str) -> Path:
    folder = out / name / "results"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


if __name__ == "__main__":
    main()
