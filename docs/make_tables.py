"""Fill the tables of the pages from what is registered in the package: `python docs/make_tables.py`.

A table stands between `<!-- costs:start -->` and `<!-- costs:end -->`. A registry that documents itself gets one entry in
TABLES: the page, and a function that returns the lines of its table.
"""

import functools
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from designstudio.lab.formats import FORMATS
from designstudio.metrics import available_metrics
from designstudio.metrics.base import GOAL, PARAMETERS, QUANTITY, WHOLE
from designstudio.model.costs import available_costs
from designstudio.model.priors import PRIOR_FAMILIES
from designstudio.study.schema.context import Context
from designstudio.study.schema.document import document_kind, list_settings
from designstudio.study.schema.kinds import Field, Kind
from designstudio.study.schema.toml_text import write_value
from designstudio.study.stimuli import DISTRIBUTIONS

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


def list_priors() -> list[str]:
    """Every family of priors, how it is written and what it is."""
    rows = [(f"`{family.example}`", first_sentence(family)) for family in PRIOR_FAMILIES.values()]
    return write_table(("in a study file", "what it is"), rows)


def list_distributions() -> list[str]:
    """Every distribution of stimuli, what it takes and what it is."""
    rows = [
        (f"`{name}`", ", ".join(f"`{setting}`" for setting in of.settings), "yes" if of.is_range else "", first_sentence(of))
        for name, of in DISTRIBUTIONS.items()
    ]
    return write_table(("distribution", "takes", "can be searched", "what it is"), rows)


def list_formats() -> list[str]:
    """Every format of trial lists, and what it is for."""
    rows = [(f"`{name}`", f"`{of.name_file('01')}`", of.about) for name, of in FORMATS.items()]
    return write_table(("`--format`", "in the folder", "what it is for"), rows)


def list_parameters() -> list[str]:
    """Every parameter of every cost."""
    costs, rows = available_costs().values(), []
    for name, parameter in Context.any().fitted.items():
        having = [cost.name for cost in costs if any(own.name == name for own in cost.all_parameters)]
        of = "every cost" if len(having) == len(costs) else ", ".join(having)
        rows.append((f"`{name}`", parameter.meaning, parameter.unit, of))
    return write_table(("parameter", "what it is", "unit", "of"), rows)


def list_keys(path: str) -> list[str]:
    """The keys of a section of the study file: what each says, what may stand there, and what holds if it is left out."""
    kind, fields = document_kind(Context.any()), list_settings()
    for key in path.split(".") if path != ABOVE else ():
        kind = next(field.kind for field in kind.fields if field.key == key)
        fields = kind.fields
    own = [field for field in fields if field.key not in Context.any().fitted]
    rows = [(f"`{field.key}`", _explain(field), field.kind.words, _name_default(kind, field)) for field in own]
    # Whatever may stand under one parameter may under all.
    for field in [field for field in fields if field not in own][:1]:
        rows += [("a parameter, such as `mu_0`", "See the table of parameters.", field.kind.words, "")]
    return write_table(("key", "what it says", "what may stand there", "by default"), rows)


def _explain(field: Field) -> str:
    return f"{field.doc} ({field.unit})" if field.unit else field.doc


def _name_default(kind: Kind, field: Field) -> str:
    if field.is_required:
        return "needed"
    return f"`{write_value(kind.defaults[field.key])}`" if field.key in kind.defaults else ""


def first_sentence(thing: object) -> str:
    """The first line of a docstring."""
    return (thing.__doc__ or "").splitlines()[0]


# Sections of the study file whose keys are listed, and what stands above the first of them.
ABOVE = "settings"
SECTIONS = (ABOVE, "population", "analysis", "analysis.priors", "analysis.known", "groups", "goals", "stimuli", "designs",
            "designs.conditions", "search", "search.objectives", "search.constraints", "search.space",
            "search.space.stimuli")  # fmt: skip
STUDY_FILE = "reference/study-file.md"

# By the name between the comments: the page and what is written there.
TABLES: dict[str, tuple[str, Callable[[], list[str]]]] = {
    "costs": ("explanation/model.md", list_costs),
    **{
        f"metrics of {name}": ("explanation/scores.md", functools.partial(list_metrics, scope))
        for name, scope in {"quantities": QUANTITY, "posteriors": PARAMETERS, "goals": GOAL, "designs": WHOLE}.items()
    },
    "formats": ("howto/laboratory.md", list_formats),
    "parameters": (STUDY_FILE, list_parameters),
    "priors": (STUDY_FILE, list_priors),
    "distributions": (STUDY_FILE, list_distributions),
    **{f"keys of {path}": (STUDY_FILE, functools.partial(list_keys, path)) for path in SECTIONS},
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
