"""`designstudio preregister`: freeze a plan before the data come."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from designstudio.cli.notes import note
from designstudio.cli.options import CostFileOption, JsonOption, write_json
from designstudio.cli.progress import show_progress
from designstudio.core.files import check_file


def preregister(
    study: Annotated[Path, typer.Argument(help="A study file.", metavar="STUDY")],
    out: Annotated[Path, typer.Option(help="Folder for the record; nothing in it is overwritten.", metavar="DIR")],
    design: Annotated[str | None, typer.Option(help="Name of the design to run; default: the study's first.")] = None,
    participants: Annotated[int | None, typer.Option(help="How many take part; default: the design's participants.")] = None,
    min_trials: Annotated[int, typer.Option(help="Participants with fewer trials will be left out.")] = 10,
    where: Annotated[
        list[str] | None, typer.Option(help="Which rows of the data will be kept, such as 'rt < 2.5'.", metavar="FILTER")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Unit of stimuli and responses, such as s; default: the study's.")] = None,
    rule: Annotated[
        list[str] | None, typer.Option(help="A further rule, recorded word for word; may be repeated.", metavar="TEXT")
    ] = None,
    power: Annotated[
        bool, typer.Option("--power/--no-power", help="Whether the power of the design is computed and recorded.")
    ] = True,
    fidelity: Annotated[
        str | None, typer.Option(help="Of power: information, importance, nuts or paper; default: the study's.")
    ] = None,
    datasets: Annotated[int | None, typer.Option(help="Simulated participants for power; default: the study's.")] = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Record a plan with its fingerprint: design, model, priors, population, decisions, power, exclusions, versions.

    Power and false-positive rate of each goal are computed first, which is instant if evaluate has done it before.

    Example: designstudio preregister study.toml --design two-levels --participants 20 --out record
    """
    from designstudio.lab.planned_fit import list_measured  # noqa: PLC0415
    from designstudio.lab.record import POWER, RecordOptions  # noqa: PLC0415  (keeps `designstudio --help` fast)
    from designstudio.lab.record_files import RECORD, TEXT  # noqa: PLC0415
    from designstudio.lab.record_power import summarize_power  # noqa: PLC0415
    from designstudio.lab.record_text import count_participants, list_goals  # noqa: PLC0415
    from designstudio.runs.preregister import PreregisterRequest, run_preregister  # noqa: PLC0415

    check_file(json)
    options = RecordOptions(participants, min_trials, tuple(where or ()), unit, tuple(rule or ()))
    request = PreregisterRequest(study, out, design, options, cost_file, power, fidelity, datasets)
    with show_progress("Computing power") as progress:
        record, chosen = run_preregister(request, progress=progress, notify=note)
    people, computed = record.content["participants"], record.content[POWER]
    typer.echo(f"Design {chosen.name!r}: {count_participants(record.content)}, {chosen.num_trials} trials each.")
    for sentence in list_goals(record.content):
        typer.echo(f"• {sentence}")
    for line in (*summarize_power(computed), *computed.get("notes", ())):
        typer.echo(line)
    typer.echo(f"Fingerprint {record.fingerprint}")
    names = [shlex.quote(str(path)) for path in (out, study)]
    fixed = "".join(f" --fixed {name}=FILE.csv" for name in list_measured(record.content))
    typer.echo(
        f"Wrote {RECORD} and {TEXT} to {out}. Deposit them where the date is certified; later, run\n"
        f"  designstudio verify {names[0]} --study {names[1]} --data DATA\n"
        f"  designstudio fit DATA --record {names[0]}{fixed}"
    )
    summary = {"fingerprint": record.fingerprint, "design": chosen.name, "participants": people, "trials": chosen.num_trials}
    write_json(json, {**summary, "goals": list_goals(record.content), POWER: computed, "folder": str(out)})
