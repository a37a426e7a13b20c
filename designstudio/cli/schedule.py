"""`designstudio schedule`: trial lists for the laboratory."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from designstudio.cli.options import CostFileOption, JsonOption, write_json
from designstudio.core.files import check_file
from designstudio.model.parameters import STIMULUS_UNIT


def schedule(
    study: Annotated[Path, typer.Argument(help="A study file.", metavar="STUDY")],
    out: Annotated[Path, typer.Option(help="Folder for the lists; nothing in it is overwritten.", metavar="DIR")],
    design: Annotated[str | None, typer.Option(help="Name of the design to run; default: the study's first.")] = None,
    participants: Annotated[
        int | None, typer.Option(help="How many lists, of each group; default: the design's participants.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random; default: the study's.")] = None,
    order: Annotated[str | None, typer.Option(help="blocked or interleaved; default: what suits the design.")] = None,
    max_repeats: Annotated[
        int | None,
        typer.Option(help="Most trials in a row of the same condition (if interleaved), or stimulus (of a grid or list)."),
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Unit of stimuli and responses, such as s; default: the study's.")] = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Fill in simulated responses, to try out the analysis.")
    ] = False,
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", help="A format of the lists; may be repeated; default: all.", metavar="NAME"),
    ] = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Write randomised trial lists for PsychoPy and jsPsych, and a Psych-DS folder for the responses.

    The stimuli are those that the evaluation of the study shows. The same seed gives the same files, and more participants
    leave the earlier lists as they are. In a study with groups everybody of every group has a list.

    Example: designstudio schedule study.toml --design two-levels --participants 20 --seed 1 --out lists
    """
    from designstudio.lab.formats.known_values import write_fit_options  # noqa: PLC0415
    from designstudio.lab.formats.readme import describe_order  # noqa: PLC0415  (keeps `designstudio --help` fast)
    from designstudio.runs.schedule import ScheduleRequest, run_schedule  # noqa: PLC0415

    check_file(json)
    request = ScheduleRequest(study, out, design, participants, seed, order, max_repeats, unit, simulate, formats, cost_file)
    made, record = run_schedule(request)
    chosen = made.design
    num, unit_words = len(made.lists), f", in {made.unit}" if made.unit != STIMULUS_UNIT else ""
    typer.echo(
        f"{num} list{'' if num == 1 else 's'} of {chosen.num_trials} trials{made.group_sizes}, about {chosen.minutes:.1f} "
        f"minutes each, from design {chosen.name!r}{unit_words}, seed {made.study.seed}."
    )
    for sentence in (*describe_order(made), *made.notes):
        typer.echo(sentence)
    typer.echo(f"Design {record['design_fingerprint']}.")
    names = [shlex.quote(name) for name in (str(out), str(study), chosen.name)]
    options = [part for text in write_fit_options(made, f"{out}/") for part in text.split(" ", 1)]
    fixed = "".join(f" {shlex.quote(part)}" for part in options)
    typer.echo(
        f"Wrote {out}: see its README.txt. When the responses are in, analyse them as planned with\n"
        f"  designstudio fit {names[0]} --study {names[1]} --design {names[2]}{fixed}\n"
        "or, if the plan was preregistered, with --record RECORD in place of --study and --design."
    )
    write_json(json, record)


def finish_command(command: Any) -> None:
    """Let help name the formats that there are, a user's own among them."""
    from designstudio.lab.formats import FORMATS  # noqa: PLC0415  (only help needs it)

    option = next(parameter for parameter in command.params if parameter.name == "formats")
    option.help = f"{option.help} There are: {', '.join(FORMATS)}."
