"""Grids of designs: variables over some values, every point evaluated in full, by the same workers as a search."""

import dataclasses
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import optuna
import xarray as xr
from optuna.storages import BaseStorage
from optuna.trial import TrialState

from designstudio.core.fingerprint import as_plain, fingerprint
from designstudio.core.presentation import AbstractResult, Overview
from designstudio.core.progress import Counter, ProgressCallback
from designstudio.errors import StudioError
from designstudio.evaluate.curves import check_values, name_units, tabulate_power, vary_design, warn_of_curves
from designstudio.evaluate.evaluate_design import evaluate_design
from designstudio.evaluate.fingerprint import describe_question
from designstudio.evaluate.limits import check_designs
from designstudio.metrics.monte_carlo import Score
from designstudio.search.job import AbstractJob, Callback
from designstudio.search.records import RECORD
from designstudio.search.run_folder import RunFolder
from designstudio.search.search_job import slugify
from designstudio.search.search_overview import frame_sweep
from designstudio.search.storage import close_storage
from designstudio.search.worker_pool import Source
from designstudio.search.workers import begin_run, check_workers, recover_stale, run_workers
from designstudio.study import Study
from designstudio.study.design import Design

if TYPE_CHECKING:
    import pandas as pd

SWEEP = "sweep"
MOST_POINTS = 2000


@dataclasses.dataclass(frozen=True)
class Grid:
    """Values of some variables of a design.

    Attributes:
        design: name of the study's design that is varied.
        along: variables, as `vary_design` knows them, and their values.
        fidelity: how points are evaluated.
        num_datasets: for each point.
    """

    design: str
    along: Mapping[str, tuple[float, ...]]
    fidelity: str
    num_datasets: int

    @property
    def points(self) -> list[dict[str, float]]:
        """All combinations; the last variable changes fastest."""
        return [dict(zip(self.along, values, strict=True)) for values in itertools.product(*self.along.values())]

    def build(self, question: Study, point: Mapping[str, float]) -> Design:
        """The design at a point.

        Raises:
            StudioError: if there is none.
        """
        design = question.design(self.design)
        for variable, value in point.items():
            design = vary_design(design, variable, value)
        return design


@dataclasses.dataclass(frozen=True, repr=False)
class SweepResult(AbstractResult):
    """Evaluations of all points that are done, as plain data.

    Attributes:
        question: the study.
        grid: what was varied.
        points: each with its values and its evaluation; see `Evaluation.as_dict`.
    """

    question: Study
    grid: Grid
    points: tuple[tuple[dict[str, float], dict[str, Any]], ...]

    @property
    def is_finished(self) -> bool:
        """Whether all points are done."""
        return len(self.points) == len(self.grid.points)

    def overview(self) -> Overview:
        """Points of the grid with their power."""
        grid, goals = self.grid, list(dict.fromkeys(goal for _, evaluation in self.points for goal in evaluation["power"]))
        rows = []
        for values, evaluation in self.points:
            gain = evaluation["identifiability"]["information_gain"]["all"]
            powers = (evaluation["power"].get(goal) for goal in goals)
            pairs = ((power, (power or {}).get("when_absent")) for power in powers)
            chances = (Score.from_dict(score).chance for pair in pairs for score in pair)
            cells = (str(Score.from_dict(gain)), *chances)
            rows.append((", ".join(f"{value:g}" for value in values.values()), evaluation.get("status", "-"), *cells))
        heads = (head for goal in goals for head in (f"P({goal})", f"P({goal}),\neffect absent"))
        return Overview(
            title=self.question.title or "Sweep",
            facts=f"{grid.design} over {', '.join(grid.along)}; {len(self.points)} of {len(grid.points)} points, "
            f"{grid.num_datasets} data sets a point, fidelity {grid.fidelity}, "
            f"seed {self.question.seed}. ± is the Monte Carlo error.",
            columns=(", ".join(grid.along), "status", "information gain (nats)", *heads),
            rows=tuple(rows),
            notes=tuple(warn_of_curves(self.tabulate_power())) if goals else (),
            hint="All scores: .to_frame(). Figure: .plot().",
        )

    def to_frame(self) -> "pd.DataFrame":
        """Scores of all points; see `designstudio.search.search_overview.frame_sweep`."""
        return frame_sweep(self)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "title": self.question.title,
            "design": self.grid.design,
            **self.question.describe_unit(),
            "along": {name: list(values) for name, values in self.grid.along.items()},
            "points": [{"values": values, "evaluation": evaluation} for values, evaluation in self.points],
        }

    def tabulate_power(self) -> xr.Dataset:
        """The chance to reach each goal, over goal and variables; NaN where a point is missing."""
        goals = list(dict.fromkeys(goal for _, evaluation in self.points for goal in evaluation["power"]))
        found = {tuple(values.values()): evaluation["power"] for values, evaluation in self.points}
        powers = [found.get(tuple(point.values()), {}) for point in self.grid.points]
        return name_units(tabulate_power(goals, self.grid.along, powers), self.question)


