"""`designstudio act`: what a participant does with a measurement."""

from typing import Annotated

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from designstudio.cli.options import ActorOption, CostFileOption, JsonOption, check_output, use_cost_file, write_json
from designstudio.errors import StudioError
from designstudio.model.actors import AbstractActor, ExactActor, choose_actions, load_actor
from designstudio.model.costs import AbstractCost, get_cost

# The participant of the paper's disentangling experiment; cost parameters start at the median of their prior.
_EXAMPLE = {"mu_0": 1.5, "sigma_0": 0.2, "sigma": 0.2, "sigma_r": 0.15}


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
    use_cost_file(cost_file)
    check_output(json)
    chosen = get_cost(cost)
    participant = {**_example_participant(chosen), **dict(_parse_assignment(text) for text in set_ or [])}
    perceived = _parse_numbers(measurements)
    amortized = load_actor(cost if actor is None else actor)
    if amortized.cost != chosen:
        raise StudioError(f"The actor {str(actor)!r} was trained for {amortized.cost.name!r}, not for {cost!r}.")
    exact = _round(choose_actions(ExactActor(chosen), np.array(perceived), participant).action)
    chosen_actions = choose_actions(amortized, np.array(perceived), participant)
    learnt, is_inside = _round(chosen_actions.action), [bool(flag) for flag in chosen_actions.is_inside]
    Console().print(_as_table(amortized, participant, perceived, exact, learnt, is_inside))
    if chosen.note:
        typer.echo(chosen.note)
    actions = [
        {"measurement": m, "exact": a, "amortized": b, "is_inside": inside}
        for m, a, b, inside in zip(perceived, exact, learnt, is_inside, strict=True)
    ]
    write_json(json, {"cost": cost, "participant": participant, "actions": actions})


def _as_table(
    actor: AbstractActor,
    participant: dict[str, float],
    perceived: list[float],
    exact: list[float],
    learnt: list[float],
    is_inside: list[bool],
) -> Table:
    values = ", ".join(f"{p.symbol} = {participant[p.name]:g}" for p in actor.cost.all_parameters)
    table = Table(title=f"Optimal actions under {actor.cost.name}, {actor.cost.formula}", caption=values, box=SIMPLE_HEAD)
    for header in ("measurement m", "exact action a", "amortized", "relative error", "bias a/m - 1"):
        table.add_column(header, justify="right", no_wrap=True)
    for m, a, b, inside in zip(perceived, exact, learnt, is_inside, strict=True):
        flag = "" if inside else " outside"
        table.add_row(f"{m:g}", f"{a:.4f}", f"{b:.4f}", f"{abs(b / a - 1):.0e}{flag}", f"{a / m - 1:+.1%}")
    return table


def _example_participant(cost: AbstractCost) -> dict[str, float]:
    medians = {p.name: round(float(p.analysis.distribution().icdf(0.5)), 4) for p in cost.parameters}
    return {**_EXAMPLE, **medians}


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


def _round(actions: object) -> list[float]:
    return [float(f"{action:.6g}") for action in np.asarray(actions)]
