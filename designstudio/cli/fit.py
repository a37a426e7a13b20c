"""`designstudio fit`: which cost explains these participants, and what are their parameters?"""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from designstudio.cli.fixed_values import read_fixed, split_pair
from designstudio.cli.options import CostFileOption, JsonOption, check_output, use_cost_file, write_json
from designstudio.cli.progress import show_progress
from designstudio.errors import StudioError
from designstudio.model.costs import available_costs

if TYPE_CHECKING:
    from designstudio.fitting.reading import LoadedData
    from designstudio.fitting.request import FitRequest
    from designstudio.fitting.results import EmpiricalFit

EXAMPLE, ALL = "example", "all"


def fit(
    data: Annotated[
        str, typer.Argument(help="A CSV or TSV file, a Psych-DS or BIDS folder, or the word example.", metavar="DATA")
    ],
    costs: Annotated[str, typer.Option(help="Costs to compare, separated by commas.")] = ALL,
    fixed: Annotated[
        list[str] | None,
        typer.Option(
            help="A known parameter: sigma=0.2, or sigma=FILE.csv with columns subject (or condition, or both) and sigma.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    per_condition: Annotated[
        str | None,
        typer.Option(help="Parameters that differ between conditions; default: sigma. 'none' for none.", metavar="NAMES"),
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="Which rows to keep, such as 'keep == 1'.", metavar="FILTER")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="The file's own name of a column, such as response=rt.", metavar="ROLE=NAME"),
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Unit of stimulus and response, such as s.")] = None,
    min_trials: Annotated[int, typer.Option(help="Subjects with fewer trials are left out.")] = 10,
    pool: Annotated[bool, typer.Option("--pool", help="Also pool the subjects partially.")] = False,
    method: Annotated[str, typer.Option(help="auto, importance or nuts.")] = "auto",
    draws: Annotated[int, typer.Option(help="Posterior draws of each of four chains.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 1,
    actor: Annotated[
        list[Path] | None, typer.Option(help="A trained actor of a cost of yours; may be repeated.", metavar="FILE")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for posteriors, results and figures; a rerun goes on there.", metavar="DIR")
    ] = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Fit every participant under every cost, and say which cost predicts their responses best.

    Each cost is kept in the folder of --out as soon as it is finished: the same command goes on where it was stopped.

    Example: designstudio fit example --costs quadratic,quadratic_effort --out fits
    """
    from designstudio.cli.fit_tables import print_fit  # noqa: PLC0415  (keeps `designstudio --help` fast)
    from designstudio.fitting.files import save_fit  # noqa: PLC0415
    from designstudio.fitting.reading import example_path, read_data  # noqa: PLC0415
    from designstudio.fitting.request import FitRequest  # noqa: PLC0415
    from designstudio.fitting.run import fit_subjects  # noqa: PLC0415
    from designstudio.inference.settings import FitSettings  # noqa: PLC0415

    use_cost_file(cost_file)
    check_output(json)
    if out is not None and out.exists() and not out.is_dir():
        raise StudioError(f"--out takes a folder, but {str(out)!r} is a file.")
    path = example_path() if data == EXAMPLE else Path(data)
    columns = dict(split_pair(text, "--column", "response=rt") for text in column or [])
    loaded = read_data(path, columns=columns, where=where or [], unit=unit, min_trials=min_trials)
    request = FitRequest(
        costs=_list_costs(costs),
        fixed=read_fixed(fixed or []),
        pools=pool,
        settings=FitSettings(method=method, num_draws=draws),
        seed=seed,
        actors=_read_actors(actor or []),
    )
    request, notes = _choose_conditions(request, loaded, per_condition)
    for sentence in (*loaded.report.sentences(), *notes):
        typer.echo(sentence)
    with show_progress("Fitting") as progress:
        result = fit_subjects(loaded, request, name=path.stem, folder=out, progress=progress)
    print_fit(result)
    if out is not None:
        save_fit(result, out)
        wishes = {"--where": where, "--column": column, "--fixed": [_name_fixed(text, out) for text in fixed or []]}
        _keep_command(result, out, data, wishes, unit=unit, min_trials=min_trials, cost_file=cost_file)
        typer.echo(f"Wrote the posteriors and result.json to {out}.")
        from designstudio.viz.fits import write_fit_figures  # noqa: PLC0415  (imports the plotting stack)

        names = write_fit_figures(result, out)
        typer.echo(f"Wrote {', '.join(names)} to {out}, and each as SVG.")
    write_json(json, result.as_dict())


def _keep_command(
    result: "EmpiricalFit",
    folder: Path,
    data: str,
    wishes: Mapping[str, Sequence[str] | None],
    *,
    unit: str | None,
    min_trials: int,
    cost_file: Path | None,
) -> None:
    """Keep the command that repeats a fit: what was chosen for the user is in it, too."""
    from designstudio.viz.runs import AGAIN, add_cost_file, keep_run, name_from  # noqa: PLC0415

    request = result.request
    command = ["designstudio", "fit", data if data == EXAMPLE else name_from(data, folder)]
    command += ["--costs", ",".join(request.costs), "--per-condition", ",".join(request.per_condition) or "none"]
    command += [part for option, texts in wishes.items() for text in texts or [] for part in (option, text)]
    command += ["--unit", unit] if unit is not None else []
    command += ["--min-trials", str(min_trials), "--method", request.settings.method]
    command += ["--draws", str(request.settings.num_draws), "--seed", str(request.seed)]
    command += ["--pool"] if request.pools else []
    command += [part for path in request.actors.values() for part in ("--actor", name_from(path, folder))]
    keep_run(folder, add_cost_file([*command, "--out", AGAIN], cost_file, folder))


def _name_fixed(text: str, folder: Path) -> str:
    """A known value, or the file that holds it as it is called in the folder of the fit."""
    from designstudio.viz.runs import name_from  # noqa: PLC0415

    name, value = split_pair(text, "--fixed", "sigma=0.2")
    return f"{name}={name_from(value, folder)}" if Path(value).is_file() else text


def _list_costs(text: str) -> tuple[str, ...]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    return tuple(available_costs()) if names == [ALL] else tuple(names)


def _read_actors(paths: list[Path]) -> dict[str, Path]:
    from designstudio.model.actors import read_card  # noqa: PLC0415  (keeps `designstudio --help` fast)

    return {read_card(path).cost: path for path in paths}


def _choose_conditions(request: "FitRequest", loaded: "LoadedData", text: str | None) -> tuple["FitRequest", list[str]]:
    """What differs between conditions: what was asked for, or else what an expert would choose."""
    if text is not None:
        names = [name.strip() for name in text.split(",") if name.strip()]
        return dataclasses.replace(request, per_condition=() if names == ["none"] else tuple(names)), []
    if loaded.report.num_conditions < 2:
        return request, []
    if "sigma" in request.fixed:
        return request, []
    # Keeps `designstudio --help` fast.
    from designstudio.fitting.units import OTHER_STIMULI, compare_stimuli  # noqa: PLC0415

    notes = ["Conditions are taken to differ in perceptual uncertainty (sigma) only: choose others with --per-condition."]
    ratio = compare_stimuli(loaded.trials)
    if ratio > OTHER_STIMULI:
        notes.append(
            f"But their mean stimuli differ by a factor of {ratio:.2f}: if people can expect other stimuli in each, "
            "--per-condition mu_0 is the better choice."
        )
    return dataclasses.replace(request, per_condition=("sigma",)), notes
