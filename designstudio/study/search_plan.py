"""How designs are searched: among which, for what, and how thoroughly."""

import dataclasses
from collections.abc import Mapping

from designstudio.errors import StudioError, UnknownNameError
from designstudio.metrics.failed import Failed
from designstudio.metrics.power import FalsePositives, Power
from designstudio.study.objectives import Constraint, Objective
from designstudio.study.space import Space

TPE, RANDOM, QMC, NSGA2, NSGA3, GP, CMAES = "tpe", "random", "qmc", "nsga2", "nsga3", "gp", "cmaes"
SAMPLERS = (TPE, RANDOM, QMC, NSGA2, NSGA3, GP, CMAES)
# A design of which more fits fail is no candidate: what its scores leave out is too much.
MOST_FAILED = 0.1


@dataclasses.dataclass(frozen=True)
class SearchPlan:
    """A search for the best design.

    Attributes:
        space: the designs to choose from.
        objectives: what to make small or large; if empty, the information gained on prior and cost. With several, the result
            is a Pareto front.
        constraints: what a design must fulfil; that at most 10 % of its fits fail is always one of them. In a search for
            power, another is that no more than the nominal level reach the goal without its effect (see
            `Goal.nominal_level`), unless a limit is given.
        sampler: how Optuna proposes designs.
        fidelity: how designs are scored while searching.
        num_datasets: simulated participants for each design that is not given up early.
        block_size: data sets after which a weak design may be given up.
        races: whether weak designs are given up early.
        num_screened: designs that `information` looks at first, to find out where to start; 0 for none.
        num_finalists: best designs that are scored again.
        verify_fidelity: how the finalists are scored.
        num_fresh: fresh data sets for the finalists.
        first_fresh: number of the first of them, far beyond any that a search looks at; a multiple of 100.
        num_errors: Monte Carlo errors by which a design must be ahead to be called better.
        worth_having: a difference between designs that matters: a share of the value for sizes (0.1 is 10 %), else as it is.
            The search says if it has too few data sets to see it.
        small_chance: chance to be the best in the end, below which a design is given up.
        fewest_pairs: data sets before which none is given up.
    """

    space: Space
    objectives: tuple[Objective, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    sampler: str = TPE
    fidelity: str = "importance"
    num_datasets: int = 64
    block_size: int = 16
    races: bool = True
    num_screened: int = 256
    num_finalists: int = 3
    verify_fidelity: str = "nuts"
    num_fresh: int = 200
    first_fresh: int = 1_000_000
    num_errors: float = 2.0
    worth_having: float = 0.1
    small_chance: float = 0.1
    fewest_pairs: int = 8

    def __post_init__(self) -> None:
        if self.sampler not in SAMPLERS:
            raise UnknownNameError("sampler", self.sampler, SAMPLERS)
        if self.num_datasets < self.block_size or self.block_size < 8:
            raise StudioError(f"A search needs 16 or more data sets for each design, but {self.num_datasets} was given.")
        if self.num_fresh < 10:
            raise StudioError(f"Finalists need 10 or more fresh data sets, but {self.num_fresh} was given.")
        if self.num_finalists < 1:
            raise StudioError("A search needs at least 1 finalist.")
        if not (self.num_errors > 0 and self.worth_having > 0):
            raise StudioError(
                "num_errors and worth_having of a search must be above 0, but "
                f"{self.num_errors:g} and {self.worth_having:g} were given."
            )
        if len(set(self.objectives)) < len(self.objectives):
            raise StudioError("An objective appears twice: name each once.")
        if self.objectives and all(objective.is_of_design for objective in self.objectives):
            raise StudioError("All objectives are known without a simulation: add a score such as information_gain or rmse.")

    def complete(self) -> "SearchPlan":
        """The same, every objective saying what it is of where that is understood."""
        constraints = tuple(dataclasses.replace(c, objective=c.objective.complete()) for c in self.constraints)
        objectives = tuple(objective.complete() for objective in self.objectives)
        return dataclasses.replace(self, objectives=objectives, constraints=constraints)

    def name_goals(self, goals: Mapping[str, float | None]) -> "SearchPlan":
        """The same with the names of goals, and a limit to the false positives of the power that is searched for.

        Args:
            goals: names of the study's goals, and how often they may be reached without their effect; None if that cannot
                be absent.

        Raises:
            StudioError: if there is no such goal, or its effect cannot be absent.
        """
        names = list(goals)
        objectives = tuple(objective.name_goal(names) for objective in self.objectives)
        constraints = tuple(dataclasses.replace(c, objective=c.objective.name_goal(names)) for c in self.constraints)
        for objective in (*objectives, *(constraint.objective for constraint in constraints)):
            if objective.score == FalsePositives.name and goals[objective.of[0]] is None:
                raise StudioError(
                    f"The goal {objective.of[0]!r} has no effect that could be absent: leave out {objective.score!r}."
                )
        limited = [constraint.objective for constraint in constraints]
        wanted = {Objective(FalsePositives.name, o.of): goals[o.of[0]] for o in objectives if o.score == Power.name}
        usual = (
            Constraint(objective, at_most=level)
            for objective, level in wanted.items()
            if level is not None and objective not in limited
        )
        return dataclasses.replace(self, objectives=objectives, constraints=(*constraints, *usual))

    @property
    def all_constraints(self) -> tuple[Constraint, ...]:
        """All constraints, also the one that most fits must work."""
        has_own = any(constraint.objective.score == Failed.name for constraint in self.constraints)
        usual = Constraint(Objective(Failed.name), at_most=MOST_FAILED)
        return self.constraints if has_own else (*self.constraints, usual)
