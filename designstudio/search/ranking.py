"""Who is best on fresh data: finalists and the study's own designs, compared pair by pair on the same data sets.

The design to beat is the best of the study's own designs that keep to the constraints. A finalist wins only if it beats that
one clearly; otherwise nothing beats it, and it stays the winner. The finalist that does best on fresh data was chosen for
that among all of them, so the more finalists there are, the clearer it has to be ahead.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from designstudio.evaluate.goals import find_power
from designstudio.evaluate.results import Evaluation
from designstudio.evaluate.status import TOLD_APART
from designstudio.evaluate.verdict import describe_status, warn_about
from designstudio.metrics.monte_carlo import FEWEST, UNDEFINED, Score
from designstudio.metrics.power import FalsePositives, PowerScore
from designstudio.search.estimates import estimate_objective, list_objectives
from designstudio.search.feasible import measure_design
from designstudio.search.job import get_plan
from designstudio.search.records import CandidateRecord
from designstudio.study import Objective, Study
from designstudio.study.design import Design
from designstudio.study.goals import EXCLUDES, GROUPS_DIFFER
from designstudio.study.search_plan import MOST_FAILED


@dataclasses.dataclass(frozen=True)
class Contender:
    """A design on fresh data sets.

    Attributes:
        evaluation: on fresh data sets.
        fresh: objectives on fresh data sets, by label.
        breaks: why it cannot win: constraints that it clearly breaks on fresh data sets, or power that is not from the data.
        candidate: what the search knows of it; None for one of the study's own designs.
    """

    evaluation: Evaluation
    fresh: dict[str, Score]
    breaks: tuple[str, ...] = ()
    candidate: CandidateRecord | None = None

    @property
    def name(self) -> str:
        """Of the design."""
        return self.design.name

    @property
    def design(self) -> Design:
        """The design."""
        return self.evaluation.design

    @property
    def warnings(self) -> list[str]:
        """What `evaluate` says about it, but for praise."""
        status = [] if self.evaluation.status.name == TOLD_APART else [describe_status(self.evaluation)]
        return [*status, *warn_about(self.evaluation)]


class Lead(NamedTuple):
    """How far one design is ahead of another: in the logarithm of sizes, else in the objective; negative if it is behind.

    Attributes:
        score: the lead with its error, paired by data set.
        num_pairs: data sets that both could fit.
    """

    score: Score
    num_pairs: int

    def is_clear(self, num_errors: float, num_choices: int = 1) -> bool:
        """Whether it is more than noise.

        Args:
            num_errors: errors that a lead must have; 2 are a chance of 2.3 % that noise alone is so far ahead.
            num_choices: designs of which the leading one was the best: the same chance for all of them together.
        """
        value, error = self.score
        if not self.num_pairs > 1 or math.isnan(value):
            return False
        threshold = -special.stdtrit(self.num_pairs - 1, special.ndtr(-num_errors) / num_choices)
        return bool(value > threshold * error)


class Place(NamedTuple):
    """A design in the order of fresh data.

    Attributes:
        name: of the design.
        behind: how far it is behind the winner.
        is_tied: whether it cannot be told apart from the winner.
        is_allowed: whether it has a value and breaks no constraint.
    """

    name: str
    behind: Lead
    is_tied: bool
    is_allowed: bool


@dataclasses.dataclass(frozen=True)
class Ranking:
    """Finalists and the study's own designs by one objective on fresh data.

    Attributes:
        places: from best to worst; those that cannot win come last.
        winner: name of the design to take; None if all of them break constraints.
        best_finalist: the finalist that does best, if one may win.
        to_beat: the best of the study's own designs, if one may win.
        lead: of `best_finalist` over `to_beat`, if there are both.
        is_better: whether that lead is clear.
    """

    places: tuple[Place, ...]
    winner: str | None
    best_finalist: str | None
    to_beat: str | None
    lead: Lead | None
    is_better: bool

    @property
    def tied(self) -> list[str]:
        """Designs that cannot be told apart from the winner."""
        return [place.name for place in self.places if place.is_tied]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; leads of sizes are logarithms of ratios."""
        return {
            "winner": self.winner,
            "best_finalist": self.best_finalist,
            "to_beat": self.to_beat,
            "lead": None if self.lead is None else self.lead.score.as_dict(),
            "is_better": self.is_better,
            "designs": [
                {"name": p.name, "behind": p.behind.score.as_dict(), "is_tied": p.is_tied, "is_allowed": p.is_allowed}
                for p in self.places
            ],
        }


