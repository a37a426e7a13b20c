"""`designstudio actors`: the zoo and how accurate it is."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import jax
import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table

from designstudio.cli.notes import notes_console
from designstudio.cli.options import CostFileOption, JsonOption, write_json
from designstudio.core.files import check_file
from designstudio.core.tables import as_markdown
from designstudio.errors import StudioError
from designstudio.model.actors import load_actor, measure_accuracy, read_card, zoo_paths
from designstudio.model.actors.zoo import ActorCard
from designstudio.model.costs import COSTS, AbstractCost, get_cost
from designstudio.runs.folder import use_cost_file


def show_actors(
    files: Annotated[list[Path] | None, typer.Argument(help="Actor files to show instead of the package's own.")] = None,
    measure: Annotated[
        int, typer.Option(help="Measure again on this many fresh random decisions (0: show what the files say).")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the fresh decisions.")] = 1,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
    cost_file: CostFileOption = None,
    json: JsonOption = None,
) -> None:
    """Show trained actors: cost, training box, relative error against the exact actor, size; then costs without one.

    Example: designstudio actors --measure 20000
    """
    use_cost_file(cost_file)
    check_file(json)
    if measure < 0:
        raise StudioError(f"--measure must be 0 or more, but {measure} was given.")
    cards = [read_card(path) for path in (files or zoo_paths().values())]
    for card in cards:
        load_actor(card.path)  # refuses damaged weights
    if measure:
        key = jax.random.key(seed)
        console = notes_console()
        cards = [
            dataclasses.replace(card, accuracy=measure_accuracy(load_actor(card.path), measure, key=key))
            for card in track(cards, "Measuring", console=console, transient=True)
        ]
    untrained = [] if files else [cost for name, cost in COSTS.items() if name not in {card.cost for card in cards}]
    if markdown:
        typer.echo(as_markdown([dict(zip(_HEADERS, row, strict=True)) for row in _list_rows(cards, untrained)]))
    else:
        Console().print(_as_table(cards, untrained))
    for cost in [*(get_cost(card.cost) for card in cards), *untrained]:
        if cost.note:
            typer.echo(f"{cost.name}: {cost.note}")
    write_json(json, [*map(_as_record, cards), *map(_as_untrained, untrained)])


_HEADERS = ("cost", "its parameters", "median", "p99", "max", "size", "time")


def _list_rows(cards: list[ActorCard], untrained: list[AbstractCost]) -> list[tuple[str, ...]]:
    """Trained actors, then costs that only have the exact one."""
    return [*map(_cells, cards), *((cost.name, _describe_box(cost), "exact", "", "", "", "") for cost in untrained)]


def _describe_box(cost: AbstractCost) -> str:
    return ", ".join(f"{p.name} {p.box.low:g}-{p.box.high:g}" for p in cost.parameters) or "none"


def _cells(card: ActorCard) -> tuple[str, ...]:
    own = {parameter.name for parameter in get_cost(card.cost).parameters}
    box = ", ".join(f"{name} {low:g}-{high:g}" for name, (low, high) in card.box.items() if name in own)
    accuracy = card.accuracy
    return (
        card.cost,
        box or "none",
        f"{accuracy.median:.1e}",
        f"{accuracy.p99:.1e}",
        f"{accuracy.max:.1e}",
        f"{card.num_bytes / 1024:.1f} KiB",
        f"{card.training_seconds:.0f} s",
    )


def _as_table(cards: list[ActorCard], untrained: list[AbstractCost]) -> Table:
    own = {parameter.name for parameter in get_cost(cards[0].cost).parameters}
    shared = {name: box for name, box in cards[0].box.items() if name not in own}
    box = ", ".join(f"{name} {low:.3g} to {high:.3g}" for name, (low, high) in shared.items())
    num_actions = cards[0].accuracy.num_actions
    table = Table(
        title="Trained actors: size, training time, relative error against the exact actor",
        caption=f"{num_actions:,} random decisions. Box: {box}",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for header in _HEADERS:
        is_text = header in ("cost", "its parameters")
        table.add_column(header, justify="left" if is_text else "right", no_wrap=True)
    for row in _list_rows(cards, untrained):
        table.add_row(*row)
    return table


def _as_untrained(cost: AbstractCost) -> dict[str, Any]:
    """As `_as_record`, of a cost for which nothing was trained."""
    box = {parameter.name: [parameter.box.low, parameter.box.high] for parameter in cost.parameters}
    return {"cost": cost.name, "architecture": "exact", "box": box}


def _as_record(card: ActorCard) -> dict[str, Any]:
    return {
        "cost": card.cost,
        "architecture": card.recipe.architecture,
        "box": {name: list(interval) for name, interval in card.box.items()},
        "accuracy": dataclasses.asdict(card.accuracy),
        "num_bytes": card.num_bytes,
        "num_steps": card.num_steps,
        "training_seconds": card.training_seconds,
        "versions": card.versions,
    }