class SweepJob(AbstractJob):
    """A sweep that workers share."""

    @property
    def grid(self) -> Grid:
        """What is varied."""
        kept = self.study.user_attrs[SWEEP]
        along = {name: tuple(values) for name, values in kept["along"].items()}
        return Grid(kept["design"], along, kept["fidelity"], kept["num_datasets"])

    def add_waiting(self) -> None:
        """Line up all points that are not there yet."""
        num = sum(trial.state != TrialState.FAIL for trial in self.list_trials())
        for point in self.grid.points[num:]:
            self.study.enqueue_trial(point)

    def run_trial(self, trial: optuna.Trial, *, worker: str, on_change: Callback) -> None:
        """Evaluate one point."""
        grid = self.grid
        point = {name: trial.suggest_float(name, min(values), max(values)) for name, values in grid.along.items()}
        evaluation = evaluate_design(
            self.question, grid.build(self.question, point), fidelity=grid.fidelity, num_datasets=grid.num_datasets
        ).as_dict()
        trial.set_user_attr(RECORD, {"evaluation": evaluation, "worker": worker})
        gain = evaluation["identifiability"]["information_gain"]["all"]["value"]
        self.study.tell(trial, 0.0 if gain is None else gain)


def parse_along(text: str) -> tuple[str, tuple[float, ...]]:
    """A variable and its values, such as trials=30:300:30 (from, to, step) or sigma[1]=0.1,0.2,0.3.

    Raises:
        StudioError: if the text is neither.
    """
    name, equals, rest = text.partition("=")
    try:
        if not equals or not name.strip():
            raise ValueError
        if ":" in rest:
            first, last, step = (float(part) for part in rest.split(":"))
            num = int(np.floor((last - first) / step * (1 + 1e-12))) + 1
            if num < 1 or num > MOST_POINTS:
                raise ValueError
            return name.strip(), tuple(float(f"{first + step * k:.12g}") for k in range(num))
        return name.strip(), tuple(float(part) for part in rest.split(","))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise StudioError(
            f"--along takes a variable with its values, such as trials=30:300:30 (from, to, step) or sigma[1]=0.1,0.2, but "
            f"{text!r} was given."
        ) from None


def check_grid(question: Study, grid: Grid) -> None:
    """Refuse points that are impossible, too many, or too large.

    Raises:
        StudioError: saying which.
    """
    num_points = math.prod(len(values) for values in grid.along.values())
    if not 1 <= num_points <= MOST_POINTS:
        raise StudioError(f"A sweep takes 1 to {MOST_POINTS} points, but {num_points} were given.")
    for variable, values in grid.along.items():
        check_values(variable, values)
    designs = [grid.build(question, point) for point in grid.points]
    check_designs(question, designs, fidelity=grid.fidelity, num_datasets=grid.num_datasets)


def run_sweep(
    question: Study,
    grid: Grid,
    folder: Path | str,
    *,
    storage: str | None = None,
    num_workers: int = 1,
    source: Source | None = None,
    progress: ProgressCallback | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> SweepResult:
    """Evaluate all points of a grid, or go on with it.

    Raises:
        StudioError: before anything is written, if a point is impossible or the storage cannot be reached.
    """
    check_grid(question, grid)
    points = grid.points
    check_workers(num_workers, source)
    at = RunFolder(Path(folder))
    name = f"{slugify(question)}-sweep-{fingerprint({**describe_question(question), SWEEP: as_plain(grid)})[:10]}"
    opened = begin_run(at, name, storage)
    try:
        study = optuna.create_study(storage=opened, study_name=name, direction="maximize", load_if_exists=True)
        study.set_user_attr(SWEEP, json.loads(json.dumps(dataclasses.asdict(grid))))
        job = SweepJob(question, opened, study)
        recover_stale(job, at)
        job.add_waiting()
        counter = Counter(progress, len(points), unit="points")
        run_workers(
            job, at, num_workers=num_workers, source=source, storage=storage, deadline=None, should_stop=should_stop,
            on_change=lambda: counter.report(job.count_finished(), "sweeping"),
        )  # fmt: skip
        return SweepResult(question, grid, _read_points(job))
    finally:
        close_storage(opened)
        at.end()


def load_sweeps(question: Study, storage: BaseStorage) -> list[SweepJob]:
    """Sweeps of this question that a storage holds."""
    jobs = []
    for name in optuna.get_all_study_names(storage):
        study = optuna.load_study(study_name=name, storage=storage)
        if SWEEP in study.user_attrs:
            job = SweepJob(question, storage, study)
            expected = fingerprint({**describe_question(question), SWEEP: as_plain(job.grid)})[:10]
            jobs += [job] if name.endswith(expected) else []
    return jobs


def _read_points(job: SweepJob) -> tuple[tuple[dict[str, float], dict[str, Any]], ...]:
    order: Sequence[dict[str, float]] = job.grid.points
    found = {tuple(t.params[name] for name in job.grid.along): t for t in job.list_trials(TrialState.COMPLETE)}
    return tuple(
        (point, found[tuple(point.values())].user_attrs[RECORD]["evaluation"])
        for point in order
        if tuple(point.values()) in found
    )