def build_contender(question: Study, evaluation: Evaluation, candidate: CandidateRecord | None) -> Contender:
    """A design with its objectives on fresh data, and the constraints that it breaks there."""
    plan = get_plan(question)
    breaks = []
    for constraint in plan.all_constraints:
        score = read_objective(constraint.objective, question, evaluation)
        # Just above a limit may be noise; what needs no simulation has no error.
        over = constraint.exceed(score.value)
        if math.isnan(over):
            breaks.append(f"it has no {constraint.objective.label}, because fits failed")
        elif not over <= plan.num_errors * (score.mcse if math.isfinite(score.mcse) else 0.0):
            breaks.append(f"it breaks the constraint '{constraint.label}'")
    for objective in list_objectives(question):
        power = read_power(objective, question, evaluation)
        doubt = "" if power is None else _doubt_power(power)
        breaks += [f"its {objective.label} {doubt}"] if doubt else []
    return Contender(evaluation, read_fresh(question, evaluation), tuple(breaks), candidate)


def _doubt_power(power: PowerScore) -> str:
    """Why a design cannot win by its power; empty if it can, or if nobody knows its false-positive rate."""
    absent = power.when_absent
    if power.kind != EXCLUDES or absent is None or math.isnan(absent.value) or math.isnan(power.value):
        return ""
    found = f"({power.present.chance}, and {absent.chance} without the effect)"
    if power.num_failed_absent > MOST_FAILED * power.num_datasets:
        count = f"{power.num_failed_absent} of {power.num_datasets}"
        return f"has no known false-positive rate: {count} fits without the effect failed"
    if power.errs_too_often:
        return f"comes from the prior {found}"
    return "" if power.is_more_than_absent else f"is not clearly more than without the effect {found}"


def read_power(objective: Objective, question: Study, evaluation: Evaluation) -> PowerScore | None:
    """The power of a design, with its false-positive rate, if the objective is of a goal."""
    if not objective.is_of_goal:
        return None
    # The evaluation has simulated everybody that the goal takes.
    return find_power(question.find_goal(objective), evaluation.summaries, evaluation.power)


def read_fresh(question: Study, evaluation: Evaluation) -> dict[str, Score]:
    """Objectives of an evaluation, by label."""
    return {objective.label: read_objective(objective, question, evaluation) for objective in list_objectives(question)}


def read_objective(objective: Objective, question: Study, evaluation: Evaluation) -> Score:
    """The value of an objective for a design that was evaluated."""
    if objective.is_of_design:
        return Score(measure_design(objective, evaluation.design), 0.0)
    power = read_power(objective, question, evaluation)
    if power is not None:
        return (power.when_absent or UNDEFINED) if objective.score == FalsePositives.name else power.present
    return estimate_objective(objective, question, evaluation.design, evaluation.summaries).score


