"""Fill the tables of the pages from what is registered in the package: `python docs/make_tables.py`.

A table stands between `<!-- costs:start -->` and `<!-- costs:end -->`. A registry that documents itself gets one entry in
TABLES: the page, and a function that returns the lines of its table.
"""

import functools
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from designstudio.metrics import available_metrics
from designstudio.metrics.base import GOAL, PARAMETERS, QUANTITY, WHOLE
from designstudio.model.costs import available_costs

DOCS = Path(__file__).parent


def list_costs() -> list[str]:
    """Every cost, what it is and what it says."""
    rows = [(f"`{cost.name}`", cost.formula, cost.meaning) for cost in available_costs().values()]
    return write_table(("cost", "formula", "what it says"), rows)


def list_metrics(scope: str) -> list[str]:
    """Every metric of something: how files call it, which way is better, what it is and what it does not say."""
    rows = [
        (metric.label, f"`{metric.name}`", metric.direction or "neither", metric.explanation, metric.caveat)
        for metric in available_metrics().values()
        if metric.scope == scope
    ]
    return write_table(("metric", "in files", "better", "what it is", "what it does not say"), rows)


# By the name between the comments: the page and what is written there.
TABLES: dict[str, tuple[str, Callable[[], list[str]]]] = {
    "costs": ("explanation/model.md", list_costs),
    **{
        f"metrics of {name}": ("explanation/scores.md", functools.partial(list_metrics, scope))
        for name, scope in {"quantities": QUANTITY, "posteriors": PARAMETERS, "goals": GOAL, "designs": WHOLE}.items()
    },
}


def write_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table."""
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [f"| {' | '.join(headers)} |", "|" + "---|" * len(headers), *(f"| {' | '.join(row)} |" for row in escaped)]


def fill_page(name: str) -> str:
    """A page with its tables as they should be.

    Raises:
        ValueError: if the page has no place for one of them.
    """
    text = (DOCS / name).read_text(encoding="utf-8")
    for table, (page, list_lines) in TABLES.items():
        if page == name:
            start, end = f"<!-- {table}:start -->", f"<!-- {table}:end -->"
            if start not in text or end not in text:
                raise ValueError(f"{page} has no place for the table {table!r}: write {start} and {end} into it.")
            lines = "\n".join(list_lines())
            text = re.sub(f"{start}.*?{end}", lambda _: f"{start}\n{lines}\n{end}", text, flags=re.DOTALL)  # noqa: B023
    return text


if __name__ == "__main__":
    for name in sorted({page for page, _ in TABLES.values()}):
        (DOCS / name).write_text(fill_page(name), encoding="utf-8")
        print(f"Wrote {name}.")
