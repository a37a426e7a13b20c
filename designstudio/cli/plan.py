"""`designstudio plan`: from the fits of a pilot to the study of the next experiment."""

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from designstudio.cli.options import CostFileOption, JsonOption, check_output, use_cost_file, write_json
from designstudio.cli.progress import show_progress
from designstudio.errors import StudioError

if TYPE_CHECKING:
    import xarray as xr

    from designstudio.fitting.results import EmpiricalFit
    from designstudio.study import Study


def plan(
    source: Annotated[Path, typer.Option("--from", help="Folder of the fits.", metavar="FIT_DIR")],
    cost: Annotated[str | None, typer.Option(help="Which fits; default: those of the cost that predicts best.")] = None,
    out: Annotated[Path, typer.Option(help="The study file to write.", metavar="FILE")] = Path("study.toml"),
    datasets: Annotated[int, typer.Option(help="Simulated participants to check the plan with; 0 for no check.")] = 100,
    figure: Annotated[
        Path | None, typer.Option(help="A .png or .svg file for a figure of the check.", metavar="FILE")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the study file if there is one.")] = False,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Turn fitted subjects into a study: they become its population, their experiment the design to beat.

    Then compare how precisely they were fitted with how precisely the plan says they would be.

    Example: designstudio plan --from fits --out study.toml
    """
    # Keeps `designstudio --help` fast.
    from designstudio.fitting.files import load_fit  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415
    from designstudio.fitting.plan import compare_precision, plan_study  # noqa: PLC0415
    from designstudio.fitting.plan_words import list_notes  # noqa: PLC0415
    from designstudio.study import write_study  # noqa: PLC0415

    use_cost_file(cost_file)
    check_output(json)
    check_output(out)
    check_output(figure)
    if figure is not None and (figure.suffix not in (".png", ".svg") or datasets == 0):
        raise StudioError(f"--figure takes a .png or .svg file, and needs the check of --datasets, but {figure} was given.")
    if out.exists() and not force:
        raise StudioError(f"There is a file '{out}' already: choose another name, or replace it with --force.")
    if datasets != 0 and datasets < 10:
        raise StudioError(f"--datasets needs at least 10, or 0 for no check, but {datasets} was given.")
    fit: EmpiricalFit = load_fit(source)
    study = plan_study(fit, cost)
    notes = list_notes(fit, study)
    write_study(study, out, notes=notes, overwrite=force)
    print_plan(fit, study, notes)
    precision = None
    if datasets:
        with show_progress("Comparing with the pilot") as progress:
            precision = compare_precision(fit, study, num_datasets=datasets, progress=progress)
        print_precision(precision)
        if figure is not None:
            from designstudio.viz.figures import save_figure  # noqa: PLC0415  (imports the plotting stack)
            from designstudio.viz.precision import draw_precision  # noqa: PLC0415

            save_figure(draw_precision(precision, title=f"{fit.name}: planned and achieved precision"), figure)
            typer.echo(f"Wrote {figure}.")
    name = shlex.quote(str(out))
    typer.echo(
        f"\nWrote {out}. Change what you like, then run\n  designstudio evaluate {name}\n  designstudio search {name}"
    )
    write_json(json, describe_plan(fit, study, notes, precision))


def print_plan(fit: "EmpiricalFit", study: "Study", notes: list[str]) -> None:
    """The population, the pilot and what to know about both, in words."""
    from designstudio.fitting.plan_words import describe_design, describe_population  # noqa: PLC0415

    console = Console(highlight=False)
    for title, sentences in (
        (study.title, notes),
        (f"People who minimise {study.cost}", describe_population(fit, study)),
        ("The pilot", [describe_design(study)]),
    ):
        console.print(f"\n{title}", markup=False)
        for sentence in sentences:
            console.print(f"• {sentence}", markup=False)


def print_precision(precision: "xr.Dataset") -> None:
    """Planned against achieved, as a table."""
    from designstudio.fitting.plan import PRECISION_COLUMNS, tabulate_precision  # noqa: PLC0415

    caption = (
        f"Mean posterior sd: of {precision.attrs['num_simulated']} simulated participants, with its Monte Carlo error, and "
        f"of {precision.attrs['num_subjects']} subjects, with its standard error. Above 1: the pilot was less precise."
    )
    table = Table(title="Planned and achieved precision", caption=caption, box=SIMPLE_HEAD, pad_edge=False)
    for name in PRECISION_COLUMNS:
        table.add_column(name, justify="left" if name in ("", "unit") else "right")
    for row in tabulate_precision(precision):
        table.add_row(*row)
    Console().print(table)


def describe_plan(fit: "EmpiricalFit", study: "Study", notes: list[str], precision: "xr.Dataset | None") -> dict[str, Any]:
    """A plan as plain data, for JSON."""
    from designstudio.fitting.plan_words import describe_design, describe_population  # noqa: PLC0415
    from designstudio.study.schema.priors import write_prior  # noqa: PLC0415

    rows = [] if precision is None else precision.to_dataframe().reset_index().to_dict("records")
    return {
        "data": fit.name,
        "cost": study.cost,
        "unit": fit.scale.unit,
        "factor": fit.scale.factor,
        "notes": notes,
        "population": {name: write_prior(prior) for name, prior in study.population.priors.items()},
        "population_in_words": describe_population(fit, study),
        "pilot": describe_design(study),
        "precision": [
            {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in row.items()} for row in rows
        ],
    }
