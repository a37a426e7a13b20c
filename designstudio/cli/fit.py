"""`designstudio fit`: which cost explains these participants, and what are their parameters?"""

from pathlib import Path
from typing import Annotated

import typer

from designstudio.cli.fixed_values import read_fixed, split_pair
from designstudio.cli.options import CostFileOption, JsonOption, print_files, write_json
from designstudio.cli.progress import show_progress
from designstudio.core.files import check_file
from designstudio.model.costs import available_costs

ALL = "all"


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
    draw: Annotated[int, typer.Option(help="Subjects whose predictions are drawn.")] = 6,
    pool: Annotated[bool, typer.Option("--pool", help="Also pool the subjects partially.")] = False,
    lapses: Annotated[
        str,
        typer.Option(
            help="Responses that have nothing to do with their stimulus: free (their share is estimated), off, or a known "
            "share such as 0.02.",
            metavar="free|off|SHARE",
        ),
    ] = "free",
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
    from designstudio.cli.print_fit import print_fit  # noqa: PLC0415  (keeps `designstudio --help` fast)
    from designstudio.fitting.request import FitRequest  # noqa: PLC0415
    from designstudio.inference.settings import FitSettings  # noqa: PLC0415
    from designstudio.runs.fit import FitDataRequest, run_fit  # noqa: PLC0415
    from designstudio.runs.folder import use_cost_file  # noqa: PLC0415

    use_cost_file(cost_file)
    check_file(json)
    request = FitDataRequest(
        data,
        FitRequest(
            costs=_list_costs(costs),
            fixed=read_fixed(fixed or []),
            per_condition=_list_conditions(per_condition),
            pools=pool,
            settings=FitSettings(method=method, num_draws=draws),
            seed=seed,
            lapses=_read_lapses(lapses),
            actors=_read_actors(actor or []),
        ),
        chooses_conditions=per_condition is None,
        columns=dict(split_pair(text, "--column", "response=rt", may_be_empty=True) for text in column or []),
        where=tuple(where or ()),
        unit=unit,
        min_trials=min_trials,
        num_drawn=draw,
        folder=out,
        cost_file=cost_file,
    )
    with show_progress("Fitting") as progress:
        result = run_fit(request, progress=progress, notify=typer.echo)
    print_fit(result)
    print_files(out)
    write_json(json, result.as_dict())


def _list_costs(text: str) -> tuple[str, ...]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    return tuple(available_costs()) if names == [ALL] else tuple(names)


def _read_lapses(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _read_actors(paths: list[Path]) -> dict[str, Path]:
    from designstudio.model.actors import read_card  # noqa: PLC0415  (keeps `designstudio --help` fast)

    return {read_card(path).cost: path for path in paths}


def _list_conditions(text: str | None) -> tuple[str, ...]:
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    return () if names == ["none"] else tuple(names)
