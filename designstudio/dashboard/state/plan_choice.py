"""What was known before the data that a visitor wants to have fitted: a record, and values that were measured."""

import json
import tempfile
from pathlib import Path

import param

from designstudio.dashboard.visitors import check_plan
from designstudio.errors import StudioError, UnknownNameError
from designstudio.fitting.fixed_values import read_fixed
from designstudio.fitting.reading.tables import read_table
from designstudio.fitting.request import FixedValue
from designstudio.lab.planned_fit import plan_request
from designstudio.lab.record_files import RECORD, load_record
from designstudio.lab.record_text import list_goals
from designstudio.model.costs import PAPER_COST_NAMES, get_cost
from designstudio.runs.jobs.job import LOG

PARAMETERS = tuple(dict.fromkeys(p.name for cost in PAPER_COST_NAMES for p in get_cost(cost).all_parameters))
# Of a file's name; file systems take 255 bytes, and a letter may need four.
MOST_LETTERS = 60


class PlanChoice(param.Parameterized):
    """A record that plans the fit, if there is one, and known values of parameters."""

    record = param.ClassSelector(class_=bytes, default=b"", doc="A record.json that plans the fit; empty if there is none.")
    known = param.Dict(default={}, doc="Known parameters: a number as text, or the name of a table, by name.")
    known_tables = param.Dict(default={}, doc="Tables of known values, by name.")

    def take_record(self, content: bytes) -> None:
        """Fit as a record plans.

        Raises:
            StudioError: if it is none, was changed after it was made, or asks for more than a page gives.
        """
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / RECORD
            path.write_bytes(content)
            try:
                stored = load_record(path)
            except StudioError as error:
                raise StudioError(str(error).replace(f"{folder}/", "")) from None
        if stored.stated != stored.record.fingerprint:
            raise StudioError("The record was changed after it was made: give it as it was written.")
        check_plan(stored.record)
        self.record = content

    def take_known_table(self, name: str, content: bytes) -> None:
        """Take parameters as known that a table has columns of.

        Raises:
            StudioError: if it has none, or cannot be read.
        """
        # The data may have the same name.
        file = f"known_{tidy_name(name).removeprefix('known_')}"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / file
            path.write_bytes(content)
            found = [column for column in read_table(path, file).columns if column in PARAMETERS]
            if not found:
                raise StudioError(f"{name} has no column of a parameter: name it as the parameter, such as sigma.")
            read_fixed(dict.fromkeys(found, file), folder=path.parent)
        self.param.update(
            known_tables={**self.known_tables, file: content}, known={**self.known, **dict.fromkeys(found, file)}
        )

    def take_known_numbers(self, text: str) -> None:
        """Take parameters as known from numbers such as `sigma=0.2, sigma_r=0.1`.

        Raises:
            StudioError: if the text cannot be read, or names what is no parameter.
        """
        numbers = {}
        for pair in filter(None, (part.strip() for part in text.split(","))):
            name, _, value = (part.strip() for part in pair.partition("="))
            try:
                numbers[name] = f"{float(value):.12g}"
            except ValueError:
                raise StudioError(f"Known numbers are written like sigma=0.2, but {pair!r} was given.") from None
            if name not in PARAMETERS:
                raise UnknownNameError("parameter", name, PARAMETERS)
        tables = {name: given for name, given in self.known.items() if given in self.known_tables and name not in numbers}
        self.known = {**tables, **numbers}

    def forget(self) -> None:
        """Fit as the page says, with nothing known."""
        self.param.update(record=b"", known={}, known_tables={})

    def describe(self) -> list[str]:
        """The plan and its goals, in sentences; nothing without a record."""
        if not self.record:
            return []
        stored = json.loads(self.record)
        content = stored["content"]
        return [
            f"Fitted as the record {str(stored['fingerprint'])[:16]} plans, for design {content['design']['name']!r}.",
            *list_goals(content),
        ]

    def read_known(self) -> dict[str, FixedValue]:
        """Known values, as a fit takes them."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in self.known_tables.items():
                (Path(folder) / name).write_bytes(content)
            return read_fixed(self.known, folder=Path(folder))

    def check(self) -> None:
        """Refuse what the record does not allow here, where the visitor sees it, and not in the job.

        Raises:
            StudioError: if something that was measured is missing, or is none of that.
        """
        if self.record:
            plan_request(json.loads(self.record)["content"], fixed=self.read_known(), actors={})

    def list_files(self) -> dict[str, bytes]:
        """Tables and record, by name."""
        return {**self.known_tables, **({RECORD: self.record} if self.record else {})}


def tidy_name(name: str) -> str:
    """The name of a file that somebody gave, without folders and without what no name of a file should hold."""
    last = Path(name.replace("\\", "/")).name
    plain = "".join(letter for letter in last if letter.isprintable() and letter != "\ufffd").strip(" .")
    path = Path(plain or "table.csv")
    short = path.stem[:MOST_LETTERS] + path.suffix[:MOST_LETTERS]
    # Jobs write a file of this name beside the table.
    return f"table_{short}" if short == LOG else short
