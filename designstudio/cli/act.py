"""`designstudio act`: what a participant does with a measurement."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from designstudio.cli.options import ActorOption, CostFileOption, JsonOption, write_json
from designstudio.core.files import check_file
from designstudio.errors import StudioError

if TYPE_CHECKING:
    from designstudio.runs.act import ActResult


def act(
    cost: Annotated[str, typer.Argument(help="Name of the cost.")],
    set_: Annotated[
        list[str] | None, typer.Option("--set", "-s", help="A parameter, such as mu_0=1.5; may be repeated.")
    ] = None,
    measurements: Annotated[str, typer.Option(help="What was perceived, in the stimulus unit.")] = "0.5,1,1.5,2,3,4,5",
    actor: ActorOption = None,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Show the optimal action for each measurement, exact and amortized.

    Example: designstudio act quadratic_effort --set beta=0.7 --measurements 1,2,3
    """
    from designstudio.runs.act import ActRequest, run_act  # noqa: PLC0415  (keeps `designstudio --help` fast)

    check_file(json)
    values = dict(_parse_assignment(text) for text in set_ or [])
    result = run_act(ActRequest(cost, values, _parse_numbers(measurements), actor, cost_file))
    Console().print(_as_table(result))
    if result.cost.note:
        typer.echo(result.cost.note)
    write_json(json, result.as_dict())


def _as_table(result: "ActResult") -> Table:
    cost = result.cost
    values = ", ".join(f"{p.symbol} = {result.participant[p.name]:g}" for p in cost.all_parameters)
    table = Table(title=f"Optimal actions under {cost.name}, {cost.formula}", caption=values, box=SIMPLE_HEAD)
    for header in ("measurement m", "exact action a", "amortized", "relative error", "bias a/m - 1"):
        table.add_column(header, justify="right", no_wrap=True)
    for m, a, b, inside in result.actions:
        flag = "" if inside else " outside"
        table.add_row(f"{m:g}", f"{a:.4f}", f"{b:.4f}", f"{abs(b / a - 1):.0e}{flag}", f"{a / m - 1:+.1%}")
    return table


def _parse_assignment(text: str) -> tuple[str, float]:
    name, separator, value = text.partition("=")
    try:
        if not separator:
            raise ValueError
        return name.strip(), float(value)
    except ValueError:
        raise StudioError(f"--set takes name=number, such as mu_0=1.5, but {text!r} was given.") from None


def _parse_numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise StudioError(f"--measurements takes numbers such as 0.5,1,2, but {text!r} was given.") from None
