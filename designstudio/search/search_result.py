"""What a search has found."""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from designstudio.core.presentation import AbstractResult, Overview
from designstudio.search.estimates import list_objectives
from designstudio.search.finalists import Verification, choose_finalists, find_front, orient_values
from designstudio.search.job import get_plan
from designstudio.search.records import COMPLETE, PRUNED, CandidateRecord
from designstudio.search.resolution import Resolution
from designstudio.search.search_overview import frame_search, tabulate_finalists
from designstudio.study import Objective, Study

if TYPE_CHECKING:
    import pandas as pd


@dataclasses.dataclass(frozen=True, repr=False)
class SearchResult(AbstractResult):
    """A search, finished or not.

    Attributes:
        question: the study.
        name: of the search in its storage.
        records: all candidates.
        verification: the finalists; None if the search was stopped before.
        seconds: that candidates took, over all workers and runs.
        importance: of each design variable for the first objective, between 0 and 1; empty if there are too few candidates.
        screened: how many designs were screened.
        resolution: whether differences worth having can be seen while searching, for each objective that is simulated; empty
            if there are too few candidates.
    """

    question: Study
    name: str
    records: tuple[CandidateRecord, ...]
    verification: Verification | None
    seconds: float
    importance: dict[str, float]
    screened: int
    resolution: tuple[Resolution, ...] = ()

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """What the search is for."""
        return list_objectives(self.question)

    @property
    def finished(self) -> tuple[CandidateRecord, ...]:
        """Candidates that are complete or were given up."""
        return tuple(record for record in self.records if record.state in (COMPLETE, PRUNED))

    @property
    def best(self) -> list[CandidateRecord]:
        """The best, as far as the search can tell."""
        return choose_finalists(self.question, self.records)

    @property
    def front(self) -> list[CandidateRecord]:
        """Those that no other beats in all objectives."""
        eligible = [record for record in self.finished if record.is_eligible and record.num_datasets]
        return [eligible[place] for place in find_front(orient_values(self.objectives, eligible))]

    @property
    def num_fits(self) -> int:
        """Data sets that were fitted while searching."""
        return sum(record.num_datasets for record in self.finished)

    @property
    def num_fits_without_racing(self) -> int:
        """Data sets that would have been fitted if no design had been given up early."""
        return len(self.finished) * get_plan(self.question).num_datasets

    @property
    def compilations(self) -> int:
        """Programs that were compiled while searching."""
        return sum(record.compiled for record in self.finished)

    def overview(self) -> Overview:
        """The finalists, or the best candidates of a search that is not finished."""
        from designstudio.search.verdict import describe_search  # noqa: PLC0415  (sentences are about results)

        columns, rows = tabulate_finalists(self)
        # There is no room for the stimuli.
        shown = [place for place, name in enumerate(columns) if name != "stimuli"]
        plan = get_plan(self.question)
        fresh = f"{plan.num_fresh} fresh data sets, {plan.verify_fidelity}"
        return Overview(
            title=self.question.title or "Search",
            facts=f"{len(self.finished)} candidates by {plan.sampler}, fidelity {plan.fidelity}, seed {self.question.seed}; "
            f"finalists on {fresh}. ± is the Monte Carlo error.",
            columns=tuple(columns[place] for place in shown),
            rows=tuple(tuple(row[place] for place in shown) for row in rows),
            notes=tuple(describe_search(self)),
            hint="All candidates: .to_frame(). Figure: .plot(). The design to take: .verification.winner.design.",
        )

    def to_frame(self) -> "pd.DataFrame":
        """Scores of all candidates; see `designstudio.search.search_overview.frame_search`."""
        return frame_search(self)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        plan = get_plan(self.question)
        verified = {} if self.verification is None else self.verification.as_dict()
        return {
            "title": self.question.title,
            "name": self.name,
            **self.question.describe_unit(),
            "objectives": [
                {"label": o.label, "direction": "maximize" if o.is_larger_better else "minimize"} for o in self.objectives
            ],
            "constraints": [constraint.label for constraint in plan.all_constraints],
            "sampler": plan.sampler,
            "fidelity": plan.fidelity,
            "datasets": plan.num_datasets,
            "racing": plan.races,
            "screened": self.screened,
            "seed": self.question.seed,
            "candidates": [record.as_dict() for record in self.records],
            "front": [record.number for record in self.front],
            "fits": self.num_fits,
            "fits_without_racing": self.num_fits_without_racing,
            "importance": self.importance,
            "compilations": self.compilations,
            "seconds": round(self.seconds, 2),
            "resolution": [found.as_dict() for found in self.resolution],
            **verified,
        }


def list_recorded(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The candidates in a result.json; earlier versions called them trials."""
    return list(result.get("candidates", result.get("trials", [])))


class Recorded(NamedTuple):
    """A finalist, or one of the study's own designs, in a result.json.

    Attributes:
        name: of the design.
        number: of its candidate; None for one of the study's own designs.
        is_winner: whether it is the design to take.
        entry: what is kept of it.
    """

    name: str
    number: int | None
    is_winner: bool
    entry: Mapping[str, Any]

    @property
    def title(self) -> str:
        """The name, and whether it is the winner."""
        return f"winner: {self.name}" if self.is_winner else self.name


def list_contenders(result: Mapping[str, Any]) -> list[Recorded]:
    """Finalists and the study's own designs in a result.json, from best to worst on fresh data.

    Earlier versions kept no such order: then finalists come first, and the winner is the finalist whose number they kept.
    """
    ranking = result.get("ranking")
    entries = [*result.get("finalists", []), *result.get("references", [])]
    found = []
    for entry in entries:
        name, number = str(entry["evaluation"]["name"]), entry.get("number")
        is_earlier = number is not None and len(result["objectives"]) == 1 and number == result.get("winner")
        found.append(Recorded(name, number, is_earlier if ranking is None else name == ranking["winner"], entry))
    if ranking is not None:
        places = {design["name"]: place for place, design in enumerate(ranking["designs"])}
        found.sort(key=lambda recorded: places[recorded.name])
    return found