def rank_contenders(
    question: Study, objective: Objective, finalists: Sequence[Contender], references: Sequence[Contender]
) -> Ranking:
    """The order on fresh data, and the winner."""
    plan = get_plan(question)
    everyone = [*finalists, *references]
    values = {c.name: objective.orient(c.fresh[objective.label].value) for c in everyone}
    allowed = [c for c in everyone if not c.breaks and not math.isnan(values[c.name])]
    best, to_beat = (
        min((c for c in allowed if c in group), key=lambda c: values[c.name], default=None)
        for group in (finalists, references)
    )
    lead = estimate_lead(question, objective, best, to_beat) if best is not None and to_beat is not None else None
    is_better = lead is not None and lead.is_clear(plan.num_errors, len(finalists))
    winner = best if is_better or to_beat is None else to_beat
    places = []
    for contender in everyone:
        is_allowed = contender in allowed
        behind = _find_behind(question, objective, winner, contender)
        is_tied = is_allowed and contender is not winner and not behind.is_clear(plan.num_errors)
        places.append(Place(contender.name, behind, is_tied, is_allowed))
    places.sort(key=lambda place: (not place.is_allowed, np.nan_to_num(values[place.name], nan=np.inf)))
    return Ranking(
        tuple(places),
        winner=None if winner is None else winner.name,
        best_finalist=None if best is None else best.name,
        to_beat=None if to_beat is None else to_beat.name,
        lead=lead,
        is_better=is_better,
    )


def _find_behind(question: Study, objective: Objective, winner: Contender | None, other: Contender) -> Lead:
    if winner is None:
        return Lead(UNDEFINED, 0)
    return Lead(Score(0.0, 0.0), 0) if other is winner else estimate_lead(question, objective, winner, other)


def estimate_lead(question: Study, objective: Objective, first: Contender, second: Contender) -> Lead:
    """How far the first design is ahead of the second, paired by data set where the objective allows it."""
    is_of_others = objective.is_of_goal and question.find_goal(objective).kind == GROUPS_DIFFER
    if is_of_others or objective.score == FalsePositives.name:
        # Neither the power of a test of groups nor false positives are sums over the data sets of the study's participants.
        ours, theirs = (c.fresh[objective.label] for c in (first, second))
        difference = objective.orient(theirs.value) - objective.orient(ours.value)
        return Lead(Score(difference, math.hypot(ours.mcse, theirs.mcse)), first.evaluation.num_datasets)
    ours_, theirs_ = (
        estimate_objective(objective, question, c.design, c.evaluation.summaries).pseudo_values for c in (first, second)
    )
    return compare_pseudo_values(ours_, theirs_)


def list_dominating(
    question: Study, objectives: Sequence[Objective], finalists: Sequence[Contender], own: Contender
) -> list[str]:
    """Finalists that are better than one of the study's own designs in every objective, clearly so where it is simulated."""
    num_errors, found = get_plan(question).num_errors, []
    for finalist in finalists:
        is_better = [
            objective.orient(finalist.fresh[objective.label].value) < objective.orient(own.fresh[objective.label].value)
            if objective.is_of_design
            else estimate_lead(question, objective, finalist, own).is_clear(num_errors, len(finalists))
            for objective in objectives
        ]
        found += [finalist.name] if all(is_better) and not finalist.breaks else []
    return found


def compare_pseudo_values(ours: np.ndarray, theirs: np.ndarray) -> Lead:
    """How far ours are ahead, over the data sets that both have; smaller is better."""
    difference = np.asarray(theirs, float) - np.asarray(ours, float)
    difference = difference[np.isfinite(difference)]
    num = len(difference)
    if num < FEWEST:
        return Lead(UNDEFINED, num)
    return Lead(Score(float(difference.mean()), float(difference.std(ddof=1) / math.sqrt(num))), num)


def format_lead(objective: Objective, lead: Score) -> str:
    """In words, about the design that leads or is behind: `12 ± 3 % smaller`, `0.10 ± 0.04 larger`."""
    is_larger = objective.is_larger_better == (lead.value >= 0)
    direction = "larger" if is_larger else "smaller"
    if objective.metric.is_size:
        ratio = math.exp(abs(lead.value) if is_larger else -abs(lead.value))
        return f"{Score(100 * abs(ratio - 1), 100 * ratio * lead.mcse)} % {direction}"
    return f"{Score(abs(lead.value), lead.mcse)} {direction}"
