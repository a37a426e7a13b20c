"""`designstudio evaluate`: what would these designs tell us?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from designstudio.cli.notes import note
from designstudio.cli.options import CostFileOption, JsonOption, check_output, use_cost_file, write_json
from designstudio.cli.progress import show_progress
from designstudio.errors import StudioError

if TYPE_CHECKING:
    from designstudio.evaluate.results import Evaluation
    from designstudio.evaluate.study import StudyResult
    from designstudio.metrics.monte_carlo import Score

# Work that takes longer than this is announced.
LONG = 5.0


def evaluate(
    study: Annotated[Path, typer.Argument(help="A study file; `designstudio init` writes one.", metavar="STUDY")],
    fidelity: Annotated[
        str | None, typer.Option(help="information (milliseconds), importance (below a second), nuts (seconds) or paper.")
    ] = None,
    datasets: Annotated[int | None, typer.Option(help="Simulated participants for each design.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for scores, summaries and figures.", metavar="DIR")] = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Simulate, fit and score every design of a study, side by side, and say what that means.

    Options take the place of what the study file says. Finished work is kept: a rerun is instant.

    Example: designstudio evaluate study.toml --datasets 200 --json result.json
    """
    from designstudio.evaluate.run import estimate_seconds  # noqa: PLC0415  (keeps `designstudio --help` fast)
    from designstudio.evaluate.study import evaluate_study  # noqa: PLC0415
    from designstudio.study.file import read_study  # noqa: PLC0415

    use_cost_file(cost_file)
    check_output(json)
    if out is not None and out.exists() and not out.is_dir():
        raise StudioError(f"--out takes a folder, but {str(out)!r} is a file.")
    question = read_study(study).replace(fidelity=fidelity, num_datasets=datasets, seed=seed)
    seconds = estimate_seconds(question)
    if seconds > LONG:
        what = f"{len(question.designs)} designs, {question.num_datasets} data sets each, by {question.fidelity}"
        note(f"{what}: about {_say_time(seconds)}.")
    with show_progress("Evaluating") as progress:
        result = evaluate_study(question, progress=progress)
    Console().print(_as_table(result))
    if all(evaluation.is_cached for evaluation in result.evaluations):
        typer.echo("All of this was evaluated before and found in the cache.")
    _print_verdict(result.verdict)
    if out is not None:
        from designstudio.viz.evaluation import write_evaluation  # noqa: PLC0415  (imports the plotting stack)

        names = write_evaluation(result, out, cost_file=cost_file)
        typer.echo(f"Wrote {', '.join(names)} to {out}.")
    write_json(json, result.as_dict())


def _print_verdict(verdict: tuple[str, ...]) -> None:
    typer.echo("\nVerdict")
    console = Console(highlight=False)
    for sentence in verdict:
        console.print(f"• {sentence}", markup=False, soft_wrap=False)


def _as_table(result: "StudyResult") -> Table:
    evaluations = result.evaluations
    first = evaluations[0]
    caption = (
        f"{first.num_datasets} data sets each, fidelity {first.fidelity}, seed {first.study.seed}. "
        "± is the Monte Carlo error; RMSE is that of the posterior mean."
    )
    table = Table(
        title=result.study.title or "Designs", caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
    )
    table.add_column("", no_wrap=True)
    for evaluation in evaluations:
        table.add_column(evaluation.design.name, justify="right", overflow="fold")
    table.add_row("trials", *(str(e.design.num_trials) for e in evaluations))
    table.add_row("minutes", *(f"{e.design.minutes:.1f}" for e in evaluations))
    for name, symbol in _list_quantities(evaluations).items():
        table.add_row(f"RMSE of {symbol}", *(_cell(e.recovery.get(name, {}).get("rmse")) for e in evaluations))
    interval = f"{first.study.interval:.0%}"
    table.add_row(f"coverage ({interval})", *(_range(e, "coverage") for e in evaluations))
    table.add_row("contraction", *(_range(e, "contraction") for e in evaluations))
    if any(e.identifiability.prior_cost for e in evaluations):
        table.add_row(
            "prior-cost correlation", *(_cell(e.identifiability.prior_cost.get("correlation")) for e in evaluations)
        )
        table.add_row("confounding factor", *(_cell(e.identifiability.prior_cost.get("confounding")) for e in evaluations))
        gains = [e.identifiability.information_gain.get("prior_cost") for e in evaluations]
        table.add_row("prior-cost gain (nats)", *(_cell(gain) for gain in gains))
    table.add_row("information gain (nats)", *(_cell(e.identifiability.information_gain["all"]) for e in evaluations))
    for goal in first.power:
        table.add_row(f"P({goal})", *(_cell(e.power.get(goal)) for e in evaluations))
    table.add_row("good / refitted / failed", *(_count(e) for e in evaluations))
    table.add_row("seconds", *(f"{e.seconds:.1f}{' (cached)' if e.is_cached else ''}" for e in evaluations))
    return table


def _list_quantities(evaluations: tuple["Evaluation", ...]) -> dict[str, str]:
    """All quantities of all designs, in order, with their symbols."""
    symbols: dict[str, str] = {}
    for evaluation in evaluations:
        quantities = evaluation.summaries["quantity"]
        symbols |= dict(zip(quantities.values.tolist(), quantities["symbol"].values.tolist(), strict=True))
    return symbols


def _cell(score: "Score | None") -> str:
    return "-" if score is None else str(score)


def _range(evaluation: "Evaluation", name: str) -> str:
    """Smallest and largest over the quantities."""
    values = [scores[name].value for scores in evaluation.recovery.values() if scores[name].value == scores[name].value]
    return f"{min(values):.0%} to {max(values):.0%}" if values else "-"


def _count(evaluation: "Evaluation") -> str:
    convergence = evaluation.convergence
    return f"{convergence.converged} / {convergence.refitted} / {convergence.failed}"


def _say_time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"
