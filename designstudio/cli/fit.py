"""`designstudio fit`: which cost explains these participants, and what are their parameters?"""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from designstudio.cli.options import CostFileOption, JsonOption, print_files, write_json
from designstudio.cli.pairs import split_pair, split_pairs
from designstudio.cli.progress import show_progress
from designstudio.core.files import check_file
from designstudio.errors import StudioError
from designstudio.model.costs import available_costs

if TYPE_CHECKING:
    from designstudio.inference.hierarchical import PoolingSettings

ALL = "all"


def fit(
    data: Annotated[
        str, typer.Argument(help="A CSV or TSV file, a Psych-DS or BIDS folder, or the word example.", metavar="DATA")
    ],
    record: Annotated[
        Path | None,
        typer.Option(
            help="Analyse as this record plans, and judge its goals; see `designstudio preregister`.", metavar="RECORD"
        ),
    ] = None,
    study: Annotated[
        Path | None, typer.Option(help="The same from a study file that was not recorded.", metavar="STUDY")
    ] = None,
    design: Annotated[str | None, typer.Option(help="With --study: the design that was run; default: the first.")] = None,
    costs: Annotated[str | None, typer.Option(help="Costs to compare, separated by commas; default: all.")] = None,
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
    min_trials: Annotated[int | None, typer.Option(help="Subjects with fewer are left out; default: 10.")] = None,
    draw: Annotated[int, typer.Option(help="Subjects whose predictions are drawn.")] = 6,
    pool: Annotated[bool, typer.Option("--pool", help="Also pool the subjects partially.")] = False,
    group_spread: Annotated[
        list[str] | None,
        typer.Option(
            help="With --pool: how much people are expected to differ, as a share of the analysis prior's sd (the scale of "
            "a half-normal prior), in all parameters or in one: 0.5 (the default) or sigma_r=1. May be repeated.",
            metavar="[NAME=]SHARE",
        ),
    ] = None,
    lapses: Annotated[
        str | None,
        typer.Option(
            help="Responses that have nothing to do with their stimulus: free (their share is estimated; default), off, or "
            "a known share such as 0.02.",
            metavar="free|off|SHARE",
        ),
    ] = None,
    interval: Annotated[float | None, typer.Option(help="Probability of the intervals; default: 0.94.")] = None,
    method: Annotated[str | None, typer.Option(help="auto (default), importance or nuts.")] = None,
    draws: Annotated[int | None, typer.Option(help="Posterior draws of each of four chains; default: 1000.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random; default: 1.")] = None,
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

    With --record everything that decides about results is what the record says, and each of its goals is judged on the data.
    Each cost is kept in the folder of --out as soon as it is finished: the same command goes on where it was stopped.

    Example: designstudio fit example --costs quadratic,quadratic_effort --out fits
    """
    from designstudio.cli.print_fit import print_fit  # noqa: PLC0415  (keeps `designstudio --help` fast)
    from designstudio.fitting.fixed_values import read_fixed  # noqa: PLC0415
    from designstudio.fitting.request import FitRequest  # noqa: PLC0415
    from designstudio.inference.settings import FitSettings  # noqa: PLC0415
    from designstudio.runs.fit import FitDataRequest, run_fit  # noqa: PLC0415
    from designstudio.runs.folder import use_cost_file  # noqa: PLC0415
    from designstudio.runs.planned_fit import PlannedFitRequest, refuse_options, run_planned_fit  # noqa: PLC0415

    use_cost_file(cost_file)
    check_file(json)
    columns = dict(split_pair(text, "--column", "response=rt", may_be_empty=True) for text in column or [])
    known = split_pairs(fixed or [], "--fixed", "sigma=0.2 or sigma=measured.csv")
    actors = _read_actors(actor or [])
    choices: dict[str, Any] = {
        "--costs": costs,
        "--per-condition": per_condition,
        "--where": where,
        "--min-trials": min_trials,
    }
    choices |= {
        "--lapses": lapses,
        "--interval": interval,
        "--method": method,
        "--draws": draws,
        "--seed": seed,
        "--pool": pool,
        "--group-spread": group_spread,
    }
    if design is not None and study is None:
        raise StudioError("--design is of a study: give it with --study.")
    if record is not None or study is not None:
        refuse_options(choices, "--record" if record is not None else "--study")
        planned = PlannedFitRequest(
            data, record, study, design, known, actors, columns, unit, num_drawn=draw, folder=out, cost_file=cost_file
        )
        with show_progress("Fitting") as progress:
            result = run_planned_fit(planned, progress=progress, notify=typer.echo)
    else:
        settings = {"method": method, "num_draws": draws}
        said = {"lapses": None if lapses is None else _read_lapses(lapses), "interval": interval, "seed": seed}
        fit_request = FitRequest(
            costs=_list_costs(ALL if costs is None else costs),
            fixed=read_fixed(known),
            per_condition=_list_conditions(per_condition),
            pools=pool,
            pooling=_read_spread(group_spread or [], is_pooled=pool),
            settings=FitSettings(**_keep_given(settings)),
            actors=actors,
        )
        request = FitDataRequest(
            data,
            dataclasses.replace(fit_request, **_keep_given(said)),
            chooses_conditions=per_condition is None,
            columns=columns,
            where=tuple(where or ()),
            unit=unit,
            num_drawn=draw,
            folder=out,
            cost_file=cost_file,
            **_keep_given({"min_trials": min_trials}),
        )
        with show_progress("Fitting") as progress:
            result = run_fit(request, progress=progress, notify=typer.echo)
    print_fit(result)
    print_files(out)
    write_json(json, result.as_dict())


def _keep_given(options: dict[str, Any]) -> dict[str, Any]:
    """Options that were given; others have the defaults of what they are options of."""
    return {name: value for name, value in options.items() if value is not None}


def _list_costs(text: str) -> tuple[str, ...]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    return tuple(available_costs()) if names == [ALL] else tuple(names)


def _read_spread(texts: list[str], *, is_pooled: bool) -> "PoolingSettings":
    from designstudio.inference.hierarchical import PoolingSettings  # noqa: PLC0415  (keeps `designstudio --help` fast)

    if texts and not is_pooled:
        raise StudioError("--group-spread is about pooling: give --pool, too.")
    shares: dict[str, float] = {}
    for text in texts:
        name, share = split_pair(text, "--group-spread", "0.5 or sigma_r=1") if "=" in text else ("", text)
        if name in shares:
            raise StudioError(f"--group-spread gives {f'{name!r}' if name else 'a share for all'} twice: give it once.")
        try:
            shares[name] = float(share)
        except ValueError:
            raise StudioError(f"--group-spread is written like 0.5 or sigma_r=1, but {text!r} was given.") from None
    everything = shares.pop("", PoolingSettings.spread_share)
    return PoolingSettings(spread_share=everything, spread_shares=shares)


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
