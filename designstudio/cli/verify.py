"""`designstudio verify`: is this what was planned?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from designstudio.cli.options import CostFileOption, JsonOption, write_json
from designstudio.cli.pairs import split_pair
from designstudio.core.files import check_file

if TYPE_CHECKING:
    from designstudio.lab.verify import Verification

SAYINGS = {
    "record": "The record is as it was made.",
    "study": "The study is the recorded one.",
    "data": "The data are as planned.",
}


def verify(
    record: Annotated[Path, typer.Argument(help="record.json, or its folder.", metavar="RECORD")],
    study: Annotated[Path | None, typer.Option(help="The study file as it is now.", metavar="STUDY")] = None,
    data: Annotated[Path | None, typer.Option(help="A table, or a Psych-DS or BIDS folder.", metavar="DATA")] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="The data's own name of a column, such as response=rt.", metavar="ROLE=NAME"),
    ] = None,
    fingerprint: Annotated[str | None, typer.Option(help="The fingerprint that was deposited elsewhere.")] = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Say whether a record is intact, and whether a study and data agree with it.

    Exit codes: 0 all agrees, 1 something differs, 2 the input was wrong.

    Example: designstudio verify record --study study.toml --data lists
    """
    from designstudio.runs.verify import VerifyRequest, run_verify  # noqa: PLC0415  (keeps `designstudio --help` fast)

    check_file(json)
    columns = dict(split_pair(text, "--column", "response=rt") for text in column or [])
    result = run_verify(VerifyRequest(record, study, data, columns, fingerprint, cost_file))
    print_verification(result)
    write_json(json, result.as_dict())
    if not result.matches:
        raise typer.Exit(1)


def print_verification(result: "Verification") -> None:
    """What agrees, in sentences, and what differs, as a table."""
    typer.echo(f"Fingerprint {result.fingerprint}")
    differing = {difference.where for difference in result.differences}
    for where in result.checked:
        if where not in differing:
            typer.echo(SAYINGS[where])
    for note in result.notes:
        typer.echo(f"Note: {note}")
    if result.differences:
        console = Console(highlight=False)
        console.print(_as_table(result))
        for difference in result.differences:
            console.print(f"• {difference.sentence}", markup=False)


def _as_table(result: "Verification") -> Table:
    num = len(result.differences)
    table = Table(
        title=f"{num} difference{'' if num == 1 else 's'} from the record",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for name in ("in", "what", "recorded", "found"):
        table.add_column(name, overflow="fold")
    for difference in result.differences:
        cells = (difference.where, difference.what, difference.recorded, difference.found)
        table.add_row(*(escape(cell) for cell in cells))
    return table
