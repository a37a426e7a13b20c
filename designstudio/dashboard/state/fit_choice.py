"""The data that a visitor wants to have fitted, and how."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import param

from designstudio.dashboard.state.plan_choice import PARAMETERS, PlanChoice, tidy_name
from designstudio.errors import DataError, StudioError
from designstudio.fitting.models import check_request
from designstudio.fitting.reading import LoadedData, example_path, read_data
from designstudio.fitting.reading.columns import REQUIRED, ROLES, find_column
from designstudio.fitting.reading.folders import SUFFIXES
from designstudio.fitting.reading.load import MIN_TRIALS
from designstudio.fitting.reading.tables import read_table
from designstudio.fitting.request import FitRequest, request_as_dict, request_from_dict
from designstudio.fitting.units import OTHER_STIMULI, compare_stimuli
from designstudio.lab.record_files import RECORD
from designstudio.model.costs import PAPER_COST_NAMES
from designstudio.model.family import DEFAULT_FAMILY
from designstudio.runs.jobs import Job

MOST_MEGABYTES = 20
FIRST_COSTS = ("quadratic", "quadratic_effort")


class FitChoice(param.Parameterized):
    """A table, how to read it, and what to fit. `loaded` is what was read; where that is None, `problem` says why."""

    file = param.String(default="", doc="Name of the table; empty if there is none yet.")
    content = param.ClassSelector(class_=bytes, default=b"", doc="The table as it was given.")
    sidecar = param.ClassSelector(class_=bytes, default=b"", doc="What a JSON file says about the columns, if there is one.")
    names = param.List(default=[], item_type=str, doc="Columns of the table.")
    columns = param.Dict(default={}, doc="The column of each role that was chosen by hand.")
    where = param.String(default="", doc="Which rows to keep.")
    unit = param.String(default="", doc="Of stimulus and response; empty for what the sidecar says.")
    min_trials = param.Integer(default=MIN_TRIALS, bounds=(1, None), doc="Subjects with fewer are left out.")
    loaded = param.ClassSelector(class_=LoadedData, default=None, allow_None=True, doc="What was read.")
    problem = param.String(default="", doc="Why nothing was read, in the words of the command line.")
    costs = param.ListSelector(default=list(FIRST_COSTS), objects=list(PAPER_COST_NAMES), doc="Costs to compare.")
    per_condition = param.ListSelector(default=[], objects=list(PARAMETERS), doc="What differs between conditions.")
    pools = param.Boolean(default=False, doc="Whether subjects are also pooled partially.")

    def __init__(self, **choices: Any) -> None:
        super().__init__(**choices)
        self.plan = PlanChoice()

    # What to read.

    def take_table(self, name: str, content: bytes, sidecar: bytes = b"") -> None:
        """Work on a table; whatever was chosen about the one before is forgotten.

        Raises:
            StudioError: if it is too large.
        """
        if len(content) > MOST_MEGABYTES * 1e6:
            raise StudioError(
                f"A table may have {MOST_MEGABYTES} MB, but this one has {len(content) / 1e6:.1f} MB: "
                "leave out columns that are not needed, or fit it with the command line."
            )
        self._take(name, content, sidecar)
        self._suggest_conditions()

    def take_example(self) -> None:
        """Work on the example of the package, with its sidecar."""
        path = example_path()
        self.take_table(path.name, path.read_bytes(), path.with_suffix(".json").read_bytes())

    def take_job(self, job: Job) -> None:
        """Work on what a job has fitted.

        Raises:
            StudioError: if its folder is not whole.
        """
        try:
            settings, reading = job.settings, job.settings["reading"]
            path = job.folder / Path(reading["file"]).name
            content, companion = path.read_bytes(), path.with_suffix(".json")
            sidecar = companion.read_bytes() if companion.is_file() else b""
            record = (job.folder / settings["record"]).read_bytes() if "record" in settings else b""
            request = None if record else request_from_dict(settings["request"])
            known = {str(name): str(given) for name, given in settings.get("fixed", {}).items()}
            paths = {given: job.folder / Path(given).name for given in known.values()}
            tables = {given: path.read_bytes() for given, path in paths.items() if path.is_file()}
            wishes = {
                "columns": dict(reading["columns"]),
                "where": " and ".join(reading.get("where", ())),
                "unit": reading["unit"] or "",
                "min_trials": int(reading.get("min_trials", MIN_TRIALS)),
            }
        except (KeyError, TypeError, OSError) as error:
            raise StudioError(f"The run {job.title!r} is not whole ({error}): fit the data again.") from None
        self._take(path.name, content, sidecar, **wishes)
        if request is None:
            self.plan.param.update(record=record, known=known, known_tables=tables)
            return
        numbers = {name: f"{value:.12g}" for name, value in request.fixed.items() if isinstance(value, float)}
        self.plan.param.update(record=b"", known=numbers, known_tables={})
        # Costs of users have no place on the page.
        self.param.update(
            costs=[cost for cost in request.costs if cost in PAPER_COST_NAMES],
            per_condition=[name for name in request.per_condition if name in PARAMETERS],
            pools=request.pools,
        )

    def change_reading(self, **changes: Any) -> None:
        """Read the table in another way: `columns`, `where`, `unit`, `min_trials`."""
        had_conditions = self._num_conditions > 1
        with param.parameterized.batch_call_watchers(self):
            self.param.update(**changes)
            self._read()
        if self.loaded is not None and (self._num_conditions > 1) != had_conditions:
            self._suggest_conditions()

    def choose_column(self, role: str, column: str) -> None:
        """The column of a role; "" for none, or for what is recognised if there must be one."""
        others = {name: chosen for name, chosen in self.columns.items() if name != role}
        is_left_open = role in REQUIRED and not column
        self.change_reading(columns=others if is_left_open else {**others, role: column})

    def recognise_columns(self) -> dict[str, str]:
        """The column of each role as far as it is clear; "" where there is none."""
        found = {}
        for role in ROLES:
            try:
                found[role] = find_column(role, self.names, self.columns, self.file) or ""
            except DataError:
                found[role] = ""
        return found

    def _take(self, name: str, content: bytes, sidecar: bytes, **wishes: Any) -> None:
        fresh = {"columns": {}, "where": "", "unit": "", "min_trials": MIN_TRIALS}
        with param.parameterized.batch_call_watchers(self):
            self.param.update(file=tidy_name(name), content=content, sidecar=sidecar, names=[], **{**fresh, **wishes})
            self._read()

    def _read(self) -> None:
        if not self.file:
            return
        names, loaded, problem = self.names, None, ""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / self.file
            for name, content in self.list_files().items():
                (Path(folder) / name).write_bytes(content)
            try:
                # Columns can be chosen even if rows cannot be read.
                if not names and path.suffix.lower() in SUFFIXES:
                    names = list(read_table(path, self.file).columns)
                loaded = read_data(path, **self._reading)
            except StudioError as error:
                # As the command line says it in the folder of the file.
                problem = str(error).replace(f"{folder}/", "")
        self.param.update(names=names, loaded=loaded, problem=problem)

    @property
    def _reading(self) -> dict[str, Any]:
        return {
            "columns": dict(self.columns),
            "where": [self.where.strip()] if self.where.strip() else [],
            "unit": self.unit.strip() or None,
            "min_trials": int(self.min_trials),
        }

    # What to fit.

    @property
    def _num_conditions(self) -> int:
        return 0 if self.loaded is None else int(self.loaded.report.num_conditions)

    def _suggest_conditions(self) -> None:
        self.per_condition = [DEFAULT_FAMILY.perceptual_noise.name] if self._num_conditions > 1 else []

    def list_notes(self) -> list[str]:
        """What to know about the choice of parameters that differ between conditions."""
        if self.loaded is None or self._num_conditions < 2:
            return []
        if not self.per_condition:
            return ["All parameters are shared by the conditions."]
        if self.per_condition != [DEFAULT_FAMILY.perceptual_noise.name]:
            return []
        notes = ["Conditions are taken to differ in perceptual uncertainty (sigma) only."]
        ratio = compare_stimuli(self.loaded.trials)
        if ratio > OTHER_STIMULI:
            notes.append(
                f"But their mean stimuli differ by a factor of {ratio:.2f}: if people can expect other stimuli in each, "
                "mu_0 is the better choice."
            )
        return notes

    def to_request(self) -> FitRequest:
        """What is fitted.

        Raises:
            StudioError: if there are no data, or they cannot be fitted so.
        """
        if self.loaded is None:
            raise StudioError(self.problem or "There are no data yet: drop a table, or load the example.")
        has_several, fixed = self._num_conditions > 1, self.plan.read_known()
        request = FitRequest(
            costs=tuple(cost for cost in PAPER_COST_NAMES if cost in self.costs),
            per_condition=tuple(name for name in self.per_condition if name not in fixed) if has_several else (),
            fixed=fixed,
            pools=bool(self.pools),
        )
        check_request(request, self.loaded.trials)
        return request

    def to_settings(self) -> dict[str, Any]:
        """Settings of a job of the kind `fit`; `list_files` are its files."""
        name = Path(self.file).stem
        if self.plan.record:
            if self.loaded is None:
                raise StudioError(self.problem or "There are no data yet: drop a table.")
            self.plan.check()
            reading = {"file": self.file, "columns": dict(self.columns), "unit": self.unit.strip() or None}
            return {"reading": reading, "record": RECORD, "fixed": dict(self.plan.known), "name": name}
        request = request_as_dict(self.to_request())
        return {"reading": {"file": self.file, **self._reading}, "request": request, "name": name}

    def list_files(self) -> Mapping[str, bytes]:
        """The table and its sidecar, by name."""
        files = {self.file: self.content}
        files |= {str(Path(self.file).with_suffix(".json")): self.sidecar} if self.sidecar else {}
        return {**files, **self.plan.list_files()}
